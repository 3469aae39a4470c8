"""What holds for every rule: kinds of arrays in and out, layouts, linearity, foreign arrays."""

import importlib

import numpy as np
import pytest

from rules_base.numpy.ufunc_methods import CHAINS, RUNNING
from rulescore import rrule
from rulescore._naming import name_of
from tests.rules_base.conftest import on_examples

MODULES = (
    "numpy.arithmetic",
    "numpy.attributes",
    "python.builtins",
    "numpy.calculus",
    "python.cmath",
    "numpy.complex",
    "numpy.covariance",
    "numpy.arrays.creation",
    "numpy.cumulative",
    "numpy.ufuncs",
    "numpy.histograms",
    "numpy.arrays.indexing",
    "numpy.arrays.joining",
    "python.math",
    "numpy.matmul",
    "numpy.arrays.padding",
    "numpy.polynomial",
    "numpy.arrays.ranges",
    "numpy.arrays.rearranging",
    "numpy.reductions",
    "numpy.arrays.selecting",
    "numpy.sequences",
    "numpy.arrays.shaping",
    "numpy.arrays.sorting",
    "python.statistics",
    "numpy.statistics",
    "numpy.ufunc_methods",
)
EXAMPLES = [
    pytest.param(*example, id=f"{module}-{name_of(example[0])}-{i}")
    for module in MODULES
    for i, example in enumerate(importlib.import_module(f"rules_base.{module}").rule.examples)
]


def is_numeric(x):
    return isinstance(x, np.ndarray) and x.dtype.kind in "fc"


ON_ARRAYS = [e for e in EXAMPLES if any(is_numeric(x) for x in e.values[1])]


def mapped(change, x):
    """Apply `change` to the inexact arrays in a nested value."""
    if isinstance(x, list | tuple):
        parts = [mapped(change, part) for part in x]
        return type(x)(*parts) if hasattr(x, "_fields") else type(x)(parts)
    return change(x) if is_numeric(x) else x


def parts_of(x):
    """Return the arrays and numbers of a nested value, `None` included."""
    if isinstance(x, list | tuple):
        return [part for inner in x for part in parts_of(inner)]
    return [x]


def cotangent(y):
    """Return a cotangent for a nested result, `None` for what is no real or complex number."""
    if isinstance(y, list | tuple):
        parts = [cotangent(part) for part in y]
        return type(y)(*parts) if hasattr(y, "_fields") else type(y)(parts)
    if y is None or isinstance(y, str):
        return None
    array = np.array(y) if isinstance(y, np.flatiter) else np.asarray(y)
    if array.dtype.kind not in "fc":
        return None
    dy = np.cos(np.arange(1.0, array.size + 1)).reshape(array.shape)
    dy = (dy + 1j * dy**2 if array.dtype.kind == "c" else dy).astype(array.dtype)
    return dy if isinstance(y, np.ndarray | np.flatiter) else dy.item()


def same(a, b, tolerance=1e-9):
    for one, other in zip(parts_of(a), parts_of(b), strict=True):
        if other is None or isinstance(other, str):
            assert one is other or one == other
        else:
            np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)


def turned(x):
    """Return `x` with negative strides."""
    reverse = (slice(None, None, -1),) * x.ndim
    return np.ascontiguousarray(x[reverse])[reverse] if x.ndim else x


def spaced(x):
    """Return `x` with gaps between its entries."""
    return np.repeat(x, 2, axis=-1)[..., ::2] if x.ndim else x


def read_only(x):
    x = x.copy()
    x.flags.writeable = False
    return x


def fortran(x):
    return np.array(x, order="F")


LAYOUTS = (turned, spaced, read_only, fortran)


@on_examples(ON_ARRAYS)
def test_layout_of_arguments_does_not_matter(f, xs, options):
    y, back = rrule(f, *xs, **options)
    dy = cotangent(y)
    expected = back(dy)
    for layout in LAYOUTS:
        changed = mapped(layout, xs)
        found_y, found_back = rrule(f, *changed, **options)
        if isinstance(y, np.ndarray) and y.dtype.kind in "fc":
            np.testing.assert_allclose(found_y, y, rtol=1e-12)
        same(found_back(dy), expected)


@on_examples(EXAMPLES)
def test_pullbacks_are_linear_and_take_any_layout(f, xs, options):
    y, back = rrule(f, *xs, **options)
    assert back(None) == (None,) * (len(xs) + 1)
    dy = cotangent(y)
    if dy is None:
        counted = any(isinstance(x, np.ndarray) and x.dtype.kind in "iu" for x in xs)
        if isinstance(y, np.ndarray) and y.dtype.kind not in "fc" and not counted:
            assert all(part is None for part in parts_of(list(back(np.ones(y.shape)))))
        return
    expected = back(dy)
    for layout in LAYOUTS:
        same(back(mapped(layout, dy)), expected)
    doubled = back(scaled(dy, -2.0))
    same(doubled, scaled(expected, -2.0))


def scaled(x, factor):
    if isinstance(x, list | tuple):
        parts = [scaled(part, factor) for part in x]
        return type(x)(*parts) if hasattr(x, "_fields") else type(x)(parts)
    return None if x is None else x * factor


@on_examples(ON_ARRAYS)
def test_cotangents_share_no_memory_with_the_arguments(f, xs, options):
    y, back = rrule(f, *xs, **options)
    for dx in parts_of(back(cotangent(y))):
        for x in parts_of(xs):
            assert not (is_numeric(dx) and is_numeric(x) and np.shares_memory(dx, x))


@on_examples(ON_ARRAYS)
def test_single_precision_stays_single(f, xs, options):
    singles = mapped(lambda x: x.astype("f4" if x.dtype.kind == "f" else "c8"), xs)
    y, back = rrule(f, *singles, **options)
    expected = f(*singles, **options) if callable(f) else f.__get__(*singles)
    for a, b in zip(parts_of(y), parts_of(expected), strict=True):
        assert getattr(a, "dtype", None) == getattr(b, "dtype", None)
    for dx, x in zip(back(cotangent(y))[1:], singles, strict=True):
        if dx is not None:
            for d, part in zip(parts_of(dx), parts_of(x), strict=True):
                assert not is_numeric(part) or d.dtype == part.dtype


def counted(x):
    """Return positive integers of eight bits near the multiples of `x`."""
    return (
        np.maximum(np.abs(np.round(3 * np.nan_to_num(x))), 1).astype("u1")
        if x.dtype.kind == "f"
        else x
    )


@on_examples(ON_ARRAYS)
def test_small_integers_do_not_wrap_around(f, xs, options):
    if not callable(f) or "random" in name_of(f):
        return
    integers = mapped(counted, xs)
    floats = mapped(lambda x: counted(x).astype(x.dtype), xs)
    with np.errstate(all="ignore"):
        try:
            y, expected_y = f(*integers, **options), f(*floats, **options)
        except (TypeError, ValueError, IndexError, AttributeError):
            return  # the function has no value there
        if not all(map(agrees, parts_of(y), parts_of(expected_y))):
            return  # NumPy itself computes in eight bits, or in half precision
        dy = cotangent(expected_y)
        try:
            expected = rrule(f, *floats, **options)[1](dy)
        except np.linalg.LinAlgError:  # what is singular has no gradient
            return
        same(rrule(f, *integers, **options)[1](dy), expected, 1e-6)


def agrees(a, b):
    number = isinstance(b, np.ndarray | np.generic | float)
    alike = np.result_type(a) == np.result_type(b)
    return not number or (alike and np.allclose(a, b, rtol=1e-12, atol=1e-12, equal_nan=True))


@on_examples(EXAMPLES)
def test_numpy_scalars_are_numbers(f, xs, options):
    if not any(type(x) is float or type(x) is complex for x in xs):
        return
    scalars = tuple(np.float64(x) if type(x) is float else x for x in xs)
    scalars = tuple(np.complex128(x) if type(x) is complex else x for x in scalars)
    y, back = rrule(f, *xs, **options)
    found_y, found_back = rrule(f, *scalars, **options)
    dy = cotangent(y)
    same(found_y, y)
    same(found_back(dy), back(dy))
    for dx, x in zip(found_back(dy)[1:], scalars, strict=True):
        assert dx is None or not isinstance(x, np.generic) or type(dx) is type(x)


# What these do with an array of a foreign library is that library's own business, or needs
# NumPy's memory.
ONLY_NUMPY = {
    "they iterate, or ask for len()": "sum max min choose polyval",
    "they make NumPy arrays": (
        "array asarray asanyarray ascontiguousarray asfortranarray asarray_chkfinite full copy"
    ),
    "sorting, which most libraries have in part at most": (
        "sort partition median nanmedian nanquantile nanpercentile unique unique_values quantile"
        " percentile take_along_axis unique_all unique_counts unique_inverse union1d setdiff1d"
        " setxor1d sort_complex"
    ),
    "no foreign library has it, or a part of it": "interp repeat polymul",
}
ENTRY_BY_ENTRY = [f.reduce for f in CHAINS] + [f.accumulate for f in (*CHAINS, *RUNNING)]
NAMES = {name for names in ONLY_NUMPY.values() for name in names.split()}
NAMES = {f"numpy.{name}" for name in NAMES - {"sum", "max", "min"}} | {"sum", "max", "min"}
NAMES |= {"rules_base.numpy.evalpoly.evalpoly", "numpy.polynomial.polynomial.polyval"}


def is_numpy_only(f):
    name = name_of(f)
    if name in ("math.dist", "math.fsum") or name.startswith("statistics."):
        return True  # they read the numbers of an array one by one
    if name.endswith(".reduceat") or f in ENTRY_BY_ENTRY:
        return True
    if name.endswith("fromroots"):
        return True  # numpy.polynomial makes NumPy arrays
    return name in NAMES or "ndarray." in name


@on_examples([e for e in ON_ARRAYS if not is_numpy_only(e.values[0])])
def test_foreign_arrays_stay_foreign(foreign, f, xs, options):
    y, back = rrule(f, *xs, **options)
    dy = cotangent(y)
    foreign_y, foreign_back = rrule(f, *mapped(foreign, xs), **options)
    if isinstance(foreign_y, foreign) and not isinstance(dy, np.ndarray):
        dy = np.asarray(dy)
    found = foreign_back(mapped(foreign, dy))
    for d, expected, x in zip(found[1:], back(dy)[1:], xs, strict=True):
        if is_numeric(x) and expected is not None:
            assert isinstance(d, foreign)
            np.testing.assert_allclose(d.data, expected, rtol=1e-9, atol=1e-9)
