"""Rules of `rules_scipy.linalg.factored`, and which pullbacks factorize nothing anew."""

import sys
import warnings

import numpy as np
import pytest
from scipy import linalg as sl
from scipy.linalg import lapack

from rulescore import rrule
from rulescore.testing import check_rrule


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


MATRIX = np.array([[2.5, -1.5, 0.5, 0.1], [0.75, 1.25, -0.25, 0.3], [-0.5, 1.0, 1.75, 0.2],
                   [0.3, -0.2, 0.6, 3.0]])  # fmt: skip
DEFINITE = MATRIX @ MATRIX.T + np.eye(4)
VECTOR = np.array([0.5, -1.5, 2.0, 0.3])
UPPER = np.array([[0.0, 0.5, 0.4, 0.3], [3.0, 4.0, 5.0, 6.0]])
BANDS = np.vstack([UPPER[1] / 9, UPPER[1], UPPER[0]])
SOLVE = sl.solve  # which is replaced to be counted
ROUTINES = ("trf", "sv", "svx", "qrf", "qp3", "gqf", "evr", "evd", "ev", "evx", "sdd", "svd", "es")
REUSING = [
    (sl.solve, (MATRIX, VECTOR), {}),
    (sl.solve, (DEFINITE, VECTOR), {}),
    (sl.solve, (MATRIX, VECTOR), {"assume_a": "gen", "transposed": True}),
    *[(sl.solve, (DEFINITE, VECTOR), {"assume_a": kind}) for kind in ("pos", "sym", "her")],
    *[(f, (MATRIX,), {}) for f in (sl.inv, sl.det, sl.lu, sl.lu_factor, sl.qr, sl.rq, sl.polar)],
    (sl.qr, (MATRIX[:, :3],), {"mode": "r"}),
    (sl.qr, (MATRIX[:, :3],), {"mode": "economic", "pivoting": True}),
    *[(f, (DEFINITE,), {}) for f in (sl.cholesky, sl.cho_factor, sl.ldl, sl.eigh)],
    (sl.expm, (MATRIX,), {}),
    (sl.eigh, (DEFINITE, DEFINITE + MATRIX.T), {}),
    (sl.eig_banded, (UPPER,), {}),
    (sl.eigh_tridiagonal, (UPPER[1], UPPER[0, 1:]), {}),
    (sl.schur, (DEFINITE,), {}),
    (sl.hessenberg, (MATRIX,), {"calc_q": True}),
    (sl.pinvh, (DEFINITE,), {}),
    (sl.solve_toeplitz, (UPPER[1], VECTOR), {}),
    (sl.solve_circulant, (VECTOR, VECTOR), {}),
    (sl.svd, (MATRIX,), {}),
    (sl.pinv, (MATRIX,), {}),
    (sl.cho_solve, (sl.cho_factor(DEFINITE), VECTOR), {}),
    (sl.lu_solve, (sl.lu_factor(MATRIX), VECTOR), {}),
    (sl.solve_triangular, (MATRIX, VECTOR), {}),
    (sl.cholesky_banded, (UPPER,), {}),
    (sl.cho_solve_banded, ((sl.cholesky_banded(UPPER), False), VECTOR), {}),
    *[(sl.solve_banded, (at, BANDS, VECTOR), {}) for at in ((1, 1), (2, 0))],
    *[(sl.solveh_banded, (bands, VECTOR), {}) for bands in (UPPER, np.vstack([0 * VECTOR, UPPER]))],
    (sl.solve_sylvester, (MATRIX, DEFINITE, MATRIX), {}),
    (sl.solve_continuous_lyapunov, (MATRIX, DEFINITE), {}),
    *[(sl.solve_discrete_lyapunov, (MATRIX, DEFINITE, by), {}) for by in ("direct", "bilinear")],
    (lapack.dgesv, (MATRIX, VECTOR), {}),
    (lapack.dposv, (DEFINITE, VECTOR), {}),
    (lapack.dpotrf, (DEFINITE,), {}),
]


@pytest.fixture
def counted(monkeypatch):
    """Count the calls that factorize a matrix, by name."""
    calls = []

    def count(owner, name):
        f = getattr(owner, name)

        def call(*xs, **options):
            calls.append(name)
            return f(*xs, **options)

        monkeypatch.setattr(owner, name, call)

    for owner in (lapack, sys.modules["scipy.linalg._flapack"]):
        for name in [n for n in dir(owner) if n[0] in "sdcz" and n.endswith(ROUTINES)]:
            count(owner, name)
    for name in ("solve", "inv", "svd", "eigh", "eig", "qr", "cholesky", "pinv", "lstsq"):
        count(np.linalg, name)
    for name in (
        *("solve", "inv", "det", "lu", "lu_factor", "cho_factor", "cholesky", "ldl", "qr", "rq"),
        *("svd", "svdvals", "eigh", "eigvalsh", "eig", "eigvals", "schur", "solve_banded"),
        *("solveh_banded", "cholesky_banded", "polar", "pinv", "lstsq", "solve_sylvester"),
        *("solve_continuous_lyapunov", "solve_discrete_lyapunov"),
    ):
        count(sl, name)
    return calls


@pytest.mark.parametrize(("f", "xs", "options"), REUSING)
def test_a_pullback_factorizes_nothing_anew(f, xs, options, counted):
    y, back = rrule(f, *xs, **options)
    del counted[:]
    back(y)
    assert counted == []


@pytest.mark.parametrize(
    ("f", "xs"),
    [
        (sl.lstsq, (MATRIX[:, :2], VECTOR)),
        (sl.solve_continuous_are, (MATRIX, MATRIX[:, :2], DEFINITE, DEFINITE[:2, :2])),
        (sl.solve_discrete_are, (MATRIX, MATRIX[:, :2], DEFINITE, DEFINITE[:2, :2])),
    ],
)
def test_where_scipy_leaves_no_factors_pullbacks_factorize_once(f, xs, counted):
    y, back = rrule(f, *xs)
    del counted[:]
    dy = (y[0], None, None, None) if isinstance(y, tuple) else y
    first = back(dy)
    assert len(counted) == 1
    again = back(dy)
    assert len(counted) == 1
    for dx, dz in zip(first[1:], again[1:], strict=True):
        np.testing.assert_array_equal(dx, dz)


@pytest.mark.parametrize("kind", [None, "gen", "pos", "sym", "her"])
def test_a_system_is_factorized_once(kind, counted):
    rrule(SOLVE, DEFINITE, VECTOR, assume_a=kind)[1](VECTOR)
    assert len([name for name in counted if name.endswith("trf")]) == 1
    assert "solve" not in counted


def test_a_solution_is_that_of_scipy():
    generator = np.random.default_rng(3)
    for dtype in (np.float32, np.float64, np.complex128):
        a = generator.normal(size=(7, 7)).astype(dtype)
        b = generator.normal(size=(7, 2)).astype(dtype)
        for matrix in (a, a.T, a + a.T, a @ a.T.conj() + np.eye(7, dtype=dtype)):
            np.testing.assert_array_equal(rrule(sl.solve, matrix, b)[0], sl.solve(matrix, b))
            rounding = 100 * np.finfo(dtype).eps  # of the transpose, which SciPy 1.18 leaves
            np.testing.assert_allclose(rrule(sl.det, matrix)[0], sl.det(matrix), rtol=rounding)


def test_warnings_and_errors_of_a_system_are_those_of_scipy():
    near = np.array([[1.0, 1.0], [1.0, np.nextafter(1.0, 2.0)]])
    with pytest.warns(sl.LinAlgWarning):
        rrule(sl.solve, near, np.ones(2))
    with pytest.raises(sl.LinAlgError):
        rrule(sl.solve, np.ones((2, 2)), np.ones(2))
    with pytest.raises(ValueError, match="infs or NaNs"):
        rrule(sl.solve, np.full((2, 2), np.nan), np.ones(2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rrule(sl.solve, np.eye(2) + 0.1, np.ones(2))
