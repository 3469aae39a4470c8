"""What holds for every rule of linear algebra: kinds of arrays in and out, and of cotangents."""

import importlib

import numpy as np
import pytest

from rulescore import rrule
from tests.rules_base.conftest import on_examples

MODULES = (
    "numpy.convolutions",
    "numpy.linalg.decompositions",
    "numpy.linalg.eigenvalues",
    "numpy.einsum",
    "numpy.fft",
    "numpy.linalg.solve",
    "numpy.linalg.chains",
    "numpy.linalg.norms",
    "numpy.polyfit",
    "numpy.products",
)
EXAMPLES = [
    pytest.param(*example, id=f"{module}-{example[0].__name__}-{i}")
    for module in MODULES
    for i, example in enumerate(importlib.import_module(f"rules_base.{module}").rule.examples)
]


def mapped(change, x):
    """Apply `change` to the arrays in a nested value."""
    if isinstance(x, list | tuple):
        parts = [mapped(change, part) for part in x]
        return type(x)(*parts) if hasattr(x, "_fields") else type(x)(parts)
    return change(x) if isinstance(x, np.ndarray) else x


def arrays(x):
    """Return the arrays and numbers of a nested value."""
    if isinstance(x, list | tuple):
        return [array for part in x for array in arrays(part)]
    return [] if x is None else [x]


def cotangent(y):
    """Return a cotangent for a nested result."""
    if isinstance(y, list | tuple):
        parts = [cotangent(part) for part in y]
        return type(y)(*parts) if hasattr(y, "_fields") else type(y)(parts)
    y = np.asarray(y)
    if y.dtype.kind not in "fc":
        return None
    dy = np.cos(np.arange(1.0, y.size + 1)).reshape(y.shape)
    return np.asarray(dy + 1j * dy**2 if y.dtype.kind == "c" else dy, dtype=y.dtype)


def cotangents(f, xs, options, dy=None):
    y, back = rrule(f, *xs, **options)
    return back(cotangent(y) if dy is None else dy)


def assert_same(a, b, tolerance=1e-9):
    a, b = arrays(a), arrays(b)
    assert len(a) == len(b)
    for one, other in zip(a, b, strict=True):
        scale = max(1.0, np.max(np.abs(other), initial=0.0))
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance * scale)


def reverse_strided(x):
    if x.ndim == 0:
        return x
    turned = (slice(None, None, -1),) * x.ndim
    return np.ascontiguousarray(x[turned])[turned]


def spaced(x):
    return np.repeat(x, 2, axis=-1)[..., ::2] if x.ndim else x


def read_only(x):
    x = x.copy()
    x.flags.writeable = False
    return x


LAYOUTS = {"reversed": reverse_strided, "spaced": spaced, "fortran": lambda x: x.copy(order="F")}


@on_examples(EXAMPLES)
def test_layout_of_arguments_does_not_matter(f, xs, options):
    expected = cotangents(f, xs, options)
    for change in (*LAYOUTS.values(), read_only):
        assert_same(cotangents(f, mapped(change, xs), options), expected)


@on_examples(EXAMPLES)
def test_layout_of_the_cotangent_does_not_matter(f, xs, options):
    y, back = rrule(f, *xs, **options)
    dy = cotangent(y)
    expected = back(dy)
    for change in (*LAYOUTS.values(), read_only):
        assert_same(back(mapped(change, dy)), expected)
    if isinstance(dy, np.ndarray):
        ones = np.broadcast_to(np.ones((), dy.dtype), dy.shape)
        assert_same(back(ones), back(ones.copy()))
    if isinstance(dy, np.ndarray) and dy.ndim == 0:
        assert_same(back(dy.item()), expected)


@on_examples(EXAMPLES)
def test_pullback_is_linear_and_keeps_off_the_memory_of_others(f, xs, options):
    y, back = rrule(f, *xs, **options)
    dy = cotangent(y)
    found = back(dy)
    scaled = mapped(lambda d: np.asarray(-2 * d), dy)
    assert_same(back(scaled), [-2 * np.asarray(dx) for dx in arrays(found)])
    for dx in arrays(found):
        assert not any(np.shares_memory(dx, x) for x in arrays(xs) if isinstance(x, np.ndarray))


@on_examples(EXAMPLES)
def test_single_precision_stays_single(f, xs, options):
    def single(x):
        return x.astype({"f": "f4", "c": "c8"}.get(x.dtype.kind, x.dtype))

    xs32 = mapped(single, xs)
    y, back = rrule(f, *xs32, **options)
    for a, b in zip(arrays(y), arrays(f(*xs32, **options)), strict=True):
        assert np.asarray(a).dtype == np.asarray(b).dtype
    dy = cotangent(y)
    found = back(dy)
    for dx, x in zip(found[1:], xs32, strict=True):
        for d, part in zip(arrays(dx), arrays(x), strict=False):
            if isinstance(part, np.ndarray):
                assert d.dtype == part.dtype


@on_examples(EXAMPLES)
def test_results_one_by_one_add_up(f, xs, options):
    y, back = rrule(f, *xs, **options)
    if not isinstance(y, tuple):
        assert back(None) == (None,) * (len(xs) + 1)
        return
    dy = cotangent(y)
    total = np.zeros(())
    for k in range(len(y)):
        only = [d if i == k else None for i, d in enumerate(dy)]
        given = back(type(y)(*only) if hasattr(y, "_fields") else tuple(only))[1]
        total = total + (0 if given is None else np.asarray(given))
    assert_same(total, np.asarray(back(dy)[1]))


ON_ARRAYS = [
    example
    for example in EXAMPLES
    if any(isinstance(x, np.ndarray) for x in example.values[1])
    and not any(type(x) is list and isinstance(x[0], float | list) for x in example.values[1])
]


@on_examples(ON_ARRAYS)
def test_foreign_arrays_stay_foreign(foreign, f, xs, options):
    y, back = rrule(f, *xs, **options)
    dy = cotangent(y)
    foreign_y, foreign_back = rrule(f, *mapped(foreign, xs), **options)
    assert any(isinstance(part, foreign) for part in arrays(foreign_y))
    found = foreign_back(mapped(foreign, dy))
    for d, expected, x in zip(found[1:], back(dy)[1:], xs, strict=True):
        if isinstance(x, np.ndarray):
            assert isinstance(d, foreign)
            assert_same(d.data, expected)


@pytest.mark.parametrize(
    "f", [np.inner, np.vdot, np.outer, np.kron, np.convolve, np.correlate], ids=lambda f: f.__name__
)
def test_integers_are_real_numbers(f):
    a, b = np.array([1, 2, 3]), np.array([4, -1, 2])
    y, back = rrule(f, a, b)
    assert y.dtype == f(a, b).dtype
    floats = rrule(f, a.astype(float), b.astype(float))[1](np.ones(y.shape))
    for d, expected in zip(back(np.ones(y.shape))[1:], floats[1:], strict=True):
        assert d.dtype == np.float64
        np.testing.assert_array_equal(d, expected)
