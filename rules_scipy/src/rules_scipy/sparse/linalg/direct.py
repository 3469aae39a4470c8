"""Solutions by factors: `spsolve`, triangular systems, `splu` with its `solve`, and `inv`."""

import numpy as np
from scipy import sparse as sp
from scipy.sparse import linalg as spl

from rules_scipy.sparse.construction import of_dense
from rules_scipy.sparse.products import adjoint, as_columns, with_rows
from rules_scipy.sparse.values import Sparse, coordinates, filled, stored, unshared
from rulescore import RuleSet, accumulate, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.sparse.linalg.direct")
Dense = np.ndarray


def refuse_singular(x, name):
    """Raise `LinAlgError` for a solution that is not finite, as that of a singular system."""
    if not np.all(np.isfinite(x)):
        raise np.linalg.LinAlgError(f"scipy.sparse.linalg.{name} has solved a singular system")


rule.constant(refuse_singular)


@rule(spl.spsolve)
def _(A: Sparse, b: Dense | list, permc_spec=None, use_umfpack=True):
    y = spl.spsolve(unshared(A), b, permc_spec, use_umfpack)

    def adjoint_solution(dy):
        refuse_singular(y, "spsolve")
        return spl.spsolve(adjoint(A).tocsc(), dy, permc_spec, use_umfpack)

    def by_a(w):
        return project(with_rows(A, -as_columns(w), as_columns(y)), A)

    def by_b(w):
        return project(np.reshape(w, np.shape(b)), b)

    return y, (adjoint_solution, (by_a, by_b))


def triangle(a, lower):
    """Return a triangular matrix without the zeros that it stores in the other triangle.

    SciPy divides by zero where an upper one with a unit diagonal stores some.
    """
    if not is_padded(a, lower):
        return unshared(a)
    return (sp.tril(a) if lower else sp.triu(a)).asformat(a.format)


def is_padded(a, lower):
    """Return whether a matrix stores zeros, and nothing else, in the other triangle."""
    rest = sp.triu(a, 1) if lower else sp.tril(a, -1)
    return rest.nnz > 0 and rest.count_nonzero() == 0


rule.constant(is_padded)


@rule(spl.spsolve_triangular)
def _(A: Sparse, b: Dense, lower=True, overwrite_A=False, overwrite_b=False, unit_diagonal=False):
    y = spl.spsolve_triangular(triangle(A, lower), b, lower, unit_diagonal=unit_diagonal)

    def adjoint_solution(dy):
        matrix = triangle(adjoint(A).tocsr(), not lower)
        return spl.spsolve_triangular(matrix, dy, not lower, unit_diagonal=unit_diagonal)

    def by_a(w):
        found = with_rows(A, -as_columns(w), as_columns(y))
        rows, columns = coordinates(A)
        below = rows - columns if lower else columns - rows
        inside = below > 0 if unit_diagonal else below >= 0
        return project(filled(A, np.where(inside, stored(found), 0.0)), A)

    def by_b(w):
        return project(w, b)

    return y, (adjoint_solution, (by_a, by_b))


@rule(spl.inv)
def _(A: Sparse):
    y, pullback = of_dense(type(spl.inv(A)), spl.inv(A).toarray())

    def by_a(dy):
        inverse = y.toarray()
        return project(with_rows(A, -np.conj(inverse.T) @ pullback(dy)[0], inverse), A)

    return y, lambda dy: (by_a(dy),)


# -- factors that are kept -----------------------------------------------------------------------


class Outer:
    """The cotangent of the factors of a matrix: `left @ right.conj().T`, wherever it is asked."""

    def __init__(self, left, right):
        self.left, self.right = left, right


@rule.method(project)
def _(dx: object, x: spl.SuperLU):
    return dx if isinstance(dx, Outer) else None


@rule.method(accumulate)
def _(a: Outer, b: Outer):
    return Outer(np.hstack([a.left, b.left]), np.hstack([a.right, b.right]))


def factors_of(a, **options):
    """Return the factors of a matrix by SuperLU."""
    return spl.splu(unshared(a), **options)


@rule(spl.splu)
def _(
    A: Sparse, permc_spec=None, diag_pivot_thresh=None, relax=None, panel_size=None, options=None
):
    y = factors_of(A, permc_spec=permc_spec, diag_pivot_thresh=diag_pivot_thresh, relax=relax,
                   panel_size=panel_size, options=options)  # fmt: skip
    return y, lambda dy: (project(with_rows(A, dy.left, dy.right), A),)


@rule(spl.SuperLU.solve)
def _(lu: spl.SuperLU, rhs: Dense, trans="N"):
    x = lu.solve(rhs, trans)

    def adjoint_solution(dy):
        dy = np.asarray(dy, x.dtype)
        if trans == "T":
            return np.conj(lu.solve(np.conj(dy)))
        return lu.solve(dy, "H" if trans == "N" else "N")

    def by_factors(w):
        w, y = as_columns(w), as_columns(x)
        if trans == "N":
            return Outer(-w, y)
        return Outer(-np.conj(y), np.conj(w)) if trans == "T" else Outer(-y, w)

    def by_rhs(w):
        return project(w, rhs)

    return x, (adjoint_solution, (by_factors, by_rhs))
