"""The routines of LAPACK that libraries call directly, by their wrappers."""

import numpy as np
from scipy.linalg import LinAlgError, eigh, lapack

from rules_scipy.linalg.factorizations import (
    cholesky_cotangent,
    of_cholesky,
    of_lu,
    packed_cotangent,
    packed_lu_cotangent,
)
from rules_scipy.linalg.spectra import among_all, hermitian_cotangents
from rules_scipy.shared.linear.matrices import (
    ArrayLike,
    adjoint,
    conjugate,
    of_hermitian,
    transpose,
)
from rules_scipy.shared.linear.wrappers import (
    columns,
    each_precision,
    like,
    refuse_overwriting,
    triangle,
)
from rulescore import RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.linalg.lapack")


def succeeded(info):
    """Raise `LinAlgError` where LAPACK has told that a matrix is not as it has to be.

    It returns a negative number for arguments that it refuses, such as empty ones in some routines.
    """
    if info > 0:
        raise LinAlgError(f"LAPACK returned info={info}, and its result has no gradient")


def other(a, lower):
    """Return the triangle that is not read."""
    return np.triu(a, 1) if lower else np.tril(a, -1)


def by_first(y, x, cotangent):
    """Return the pullback by `x` of a routine that returns first what alone has a gradient."""

    def pullback(dy):
        if dy[0] is None:
            return None
        succeeded(y[-1])
        return project(cotangent(dy[0]), x)

    return pullback


def outer(db, x):
    """Return `db x^H` of columns."""
    return np.atleast_2d(db.T).T @ adjoint(np.atleast_2d(x.T).T)


def declare_cholesky(f, name, dtype):
    """Declare a Cholesky factorization."""

    @rule(f)
    def _(a: ArrayLike, lower=0, clean=1, overwrite_a=0):
        if overwrite_a:
            refuse_overwriting(name, dtype, a)
        y = f(a, lower, clean)

        def of_matrix(dc):
            if not clean:
                return packed_cotangent(y[0], dc, lower)
            return cholesky_cotangent(y[0], triangle(dc, lower), lower)

        return y, (by_first(y, a, of_matrix),)


def declare_cholesky_solution(f, name, dtype):
    """Declare the solution of a system by a Cholesky factor."""

    @rule(f)
    def _(c: ArrayLike, b: ArrayLike, lower=0, overwrite_b=0):
        if overwrite_b:
            refuse_overwriting(name, dtype, b)
        y = f(c, b, lower)

        def adjoint_solution(dy):
            return None if dy[0] is None else f(c, dy[0], lower)[0]

        def by_factor(db):
            if db is None:
                return None
            return project(of_cholesky(-outer(db, y[0]), columns(c, dtype), lower), c)

        def by_b(db):
            return None if db is None else project(like(db, b), b)

        return y, (adjoint_solution, (by_factor, by_b))


def declare_cholesky_inverse(f, name, dtype):
    """Declare a triangle of the inverse, by a Cholesky factor."""

    @rule(f)
    def _(c: ArrayLike, lower=0, overwrite_c=0):
        if overwrite_c:
            refuse_overwriting(name, dtype, c)
        y = f(c, lower)

        def of_factor(dinverse):
            half = triangle(y[0], lower, unit=True)
            inverse = half + adjoint(half) + np.diag(np.diagonal(y[0]))
            da = -inverse @ triangle(dinverse, lower) @ inverse
            return of_cholesky(da, columns(c, dtype), lower) + other(dinverse, lower)

        return y, (by_first(y, c, of_factor),)


def declare_lu(f, name, dtype):
    """Declare an LU factorization."""

    @rule(f)
    def _(a: ArrayLike, overwrite_a=0):
        if overwrite_a:
            refuse_overwriting(name, dtype, a)
        y = f(a)
        return y, (by_first(y, a, lambda dlu: packed_lu_cotangent(y[0], y[1], dlu)),)


def of_turned(da, trans):
    """Return the cotangent of a matrix for that of its transpose or adjoint."""
    return transpose(da) if trans == 1 else adjoint(da) if trans == 2 else da


def declare_lu_solution(f, name, dtype):
    """Declare the solution of a system by LU factors."""

    @rule(f)
    def _(lu: ArrayLike, piv: object, b: ArrayLike, trans=0, overwrite_b=0):
        if overwrite_b:
            refuse_overwriting(name, dtype, b)
        y = f(lu, piv, b, trans)

        def adjoint_solution(dy):
            if dy[0] is None:
                return None
            if trans == 1:
                return conjugate(f(lu, piv, conjugate(dy[0]), 0)[0])
            return f(lu, piv, dy[0], 2 - trans)[0]

        def by_factors(db):
            if db is None:
                return None
            da = of_turned(-outer(db, y[0]), trans)
            return project(of_lu(da, columns(lu, dtype), piv), lu)

        def by_b(db):
            return None if db is None else project(like(db, b), b)

        return y, (adjoint_solution, (by_factors, None, by_b))


def declare_lu_inverse(f, name, dtype):
    """Declare the inverse by LU factors."""

    @rule(f)
    def _(lu: ArrayLike, piv: object, lwork=None, overwrite_lu=0):
        if overwrite_lu:
            refuse_overwriting(name, dtype, lu)
        y = f(lu, piv)

        def of_factors(dinverse):
            da = -adjoint(y[0]) @ dinverse @ adjoint(y[0])
            return of_lu(da, columns(lu, dtype), piv)

        return y, (by_first(y, lu, of_factors), None)


def declare_triangular_solution(f, name, dtype):
    """Declare the solution of a triangular system."""

    @rule(f)
    def _(a: ArrayLike, b: ArrayLike, lower=0, trans=0, unitdiag=0, lda=None, overwrite_b=0):
        if overwrite_b:
            refuse_overwriting(name, dtype, b)
        y = f(a, b, lower, trans, unitdiag)

        def adjoint_solution(dy):
            if dy[0] is None:
                return None
            succeeded(y[1])
            if trans == 1:
                return conjugate(f(a, conjugate(dy[0]), lower, 0, unitdiag)[0])
            return f(a, dy[0], lower, 2 - trans, unitdiag)[0]

        def by_a(db):
            if db is None:
                return None
            return project(triangle(of_turned(-outer(db, y[0]), trans), lower, unitdiag), a)

        def by_b(db):
            return None if db is None else project(like(db, b), b)

        return y, (adjoint_solution, (by_a, by_b))


def declare_triangular_inverse(f, name, dtype):
    """Declare the inverse of a triangle."""

    @rule(f)
    def _(c: ArrayLike, lower=0, unitdiag=0, overwrite_c=0):
        if overwrite_c:
            refuse_overwriting(name, dtype, c)
        y = f(c, lower, unitdiag)

        def of_triangle(dinverse):
            inverse = triangle(y[0], lower, unitdiag) + (np.eye(len(y[0])) if unitdiag else 0)
            read = triangle(dinverse, lower, unitdiag)
            dc = triangle(-adjoint(inverse) @ read @ adjoint(inverse), lower, unitdiag)
            return dc + dinverse - read

        return y, (by_first(y, c, of_triangle),)


def declare_system(f, name, dtype, solve):
    """Declare the factors and the solution of a system; `solve` solves with the factors."""

    @rule(f)
    def _(a: ArrayLike, b: ArrayLike, overwrite_a=0, overwrite_b=0):
        if overwrite_a:
            refuse_overwriting(name, dtype, a)
        if overwrite_b:
            refuse_overwriting(name, dtype, b)
        y = lu, piv, x, info = f(a, b)

        def adjoint_solution(dy):
            if dy[0] is not None or dy[2] is not None:
                succeeded(info)
            return dy[0], None if dy[2] is None else solve(lu, piv, dy[2], 2)[0]

        def by_a(found):
            dlu, db = found
            da = None if db is None else -outer(db, x)
            if dlu is not None:
                da = (0 if da is None else da) + packed_lu_cotangent(lu, piv, dlu)
            return None if da is None else project(da, a)

        def by_b(found):
            return None if found[1] is None else project(like(found[1], b), b)

        return y, (adjoint_solution, (by_a, by_b))


def declare_positive_system(f, name, dtype, solve):
    """Declare the same for a positive definite matrix."""

    @rule(f)
    def _(a: ArrayLike, b: ArrayLike, lower=0, overwrite_a=0, overwrite_b=0):
        if overwrite_a:
            refuse_overwriting(name, dtype, a)
        if overwrite_b:
            refuse_overwriting(name, dtype, b)
        y = c, x, info = f(a, b, lower)

        def adjoint_solution(dy):
            if dy[0] is not None or dy[1] is not None:
                succeeded(info)
            return dy[0], None if dy[1] is None else solve(c, dy[1], lower)[0]

        def by_a(found):
            dc, db = found
            da = None if db is None else of_hermitian(-outer(db, x), lower)
            if dc is not None:
                da = (0 if da is None else da) + packed_cotangent(c, dc, lower)
            return None if da is None else project(da, a)

        def by_b(found):
            return None if found[1] is None else project(like(found[1], b), b)

        return y, (adjoint_solution, (by_a, by_b))


def declare_spectrum(f, name, dtype):
    """Declare eigenvalues and eigenvectors of a symmetric or Hermitian matrix."""

    @rule(f)
    def _(
        a: ArrayLike,
        compute_v=1,
        range="A",
        lower=0,
        vl=0.0,
        vu=1.0,
        il=1,
        iu=None,
        abstol=0.0,
        lwork=None,
        lrwork=None,
        liwork=None,
        overwrite_a=0,
    ):
        if overwrite_a:
            refuse_overwriting(name, dtype, a)
        last = {} if iu is None else {"iu": iu}
        y = f(a, compute_v, range, lower, vl=vl, vu=vu, il=il, abstol=abstol, **last)

        def pullback(dy):
            dw, dv = dy[0], dy[1] if compute_v else None
            if dw is None and dv is None:
                return (None,)
            succeeded(y[-1])
            count = y[2]
            w, v = y[0][:count], y[1][:, :count] if compute_v else None
            dw = None if dw is None else dw[:count]
            dv = None if dv is None else dv[:, :count]
            matrix = columns(a, dtype)
            if v is None or count < len(matrix):
                whole = eigh(matrix, lower=bool(lower))
                w, v, dw, dv = among_all(*whole, w, v, dw, dv)
            return (project(of_hermitian(hermitian_cotangents(w, v, dw, dv)[0], lower), a),)

        return y, pullback


for names, declare in (
    ("potrf", declare_cholesky),
    ("potrs", declare_cholesky_solution),
    ("potri", declare_cholesky_inverse),
    ("getrf", declare_lu),
    ("getrs", declare_lu_solution),
    ("getri", declare_lu_inverse),
    ("trtrs", declare_triangular_solution),
    ("trtri", declare_triangular_inverse),
):
    for f, name, dtype in each_precision(lapack, names):
        declare(f, name, dtype)
for f, name, dtype in each_precision(lapack, "gesv"):
    declare_system(f, name, dtype, getattr(lapack, name[-5] + "getrs"))
for f, name, dtype in each_precision(lapack, "posv"):
    declare_positive_system(f, name, dtype, getattr(lapack, name[-5] + "potrs"))
for f, name, dtype in (
    *each_precision(lapack, "syevr", letters="sd"),
    *each_precision(lapack, "heevr", letters="cz"),
):
    declare_spectrum(f, name, dtype)
rule.constant(lapack.get_lapack_funcs)
