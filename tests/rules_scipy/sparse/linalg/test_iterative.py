"""Rules of `rules_scipy.sparse.linalg.iterative`, against differences."""

import numpy as np
import pytest
from scipy import sparse as sp
from scipy.sparse import linalg as spl

from rulescore.testing import check_rrule
from tests.rules_scipy.sparse_systems import DATA, WHOLE, B, N, W, agrees, matrix, symmetric
from zygote_lite import DifferentiationError, gradient, jvp


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


HALVING = spl.LinearOperator((N, N), lambda x: x / 2, rmatvec=lambda x: x / 2)


def stacked(v):
    return sp.vstack([matrix(v), matrix(v * v)])


PROGRAMS = {
    "cg": lambda v: W @ spl.cg(matrix(v) @ matrix(v).T, B * v[0], rtol=1e-14)[0],
    "minres": lambda v: W @ spl.minres(symmetric(v), B * v[0], rtol=1e-15)[0],
    "gmres": lambda v: W @ spl.gmres(matrix(v), B * v[0], rtol=1e-14)[0],
    "qmr": lambda v: W @ spl.qmr(matrix(v), B * v[0], rtol=1e-14)[0],
    "qmr, with preconditioners": lambda v: (
        W @ spl.qmr(matrix(v), B, rtol=1e-14, M1=HALVING, M2=HALVING)[0]
    ),
    "with a preconditioner": lambda v: (
        W
        @ spl.bicgstab(
            matrix(v), B, rtol=1e-14, M=spl.LinearOperator((N, N), UPPER, rmatvec=LOWER)
        )[0]
    ),
    "with one that has no adjoint": lambda v: (
        W @ spl.gmres(matrix(v), B, rtol=1e-14, M=spl.LinearOperator((N, N), UPPER))[0]
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
    with pytest.raises((DifferentiationError, NotImplementedError), match="needs `rmatvec`"):
        gradient(lambda v: np.sum(spl.gmres(one_way(v), B)[0]), DATA)


def one_way(v):
    a = matrix(v)
    return spl.LinearOperator((N, N), lambda x: a @ x)


@pytest.mark.parametrize("solve", [spl.lsqr, spl.lsmr])
@pytest.mark.parametrize("shape", [(5, 3), (3, 5)])  # with damp it need not have full rank
def test_damped_least_squares(solve, shape):
    generator = np.random.default_rng(3)
    a, b = generator.normal(size=shape), generator.normal(size=shape[0])
    weights, tight = generator.normal(size=shape[1]), {"atol": 1e-14, "btol": 1e-14}

    def exact(a, b, damp):
        return weights @ np.linalg.solve(a.T @ a + damp**2 * np.eye(len(a.T)), a.T @ b)

    expected = gradient(exact, a, b, 0.7)
    for form in (np.asarray, sp.csr_array):
        by_position = lambda a, b, damp, form=form: weights @ solve(form(a), b, damp, **tight)[0]
        by_name = lambda a, b, damp, form=form: weights @ solve(form(a), b, damp=damp, **tight)[0]
        for f in (by_position, by_name):
            for found, due in zip(gradient(f, a, b, 0.7), expected, strict=True):
                np.testing.assert_allclose(found, due, rtol=1e-8, atol=1e-10)
    fixed = gradient(lambda b: weights @ solve(a, b, damp=0.7, **tight)[0], b)[0]
    np.testing.assert_allclose(fixed, expected[1], rtol=1e-8, atol=1e-10)
    with pytest.raises(DifferentiationError, match="no rule for x0 with damp"):
        gradient(lambda b: solve(a, b, 0.7, x0=np.ones(shape[1]))[0][0], b)


@pytest.mark.parametrize("damp", [0.0, 0.7])
def test_tangents_of_least_squares(damp):
    a, b = np.cos(np.arange(15.0) ** 2).reshape(5, 3), np.arange(5.0)
    solved = lambda a: spl.lsqr(a, b, damp=damp, atol=1e-13, btol=1e-13)[0]
    exact = lambda a: np.linalg.solve(a.T @ a + damp**2 * np.eye(3), a.T @ b)
    v = np.cos(np.arange(15.0)).reshape(5, 3)
    expected = (exact(a + 1e-6 * v) - exact(a - 1e-6 * v)) / 2e-6
    np.testing.assert_allclose(jvp(solved, (a,), (v,))[1], expected, rtol=1e-6)


@pytest.mark.parametrize("solve", [spl.cg, spl.gmres, spl.bicgstab, spl.lsqr, spl.lsmr])
@pytest.mark.parametrize("form", [list, tuple])
def test_the_right_side_may_be_a_sequence(solve, form):
    a = sp.csr_array([[4.0, 1.0], [1.0, 3.0]])
    found = gradient(lambda b: np.sum(np.array([1.0, 2.0]) * solve(a, b)[0]), form([1.0, 2.0]))[0]
    assert type(found) is form
    np.testing.assert_allclose(found, np.linalg.solve(a.toarray(), [1.0, 2.0]), rtol=1e-4)
