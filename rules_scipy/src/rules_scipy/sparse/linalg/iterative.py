"""Solutions by iteration, and least squares: the adjoint system is solved by the same solver."""

import numpy as np
from scipy import sparse as sp
from scipy.sparse import linalg as spl

from rules_scipy.sparse.products import adjoint, with_rows
from rules_scipy.sparse.values import Sparse
from rulescore import RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.sparse.linalg.iterative")
SYMMETRIC = (spl.cg, spl.minres)
GENERAL = (spl.bicg, spl.bicgstab, spl.cgs, spl.gcrotmk, spl.gmres, spl.lgmres, spl.qmr, spl.tfqmr)
Matrix = Sparse | np.ndarray
Vector = np.ndarray | list | tuple
ABOUT_STEPS = ("callback", "callback_type", "show", "check")
ONE_SIDED = ("M1", "M2")  # preconditioners of `qmr`: without them it converges later


def refuse_unsolved(f, info):
    """Raise `LinAlgError` where a solver has not converged."""
    if info != 0:
        raise np.linalg.LinAlgError(
            f"scipy.sparse.linalg.{f.__name__} has not converged (info={info}): what it returns "
            "has no derivative"
        )


def adjoint_of(a):
    """Return the adjoint of a matrix or an operator."""
    if sp.issparse(a):
        return adjoint(a)
    return np.conj(a.T) if isinstance(a, np.ndarray) else a.H


def by_matrix(a, left, right):
    """Return the cotangent of a matrix, of what `left @ right.conj().T` has at its places."""
    if sp.issparse(a):
        return project(with_rows(a, left, right), a)
    return project(left @ np.conj(right.T), a)


def has_adjoint(a):
    """Return whether a matrix or an operator can be applied from the left, as to a row."""
    if not isinstance(a, spl.LinearOperator):
        return True
    try:
        a.rmatvec(np.zeros(a.shape[0], a.dtype))
    except (NotImplementedError, TypeError):  # SciPy's errors where it was given no `rmatvec`
        return False
    return True


rule.constant(has_adjoint)


def applied(a, x):
    """Apply an operator to a vector."""
    return a.matvec(x)


def adjoint_solution(f, a, y, options, dy):
    """Return the solution of the adjoint system, by the same solver.

    Arguments:
        f, a, y: the solver, the matrix or operator, and what was returned.
        options: those of the solver.
        dy: the cotangent of what was returned.
    """
    refuse_unsolved(f, y[1])
    if dy[0] is None:
        return np.zeros_like(y[0])
    given = {name: x for name, x in options.items() if name not in ABOUT_STEPS}
    if f not in SYMMETRIC:
        if not has_adjoint(a):
            raise NotImplementedError(
                f"the adjoint system of scipy.sparse.linalg.{f.__name__} needs `rmatvec` of the "
                "LinearOperator: give it that function, too"
            )
        a = adjoint_of(a)
        given = {name: x for name, x in given.items() if name not in ONE_SIDED}
        for name in {"M"} & given.keys():  # without it the solver converges later
            if given[name] is not None:
                given[name] = adjoint_of(given[name]) if has_adjoint(given[name]) else None
    w, info = f(a, dy[0], **given)
    refuse_unsolved(f, info)
    return w


def solved_by(f):
    """Declare the rule of a solver."""

    @rule(f)
    def _(A: Matrix, b: Vector, x0=None, *, _f=f, **options):
        y = _f(A, b, x0, **options)

        def solve_adjoint(dy):
            return adjoint_solution(_f, A, y, options, dy)

        def by_a(w):
            return by_matrix(A, -np.reshape(w, (-1, 1)), np.reshape(y[0], (-1, 1)))

        def by_b(w):
            return project(np.reshape(w, np.shape(b)), b)

        return y, (solve_adjoint, (by_a, by_b))

    @rule(f)
    def _(A: spl.LinearOperator, b: Vector, x0=None, *, ad, _f=f, **options):
        y = _f(A, b, x0, **options)
        _, back = ad(applied, A, y[0])

        def pullback(dy):
            w = adjoint_solution(_f, A, y, options, dy)
            return back(-w)[1], project(np.reshape(w, np.shape(b)), b)

        return y, pullback


for solver in (*SYMMETRIC, *GENERAL):
    solved_by(solver)


def least_squares_by(f, done):
    """Declare the rule of a solver of least squares with a matrix of full column rank."""

    @rule(f)
    def _(A: Sparse | np.ndarray, b: Vector, *, damp=0.0, **options):
        y, (cotangents, (by_a, by_b, _)) = fitted(f, done, A, b, damp, options)
        return y, (cotangents, (by_a, by_b))

    @rule(f)
    def _(A: Sparse | np.ndarray, b: Vector, damp: float, **options):
        return fitted(f, done, A, b, damp, options)


def fitted(f, done, A, b, damp, options):
    """Return the value of a solver for least squares, and pullbacks by all that is given.

    With `damp` it solves a system with as many rows more, `damp` times the identity.
    """
    if damp != 0 and options.get("x0") is not None:
        raise NotImplementedError(
            f"scipy.sparse.linalg.{f.__name__} has no rule for x0 with damp: leave x0 out"
        )
    y = f(A, b, damp, **options)
    tight = {"atol": 1e-13, "btol": 1e-13} | {k: options[k] for k in options if k == "conlim"}
    whole = damped(A, damp) if damp != 0 else A

    def cotangents(dy):
        if any(d is not None for d in dy[1:]):
            raise NotImplementedError(
                f"of scipy.sparse.linalg.{f.__name__} only the solution carries a gradient: "
                "compute other values from it, as a residual"
            )
        refuse_unsolved(f, 0 if y[1] in done else y[1])
        dx = np.zeros_like(y[0]) if dy[0] is None else dy[0]
        w = twice_solved(f, whole, dx, tight)
        return (whole @ w)[: len(b)], w

    def by_a(shared):
        s, w = shared
        left = np.stack([b - A @ y[0], -s], axis=1)
        return by_matrix(A, left, np.stack([w, y[0]], axis=1))

    def by_b(shared):
        return project(shared[0], b)

    def by_damp(shared):
        return project(-2 * damp * np.sum(np.real(np.conj(shared[1]) * y[0])), damp)

    return y, (cotangents, (by_a, by_b, by_damp))


def twice_solved(f, a, d, options):
    """Return the solution of the normal equations, whose matrix is `a^H a`."""
    s = f(adjoint_of(a), d, **options)[0]
    if np.linalg.norm(adjoint_of(a) @ s - d) > 1e-7 * np.linalg.norm(d):
        raise np.linalg.LinAlgError(
            f"scipy.sparse.linalg.{f.__name__} has solved a system whose columns are "
            "dependent: its solution has no derivative"
        )
    return f(a, s, **options)[0]


@rule(twice_solved)
def _(f: object, a: Sparse | np.ndarray, d: np.ndarray, options: object):
    w = twice_solved(f, a, d, options)

    def pullback(dw):
        v = twice_solved(f, a, dw, options)
        left = np.stack([-(a @ w), -(a @ v)], axis=1)
        return None, by_matrix(a, left, np.stack([v, w], axis=1)), v, None

    return w, pullback


def damped(a, damp):
    """Return a matrix with the rows of `damp` times the identity below it."""
    if isinstance(a, np.ndarray):
        return np.vstack([a, damp * np.eye(a.shape[1])])
    return sp.vstack([a, damp * sp.eye_array(a.shape[1])]).tocsr()


least_squares_by(spl.lsqr, (1, 2, 4, 5))
least_squares_by(spl.lsmr, (1, 2, 4, 5))
