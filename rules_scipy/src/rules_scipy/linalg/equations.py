"""Equations of Sylvester, Lyapunov and Riccati: their derivatives solve linear ones.

Those of Sylvester and Lyapunov are solved with Schur forms, with which the pullback solves again.
"""

import numpy as np
from scipy import linalg as sl

from rules_scipy.linalg.factored import Factored, factored, solve_with
from rules_scipy.shared.held import hold, hold_later
from rules_scipy.shared.linear.matrices import ArrayLike, adjoint
from rules_scipy.shared.linear.stacks import stacked
from rulescore import RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.linalg.equations")


def refuse_mixed(f, q, *coefficients):
    """Refuse systems that SciPy solves wrongly: it takes real Schur blocks for complex entries."""
    given = [np.asarray(x) for x in (q, *coefficients)]
    if any(map(np.iscomplexobj, given)):
        for a in given[1:]:
            if np.isrealobj(a) and np.any(np.imag(np.linalg.eigvals(a)) != 0):
                raise NotImplementedError(
                    f"scipy.linalg.{f.__name__} solves systems wrongly that mix complex matrices "
                    "with a real one of complex eigenvalues: give all matrices as complex ones"
                )


def schur_forms(a, b, q):
    """Return the Schur forms that a Sylvester equation is solved with, or `None`."""
    if not (np.size(a) and np.size(b)):
        return None
    return *sl.schur(a, output="real"), *sl.schur(adjoint(np.asarray(b)), output="real")


def refuse_resonance(info):
    """Raise `LinAlgError` where LAPACK changed an equation that has no solution, or many."""
    if info:
        raise sl.LinAlgError(
            "an equation whose matrices have eigenvalues that cancel has no gradient: its solution "
            "is not determined"
        )


def sylvester(held, a, b, q, turned=False, back=False):
    """Return the `x` with `a x + x b = q`, or for the adjoint matrices where it is `turned`.

    Where it is asked for in a pullback, `back`, it has to be determined.
    """
    parts = held.parts_for(a, b, held.of[2])
    if parts is None:
        return sl.solve_sylvester(a, b, q)
    r, u, s, v = parts
    f = np.dot(np.dot(adjoint(u), q), v)
    (trsyl,) = sl.get_lapack_funcs(("trsyl",), (r, s, f))
    y, scale, info = trsyl(r, s, f, trana="C" if turned else "N", tranb="N" if turned else "C")
    if back:
        refuse_resonance(info)
    return np.dot(np.dot(u, scale * y), adjoint(v))


def sylvester_solution(held, a, b, q, turned=False):
    """Return the solution, and the parts of its pullback by `a`, `b` and `q`."""
    y = sylvester(held, a, b, q, turned)

    def adjoint_solution(dy):
        return sylvester(held, a, b, dy, not turned, True)

    def by_a(z):
        return project(-y @ adjoint(z) if turned else -z @ adjoint(y), a)

    def by_b(z):
        return project(-adjoint(z) @ y if turned else -adjoint(y) @ z, b)

    def by_q(z):
        return project(z, q)

    return y, (adjoint_solution, (by_a, by_b, by_q))


@rule(sylvester)
def _(held: object, a: ArrayLike, b: ArrayLike, q: ArrayLike, turned=False, back=False):
    y, (shared, parts) = sylvester_solution(held, a, b, q, turned)
    return y, (shared, (None, *parts))


@rule(sl.solve_sylvester)
@stacked(sl.solve_sylvester, 2, 2, 2)
def _(a: ArrayLike, b: ArrayLike, q: ArrayLike):
    refuse_mixed(sl.solve_sylvester, q, a, b)
    return sylvester_solution(hold(schur_forms, a, b, q), a, b, q)


def by_schur_form(r, u, q, turned):
    """Return the `x` with `a x + x a^H = q` for `a = u r u^H`, and what LAPACK tells of it."""
    f = adjoint(u).dot(q.dot(u))
    trsyl = sl.get_lapack_funcs("trsyl", (r, f))
    y, scale, info = trsyl(r, r, f, trana="C" if turned else "N", tranb="N" if turned else "C")
    y *= scale
    return u.dot(y).dot(adjoint(u)), info


def continuous_form(a, q):
    """Return the Schur form of a matrix, or `None` for one without entries."""
    return sl.schur(a, output="real") if np.size(a) else None


def continuous(held, a, q, turned=False, back=False):
    """Return the `x` with `a x + x a^H = q`, or for the adjoint of `a` where it is `turned`."""
    parts = held.parts_for(a, *held.of[1:])
    if parts is not None:
        y, info = by_schur_form(*parts, np.asarray(q), turned)
        if back:
            refuse_resonance(info)
        if not info:
            return y
    return sl.solve_continuous_lyapunov(adjoint(np.asarray(a)) if turned else a, q)


def discrete_form(a, q, method):
    """Return what SciPy solves the discrete equation with: LU factors, or a Schur form."""
    a = np.asarray(a)
    if not a.size:
        return None
    if (method or ("bilinear" if len(a) >= 10 else "direct")).lower() == "direct":
        matrix = np.kron(a, np.conj(a))
        return factored(np.eye(len(matrix)) - matrix, np.ravel(q), None, False, True)
    refuse_mixed(sl.solve_discrete_lyapunov, q, a)
    eye = np.eye(len(a))
    right = np.linalg.inv(adjoint(a) + eye)
    form = sl.schur(adjoint(np.dot(adjoint(a) - eye, right)), output="real")
    return *form, np.linalg.inv(a + eye), right


def discrete(held, a, q, turned=False, back=False):
    """Return the `x` with `x - a x a^H = q`, or for the adjoint of `a` where it is `turned`."""
    parts, q = held.parts_for(a, *held.of[1:]), np.asarray(q)
    if isinstance(parts, Factored):
        return solve_with(parts, parts.of, q.ravel(), 2 if turned else 0).reshape(q.shape)
    if parts is not None:
        r, u, left, right = parts
        given = q if turned else -2 * np.dot(np.dot(left, q), right)
        y, info = by_schur_form(r, u, given, turned)
        if back:
            refuse_resonance(info)
        if not info:
            return np.dot(np.dot(adjoint(left), -2 * y), adjoint(right)) if turned else y
    a = adjoint(np.asarray(a)) if turned else a
    return sl.solve_discrete_lyapunov(a, q, held.of[2])


def lyapunov(solve, slope):
    """Declare how a Lyapunov equation is solved with a factorization, and return that body.

    Arguments:
        solve: the function that solves it, or its adjoint.
        slope: gives the cotangent of `a` for that of `q`.
    """

    def solution(held, a, q, turned=False):
        y = solve(held, a, q, turned)

        def adjoint_solution(dy):
            return solve(held, a, dy, not turned, True)

        def by_a(z):
            x = np.asarray(a)
            return project(adjoint(slope(z, adjoint(x), y)) if turned else slope(z, x, y), a)

        def by_q(z):
            return project(z, q)

        return y, (adjoint_solution, (by_a, by_q))

    @rule(solve)
    def _(held: object, a: ArrayLike, q: ArrayLike, turned=False, back=False):
        y, (shared, parts) = solution(held, a, q, turned)
        return y, (shared, (None, *parts))

    return solution


continuous_solution = lyapunov(continuous, lambda z, a, y: -z @ adjoint(y) - adjoint(z) @ y)
discrete_solution = lyapunov(discrete, lambda z, a, y: z @ a @ adjoint(y) + adjoint(z) @ a @ y)


@rule(sl.solve_continuous_lyapunov)
@stacked(sl.solve_continuous_lyapunov, 2, 2)
def _(a: ArrayLike, q: ArrayLike):
    refuse_mixed(sl.solve_continuous_lyapunov, q, a)
    return continuous_solution(hold(continuous_form, a, q), a, q)


@rule(sl.solve_discrete_lyapunov)
@stacked(sl.solve_discrete_lyapunov, 2, 2)
def _(a: ArrayLike, q: ArrayLike, method=None):
    return discrete_solution(hold(discrete_form, a, q, method), a, q)


def refuse_unsolved(f, terms):
    """Raise `LinAlgError` where SciPy's solution is none: the terms do not add up to zero."""
    if np.linalg.norm(sum(terms)) > 1e-8 * sum(map(np.linalg.norm, terms)):
        raise sl.LinAlgError(
            f"what scipy.linalg.{f.__name__} gives does not solve the equation, and has no "
            "gradient: it balances matrices wrongly with `e`, so give it `balanced=False`"
        )


def riccati(f, gain, residual, adjoint_of, form):
    """Declare a Riccati equation.

    Arguments:
        f: the function that solves it.
        gain: gives `K` for the solution.
        residual: gives the terms of the equation.
        adjoint_of: gives the solution of the adjoint equation, and `X` times what `a` and `b` are
            multiplied with there.
        form: factorizes the closed loop, which the first pullback does for all: SciPy's algorithm
            has no factors of it.
    """

    def solution(a, b, q, r, e, s, balanced):
        y = f(a, b, q, r, e, s, balanced)
        k = gain(*map(np.asarray, (a, b, r)), y, e, 0.0 if s is None else adjoint(np.asarray(s)))
        closed = np.asarray(a) - np.asarray(b) @ k
        if e is not None and balanced:
            refuse_unsolved(f, residual(*map(np.asarray, (a, closed, y, e, q)), s, k))
        loop = closed if e is None else np.linalg.solve(e, closed)
        held = hold_later(form, loop, y, None)

        def shared(dy):
            dx = before(e, before(e, (dy + adjoint(dy)) / 2), True)
            z, moved, moved_e = adjoint_of(held, loop, closed, y, dx, e)
            both = z + adjoint(z)
            return z, moved @ both, None if e is None else moved_e @ both

        def by_a(found):
            return project(found[1], a)

        def by_b(found):
            return project(-found[1] @ adjoint(k), b)

        def by_q(found):
            return project(found[0], q)

        def by_r(found):
            return project(k @ found[0] @ adjoint(k), r)

        def by_e(found):
            return project(found[2], e)

        def by_s(found):
            return project(-(found[0] + adjoint(found[0])) @ adjoint(k), s)

        given = (None if e is None else by_e, None if s is None else by_s)
        return y, (shared, (by_a, by_b, by_q, by_r, *given))

    @rule(f)
    def _(a: ArrayLike, b: ArrayLike, q: ArrayLike, r: ArrayLike, *, balanced=True):
        y, (shared, parts) = solution(a, b, q, r, None, None, balanced)
        return y, (shared, parts[:4])

    @rule(f)
    def _(
        a: ArrayLike,
        b: ArrayLike,
        q: ArrayLike,
        r: ArrayLike,
        e: ArrayLike | None,
        *,
        balanced=True,
    ):
        y, (shared, parts) = solution(a, b, q, r, e, None, balanced)
        return y, (shared, parts[:5])

    @rule(f)
    def _(
        a: ArrayLike,
        b: ArrayLike,
        q: ArrayLike,
        r: ArrayLike,
        e: ArrayLike | None,
        s: ArrayLike | None,
        balanced=True,
    ):
        return solution(a, b, q, r, e, s, balanced)


def before(e, x, turned=False):
    """Return `inv(e) x`, or `x inv(e)^H`; `x` where there is no `e`."""
    if e is None:
        return x
    return adjoint(np.linalg.solve(e, adjoint(x))) if turned else np.linalg.solve(e, x)


def times(x, e):
    """Return `x e`, or `x` where there is no `e`."""
    return x if e is None else x @ e


def continuous_adjoint(held, loop, closed, x, dx, e):
    """Return the `z` with `closed z e^H + e z closed^H = -dy`, `x e` and `x closed`."""
    return continuous(held, loop, -dx, False, True), times(x, e), x @ closed


def discrete_adjoint(held, loop, closed, x, dx, e):
    """Return the `z` with `closed z closed^H - e z e^H = -dy`, `x closed` and `-x e`."""
    return discrete(held, loop, dx, False, True), x @ closed, -times(x, e)


riccati(
    sl.solve_continuous_are,
    lambda a, b, r, x, e, s: np.linalg.solve(r, adjoint(b) @ times(x, e) + s),
    lambda a, closed, x, e, q, s, k: (
        adjoint(a) @ x @ e,
        adjoint(e) @ x @ closed,
        q,
        *([] if s is None else [-s @ k]),
    ),
    continuous_adjoint,
    lambda loop, x, _: continuous_form(loop, x),
)
riccati(
    sl.solve_discrete_are,
    lambda a, b, r, x, e, s: np.linalg.solve(r + adjoint(b) @ x @ b, adjoint(b) @ x @ a + s),
    lambda a, closed, x, e, q, s, k: (
        adjoint(a) @ x @ closed,
        -adjoint(e) @ x @ e,
        q,
        *([] if s is None else [-s @ k]),
    ),
    discrete_adjoint,
    discrete_form,
)
