"""Rules of `rules_scipy.signal.splines`, and SciPy's functions over them, against differences."""

import numpy as np
import pytest
from scipy import signal

from rulescore.testing import check_rrule
from tests.rules_scipy.tiers import compare, differences
from zygote_lite import NoRuleError, gradient


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


SIGNAL = np.cos(np.arange(30.0) ** 1.3)
IMAGE = np.sin(np.arange(36.0) ** 1.2).reshape(6, 6)
LARGE = np.sin(np.arange(900.0) ** 1.2).reshape(30, 30)
WEIGHTS = np.cos(np.arange(30.0))
CASES = {
    "first order": (lambda x: signal.symiirorder1(x, 0.7, 0.3), SIGNAL),
    "first order, rows": (lambda x: signal.symiirorder1(x, 0.7, -0.2), LARGE[:2]),
    "first order, its parameters": (
        lambda p: signal.symiirorder1(SIGNAL, p[0], p[1]), np.array([0.7, 0.3])),
    "second order": (lambda x: signal.symiirorder2(x, 0.3, 0.8), SIGNAL),
    "second order, its parameters": (
        lambda p: signal.symiirorder2(SIGNAL, p[0], p[1]), np.array([0.3, 0.8])),
    "second order, no frequency": (lambda r: signal.symiirorder2(SIGNAL, r[0], 0.0),
                                   np.array([0.3])),
    "cubic spline": (lambda x: signal.cspline1d(x, 0.0), SIGNAL),
    "quadratic spline": (lambda x: signal.qspline1d(x), SIGNAL),
    "separable": (lambda h: signal.sepfir2d(IMAGE, h, h**2), np.array([0.2, 0.7, -0.3])),
}  # fmt: skip


def total(f):
    return lambda x: np.sum(np.tanh(f(x)) * WEIGHTS[: np.shape(f(x))[-1]])


@pytest.mark.parametrize("name", CASES)
def test_derivatives(name):
    f, x = CASES[name]
    compare(total(f), x, differences(total(f), x), name == "first order", rtol=1e-7, atol=1e-8)


SPLINES = {
    "cubic": lambda x: signal.cspline2d(x, 0.0),
    "cubic, smoothed": lambda x: signal.cspline2d(x, 1.5),
    "quadratic": lambda x: signal.qspline2d(x),
    "filter": lambda x: signal.spline_filter(x, 2.0),
}


KINDS = [(name, kind) for name in SPLINES for kind in (np.float64, np.float32)]
KINDS += [(name, np.complex64) for name in ("cubic", "quadratic")]  # others are SciPy's own errors


@pytest.mark.parametrize(("name", "kind"), KINDS)
def test_splines_of_images_are_linear(name, kind):
    """The gradient of a weighted sum, times the image, is the sum."""
    f, x = SPLINES[name], (LARGE + (0.5j * LARGE**2 if kind == np.complex64 else 0)).astype(kind)
    w = np.outer(WEIGHTS, WEIGHTS[::-1])
    (found,) = gradient(lambda x: np.sum(w * np.real(f(x))), x)
    assert found.dtype == kind
    one = np.zeros_like(x)
    one[3, 5] = 1.0
    tolerance = 1e-11 if kind == np.float64 else 1e-4
    assert np.vdot(found, x).real == pytest.approx(np.sum(w * np.real(f(x))), rel=tolerance)
    assert found[3, 5].real == pytest.approx(np.sum(w * np.real(f(one))), rel=tolerance)


def test_second_derivatives_and_directions():
    def slope(p):
        return gradient(total(lambda p: signal.symiirorder2(SIGNAL, p[0], p[1])), p)[0]

    p = np.array([0.3, 0.8])
    (second,) = gradient(lambda p: np.sum(slope(p) * [1.0, -0.4]), p)
    np.testing.assert_allclose(
        second, differences(lambda p: np.sum(slope(p) * [1.0, -0.4]), p), rtol=1e-6
    )


def test_filters_longer_than_the_image_are_refused():
    with pytest.raises(NoRuleError, match="shorter than a filter"):
        gradient(lambda x: np.sum(signal.sepfir2d(x, np.ones(3), np.ones(7))), IMAGE)
