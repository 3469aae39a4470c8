"""Systems of equations, solved with a factorization that the pullback solves with again.

A factorization goes with the matrix that it is of. Derivatives pass through the matrix alone.
"""

import numpy as np
from scipy import linalg as sl

from rules_scipy.shared.held import hold, hold_later
from rules_scipy.shared.linear.matrices import (
    ArrayLike,
    adjoint,
    conjugate,
    of_structure,
    outer,
    transpose,
)
from rules_scipy.shared.linear.triangles import PREFIX, routine
from rulescore import RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.linalg.factored")


class Factored:
    """Hold LAPACK's factorization of a matrix.

    Attributes:
        of: the matrix, as it was given.
        kind: "general", "transposed" for that of the transpose, "positive", "symmetric" or
            "hermitian".
        lower: which triangle is factorized.
        reads: the kind where the matrix is stated to be such, so that only this triangle counts;
            else "general", as where it was found to be such.
        parts: what LAPACK returned.
    """

    __slots__ = ("kind", "lower", "of", "parts", "reads")

    def __init__(self, of, kind, lower, reads, parts):
        self.of, self.kind, self.lower, self.reads, self.parts = of, kind, lower, reads, parts

    def parts_for(self, a):
        """Return the factorization of `a`, made anew for another matrix."""
        return self.parts if a is self.of else FACTORIZE[self.kind](np.asarray(a), self.lower)


def factored(a, b, assume_a, lower, check_finite):
    """Return the factorization by which SciPy solves a system, or `None`.

    There is none for a matrix that is singular or nearly so, of which SciPy warns; for stacks of
    matrices, which SciPy solves in C; for those whose structure makes factorizing them cheap; and
    for what SciPy refuses.
    """
    of, a, b = a, np.asarray(a), np.asarray(b)
    if a.ndim != 2 or b.ndim not in (1, 2) or a.size < 2 or not b.size:
        return None
    dtype = np.result_type(a, b, np.float32)
    if a.shape != (len(b), len(b)) or dtype.char not in PREFIX:
        return None
    if check_finite and not (np.all(np.isfinite(a)) and np.all(np.isfinite(b))):
        return None
    a = a.astype(dtype)
    for kind, triangle in kinds_of(a, assume_a, lower):
        found = FACTORIZE[kind](a, triangle)
        if found is not None:
            return Factored(of, kind, triangle, "general" if assume_a is None else kind, found)
    return None


def kinds_of(a, assume_a, lower):
    """Return the kinds of factorization to try, in SciPy's order, each with the triangle."""
    if assume_a is not None:
        kind = KINDS.get(assume_a)
        return () if kind is None else ((kind, bool(lower)),)
    below, above = sl.bandwidth(a)
    if below == 0 or above == 0 or (below <= 1 and above <= 1):
        return ()
    if sl.ishermitian(a):
        return ("positive", False), ("hermitian", False)
    return (("symmetric" if sl.issymmetric(a) else "general", False),)


KINDS = {
    "gen": "general",
    "general": "general",
    "pos": "positive",
    "positive definite": "positive",
    "sym": "symmetric",
    "symmetric": "symmetric",
    "her": "hermitian",
    "hermitian": "hermitian",
}


NEARLY_SINGULAR = {char: 8 * np.finfo(char).eps for char in PREFIX}


def well_conditioned(name, a, factor, *more, **options):
    """Return whether a system is far from one of which SciPy warns."""
    rcond, _ = routine(name, a)(factor, *more, routine("lange", a)("1", a), **options)
    return rcond > NEARLY_SINGULAR[a.dtype.char]


def factor_general(a, lower):
    """Return LU factors and pivots, or `None`."""
    lu, pivots, info = routine("getrf", a)(a)
    return (lu, pivots) if info == 0 and well_conditioned("gecon", a, lu) else None


def factor_positive(a, lower):
    """Return the Cholesky factor, or `None`."""
    c, info = routine("potrf", a)(a, lower=lower, clean=0)
    triangle = {"uplo": "L" if lower else "U"}
    return (c,) if info == 0 and well_conditioned("pocon", a, c, **triangle) else None


def factor_indefinite(kind):
    """Return a function that factorizes symmetric or Hermitian matrices."""

    def factor(a, lower):
        letters = letters_of(kind, a)
        ldu, pivots, info = routine(f"{letters}trf", a)(a, lower=lower)
        if info or not well_conditioned(f"{letters}con", a, ldu, pivots, lower=lower):
            return None
        return ldu, pivots

    return factor


def factor_transposed(a, lower):
    """Return LU factors and pivots of the transpose, or `None` where it is singular."""
    dtype = np.result_type(a, np.float32)
    lu, pivots, info = routine("getrf", np.zeros(0, dtype))(a.T)
    return (lu, pivots) if info == 0 else None


FACTORIZE = {
    "general": factor_general,
    "transposed": factor_transposed,
    "positive": factor_positive,
    "symmetric": factor_indefinite("symmetric"),
    "hermitian": factor_indefinite("hermitian"),
}


def solve_with(factors, a, b, trans=0):
    """Solve `op(a) x = b`; `trans` is 0, 1 or 2 for `a` itself, its transpose or its adjoint."""
    kind, lower, parts = factors.kind, factors.lower, factors.parts_for(a)
    if kind == "general" or (kind == "transposed" and trans < 2):
        trans = trans if kind == "general" else 1 - trans
        return routine("getrs", parts[0])(*parts, b, trans=trans)[0]
    if kind == "transposed":
        return conjugate(solve_with(factors, a, conjugate(b), 1))
    if np.iscomplexobj(parts[0]) and trans == (2 if kind == "symmetric" else 1):
        return conjugate(solve_with(factors, a, conjugate(b)))
    letters = "po" if kind == "positive" else letters_of(kind, parts[0])
    return routine(f"{letters}trs", parts[0])(*parts, b, lower=lower)[0]


def letters_of(kind, a):
    """Return the letters that stand for an indefinite matrix in the names of LAPACK's routines."""
    return "he" if kind == "hermitian" and np.iscomplexobj(a) else "sy"


def solution(factors, a, b, trans=0):
    """Return the solution of `op(a) x = b`, and the parts of its pullback by `a` and `b`."""
    x = solve_with(factors, a, b, trans)

    def adjoint_solution(dx):
        if trans == 1:
            return conjugate(solve_with(factors, a, conjugate(dx), 0))
        return solve_with(factors, a, dx, 2 - trans)

    def by_a(db):
        da = -outer(db, x)
        da = transpose(da) if trans == 1 else adjoint(da) if trans == 2 else da
        return project(of_structure(da, factors.reads, factors.lower), a)

    def by_b(db):
        return project(db, b)

    return x, (adjoint_solution, (by_a, by_b))


@rule(solve_with)
def _(factors: object, a: ArrayLike, b: ArrayLike, trans=0):
    x, (shared, parts) = solution(factors, a, b, trans)
    return x, (shared, (None, *parts))


def factored_transpose(a, check_finite):
    """Return the factorization that SciPy's determinant is of, or `None`.

    There is none for stacks of matrices, for singular ones, and for what SciPy refuses.
    """
    x = np.asarray(a)
    if x.ndim != 2 or x.shape[0] != x.shape[1] or x.size < 2:
        return None
    refused = np.result_type(x, np.float32).char not in PREFIX
    if refused or (check_finite and not np.all(np.isfinite(x))):
        return None
    parts = factor_transposed(x, False)
    return None if parts is None else Factored(a, "transposed", False, "general", parts)


def determinant(factors, a):
    """Return the determinant: the product of LAPACK's pivots of the transpose, in their order."""
    lu, pivots = factors.parts_for(a)
    y = 1.0
    for x in np.diagonal(lu).tolist():
        y = y * x
    odd = np.count_nonzero(pivots != np.arange(len(pivots))) % 2
    return (np.complex128 if np.iscomplexobj(lu) else np.float64)(-y if odd else y)


def regular_cofactors(factors, a, y):
    """Return the conjugated cofactors of a matrix with the determinant `y`."""
    dtype = factors.parts[0].dtype
    return conjugate(y) * solve_with(factors, a, np.eye(len(a), dtype=dtype), 2)


@rule(determinant)
def _(factors: object, a: ArrayLike):
    y = determinant(factors, a)

    def pullback(dy):
        return None, project(dy * regular_cofactors(factors, a, y), a)

    return y, pullback


rule.constant(factored, factored_transpose, hold, hold_later)
