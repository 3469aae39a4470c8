"""Functions that a rule hands to the engine: transformed, with what they capture."""

import collections
import math

import numpy as np
import pytest

from zygote_lite import DifferentiationError, explain, gradient, testing

X = np.array([0.4, -0.7])


def at_both(f, a):
    return f(a) + 2.0 * f(a + 1.0)


@pytest.fixture
def both(rules):
    @rules(at_both)
    def _(f: object, a: float, *, ad):
        (y, back), (z, again) = ad(f, a), ad(f, a + 1.0)

        def pullback(dy):
            pairs = zip(back(dy), again(2.0 * dy), strict=True)
            return tuple([p if q is None else q if p is None else p + q for p, q in pairs])

        return y + 2.0 * z, pullback


def scaled(c):
    return lambda t: c[0] * math.sin(c[1] * t)


def defined(c):
    def inside(t):
        found = 0.0
        for i in range(3):
            if i != 1:
                found = found + c[0] ** i * t
        return found * c[1]

    return inside


def of_numbers(c):
    a, b = c[0], c[1]
    return lambda t: a * t**b if t > 1.0 else b * t


def of_a_dict(c):
    p = {"a": c[0], "b": [c[1], 2.0]}
    return lambda t: p["a"] * t + p["b"][0] * p["b"][1]


def of_a_function(c):
    inner = scaled(c)
    return lambda t: inner(t) * t


def with_a_default(c):
    return lambda t, k=2: c[0] ** k * t * c[1]


def with_functions_inside(c):
    def inside(t):
        square = lambda x: x * x * c[0]
        return sum([square(t + i) for i in range(2)]) + c[1] * t

    return inside


def of_one_operand(c):
    return lambda t: np.sum(c * t) * c[0]


CASES = (
    scaled, defined, of_numbers, of_a_dict, of_a_function, with_a_default, with_functions_inside,
    of_one_operand,
)  # fmt: skip


@pytest.mark.parametrize("make", CASES)
def test_gradients_by_what_is_captured(both, make):
    def f(c, a):
        return at_both(make(c), a)

    h = 1e-5
    expected = [(f(X + e, 0.3) - f(X - e, 0.3)) / (2 * h) for e in h * np.eye(2)]
    by_number = (f(X, 0.3 + h) - f(X, 0.3 - h)) / (2 * h)
    for _ in range(6):  # recorded at first
        dc, da = gradient(f, X, 0.3)
        np.testing.assert_allclose(dc, expected, rtol=1e-8)
        assert da == pytest.approx(by_number)


Pair = collections.namedtuple("Pair", "a b")


def of_a_tuple(c):
    return (c[0], (2.0 * c[1], "name", None, ()))


def of_a_list_and_a_number(c):
    return (c[0], ([2.0 * c[1]], 1))


def of_a_named_tuple(c):
    return Pair(c[0], Pair(2.0 * c[1], 1.0))


def of_complex_numbers(c):
    return (c[0], (complex(2.0 * c[1], 1.0),))


def of_arrays(c):
    return (c, (2.0 * c[1], np.ones(2), 1))


TUPLES = [of_a_tuple, of_a_list_and_a_number, of_a_named_tuple, of_complex_numbers, of_arrays]


def first_of(x):
    while isinstance(x, tuple | list | np.ndarray):
        x = x[0]
    return x


@pytest.mark.parametrize("make", TUPLES)
def test_gradients_by_tuples_that_are_captured(both, make):
    def f(c):
        p = make(c)
        return at_both(lambda t: np.exp(first_of(p[0]) * t) * first_of(p[1]).real, 1.5)

    h = 1e-6
    expected = [(f(X + h * e) - f(X - h * e)) / (2 * h) for e in np.eye(2)]
    for _ in range(4):  # on the tape, then by transformed code
        assert gradient(f, X)[0] == pytest.approx(expected, rel=1e-6)


def test_a_tuple_of_another_form_has_a_gradient_in_the_same_run(both):
    inside = lambda p: lambda t: np.exp(first_of(p[0]) * t) * first_of(p[1]).real

    def f(c):
        return sum(at_both(inside(make(c)), 1.5) for make in TUPLES)

    h = 1e-6
    expected = [(f(X + h * e) - f(X - h * e)) / (2 * h) for e in np.eye(2)]
    for _ in range(4):
        assert gradient(f, X)[0] == pytest.approx(expected, rel=1e-6)


def test_a_tuple_of_numbers_that_is_captured_is_transformed(both):
    def f(c):
        p = (c[0], c[1])
        return at_both(lambda t: p[0] * t + p[1], 1.5)

    for _ in range(4):
        gradient(f, X)
    assert "transformed" in str(explain(f, X))


def test_what_is_captured_may_change_between_the_calls_and_the_pullback(both):
    def f(c):
        found = 0.0
        for factor in (1.0, 2.0, 3.0):
            found = found + at_both(lambda t: factor * c * t, 0.5)
        return found

    for _ in range(5):
        assert gradient(f, 0.7)[0] == pytest.approx(6.0 * (0.5 + 2.0 * 1.5))


def test_an_array_that_is_captured_may_be_overwritten_later(both):
    def f(c):
        held = c * 1.0
        y = at_both(lambda t: held[0] * held[1] * t, 0.5)
        held[:] = 100.0
        return y

    for _ in range(5):
        np.testing.assert_allclose(gradient(f, X)[0], 3.5 * X[::-1])


def test_a_zero_times_an_infinity_is_left_to_the_tape(both):
    f = lambda c: at_both(lambda t: math.sqrt(c[0] * t) * 0.0 + c[1] * t, 0.0)
    for _ in range(5):
        with testing.recorded_only():
            expected = gradient(f, np.array([1.0, 2.0]))
        np.testing.assert_array_equal(gradient(f, np.array([1.0, 2.0])), expected)


def test_both_ways_agree(both):
    def f(c, a):
        return at_both(scaled(c), a)

    with testing.compared():
        for _ in range(4):
            gradient(f, X, 0.3)


def test_defaults_that_are_differentiated_are_refused(both):
    for model in (
        lambda c: at_both(lambda t, a=c: a * t, 0.5),
        lambda c: at_both(lambda t, *, a=c: a * t, 0.5),
    ):
        for _ in range(3):
            with pytest.raises(DifferentiationError, match="has defaults through which a gradient"):
                gradient(model, 0.7)


def test_active_defaults_of_what_a_handed_function_calls_are_refused(both):
    def within(c):
        def scaled(t, a=c):
            return a * t

        return at_both(lambda t: scaled(t), 0.5)

    def kept(c):
        def scaled(t, *, a=c):
            return a * t

        held = [scaled]
        return at_both(lambda t: held[0](t), 0.5)

    def given(c):
        def scaled(t, a=c):
            return a * t

        return at_both(lambda t: scaled(t, 2.0 * c), 0.5)

    for _ in range(3):
        for model in (within, kept):
            with pytest.raises(DifferentiationError, match="has defaults through which a gradient"):
                gradient(model, 0.7)
        assert gradient(given, 0.7) == (7.0,)


def as_array(g, t, *scales):
    return np.asarray([g(t), g(t) * scales[0]])


def of_both(g, a):
    return np.sum(as_array(g, a, 2.0)) + np.sum(as_array(g, a + 1.0, 2.0))


@pytest.fixture
def both_as_arrays(rules):
    @rules(of_both)
    def _(g: object, a: float, *, ad):
        y, back = ad(as_array, g, a, 2.0)
        z, again = ad(as_array, g, a + 1.0, 2.0)

        def pullback(dy):
            pairs = zip(back(dy * np.ones(2)), again(dy * np.ones(2)), strict=True)
            return tuple([p if q is None else q if p is None else p + q for p, q in pairs][1:3])

        return np.sum(y) + np.sum(z), pullback


def recursive(c):
    inside = lambda t: t * c[0] if t > 5 else c[1] * inside(t + 5.0)
    return inside


@pytest.mark.parametrize("make", [*CASES, recursive])
def test_gradients_by_what_a_function_of_a_function_reads(both_as_arrays, make):
    def f(c, a):
        return of_both(make(c), a)

    h = 1e-5
    expected = [(f(X + e, 0.3) - f(X - e, 0.3)) / (2 * h) for e in h * np.eye(2)]
    by_number = (f(X, 0.3 + h) - f(X, 0.3 - h)) / (2 * h)
    for _ in range(6):  # recorded at first
        dc, da = gradient(f, X, 0.3)
        np.testing.assert_allclose(dc, expected, rtol=1e-7)
        assert da == pytest.approx(by_number)
    with testing.compared():
        gradient(f, X, 0.3)


def test_a_function_of_a_function_is_transformed(both_as_arrays):
    f = lambda c: of_both(lambda t: c[0] * t + c[1], 0.3)
    for _ in range(4):
        gradient(f, X)
    lines = [line for line in str(explain(f, X)).splitlines() if "as_array" in line]
    assert ["transformed" in line for line in lines] == [True, True]
