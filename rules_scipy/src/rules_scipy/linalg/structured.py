"""Structured matrices: Toeplitz, circulant, Hankel, block diagonal; and systems with them."""

import numpy as np
from scipy import linalg as sl

from rules_scipy.shared.linear.matrices import ArrayLike, conjugate
from rules_scipy.shared.linear.stacks import stacked
from rulescore import RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.linalg.structured")


def vectors(name, *given):
    """Refuse stacks of vectors."""
    if any(np.ndim(x) != 1 for x in given if x is not None):
        raise NotImplementedError(
            f"scipy.linalg.{name} has a rule for vectors only: call it for each vector, in a loop"
        )


def diagonal_sums(da):
    """Return the sums below the diagonal, with it, and above it, without it."""
    rows, columns = da.shape
    below = np.array([np.trace(da, -k) for k in range(rows)])
    return below, np.array([0.0] + [np.trace(da, k) for k in range(1, columns)])[:columns]


@rule(sl.toeplitz)
def _(c: ArrayLike):
    vectors("toeplitz", c)

    def pullback(dy):
        below, above = diagonal_sums(np.asarray(dy))
        return (project(below + conjugate(above), c),)

    return sl.toeplitz(c), pullback


@rule(sl.toeplitz)
def _(c: ArrayLike, r: ArrayLike):
    vectors("toeplitz", c, r)

    def by_c(dy):
        return project(diagonal_sums(np.asarray(dy))[0], c)

    def by_r(dy):
        return project(diagonal_sums(np.asarray(dy))[1], r)

    return sl.toeplitz(c, r), (by_c, by_r)


def circulant_sums(da):
    """Return the sums over the diagonals that go around."""
    n = len(da)
    at = np.arange(n)
    return np.array([np.sum(da[(at + k) % n, at]) for k in range(n)])


@rule.linear(sl.circulant)
def _(dy, c: ArrayLike):
    vectors("circulant", c)
    return circulant_sums(np.asarray(dy))


@rule(sl.hankel)
def _(c: ArrayLike):
    vectors("hankel", c)

    def pullback(dy):
        da = np.asarray(dy)[:, ::-1]
        n = len(da)
        return (project(np.array([np.trace(da, n - 1 - k) for k in range(n)]), c),)

    return sl.hankel(c), pullback


@rule(sl.hankel)
def _(c: ArrayLike, r: ArrayLike):
    vectors("hankel", c, r)

    def sums(dy):
        da = np.asarray(dy)[:, ::-1]
        rows, columns = da.shape
        return np.array([np.trace(da, columns - 1 - k) for k in range(rows + columns - 1)])

    def by_c(found):
        return project(found[: np.shape(c)[0]], c)

    def by_r(found):
        first = 0 * found[:1]  # the last entry of `c` stands there
        return project(np.concatenate([first, found[np.shape(c)[0] :]]), r)

    return sl.hankel(c, r), (sums, (by_c, by_r))


@rule(sl.companion)
def _(a: ArrayLike):
    vectors("companion", a)

    def pullback(dy):
        x, row = np.asarray(a), np.asarray(dy)[0]
        first = np.sum(row * conjugate(x[1:])) / conjugate(x[0]) ** 2
        return (project(np.concatenate([[first], -row / conjugate(x[0])]), a),)

    return sl.companion(a), pullback


@rule(sl.block_diag)
def _(*arrays: ArrayLike):
    def pullback(dy):
        found, i, j = [], 0, 0
        for x in arrays:
            rows, columns = np.atleast_2d(x).shape[-2:]
            block = dy[..., i : i + rows, j : j + columns]
            found.append(project(block if np.ndim(x) > 1 else block[..., 0, :], x))
            i, j = i + rows, j + columns
        return tuple(found)

    return sl.block_diag(*arrays), pullback


def column_and_row(c_or_cr):
    """Return the first column and row of a Toeplitz matrix."""
    if isinstance(c_or_cr, tuple):
        return map(np.asarray, c_or_cr)
    return np.asarray(c_or_cr), conjugate(np.asarray(c_or_cr))


def product_sums(y, x):
    """Return the sums along the diagonals of `y x^H`: below, with the diagonal, and above."""
    if not np.size(y):
        return np.zeros(np.shape(y)[0]), np.zeros(np.shape(x)[0])
    columns = [(y, x)] if np.ndim(x) == 1 else zip(y.T, x.T, strict=True)
    sums = sum([np.convolve(d, conjugate(z)[::-1]) for d, z in columns])
    last = np.shape(x)[0] - 1
    above = sums[last::-1]
    return sums[last:], np.concatenate([0 * above[:1], above[1:]])


def toeplitz_cotangent(c_or_cr, y, x):
    """Return the cotangent of what a Toeplitz matrix is given by, whose own is `y x^H`."""
    below, above = product_sums(y, x)
    if isinstance(c_or_cr, tuple):
        return project(below, c_or_cr[0]), project(above, c_or_cr[1])
    return project(below + conjugate(above), c_or_cr)


@rule(sl.solve_toeplitz)
@stacked(sl.solve_toeplitz, (1, 1), 12)
def _(c_or_cr: ArrayLike, b: ArrayLike, check_finite=True):
    y = sl.solve_toeplitz(c_or_cr, b, check_finite)

    def adjoint_solution(dy):
        c, r = column_and_row(c_or_cr)
        row = np.concatenate([c[:1], r[1:]])
        return sl.solve_toeplitz((conjugate(row), conjugate(c)), dy)

    def by_matrix(db):
        return toeplitz_cotangent(c_or_cr, -db, y)

    def by_b(db):
        return project(db, b)

    return y, (adjoint_solution, (by_matrix, by_b))


@rule(sl.matmul_toeplitz)
@stacked(sl.matmul_toeplitz, (1, 1), 12)
def _(c_or_cr: ArrayLike, x: ArrayLike, check_finite=False, workers=None):
    y = sl.matmul_toeplitz(c_or_cr, x, check_finite, workers)

    def by_matrix(dy):
        return toeplitz_cotangent(c_or_cr, dy, np.asarray(x))

    def by_x(dy):
        c, r = column_and_row(c_or_cr)
        row = np.concatenate([c[:1], r[1:]])
        return project(sl.matmul_toeplitz((conjugate(row), conjugate(c)), dy), x)

    return y, (by_matrix, by_x)


@rule(sl.solve_circulant)
def _(c: ArrayLike, b: ArrayLike, *, singular="raise", tol=None):
    vectors("solve_circulant", c)
    if singular != "raise":
        raise NotImplementedError(
            "scipy.linalg.solve_circulant has no rule for singular matrices: add a small number "
            "to `c[0]`"
        )
    y = sl.solve_circulant(c, b, singular, tol)
    if not np.size(y):
        return y, (lambda dy: project(np.zeros(np.shape(c)), c), lambda dy: project(dy, b))
    is_complex = np.iscomplexobj(y)

    def adjoint_solution(dy):
        values = conjugate(np.fft.fft(np.asarray(c)))  # the eigenvalues of the adjoint
        return np.fft.fft(dy, axis=0) / (values if np.ndim(dy) == 1 else values[:, None])

    def by_c(found):
        products = -found * conjugate(np.fft.fft(y, axis=0))
        dc = np.fft.ifft(products if np.ndim(products) == 1 else np.sum(products, axis=1))
        return project(dc, c)

    def by_b(found):
        db = np.fft.ifft(found, axis=0)
        return project(db if is_complex else np.real(db), b)

    return y, (adjoint_solution, (by_c, by_b))
