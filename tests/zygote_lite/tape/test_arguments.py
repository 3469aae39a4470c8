"""A positional argument that the caller passed by keyword is positional all the same."""

import contextlib
import inspect
import random
import types

import numpy as np
import pytest

from rulescore import RuleSet
from zygote_lite import NoRuleError, gradient
from zygote_lite._tape.arguments import is_of_numbers
from zygote_lite.testing import compared

X = np.array([0.5, -1.5, 2.0])
PLACES, TABLE = np.array([-1.0, 0.5, 3.0]), ([0.0, 1.0, 2.0], [1.0, 2.0, 5.0])
CASES = {
    "limits of np.clip": (lambda x, a, b: np.sum(np.clip(x, min=a, max=b) ** 2), X, -1.0, 1.0),
    "old names": (lambda x, a, b: np.sum(np.clip(x, a_min=a, a_max=b) ** 2), X, -1.0, 1.0),
    "upper limit alone": (lambda x, b: np.sum(np.clip(x, max=b) ** 2), X, 1.0),
    "of the method": (lambda x, a, b: np.sum(x.clip(min=a, max=b) ** 2), X, -1.0, 1.0),
    "of the method, alone": (lambda x, b: np.sum(x.clip(max=b) ** 2), X, 1.0),
    "ends of interp": (
        lambda a, b: np.sum(np.interp(PLACES, *TABLE, left=a, right=b) ** 2),
        3.0,
        4.0,
    ),
    "right end alone": (lambda b: np.sum(np.interp(PLACES, *TABLE, right=b) ** 2), 4.0),
    "weights of average": (lambda x, w: np.average(x, weights=w), X, np.abs(X)),
    "weights of bincount": (
        lambda w: np.sum(np.bincount(np.array([0, 1, 1]), weights=w) ** 2),
        X,
    ),
    "constant of pad": (lambda x, c: np.sum(np.pad(x, 1, constant_values=c) ** 2), X, 2.0),
    "ends of ediff1d": (
        lambda x, a, b: np.sum(np.ediff1d(x, to_begin=a, to_end=b) ** 2),
        X,
        2.0,
        3.0,
    ),
    "places of trapezoid": (lambda y, x: np.trapezoid(y, x=x), X, np.array([0.0, 1.0, 3.0])),
}
NEED = {"limits of np.clip": "2.1.0", "upper limit alone": "2.1.0"}


@pytest.mark.parametrize("case", CASES)
def test_active_keywords(case):
    if np.lib.NumpyVersion(np.__version__) < NEED.get(case, "2.0.0"):
        pytest.skip("np.clip takes min and max from NumPy 2.1 on")
    f, *xs = CASES[case]
    found = gradient(f, *xs)
    assert len(found) == len(xs)
    for i, (x, dx) in enumerate(zip(xs, found, strict=True)):
        assert np.shape(dx) == np.shape(x)
        for place in np.ndindex(np.shape(x)):
            step = np.zeros(np.shape(x))
            step[place] = 1e-6
            up, down = (f(*xs[:i], x + sign * step, *xs[i + 1 :]) for sign in (1, -1))
            assert np.asarray(dx)[place] == pytest.approx((up - down) / 2e-6, abs=1e-6)


@pytest.mark.parametrize(
    "f",
    [
        lambda x, start: x.sum(initial=start),
        lambda x, start: np.sum(x, initial=start),
        lambda x, start: np.max(x, initial=start),
    ],
    ids=["method", "sum", "max"],
)
def test_active_options_are_refused(f):
    with pytest.raises(Exception, match="gradient"):
        gradient(f, X, 2.0)


def scaled(x, scale=1.0):
    return x * scale


def test_an_active_option_is_refused_however_it_is_passed():
    """A rule that has no cotangent for an option must not lose it."""
    rule = RuleSet("of scaled")

    @rule(scaled)
    def _(x: float, scale=1.0):
        def pullback(dy):
            return (dy * scale,)

        return scaled(x, scale), pullback

    rule.register()
    try:
        assert gradient(lambda x: scaled(x, scale=2.0), 3.0) == (2.0,)
        for f in (
            lambda x: scaled(x, x),
            lambda x: scaled(x, scale=x),
            lambda x: scaled(x=x, scale=x),
            lambda x: scaled(x, scale=types.SimpleNamespace(held=x)),
        ):
            with pytest.raises(NoRuleError, match="as an option"):
                gradient(f, 3.0)
    finally:
        rule.unregister()


def test_an_option_is_differentiated_by_a_function_that_takes_it_by_position():
    rule = RuleSet("of scaled")

    def scaled_by(x, power=2.0, scale=1.0):
        return scaled(x, scale)

    @rule(scaled_by)
    def _(x: float, power: float, scale: float):
        return scaled_by(x, power, scale), lambda dy: (dy * scale, None, dy * x)

    @rule(scaled, by_position=scaled_by)
    def _(x: float, scale=1.0):
        return scaled(x, scale), lambda dy: (dy * scale,)

    rule.register()
    try:
        for f in (lambda x, s: scaled(x, scale=s), lambda x, s: scaled(scale=s, x=x)):
            for mode in (compared, contextlib.nullcontext):
                with mode():
                    assert gradient(f, 3.0, 2.0) == (2.0, 3.0)
                    assert gradient(f, 3.0, 2.0, argnums=1) == 3.0
                    assert gradient(f, 3.0, 2) == (2.0, 3.0)  # an integer is a number, too
            assert gradient(lambda x, f=f: gradient(f, x, 2.0 * x)[1], 3.0) == (1.0,)
        # the other takes the second argument for the power
        with pytest.raises(NoRuleError, match="as an option"):
            gradient(lambda x: scaled(x, x), 3.0)
    finally:
        rule.unregister()


def test_a_rule_may_know_the_names_of_further_arguments():
    rule = RuleSet("of scaled")

    def raised(x, *given, **named):
        return x * named["scale"] ** named.get("power", 1.0) if named else x * given[0]

    @rule(raised, names=lambda x: {"scale": inspect.Parameter.empty, "power": 1.0})
    def _(x: float, *given: float):
        return raised(x, *given), lambda dy: (7.0, 8.0, 9.0)[: 1 + len(given)]  # to be known by

    rule.register()
    try:
        for f, expected in (
            (lambda x, s: raised(x, power=2.0, scale=s), (7.0, 8.0)),
            (lambda x, s: raised(x, s, power=x), (16.0, 8.0)),
            (lambda x, s: raised(x, power=s, scale=3.0), (7.0, 9.0)),
            (lambda x, s: raised(x, scale=s, other=1.0), (4.0, 3.0)),  # by its own code
        ):
            for _ in range(3):
                assert gradient(f, 3.0, 4.0) == expected
    finally:
        rule.unregister()


BY_KEYWORD = {
    "quantile": (lambda x: np.quantile(x, q=0.3), lambda x: np.quantile(x, 0.3)),
    "percentile": (lambda x: np.percentile(a=x, q=30.0), lambda x: np.percentile(x, 30.0)),
    "delete": (lambda x: np.delete(x, obj=1)[0], lambda x: np.delete(x, 1)[0]),
    "linspace": (lambda x: np.linspace(x[0], stop=3.0)[1], lambda x: np.linspace(x[0], 3.0)[1]),
    "convolve": (
        lambda x: np.convolve(x, v=[1.0, 2.0])[1],
        lambda x: np.convolve(x, [1.0, 2.0])[1],
    ),
    "cross": (lambda x: np.cross(x, b=[1.0, 2, 3])[0], lambda x: np.cross(x, [1.0, 2, 3])[0]),
    "interp": (
        lambda x: np.interp(x, xp=[0.0, 4.0], fp=[1.0, 2.0])[0],
        lambda x: np.interp(x, [0.0, 4.0], [1.0, 2.0])[0],
    ),
}


@pytest.mark.parametrize("name", BY_KEYWORD)
def test_positional_arguments_that_are_not_active_may_come_by_keyword(name):
    by_keyword, positional = BY_KEYWORD[name]
    x = np.array([3.0, 1.0, 2.0])
    for _ in range(3):  # specialized code too
        (dx,) = gradient(by_keyword, x)
        np.testing.assert_array_equal(dx, gradient(positional, x)[0])


def test_which_methods_are_operators_of_numbers():
    for f in (float.__add__, int.__rdivmod__, np.ndarray.__imul__, np.float64.__pow__):
        assert is_of_numbers(f)
    for f in (list.__add__, tuple.__mul__, float.__getattribute__, np.ndarray.__getitem__):
        assert not is_of_numbers(f)


def test_no_gradient_passes_through_seeds_and_generators():
    def f(x, seed, generator):
        random.seed(seed)
        drawn = random.Random(seed).random() * random.random()
        return x * drawn + generator.gauss(x, 1.0) * x

    normal = random.Random(5).gauss(0.0, 1.0)
    slope = random.Random(3).random() ** 2 + 2.0 * 0.7 + normal
    for _ in range(3):
        found = gradient(f, 0.7, 3, random.Random(5))
        assert abs(found[0] - slope) < 1e-12
        assert found[2] is None


def test_options_in_a_dict_leave_constant_arguments_constant():
    def scaled(points, values, factor=1.0):
        raise AssertionError("it has a rule")

    rules = RuleSet("of a test")

    @rules(scaled, refuses={"points": "they are places"})
    def _(points: object, values: float, factor=1.0):
        return values * factor, lambda dy: (None, dy * factor)

    rules.register()
    try:
        for options in ({}, {"factor": 3.0}):
            slope = options.get("factor", 1.0)
            assert gradient(lambda x: scaled(X, x, **options), 2.0) == (slope,)
    finally:
        rules.unregister()
