"""Solvers inside transformed code: all around them is transformed, and the gradient is the tape's.

The functions that a solver is given capture what is differentiated, in many ways; finite
differences and the tape are the oracles, on the first calls and on later ones.
"""

import contextlib
import functools
import math
import types

import numpy as np
import pytest
from scipy.integrate import dblquad, odeint, quad, solve_ivp
from scipy.ndimage import map_coordinates
from scipy.optimize import (
    brentq,
    curve_fit,
    fsolve,
    least_squares,
    minimize,
    minimize_scalar,
    newton,
    root,
    root_scalar,
)

from rulescore import RuleSet, Tangent
from zygote_lite import NoRuleError, code_adjoint, grad, hessian, hvp, jvp, value_and_grad
from zygote_lite._specialize.handed import answered
from zygote_lite._tape import rules
from zygote_lite.modes import CHECKED
from zygote_lite.testing import compared, forget, observed, recorded_only

GRAVITY = 9.81
DATA = np.array([1.0, 2.0, 3.0])
TIMES = np.linspace(0.0, 2.0, 9)
NOTED = []


def integral(f, b=1.0):
    return quad(f, 0.0, b)[0]


def of_tuple(a):
    p = (a, (2.0 * a, a * a))
    return integral(lambda t: p[0] * t + p[1][0] * p[1][1] * t * t)


def of_complex(a):
    z = complex(0.5, 1.0) * a
    return integral(lambda t: abs(z * t) ** 2)


def of_list(a):
    p = [a, 2.0 * a]
    return integral(lambda t: p[0] * t + p[1] * t * t)


def of_dict(a):
    p = {"k": a, "c": 2.0 * a}
    return integral(lambda t: p["k"] * t + p["c"] * t * t)


def of_functions(a):
    def line(s):
        return a * s

    return integral(lambda t: line(t) * line(2 * t), a)


def of_array(a):
    w = np.array([a, a * a, 1.0])
    return integral(lambda t: np.dot(w, np.array([1.0, t, t * t])))


def of_loop_variable(a):
    s = 0.0
    for i in range(4):
        k = a * i
        s = s + integral(lambda t: math.cos(k * t) + i)
    return s


def rebound_before(a):
    k = a
    f = lambda x: x * x - k
    k = 2.0 * a
    return brentq(f, 0.0, 5.0)


def rebound_after(a):
    k = a
    found = brentq(lambda x: x * x - k, 0.0, 5.0)
    k = 7.0 * a
    return found + k


def carried(a):
    x = a
    for _ in range(3):
        x = brentq(lambda z: z + z**3 - x, -5.0, 5.0) + a
    return x


def in_branch(a):
    if a > 1.0:
        s = integral(lambda t: math.exp(-a * t))
    else:
        s = a * a
    return s * a


def written(a):
    w = np.zeros(3)
    w[0] = a
    s = integral(lambda t: w[0] * t + w[1])
    w[1] = a * s
    w[0] = 2.0 * a
    return s + integral(lambda t: w[0] * t + w[1])


def written_in_loop(a):
    w = np.zeros(3)
    s = 0.0
    for i in range(3):
        w[i] = a * (i + 1)
        s = s + integral(lambda t: np.sum(w) * t)
    return s


def of_globals(a):
    return integral(lambda t: GRAVITY * a * t + DATA[1])


def by_args(a):
    return quad(lambda t, k: k * t, 0.0, 1.0, args=(a,))[0]


def by_one_arg(a):
    return quad(lambda t, k: k * t, 0.0, 1.0, args=a)[0]


def by_position(a):
    return quad(lambda t, k: k * t, 0.0, a, (a,))[0]


def by_array_in_args(a):
    v = np.array([a, a * a])
    return quad(lambda t, v: v[0] * t + v[1], 0.0, 1.0, args=(v,))[0]


def by_list_in_args(a):
    return quad(lambda t, v: v[0] * t + v[1], 0.0, 1.0, args=([a, a * a],))[0]


def by_args_and_closure(a):
    b = a * a
    return quad(lambda t, k: k * t + b, 0.0, 1.0, args=(b,))[0]


def by_name(a):
    return quad(func=lambda t: a * t, a=0.0, b=a)[0]


def with_default(a):
    return integral(lambda t, n=2.0: a * t * n)


def infinite(a):
    return quad(lambda t: math.exp(-a * t * t), -np.inf, np.inf)[0]


def same_function_twice(a):
    f = lambda t: a * t
    return integral(f) * integral(f, a) + f(a)


def double(a):
    return dblquad(lambda y, x: a * x * y, 0.0, a, lambda x: 0.0, lambda x: x * a)[0]


def price(x, k):
    return x**3 + x - k


def by_named_function(a):
    return brentq(price, 0.0, 5.0, args=(a,)) ** 2


def by_newton(a):
    return newton(lambda x: x * x - a, 1.0, fprime=lambda x: 2 * x)


def by_root_scalar(a):
    found = root_scalar(lambda x: x**3 - a, bracket=[0.0, 3.0])
    return found.root * (1.0 if found.converged else 5.0)


def by_root(a):
    equations = lambda x: np.array([x[0] ** 2 + a * x[1] - 3.0, x[0] - a * x[1] ** 3])
    return np.sum(root(equations, np.array([1.0, 1.0]), tol=1e-12).x ** 2)


def by_fsolve(a):
    return fsolve(lambda x: [x[0] ** 2 + a * x[1] - 3.0, x[0] - a], [1.0, 1.0])[1]


def by_minimize(a):
    found = minimize(lambda x: np.sum((x - a) ** 2) + a, np.zeros(2), tol=1e-6)
    if not found.success:
        raise ValueError("not found")
    return found["x"][0] * found.fun


def by_minimize_scalar(a):
    found = minimize_scalar(lambda x: (x - a) ** 2 + 0.1 * x**4)
    return found.x * found.fun


def by_least_squares(a):
    left = lambda q: q[0] * np.exp(-q[1] * DATA) - a * np.array([0.5, 0.3, 0.2])
    return least_squares(left, np.array([1.0, 0.5]), xtol=1e-14, ftol=1e-14).x[0]


def decay(t, height, rate):
    return height * np.exp(-rate * t)


def by_curve_fit(a):
    best, _ = curve_fit(
        decay, DATA, np.array([0.5 * a, 0.3, 0.2 * a]), [1.0, 0.5], xtol=1e-14, ftol=1e-14
    )
    return best[0]


def falls(a):
    return solve_ivp(lambda t, y: [-a * y[0]], (0.0, 1.0), [a], rtol=1e-8, atol=1e-10)


def by_solve_ivp(a):
    found = falls(a)
    return found.y[0, -1] + found.t[-1]


def spring(t, y, k, c):
    return np.array([y[1], -k * y[0] - c * y[1]])


def by_spring(a):
    found = solve_ivp(spring, (0.0, 2.0), [1.0, 0.0], t_eval=TIMES, args=(a, 0.3), rtol=1e-7)
    return np.sum((found.y[0] - np.cos(TIMES)) ** 2)


def by_ends(a):
    times = np.array([0.5, a])
    found = solve_ivp(lambda t, y: [-a * y[0]], (0.0, 2.0), [1.0], t_eval=times, rtol=1e-8)
    return np.sum(found.y[0])


def by_odeint(a):
    found = odeint(lambda y, t: [y[1], -a * y[0]], [a, 0.0], [0.0, 0.5, a])
    return found[-1, 0]


def by_names_of_residuals(a):
    def left(q, scale, shift, data):
        return scale * q[0] * np.exp(-q[1] * data) - shift * np.array([0.5, 0.3, 0.2])

    given = {"shift": a, "data": DATA}
    tight = {"xtol": 1e-14, "ftol": 1e-14, "gtol": 1e-14}
    found = least_squares(left, np.array([1.0, 0.5]), args=(a * a,), kwargs=given, **tight)
    return found.x[0] + found.cost


IMAGE = np.add.outer(np.sin(np.arange(8.0)), np.cos(0.5 * np.arange(8.0)))
ROWS, COLUMNS = np.mgrid[0:8, 0:8].astype(float)


def by_status(a):
    found = solve_ivp(lambda t, y: [-a * y[0]], (0, 1), [1.0], rtol=1e-8)
    if found.status != 0:
        raise RuntimeError(found.message)
    return found.y[0, -1]


def by_all_that_fsolve_tells(a):
    x, _, code, message = fsolve(lambda x: x * x - a, 1.0, full_output=True)
    if code != 1:
        raise RuntimeError(message)
    return x[0]


def by_all_that_brentq_tells(a):
    x, found = brentq(lambda x: x * x - a, 0.0, 5.0, full_output=True)
    assert found.converged
    return x * found.root if found.iterations < 50 else x


def by_image(a):
    moved = map_coordinates(IMAGE, [ROWS - 0.1 * a, COLUMNS + 0.2 * a], order=3, mode="nearest")
    return np.mean((moved - IMAGE) ** 2)


def by_image_and_constant_rows(a):
    moved = map_coordinates(IMAGE * a, (ROWS, COLUMNS + 0.2 * a), order=3, mode="nearest")
    return np.mean((moved - IMAGE) ** 2)


def of_constants(a):
    found = minimize(lambda x: np.sum((x - 3.0) ** 2), np.zeros(2))
    return brentq(lambda x: x * x - 2.0, 0.0, 5.0) * a + found.x[0] * a


class Line:
    """A line, and other functions of its slope and of what else it holds."""

    power = 2.0

    def __init__(self, k):
        self.k, self.parts, self.calls = k, {"c": k * k}, 0
        self.inner = types.SimpleNamespace(rate=2.0 * k, weights=np.array([k, 1.0]))

    def at(self, t):
        """Return the value there."""
        return self.k * t

    def __call__(self, t):
        return self.k * t * t

    @staticmethod
    def squared(t):
        """Return the square."""
        return t * t

    def by_parts(self, t, c=2.0, *, d=0.5):
        """Read what is held in several ways."""
        total = c * self.inner.rate + d * self.inner.weights[0] + self.parts["c"] * self.power
        return total * t + self.at(t) * self.squared(t)

    def residual(self, x, c):
        """Return zero at the root."""
        return self.k * x + c * x**3 - self.inner.rate

    def root(self, c):
        """Find the root, by a function inside that reads the object."""
        return brentq(lambda x: self.residual(x, c), 0.0, 5.0)

    def flow(self, t, y):
        """Return the rate of change."""
        return -self.k * y * self.inner.weights

    def counted(self, t):
        """Count the calls."""
        self.calls += 1
        return self.k * t

    def passed_on(self, t):
        """Give the object to another function."""
        return slope_of(self) * t


def slope_of(line):
    return line.k


GIVEN = Line(0.5)


def by_method(a):
    return integral(Line(a).at)


def by_object(a):
    return integral(Line(a))


def of_object(a):
    line = Line(a)
    return integral(lambda t: line.k * t + line.at(t))


def by_method_of_parts(a):
    line = Line(a)
    return integral(line.by_parts)


def by_method_with_args(a):
    line = Line(a)
    before = brentq(line.residual, 0.0, 5.0, args=(a,)) + line.root(2.0)
    line.k = 2.0 * a  # and so the next one finds it
    return before * brentq(line.residual, 0.0, 5.0, args=(a,))


def by_method_of_flow(a):
    line = Line(a)
    return odeint(line.flow, np.array([1.0, a]), TIMES[:3], tfirst=True, rtol=1e-8)[-1].sum()


def by_method_from_outside(a):
    return brentq(GIVEN.residual, 0.0, 5.0, args=(a,)) * integral(GIVEN)


TRANSFORMED = [
    of_tuple, of_complex, of_list, of_dict, of_functions, of_array, of_loop_variable,
    rebound_before, rebound_after, carried, in_branch, written, written_in_loop, of_globals,
    by_args, by_one_arg, by_position, by_array_in_args, by_list_in_args, by_args_and_closure,
    by_name, with_default, infinite, same_function_twice, double, by_named_function, by_newton,
    by_root_scalar, by_root, by_fsolve, by_minimize, by_minimize_scalar, by_least_squares,
    by_curve_fit, by_solve_ivp, by_spring, by_ends, by_odeint, of_constants,
    by_names_of_residuals, by_status, by_all_that_fsolve_tells, by_all_that_brentq_tells, by_image,
    by_image_and_constant_rows, by_method, by_object, of_object, by_method_of_parts,
    by_method_with_args, by_method_of_flow, by_method_from_outside,
]  # fmt: skip


def differences(f, a, h=1e-4):
    return (8 * (f(a + h) - f(a - h)) - (f(a + 2 * h) - f(a - 2 * h))) / (12 * h)


INEXACT = {by_minimize: 1e-3, by_curve_fit: 1e-3}  # as the minima that SciPy finds are


@pytest.mark.sampled(4)
@pytest.mark.parametrize("f", TRANSFORMED)
def test_all_around_a_solver_is_transformed(f):
    slope = value_and_grad(f)
    with recorded_only():
        value, want = slope(1.3)
    within = INEXACT.get(f, 2e-5)
    np.testing.assert_allclose(want, differences(f, 1.3), rtol=within, atol=1e-7)
    with observed() as answers:
        for _ in range(6):
            y, d = slope(1.3)
            assert type(d) is float
            np.testing.assert_allclose([y, d], [value, want], rtol=1e-12)
    assert [answer.tier for answer in answers[2:]] == ["transformed"] * 4
    for a in (1.15, 1.45):
        np.testing.assert_allclose(slope(a)[1], differences(f, a), rtol=within, atol=1e-7)


@pytest.mark.parametrize("f", [by_minimize, by_minimize_scalar, by_least_squares, by_curve_fit])
def test_second_derivatives_at_a_minimum_are_transformed(f, monkeypatch):
    slope = grad(f)
    for _ in range(6):
        want = slope(1.3)
    if not CHECKED:  # which asks the tape, too
        monkeypatch.setattr(rules, "for_functions", [answered])  # and nobody records
    with observed() as answers:
        assert slope(1.3) == want
    assert answers[0].tier == "transformed"


def test_a_minimum_moves_with_what_several_functions_capture():
    def f(a):
        def near(x):
            return np.sum((x - a) ** 2)

        def far(x):
            return np.sum((x - a * a) ** 2) + 0.3 * x[0] ** 4 * a

        first = minimize(near, np.zeros(2)).x
        second = minimize(far, np.zeros(2), method="Newton-CG", jac=grad(far)).x
        return first[0] + second[0] * second[1]

    slope = grad(f)
    for a in (1.3, 1.3, 1.3, 1.3, 1.1, 1.2):
        np.testing.assert_allclose(slope(a), differences(f, a, 1e-3), rtol=1e-4)


def by_partial(a):
    return integral(functools.partial(lambda k, t: k * t * t, a))


def by_solver_inside(a):
    def inside(t):
        return integral(lambda s: math.exp(-a * s * t))

    return integral(inside)


def by_gradient_inside(a):
    return grad(lambda b: integral(lambda t: b * b * t))(a) * a


def noting(a):
    def f(x):
        NOTED.append(x)
        return x - a

    return brentq(f, 0.0, 5.0)


def counting(a):
    n = 0

    def f(x):
        nonlocal n
        n += 1
        return x - a

    return brentq(f, 0.0, 5.0) * a


def by_method_that_counts(a):
    line = Line(a)
    return integral(line.counted)


def by_method_that_passes_on(a):
    return integral(Line(a).passed_on)


def caught(a):
    try:
        return brentq(lambda x: x - a, 2.0, 3.0)
    except ValueError:
        return a * a


def with_solution(a):
    found = solve_ivp(lambda t, y: [-a * y[0]], (0, 1), [a], dense_output=True, rtol=1e-8)
    return found.sol(0.5)[0]


@pytest.mark.parametrize(
    "f",
    [by_partial, by_solver_inside, by_gradient_inside, noting, counting, by_method_that_counts,
     by_method_that_passes_on, caught, with_solution],
)  # fmt: skip
def test_others_are_right_in_either_way(f):
    slope = grad(f)
    want = differences(f, 1.3)
    for _ in range(6):
        np.testing.assert_allclose(slope(1.3), want, rtol=2e-5)


def test_what_a_function_notes_is_noted_once():
    slope = grad(noting)
    NOTED.clear()
    noting(1.3)
    once = [*NOTED]
    for _ in range(5):
        NOTED.clear()
        slope(1.3)
        assert [x for x in NOTED if x in once][: len(once)] == once
        assert len(NOTED) <= len(once) + 2  # where the root is, the rule asks once more


def in_list(a):
    n = [0]

    def f(x):
        n[0] += 1
        return x - a

    return brentq(f, 0.0, 5.0) * (n[0] > 0)


def in_dict(a):
    n = {}

    def f(x):
        n["called"] = True
        return math.exp(-a * x)

    return quad(f, 0.0, 1.0)[0] * len(n)


def in_list_of_args(a):
    n = (2, [0])

    def f(t, y, n, a):
        n[1][0] += 1
        return -a * y

    return solve_ivp(f, (0, 1), [1.0], args=(n, a), rtol=1e-8).y[0, -1] * (n[1][0] > 0)


def in_list_of_another(a):
    n = [0]

    def count():
        n[0] += 1

    def f(x):
        count()
        return math.exp(-a * x)

    return quad(f, 0.0, 1.0)[0] * (n[0] > 0)


def in_list_behind_a_branch(a):
    n = [0]

    def f(x):
        if a > 1.5:
            n[0] = 1
        return math.exp(-a * x)

    return quad(f, 0.0, 1.0)[0] * (1 + n[0])


def without_a_gradient(a):
    n = [0]

    def f(x):
        n[0] += 1
        return math.exp(-x)

    return a * quad(f, 0.0, 1.0)[0] * n[0]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "f",
    [in_list, in_dict, in_list_of_args, in_list_of_another, in_list_behind_a_branch,
     without_a_gradient],
)  # fmt: skip
@pytest.mark.parametrize("verb", [value_and_grad, lambda f: lambda a: jvp(f, (a,), (1.0,))])
def test_what_a_function_counts_in_a_list_is_read_later(f, verb):
    both = verb(f)
    for a in (1.3, 1.3, 1.3, 1.3, 1.7, 1.7, 1.3):
        y, slope = both(a)
        np.testing.assert_allclose(y, f(a), rtol=1e-6)
        np.testing.assert_allclose(slope, differences(f, a), rtol=2e-5)


def test_arguments_may_change_their_types():
    def f(k):
        return integral(lambda t: np.sum(k * np.array([t, 1.0])))

    slope = grad(f)
    given = [1.3, 1.3, 1.3, np.array([1.0, 2.0]), 2, np.float32(1.3), np.array([1.0, 2.0]), 1.3,
             np.array([1.0, 2.0]), np.array([1.0, 2.0], np.float32), 2, 2]  # fmt: skip
    for k in given:
        found = slope(k)
        want = [0.5, 1.0] if np.ndim(k) else 1.5
        np.testing.assert_allclose(found, want, rtol=1e-6)
        assert np.asarray(found).dtype == (np.asarray(k).dtype if k is not given[4] else float)


def test_captured_values_may_change_their_types():
    held = {"k": 2.0}

    def f(a):
        k = held["k"]
        return integral(lambda t: np.sum(k) * a * t)

    slope = grad(f)
    for k in (2.0, 2.0, 2.0, np.array([1.0, 2.0]), 3, 2.0, np.array([1.0, 2.0]), 3, 2.0):
        held["k"] = k
        np.testing.assert_allclose(slope(1.3), np.sum(k) / 2)


class Steeper(Line):
    """A line whose residual is another."""

    def residual(self, x, c):
        """Return zero at the root."""
        return 3.0 * self.k * x + c * x**3 - 1.0

    def __call__(self, t):
        """Return zero at another root."""
        return self.k * t - 1.0


class Computing(Line):
    """A line with a slope that is computed."""

    k = property(lambda self: 2.0 * self.slope, lambda self, k: vars(self).update(slope=k))


def of_line(line, c):
    return brentq(line.residual, 0.0, 5.0, args=(c,)) * line.k


def slopes_of_changing_lines():
    """Return the gradients by lines that become other ones, by objects, classes and methods."""
    line, found, slope = Line(1.3), [], value_and_grad(of_line, argnums=1)

    def ask(x=line):
        y, d = slope(x, 1.2)
        found.append((float(y), float(d), of_line(x, 1.2)))

    for x in (line, line, line, Steeper(1.3), Steeper(1.3), Computing(1.3), Computing(1.3)):
        ask(x)
    for k in (2, np.float64(1.5), np.array(1.5), 1.3):
        line.k = k
        ask()
    line.residual = lambda x, c: x - c
    ask()
    del line.residual
    line.__class__ = Steeper
    ask()
    line.__class__ = Line
    before = Line.residual
    Line.residual = lambda self, x, c: x * self.k - c
    try:
        ask(), ask()
    finally:
        Line.residual = before
    ask()
    return found


class Shifted(Line):
    """A line whose residual has a default."""

    def residual(self, x, c, shift=1.0):
        """Return zero at the root."""
        return self.k * x + c * x**3 - shift


def test_defaults_of_a_method_that_a_solver_is_given_may_change(monkeypatch):
    slope = value_and_grad(of_line, argnums=1)
    for shift in (1.0, 1.0, 1.0, 2.0, 2.0):
        monkeypatch.setattr(Shifted.residual, "__defaults__", (shift,))
        with recorded_only():
            want = slope(Shifted(1.3), 1.2)
        assert slope(Shifted(1.3), 1.2) == pytest.approx(want)


def test_lines_that_a_solver_is_given_may_change():
    with recorded_only():
        want = slopes_of_changing_lines()
    found = slopes_of_changing_lines()
    np.testing.assert_allclose(found, want, rtol=1e-12)
    np.testing.assert_allclose([y for y, _, _ in found], [z for _, _, z in found], rtol=1e-12)


@pytest.mark.parametrize("argnums", [0, (0, 1)])
def test_an_object_that_a_solver_is_given_is_differentiated(argnums):
    slope = value_and_grad(lambda p, q: brentq(lambda x: p.residual(x, q.k), 0.0, 5.0), argnums)
    for p, q in ((Line(1.3), Line(0.7)),) * 3 + ((Line(0.9), Line(1.1)),):
        _, d = slope(p, q)
        d = d if argnums == 0 else d[0]
        want = differences(lambda k, p=p, q=q: _root(k, p.inner.rate, q.k), p.k)
        np.testing.assert_allclose(d["k"], want, rtol=1e-5)
    one = Line(1.3)
    d = value_and_grad(lambda p, q: brentq(lambda x: p.residual(x, q.k), 0.0, 5.0), 0)(one, one)[1]
    np.testing.assert_allclose(d["k"], differences(lambda k: _root(k, 2.6, k), 1.3), rtol=1e-5)


def _root(k, rate, c):
    return brentq(lambda x: k * x + c * x**3 - rate, 0.0, 5.0, xtol=1e-14, rtol=1e-14)


def test_a_rule_for_the_objects_of_a_class_is_one_for_those_that_a_solver_is_given():
    rule = RuleSet("of objects that are called")

    @rule.of_instances
    def _(line: Steeper, t: float):
        return line.k * t - 1.0, lambda dy: (Tangent(Steeper, k=3.0 * dy * t), dy * line.k)

    def f(k):
        return brentq(Steeper(k), 0.1, 5.0)

    rule.register()
    try:
        with recorded_only():
            want = value_and_grad(f)(1.3)
        for _ in range(4):
            assert value_and_grad(f)(1.3) == pytest.approx(want)
    finally:
        rule.unregister()


def test_global_arrays_may_be_written_and_replaced(monkeypatch):
    slope = grad(lambda a: integral(lambda t: DATA[1] * a * t))
    for second in (2.0, 2.0, 2.0, 5.0):
        monkeypatch.setitem(globals(), "DATA", np.array([1.0, second, 3.0]))
        np.testing.assert_allclose(slope(1.3), second / 2)
    DATA[1] = 8.0
    np.testing.assert_allclose(slope(1.3), 4.0)


def test_a_global_array_that_is_also_an_argument():
    def f(x):
        return integral(lambda t: x[0] * t + DATA[1])

    slope = value_and_grad(f)
    for _ in range(4):
        with recorded_only():
            value, want = slope(DATA)
        y, found = slope(DATA)
        np.testing.assert_allclose(y, value)
        np.testing.assert_array_equal(found, want)


def test_a_solver_that_fails_later_raises_its_own_error():
    slope = grad(lambda a: brentq(lambda x: x - a, 0.0, 2.0) ** 2)
    for _ in range(4):
        assert slope(1.5) == pytest.approx(3.0)
    with pytest.raises(ValueError, match="different signs"):
        slope(5.0)
    assert slope(1.5) == pytest.approx(3.0)


def test_an_answer_without_derivative_is_refused_on_later_calls_too():
    slope = grad(lambda a: newton(lambda x: x**2 - a, 0.0 * a, maxiter=200))
    for _ in range(4):
        with pytest.raises(np.linalg.LinAlgError):
            slope(0.0)


def test_what_has_no_gradient_is_refused_on_later_calls_too():
    def f(a):
        found = root_scalar(lambda x: x**3 - a, bracket=[0.0, 3.0])
        return found.root * found.iterations

    for _ in range(4):
        with pytest.raises(NoRuleError, match="iterations"):
            grad(f)(1.3)


def test_tangents_and_second_derivatives():
    f = by_named_function
    second = (grad(f)(1.301) - grad(f)(1.299)) / 0.002
    want = differences(f, 1.3)
    for _ in range(4):
        assert jvp(f, (1.3,), (2.0,))[1] == pytest.approx(2.0 * want, rel=1e-6)
        assert hvp(f)(1.3, 1.0) == pytest.approx(second, rel=1e-4)
        assert hessian(f)(1.3) == pytest.approx(second, rel=1e-4)


def test_the_text_shows_the_call_and_why_it_is_recorded():
    text = code_adjoint(by_args_and_closure, 1.3)
    assert text.startswith("# quad is recorded: its rule is handed the engine")
    assert "= quad(b)" in text


def test_a_solver_through_which_no_gradient_passes_is_called_alone():
    text = code_adjoint(of_constants, 1.3)
    assert "brentq()" in text
    assert " = minimize(" in text
    assert "is recorded" not in text


# -- arrays from outside that functions given to rules read or write ------------------------------

WORK = np.zeros(2)


def of_work(t):
    return t * t - WORK[0]


def reads_what_was_written(x):
    WORK[0] += 1.0
    return np.sum(x * x) * brentq(of_work, 0.0, 9.0)


def counted(t, a):
    WORK[1] += 1.0
    return t * a


def is_counted(x):
    before = WORK[1]
    y = quad(counted, 0.0, 1.0, args=(x[0],))[0]
    return y * (WORK[1] > before)


def fails_in_the_middle(t, a):
    WORK[1] += 1.0
    if WORK[1] > 5.0:
        raise ValueError("more than five")
    return t * a


def is_caught(x):
    try:
        return quad(fails_in_the_middle, 0.0, 1.0, args=(x[0],))[0]
    except ValueError:
        return x[0] * WORK[1]


@pytest.mark.parametrize("f", [reads_what_was_written, is_counted, is_caught])
@pytest.mark.parametrize("mode", [contextlib.nullcontext, compared])
def test_functions_given_to_rules_find_arrays_from_outside_as_they_are(f, mode):
    x = np.array([1.5, -0.5])
    forget(f)
    values, states = [], []
    for call in (f, lambda x: value_and_grad(f)(x)[0], lambda x: jvp(f, (x,), (x,))[0]):
        WORK[:] = 0.0
        for _ in range(4):
            with mode():
                values.append(call(x))
            states.append(WORK[0])
    assert values[4:8] == pytest.approx(values[:4])
    assert values[8:] == pytest.approx(values[:4])
    assert states[4:8] == states[8:] == states[:4]
