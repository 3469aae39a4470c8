"""Rules of `rules_scipy.optimize.minima`, against closed forms.

The sum of `exp(x) - c x` is least at `log(c)`, where it is `c - c log(c)`.
"""

import numpy as np
import pytest
from scipy import optimize as so

from zygote_lite import DifferentiationError, NoRuleError, grad, gradient, jacobian, value_and_grad

C = np.array([1.5, 2.5])
W = np.array([1.0, 2.0])
BEGIN = np.zeros(2)
BOX = [(0.0, 0.6), (None, None)]  # the first entry ends at its upper bound


def bowl(x, c):
    return np.sum(np.exp(x) - c * x)


def with_slope(x, c):
    return np.sum(np.exp(x) - c * x), np.exp(x) - c


def slope(x, c):
    return np.exp(x) - c


class Bowl:
    def __init__(self, c):
        self.c = c

    def loss(self, x):
        return bowl(x, self.c)


PLACES = {
    "closure": lambda c: so.minimize(lambda x: bowl(x, c), BEGIN).x,
    "argument": lambda c: so.minimize(bowl, BEGIN, c).x,
    "keywords": lambda c: so.minimize(fun=bowl, x0=BEGIN, args=(c,)).x,
    "item": lambda c: so.minimize(bowl, BEGIN, (c,))["x"],
    "method": lambda c: so.minimize(Bowl(c).loss, BEGIN).x,
    "its slope": lambda c: so.minimize(with_slope, BEGIN, (c,), jac=True).x,
    "given slope": lambda c: so.minimize(bowl, BEGIN, (c,), jac=slope, method="Newton-CG").x,
    "trust-constr": lambda c: so.minimize(bowl, BEGIN, (c,), method="trust-constr", tol=1e-9).x,
    "basinhopping": lambda c: so.basinhopping(lambda x: bowl(x, c), BEGIN, niter=2, rng=1).x,
    "dual_annealing": lambda c: so.dual_annealing(bowl, [(0, 2)] * 2, (c,), maxiter=9, rng=1).x,
    "evolution": lambda c: so.differential_evolution(bowl, [(0, 2)] * 2, (c,), rng=1).x,
    "shgo": lambda c: so.shgo(bowl, [(0, 2)] * 2, (c,)).x,
    "brute": lambda c: so.brute(bowl, [(0, 2)] * 2, (c,), Ns=9),
    "fmin": lambda c: so.fmin(bowl, BEGIN, (c,), 1e-9, 1e-13, disp=False),
    "fmin_powell": lambda c: so.fmin_powell(bowl, BEGIN, (c,), 1e-9, full_output=1, disp=0)[0],
    "fmin_bfgs": lambda c: so.fmin_bfgs(bowl, BEGIN, args=(c,), retall=True, disp=False)[0],
    "fmin_cg": lambda c: so.fmin_cg(bowl, BEGIN, args=(c,), disp=False),
    "fmin_ncg": lambda c: so.fmin_ncg(bowl, BEGIN, slope, args=(c,), disp=False),
    "fmin_slsqp": lambda c: so.fmin_slsqp(bowl, BEGIN, args=(c,), iprint=0),
    "fmin_l_bfgs_b": lambda c: so.fmin_l_bfgs_b(with_slope, BEGIN, args=(c,))[0],
    "fmin_tnc": lambda c: so.fmin_tnc(with_slope, BEGIN, args=(c,), disp=0)[0],
}
for name in ("BFGS", "CG", "L-BFGS-B", "Nelder-Mead", "Powell", "TNC", "SLSQP", "COBYLA"):
    PLACES[name] = lambda c, name=name: so.minimize(bowl, BEGIN, (c,), method=name).x


@pytest.mark.parametrize("name", PLACES)
def test_a_minimum_moves_as_its_gradient_says(name):
    for _ in range(3):  # on the tape, then by transformed code
        value, found = value_and_grad(lambda c: np.sum(W * PLACES[name](c)))(C)
        np.testing.assert_allclose(value, np.sum(W * np.log(C)), rtol=1e-2)
        np.testing.assert_allclose(found, W / C, rtol=1e-2)


@pytest.mark.parametrize("name", ["L-BFGS-B", "TNC", "SLSQP", "Nelder-Mead", "trust-constr"])
@pytest.mark.parametrize("bounds", [BOX, so.Bounds([-1, -np.inf], [0.6, np.inf])])
@pytest.mark.filterwarnings("ignore")
def test_a_bound_holds_what_is_at_it(name, bounds):
    c = np.array([2.5, 1.5])
    found = lambda c: so.minimize(bowl, BEGIN, (c,), method=name, bounds=bounds, tol=1e-8)
    np.testing.assert_allclose(gradient(lambda c: np.sum(W * found(c).x), c)[0], [0, W[1] / c[1]],
                               rtol=1e-3, atol=1e-3)  # fmt: skip
    np.testing.assert_allclose(
        gradient(lambda c: found(c).fun, c)[0], [-0.6, -np.log(c[1])], rtol=1e-3
    )


SCALARS = {
    "minimize_scalar": lambda c: so.minimize_scalar(bowl, args=(c,)).x,
    "bounded": lambda c: (
        so.minimize_scalar(bowl, bounds=(0, 2), args=(c,), options={"xatol": 1e-9}).x
    ),
    "an array of bounds": lambda c: (
        so.minimize_scalar(bowl, bounds=np.array([0, 2]), args=(c,), options={"xatol": 1e-9}).x
    ),
    "brent": lambda c: so.brent(bowl, (c,)),
    "golden": lambda c: so.golden(lambda x: bowl(x, c), full_output=True)[0],
    "fminbound": lambda c: so.fminbound(bowl, 0, 2, (c,), xtol=1e-9),
}


@pytest.mark.parametrize("name", SCALARS)
def test_minima_of_functions_of_a_number(name):
    for _ in range(3):
        assert value_and_grad(SCALARS[name])(1.5) == pytest.approx((np.log(1.5), 1 / 1.5), rel=1e-4)
    held = lambda c: so.minimize_scalar(bowl, bounds=(0, 0.3), args=(c,)).x
    assert gradient(held, 1.5) == (0.0,)


def test_the_minimal_value():
    expected = pytest.approx(-np.log(C), rel=1e-3)
    assert gradient(lambda c: so.minimize(bowl, BEGIN, (c,)).fun, C)[0] == expected
    assert (
        gradient(lambda c: so.fmin(bowl, BEGIN, (c,), full_output=1, disp=0)[1], C)[0] == expected
    )
    both = lambda c: np.sum((r := so.minimize(with_slope, BEGIN, (c,), jac=True)).x) + r.fun
    assert gradient(both, C)[0] == pytest.approx(1 / C - np.log(C), rel=1e-3)


def test_second_derivatives():
    found = grad(grad(lambda c: so.minimize(with_slope, [0.0], (c,), jac=True, tol=1e-9).fun))(1.5)
    assert found == pytest.approx(-1 / 1.5, abs=1e-3)


REFUSED = {
    "constraints": lambda c: so.minimize(bowl, BEGIN, (c,), constraints={
        "type": "eq", "fun": lambda x: x[0]}).x,
    "and not jac": lambda c: so.minimize(bowl, BEGIN, (c,)).jac,
    "has no rule for constraints": lambda c: so.dual_annealing(
        bowl, [(0, 2)] * 2, (c,), maxiter=2, rng=1, minimizer_kwargs={
            "method": "SLSQP", "constraints": {"type": "ineq", "fun": lambda x: 0.1 - x[0]}}).x,
    "args in a tuple, and not in list": lambda c: so.shgo(bowl, [(0, 2)] * 2, [c]).x,
    "`bounds`": lambda c: so.minimize(bowl, BEGIN, (C,), bounds=[(0, c[0]), (0, c[1])]).x,
    "entry 5": lambda c: so.fmin(bowl, BEGIN, (c,), retall=True, full_output=True, disp=0)[5][1],
    "has no rule for eqcons": lambda c: so.fmin_slsqp(
        bowl, BEGIN, [lambda x, c: x[0]], args=(c,), iprint=0),
    "`x2`": lambda c: so.fminbound(bowl, 0, c[0], (C[0],)),
}  # fmt: skip


@pytest.mark.parametrize("message", REFUSED)
def test_what_has_no_rule_is_refused(message):
    with pytest.raises(NoRuleError, match=message):
        gradient(lambda c: np.sum(REFUSED[message](c)), C)


def at_first(c, bounds):
    bounds[0] = (0, c[0])
    return so.minimize(bowl, BEGIN, (C,), bounds=bounds).x


BOUNDS = {
    "minimize": lambda c: so.minimize(bowl, BEGIN, (C,), bounds=so.Bounds([0, 0], c)).x,
    "by a list that is written": lambda c: at_first(c, [(0, 1), (0, 1)]),
    "by position": lambda c: so.lsq_linear(np.eye(2), [2, 3], so.Bounds([0, 0], c)).x,
    "least_squares": lambda c: so.least_squares(
        lambda x: x - 2, [0.1, 0.1], bounds=so.Bounds([0, 0], c)).x,
    "differential_evolution": lambda c: so.differential_evolution(
        lambda x: np.sum((x - 2) ** 2), so.Bounds([0, 0], c), rng=1, maxiter=2).x,
}  # fmt: skip


@pytest.mark.parametrize("name", BOUNDS)
def test_a_gradient_by_bounds_is_refused_in_an_object_too(name):
    for _ in range(3):
        with pytest.raises(NoRuleError, match=r"as an option|no derivative by `bounds`"):
            gradient(lambda c: np.sum(BOUNDS[name](c)), np.array([0.6, 0.7]))


def test_what_has_no_derivative_is_refused():
    with pytest.raises(np.linalg.LinAlgError, match="minimize has not converged"):
        gradient(lambda c: so.minimize(bowl, BEGIN, (c,), options={"maxiter": 1}).x[0], C)
    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        gradient(lambda c: so.minimize(lambda x: (x[0] - x[1] - c[0]) ** 2, BEGIN).x[0], C)
    kinked = lambda c: so.minimize_scalar(lambda x: max((x - c) ** 2, (x + 1) ** 2)).x
    with pytest.raises(np.linalg.LinAlgError, match="gradient that is not zero"):
        gradient(kinked, 2.0)
    by_name = lambda c: so.direct(lambda x, c: (x[0] - c) ** 2, [(0, 3)], args=(c,), maxfun=9).x[0]
    with pytest.raises(NoRuleError, match=r"`args` as an option.* as in `lambda x: f\(x, a\)`"):
        gradient(by_name, 2.0)


def test_a_function_that_changes_what_it_captured_is_refused():
    def f(c):
        seen = []

        def noted(x):
            seen.append(bowl(x, c))
            return seen[-1]

        return so.minimize(noted, BEGIN).x[0] + seen[0]

    with pytest.raises(DifferentiationError, match="changes what it captured"):
        gradient(f, C)


@pytest.mark.parametrize("method", ["BFGS", "Newton-CG", "L-BFGS-B"])
def test_a_derivative_that_is_given_may_capture_what_is_differentiated(method):
    def place(b):
        value = lambda z: np.sum(z**4) / 4 + np.sum(z**2) / 2 - b @ z
        slope = lambda z: z**3 + z - b
        return so.minimize(value, np.zeros(2), method=method, jac=slope, tol=1e-7).x

    b = np.array([2.0, 10.0])  # the roots of z**3 + z are 1 and 2
    np.testing.assert_allclose(jacobian(place)(b), np.diag([1 / 4, 1 / 13]), rtol=1e-4, atol=1e-9)


def test_where_a_search_ends_early_the_derivative_is_near_that_of_the_minimum():
    """Differences of TNC's minima are off by 1.5 %: each search ends elsewhere."""

    def valley(x, a, b):
        return (x[0] - a) ** 2 + 3 * (x[1] - b * x[0] ** 2) ** 2 + 0.1 * x[1] ** 4

    def slope(x, a, b):
        off = x[1] - b * x[0] ** 2
        return np.array([2 * (x[0] - a) - 12 * b * x[0] * off, 6 * off + 0.4 * x[1] ** 3])

    a = np.array([2.0, 0.7])
    by = jacobian(lambda a: so.minimize(valley, [0.5, 0.5], (a[0], a[1]), method="TNC").x)(a)
    root = lambda a: so.root(slope, [1.4, 1.2], (a[0], a[1]), tol=1e-14).x
    expected = [(root(a + e) - root(a - e)) / 2e-5 for e in 1e-5 * np.eye(2)]
    np.testing.assert_allclose(by, np.transpose(expected), rtol=1e-4)
