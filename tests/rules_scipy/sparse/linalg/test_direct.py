"""Rules of `rules_scipy.sparse.linalg.direct`, against differences."""

import numpy as np
import pytest
from scipy import sparse as sp
from scipy.sparse import linalg as spl

from rulescore.testing import check_rrule
from tests.rules_scipy.sparse_systems import DATA, WHOLE, B, N, W, agrees, matrix
from zygote_lite import DifferentiationError, gradient, hvp


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


def factored(v):
    lu = spl.splu(matrix(v))
    again = lu.solve(np.stack([B, W], axis=1) * v[0], "T")
    return W @ lu.solve(B * v[1]) + np.sum(again[:, 0] * again[:, 1]) + W @ lu.solve(B, trans="H")


def unit_upper(v):
    return sp.csr_array(sp.triu(matrix(v), 1) + sp.eye_array(N))


PROGRAMS = {
    "spsolve": lambda v: W @ spl.spsolve(matrix(v), B * v[0]),
    "spsolve, csr_matrix": lambda v: np.sum(spl.spsolve(matrix(v, sp.csr_matrix), B) ** 2),
    "triangular": lambda v: W @ spl.spsolve_triangular(sp.csr_array(sp.tril(matrix(v))), B),
    "unit diagonal": lambda v: (
        W
        @ spl.spsolve_triangular(unit_upper(v), np.stack([B, W], 1), False, unit_diagonal=True)[
            :, 1
        ]
    ),
    "unit diagonal, zeros stored": lambda v: (
        W
        @ spl.spsolve_triangular(
            sp.csr_array(np.tril(matrix(v).toarray(), -1) + np.eye(N)), B, unit_diagonal=True
        )
    ),
    "inv": lambda v: np.sum((spl.inv(matrix(v)) @ B) ** 2),
    "splu": factored,
    "factorized": lambda v: W @ spl.factorized(matrix(v))(B * v[0]),
}


def test_second_derivatives_of_a_solution_by_factors():
    f, v, h = PROGRAMS["splu"], np.cos(DATA), 1e-5
    slopes = [gradient(f, DATA + s * h * v)[0] for s in (1, -1)]
    np.testing.assert_allclose(hvp(f)(DATA, v), (slopes[0] - slopes[1]) / (2 * h), rtol=1e-6)


@pytest.mark.parametrize("name", PROGRAMS)
def test_solutions(name):
    agrees(PROGRAMS[name], name == "spsolve")


def test_a_solution_by_a_constant_matrix():
    a = matrix(DATA)
    found = gradient(lambda b: W @ spl.spsolve(a, b), B)[0]
    np.testing.assert_allclose(found, np.linalg.solve(a.toarray().T, W), rtol=1e-12)


def test_places_that_are_stored_twice():
    data, places = np.append(DATA, 0.5), [np.append(c, c[0]) for c in WHOLE.coords]
    f = lambda v: W @ spl.spsolve(sp.coo_array((v, places), shape=(N, N)).tocsc(), B)
    found = gradient(f, data)[0]
    assert found[0] == found[-1] != 0


def test_singular_and_approximate_factors_are_refused():
    singular = DATA * (WHOLE.coords[0] > 0)
    with pytest.warns(spl.MatrixRankWarning), pytest.raises(np.linalg.LinAlgError):
        gradient(lambda v: np.sum(spl.spsolve(matrix(v), B)), singular)
    with pytest.raises(DifferentiationError):
        gradient(lambda v: np.sum(spl.spilu(matrix(v)).solve(B)), DATA)
    with pytest.raises(DifferentiationError):
        gradient(lambda v: np.sum(spl.splu(matrix(v)).U.data), DATA)
