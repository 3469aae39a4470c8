"""Rules of `rules_scipy.integrate.initial_values`, against differences and closed forms."""

import math

import numpy as np
import pytest
from scipy import integrate as si
from scipy import optimize as so
from scipy.linalg import expm

from rules_scipy.integrate import initial_values
from rules_scipy.shared.steps import again, choosing, explicit, iterations, stages
from rules_scipy.shared.steps.choosing import long_steps
from rulescore.__main__ import main
from tests.rules_scipy.tiers import compare
from zygote_lite import NoRuleError, grad, gradient, hessian, jvp

C = np.array([1.3, 0.2, 0.7])
TIMES = np.array([0.04, 0.2, 0.5])
BUFFER = np.empty(2)


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
    "given times": lambda c: coarse(of(C), (0, 0.7), c[:2], "RK45", c[0] * TIMES).t ** 2,
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
    compare(f, C, expected, name in ("args", "closure"), rtol=1e-9, atol=1e-9)


TWICE = {name: COARSE[name] for name in ("y0 and ends", "of RK23", "one step", "times")}


@pytest.mark.parametrize("name", TWICE)
def test_second_derivatives_of_coarse_steps(name):
    f = with_weights(TWICE[name])
    h = 1e-4
    expected = [(grad(f)(C + e) - grad(f)(C - e)) / (2 * h) for e in h * np.eye(3)]
    np.testing.assert_allclose(hessian(f)(C), expected, rtol=1e-6, atol=1e-6)


def test_second_derivatives_of_other_methods_are_refused():
    f = lambda c: si.solve_ivp(of(c), (0, 0.1), [1.0, 0.5], "BDF").y[0, -1]
    for f in (f, lambda c: si.odeint(of(c), c[:2], TIMES, tfirst=True, rtol=1e-9)[-1, 0]):
        with pytest.raises(NoRuleError, match="second derivatives and tangents of solutions by"):
            hessian(f)(C)
        with pytest.raises(NoRuleError, match="second derivatives and tangents of solutions by"):
            jvp(f, (C,), (C,))
    f = COARSE["dense DOP853"]
    with pytest.raises(NoRuleError, match="give the times as `t_eval` of solve_ivp"):
        jvp(f, (C,), (C,))


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


def value_first(y, t, c):
    return list(swing(t, y, c))


ALONG = {
    "Radau": lambda c, method: si.solve_ivp(
        of(c), (c[1], c[2]), c[:2], method, rtol=1e-6, atol=1e-8).y[:, -1],
    "BDF": lambda c, method: si.solve_ivp(
        swing, (c[1], c[2]), c[:2], method, args=(c,), rtol=1e-6, atol=1e-8).y[:, -1],
    "LSODA": lambda c, method: si.solve_ivp(
        of(c), (c[2], c[1]), c[:2], method, [0.6, 0.3 * c[0]], rtol=1e-6, atol=1e-8).y,
    "BDF, dense": lambda c, method: si.solve_ivp(of(c), (c[1], c[2]), c[:2], method,
        dense_output=True, rtol=1e-6, atol=1e-8).sol(np.array([0.3, 0.5 * c[0]])),
    "LSODA, dense": lambda c, method: si.solve_ivp(of(c), (c[1], c[2]), c[:2], method,
        dense_output=True, rtol=1e-6, atol=1e-8).sol(0.5 * c[0]),
    "BDF, complex": lambda c, method: abs(si.solve_ivp(lambda t, y: (1j * c[0] - c[1]) * y,
        (0, 0.7), c[1:] + 0j, method, rtol=1e-6, atol=1e-8).y[:, -1]),
    "odeint": lambda c, method: si.odeint(value_first, c[:2], c[0] * TIMES, (c,))
    if method is None else si.solve_ivp(
        of(c), c[0] * TIMES[[0, -1]], c[:2], method, c[0] * TIMES, rtol=1e-11, atol=1e-11).y.T,
    "odeint, tfirst": lambda c, method: si.odeint(of(c), [c[1], 1.0], (c[2], 0.1), tfirst=True)[1]
    if method is None else si.solve_ivp(
        of(c), (c[2], 0.1), [c[1], 1.0], method, rtol=1e-11, atol=1e-11).y[:, -1],
}  # fmt: skip


@pytest.mark.parametrize("name", ALONG)
def test_other_methods_have_the_derivative_of_the_solution(name):
    method = None if "odeint" in name else name.split(",")[0]
    h = 1e-2
    f = with_weights(lambda c: ALONG[name](c, "DOP853"))  # by steps that others compute
    expected = [
        (8 * (f(C + e) - f(C - e)) - f(C + 2 * e) + f(C - 2 * e)) / (12 * h) for e in h * np.eye(3)
    ]
    f = with_weights(lambda c: ALONG[name](c, method))
    compare(f, C, expected, False, rtol=2e-5, atol=2e-5)


def stiff(t, y, k):
    """Return Robertson's reactions, whose rates differ by nine powers of ten."""
    made, back, slow = k[0] * y[0], k[1] * y[1] * y[2], k[2] * y[1] * y[1]
    return [-made + back, made - back - slow, slow]


@pytest.mark.parametrize("method", ["Radau", "BDF"])
def test_stiff_equations(method):
    k, y = np.array([0.04, 1e4, 3e7]), np.array([1.0, 0.0, 0.0])

    def last(k):
        return si.solve_ivp(stiff, (0, 40.0), y, method, args=(k,), rtol=1e-5, atol=1e-9).y[2, -1]

    exact = lambda k: si.solve_ivp(
        stiff, (0, 40.0), y, "LSODA", args=(k,), rtol=1e-9, atol=1e-13).y[2, -1]  # fmt: skip
    expected = [(exact(k * (1 + e)) - exact(k * (1 - e))) / 2e-3 for e in 1e-3 * np.eye(3)]
    np.testing.assert_allclose(gradient(last, k)[0] * k, expected, rtol=1e-3)


def test_slopes_of_slow_values_are_less_exact_than_values_are():
    times, k, h = np.linspace(0, 1e5, 10), np.array([0.04, 1e4, 3e7]), 1e-4

    def total(k, method, rtol=1e-6, atol=1e-8):
        y = si.solve_ivp(stiff, (0, 1e5), [1.0, 0.0, 0.0], method, times, args=(k,),
                         rtol=rtol, atol=atol).y  # fmt: skip
        return np.sum(y**2)

    exact = lambda k: total(k, "Radau", 1e-10, 1e-14)
    expected = [(exact(k * (1 + e)) - exact(k * (1 - e))) / (2 * h) for e in h * np.eye(3)]
    for method in ("Radau", "BDF", "LSODA"):
        for _ in range(3):
            slopes = grad(total)(k, method) * k
            np.testing.assert_allclose(slopes, expected, rtol=1e-4, err_msg=method)


@pytest.mark.parametrize("method", ["Radau", "BDF", "LSODA", "odeint"])
@pytest.mark.parametrize("count", [5, 20])
def test_a_value_that_is_held_at_zero_may_have_noise(method, count):
    first, times, h = np.sin(np.linspace(0, np.pi, count)), np.linspace(0, 0.2, 6), 1e-3
    first[-1] = 0.0

    def heat(t, y, p):
        d = np.zeros_like(y)
        d[1:-1] = y[2:] - 2 * y[1:-1] + y[:-2]
        return p * d

    def total(p, method=method, rtol=1e-6, atol=1e-8):
        if method == "odeint":
            return np.sum(si.odeint(heat, first, times, (p,), tfirst=True) ** 2)
        y = si.solve_ivp(heat, (0, 0.2), first, method, times, args=(p,), rtol=rtol, atol=atol).y
        return np.sum(y**2)

    exact = lambda p: total(p, "DOP853", 1e-11, 1e-13)
    expected = (exact(2 + h) - exact(2 - h)) / (2 * h)
    for _ in range(3):
        assert gradient(total, 2.0)[0] == pytest.approx(expected, rel=1e-4)


def test_each_complex_value_may_have_its_own_tolerances():
    def total(a):
        rate, first = (lambda t, y: -a * (1 + 1j) * y), np.array([1.0 + 0.5j, 2.0j])
        y = si.solve_ivp(rate, (0, 1), first, "BDF", rtol=1e-8, atol=np.array([1e-9, 1e-10])).y
        return np.sum(np.abs(y[:, -1]) ** 2)

    # a value decays as exp(-a t)
    assert gradient(total, 0.7)[0] == pytest.approx(-2 * 5.25 * np.exp(-1.4), rel=1e-5)


def test_what_the_right_hand_side_captured_may_change_later():
    def total(c):
        found = 0.0
        for factor in (1.0, 2.0):
            found = found + coarse(lambda t, y: -factor * c * y, (0, 0.5), [1.0]).y[0, -1]
        return found

    h = 1e-4
    expected = (total(0.7 + h) - total(0.7 - h)) / (2 * h)
    np.testing.assert_allclose(gradient(total, 0.7)[0], expected, rtol=1e-7)


@pytest.mark.parametrize("method", ["RK45", "BDF"])
def test_nothing_is_solved_for_no_equations(method):
    f = lambda c: coarse(lambda t, y: c * y, (0, c), np.zeros(0), method).t[-1]
    assert gradient(f, 0.7) == (1.0,)


def found(c, **options):
    return si.solve_ivp(lambda t, y: -c[0] * y, (0, 1), c[:1], rtol=1e-2, **options)


class Alike(si.OdeSolver):
    """A method of one's own: at its end it is where it began."""

    def __init__(self, fun, t0, y0, t_bound, vectorized, **options):
        super().__init__(fun, t0, y0, t_bound, vectorized)

    def _step_impl(self):
        self.t = self.t_bound
        return True, None


REFUSED = {
    "no rule for events: .* `brentq`": lambda c: found(c, events=lambda t, y: y[0] - 0.5).y[0, -1],
    "no rule for method": lambda c: found(c, method=Alike).y[0, -1],
    "takes `rtol` as an option": lambda c: si.solve_ivp(swing, (0, 1), c, rtol=c[1]).y[0, 1],
    "a complex right-hand side": lambda c: coarse(lambda t, y: c[0] * 1j * y, (0, 1), c).y[0, -1],
}


@pytest.mark.parametrize("message", REFUSED)
@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
def test_what_has_no_rule_is_refused(message):
    told = rf"^\S+test_initial_values\.py:\d+: .*{message}.* \[ZL00[45]\]$"
    with pytest.raises(NoRuleError, match=told):
        gradient(REFUSED[message], C)
    with pytest.raises(NoRuleError, match=told):
        grad(lambda c: np.sum(gradient(REFUSED[message], c)[0]))(C)


def test_an_error_of_the_right_hand_side_is_its_own():
    def unfinished(t, y):
        raise NotImplementedError("of the user")

    for _ in range(3):
        with pytest.raises(NotImplementedError, match=r"^of the user$"):
            gradient(lambda c: found(c).y[0, -1] + si.solve_ivp(unfinished, (0, 1), c).y[0, -1], C)


def test_the_time_of_an_event_is_a_root_of_the_dense_output():
    def half_life(rate):
        y = si.solve_ivp(lambda t, y: -rate * y, (0, 1), [1.0], dense_output=True, rtol=1e-8)
        return so.brentq(lambda t: y.sol(t)[0] - 0.5, 0, 1)

    for _ in range(3):
        assert grad(half_life)(2.0) == pytest.approx(-np.log(2) / 4, rel=1e-5)


def test_a_solution_that_did_not_reach_the_end_has_no_derivative():
    f = lambda c: si.solve_ivp(lambda t, y: c * y**2, (0, 2), [1.0], rtol=1e-2).y[0, -1]
    with pytest.raises(np.linalg.LinAlgError, match="has not reached the end"):
        gradient(f, 1.0)


@pytest.mark.parametrize("method", ["RK45", "BDF"])
def test_args_may_be_an_array_whose_entries_are_arguments(method):
    decay = lambda t, y, rate, unused: -rate * y
    f = lambda c: si.solve_ivp(decay, (0, 1), [1.0], method, args=c, rtol=1e-8, atol=1e-9).y[0, -1]
    for _ in range(3):
        found = gradient(f, np.array([1.3, 0.2]))[0]
        np.testing.assert_allclose(found, [-np.exp(-1.3), 0.0], rtol=1e-5)


def test_a_time_outside_of_the_interval_has_the_slope_of_the_polynomial():
    def beyond(t):
        return si.solve_ivp(lambda t, y: -y, (0, 1), [1.0], dense_output=True, rtol=1e-7).sol(t)[0]

    difference = (beyond(-0.05 + 1e-5) - beyond(-0.05 - 1e-5)) / 2e-5
    np.testing.assert_allclose(gradient(beyond, -0.05)[0], difference, rtol=1e-6)


@pytest.mark.parametrize("method", ["RK23", "RK45", "DOP853", "Radau", "BDF", "LSODA"])
def test_a_right_hand_side_that_overwrites_what_it_returned_is_refused(method):
    def swing(t, y, k):
        BUFFER[0], BUFFER[1] = k * y[1], -y[0]
        return BUFFER

    def at_the_end(k, f=swing):
        y0 = np.array([1.0, 0.5])
        return si.solve_ivp(f, (0, 1), y0, method, [1.0], args=(k,), rtol=1e-6).y[0, 0]

    of_copies = at_the_end(1.3, lambda *given: swing(*given).copy())
    if method == "LSODA":  # it keeps no array
        assert at_the_end(1.3) == of_copies
        slope = (at_the_end(1.3 + 1e-3) - at_the_end(1.3 - 1e-3)) / 2e-3
        assert gradient(at_the_end, 1.3)[0] == pytest.approx(slope, abs=1e-4)
        return
    assert at_the_end(1.3) != of_copies  # in SciPy itself
    for _ in range(3):
        with pytest.raises(NoRuleError, match="SciPy keeps it"):
            gradient(at_the_end, 1.3)


@pytest.mark.parametrize("method", ["RK45", "DOP853", "Radau", "BDF"])
@pytest.mark.parametrize("rate", [lambda y, k: k, lambda y, k: y], ids=["constant", "value"])
def test_a_right_hand_side_may_return_what_it_was_given(method, rate):
    end = lambda k: si.solve_ivp(lambda t, y: rate(y, k), (0, 1), k, method).y[0, -1]
    k = np.array([0.5])
    for _ in range(3):
        assert gradient(end, k)[0] == pytest.approx([2.0 * end(k)], rel=1e-2)  # it is linear


KNOTS = np.linspace(0, 1, 65)
SLOPE = np.array([1.0, 2.0])
DECAY = lambda t: np.exp(-np.outer(t, SLOPE))
RATE = lambda t, y: (-y * SLOPE, lambda dk: (None, None, -dk * SLOPE))


@pytest.mark.parametrize(
    ("error", "rtol", "steps"), [(0.0, 1e-4, 6), (0.0, 1e-12, 9), (1e-6, 1e-9, 65)]
)
def test_steps_are_as_long_as_the_solution_is_exact(error, rtol, steps):
    at = lambda t: DECAY(t) + error * np.sign(np.sin(1e4 * t))[:, None]
    f = lambda t, y: RATE(t, y)[0]
    found = long_steps(f, (RATE, None, None), KNOTS, np.ones(2), at, rtol, 0.0, [0.3])
    assert len(found.h) <= steps
    assert {*found.knots} <= {*KNOTS, 0.3}
    _, dy, _, _ = found.pulled([1.0, 0.3], np.array([[1.0, 0.0], [0.0, 1.0]]))
    np.testing.assert_allclose(dy, np.exp([-1.0, -0.6]), rtol=20 * rtol + error)


MIXED = np.array([[0.0, 1.0], [-2.0, -0.3]])
TAKES_COLUMNS = {
    "an array": (lambda t, y, p: np.array([y[1], -p * y[0] ** 3 + t]), True),
    "a list with a number": (lambda t, y, p: [y[1] * p, -9.81], True),
    "a product": (lambda t, y, p: MIXED @ y * p, True),
    "no use of a value": (lambda t, y, p: np.array([p * t, t]), False),
    "a sum": (lambda t, y, p: MIXED @ y + p * np.sum(y), False),
    "a late sum": (
        lambda t, y, p: MIXED @ y + p * np.maximum(t - 1.0, 0.0) ** 4 * np.sum(y),
        False,
    ),
    "a largest": (lambda t, y, p: MIXED @ y + p * np.max(np.abs(y)), False),
    "a first": (lambda t, y, p: MIXED @ y + p * np.ravel(y)[0], False),
    "a number": (lambda t, y, p: np.array([y[1], -p * math.sin(y[0])]), False),
    "a branch": (lambda t, y, p: -p * y if t > 1 else np.sin(y), False),
}


@pytest.mark.parametrize("kind", [np.array, list])
@pytest.mark.parametrize("count", [5, 200])
def test_odeint_solves_once_more_and_calls_the_right_hand_side_once_for_all_steps(
    count, kind, monkeypatch
):
    hunted = lambda y, t, p: kind([y[0] * (p[0] - p[1] * y[1]), y[1] * (p[2] * y[0] - 1.5)])
    t, p = np.linspace(0.0, 12.0, count), np.array([1.0, 0.1, 0.08])
    total = lambda p: np.sum(si.odeint(hunted, [10.0, 5.0], t, (p,))[1:, 0])
    solve, rate_at, seen = again.Solving.__call__, choosing.rate_at, []
    with monkeypatch.context() as patched:
        patched.setattr(again.Solving, "__call__", lambda *xs: seen.append(1) or solve(*xs))
        patched.setattr(choosing, "rate_at", lambda *xs: seen.append(xs[1]) or rate_at(*xs))
        found = gradient(total, p)[0]
        (columns,) = [x for x in seen if x != 1]
        assert columns is not None
        assert seen.count(1) == 1
    monkeypatch.setattr(initial_values, "are_columns", lambda *_: False)
    np.testing.assert_allclose(gradient(total, p)[0], found, rtol=1e-11)
    h = 1e-4
    expected = [(total(p + e) - total(p - e)) / (2 * h) for e in h * np.eye(3)]
    np.testing.assert_allclose(found, expected, rtol=1e-3)


@pytest.mark.parametrize("p", [0.0, 0.7])
@pytest.mark.parametrize("name", TAKES_COLUMNS)
def test_stages_are_differentiated_together_where_no_column_moves_another(name, p, monkeypatch):
    f, takes_columns = TAKES_COLUMNS[name]
    end = lambda p: (
        si.odeint(f, [1.0, 0.5], [0.0, 2.0], (p,), tfirst=True, rtol=1e-9, atol=1e-9)[1] @ [2, 1]
    )
    found, used = stages.at_once, []
    monkeypatch.setattr(stages, "at_once", lambda *xs: used.append(found(*xs)) or used[-1])
    h = 1e-4
    expected = (end(p + h) - end(p - h)) / (2 * h)
    assert gradient(end, p)[0] == pytest.approx(expected, rel=2e-3, abs=1e-5)
    assert all((parts is not None) == takes_columns for parts in used)


@pytest.mark.parametrize("name", TAKES_COLUMNS)
@pytest.mark.parametrize("method", ["RK23", "DOP853"])
def test_stages_of_explicit_steps_together_have_the_derivatives_of_one_by_one(
    name, method, monkeypatch
):
    f, takes_columns = TAKES_COLUMNS[name]

    def passed(x):
        found = coarse(f, (0, x[2] + 1), x[1:3], method, x[0] * TIMES, (x[1],)).y
        return np.sum(np.cos(found))

    used = []
    at_once = explicit.at_once
    monkeypatch.setattr(explicit, "at_once", lambda *xs: used.append(at_once(*xs)) or used[-1])
    together = gradient(passed, C)[0]
    assert all((found is not None) == takes_columns for found in used)
    assert used
    monkeypatch.setattr(explicit, "at_once", lambda *_: None)
    np.testing.assert_allclose(gradient(passed, C)[0], together, rtol=1e-11)


@pytest.mark.parametrize("ask", [None, TIMES])
@pytest.mark.parametrize("method", ["RK23", "RK45", "DOP853"])
@pytest.mark.parametrize("size", [2, 9, 9j])
def test_stages_that_are_known_have_the_derivatives_of_steps_that_are_done_again(
    size, method, ask, monkeypatch
):
    count = int(abs(size))
    turn = np.roll(np.eye(count), 1, 0) * (1 + 0.1 * size / count)
    rate = lambda t, y, c: [math.cos(c * t) * row - c * row**2 for row in turn @ y]

    def passed(c, y0):
        return np.sum(abs(coarse(rate, (0.0, c), y0, method, ask, (c,)).y) ** 2)

    y0 = np.linspace(0.2, 0.9, count) + 0 * size
    by_known = gradient(passed, 1.2, y0)
    monkeypatch.setattr(initial_values, "steps_of_stages", lambda *_: None)
    for found, expected in zip(by_known, gradient(passed, 1.2, y0), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_stages_are_used_where_the_right_hand_side_gives_them_again():
    at, values = np.array([[[0.0, 1.0], [1.0, 2.0]], [[0.0, 1.0], [1.0, 3.0]]])
    rate = lambda t, y: (t * y, (t, float(y[0])))
    values = values[:, :, None]
    backs = explicit.one_by_one(
        rate, lambda back: back, at, values, at[:, :, None] * values, 1, {1}
    )
    assert backs == [[(0.0, 0.0), (1.0, 1.0)], [(1.0, 1.0), (2.0, 3.0)]]
    assert explicit.one_by_one(rate, lambda back: back, at, values, 0.9 + values, 1, {1}) is None


SPREAD = np.diag(np.ones(8), 1) + np.diag(np.ones(8), -1) - 2 * np.eye(9)


@pytest.mark.parametrize(
    ("method", "speed"),
    [("Radau", 300.0), ("BDF", 30.0), ("BDF", 3.0 + 1.0j), ("LSODA", 1.0), (None, 30.0)],
)
def test_many_equations(method, speed):
    y0, t = np.sin(np.arange(9.0)) + 0 * speed, np.array([0.0, 0.3, 0.8])

    def end(c, y0):
        rate = lambda t, y: c * (speed * (SPREAD @ y))
        if method is None:
            return np.sum(abs(si.odeint(rate, y0, t, tfirst=True)[1:]) ** 2)
        at = si.solve_ivp(rate, (0, 0.8), y0, method, t, rtol=1e-7, atol=1e-9).y
        return np.sum(abs(at[:, 1:]) ** 2)

    def exact(c, y0):
        return sum([np.sum(abs(expm(c * speed * s * SPREAD) @ y0) ** 2) for s in t[1:]])

    by_c, by_y0 = gradient(end, 1.0, y0)
    h = 1e-5
    assert by_c == pytest.approx((exact(1 + h, y0) - exact(1 - h, y0)) / (2 * h), rel=1e-4)
    v = np.cos(np.arange(9.0)) * (1 + 0 * speed)
    along = (exact(1.0, y0 + h * v) - exact(1.0, y0 - h * v)) / (2 * h)
    assert np.vdot(by_y0, v).real == pytest.approx(along, rel=1e-4)


OF_MANY = {
    "a product": (lambda t, y, p: p[0] * (SPREAD @ y) - p[1] * y**3, True),
    "a stiff product": (lambda t, y, p: 50.0 * p[0] * (SPREAD @ y) - p[1] * y**3, True),
    "a vector": (lambda t, y, p: SPREAD @ y * np.cos(t) - p * y**2, True),
    "slices": (lambda t, y, p: np.concatenate([y[1:] * t, -p[1] * y[:1]]), True),
    "neighbours by `roll`": (lambda t, y, p: p[0] * np.roll(y, 1) - p[2] * y, False),
    "differences in a row": (lambda t, y, p: np.diff(y, append=0.0) * p[1], False),
    "a largest": (lambda t, y, p: -y * p[0] * np.max(np.abs(y)), False),
    "a late sum": (lambda t, y, p: -p[0] * y + np.maximum(t - 0.5, 0.0) ** 4 * np.sum(y), False),
}


@pytest.mark.parametrize("name", OF_MANY)
def test_stages_of_many_equations_are_differentiated_together(name, monkeypatch):
    f, takes_columns = OF_MANY[name]
    y0, u, v = np.cos(np.arange(9.0)), np.sin(np.arange(9.0)), np.cos(2 * np.arange(9.0))

    def end(p, y0):
        found = si.odeint(f, y0, [0.0, 1.0], (p,), tfirst=True, rtol=1e-9, atol=1e-11)
        return np.sum(found[1] ** 2)

    found, used = stages.at_once, []
    monkeypatch.setattr(stages, "at_once", lambda *xs: used.append(found(*xs)) or used[-1])
    p, h = np.linspace(1.1, 0.6, 9), 1e-4
    by_p, by_y0 = gradient(end, p, y0)
    expected = (end(p + h * v, y0 + h * u) - end(p - h * v, y0 - h * u)) / (2 * h)
    assert by_p @ v + by_y0 @ u == pytest.approx(expected, rel=1e-5, abs=1e-7)
    assert [parts is not None for parts in used] == [takes_columns]
    monkeypatch.setattr(stages, "at_once", lambda *_: None)
    for together, alone in zip((by_p, by_y0), gradient(end, p, y0), strict=True):
        np.testing.assert_allclose(together, alone, rtol=1e-6, atol=1e-10)


def test_a_derivative_of_many_equations_is_written_out_the_same_together(monkeypatch):
    times, values = np.linspace(0.0, 1.0, 10), np.random.default_rng(0).normal(size=(10, 9))
    rate = lambda t, x: SPREAD @ x + t * x**2
    back = lambda t, x: lambda d: (None, np.sum(x**2 * d, axis=0), SPREAD @ d + 2 * t * x * d)
    both = lambda t, x: (rate(t, x), back(t, x))
    slopes = rate(times, values.T).T
    together, alone = (
        stages.pulled_at(both, many, rate, times, values, slopes, 5) for many in (both, None)
    )
    assert isinstance(together, stages.AtOnce)
    assert isinstance(alone, stages.OneByOne)
    for widest in (2**16, 18):
        monkeypatch.setattr(stages, "WIDEST", widest)
        expected = SPREAD + np.diag(2 * times[6] * values[6])
        np.testing.assert_allclose(together.slope(6), expected)
        np.testing.assert_allclose(alone.slope(6), expected)
    for i in (0, 1):
        d = slopes[5 * i : 5 * i + 5]
        for found, expected in zip(together.step(i, d)[:2], alone.step(i, d)[:2], strict=True):
            np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize("most", [1, 30])  # iterations: too few, and enough
def test_systems_that_iterations_do_not_solve_are_solved_at_once(most, monkeypatch):
    def end(p):
        rate = lambda t, y: p * (SPREAD @ y) - 30.0 * y - 50.0 * y**3
        found = si.odeint(rate, np.cos(np.arange(9.0)), [0.0, 1.0], tfirst=True, rtol=1e-9)
        return np.sum(found[1] ** 2) * 1e20

    (expected,) = gradient(end, 0.7)
    solve, solved = np.linalg.solve, []
    monkeypatch.setattr(np.linalg, "solve", lambda *xs: solved.append(1) or solve(*xs))
    monkeypatch.setattr(stages, "PLAIN", 1)
    monkeypatch.setattr(iterations, "MOST", most)
    assert gradient(end, 0.7)[0] == pytest.approx(expected, rel=1e-7)
    assert bool(solved) == (most == 1)


@pytest.mark.parametrize("method", ["RK45", "LSODA"])
def test_derivatives_of_all_forms_add_up_over_stages(method):
    def rate(t, y, p):
        force = math.sin(y[0]) * p["few"][0]
        if t > 0.5:
            force += (t - 0.5) ** 3 * p["few"][1] * p["many"][0]
        return [y[1], -force - 0.1 * y[1]]

    def end(few, many, single):
        single = np.float32(0.5) * single
        f = lambda t, y: rate(t, y, {"few": few, "many": many * single})
        return si.solve_ivp(f, (0.0, 1.0), [1.0, 0.0], method, rtol=1e-8, atol=1e-8).y[0, -1]

    given, h = [np.array([1.5, 0.8]), np.ones(3), 2.0], 1e-3
    found = gradient(end, *given)
    moved = [np.array([0.3, -0.7]), np.array([0.2, 0.5, 0.1]), 0.4]
    ends = [end(*[x + s * d for x, d in zip(given, moved, strict=True)]) for s in (h, -h)]
    along = sum(np.sum(d * x) for d, x in zip(found, moved, strict=True))
    assert along == pytest.approx((ends[0] - ends[1]) / (2 * h), rel=1e-5)


@pytest.mark.parametrize("rtol", [1e-3, 1e-5, 1e-8])
def test_gradients_are_as_exact_as_the_solution(rtol):
    def swing(t, y, p):
        return np.array([y[1], -p[0] * y[0] - p[1] * y[0] ** 3])

    def end(p, solve=True, rtol=rtol):
        if solve:
            return si.solve_ivp(swing, (0, 4.0), [1.5, 0.0], "LSODA", args=(p,), rtol=rtol,
                                atol=rtol / 1e3).y[0, -1]  # fmt: skip
        return si.odeint(swing, [1.5, 0.0], [0.0, 4.0], (p,), tfirst=True, rtol=rtol,
                         atol=rtol / 1e3)[-1, 0]  # fmt: skip

    p = np.array([1.5, 0.8])
    exact = [(end(p + h, rtol=1e-12) - end(p - h, rtol=1e-12)) / 2e-5 for h in 1e-5 * np.eye(2)]
    for solve in (True, False):
        found = gradient(end, p, solve)[0]
        np.testing.assert_allclose(found, exact, rtol=100 * rtol)


def test_a_critical_time_ends_a_step():
    def end(c):
        rate = lambda y, t: -c * y * (1 + (t > 1))
        return si.odeint(rate, [1.0], [0.0, 2.0], tcrit=[1.0], rtol=1e-10, atol=1e-12)[-1, 0]

    assert gradient(end, 1.3)[0] == pytest.approx(-3 * np.exp(-3.9), rel=1e-6)


def test_times_between_steps_are_as_exact():
    fall = lambda y, t: [y[1], -np.sin(y[0])]
    at = lambda t: si.odeint(fall, [1.0, 0.3], t, rtol=1e-11, atol=1e-12)[1:, 0]
    t = np.array([0.3, 1.0, 1.5, 2.0])
    h = 1e-4 * np.eye(4)
    w = np.array([0.3, -1.0, 0.6])
    expected = [
        w @ (8 * (at(t + e) - at(t - e)) - at(t + 2 * e) + at(t - 2 * e)) / 12e-4 for e in h
    ]
    np.testing.assert_allclose(gradient(lambda t: w @ at(t), t)[0], expected, atol=3e-9)


def relaxed(t, y, mu):
    """Return the movement of van der Pol's oscillator, which jumps twice in each period."""
    return np.array([y[1], mu * (1 - y[0] ** 2) * y[1] - y[0]])


def after_jumps(mu, method, rtol):
    f = lambda t, y: relaxed(t, y, mu)
    if method == "odeint":
        return si.odeint(f, [2.0, 0.0], [0.0, 30.0], tfirst=True, rtol=rtol, atol=1e-3 * rtol,
                         mxstep=10000)[-1, 0]  # fmt: skip
    return si.solve_ivp(f, (0, 30.0), [2.0, 0.0], method, rtol=rtol, atol=1e-3 * rtol).y[0, -1]


@pytest.mark.parametrize("method", ["BDF", "odeint"])
def test_behind_fast_transitions_a_loose_tolerance_has_the_right_gradient(method):
    h = 1e-3
    exact = [after_jumps(10.0 + e, "odeint", 1e-11) for e in (-h, h)]
    found = gradient(lambda mu: after_jumps(mu, method, 1e-3), 10.0)[0]
    assert found == pytest.approx((exact[1] - exact[0]) / (2 * h), rel=1e-2)


@pytest.mark.parametrize("method", ["BDF", "LSODA"])
def test_a_derivative_that_is_given_takes_the_args(method):
    slope = lambda t, y, c: np.array([[0.0, 1.0], [-c[0], -c[1]]])
    f = lambda c, method: si.solve_ivp(
        swing, (0, 0.7), [1.0, 0.5], method, args=(c,), rtol=1e-7, atol=1e-9,
        **({} if method == "DOP853" else {"jac": slope})).y[0, -1]  # fmt: skip
    expected = [(f(C + e, "DOP853") - f(C - e, "DOP853")) / 2e-3 for e in 1e-3 * np.eye(3)]
    np.testing.assert_allclose(gradient(lambda c: f(c, method), C)[0], expected, atol=1e-5)


def test_no_time_passes():
    f = lambda c: si.solve_ivp(swing, (1.0, 1.0), [c[0], 0.0], "BDF", args=(c,)).y[0, -1]
    assert gradient(f, C)[0].tolist() == [1.0, 0.0, 0.0]


def test_values_that_a_loose_solution_has_not_found_have_no_derivative():
    pulse = lambda t, y, p: p * np.exp(-(((t - 5) / 0.05) ** 2)) - 0.5 * y
    f = lambda p: si.solve_ivp(pulse, (0, 10), [0.0], "BDF", args=(p,)).y[0, -1]
    assert f(1.0) == 0.0  # SciPy steps over the pulse
    with pytest.raises(np.linalg.LinAlgError, match="give a smaller rtol"):
        gradient(f, 1.0)


@pytest.mark.parametrize("where", ["t", "y"])
def test_a_right_hand_side_may_jump_at_a_time_and_not_at_a_value(where):
    def end(c):
        is_later = lambda t, y: t > 1 if where == "t" else y[0] < 0.3
        f = lambda t, y: np.array([-c * y[0] * (2.0 if is_later(t, y) else 1.0)])
        return si.odeint(f, [1.0], [0.0, 2.0], tfirst=True, rtol=1e-8, atol=1e-10)[-1, 0]

    if where == "t":
        assert gradient(end, 1.3)[0] == pytest.approx(-3 * np.exp(-3.9), rel=1e-5)
    else:  # the place of the jump moves with `c`
        with pytest.raises(
            np.linalg.LinAlgError, match=r"values\.py:\d+: .*not known well enough.* \[ZL010\]$"
        ):
            gradient(end, 1.3)


@pytest.mark.parametrize("more", [0, 6])
def test_complex_equations_need_not_be_analytic(more):
    y0 = np.append([1 + 0.5j, 0.3 - 0.2j], 0.1j * np.ones(more))

    def end(c, method, rtol):
        f = lambda t, y: -c * np.conj(y) + 0.3j * y * abs(y)
        y = si.solve_ivp(f, (0, 1), y0, method, rtol=rtol, atol=rtol / 10).y[:, -1]
        return np.sum(y.real * np.arange(1, 3 + more)) + y[0].imag ** 2

    difference = (end(0.7 + 1e-4, "DOP853", 1e-11) - end(0.7 - 1e-4, "DOP853", 1e-11)) / 2e-4
    assert gradient(lambda c: end(c, "BDF", 1e-7), 0.7)[0] == pytest.approx(difference, rel=1e-5)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (["solve_ivp", *["object"] * 3], "By Radau, BDF and LSODA:\nthe adjoint equation"),
        (["odeint", *["object"] * 4], "Solve the adjoint equation along the solution."),
    ],
)
def test_why_tells_how_a_solution_is_differentiated(call, told, capsys):
    assert main(["why", f"scipy.integrate.{call[0]}", *call[1:]]) == 0
    assert told in capsys.readouterr().out
