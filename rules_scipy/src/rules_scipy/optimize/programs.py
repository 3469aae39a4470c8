"""Linear problems with bounds: least squares, programs, assignments, and isotonic regression."""

import numpy as np
from scipy import optimize as so

from rules_scipy.shared.implicit import solved
from rules_scipy.shared.solvers import entries_of, parts_of, refuse_unsolved, solver
from rulescore import Numeric, RuleSet, project, stop_gradient

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.optimize.programs")
Given = Numeric | list | tuple
NEAR = 1e-9  # of the size of what is compared


@rule(so.nnls)
def _(A: Given, b: Given, *, maxiter=None, **options):
    y = so.nnls(A, b, maxiter=maxiter, **options)

    def pullback(dy):
        dx, dnorm = entries_of(dy, so.nnls, True, (0, 1))
        a, x = np.asarray(A, float), y[0]
        left = np.ravel(np.asarray(b, float)) - a @ x
        free = x > 0
        regular(free, a, left, so.nnls)
        dleft = None if dnorm is None or y[1] == 0 else dnorm * left / y[1]
        da, db = of_least_squares(a, x, left, free, dx, dleft, so.nnls)
        return project(da, A), project(db.reshape(np.shape(b)), b)

    return y, pullback


def refuse_sparse(f, *matrices):
    """Raise `NotImplementedError` for sparse matrices."""
    if any(hasattr(a, "tocsr") or hasattr(a, "matvec") for a in matrices):
        raise NotImplementedError(
            f"scipy.optimize.{f.__name__} has no rule for sparse matrices and operators: give it "
            "`A.toarray()`"
        )


@solver(rule, so.lsq_linear, by=("A", "b"))
def _(ad, y, given):
    refuse_sparse(so.lsq_linear, given["A"])

    def pullback(dy):
        refuse_unsolved(so.lsq_linear, y.success)
        dx, dresiduals, dcost = parts_of(dy, so.lsq_linear, ("x", "fun", "cost"))
        a, x = np.asarray(given["A"], float), y.x
        left = np.asarray(given["b"], float) - a @ x
        dleft = np.zeros(left.shape)
        dleft = dleft if dresiduals is None else dleft - dresiduals
        dleft = dleft if dcost is None else dleft + dcost * left
        free = y.active_mask == 0
        regular(free, a, left, so.lsq_linear)
        da, db = of_least_squares(a, x, left, free, dx, dleft, so.lsq_linear)
        return {"A": project(da, given["A"]), "b": project(db, given["b"])}

    return pullback


def regular(free, a, left, f):
    """Raise `LinAlgError` where a bound holds an entry that would stay without it."""
    scale = np.linalg.norm(a, axis=0) * np.linalg.norm(left)
    if np.any((np.abs(a.T @ left) <= NEAR * scale)[~free]):
        raise np.linalg.LinAlgError(
            f"scipy.optimize.{f.__name__} has a solution at a bound that does not hold it: its "
            "derivative differs by the side"
        )


def of_least_squares(a, x, left, free, dx, dleft, f):
    """Return the cotangents of a matrix and vector whose least squares have a solution.

    Arguments:
        a, x, left: the matrix, the solution, and what is left of the vector.
        free: which entries of the solution no bound holds.
        dx, dleft: the cotangents of the solution and of what is left; `None` for none.
        f: SciPy's function.
    """
    dx = np.zeros(x.shape) if dx is None else dx
    dleft = np.zeros(left.shape) if dleft is None else dleft
    w = np.zeros(x.shape)
    part = a[:, free]
    w[free] = solved(part.T @ part, dx[free] - part.T @ dleft,
                     f"the problem that scipy.optimize.{f.__name__} has solved")  # fmt: skip
    db = a @ w + dleft
    da = np.outer(left, w) - np.outer(db, x)
    return da, db


@rule(so.isotonic_regression)
def _(y: Given, *, weights=None, increasing=True):
    found = so.isotonic_regression(y, weights=weights, increasing=increasing)

    def pullback(dfound):
        (dx,) = parts_of(dfound, so.isotonic_regression, ("x",))
        if dx is None:
            return (None,)
        w = np.ones(len(found.x)) if weights is None else np.asarray(weights, float)
        blocks = stop_gradient(found.blocks)
        first, sizes = blocks[:-1], np.diff(blocks)
        means = np.add.reduceat(dx, first) / np.add.reduceat(w, first)
        return (project(w * np.repeat(means, sizes), y),)

    return found, pullback


rule.constant(so.linear_sum_assignment)  # indices; the cost is a sum of entries of the matrix


@solver(rule, so.linprog, by=("c", "A_ub", "b_ub", "A_eq", "b_eq"))
def _(ad, y, given):
    """Pull back the solution and the optimal value.

    At a corner as many constraints hold as there are unknowns. The solution solves these equations,
    and the multipliers the transposed ones, with the costs: they are the derivatives of the value.
    """
    refuse_sparse(so.linprog, given["A_ub"], given["A_eq"])

    def pullback(dy):
        refuse_unsolved(so.linprog, y.success)
        dx, dvalue = parts_of(dy, so.linprog, ("x", "fun"))
        if dx is None and dvalue is None:
            return {}
        unique(y, given)
        held, sides = held_by_bounds(y)
        parts, rows, of_sides = [], [np.eye(len(y.x))[held]], [sides]
        for a, b, chosen in (("A_ub", "b_ub", those_that_hold(y)), ("A_eq", "b_eq", slice(None))):
            if given[a] is not None:
                parts.append((a, b, chosen))
                rows.append(np.asarray(given[a], float)[chosen])
                of_sides.append(np.ravel(np.asarray(given[b], float))[chosen])
        M, about = np.concatenate(rows), "the corner that scipy.optimize.linprog has found"
        x = solved(M, np.concatenate(of_sides), about)
        found, weights = {}, np.zeros(len(M))
        if dvalue is not None:
            c = np.ravel(np.asarray(given["c"], float))
            found["c"] = project(np.reshape(dvalue * x, np.shape(given["c"])), given["c"])
            weights = weights + dvalue * solved(M.T, c, about)
        if dx is not None:
            weights = weights + solved(M.T, dx, about)
        ends = np.cumsum([len(part) for part in rows])
        for (a, b, chosen), begin, end in zip(parts, ends[:-1], ends[1:], strict=True):
            da, db = np.zeros(np.shape(given[a])), np.zeros(np.size(given[b]))
            da[chosen] = -np.outer(weights[begin:end], x)
            db[chosen] = weights[begin:end]
            found[a] = project(da, given[a])
            found[b] = project(np.reshape(db, np.shape(given[b])), given[b])
        return found

    return pullback


def held_by_bounds(y):
    """Return which unknowns of a linear program are at a bound, and at which number."""
    is_held = holding(y.lower, y) | holding(y.upper, y)
    return np.flatnonzero(is_held), y.x[is_held]


def those_that_hold(y):
    """Return the inequalities that the solution of a linear program fulfils as equations."""
    return np.flatnonzero(holding(y.ineqlin, y))


def holding(found, y):
    """Return which of some constraints have nothing left."""
    return np.abs(found.residual) <= NEAR * (1 + np.max(np.abs(y.x), initial=0.0))


rule.constant(held_by_bounds, those_that_hold)


def unique(y, given):
    """Raise `LinAlgError` where the solution of a linear program or its multipliers are not unique.

    They are where as many constraints hold as there are unknowns, each by a multiplier.
    """
    if given["integrality"] is not None and np.any(given["integrality"]):
        raise NotImplementedError(
            "scipy.optimize.linprog has no rule for integers: leave `integrality` out"
        )
    holds, multipliers = [], []
    for found in (y.ineqlin, y.lower, y.upper):
        holds.append(holding(found, y))
        multipliers.append(np.abs(found.marginals) > NEAR)
    held = sum(map(np.sum, holds)) + np.size(y.eqlin.residual)
    firmly = sum(np.sum(h & m) for h, m in zip(holds, multipliers, strict=True))
    if not firmly + np.size(y.eqlin.residual) == held == np.size(y.x):
        raise np.linalg.LinAlgError(
            "scipy.optimize.linprog has found a solution that is not unique, or multipliers that "
            "are not: its value has no derivative"
        )
