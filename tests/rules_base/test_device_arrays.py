"""Rules on the arrays of another device: what a CuPy array would do, without a GPU.

The array type here is no subclass of NumPy's, answers NEP 13, NEP 18 and NEP 35, and refuses what
CuPy refuses: to become a NumPy array without being told to, and to be mixed with one, or with a
list, in one call; only as an index does it take NumPy's. Its numbers stay where they are, forward
and back.
"""

import numpy as np
import pytest

from rules_base.numpy.ufunc_methods import CHAINS, PIECES, RUNNING
from rulescore import plugins, rrule
from rulescore._naming import name_of
from tests.rules_base.conftest import on_examples

# What has no rule for arrays of other libraries, or makes NumPy's arrays on the way, and why.
REASONS = {
    "sorts, which foreign libraries do in part at most": (
        "sort partition median nanmedian quantile percentile nanquantile nanpercentile unique"
        " unique_values unique_all unique_counts unique_inverse union1d setdiff1d setxor1d"
        " sort_complex take_along_axis"
    ),
    "makes NumPy arrays, by its name or by its writing": (
        "array asarray asanyarray ascontiguousarray asfortranarray asarray_chkfinite full"
    ),
    "writes entry by entry where indices come twice": (
        "interp add.reduceat maximum.accumulate minimum.accumulate fmax.accumulate"
        " fmin.accumulate ufunc.reduceat "
    )
    + " ".join(
        [f"{f.__name__}.reduce" for f in CHAINS]
        + [f"{f.__name__}.accumulate" for f in (*CHAINS, *RUNNING)]
        + [f"{f.__name__}.reduceat" for f in PIECES]
    ),
    "counts in tables of NumPy": "bincount histogram histogram2d histogram_bin_edges gradient",
    "CuPy takes no array of counts either": "repeat",
    "fits by weights and scales of NumPy": "polyfit polymul",
    "reads numbers out of the array": "choose polynomial.polynomial.polyval",
    "is of NumPy's generators": "random",
}
NAMES = {f"numpy.{name}": reason for reason, names in REASONS.items() for name in names.split()}


def reason_for(f):
    name = name_of(f)
    if name.startswith(("math.", "statistics.")):
        return "reads numbers out of the array"
    if name.startswith("numpy.random"):
        return NAMES["numpy.random"]
    if name.endswith("fromroots"):
        return "numpy.polynomial makes NumPy arrays"
    return "a method of NumPy's own class" if "ndarray." in name else NAMES.get(name)


class Device(np.lib.mixins.NDArrayOperatorsMixin):
    """An array on another device."""

    def __init__(self, data):
        self.data = data

    shape = property(lambda self: self.data.shape)
    ndim = property(lambda self: self.data.ndim)
    size = property(lambda self: self.data.size)
    dtype = property(lambda self: self.data.dtype)
    real = property(lambda self: Device(self.data.real))
    imag = property(lambda self: Device(self.data.imag))
    T = property(lambda self: Device(self.data.T))

    def __len__(self):
        return len(self.data)

    def __iter__(self):
        return iter([Device(np.asarray(row)) for row in self.data])

    def __bool__(self):
        return bool(self.data)

    def __getitem__(self, index):
        return Device(np.asarray(self.data[inside(index)]))

    def astype(self, dtype):
        return Device(self.data.astype(dtype))

    def any(self):
        return Device(np.asarray(self.data.any()))

    def conjugate(self):
        return Device(self.data.conjugate())

    def __array__(self, *args, **kwargs):
        raise TypeError("implicit conversion to a NumPy array")

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        refuse_mixed(inputs)
        return on_device(getattr(ufunc, method)(*inside(inputs), **inside(kwargs)))

    def __array_function__(self, function, types, args, kwargs):
        refuse_mixed((*args, *kwargs.values()))
        return on_device(function(*inside(args), **inside(kwargs)))


def refuse_mixed(xs):
    for x in xs:
        if isinstance(x, np.ndarray):
            raise TypeError("a NumPy array is mixed with an array on a device")
        if isinstance(x, list | tuple):
            refuse_mixed(x)


def inside(x):
    """Return the NumPy arrays that stand for what is on the device."""
    if isinstance(x, Device):
        return x.data
    if isinstance(x, list | tuple):
        return type(x)(inside(part) for part in x)
    return {name: inside(part) for name, part in x.items()} if isinstance(x, dict) else x


def on_device(x):
    if isinstance(x, np.ndarray | np.generic):
        return Device(np.asarray(x))
    if isinstance(x, list | tuple):
        parts = [on_device(part) for part in x]
        return type(x)(*parts) if hasattr(x, "_fields") else type(x)(parts)
    return {name: on_device(part) for name, part in x.items()} if isinstance(x, dict) else x


def sent(x):
    """Return a nested value with its arrays on the device."""
    return x if isinstance(x, np.generic) else on_device(x) if not is_nest(x) else nest(sent, x)


def is_nest(x):
    return isinstance(x, list | tuple)


def nest(change, x):
    parts = [change(part) for part in x]
    return type(x)(*parts) if hasattr(x, "_fields") else type(x)(parts)


def parts_of(x):
    return [part for inner in x for part in parts_of(inner)] if is_nest(x) else [x]


def is_inexact(x):
    return isinstance(x, np.ndarray) and x.dtype.kind in "fc"


def cotangent(y):
    if is_nest(y):
        return nest(cotangent, y)
    if y is None or isinstance(y, str) or np.asarray(y).dtype.kind not in "fc":
        return None
    dy = np.cos(np.arange(1.0, np.size(y) + 1)).reshape(np.shape(y))
    return np.asarray(dy + 1j * dy**2 if np.iscomplexobj(y) else dy, np.asarray(y).dtype)


def is_for_devices(f, xs):
    """Return whether a library like CuPy would take the call: arrays, and no lists of numbers."""
    if name_of(f) in ("numpy.kron", "numpy.outer") and isinstance(xs[0], float):
        return False
    lists = [part for x in xs if is_nest(x) for part in parts_of(x)]
    return (
        reason_for(f) is None
        and any(map(is_inexact, parts_of(xs)))
        and not any(isinstance(part, float | complex) for part in lists)
    )


EXAMPLES = [
    pytest.param(f, xs, options, id=f"{plugin.name}-{name_of(f)}-{i}")
    for plugin in plugins()
    if plugin.name != "rules_scipy"  # SciPy computes with NumPy's arrays alone
    for ruleset in plugin.rulesets
    for i, (f, xs, options) in enumerate(ruleset.examples)
    if is_for_devices(f, xs)
]


@on_examples(EXAMPLES)
def test_numbers_stay_on_the_device(f, xs, options):
    options = {name: x for name, x in options.items() if not name.startswith("check_")}
    y, back = rrule(f, *xs, **options)
    far_y, far_back = rrule(f, *sent(xs), **sent(options))
    for part, far in zip(parts_of(y), parts_of(far_y), strict=True):
        assert isinstance(far, Device) or not is_inexact(part)
    dy = cotangent(y)
    for dx, far_dx, x in zip(back(dy)[1:], far_back(sent(dy))[1:], xs, strict=True):
        assert (dx is None) == (far_dx is None)
        if dx is not None:
            for part, far, primal in zip(*map(parts_of, (dx, far_dx, x)), strict=True):
                assert_equal_on_device(far, part, primal)


def assert_equal_on_device(far, part, primal):
    assert (part is None) == (far is None)
    if part is not None and is_inexact(primal):
        assert isinstance(far, Device)
        assert far.dtype == part.dtype
        np.testing.assert_allclose(far.data, part, rtol=1e-9, atol=1e-9)


def test_every_reason_is_needed():
    """A name that is listed has an example, so that the list does not outlive its reasons."""
    named = {name_of(f) for p in plugins() for s in p.rulesets for f, _, _ in s.examples}
    assert {name for name in NAMES if "random" not in name} <= named | {
        name for name in NAMES if name.startswith("numpy.ufunc.")
    }


def test_the_device_refuses():
    x = Device(np.ones(2))
    for misuse in (
        lambda: np.asarray(x),
        lambda: x + np.ones(2),
        lambda: np.stack([x, np.ones(2)]),
    ):
        with pytest.raises(TypeError, match="NumPy array"):
            misuse()
