"""Equations of Sylvester, Lyapunov and Riccati: their derivatives solve linear ones."""

import numpy as np
from scipy import linalg as sl

from rules_scipy.shared.matrices import ArrayLike, adjoint
from rulescore import RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.linalg.equations")


@rule(sl.solve_sylvester)
def _(a: ArrayLike, b: ArrayLike, q: ArrayLike):
    y = sl.solve_sylvester(a, b, q)

    def adjoint_solution(dy):
        return sl.solve_sylvester(adjoint(np.asarray(a)), adjoint(np.asarray(b)), dy)

    def by_a(z):
        return project(-z @ adjoint(y), a)

    def by_b(z):
        return project(-adjoint(y) @ z, b)

    def by_q(z):
        return project(z, q)

    return y, (adjoint_solution, (by_a, by_b, by_q))


@rule(sl.solve_continuous_lyapunov)
def _(a: ArrayLike, q: ArrayLike):
    y = sl.solve_continuous_lyapunov(a, q)

    def adjoint_solution(dy):
        return sl.solve_continuous_lyapunov(adjoint(np.asarray(a)), dy)

    def by_a(z):
        return project(-z @ adjoint(y) - adjoint(z) @ y, a)

    def by_q(z):
        return project(z, q)

    return y, (adjoint_solution, (by_a, by_q))


@rule(sl.solve_discrete_lyapunov)
def _(a: ArrayLike, q: ArrayLike, method=None):
    y = sl.solve_discrete_lyapunov(a, q, method)

    def adjoint_solution(dy):
        return sl.solve_discrete_lyapunov(adjoint(np.asarray(a)), dy, method)

    def by_a(z):
        return project(z @ a @ adjoint(y) + adjoint(z) @ a @ y, a)

    def by_q(z):
        return project(z, q)

    return y, (adjoint_solution, (by_a, by_q))


def riccati(f, gain, adjoint_of):
    """Declare a Riccati equation.

    Arguments:
        f: the function that solves it.
        gain: gives `K` for the solution.
        adjoint_of: gives the solution of the adjoint equation, and `X` times the closed loop.
    """

    @rule(f)
    def _(
        a: ArrayLike,
        b: ArrayLike,
        q: ArrayLike,
        r: ArrayLike,
        e=None,
        s=None,
        balanced=True,
    ):
        if e is not None or s is not None:
            raise NotImplementedError(f"scipy.linalg.{f.__name__} has no rule with `e` or `s`")
        y = f(a, b, q, r, balanced=balanced)

        def shared(dy):
            k = gain(*map(np.asarray, (a, b, r)), y)
            closed = np.asarray(a) - np.asarray(b) @ k
            z, moved = adjoint_of(closed, y, (dy + adjoint(dy)) / 2)
            return z, moved @ (z + adjoint(z)), k

        def by_a(found):
            return project(found[1], a)

        def by_b(found):
            return project(-found[1] @ adjoint(found[2]), b)

        def by_q(found):
            return project(found[0], q)

        def by_r(found):
            return project(found[2] @ found[0] @ adjoint(found[2]), r)

        return y, (shared, (by_a, by_b, by_q, by_r))


riccati(
    sl.solve_continuous_are,
    lambda a, b, r, x: np.linalg.solve(r, adjoint(b) @ x),
    lambda closed, x, dx: (sl.solve_continuous_lyapunov(closed, -dx), x),
)
riccati(
    sl.solve_discrete_are,
    lambda a, b, r, x: np.linalg.solve(r + adjoint(b) @ x @ b, adjoint(b) @ x @ a),
    lambda closed, x, dx: (sl.solve_discrete_lyapunov(closed, dx), x @ closed),
)
