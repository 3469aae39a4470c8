"""Rules of `rules_scipy.sparse.linalg.iterative`, against differences."""

import numpy as np
import pytest
from scipy import sparse as sp
from scipy.sparse import linalg as spl

from rulescore.testing import check_rrule
from tests.rules_scipy.tiers import compare
from zygote_lite import DifferentiationError, gradient

N = 5
WHOLE = sp.diags_array([0.3, 4.0, -0.7, 0.2], offsets=[-2, 0, 1, 3], shape=(N, N)).tocoo()
DATA = WHOLE.data * (1 + 0.1 * np.cos(np.arange(WHOLE.nnz)))
B = np.cos(np.arange(5.0))
W = np.arange(1.0, 6.0)


def matrix(v, kind=sp.csc_array):
    return kind(sp.coo_array((v, WHOLE.coords), shape=(N, N)))


def symmetric(v):
    m = matrix(v)
    return m + m.T


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


def agrees(f, transformed=False):
    expected = [(f(DATA + h) - f(DATA - h)) / 2e-5 for h in 1e-5 * np.eye(DATA.size)]
    compare(f, DATA, expected, transformed, rtol=1e-5, atol=1e-7)


def stacked(v):
    return sp.vstack([matrix(v), matrix(v * v)])


PROGRAMS = {
    "cg": lambda v: W @ spl.cg(matrix(v) @ matrix(v).T, B * v[0], rtol=1e-14)[0],
    "minres": lambda v: W @ spl.minres(symmetric(v), B * v[0], rtol=1e-15)[0],
    "gmres": lambda v: W @ spl.gmres(matrix(v), B * v[0], rtol=1e-14)[0],
    "with a preconditioner": lambda v: (
        W
        @ spl.bicgstab(
            matrix(v), B, rtol=1e-14, M=spl.LinearOperator((N, N), UPPER, rmatvec=LOWER)
        )[0]
    ),
    "lsqr": lambda v: W @ spl.lsqr(stacked(v), np.append(B, W) * v[0], atol=1e-14, btol=1e-14)[0],
    "lsmr": lambda v: W @ spl.lsmr(stacked(v), np.append(B, W) * v[0], atol=1e-14, btol=1e-14)[0],
}
FACTORS = spl.spilu(matrix(DATA))
UPPER, LOWER = FACTORS.solve, lambda x: FACTORS.solve(x, "H")


@pytest.mark.parametrize("name", PROGRAMS)
def test_solutions(name):
    agrees(PROGRAMS[name], name == "cg")


def through_an_operator(v):
    a = matrix(v)
    operator = spl.LinearOperator((N, N), lambda x: a @ x, rmatvec=lambda x: a.T @ x)
    return W @ spl.gmres(operator, B * v[0], rtol=1e-14)[0]


def test_operators_of_functions():
    agrees(through_an_operator)


def test_operators_are_constants():
    a = matrix(DATA)
    operator = spl.LinearOperator((N, N), lambda x: a @ x, rmatvec=lambda x: a.T @ x)
    found = gradient(lambda b: W @ spl.gmres(operator, b, rtol=1e-14)[0], B)[0]
    np.testing.assert_allclose(found, np.linalg.solve(a.toarray().T, W), rtol=1e-10)
    found = gradient(lambda b: W @ spl.expm_multiply(-a, b), B)[0]
    np.testing.assert_allclose(found, spl.expm_multiply(-a.T, W), rtol=1e-10)


def test_what_has_not_converged_is_refused():
    with pytest.raises(np.linalg.LinAlgError, match="not converged"):
        gradient(
            lambda v: np.sum(spl.gmres(matrix(v), B, rtol=1e-14, maxiter=1, restart=1)[0]), DATA
        )
    with pytest.raises(np.linalg.LinAlgError, match="dependent"):
        gradient(lambda v: np.sum(spl.lsqr(matrix(v), B)[0]), DATA * (WHOLE.coords[1] > 0))
    with pytest.raises((DifferentiationError, NotImplementedError), match="by B alone"):
        gradient(lambda v: np.sum(spl.expm_multiply(matrix(v), B)), DATA)
