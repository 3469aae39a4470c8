"""Every example on dask arrays: it stays lazy, forward and back, or dask itself is in the way.

What dask does not do is listed below, with what it says or does instead. Nothing is skipped
without such a reason, and each reason has an example.
"""

import re
from collections import defaultdict
from fnmatch import fnmatch

import numpy as np
import pytest

from rulescore import plugins, rrule
from rulescore._naming import name_of
from tests.rules_base.conftest import direction_for, inner, moved
from tests.rules_base.test_semantics import cotangent, is_numeric, mapped, parts_of, same

da = pytest.importorskip("dask.array", reason="dask of requirements.txt is missing")
dask = pytest.importorskip("dask", reason="dask of requirements.txt is missing")

COMPUTES = "computes, and gives NumPy's arrays or numbers"
LENGTH = "stays lazy, but leaves the length of the result open"

# What dask does with a call where no rule is asked, and for which functions of NumPy.
DASK = {
    COMPUTES: [
        # made NumPy's arrays by name, or because dask has no such function
        "array asanyarray asarray asarray_chkfinite ascontiguousarray asfortranarray full copy",
        "astype resize column_stack diagflat vander unwrap real_if_close histogram_bin_edges",
        "split array_split hsplit vsplit dsplit unstack cumulative_sum cumulative_prod",
        "sort partition sort_complex take_along_axis setdiff1d setxor1d unique_values unique_all",
        "unique_counts unique_inverse matrix_transpose trapezoid interp ndarray.choose",
        "convolve correlate cross inner kron ufunc.reduce",  # of lists of arrays
        "linalg.cond linalg.cross linalg.det linalg.diagonal linalg.eig linalg.eigh",
        "linalg.eigvals linalg.eigvalsh linalg.matmul linalg.matrix_norm linalg.matrix_power",
        "linalg.matrix_transpose linalg.multi_dot linalg.outer linalg.pinv linalg.slogdet",
        "linalg.svdvals linalg.tensordot linalg.tensorinv linalg.tensorsolve linalg.trace",
        "linalg.vecdot linalg.vector_norm",
        "polyadd polyder polyfit polyint polymul polysub polyval polynomial.polynomial.polyval",
        "*fromroots",
        "numpy.random.*",
    ],
    LENGTH: ["*.unique union1d *.extract operator.getitem"],
    # few options: `initial`, `where`, `order`, `mode`, `dtype`, `upper`, `axis=None`, ...
    "keyword argument|positional argument": ["*"],
    "from __array_ufunc__": ["*.reduce *.accumulate *.reduceat"],  # answers none of these methods
    "has no attribute": [
        # dask's arrays have no such methods
        "ndarray.flat ndarray.item ndarray.tolist ndarray.take ndarray.compress ndarray.conjugate",
        "ndarray.diagonal ndarray.mT",
        "outer dot vdot hstack bincount histogram",  # takes no lists or numbers, nor NumPy's arrays
    ],
    "nd fancy indexing|truth value": ["operator.getitem"],  # one array of integers at most
    "out of bounds|Boolean array|between instances": ["take"],  # asks for an axis, takes no lists
    "integer axis|integer valued": ["repeat ndarray.repeat"],
    "only works along an axis": ["median nanmedian"],
    "dimension|must be 2D|ndim > 2|following properties|must be equal": [
        # one matrix at a time, and one or two right-hand sides of the same length
        "linalg.inv linalg.solve linalg.svd linalg.norm linalg.qr linalg.lstsq tril triu"
    ],
    "Duplicate axes": ["fft.fftn fft.ifftn"],
    "inference failed": ["vecdot"],  # of complex vectors and real ones
    "a sequence of arrays": ["dstack hstack vstack"],  # one array
    "out of range": ["select"],  # one condition for several choices
    "1D weights": ["average"],
    "coordinated is not supported": ["gradient"],
    "not iterable|requires either|normed=": [
        "histogram histogram2d"
    ],  # wants the edges, or a range
}
# These read the numbers of an array one by one, and know nothing of arrays.
WITHOUT_NUMPY = {
    *(f"math.{name}" for name in ("dist", "fsum")),
    *(f"statistics.{name}" for name in ("fmean", "geometric_mean", "harmonic_mean", "mean")),
    *(f"statistics.{name}" for name in ("median", "median_high", "median_low")),
    *(f"statistics.{name}" for name in ("pstdev", "pvariance", "stdev", "variance")),
}
# What dask takes for another thing than NumPy does, and what the rule says then.
MEANT_OTHERWISE = {
    "operator.getitem": "puts the axes in another order than NumPy",
    "numpy.polynomial.polynomial.polyval": "takes `tensor` for its own arrays alone",
}
EXAMPLES = [
    (f, xs, {name: x for name, x in options.items() if not name.startswith("check_")})
    for plugin in plugins()
    if plugin.name != "rules_scipy"  # SciPy computes with NumPy's arrays alone
    for ruleset in plugin.rulesets
    for f, xs, options in ruleset.examples
    if any(map(is_numeric, parts_of(xs)))
]
BY_NAME = defaultdict(list)
for example in EXAMPLES:
    BY_NAME[name_of(example[0])].append(example)


def reason_for(name, said):
    """Return the listed reason why dask is in the way, if it `said` that, or `None`."""
    for pattern, lines in DASK.items():
        named = (n for line in lines for n in line.split())
        if re.search(pattern, said, re.IGNORECASE) and any(fnmatch(name, f"*{n}") for n in named):
            return pattern
    return None


class Chunks:
    """Arrays as dask arrays, and how often dask computed something since the last look."""

    def __init__(self):
        self.computed = 0

    def compute(self, graph, keys, **options):
        self.computed += 1
        return dask.get(graph, keys, **options)

    def since(self):
        computed, self.computed = self.computed, 0
        return computed


def lazy(x):
    return mapped(lambda part: da.from_array(part, chunks=part.shape), x)


def is_lazy(y):
    return any(isinstance(part, da.Array) for part in parts_of(y))


def by_dask(f, xs, options):
    """Call `f` on dask arrays; those have methods and attributes of their own."""
    if "numpy.ndarray." not in name_of(f):
        return f(*xs, **options)
    attribute = getattr(xs[0], f.__name__)
    return attribute(*xs[1:], **options) if callable(f) else attribute


def what_dask_says(f, xs, options, chunks):
    """Return what keeps dask from doing the call, or "", and how often it computes."""
    try:
        y = by_dask(f, xs, options)
    except Exception as error:
        return f"{type(error).__name__}: {error}", chunks.since()
    if not is_lazy(y):
        return COMPUTES, chunks.since()
    parts = [part for part in parts_of(y) if isinstance(part, da.Array)]
    return LENGTH if any(np.isnan(sum(part.shape)) for part in parts) else "", chunks.since()


@pytest.mark.sampled(4)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(BY_NAME))
def test_dask_arrays_stay_lazy(name):
    chunks = Chunks()
    with dask.config.set(scheduler=chunks.compute):
        for f, xs, options in BY_NAME[name] if name not in WITHOUT_NUMPY else ():
            said, by_itself = what_dask_says(f, lazy(xs), options, chunks)
            reason = reason_for(name, said)
            assert reason or not said, f"{options}: {said}"
            try:
                found = rrule(f, *lazy(xs), **options)
            except Exception as error:
                if reason or MEANT_OTHERWISE.get(name, "no such words") in str(error):
                    continue
                raise
            if found is not None and is_lazy(found[0]):
                assert reason or chunks.since() <= by_itself
                check_cotangents(f, xs, options, *found, chunks)
            else:
                assert reason, options


def check_cotangents(f, xs, options, lazy_y, lazy_back, chunks):
    """Compare with the cotangents of NumPy's arrays, or with differences if the values differ."""
    y, back = rrule(f, *xs, **options)
    value = computed(lazy_y)
    dy = cotangent(value)
    chunks.since()
    found = lazy_back(lazy_like(dy, lazy_y))[1:]
    assert not chunks.since()
    numeric = [i for i, x in enumerate(xs) if any(map(is_numeric, parts_of(x)))]
    assert all(found[i] is None or is_lazy(found[i]) for i in numeric)
    cotangents = dict(zip(numeric, computed([found[i] for i in numeric]), strict=True))
    if agree(value, y):
        expected = back(cotangent(y))[1:]
        for i in numeric:
            same(cotangents[i], expected[i])
        return
    for i in numeric:  # another factor, or other signs
        direction = direction_for(xs[i], np.random.default_rng(7))
        up, down = (
            inner(dy, computed(rrule(f, *lazy((*xs[:i], x, *xs[i + 1 :])), **options)[0]))
            for x in (moved(xs[i], direction, 1e-5), moved(xs[i], direction, -1e-5))
        )
        slope = inner(cotangents[i], direction)
        assert slope == pytest.approx((up - down) / 2e-5, rel=1e-6, abs=1e-6)


def lazy_like(dy, y):
    """Return the cotangent of `y`, lazy where `y` is."""
    if isinstance(y, list | tuple):
        return tuple(lazy_like(d, part) for d, part in zip(dy, y, strict=True))
    return da.asarray(dy) if dy is not None and isinstance(y, da.Array) else dy


def computed(x):
    """Return NumPy's values, of all arrays in one pass: it costs more than what it computes."""
    parts = iter(dask.compute(*lazy_arrays(x), optimize_graph=False))

    def put(x):
        if isinstance(x, list | tuple):
            return tuple(map(put, x))
        return next(parts) if isinstance(x, da.Array) else x

    return put(x)


def lazy_arrays(x):
    if isinstance(x, list | tuple):
        return [array for part in x for array in lazy_arrays(part)]
    return [x] if isinstance(x, da.Array) else []


def agree(value, y):
    pairs = zip(parts_of(value), parts_of(y), strict=True)
    return all(
        not is_numeric(b) or (np.shape(a) == b.shape and np.allclose(a, b, equal_nan=True))
        for a, b in pairs
    )


@pytest.mark.filterwarnings("ignore")
def test_every_reason_is_needed():
    """What dask has learnt since is taken off the list."""
    said = {
        (name_of(f), what_dask_says(f, lazy(xs), options, Chunks())[0])
        for f, xs, options in EXAMPLES
    }
    for pattern, lines in DASK.items():
        for listed in (n for line in lines for n in line.split()):
            assert any(
                fnmatch(name, f"*{listed}") and re.search(pattern, words, re.IGNORECASE)
                for name, words in said
            ), listed


@pytest.mark.filterwarnings("ignore")
def test_percentiles_of_several_chunks_are_numpys():
    """Dask's own are near to them, which no slope could tell."""
    x = np.sin(np.arange(12.0))
    with pytest.raises(NotImplementedError, match="axis"):
        rrule(np.percentile, da.from_array(x, chunks=6), 30.0)
    y, back = rrule(np.percentile, da.from_array(x, chunks=6), 30.0, axis=0)
    assert y.compute() == np.percentile(x, 30.0)
    np.testing.assert_allclose(back(1.0)[1].compute(), rrule(np.percentile, x, 30.0)[1](1.0)[1])


def test_singular_vectors_without_a_gradient_are_nan():
    """Whether there is one nobody can say before it is computed."""
    x = da.from_array(np.eye(3), chunks=3)
    back = rrule(np.linalg.svd, x)[1]
    assert np.isnan(back((da.from_array(np.tri(3), chunks=3), None, None))[1].compute()).all()
    assert not np.isnan(back((None, da.ones(3, chunks=3), None))[1].compute()).any()
