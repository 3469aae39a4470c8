"""Gradients of gradients: against formulas and finite differences of the gradient."""

import math
import types

import numpy as np
import pytest

from rules_base import evalpoly
from rulescore import RuleError, RuleSet, accumulate, rrule
from tests.zygote_lite.nested.programs import PROGRAMS
from zygote_lite import (
    DifferentiationError,
    NoRuleError,
    check_gradient,
    explain,
    grad,
    gradient,
    hessian,
    hvp,
    jacobian,
    jvp,
    pullback,
)
from zygote_lite.testing import recorded_only

V = np.array([0.7, 1.3])


def slopes(f, x, h=1e-6):
    """Return the Jacobian of an array function by central differences."""
    columns = []
    for i in range(x.size):
        step = np.zeros_like(x)
        step[i] = h
        columns.append((f(x + step) - f(x - step)) / (2 * h))
    return np.stack(columns, axis=-1)


SCALAR = {
    "power": (lambda x: x**3 * math.sin(x), None),
    "product_of_list": (lambda x: math.prod([x * x, x]), lambda x: 6 * x),
    "product_of_tuple": (lambda x: math.prod((x * x, x)), lambda x: 6 * x),
    "division": (lambda x: 1.0 / (1.0 + x * x), None),
    "loop": (lambda x: sum(x**i for i in range(5)), lambda x: 2 + 6 * x + 12 * x * x),
    "numpy": (lambda x: np.tanh(x) * np.exp(x), None),
}


@pytest.mark.parametrize("name", SCALAR)
def test_second_derivatives_of_numbers(name):
    f, formula = SCALAR[name]
    for x in (0.4, 1.3):
        h = 1e-5
        expected = (grad(f)(x + h) - grad(f)(x - h)) / (2 * h)
        assert grad(grad(f))(x) == pytest.approx(expected, rel=1e-6)
        if formula is not None:
            assert grad(grad(f))(x) == pytest.approx(formula(x))


def test_a_third_derivative():
    assert grad(grad(grad(lambda x: x**4)))(2.0) == pytest.approx(48.0)


ARRAY = {
    "quadratic": lambda x: np.dot(x, x) * np.sum(np.sin(x)),
    "concatenate": lambda x: np.sum(np.concatenate([x * x, x]) ** 2),
    "stack": lambda x: np.sum(np.stack([x * x, x]) ** 3),
    "vstack": lambda x: np.sum(np.vstack([x * x, x]) ** 3),
    "block": lambda x: np.sum(np.block([x * x, x]) ** 3),
    "array": lambda x: np.sum(np.array([x[0] * x[1], x[1]]) ** 2),
    "evalpoly": lambda x: evalpoly(x[0], [x[1], x[0] * x[1], 2.0]),
    "entries": lambda x: x[0] ** 2 * x[1] + x[1] ** 3,
    "rows": lambda x: np.sum(np.outer(x, x)[0] ** 2),
    "max": lambda x: np.max(x) * np.sum(x**2),
    "where": lambda x: np.sum(np.where(x > 1.0, x**3, x**2)),
}


@pytest.mark.parametrize("name", ARRAY)
def test_hessians(name):
    f = ARRAY[name]
    expected = slopes(grad(f), V)
    found = hessian(f)(V)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(found, found.T, rtol=1e-9, atol=1e-9)
    v = np.array([0.3, -1.1])
    np.testing.assert_allclose(hvp(f)(V, v), found @ v, rtol=1e-9, atol=1e-9)


def test_perturbations_are_not_confused():
    assert gradient(lambda x: x * grad(lambda y: x + y)(1.0), 5.0) == (1.0,)
    assert gradient(lambda x: x * grad(lambda y: x * y)(1.0), 5.0) == (10.0,)
    assert grad(lambda x: grad(lambda y: x * y * y)(x))(3.0) == pytest.approx(4 * 3.0)


def test_a_pullback_inside():
    def f(x):
        _, back = pullback(lambda a, b: a * b * b, x, 2.0)
        return back(x)[2]

    assert gradient(f, 3.0)[0] == pytest.approx(8 * 3.0)


def test_a_jacobian_inside():
    def f(x):
        return np.sum(jacobian(lambda v: v**3)(x) ** 2)

    np.testing.assert_allclose(gradient(f, V)[0], 36 * V**3)


def test_newton_by_second_derivatives():
    def root(a):
        x = 1.0
        for _ in range(8):
            f = lambda v: (v * v - a) ** 2
            x = x - grad(f)(x) / grad(grad(f))(x)
        return x

    assert root(2.0) == pytest.approx(math.sqrt(2.0), rel=1e-3)


X = np.array([0.8, 1.4])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_differentiated_twice(name):
    f = PROGRAMS[name]
    x = X.copy()
    expected = slopes(grad(f), x, 1e-5)
    np.testing.assert_allclose(hessian(f)(x), expected, rtol=1e-5, atol=1e-5)
    v = np.array([0.3, -1.0])
    np.testing.assert_allclose(hvp(f)(x, v), expected @ v, rtol=1e-5, atol=1e-5)
    total = gradient(lambda x: np.sum(grad(f)(x) * v), x)[0]
    np.testing.assert_allclose(total, v @ expected, rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(x, X)


THRICE = ["write", "write_view", "addat", "listofarr", "constwrite", "inv", "prod", "classes",
          "mean_tuple_axis", "reshape", "cplx", "genclosure"]  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", THRICE)
def test_programs_differentiated_three_times(name):
    f = PROGRAMS[name]
    expected = slopes(hessian(f), X, 1e-4)
    np.testing.assert_allclose(jacobian(hessian(f))(X), expected, rtol=1e-4, atol=1e-4)


def test_an_argument_that_is_overwritten_inside():
    def f(a):
        a[0] = a[0] * a[1]
        return a[0] ** 2 * a[1]

    def outer(x):
        y = x * 1.0
        (d,) = gradient(f, y)
        return np.sum(d * y)

    found = gradient(outer, X)[0]
    np.testing.assert_allclose(found, slopes(outer, X), rtol=1e-6)


def test_a_rule_that_takes_the_ad():
    rule = RuleSet("twice_inside")

    def apply_twice(f, x):
        raise NotImplementedError

    @rule(apply_twice)
    def _(f: types.FunctionType, x: float, *, ad):
        y, back = ad(f, x)
        z, again = ad(f, y)

        def pullback(dz):
            df, dy = again(dz)
            dg, dx = back(dy)
            return accumulate(df, dg), dx

        return z, pullback

    rule.register()
    try:
        g = lambda x: apply_twice(lambda v: v**3, x)
        assert grad(g)(1.1) == pytest.approx(9 * 1.1**8)
        assert grad(grad(g))(1.1) == pytest.approx(72 * 1.1**7)

        def h(x):
            seen = []
            return apply_twice(lambda v: seen.append(v) or v**3, x) + seen[0]

        for derivative in (grad(h), lambda x: jvp(h, (x,), (1.0,)), grad(grad(h))):
            with pytest.raises(DifferentiationError, match="changes what it captured"):
                derivative(1.1)
    finally:
        rule.unregister()


def test_rrule_inside_what_is_differentiated():
    def f(x):
        y, back = rrule(np.sin, x)
        return y * back(x)[1]

    def expected(x):
        return np.sin(x) * x * np.cos(x)

    assert grad(f)(0.7) == pytest.approx(slopes_of_number(expected, 0.7))

    def g(x):
        y, back = rrule(np.matmul, x, x)
        _, da, db = back(y)
        return da @ db

    np.testing.assert_allclose(gradient(g, X)[0], 6 * np.sum(X**2) ** 2 * X)


def slopes_of_number(f, x, h=1e-5):
    return (f(x + h) - f(x - h)) / (2 * h)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(np.abs(x.view(complex)) ** 4),
        lambda x: np.sum((x.view(complex) ** 3).imag),
        lambda x: np.sum((x * x).view(complex).view(float) ** 2 * x),
    ],
    ids=["modulus", "power", "there and back"],
)
def test_pairs_of_numbers_seen_as_complex_are_differentiated_twice(f):
    x, v, h = np.array([0.5, 0.7, 0.2, 0.9]), np.array([1.0, -2.0, 0.5, 0.3]), 1e-5
    expected = (gradient(f, x + h * v)[0] - gradient(f, x - h * v)[0]) / (2 * h)
    for _ in range(4):
        np.testing.assert_allclose(hvp(f)(x, v), expected, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(hessian(f)(x) @ v, expected, rtol=1e-6, atol=1e-6)


def test_text_is_no_way_around_a_nested_gradient():
    def f(x):
        return gradient(lambda y: y * float({"a": str(y)}["a"]), x)[0]

    with pytest.raises(DifferentiationError, match="text"):
        gradient(f, 0.5)
    labelled = gradient(lambda x: gradient(lambda y: y**3 * len(f"{y:.3f}"), x)[0], 0.5)
    assert labelled == (15.0,)


def test_an_infinite_slope_stays_infinite_inside():
    """What is computed from a gradient inside is what it is outside."""
    x = np.array([0.0, 1.0])
    found = []

    def f(x):
        g = gradient(lambda y: np.sum(np.sqrt(y)), x)[0]
        found.append(np.array(g))
        return np.sum(g)

    (d,) = gradient(f, x)
    np.testing.assert_array_equal(found[0], [np.inf, 0.5])
    np.testing.assert_array_equal(d, [-np.inf, -0.25])


def test_a_zero_cotangent_beside_an_infinite_slope_has_its_own_slope():
    def f(a):  # dg[1] / da[1] is the slope of the square root at 1
        g = gradient(lambda y: np.sum(a * np.sqrt(y)), np.array([0.0, 1.0]))[0]
        return g[1]

    (d,) = gradient(f, np.array([1.0, 0.0]))
    np.testing.assert_array_equal(d, [0.0, 0.5])


def test_a_branch_not_taken_does_not_leak_into_second_derivatives():
    def f(x):
        g = gradient(lambda y: np.sum(np.where(y > 0, np.sqrt(y), 0.0)), x)[0]
        return np.sum(g)

    (d,) = gradient(f, np.array([0.0, 1.0]))
    np.testing.assert_array_equal(d, [0.0, -0.25])


class Doubling(list):
    """A list that hands out twice what it holds."""

    def __iter__(self):
        for i in range(len(self)):
            yield self[i] * 2.0


def sum_of_doubled(z):
    return sum(Doubling([z, z * z]))


def largest_of_doubled(z):
    return max(Doubling([z, z * z]))


def written(z):
    y = np.zeros(2)
    y[0] = z * 2.0
    return y[0] * y[0]


@pytest.mark.parametrize(
    ("f", "slope"), [(sum_of_doubled, 14.0), (largest_of_doubled, 12.0), (written, 24.0)]
)
def test_what_depends_on_the_inner_argument_alone(f, slope):
    with recorded_only():
        assert math.isclose(gradient(lambda a: grad(f)(3.0) * a, 2.0)[0], slope)


def through_text(z):
    return float(str(z))


def through_method(z):
    return float.fromhex(z.hex())


def text_written(z):
    y = np.zeros(2)
    y[0] = str(z)
    return y[0]


@pytest.mark.parametrize("f", [through_text, through_method, text_written])
def test_texts_of_the_inner_argument_alone_are_refused(f):
    with recorded_only(), pytest.raises(DifferentiationError):
        gradient(lambda a: grad(f)(3.0) * a, 2.0)


@pytest.mark.parametrize(
    ("f", "told"),
    [
        (lambda x: pullback(np.sin, x * np.ones(3))[1](np.ones(2))[1][0], r"\[ZL034\]$"),
        (lambda x: gradient(x, x)[0], r"is not callable: .* \[ZL036\]$"),
        (lambda x: grad(lambda x: (yield x))(x), r"test_gradients\.py:\d+: .* \[ZL027\]$"),
        (lambda x: check_gradient(math.sin, x) or x, r"test_gradients\.py:\d+: .* \[ZL029\]$"),
        (lambda x: explain(math.sin, x) and x, r"`explain` inside .* call it outside \[ZL029\]$"),
    ],
)
def test_errors_inside_are_those_outside(f, told):
    for derivative in (grad(f), lambda x: jvp(f, (x,), (1.0,))):
        with pytest.raises((TypeError, DifferentiationError), match=told):
            derivative(0.5)


@pytest.mark.parametrize(
    "back",
    [
        lambda dy: (dy,),
        lambda dy: (dy, dy, dy),
        lambda dy: [dy, dy],
        lambda dy: np.stack([dy, dy]),
        lambda dy: (np.sum(dy), dy),
        (lambda dy: dy,),
    ],
    ids=["too few", "too many", "list", "array", "number", "parts"],
)
def test_cotangents_that_do_not_fit_are_refused_in_second_derivatives_and_tangents(back):
    def total(x, y):
        return x + y

    rules, x = RuleSet("of a test"), np.ones(3)
    rules(total)(lambda x, y: (x + y, back))
    rules.register()
    f = lambda x: np.sum(total(x, 2.0 * x) ** 2)
    try:
        for derivative in (gradient, lambda f, x: hvp(f)(x, x), lambda f, x: jvp(f, (x,), (x,))):
            with pytest.raises(
                RuleError, match=r"the pullback of .*total.* returned .*\[RC01[12]\]"
            ):
                derivative(f, x)
    finally:
        rules.unregister()


def test_what_a_rule_refuses_names_the_line_in_second_derivatives_and_tangents():
    def shifted(x, how="up"):
        return x + 1.0

    rules = RuleSet("of a test")

    @rules(shifted)
    def _(x: float, how="up"):
        if how != "up":
            raise NotImplementedError(f"shifted has no rule for how={how!r}")
        return x + 1.0, lambda dy: (dy,)

    def f(x):
        return shifted(x, how="down") * x

    rules.register()
    try:
        for derivative in (gradient, lambda f, x: hvp(f)(x, 1.0), lambda f, x: jvp(f, (x,), (x,))):
            with pytest.raises(NoRuleError, match=r"test_gradients\.py:\d+: shifted has no rule"):
                derivative(f, 2.0)
    finally:
        rules.unregister()


def of_shared_lists(x):
    z = [x, 2.0 * x]
    da, db = gradient(lambda a, b: a[0] * b[0] + a[1] * b[1] ** 2, z, z)
    return sum(da) + sum(db)


def of_shared_arrays(x):
    def scaled(a, b):
        a[0] = a[0] * b[1]
        return a[0] * b[0]

    z = np.array([x, 2.0 * x])
    da, db = gradient(scaled, z, z[:])
    return np.sum(da) + np.sum(db)


@pytest.mark.parametrize("f", [of_shared_lists, of_shared_arrays])
def test_arguments_that_share_what_is_written_are_refused_inside_too(f):
    for differentiate in (f, grad(f), grad(f), grad(f), grad(grad(f))):
        with pytest.raises(DifferentiationError, match="cannot be told apart"):
            differentiate(1.0)


def test_a_copy_is_an_argument_of_its_own():
    def f(x):
        z = [x, 2.0 * x]
        da, db = gradient(lambda a, b: a[0] * b[0] + a[1] * b[1] ** 2, z, [*z])
        return da[0] * 3.0 + da[1] * x + db[0] + db[1]

    for _ in range(4):
        assert grad(f)(1.0) == pytest.approx(32.0)  # of 3x + 4x**3 + x + 8x**2


def test_factors_that_are_large_ints():
    f = lambda x: 10**30 * x * x
    for _ in range(3):
        assert grad(grad(f))(1.5) == 2e30
        assert jvp(f, (2.0,), (1.0,)) == (4e30, 4e30)
    with recorded_only():
        assert grad(grad(f))(1.5) == 2e30
        assert jvp(f, (2.0,), (1.0,)) == (4e30, 4e30)
