"""One example of each rule in other precisions and shapes: what holds for all of them."""

import importlib
import inspect
import types

import numpy as np
import pytest
from scipy import ndimage

from rules_scipy import SECTIONS
from rulescore import rrule
from rulescore._naming import name_of
from rulescore.testing._leaves import leaves
from zygote_lite import gradient

LIBRARIES = ["scipy.fft", "scipy.fftpack", "scipy.linalg", "scipy.signal", "scipy.special"]
# SciPy's own loops for single precision do not end, or have no number as their value
WITHOUT_SINGLE = ("pro_", "obl_", "mathieu_", "riccati_")


def one_of_each(prefix=""):
    """Give one example of each function, without the options of the check."""
    seen = set()
    for library, names in SECTIONS.items():
        for name in names if library.startswith(prefix) else ():
            rule = importlib.import_module(f"rules_{library}.{name}").rule
            for f, xs, options in rule.examples:
                if id(f) not in seen:
                    seen.add(id(f))
                    options = {k: x for k, x in options.items() if not k.startswith("check_")}
                    yield f, xs, options


def mapped(change, x, kinds="fc"):
    """Return a value with its arrays and floats changed, within tuples and lists too."""
    if isinstance(x, tuple | list):
        return type(x)(mapped(change, entry, kinds) for entry in x)
    is_number = isinstance(x, float | complex | np.ndarray | np.generic)
    return change(x) if is_number and np.asarray(x).dtype.kind in kinds else x


def pulled(f, xs, options):
    """Return the value, and the cotangents for ones, of the arguments that have any."""
    y, back = rrule(f, *xs, **options)
    refused = back.rule.refuses
    needed = [False, *(i not in refused for i in range(len(xs)))]
    dy = mapped(np.ones_like, y)
    return y, (back.only(needed) if refused else back)(dy)[1:]


def is_left_to_its_source(f, xs, options):
    """Return whether the rule of a function in Python declines a call."""
    return isinstance(f, types.FunctionType) and rrule(f, *xs, **options) is None


def numbers(x):
    return [np.asarray(x) for _, x in leaves(x) if np.asarray(x).dtype.kind in "fc"]


def agree(found, expected, tolerance, what):
    for a, b in zip(numbers(found), numbers(expected), strict=True):
        size = np.max(np.abs(b), initial=1e-3)
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance * size, err_msg=what)


def single(x):
    kind = np.float32 if np.isrealobj(x) else np.complex64
    return x.astype(kind) if isinstance(x, np.ndarray) else kind(x)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("library", LIBRARIES)
def test_single_precision(library):
    for f, xs, options in one_of_each(library):
        name = name_of(f)
        if any(part in name for part in WITHOUT_SINGLE):
            continue
        given = tuple(mapped(single, x) for x in xs)
        if is_left_to_its_source(f, given, options):
            continue
        y, found = pulled(f, given, options)
        agree(y, f(*given, **options), 2e-6 if name.endswith(".det") else 0, name)
        for x, dx in zip(given, found, strict=True):
            if isinstance(x, np.ndarray | np.generic) and x.dtype.kind in "fc" and dx is not None:
                assert np.asarray(dx).dtype == x.dtype, name
        agree(found, pulled(f, xs, options)[1], 2e-3, name)


STACKS = {
    *(
        "inv",
        "solve",
        "solve_triangular",
        "det",
        "pinv",
        "pinvh",
        "lstsq",
        "cholesky",
        "cho_factor",
    ),
    *("cho_solve", "lu_factor", "lu_solve", "lu", "ldl", "qr", "rq", "polar", "svd", "svdvals"),
    *("eigh", "eigvalsh", "eigvals", "schur", "hessenberg", "eig_banded", "eigvals_banded"),
    *("expm", "sqrtm", "logm", "cosm", "expm_frechet", "solve_banded", "solveh_banded"),
    *("cholesky_banded", "cho_solve_banded", "solve_sylvester", "solve_continuous_lyapunov"),
}


def of_matrices(change, x):
    """Return a value with its matrices changed."""
    return mapped(lambda a: change(a) if np.ndim(a) == 2 else a, x)


@pytest.mark.filterwarnings("ignore")
def test_stacks():
    """A stack of matrices has the cotangents of each."""
    for f, xs, options in one_of_each("scipy.linalg"):
        if name_of(f).removeprefix("scipy.linalg.") not in STACKS:
            continue
        try:
            expected = f(*of_matrices(lambda a: np.stack([a, 1.01 * a]), xs), **options)
        except ValueError:  # an older SciPy has no stacks of these
            continue
        y, found = pulled(f, of_matrices(lambda a: np.stack([a, 1.01 * a]), xs), options)
        agree(y, expected, 1e-14, name_of(f))
        first = pulled(f, xs, options)[1]
        second = pulled(f, of_matrices(lambda a: 1.01 * a, xs), options)[1]
        for x, dx, a, b in zip(xs, found, first, second, strict=True):
            for z, dz, da, db in zip(*map(numbers, (x, dx, a, b)), strict=False):
                both = np.stack([da, db]) if np.ndim(z) == 2 else da + db
                np.testing.assert_allclose(dz, both, rtol=1e-7, atol=1e-9, err_msg=name_of(f))


def overwriting(f):
    """Return the options by which a function may write to its arguments, all true."""
    names = inspect.signature(f).parameters if inspect.isfunction(f) else ()
    return {name: True for name in names if name.startswith("overwrite_")}


@pytest.mark.filterwarnings("ignore")
def test_arguments_that_may_be_overwritten_are_kept():
    for f, xs, options in one_of_each("scipy.linalg"):
        more = overwriting(f)
        positional = list(inspect.signature(f).parameters)[: len(xs)] if more else ()
        if not more or any(name in positional for name in more):
            continue
        for given in (xs, of_matrices(lambda a: np.stack([a, 1.01 * a]), xs)):
            given = mapped(lambda x: x.swapaxes(-1, -2).copy().swapaxes(-1, -2) if np.ndim(x) > 1
                           else x, given)  # fmt: skip
            try:
                _, expected = pulled(f, given, options)
            except ValueError:  # no stacks of these
                continue
            before = [x.copy() for x in numbers(given)]
            _, found = pulled(f, given, {**options, **more})
            agree(numbers(given), before, 0, name_of(f))
            agree(found, expected, 1e-9, name_of(f))


def emptied(x):
    return x[(slice(0, 0),) * x.ndim] if np.ndim(x) else x


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("library", LIBRARIES)
def test_empty_arrays(library):
    """What SciPy takes empty has empty cotangents."""
    for f, xs, options in one_of_each(library):
        if "lapack" in name_of(f) or not any(np.ndim(x) for x in xs if type(x) is np.ndarray):
            continue
        given = mapped(emptied, xs, "fci")
        try:
            f(*given, **options)
        except Exception:
            continue
        if is_left_to_its_source(f, given, options):
            continue
        for x, dx in zip(given, pulled(f, given, options)[1], strict=True):
            if type(x) is np.ndarray and dx is not None:
                assert np.shape(dx) == x.shape, name_of(f)


OF_IMAGES = {
    "gaussian_filter": (1.0,),
    "gaussian_laplace": (1.0,),
    "gaussian_gradient_magnitude": (1.0,),
    "uniform_filter": (3,),
    "convolve": (np.ones((3, 3)),),
    "correlate1d": ([1.0, 2.0, 1.0],),
    "sobel": (),
    "laplace": (),
    "maximum_filter": (3,),
    "median_filter": (3,),
    "rotate": (20,),
    "zoom": (2,),
    "shift": (1,),
    "spline_filter": (),
}


@pytest.mark.parametrize("shape", [(0, 4), (3, 0)])
@pytest.mark.parametrize("name", OF_IMAGES)
def test_empty_images(name, shape):
    filtered = lambda image: np.sum(getattr(ndimage, name)(image, *OF_IMAGES[name]))
    for _ in range(3):
        assert gradient(filtered, np.zeros(shape))[0].shape == shape
