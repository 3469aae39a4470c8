"""Rules of `rules_scipy.ndimage.functions`, against differences."""

import ctypes

import numpy as np
import pytest
from scipy import LowLevelCallable
from scipy import ndimage as nd

from tests.rules_scipy.tiers import compare, differences
from zygote_lite import NoRuleError, gradient, jvp

IMAGE = np.sin(np.arange(20.0) ** 1.3).reshape(4, 5) + 0.1
CROSS = np.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]])
P = np.array([0.7, 1.4])


def spread_of(window):
    return np.sqrt(np.mean((window - np.mean(window)) ** 2) + 0.1)


def powers(window, p, q=1.0):
    return np.sum(np.abs(window) ** (2 + p)) * q


def moved(line, out, p=0.3):
    for i in range(len(out)):
        out[i] = line[i] * line[i + 1] + p * line[i + 2] ** 2


def lines(x, p=0.3, **options):
    return nd.generic_filter1d(x, moved, 3, extra_arguments=(p,), **options)


CASES = {
    "size": (lambda x: nd.generic_filter(x, spread_of, 3), IMAGE),
    "even size": (lambda x: nd.generic_filter(x, spread_of, (2, 4), origin=(0, -1)), IMAGE),
    "footprint": (lambda x: nd.generic_filter(x, spread_of, footprint=CROSS, mode="wrap"), IMAGE),
    "constant": (
        lambda x: nd.generic_filter(x, spread_of, 3, mode="constant", cval=0.4), IMAGE),
    "an axis": (lambda x: nd.generic_filter(x, spread_of, 3, axes=(1,), mode="mirror"), IMAGE),
    "argument": (lambda p: nd.generic_filter(
        IMAGE, powers, 2, extra_arguments=(p[0],), extra_keywords={"q": p[1]}), P),
    "captured": (lambda p: nd.generic_filter(IMAGE, lambda w: powers(w, p[0], p[1]), 2), P),
    "a part of the windows": (
        lambda x: nd.generic_filter(x, lambda w: w[0] ** 3 if w[1] > 0 else 0.5, 2), IMAGE),
    "lines": (lambda x: lines(x), IMAGE),
    "columns": (lambda x: lines(x, axis=0, mode="nearest", origin=1), IMAGE),
    "lines by an argument": (lambda p: lines(IMAGE, p[0]) * p[1], P),
    "lines captured": (lambda p: nd.generic_filter1d(
        IMAGE, lambda a, b: moved(a, b, p[1]), 3), P),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("transformed", [False, True])
def test_derivatives(name, transformed):
    f, x = CASES[name]
    total = lambda x: np.sum(np.sin(f(x)) * IMAGE)
    compare(total, x, differences(total, x), transformed, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("mode", ["reflect", "nearest", "mirror", "wrap", "grid-wrap"])
def test_a_linear_function_gives_a_correlation(mode):
    w = np.linspace(0.2, 1.0, 12).reshape(3, 4)
    (found,) = gradient(lambda x: np.sum(IMAGE * nd.generic_filter(
        x, lambda window: np.dot(window, w.ravel()), (3, 4), mode=mode)), IMAGE)  # fmt: skip
    (expected,) = gradient(lambda x: np.sum(IMAGE * nd.correlate(x, w, mode=mode)), IMAGE)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_second_derivatives_directions_and_precision():
    f = lambda x: np.sum(nd.generic_filter(x, spread_of, 2) ** 2 * IMAGE)
    slope = lambda x: np.sum(gradient(f, x)[0] * IMAGE)
    expected = differences(slope, IMAGE)
    np.testing.assert_allclose(gradient(slope, IMAGE)[0], expected, rtol=1e-6, atol=1e-8)
    along = np.sum(gradient(f, IMAGE)[0] * IMAGE)
    assert jvp(f, (IMAGE,), (IMAGE,))[1] == pytest.approx(along, rel=1e-12)
    assert gradient(f, IMAGE.astype(np.float32))[0].dtype == np.float32
    for shape in ((0, 5), (5, 0)):
        assert gradient(lambda x: np.sum(lines(x)), np.zeros(shape))[0].shape == shape
        f = lambda x: np.sum(nd.generic_filter(x, spread_of, 2))
        assert gradient(f, np.zeros(shape))[0].shape == shape


def test_errors_of_the_function_and_of_scipy_are_raised():
    with pytest.raises(ZeroDivisionError):
        gradient(lambda x: np.sum(nd.generic_filter(x, lambda w: 1.0 / 0.0, 2)), IMAGE)
    with pytest.raises(ValueError, match="invalid origin"):
        gradient(lambda x: np.sum(nd.generic_filter(x, spread_of, 2, origin=4)), IMAGE)
    with pytest.raises(NoRuleError, match="output"):
        gradient(lambda x: np.sum(nd.generic_filter(x, spread_of, 2, output=IMAGE * 0)), IMAGE)
    with pytest.raises(NoRuleError, match="`cval`"):
        gradient(lambda c: np.sum(nd.generic_filter(
            IMAGE, spread_of, 2, mode="constant", cval=c)), 0.3)  # fmt: skip


def test_compiled_functions_are_refused():
    doubles = ctypes.POINTER(ctypes.c_double)
    kinds = (doubles, ctypes.c_ssize_t, doubles, ctypes.c_void_p)
    made = LowLevelCallable(ctypes.CFUNCTYPE(ctypes.c_int, *kinds)(lambda *_: 1))
    with pytest.raises(NoRuleError, match="functions in Python"):
        gradient(lambda x: np.sum(nd.generic_filter(x, made, 2)), IMAGE)
