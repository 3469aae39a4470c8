"""Forward rules of `scipy.linalg` along a direction, against differences of the function."""

import numpy as np
import pytest
from scipy import linalg as sl

from rulescore import frule
from zygote_lite import gradient, jvp

RNG = np.random.default_rng(0)
A = RNG.normal(size=(3, 3)) + 4 * np.eye(3)
D, B, E = (RNG.normal(size=shape) for shape in ((3, 3), (3, 2), (3, 2)))
S = A @ A.T
CALLS = [
    (sl.solve, (A, B), (D, E), {}),
    (sl.solve, (S, B), (D, E), {"assume_a": "pos", "lower": True}),
    (sl.solve_triangular, (A, B), (D, None), {"trans": 1, "unit_diagonal": True}),
    (sl.det, (A,), (D,), {}),
    (sl.cholesky, (S,), (D,), {"lower": True}),
    (sl.cho_factor, (S,), (D,), {}),
    (sl.lu_factor, (A[::-1],), (D,), {}),
    (sl.expm, (A,), (D,), {}),
    (sl.logm, (S,), (D,), {}),
    (sl.sqrtm, (S,), (D,), {}),
    (sl.eigh, (S,), (D,), {}),
    (sl.svdvals, (B,), (E,), {}),
]


def first(y):
    return y[0] if isinstance(y, tuple) else y


@pytest.mark.parametrize(("f", "xs", "dxs", "options"), CALLS)
def test_along_a_direction(f, xs, dxs, options):
    def at(h):
        moved = [x if d is None else x + h * d for x, d in zip(xs, dxs, strict=True)]
        return first(f(*moved, **options))

    y, dy = frule((None, *dxs), f, *xs, **options)
    np.testing.assert_array_equal(first(y), at(0.0))
    slope = (8 * (at(1e-4) - at(-1e-4)) - (at(2e-4) - at(-2e-4))) / 12e-4
    np.testing.assert_allclose(first(dy), slope, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("trans", [0, 1])
def test_solutions_with_factors(trans):
    (_, lu), (dlu, _) = ((0, sl.lu_factor(A)), frule((None, D), sl.lu_factor, A)[1])
    _, dy = frule((None, (dlu, None), E), sl.lu_solve, lu, B, trans=trans)
    matrix, dmatrix = (A.T, D.T) if trans else (A, D)
    y = np.linalg.solve(matrix, B)
    np.testing.assert_allclose(dy, np.linalg.solve(matrix, E - dmatrix @ y))
    (c, lower), (dc, _) = frule((None, D), sl.cho_factor, S, lower=bool(trans))
    _, dy = frule((None, (dc, None), E), sl.cho_solve, (c, lower), B)
    read = np.tril(D) if trans else np.triu(D)
    y = np.linalg.solve(S, B)
    both = read + read.T - np.diag(np.diag(D))
    np.testing.assert_allclose(dy, np.linalg.solve(S, E - both @ y))


@pytest.mark.parametrize(
    "det",
    [lambda a: sl.det(a, overwrite_a=True), lambda a: sl.det(a, True)],
    ids=["by name", "by position"],
)
def test_what_may_be_overwritten_is_read_before_and_left_as_it_is(det):
    def f(a):
        first = a[0, 0] ** 2
        return first * det(a)

    def g(a):
        return sl.det(a) * a[0, 0] ** 2

    rng = np.random.default_rng(0)
    a, da = rng.normal(size=(2, 3, 3))
    kept = a.copy()
    for _ in range(4):
        np.testing.assert_allclose(jvp(f, (a,), (da,)), jvp(g, (kept,), (da,)), rtol=1e-12)
        np.testing.assert_allclose(gradient(f, a)[0], gradient(g, kept)[0], rtol=1e-12)
        assert (a == kept).all()
