"""Gradients that are taken inside functions which are themselves differentiated."""

import copy
import math

import numpy as np
import pytest

from tests.zygote_lite.checks.finite_differences import assert_slopes
from zygote_lite import (
    grad,
    gradient,
    hessian,
    hvp,
    jacobian,
    jvp,
    pullback,
    testing,
    value_and_grad,
)

V = np.array([0.5, 0.6, 0.7])
CASES = []
of_cube = grad(lambda v: np.sum(v**3))


def transformed(*xs):
    """Note a program, which is transformed, with its arguments."""

    def add(f):
        CASES.append((f, xs))
        return f

    return add


@transformed(0.5)
def newton_until_it_converges(x):
    w = 1.0
    while True:
        f = lambda v: (v - x) ** 2 + 0.1 * v**4
        new = w - grad(f)(w) / grad(grad(f))(w)
        if abs(new - w) < 1e-10:
            break
        w = new
    return w * w


@transformed(V)
def steps_of_two_tasks(w):
    def loss(p, x, y):
        return np.sum((np.tanh(x * p) - y) ** 2)

    total = 0.0
    for k in range(2):
        x, y = np.array([1.0, 2.0, 3.0]) * (k + 1), np.array([0.1, 0.2, 0.3])
        total = total + loss(w - 0.1 * grad(loss)(w, x, y), x, y)
    return total


@transformed(0.3, 0.4)
def equations_of_motion(q, p):
    energy = lambda q, p: 0.5 * p * p + (1 - math.cos(q))
    for _ in range(5):
        by_q, _ = gradient(energy, q, p)
        p = p - 0.1 * by_q
        q = q + 0.1 * gradient(energy, q, p)[1]
    return q * p


@transformed({"w": V, "b": 0.3})
def residual_of_an_equation(p):
    def u(x):
        return np.sum(np.tanh(p["w"] * x + p["b"]))

    total = 0.0
    for x in (0.1, 0.5, 0.9):
        total = total + (grad(grad(u))(x) + u(x) * grad(u)(x)) ** 2
    return total


@transformed(0.5)
def of_a_loop_that_is_left(x):
    def f(v):
        s = v
        for _ in range(10):
            s = s * v + 0.1 * x
            if s > 0.25:
                break
        return s

    return grad(f)(x) * x


@transformed(0.7)
def of_a_loop_in_a_loop(x):
    def f(v):
        s = 1.0
        for i in range(3):
            t = v
            for _ in range(i + 1):
                t = t * v * s
            s = s + t
        return s

    return grad(f)(x)


@transformed(V)
def of_array_entries_in_a_loop(x):
    def f(v):
        a = np.zeros(3)
        for i in range(3):
            a[i] = v[i] * v[0]
            if i > 0:
                a[i] += a[i - 1] * v[i]
        return np.sum(a * a)

    return np.sum(grad(f)(x) * x)


@transformed(V)
def of_a_loop_while_arrays_grow(x):
    def f(v):
        n, s = 0, v
        while np.sum(s) < 5 and n < 6:
            s = s * 1.5 + v * v
            n = n + 1
        return np.sum(s)

    return np.sum(grad(f)(x) ** 2)


@transformed(V)
def jacobian_of_a_field(x):
    found = jacobian(lambda v: np.array([v[0] * v[1], v[1] * v[2], v[2] * v[0]]) * x[0])(x)
    return np.trace(found) * found[0, 1]


@transformed(np.outer(V, V))
def jacobian_of_a_matrix(a):
    found = jacobian(lambda v: a * v * v[0])(a[0])
    return np.sum(found**2 * a)


@transformed(V)
def hessian_in_a_system(x):
    found = hessian(lambda v: np.sum(v**3) * v[0])(x)
    return np.sum(np.linalg.solve(found + 5 * np.eye(3), x))


@transformed(V)
def product_with_a_hessian(x):
    return np.sum(hvp(lambda v: np.sum(v**4) * x[0])(x, x * 2) ** 2)


@transformed(V)
def pullback_of_two_parts(x):
    (y, z), back = pullback(lambda v, c: (np.sin(v) * c, np.sum(v)), x, 2.0)
    _, dv, dc = back((y * x, z))
    return np.sum(dv * x) + dc


@transformed(0.5)
def value_with_gradient(x):
    y, (a, b) = value_and_grad(lambda a, b: a * a * b + x * a, (0, 1))(x, 2.0)
    return y * a + b


@transformed({"a": 0.5, "b": V, "rest": [0.1, (0.2, 0.3)]})
def gradient_of_a_dict(p):
    g = grad(lambda q: q["a"] * np.sum(q["b"] ** 2) + q["rest"][1][0] * q["a"])(p)
    new = {k: p[k] - 0.1 * g[k] for k in ("a", "b")}
    return np.sum(new["b"]) * new["a"] + g["rest"][1][0] * p["rest"][0] + g["rest"][0]


@transformed(V)
def derivative_made_outside(x):
    return np.sum(of_cube(x) * x)


@transformed(0.5)
def constants_and_integers(x):
    first, second = gradient(lambda u, v: u * u, x, x)
    assert second is None
    return first + grad(lambda v: 3.0)(x) + x * grad(lambda v: v * x * x)(1)


@transformed(0.5)
def variable_that_changes(x):
    total = 0.0

    def add():
        nonlocal total
        total = total + x

    add()
    first = grad(lambda v: v * v * total)(x)
    add()
    return first + grad(lambda v: v * v * total)(x)


class Spring:
    def __init__(self, stiffness):
        self.stiffness = stiffness

    def energy(self, s):
        return np.sum(self.stiffness**2 * s) * s


@transformed(V)
def method_of_an_object(x):
    spring = Spring(x)
    return grad(spring.energy)(2.0) + grad(lambda s: spring.energy(s) * s)(x[0])


@transformed(V, 0.5)
def empty_branches(x, k):
    f = lambda v: np.sum(v**2) if k > 1.0 else np.sum(v * x) * k
    return np.sum(grad(f)(x) * x)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("f", "xs"), CASES, ids=[f.__name__ for f, _ in CASES])
def test_are_transformed(f, xs):
    with testing.transformed_only(), testing.compared(), testing.strict():
        for _ in range(2):
            found = gradient(f, *copy.deepcopy(xs))
    assert_slopes(found, f, xs, 1e-6)


def test_levels_are_not_confused():
    f = lambda x: x * grad(lambda y: x * grad(lambda z: x * y * z)(y) + y)(x)
    with testing.transformed_only():
        found = gradient(f, 2.0)
    assert found == pytest.approx((3 * 2.0**2 + 1,))  # x * (x * x + 1)


def test_a_list_that_is_captured_too_has_one_gradient():
    def f(p):
        return grad(lambda q: q[0] * p[1] * q[0])(p)[1] * p[0]

    p = [0.5, 0.6]
    assert testing.why_recorded(f, p) is not None
    (found,) = gradient(f, p)
    assert_slopes((found,), lambda p: p[0] ** 3, (p,), 1e-6)  # `p` is `q`: p[0]**2 by p[1]


def test_a_gradient_that_is_not_finite_is_left_to_the_tape():
    def f(x):
        g = grad(lambda v: np.sum(np.sqrt(v) * x))(x)
        return np.sum(np.where(g > 0.3, x, x * x))

    for x in (np.array([0.5, 1.0]), np.array([0.0, 1.0]), np.array([2.0, 0.0])):
        with testing.compared(), testing.strict():
            found = gradient(f, x)
        assert np.all(np.isfinite(found[0]))


def test_effects_inside_happen_once():
    seen = []

    def f(x):
        def g(v):
            seen.append(1)
            return v**3

        return grad(g)(x)

    for _ in range(4):
        assert gradient(f, 2.0) == pytest.approx((12.0,))
    assert len(seen) == 4


def test_the_function_inside_may_change():
    inside = lambda v: v**3

    def f(x):
        return grad(inside)(x)

    with testing.compared():
        for _ in range(3):
            assert gradient(f, 2.0) == pytest.approx((12.0,))
        inside = lambda v: v**4
        for _ in range(3):
            assert gradient(f, 2.0) == pytest.approx((48.0,))


def test_a_rule_for_the_function_inside_is_used_by_both():
    def f(x):
        return grad(math.sin)(x) * grad(np.exp)(x)

    with testing.transformed_only(), testing.compared():
        found = gradient(f, 0.5)
    assert_slopes(found, f, (0.5,), 1e-6)


def test_a_pullback_is_not_called_after_a_write():
    def f(x):
        a = np.zeros(2)
        a[0] = x
        y, back = pullback(lambda v: np.sum(v * a), a)
        a[1] = 5.0 * x
        return back(1.0)[1][1] * y

    for _ in range(3):
        with testing.compared():
            gradient(f, 2.0)


def test_what_is_none_on_one_path_is_left_to_the_tape():
    def f(x, k):
        g = lambda u, v: u * v if k > 1.0 else u
        _, d = gradient(g, x, x)
        return x * 3.0 if d is None else d * d

    for k in (2.0, 0.5, 2.0):
        for _ in range(3):
            with testing.compared(), testing.strict():
                found = gradient(f, 2.0, k)
            assert found[0] == (4.0 if k > 1.0 else 3.0)


def test_parts_that_cannot_have_a_gradient_have_none():
    def f(x):
        d = grad(lambda q: q[0] * 2.0 * x)([x, [x, True], "a", 2])
        assert d[1][1] is None
        assert d[2] is None
        return d[0] * x + d[1][0] + d[3]

    with testing.transformed_only(), testing.compared():
        assert gradient(f, 0.5) == pytest.approx((2.0,))


def of_a_loop_of_known_length(t, u):
    for _ in range(2):
        t = t * u
    return t


def of_a_loop_of_any_length(t, u, n):
    for _ in range(n):
        t = t * u
    return t


def on_both_paths(t, u):
    return t * u if t > 0.0 else t - u


def on_one_path(t, u):
    return t * u if t > 0.0 else t


def after_a_loop(t, u, n):
    total = u
    for _ in range(n):
        total = total + t * u
    return total * t


@pytest.mark.parametrize(
    ("g", "more", "sure"),
    [
        (of_a_loop_of_known_length, (), True),
        (of_a_loop_of_any_length, (2,), False),
        (on_both_paths, (), True),
        (on_one_path, (), False),
        (after_a_loop, (2,), True),
    ],
)
def test_it_is_known_which_gradients_are_none_on_some_path(g, more, sure):
    def f(x):
        d = gradient(g, x, x, *more)
        return d[0] * x if d[1] is None else d[0] * d[1] * x

    assert (testing.why_recorded(f, 0.5) is None) == sure
    for _ in range(3):
        with testing.compared(), testing.strict():
            found = gradient(f, 0.5)
    assert_slopes(found, f, (0.5,), 1e-6)


def test_a_variable_that_may_have_no_value_is_read_in_a_gradient_inside():
    def f(x, n):
        for _ in range(n):
            y = x * 3.0
        try:
            return y
        except UnboundLocalError:
            return x * x

    def outer(x, n):
        return grad(f)(x, n) * x

    for n in (2, 0, 2, 0, 5, 0):
        slope = 3.0 if n else 2.0
        assert gradient(outer, 0.5, n)[0] == slope
        assert jvp(outer, (0.5, n), (1.0, None)) == (1.5 if n else 0.5, slope)


MIXED = ["a", 2.0]
ALSO = [MIXED]


def by_one_list_twice(x):
    return grad(lambda p, q: p[1] * q[1] * x)(MIXED, ALSO[0])[1] * x


def test_a_list_that_is_reached_twice_has_one_gradient():
    for _ in range(4):
        assert_slopes(gradient(by_one_list_twice, 3.0), by_one_list_twice, (3.0,), 1e-6)


def jacobian_of_a_loop_that_breaks(v):
    def f(u):
        y = np.sum(u)
        for _ in range(3):
            y = y + np.mean(u) * 0.5
            if y > 0.7:
                break
            y = y + u @ (np.outer(u, v) @ u) * 0.3
        return u * y

    return np.sum(jacobian(f)(v) ** 2)


def test_variables_that_a_loop_leaves_unset_are_saved_for_two_reverse_passes():
    for v in ([0.1, 0.2], [0.3, 0.35], [2.0, 0.3], [0.1, 0.2]):
        xs = (np.array(v),)
        with testing.strict():
            assert_slopes(gradient(jacobian_of_a_loop_that_breaks, *xs),
                          jacobian_of_a_loop_that_breaks, xs, 1e-5)  # fmt: skip
    assert testing.why_recorded(jacobian_of_a_loop_that_breaks, *xs) is None


def of_a_number_of_either_kind(x, v, n):
    s = x
    for i in range(n):
        s = grad(lambda t: math.sin(t) * x)(s if i < 2 else s * v[0])
    return s


def test_a_gradient_has_the_kind_of_a_number_that_may_be_of_python_or_numpy():
    xs = (0.3, np.array([0.4]))
    for n in (1, 3, 1, 3):
        with testing.transformed_only():
            y, d = value_and_grad(of_a_number_of_either_kind, argnums=(0, 1))(*xs, n)
        assert type(y) is type(of_a_number_of_either_kind(*xs, n))
        assert_slopes(d, lambda x, v, n=n: of_a_number_of_either_kind(x, v, n), xs, 1e-7)


def test_a_product_inside_whose_argument_is_used_on_one_path_only_is_left_to_the_tape():
    def f(a, v):
        def g(t, u):
            y = t + np.linalg.norm(u + 1.0) if t > a else math.sin(t)
            return y * 1.0

        return np.sum(np.tanh(hvp(g, 1)(a * 0.5, v, v)))

    for a in (0.6, -0.4):
        xs, direction = (a, np.array([0.5, 0.7, -0.4])), (1.0, np.ones(3))
        with testing.strict():
            _, d = jvp(f, xs, direction)
        assert_slopes((d,), lambda t, xs=xs: f(xs[0] + t, xs[1] + t), (0.0,), 1e-7)
