"""Rules of `rules_scipy.optimize.systems`, against the inverse of a known Jacobian."""

import numpy as np
import pytest
from scipy import optimize as so

from rules_scipy.optimize.systems import ITERATED
from rulescore.testing import check_rrule
from zygote_lite import NoRuleError, gradient, value_and_grad

C = np.array([2.0, 3.0])
M = np.array([[2.0, 0.5], [-0.3, 1.5]])
W = np.array([1.0, 2.0])


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


def system(x, c):
    return list(M @ x + 0.1 * x**3 - c)


def with_slopes(x, c):
    return M @ x + 0.1 * x**3 - c, M + np.diag(0.3 * x**2)


def solution(c):
    return so.root(system, np.ones(2), (c,), tol=1e-14).x


SOLVERS = {
    "fsolve": lambda c: so.fsolve(system, [1.0, 1.0], args=(c,)),
    "closure": lambda c: so.fsolve(lambda x: system(x, c), [1.0, 1.0], full_output=True)[0],
    "its slopes": lambda c: so.root(with_slopes, np.ones(2), args=c, jac=True).x,
    "fixed point": lambda c: so.fixed_point(
        lambda x, c: np.linalg.solve(M, c - 0.1 * x**3), np.ones(2), (c,)
    ),
}
for method in ("hybr", "lm", "broyden1", "krylov", "df-sane"):
    SOLVERS[method] = lambda c, method=method: (
        so.root(lambda x: np.array(system(x, c)), np.ones(2), method=method).x
    )
for f in ITERATED:
    if "mixing" not in f.__name__:  # these two do not converge here
        SOLVERS[f.__name__] = lambda c, f=f: f(lambda x: np.array(system(x, c)), np.ones(2))


@pytest.mark.parametrize("name", SOLVERS)
def test_a_solution_moves_as_its_system_says(name):
    jacobian = M + np.diag(0.3 * solution(C) ** 2)
    for _ in range(3):  # on the tape, then by transformed code
        _, found = value_and_grad(lambda c: np.sum(W * SOLVERS[name](c)))(C)
        np.testing.assert_allclose(found, np.linalg.solve(jacobian.T, W), rtol=1e-4)


def test_what_has_no_derivative_is_refused():
    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        gradient(lambda c: so.fsolve(lambda x: (x - 1.0) * 0.0 + 0 * c, [1.0, 1.0])[0], C)
    for options in ({}, {"maxfev": 3}):  # there is no root, or it is not reached
        sign = 1 if not options else -1
        with (
            pytest.raises(np.linalg.LinAlgError, match="fsolve has not converged"),
            pytest.warns(RuntimeWarning, match="iteration|calls to function"),
        ):
            gradient(
                lambda c, s, o: so.fsolve(lambda x: x**2 + s * c, 5.0, **o)[0], 1.3, sign, options
            )
    with pytest.raises(NoRuleError, match="broyden1 has no rule for iter"):
        gradient(lambda c: so.broyden1(lambda x: x**2 - c, [3.0], iter=2)[0], 1.3)
    with pytest.raises(np.linalg.LinAlgError, match="root has not converged"):
        gradient(lambda c: so.root(system, np.ones(2), (c,), options={"maxfev": 1}).x[0], C)
    with pytest.raises(NoRuleError, match="and not fjac"):
        gradient(lambda c: so.root(system, np.ones(2), (c,)).fjac[0, 0], C)
    more = lambda x, c: np.append(system(x, c), 0.0)
    with pytest.raises(NoRuleError, match="3 equations for 2 unknowns"):
        gradient(lambda c: so.root(more, np.ones(2), (c,), method="lm").x[0], C)
