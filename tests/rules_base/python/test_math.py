"""The math module."""

import math

import numpy as np
import pytest

from rules_base.python.math import digamma
from rulescore import frule, rrule
from rulescore.testing import check_rrule
from zygote_lite import grad


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_base"


def test_cosine_of_the_seeds():
    y, back = rrule(math.cos, 0.6)
    assert y == pytest.approx(0.82533, abs=1e-5)
    z, back_sin = rrule(math.sin, y)
    assert z == pytest.approx(0.73477, abs=1e-5)
    dy = back_sin(1.0)[1]
    assert dy == pytest.approx(0.67831, abs=1e-5)
    assert back(dy)[1] == pytest.approx(-0.38300, abs=1e-5)


@pytest.mark.parametrize(
    ("f", "x", "slope"),
    [
        (math.sqrt, 0.0, math.inf),
        (math.asin, 1.0, math.inf),
        (math.acos, 1.0, -math.inf),
        (math.acosh, 1.0, math.inf),
        (math.cbrt, 0.0, math.inf),
        (math.fabs, 0.0, 0.0),
    ],
)
def test_poles_and_kinks(f, x, slope):
    assert rrule(f, x)[1](1.0)[1] == slope
    assert rrule(f, x)[1](0.0)[1] == 0.0


def test_cotangents_are_python_floats():
    for f in (math.sin, math.exp, math.sqrt, math.log, math.gamma, math.erf):
        assert type(rrule(f, 0.7)[1](1.0)[1]) is float
    assert type(rrule(math.sqrt, 4)[1](1.0)[1]) is float


def test_hypot_at_the_origin_and_at_extreme_scales():
    assert rrule(math.hypot, 0.0, 0.0)[1](1.0) == (None, 0.0, 0.0)
    assert rrule(math.hypot, 3e300, 4e300)[1](1.0) == pytest.approx((None, 0.6, 0.8))


def test_product_with_two_zeros():
    assert rrule(math.prod, [0.0, 2.0, 0.0])[1](1.0) == (None, [0.0, 0.0, 0.0])
    assert rrule(math.prod, [])[1](1.0) == (None, [])


@pytest.mark.parametrize("f", [math.gamma, math.lgamma])
def test_an_array_without_axes_is_left_alone(f):
    x = np.array(0.7)
    _, back = rrule(f, x)
    dx = back(1.0)[1]
    assert x == 0.7
    assert dx == pytest.approx(rrule(f, 0.7)[1](1.0)[1])


@pytest.mark.parametrize("x", [1e-5, 0.3, 1.0, 5.5, 40.0, -0.5, -3.7])
def test_digamma_satisfies_scipy(x):
    special = pytest.importorskip("scipy.special", reason="compares with scipy's digamma")
    assert digamma(x) == pytest.approx(special.digamma(x), rel=1e-12)


def test_every_public_function_has_a_rule():
    functions = [f for name, f in vars(math).items() if callable(f) and name[0] != "_"]
    missing = [f.__name__ for f in functions if all(r.function is not f for r in rules())]
    assert missing == []


def rules():
    from rules_base.python.math import rule

    return rule.rules


@pytest.mark.filterwarnings("ignore:Casting complex")
@pytest.mark.parametrize(
    ("f", "xs"),
    [
        (math.sin, (np.complex128(0.5 + 0.3j),)),
        (math.log, (np.complex64(0.5 + 0.3j),)),
        (math.pow, (np.complex128(0.5 + 0.3j), 2.0)),
        (math.atan2, (1.0, np.complex128(0.5 + 0.3j))),
        (math.hypot, (np.complex128(0.5 + 0.3j), 2.0)),
    ],
)
def test_of_complex_numbers_of_numpy_the_real_part_is_meant(f, xs):
    y, back = rrule(f, *xs)
    real = [x.real for x in xs]
    expected_y, expected_back = rrule(f, *map(float, real))
    assert y == expected_y
    for dx, expected, x in zip(back(1.0)[1:], expected_back(1.0)[1:], xs, strict=True):
        assert type(dx) is type(x)
        assert dx == pytest.approx(expected)


@pytest.mark.parametrize("x", [0.0, 5e-324, -5e-309, 2.0**-1024, math.nan, math.inf, 0.7, -3.0])
def test_the_slope_of_a_power_of_zero_is_zero(x):
    """Also where the reciprocal of the base is no finite number."""
    assert rrule(math.pow, x, 0.0)[1](1.0)[1] == 0.0
    assert frule((None, 1.0, None), math.pow, x, 0.0)[1] == 0.0


@pytest.mark.parametrize("x", [6e-309, 1e-200, 0.7, -3.0])
def test_the_slope_of_a_power_of_zero_moves_with_the_power(x):
    slope = grad(lambda y: grad(lambda x: math.pow(x, y))(x))
    for _ in range(3):
        assert slope(0.0) == pytest.approx(1 / x)
