"""Forward rules by hand, of what programs call most: systems, factorizations, functions, spectra.

The rules that give the pullbacks stand in the other modules, with the examples of both.
"""

import numpy as np
from scipy import linalg as sl

from rules_scipy.linalg.basic import cofactors, factored_transpose, of_diagonal
from rules_scipy.linalg.factorizations import leaves_the_other, order_of, packed_lu
from rules_scipy.linalg.functions import along, undrawn
from rules_scipy.shared.linear.matrices import (
    ArrayLike,
    adjoint,
    conjugate,
    diagonal,
    given,
    over_gaps,
    read_of_structure,
    transpose,
)
from rulescore import RuleSet

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.linalg.basic")


def refuse_stacks(f, *xs):
    """Refuse stacks of matrices, which SciPy takes one after the other."""
    if any(np.ndim(x) > 2 for x in xs):
        raise NotImplementedError(
            f"scipy.linalg.{f.__name__} of stacks has no forward rule: call it for each matrix, "
            "in a loop"
        )


# -- systems of equations


@rule.forward(sl.inv)
def _(a: ArrayLike, overwrite_a=False, check_finite=True, *, assume_a=None, lower=False):
    y = sl.inv(a, False, check_finite, **given(assume_a=assume_a, lower=lower))

    def pushforward(da):
        if assume_a == "diagonal":
            return of_diagonal(np.conj(y), np.asarray(da))
        return -y @ read_of_structure(np.asarray(da), assume_a, lower) @ y

    return y, pushforward


@rule.forward(sl.det)
def _(a: ArrayLike, overwrite_a=False, check_finite=True):
    y = sl.det(a, False, check_finite)

    def pushforward(da):
        factors = factored_transpose(a, check_finite)
        return np.sum(conjugate(cofactors(a, y, factors)) * da, axis=(-2, -1))

    return y, pushforward


@rule.forward(sl.solve)
def _(
    a: ArrayLike,
    b: ArrayLike,
    lower=False,
    overwrite_a=False,
    overwrite_b=False,
    check_finite=True,
    assume_a=None,
    transposed=False,
):
    refuse_stacks(sl.solve, a, b)
    options = given(lower=lower, assume_a=assume_a, transposed=transposed)
    y = sl.solve(a, b, check_finite=check_finite, **options)

    def by_a(da):
        da = read_of_structure(np.asarray(da), assume_a, lower)
        return -(transpose(da) if transposed else da) @ y

    def by_b(db):
        return np.asarray(db)

    return y, ((by_a, by_b), lambda right: sl.solve(a, right, **options))


@rule.forward(sl.solve_triangular)
def _(
    a: ArrayLike,
    b: ArrayLike,
    trans=0,
    lower=False,
    unit_diagonal=False,
    overwrite_b=False,
    check_finite=True,
):
    refuse_stacks(sl.solve_triangular, a, b)
    options = (trans, lower, unit_diagonal, False, check_finite)
    y = sl.solve_triangular(a, b, *options)

    kind = {0: "N", 1: "T", 2: "C"}.get(trans, trans)

    def by_a(da):
        offset = 1 if unit_diagonal else 0
        da = np.tril(da, -offset) if lower else np.triu(da, offset)
        return -(transpose(da) if kind == "T" else adjoint(da) if kind == "C" else da) @ y

    def by_b(db):
        return np.asarray(db)

    return y, ((by_a, by_b), lambda right: sl.solve_triangular(a, right, *options))


# -- factorizations


def cholesky_tangent(y, da, lower):
    """Return the tangent of a Cholesky factor, for that of the matrix (Murray 2016)."""
    factor = y if lower else adjoint(y)
    da = read_of_structure(da, "hermitian", lower)
    left = sl.solve_triangular(factor, da, lower=True)
    inner = adjoint(sl.solve_triangular(factor, adjoint(left), lower=True))
    half = np.tril(inner, -1) + np.diag(np.real(np.diagonal(inner)) / 2)
    return factor @ half if lower else adjoint(factor @ half)


@rule.forward(sl.cholesky)
def _(a: ArrayLike, lower=False, overwrite_a=False, check_finite=True):
    refuse_stacks(sl.cholesky, a)
    y = sl.cholesky(a, lower, False, check_finite)
    return y, lambda da: cholesky_tangent(y, np.asarray(da), lower)


@rule.forward(sl.cho_factor)
def _(a: ArrayLike, lower=False, overwrite_a=False, check_finite=True):
    refuse_stacks(sl.cho_factor, a)
    y = sl.cho_factor(a, lower, False, check_finite)

    def pushforward(da):
        dc = cholesky_tangent(np.tril(y[0]) if lower else np.triu(y[0]), np.asarray(da), lower)
        other = np.triu(da, 1) if lower else np.tril(da, -1)
        return dc + other if leaves_the_other else dc, None

    return y, pushforward


@rule.forward(sl.cho_solve)
def _(c_and_lower: tuple, b: ArrayLike, overwrite_b=False, check_finite=True):
    c, lower = c_and_lower
    refuse_stacks(sl.cho_solve, c, b)
    y = sl.cho_solve(c_and_lower, b, False, check_finite)

    def by_factor(dc_and_lower):
        dc = dc_and_lower[0]
        if dc is None:
            return np.zeros_like(y)
        factor, moved = (np.tril(c), np.tril(dc)) if lower else (np.triu(c), np.triu(dc))
        half = moved @ adjoint(factor) if lower else adjoint(factor) @ moved
        return -(half + adjoint(half)) @ y

    def by_b(db):
        return np.asarray(db)

    return y, ((by_factor, by_b), lambda right: sl.cho_solve(c_and_lower, right))


@rule.forward(sl.lu_factor)
def _(a: ArrayLike, overwrite_a=False, check_finite=True):
    if np.ndim(a) != 2 or len(set(np.shape(a))) != 1:
        raise NotImplementedError(
            "scipy.linalg.lu_factor has a forward rule for square matrices: use `grad` or "
            "`pullback`, whose rule takes others"
        )
    y = sl.lu_factor(a, False, check_finite)

    def pushforward(da):
        low, up = packed_lu(y[0])
        left = sl.solve_triangular(low, np.asarray(da)[order_of(y[1], len(low))], lower=True)
        inner = sl.solve_triangular(up[:-1, :-1], transpose(left[:, :-1]), "T")
        below = np.tril(transpose(np.concatenate([inner, np.zeros_like(left[:1])])), -1)
        return low @ below + np.triu(left - below @ up), None

    return y, pushforward


@rule.forward(sl.lu_solve)
def _(lu_and_piv: tuple, b: ArrayLike, trans=0, overwrite_b=False, check_finite=True):
    lu, pivots = lu_and_piv
    refuse_stacks(sl.lu_solve, lu, b)
    y = sl.lu_solve(lu_and_piv, b, trans, False, check_finite)

    def by_factors(dfactors):
        dlu = dfactors[0]
        if dlu is None:
            return np.zeros_like(y)
        low, up = packed_lu(np.asarray(lu))
        da = np.zeros_like(low @ up)
        da[order_of(pivots, len(da))] = np.tril(dlu, -1) @ up + low @ np.triu(dlu)
        return -(transpose(da) if trans == 1 else adjoint(da) if trans == 2 else da) @ y

    def by_b(db):
        return np.asarray(db)

    return y, ((by_factors, by_b), lambda right: sl.lu_solve(lu_and_piv, right, trans))


# -- functions of matrices


def declare(f):
    """Declare the forward rule of a function of a matrix that is a power series."""
    inner = undrawn(f) if f is sl.logm else f

    @rule.forward(f)
    def _(A: ArrayLike):
        def pushforward(dA):
            return along(inner, np.asarray(A), np.asarray(dA))

        return f(A), pushforward


for f in (sl.expm, sl.logm, sl.sqrtm, sl.cosm, sl.sinm, sl.tanm, sl.coshm, sl.sinhm, sl.tanhm):
    declare(f)


# -- spectra


@rule.forward(sl.eigh)
def _(a: ArrayLike, *, lower=True, eigvals_only=False, **options):
    some = any(x is not None for n, x in options.items() if n.startswith("subset"))
    if some or np.ndim(a) > 2 or np.iscomplexobj(a):
        raise NotImplementedError(
            "scipy.linalg.eigh has a forward rule for all eigenvalues of one real matrix: call "
            "it for each matrix, and take a subset of what it returns"
        )
    y = sl.eigh(a, lower=lower, eigvals_only=eigvals_only, **options)

    def pushforward(da):
        w, v = sl.eigh(a, lower=lower) if eigvals_only else y
        inner = adjoint(v) @ read_of_structure(np.asarray(da), "hermitian", lower) @ v
        dw = np.real(np.diagonal(inner))
        return dw if eigvals_only else (dw, v @ over_gaps(inner, w, inner, "eigen"))

    return y, pushforward


@rule.forward(sl.svdvals)
def _(a: ArrayLike, overwrite_a=False, check_finite=True):
    y = sl.svdvals(a, False, check_finite)

    def pushforward(da):
        u, _, vh = np.linalg.svd(a, full_matrices=False)
        ds = np.real(diagonal(adjoint(u) @ np.asarray(da) @ adjoint(vh)))
        return np.where(y == 0, 0, ds)

    return y, pushforward
