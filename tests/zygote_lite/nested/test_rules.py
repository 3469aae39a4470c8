"""Rules whose bodies are differentiated again: second derivatives through them."""

import math
import operator

import numpy as np
import pytest
import scipy.linalg
from scipy.spatial import distance

from rulescore import RuleSet, Tangent, custom_rule, non_differentiable, rrule, scalar_rule
from tests.zygote_lite.checks.finite_differences import slope
from zygote_lite import DifferentiationError, grad, hessian, hvp, jacfwd, jacobian, jvp, testing

X = np.array([0.5, 1.5, -0.3])
PLACES, HEIGHTS = np.array([-1.0, 0.0, 2.0]), np.array([0.0, 1.0, 3.0])


def test_take():
    found = hessian(lambda x: np.sum(np.take(x, [0, 1, 1]) ** 3))(X)
    np.testing.assert_allclose(found, np.diag([6 * X[0], 12 * X[1], 0.0]))


BY_POSITION = {
    "take": lambda x: np.take(x, [0, 1, 1]),
    "partition": lambda x: np.partition(x, 1),
    "pad": lambda x: np.pad(x, 1, "edge"),
    "reduceat": lambda x: np.add.reduceat(x, [0, 2], 0),
}


@pytest.mark.parametrize("f", BY_POSITION.values(), ids=BY_POSITION)
def test_options_that_stand_by_position_where_lists_stand_for_arrays(f):
    v = np.array([1.0, -0.5, 2.0])
    cubes = lambda x: np.sum(f(x) ** 3)
    with testing.recorded_only():
        y, dy = jvp(f, ([*X],), ([*v],))
        np.testing.assert_allclose(y, f(X))
        np.testing.assert_allclose(dy, slope(lambda h: f(X + h * v))[0], atol=1e-9)
        found = [[float(d) for d in row] for row in hessian(cubes)([*X])]
    want = [
        (gradient_at(cubes, X + e) - gradient_at(cubes, X - e)) / 2e-4 for e in 1e-4 * np.eye(3)
    ]
    np.testing.assert_allclose(found, want, rtol=1e-6, atol=1e-6)


def gradient_at(f, x):
    return np.array([slope(lambda h, e=e: f(x + h * e))[0] for e in np.eye(x.size)])


def test_interp():
    found = hessian(lambda x: np.sum(np.interp(x, PLACES, HEIGHTS) ** 3))(X)
    np.testing.assert_allclose(found, np.diag(6 * np.interp(X, PLACES, HEIGHTS)))  # of slope 1


def test_interp_of_heights():
    weights = np.array([[0.0, 0.9, 0.1], [0.0, 0.25, 0.75], [0.3, 0.7, 0.0]])
    found = hessian(lambda h: np.sum(np.interp([0.2, 1.5, -0.3], PLACES, h) ** 3))(HEIGHTS)
    np.testing.assert_allclose(found, weights.T @ np.diag(6 * (weights @ HEIGHTS)) @ weights)


def test_a_rule_of_a_method_is_no_rule_of_its_name():
    rule = RuleSet("of_a_method")

    @rule(np.ndarray.std)
    def _(x: np.ndarray):
        return x.std(), lambda dy: (dy * (x - x.mean()) / (x.size * x.std()),)

    rule.register()
    try:
        spread = lambda x: np.sqrt(np.mean((x - np.mean(x)) ** 2))
        found = hessian(lambda x: getattr(x, "std")())(X)
        np.testing.assert_allclose(found, hessian(spread)(X), atol=1e-12)
    finally:
        rule.unregister()


KINKS = {
    "abs": lambda x: np.sum(np.abs(x)),
    "norm": np.linalg.norm,
    "norm, order": lambda x: np.linalg.norm(x, 2),
    "norm, axis": lambda x: np.linalg.norm(x, axis=0),
    "vector_norm": np.linalg.vector_norm,
    "matrix_norm": lambda x: np.linalg.matrix_norm(x[None]),
    "norm, SciPy": scipy.linalg.norm,
    "euclidean": lambda x: distance.euclidean(x, np.zeros(2)),
    "hypot": lambda x: np.hypot(x[0], x[1]),
    "hypot, arrays": lambda x: np.sum(np.hypot(x[:1], x[1:])),
    "hypot.reduce": np.hypot.reduce,
    "hypot, math": lambda x: math.hypot(x[0], x[1]),
    "std": np.std,
    "nanstd": np.nanstd,
}


@pytest.mark.parametrize("name", KINKS)
def test_where_a_norm_is_zero_so_is_its_second_derivative(name):
    f = KINKS[name]
    second, forward = hessian(f), jacfwd(jacfwd(f))
    for _ in range(3):  # the third call is by transformed code
        np.testing.assert_array_equal(second(np.zeros(2)), np.zeros((2, 2)))
        np.testing.assert_array_equal(forward(np.zeros(2)), np.zeros((2, 2)))


@pytest.mark.parametrize("f", [
    lambda x: np.linalg.norm(x, axis=1), lambda x: np.hypot(x[:, 0], x[:, 1]),
    lambda x: np.std(x, axis=1), lambda x: np.nanstd(x, axis=1),
    lambda x: np.hypot.reduce(x, axis=1), lambda x: scipy.linalg.norm(x, axis=1),
], ids=["norm", "hypot", "std", "nanstd", "hypot.reduce", "norm, SciPy"])  # fmt: skip
def test_beside_a_norm_of_zero_second_derivatives_are_those_of_the_others(f):
    total, step = (lambda x: np.sum(f(x))), 1e-6
    x = np.array([[0.0, 0.0], [0.6, -0.8]])
    found = hessian(total)(x)
    for i in range(2):
        move = step * (np.arange(4) == 2 + i).reshape(2, 2)
        slopes = (grad(total)(x + move) - grad(total)(x - move)) / (2 * step)
        np.testing.assert_allclose(found[:, :, 1, i], slopes, atol=1e-8)
    np.testing.assert_array_equal(found[:, :, 0], np.zeros((2, 2, 2)))


class Squared:
    def __init__(self, x):
        self.square = x * x

    def times(self, dy):
        return 3 * self.square * dy


def cube(x):
    return x**3


def cube_by_square(x: np.ndarray):
    square = x * x
    return cube(x), lambda dy: (3 * square * dy,)


def cube_by_copy(x: np.ndarray):
    same = x + 0
    return cube(x), lambda dy: (3 * same * x * dy,)


def cube_by_object(x: np.ndarray):
    found = Squared(np.asarray(x, float))

    def dx(dy):
        return found.times(dy)

    return cube(x), (dx,)


def cube_by_list(x: np.ndarray):
    both = [x * 1.0, np.stack([x, x])]
    return cube(x), lambda dy: (3 * both[0] * both[1][1] * dy,)


def cube_by_value(x: np.ndarray):
    y = cube(x)
    quotient = y / x
    return y, lambda dy: (3 * quotient * dy,)


@pytest.mark.parametrize("of", [np.sum, lambda y: np.sum(np.sin(y))])
@pytest.mark.parametrize(
    "body", [cube_by_square, cube_by_copy, cube_by_object, cube_by_list, cube_by_value]
)
def test_a_pullback_reads_what_its_rule_has_computed(body, of):
    rule = RuleSet("of_cubes")
    rule(cube)(body)
    rule.register()
    want = {np.sum: 6 * X}.get(of, 6 * X * np.cos(X**3) - 9 * X**4 * np.sin(X**3))
    loss = lambda x: of(cube(x))
    try:
        second = hessian(loss)
        for _ in range(3):  # by the tape, and by transformed code
            np.testing.assert_allclose(second(X), np.diag(want), atol=1e-12)
        total = grad(lambda x: np.sum(grad(loss)(x)))
        for _ in range(3):
            np.testing.assert_allclose(total(X), want, atol=1e-12)
    finally:
        rule.unregister()


# -- rules of structures -----------------------------------------------------------------------


class Quadratic:
    def __init__(self, w, b):
        self.w, self.b = w, b

    def __call__(self, x):
        return np.sum(self.w * x * x) + self.b**2


def of_dict(p, x):
    return p["w"] * x * x + p["b"] ** 3


def of_list(items):
    return items[0] * items[1] ** 2


def of_object(m, x):
    return m.b * x * x


@pytest.fixture
def rules_of_structures():
    rule = RuleSet("structures_inside")

    @rule.of_instances
    def _(m: Quadratic, x: np.ndarray):
        def pullback(dy):
            return Tangent(Quadratic, w=dy * x * x, b=2 * m.b * dy), 2 * dy * m.w * x

        return m(x), pullback

    @rule(of_dict)
    def _(p: dict, x: float):
        def pullback(dy):
            return {"w": dy * x * x, "b": 3 * p["b"] ** 2 * dy}, 2 * dy * p["w"] * x

        return of_dict(p, x), pullback

    @rule(of_list)
    def _(items: list):
        a, b = items
        return a * b**2, lambda dy: ([dy * b**2, 2 * a * b * dy],)

    @rule(of_object)
    def _(m: Quadratic, x: float):
        parts = lambda dy: Tangent(Quadratic, b=dy * x * x), lambda dy: 2 * dy * m.b * x
        return m.b * x * x, parts

    rule.register()
    yield
    rule.unregister()


INSIDE = {
    "object that is called": lambda s: grad(lambda m: m(X * s) ** 2)(Quadratic(X * s, s)).b,
    "its array": lambda s: np.sum(grad(lambda m: m(X * s) ** 2)(Quadratic(X * s, s)).w),
    "its argument": lambda s: np.sum(grad(lambda x: Quadratic(X * s, s)(x) ** 2)(X * s)),
    "dict": lambda s: grad(lambda p: of_dict(p, s) ** 2)({"w": s, "b": 2 * s})["b"],
    "list": lambda s: grad(lambda v: of_list(v) ** 2)([s, 2 * s])[1],
    "object": lambda s: grad(lambda m: of_object(m, s) ** 2)(Quadratic(X, s)).b,
    "twice": lambda s: grad(
        lambda t: grad(lambda p: of_dict(p, t) ** 2 * Quadratic(X, t)(X))({"w": t, "b": t})["w"]
    )(s),
}


@pytest.mark.parametrize("name", INSIDE)
@pytest.mark.usefixtures("rules_of_structures")
def test_rules_of_structures(name):
    f, h = INSIDE[name], 1e-5
    expected = (f(0.7 + h) - f(0.7 - h)) / (2 * h)
    for _ in range(3):
        assert grad(f)(0.7) == pytest.approx(float(expected), rel=1e-7)


# -- pullbacks of which parts are asked for ----------------------------------------------------

A = np.arange(6.0).reshape(2, 3)
ASKED = {
    "a function for each": (np.matmul, (A, np.ones((3, 2)))),
    "with what they share": (np.linalg.solve, (np.eye(2) + 0.1, np.array([0.3, 0.4]))),
    "scalar": (np.multiply, (A, A + 1)),
    "linear": (np.vdot, (A, A)),
    "all at once": (np.interp, (X, PLACES, HEIGHTS)),
}


@pytest.mark.parametrize("name", ASKED)
def test_a_part_of_a_pullback_is_asked_for_inside(name):
    f, (x, *others) = ASKED[name]

    def of_part(x):
        y, back = rrule(f, x, *others)
        part = back.only((False, True, *[False] * len(others)))
        return np.sum(part(np.cos(y))[1] ** 2) + (0.0 if part(None) == back(None) else 1e9)

    def of_all(x):
        y, back = rrule(f, x, *others)
        return np.sum(back(np.cos(y))[1] ** 2)

    np.testing.assert_array_equal(of_part(x), of_all(x))
    found = grad(of_part)(x)
    np.testing.assert_allclose(found, grad(of_all)(x))
    v, h = np.cos(np.arange(x.size)).reshape(x.shape), 1e-5
    slope = (of_all(x + h * v) - of_all(x - h * v)) / (2 * h)
    assert np.sum(found * v) == pytest.approx(slope, rel=1e-6)


def test_what_is_not_asked_for_inside_is_not_computed():
    def f(w):
        y, back = rrule(np.matmul, A, w)
        unasked = back.only((False, False, True))(y)[1]
        return np.sum(y * y) if unasked is None else 0.0

    np.testing.assert_allclose(grad(f)(np.ones((3, 2))), 2 * A.T @ A @ np.ones((3, 2)))


def by_mapping(x, order, options):
    return scipy.linalg.norm(x, order, **options)


def by_items(x, order, options):
    given = (x, order)
    return scipy.linalg.norm(*given, **options)


def by_parameters(x, order, options):
    def norm(*given, **options):
        return scipy.linalg.norm(*given, **options)

    return norm(x, order, **options)


@pytest.mark.parametrize("call", [by_mapping, by_items, by_parameters])
def test_a_constant_beside_what_is_differentiated_is_an_option(call):
    def slope(x):
        return grad(lambda v: call(v, 3.0, {"check_finite": False}))(x) @ np.arange(3.0)

    def expected(x):
        return np.sign(x) * x**2 / np.sum(np.abs(x) ** 3) ** (2 / 3) @ np.arange(3.0)

    differences = [(expected(X + h) - expected(X - h)) / 2e-6 for h in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(grad(slope)(X), differences, rtol=1e-7)
    np.testing.assert_allclose(jacfwd(slope)(X), differences, rtol=1e-7)


def test_what_a_tuple_holds_may_be_written_before_it_is_given_to_a_call():
    def product(a, b, c):
        return np.sum(a * b) * c

    def slope(x):
        def inner(v):
            held = np.ones(3)
            given = (v, held)
            held[1:] = v[:2] * x[0]
            return product(*given, *(x[1],))

        return np.sum(grad(inner)(x) ** 2)

    def expected(x):  # of (x0 + s x1 x0 + s x2 x1) t, where s is x0 and t is x1
        s, t = x[0], x[1]
        return np.sum((np.array([1 + s * x[1], s * (x[0] + x[2]), s * x[1]]) * t) ** 2)

    differences = [(expected(X + h) - expected(X - h)) / 2e-6 for h in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(grad(slope)(X), differences, rtol=1e-7)


MAGNITUDES = {"operator": operator.abs, "builtin": abs, "numpy": np.absolute}
MAGNITUDES |= {"fabs": np.fabs, "math": math.fabs}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("f", MAGNITUDES.values(), ids=MAGNITUDES)
@pytest.mark.parametrize("kind", [float, np.float64, np.float32, np.array])
def test_the_slope_of_a_magnitude_at_zero_is_constant(f, kind):
    def g(w):
        return f(w) + w * w

    for zero in (kind(0.0), kind(-0.0)):
        one = kind(1.0)
        for _ in range(3):
            assert grad(grad(g))(zero) == 2.0
            assert jvp(grad(g), (zero,), (one,))[1] == 2.0
            assert jvp(lambda w: jvp(g, (w,), (one,))[1], (zero,), (one,))[1] == 2.0
            assert hvp(g)(zero, one) == 2.0
            assert hessian(g)(zero) == 2.0


@pytest.mark.parametrize("edge_order", [1, 2])
def test_slopes_depend_on_each_place_where_places_are_even(edge_order):
    def f(v):
        return np.sum(np.sin(np.gradient(v**3, v, edge_order=edge_order)))

    even, v = np.arange(5.0), np.array([0.5, -1.0, 0.25, 2.0, 1.0])
    for _ in range(3):
        dy, d2y = slope(lambda h: f(even + h * v))[0], slope(lambda h: grad(f)(even + h * v))[0]
        np.testing.assert_allclose(grad(f)(even) @ v, dy, rtol=1e-6)
        np.testing.assert_allclose(jvp(f, (even,), (v,))[1], dy, rtol=1e-6)
        np.testing.assert_allclose(hvp(f)(even, v), d2y, rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(jacfwd(grad(f))(even) @ v, d2y, rtol=1e-5, atol=1e-7)
    parabola = jacobian(lambda v: np.gradient(v * v, v))(even)
    np.testing.assert_allclose(parabola[1:-1, 1:-1], 2.0 * np.eye(3), atol=1e-12)


def _by_custom_rule(x):
    @custom_rule
    def f(y):
        return y * x, lambda d: (d * x,)

    return f(x)


def _by_scalar_rule(x):
    @scalar_rule(lambda y: 2.0 * y)
    def f(y):
        return y * y * x

    return f(x)


def _by_partials(x):
    return scalar_rule(lambda y: x)(_by_scalar_rule)(x)


def _by_constant(x):
    @non_differentiable
    def f(y):
        return y * x

    return x * f(x)


@pytest.mark.parametrize("f", [_by_custom_rule, _by_scalar_rule, _by_partials, _by_constant])
def test_rules_declared_inside_that_capture_what_is_differentiated_are_refused(f):
    for _ in range(3):
        for call in (lambda: grad(f)(2.0), lambda: jvp(f, (2.0,), (1.0,))):
            with pytest.raises(DifferentiationError, match=r"_rule|non_diff.*rule outside of it"):
                call()


def _by_rules_of_their_own(x):
    @custom_rule
    def f(y):
        return y * 3.0, lambda d: (d * 3.0,)

    @scalar_rule(lambda y: 2.0 * y)
    def g(y):
        return y * y

    return f(x) + g(x) + x * non_differentiable(lambda y: 2.0 * y)(x)


def test_rules_declared_inside_that_capture_nothing_hold():
    for _ in range(3):
        assert grad(_by_rules_of_their_own)(2.0) == 3.0 + 4.0 + 4.0
