"""Elementwise rules: broadcasting, conjugation, strong zeros, poles, and wrong partials."""

import math
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from rulescore import RuleError, find_rule, rrule

X = np.array([[0.3, -1.2, 0.7], [1.1, 0.4, -0.6]])


def product(x, y):
    return x * y


def inverse(x):
    return 1 / x


def power(x, n):
    return x**n


def declare(rule, poles):
    rule.scalar(product, poles=poles)(lambda x, y: (y, x))
    rule.scalar(inverse)(lambda x, out: -out * out)
    rule.scalar(power)(lambda x, n: (n * x ** (n - 1), None))


@pytest.mark.parametrize("poles", [True, False])
def test_broadcasting_is_undone(rule, poles):
    declare(rule, poles)
    for x, y in [(X, X[0]), (X[:, :1], X), (2.0, X), (X, 3), (X[:, :1], X[0]), (X, np.float64(2))]:
        z, back = rrule(product, x, y)
        dz = np.arange(float(z.size)).reshape(z.shape)
        _, dx, dy = back(dz)
        assert (np.shape(dx), np.shape(dy)) == (np.shape(x), np.shape(y))
        np.testing.assert_allclose(np.sum(dx * x), np.sum(dz * z))
        np.testing.assert_allclose(np.sum(dy * y), np.sum(dz * z))


@pytest.mark.parametrize("poles", [True, False])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.complex64, np.complex128])
def test_precision_is_kept(rule, poles, dtype):
    declare(rule, poles)
    x = X.astype(dtype)
    _, dx, dy = rrule(product, x, 2.0)[1](np.ones_like(x))
    assert dx.dtype == dtype
    assert type(dy) is float
    _, dx, dy = rrule(product, dtype(2), dtype(3))[1](dtype(1))
    assert (type(dx), type(dy)) == (dtype, dtype)


def test_partials_are_conjugated(rule):
    declare(rule, True)
    assert rrule(product, 2.0, 3j)[1](1.0)[1:] == (0.0, 2 + 0j)
    assert rrule(product, 1j, 3j)[1](1.0)[1:] == (-3j, -1j)
    _, dx, dy = rrule(product, X, X * 1j)[1](np.full(X.shape, 1j))
    np.testing.assert_allclose(dx, X)
    np.testing.assert_allclose(dy, 1j * X)


@pytest.mark.parametrize("poles", [True, False])
def test_a_zero_is_strong(rule, poles):
    declare(rule, poles)
    for bad in (math.inf, math.nan):
        assert rrule(product, 2.0, bad)[1](0.0)[1:] == (0.0, 0.0)
        assert rrule(product, np.float64(2), bad)[1](np.float64(0))[1:] == (0.0, 0.0)
        y = np.array([bad, 3.0])
        _, dx, dy = rrule(product, np.array([1.0, 2.0]), y)[1](np.array([0.0, 1.0]))
        np.testing.assert_array_equal(dx, [0.0, 3.0])
        np.testing.assert_array_equal(dy, [0.0, 2.0])


@pytest.mark.parametrize("size", [3, 5000])
def test_a_zero_is_strong_at_a_pole_of_the_partial(rule, size):
    declare(rule, True)
    x = np.full(size, 2.0)
    x[0] = 0.0
    dy = np.ones(size)
    dy[0] = 0.0
    with np.errstate(divide="ignore"):
        y, back = rrule(inverse, x)
    found = back(dy)[1]
    assert y[0] == math.inf
    np.testing.assert_array_equal(found, -0.25 * dy)
    dy[0] = 1.0
    assert back(dy)[1][0] == -math.inf


def test_python_numbers_are_taken_as_ieee_arithmetic_at_a_pole(rule):
    def root(x):
        return math.sqrt(x)

    rule.scalar(root)(lambda x: 0.5 / math.sqrt(x) if x else 0.5 / x)
    declare(rule, True)
    assert rrule(root, 0.0)[1](1.0) == (None, math.inf)
    assert rrule(root, 0.0)[1](0.0) == (None, 0.0)
    assert rrule(power, 0, -1 + 2)[1](1.0) == (None, 1.0, None)
    _, dx, dn = rrule(power, np.array([2, 3]), 0)[1](np.ones(2))
    np.testing.assert_array_equal(dx, [0.0, 0.0])
    assert dn is None


def test_only_what_the_partials_need_is_kept(rule):
    declare(rule, True)
    rule.scalar(unsaved)(lambda x: 1.0)
    y, back = rrule(unsaved, X)
    assert not any(y is kept for kept in back.args)
    y, back = rrule(inverse, X)
    assert any(y is kept for kept in back.args)


def unsaved(x):
    return x + 1


WRONG = [
    (lambda x: (x,), 1, "are a tuple of 1 where one partial derivative was due"),
    (lambda x, y: x, 2, "are ndarray where a tuple of 2 was due"),
    (lambda x, y: (x, y, x), 2, "are a tuple of 3 where a tuple of 2 was due"),
    (lambda x, y: (x,), 2, "are a tuple of 1 where a tuple of 2 was due"),
    (lambda x: x[0, :2], 1, "failed for a cotangent of shape (2, 3) and arguments of shapes"),
    (lambda x: "a", 1, "failed for a cotangent of shape"),
]


@pytest.mark.parametrize("poles", [True, False])
@pytest.mark.parametrize(("partials", "n", "message"), WRONG, ids=map(str, range(len(WRONG))))
def test_wrong_partials_are_told_with_their_place(rule, partials, n, message, poles):
    def f(*xs):
        return sum(xs)

    rule.scalar(f, poles=poles)(partials)
    _, back = rrule(f, *[X] * n)
    with pytest.raises(RuleError) as caught:
        back(np.ones_like(X))
    assert message in str(caught.value)
    assert f"mine, {__file__}:{partials.__code__.co_firstlineno}" in str(caught.value)


OTHER_SHAPES = [
    ((3,), (), (2, 3)),
    ((3,), (3,), (2, 3)),
    ((2, 1), (1, 3), (2, 1)),
    ((3,), (3,), (2,)),
]


@pytest.mark.parametrize("poles", [True, False])
@pytest.mark.parametrize(("x", "y", "dz"), OTHER_SHAPES, ids=map(str, range(len(OTHER_SHAPES))))
def test_a_cotangent_of_another_shape_than_the_result_is_refused(rule, x, y, dz, poles):
    declare(rule, poles)
    _, back = rrule(product, np.ones(x), np.ones(y))
    with pytest.raises(RuleError, match="failed for a cotangent of shape"):
        back(np.ones(dz))


def test_a_larger_cotangent_of_a_unary_function_is_refused(rule):
    declare(rule, True)
    with pytest.raises(RuleError, match="failed for a cotangent of shape"):
        rrule(inverse, np.ones(3))[1](np.ones((2, 3)))
    with pytest.raises(RuleError, match="failed for a cotangent of shape"):
        rrule(inverse, 2.0)[1](np.ones(3))


@pytest.mark.parametrize("poles", [True, False])
def test_foreign_arrays_stay_foreign(rule, foreign, poles):
    declare(rule, poles)
    for x, y in [(foreign(X), foreign(X[0])), (foreign(X), 2.0), (X[0, 0], foreign(X))]:
        z, back = rrule(product, x, y)
        _, dx, dy = back(foreign(np.ones(X.shape)))
        assert all(isinstance(d, foreign) for d in (z, dx, dy))
        assert (dx.shape, dy.shape) == (np.shape(x), np.shape(y))
    _, dx = rrule(inverse, foreign(X))[1](foreign(np.ones(X.shape)))
    np.testing.assert_allclose(dx.data, -1 / X**2)


def test_dask_arrays_stay_lazy(rule):
    dask = pytest.importorskip("dask", reason="dask is not installed: laziness is not shown")
    import dask.array as da

    def refuse(*args, **kwargs):
        raise AssertionError("computed")

    declare(rule, True)
    x = da.from_array(X, chunks=2)
    with dask.config.set(scheduler=refuse):
        found = [
            *rrule(product, x, 2.0)[1](da.ones_like(x))[1:],
            *rrule(product, x, x[0])[1](da.ones_like(x))[1:],
            rrule(inverse, x)[1](da.ones_like(x))[1],
        ]
    assert all(isinstance(d, da.Array) for d in found)
    np.testing.assert_allclose(found[1].compute(), X.sum())
    np.testing.assert_allclose(found[3].compute(), X.sum(0))
    np.testing.assert_allclose(found[4].compute(), -1 / X**2)


def test_numpy_integers_do_not_wrap_around(rule):
    declare(rule, False)
    x = np.array([100, 3], np.int8)
    _, dx, _ = rrule(power, x, 3)[1](np.ones(2))
    np.testing.assert_array_equal(dx, [30000.0, 27.0])
    assert rrule(power, np.int8(100), 3)[1](1.0)[1] == 30000.0


ONES, COLUMN = np.ones(3), np.ones((4, 1))
LARGER = [  # arguments, the partial derivative of each, a cotangent, the shape of the result
    ((2.0,), ONES, 1.0, "()"),
    ((np.float32(2.0),), ONES, np.float32(1.0), "()"),
    ((COLUMN,), ONES, COLUMN, "(4, 1)"),
    ((COLUMN,), ONES, 1.0, "(4, 1)"),
    ((ONES,), np.ones((4, 3)), ONES, "(3,)"),
    ((2.0, 3.0), ONES, 1.0, "()"),
    ((2.0, ONES), np.ones((4, 3)), ONES, "(3,)"),
    ((ONES, ONES), np.ones((4, 3)), ONES, "(3,)"),
]


@pytest.mark.parametrize("poles", [False, True])
@pytest.mark.parametrize(("xs", "partial", "dy", "shape"), LARGER)
def test_partials_larger_than_the_result_are_refused(rule, poles, xs, partial, dy, shape):
    if len(xs) == 1:
        rule.scalar(inverse, poles=poles)(lambda x: partial)
    else:
        rule.scalar(product, poles=poles)(lambda x, y: (partial, partial))
    _, back = rrule((inverse, product)[len(xs) - 1], *xs)
    with pytest.raises(RuleError) as caught:
        back(dy)
    told = str(caught.value)
    assert f"a partial derivative has shape {partial.shape}, and the result {shape}" in told
    assert rule.rules[0].place in told


def test_partials_that_broadcast_to_the_result_are_fine(rule):
    rule.scalar(product, poles=False)(lambda x, y: (np.full((1, 1), 2.0), np.arange(3.0)))
    _, dx, dy = rrule(product, 1.5, np.ones((4, 3)))[1](np.ones((4, 3)))
    assert dx == 24.0
    np.testing.assert_array_equal(dy, np.broadcast_to(np.arange(3.0), (4, 3)))


def test_a_pole_is_quiet_and_leaves_the_error_state_alone(rule):
    def inverse_root(x):
        return x

    seen = []

    @rule.scalar(inverse_root)
    def _(x):
        seen.append(np.geterr()["divide"])
        return 1 / np.sqrt(x)

    rule.register()
    x = np.array([0.0, 4.0])
    with np.errstate(divide="raise", invalid="raise"):
        _, back = rrule(inverse_root, x)
        np.testing.assert_array_equal(back(np.array([0.0, 1.0]))[1], [0.0, 0.5])
        assert np.geterr()["divide"] == "raise"
    assert seen == ["ignore"]


def test_pullbacks_run_inside_each_other_and_in_threads(rule):
    def twice(x):
        return x

    def outer(x):
        return x

    rule.scalar(twice)(lambda x: 2 / np.ones_like(x))
    rule.scalar(outer)(lambda x: rrule(twice, x)[1](np.ones_like(x))[1])
    rule.register()
    x = np.array([0.5, 1.5])
    _, back = rrule(outer, x)

    def many():
        return [back(x)[1] for _ in range(200)]

    with ThreadPoolExecutor(4) as pool:
        for found in [pool.submit(many) for _ in range(4)]:
            np.testing.assert_array_equal(found.result(), [2 * x] * 200)


@pytest.mark.parametrize("bad", [np.inf, np.nan])
@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("shape", [(4,), (2, 2)])
def test_a_strong_zero_is_seen_by_one_look_at_both_partials(rule, bad, place, shape):
    def times(x, y):
        return x * y

    rule.scalar(times, poles=False)(lambda x, y: (y, x))
    rule.register()
    xs = [np.zeros(shape), np.zeros(shape)]
    xs[place].flat[1] = bad
    with np.errstate(invalid="ignore"):
        _, back = rrule(times, *xs)
    dy = np.ones(shape)
    dy.flat[1] = 0
    for dx in back(dy)[1:]:
        np.testing.assert_array_equal(dx, np.zeros(shape))


def test_partials_whose_squares_overflow_are_no_reason_to_warn(rule):
    def times(x, y):
        return x * y

    rule.scalar(times, poles=False)(lambda x, y: (y, x))
    rule.scalar(inverse, poles=False)(lambda x: x)
    rule.register()
    x = np.full(3, 1e200)
    _, back = rrule(times, x, np.full(3, 1e-200))
    np.testing.assert_array_equal(back(np.full(3, 1e-9))[2], x * 1e-9)
    _, back = rrule(inverse, x)
    np.testing.assert_array_equal(back(np.full(3, 1e-9))[1], x * 1e-9)


W = np.abs(X)


def powered(x, y):
    return x**y


def declare_each(rule):
    """Declare a function for each partial derivative, and return the list of those called."""
    called = []

    def by_x(x, y, out):
        called.append("x")
        return y * x ** (y - 1)

    def by_y(x, y, out):
        called.append("y")
        return out * np.log(x)

    assert rule.scalar(powered)(by_x, by_y) == (by_x, by_y)
    return called


def test_a_function_for_each_partial_derivative(rule):
    called = declare_each(rule)
    for x, y in [(2.0, 3.0), (W, 3.0), (2.0, W), (W, W), (W[:1], W), (2, 3), (W > 0, 1.5)]:
        value, back = rrule(powered, x, y)
        np.testing.assert_array_equal(value, powered(x, y))
        dz = np.ones_like(value) if np.ndim(value) else 1.0
        called.clear()
        whole = back(dz)
        assert called == ["x", "y"]
        called.clear()
        nothing, dx, dy = back.only((False, True, False))(dz)
        assert (nothing, dy, called) == (None, None, ["x"])
        np.testing.assert_array_equal(dx, whole[1])
        called.clear()
        nothing, dx, dy = back.only((False, False, True))(dz)
        assert (nothing, dx, called) == (None, None, ["y"])
        np.testing.assert_array_equal(dy, whole[2])
        assert type(dy) is type(whole[2])


def test_only_some_of_the_partial_derivatives_of_one_function(rule):
    rule.scalar(powered)(lambda x, y: (y * x ** (y - 1), x**y * np.log(x)))
    _, back = rrule(powered, W, 3.0)
    dx, dy = back(np.ones_like(W))[1:]
    np.testing.assert_array_equal(back.only((False, True, False))(np.ones_like(W))[1], dx)
    assert back.only((False, False, True))(np.ones_like(W)) == (None, None, dy)
    with pytest.raises(RuleError, match=r"the result has shape \(2, 3\)"):
        back.only((False, True, False))(np.ones((3, 2, 3)))


def test_poles_of_each_partial_derivative(rule):
    rule.scalar(powered)(lambda x, y: y, lambda x, y: 1 / x)
    assert find_rule(powered, 1.0, 1.0).poles
    _, back = rrule(powered, 0.0, 2.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert back.only((False, False, True))(1.0) == (None, None, np.inf)
        assert back.only((False, True, False))(1.0) == (None, 2.0, None)


def test_what_was_not_chosen_alone(rule):
    rule.scalar(powered, chooses=True)(lambda x, y: 1.0 * (x > y), lambda x, y: 1.0 * (x < y))
    _, back = rrule(powered, np.array([1.0, 2.0]), np.array([2.0, 1.0]))
    dz = np.array([np.inf, 1.0])
    np.testing.assert_array_equal(back.only((False, True, False))(dz)[1], [0.0, 1.0])
    assert back.only((False, True, False))(dz)[2] is None
    np.testing.assert_array_equal(back.only((False, False, True))(dz)[2], [np.inf, 0.0])


def test_functions_for_partial_derivatives_that_do_not_fit(rule):
    with pytest.raises(RuleError, match="3 functions are given, and there are 2 inputs"):
        rule.scalar(powered)(lambda x, y: x, lambda x, y: y, lambda x, y: 1)
    with pytest.raises(RuleError, match=r"take the same parameters, here \(x, y, out\): give"):
        rule.scalar(powered)(lambda x, y, out: x, lambda x, y: y)
    with pytest.raises(RuleError, match="the body of a rule"):
        rule.scalar(np.hypot)(lambda x, y: x, 3)
    with pytest.raises(RuleError, match="the body of a rule"):
        rule(np.hypot)(lambda x, y: x, lambda x, y: y)
    assert rrule(powered, 1.0, 2.0) is None


@pytest.mark.parametrize("x", [2.0, X], ids=["number", "array"])
@pytest.mark.parametrize("poles", [False, True])
def test_partials_that_are_still_to_be_written_are_named(rule, x, poles):
    def tripled(x):
        return 3.0 * x

    def between(x, y):
        return x + y

    rule.scalar(tripled, poles=poles)(lambda x: ...)
    rule.scalar(between, poles=poles)(lambda x, y: (1.0, ...))
    told = r"between\(.*test_scalar\.py:\d+\) lacks partial derivatives: .*`\.\.\.`.* \[RC012\]$"
    y, pullback = rrule(between, x, x)
    with pytest.raises(RuleError, match=told):
        pullback(y)
    y, pullback = rrule(tripled, x)
    with pytest.raises(RuleError, match=told.replace("between", "tripled")):
        pullback(y)
