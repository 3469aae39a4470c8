"""Rules of `rules_scipy.integrate.initial_values`, against differences and closed forms."""

import numpy as np
import pytest
from scipy import integrate as si

from zygote_lite import NoRuleError, gradient, value_and_grad

C = np.array([1.3, 0.2, 0.7])
TIMES = np.array([0.04, 0.2, 0.5])


def swing(t, y, c):
    return np.array([y[1], -c[0] * y[0] - c[1] * y[1] + np.sin(c[2] * t)])


class Swing:
    def __init__(self, c):
        self.c = c

    def rate(self, t, y):
        return swing(t, y, self.c)


def coarse(
    f, span, y, method="RK45", times=None, args=None, dense=False, vectorized=False, first=0.25
):
    """Solve with steps of one size, but for the last one, which ends where the interval does."""
    return si.solve_ivp(
        f, span, y, method, times, dense, args=args, vectorized=vectorized,
        first_step=first, max_step=0.25, rtol=1e3, atol=1e3,
    )  # fmt: skip


def of(c):
    return lambda t, y: swing(t, y, c)


COARSE = {
    "args": lambda c: coarse(swing, (0, 0.7), [1.0, 0.5], args=(c,)).y[0, -1],
    "closure": lambda c: coarse(of(c), (0, 0.7), [1.0, 0.5]).y,
    "method": lambda c: coarse(Swing(c).rate, (0, 0.7), np.array([1.0, 0.5])).y,
    "y0 and ends": lambda c: coarse(of(C), (c[1], c[0]), [c[2], 1], "RK23").y,
    "backwards": lambda c: coarse(of(c), (c[2], -c[1]), c[:2], "DOP853").y,
    "times": lambda c: coarse(of(c), (0, 0.7), c[:2], "RK45", c[0] * TIMES).y,
    "of RK23": lambda c: coarse(of(c), (0.7, c[1] - 0.2), c[1:], "RK23", c[0] * TIMES[::-1]).y,
    "of DOP853": lambda c: coarse(of(c), (0, c[2]), c[1:], "DOP853", list(c[0] * TIMES)).y,
    "all times": lambda c: coarse(of(C), (c[1], c[0]), [1, 1]).t ** 2,
    "dense": lambda c: coarse(of(c), (0, c[2]), c[:2], dense=True).sol(c[1] * np.arange(3)),
    "dense DOP853": lambda c: coarse(of(c), (c[2], 0), c[:2], "DOP853", dense=True).sol(c[1]),
    "a list": lambda c: coarse(lambda t, y: [y[1] * c[0], c[1] * t], (0, 0.7), c[:2]).y,
    "a number": lambda c: coarse(lambda t, y: c[0] * np.cos(t), (0, 0.7), [c[1]]).y,
    "vectorized": lambda c: coarse(swing, (0, 0.7), c[:2], args=[c], vectorized=True).y,
    "one step": lambda c: coarse(of(c), (c[1], 0.3), c[:2], first=None).y,
    "no time": lambda c: coarse(of(c), (c[1], 0.2), c[:2], first=None).y,
    "no use of c": lambda c: coarse(lambda t, y: -y, (0, 0.7), c[:2]).y,
    "complex": lambda c: abs(coarse(lambda t, y: (1j * c[0] - c[1]) * y, (0, 0.7), c[1:] + 0j).y),
    "twice": lambda c: coarse(of(c), (0, 0.7), coarse(of(c), (0, 0.3), c[:2]).y[:, -1]).y,
}


def with_weights(f):
    """Return the sum of what a function returns, each with another weight."""

    def weighed(c):
        y = f(c)
        return np.sum(y * np.cos(1.0 + np.arange(np.size(y))).reshape(np.shape(y)))

    return weighed


@pytest.mark.parametrize("name", COARSE)
def test_coarse_steps_have_the_derivative_of_what_they_compute(name):
    f = with_weights(COARSE[name])
    h = 1e-3
    expected = [
        (8 * (f(C + e) - f(C - e)) - f(C + 2 * e) + f(C - 2 * e)) / (12 * h) for e in h * np.eye(3)
    ]
    for _ in range(3):  # on the tape, then by transformed code
        np.testing.assert_allclose(value_and_grad(f)(C)[1], expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("method", ["RK45", "DOP853"])
def test_the_derivatives_of_a_spring_are_those_of_its_formula(method):
    def place(w, x, v, t):
        f = lambda t, y: np.array([y[1], -w * w * y[0]])
        return si.solve_ivp(f, (0, t), [x, v], method, rtol=1e-8, atol=1e-10).y[0, -1]

    w, x, v, t = 1.7, 0.8, -0.4, 2.0
    sin, cos = np.sin(w * t), np.cos(w * t)
    by_w = -x * t * sin + v * t * cos / w - v * sin / w**2
    expected = by_w, cos, sin / w, -x * w * sin + v * cos
    np.testing.assert_allclose(gradient(place, w, x, v, t), expected, rtol=1e-6)


def test_what_the_right_hand_side_captured_may_change_later():
    def total(c):
        found = 0.0
        for factor in (1.0, 2.0):
            found = found + coarse(lambda t, y: -factor * c * y, (0, 0.5), [1.0]).y[0, -1]
        return found

    h = 1e-4
    expected = (total(0.7 + h) - total(0.7 - h)) / (2 * h)
    np.testing.assert_allclose(gradient(total, 0.7)[0], expected, rtol=1e-7)


def test_nothing_is_solved_for_no_equations():
    f = lambda c: coarse(lambda t, y: c * y, (0, c), np.zeros(0)).t[-1]
    assert gradient(f, 0.7) == (1.0,)


def found(c, **options):
    return si.solve_ivp(lambda t, y: -c[0] * y, (0, 1), c[:1], rtol=1e-2, **options)


REFUSED = {
    "events": lambda c: found(c, events=lambda t, y: y[0] - 0.5).y[0, -1],
    "no rule for method": lambda c: found(c, method=si.OdeSolver).y[0, -1],
    "takes `rtol` as an option": lambda c: si.solve_ivp(swing, (0, 1), c, rtol=c[1]).y[0, 1],
    "a complex right-hand side": lambda c: coarse(lambda t, y: c[0] * 1j * y, (0, 1), c).y[0, -1],
}


@pytest.mark.parametrize("message", REFUSED)
@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
def test_what_has_no_rule_is_refused(message):
    with pytest.raises((NoRuleError, NotImplementedError), match=message):
        gradient(REFUSED[message], C)


def test_a_solution_that_did_not_reach_the_end_has_no_derivative():
    f = lambda c: si.solve_ivp(lambda t, y: c * y**2, (0, 2), [1.0], rtol=1e-2).y[0, -1]
    with pytest.raises(np.linalg.LinAlgError, match="has not converged"):
        gradient(f, 1.0)
