"""NumPy's elementary functions."""

import numpy as np
import pytest

from rules_base.numpy.ufuncs import bessel_i1
from rulescore import rrule
from rulescore.testing import check_rrule


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_base"


# at an extremum 0, else the finite side, else the mean; ties are shared
KINKS = [
    (np.maximum, (1.0, 1.0), (0.5, 0.5)),
    (np.minimum, (1.0, 1.0), (0.5, 0.5)),
    (np.fmax, (1.0, 1.0), (0.5, 0.5)),
    (np.fmin, (1.0, np.nan), (1.0, 0.0)),
    (np.fmax, (np.nan, 1.0), (0.0, 1.0)),
    (np.fabs, (0.0,), (0.0,)),
    (np.hypot, (0.0, 0.0), (0.0, 0.0)),
    (np.sinc, (0.0,), (0.0,)),
    (np.sqrt, (0.0,), (np.inf,)),
    (np.cbrt, (0.0,), (np.inf,)),
    (np.arcsin, (1.0,), (np.inf,)),
    (np.logaddexp, (-np.inf, -np.inf), (0.5, 0.5)),
    (np.logaddexp2, (np.inf, np.inf), (0.5, 0.5)),
    (np.logaddexp, (800.0, -800.0), (1.0, 0.0)),
    (np.logaddexp, (-np.inf, 0.0), (0.0, 1.0)),
    (np.logaddexp, (np.inf, 0.0), (1.0, 0.0)),
    (np.heaviside, (0.0, 0.5), (None, 1.0)),
    (np.nan_to_num, (np.nan,), (0.0,)),
]


@pytest.mark.parametrize(("f", "xs", "slopes"), KINKS, ids=lambda p: getattr(p, "__name__", None))
def test_kinks(f, xs, slopes):
    assert rrule(f, *xs)[1](1.0)[1:] == slopes
    arrays = tuple(np.array([x]) for x in xs)
    for dx, slope in zip(rrule(f, *arrays)[1](np.ones(1))[1:], slopes, strict=True):
        assert dx is None if slope is None else dx[0] == slope


def test_sinc_is_smooth_near_zero():
    x = np.array([1e-12, 1e-6, 1e-3, 0.0318, 0.0319, -1e-3])
    _, dx = rrule(np.sinc, x)[1](np.ones(6))
    t = np.pi * x
    series = np.pi * (-t / 3 + t**3 / 30 - t**5 / 840 + t**7 / 45360)
    np.testing.assert_allclose(dx, series, rtol=1e-11)


def test_bessel_function_of_order_one():
    special = pytest.importorskip("scipy.special", reason="compares with scipy's i1")
    x = np.array([-700.0, -3.0, 0.0, 1e-3, 0.5, 30.0, 700.0])
    np.testing.assert_allclose(bessel_i1(x), special.i1(x), rtol=1e-12, atol=1e-16)


SIDES = [complex(x, y) for x in (2.0, -2.0) for y in (0.0, -0.0)]
SIDES += [complex(x, y) for x in (0.0, -0.0) for y in (2.0, -2.0)]
SIDES += [0.3 + 4j, -0.3 - 4j, 1e-3 - 1e-3j]


@pytest.mark.parametrize("z", SIDES, ids=repr)
@pytest.mark.parametrize(
    "f", [np.arcsin, np.arccos, np.arctan, np.arcsinh, np.arccosh, np.arctanh, np.log, np.sqrt]
)
def test_principal_branches(f, z):
    h = 1e-6
    if z.real == 0:  # along the cut, not across it, with the sign of zero kept
        up, down = complex(z.real, z.imag + h), complex(z.real, z.imag - h)
        h = 1e-6j
    else:
        up, down = complex(z.real + h, z.imag), complex(z.real - h, z.imag)
    _, dz = rrule(f, z)[1](1.0)
    expected = (f(up) - f(down)) / (2 * h)
    assert abs(np.conj(dz) - expected) < 1e-6 * max(1, abs(expected))


def test_precision_is_kept():
    for dtype in (np.float16, np.float32, np.float64, np.complex64, np.complex128):
        x = np.array([0.5, 0.25], dtype)
        y, back = rrule(np.sin, x)
        assert back(np.ones_like(y))[1].dtype == dtype


def test_warnings_of_branches_not_taken_stay_silent():
    x = np.array([0.0, 1.0])
    with np.errstate(divide="ignore"):
        _y, back = rrule(np.log, x)
    np.testing.assert_array_equal(back(np.array([0.0, 1.0]))[1], [0.0, 1.0])


def test_the_argument_of_the_origin_has_no_slope():
    assert np.isnan(rrule(np.arctan2, 0.0, 0.0)[1](1.0)[1:]).all()
    assert rrule(np.arctan2, 0.0, 0.0)[1](0.0)[1:] == (0.0, 0.0)


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_slopes_at_extreme_scales(scale):
    import math

    for f in (np.arctan2, math.atan2):
        _, dy, dx = rrule(f, 3 * scale, 4 * scale)[1](1.0)
        assert dy * scale == pytest.approx(4 / 25)
        assert dx * scale == pytest.approx(-3 / 25)
    assert rrule(np.arcsinh, 1e200)[1](1.0)[1] == pytest.approx(1e-200)


@pytest.mark.parametrize(
    ("f", "count"), [(np.exp, 1), (np.sqrt, 1), (np.sin, 1), (np.multiply, 2), (np.arctan2, 2)]
)
def test_computing_in_another_precision(f, count):
    xs = (np.array([0.5, 1.5]), np.array([2.0, 0.25]))[:count]
    y, back = rrule(f, *xs, dtype=np.float32)
    assert y.dtype == np.float32
    for dx, expected in zip(back(y)[1:], rrule(f, *xs)[1](f(*xs))[1:], strict=True):
        assert dx.dtype == np.float64
        np.testing.assert_allclose(dx, expected, rtol=1e-6)


def test_root_of_a_negative_number_computed_as_complex():
    x = np.array([-4.0, 4.0])
    y, back = rrule(np.sqrt, x, dtype=complex)
    _, dx = back(np.ones_like(y))
    np.testing.assert_allclose(dx, [0.0, 0.25])
    _, dx = back(np.array([1j, 1j]))
    np.testing.assert_allclose(dx, [-0.25, 0.0])


def test_nan_to_num_of_complex_numbers_that_are_half_finite_is_refused():
    whole = np.array([1 + 2j, complex(np.nan, np.inf)])
    _, dx = rrule(np.nan_to_num, whole)[1](np.array([3j, 4.0]))
    np.testing.assert_array_equal(dx, [3j, 0])
    with pytest.raises(NotImplementedError, match="one part is not finite"):
        rrule(np.nan_to_num, np.array([complex(np.nan, 2)]))[1](np.array([1j]))
