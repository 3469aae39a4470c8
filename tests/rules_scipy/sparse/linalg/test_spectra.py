"""Rules of `rules_scipy.sparse.linalg.spectra`, against differences."""

import numpy as np
import pytest
from scipy import sparse as sp
from scipy.sparse import linalg as spl

from rulescore.testing import check_rrule
from tests.rules_scipy.sparse_systems import DATA, WHOLE, N, W, agrees, matrix, symmetric
from tests.rules_scipy.tiers import differences
from zygote_lite import DifferentiationError, grad, gradient


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


def two_sided(u, s, vh):
    return np.sum(np.real(np.outer(W, W) * ((u * np.sqrt(s)) @ vh)))


START = {"v0": np.ones(N)}
PROGRAMS = {
    "values": lambda v: W[:3] @ spl.eigsh(symmetric(v), 3, **START)[0],
    "values alone": lambda v: (
        W[:3] @ spl.eigsh(symmetric(v), 3, which="SA", return_eigenvectors=False, **START)
    ),
    "vectors": lambda v: np.sum(spl.eigsh(symmetric(v), 2, **START)[1] ** 2 @ W[:2] * W),
    "values of any matrix": lambda v: np.sum(np.abs(spl.eigs(matrix(v), 3, **START)[0] - 1) ** 2),
    "these alone": lambda v: np.sum(
        np.abs(spl.eigs(matrix(v), 3, return_eigenvectors=False, **START) - 1) ** 2
    ),
    "vectors of any matrix": lambda v: np.sum(
        W[:, None] * np.abs(spl.eigs(matrix(v) * (1 + 0.2j), 2, which="SR", **START)[1]) ** 2
    ),
    "singular vectors": lambda v: two_sided(*spl.svds(matrix(v) * (1 + 0.2j), 2, **START)),
    "right singular vectors": lambda v: np.sum(
        np.abs(spl.svds(matrix(v)[:4], 2, v0=START["v0"][:4])[2]) * W
    ),
    "singular values": lambda v: W[:2] @ spl.svds(matrix(v), 2, **START)[1],
}


SECOND = symmetric(DATA) * 0.05 + 2.0 * sp.eye_array(N)
TIGHT = {**START, "tol": 1e-13}
OF_TWO = {
    "values": lambda a, m: W[:2] @ spl.eigsh(symmetric(a), 2, m, **TIGHT)[0],
    "these alone": lambda a, m: (
        W[:2] @ spl.eigsh(symmetric(a), 2, M=m, return_eigenvectors=False, **TIGHT)
    ),
    "vectors": lambda a, m: np.sum(spl.eigsh(symmetric(a), k=2, M=m, **TIGHT)[1] ** 2 @ W[:2] * W),
    "near": lambda a, m: W[:2] @ spl.eigsh(symmetric(a).tocsc(), 2, M=m, sigma=0.3, **TIGHT)[0],
}


@pytest.mark.parametrize("name", OF_TWO)
def test_two_matrices(name):
    f = OF_TWO[name]
    by_a = gradient(lambda a: f(a, SECOND.tocsc()), DATA)[0]
    expected = differences(lambda a: f(a, SECOND.tocsc()), DATA)
    np.testing.assert_allclose(by_a, expected, rtol=1e-5, atol=1e-7)
    of_scale = lambda s: f(DATA, (SECOND + sp.diags_array(s)).tocsc())
    by_scale = gradient(of_scale, 0.1 * W)[0]
    np.testing.assert_allclose(by_scale, differences(of_scale, 0.1 * W), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("name", PROGRAMS)
def test_spectra(name):
    agrees(PROGRAMS[name], name == "values")


def test_one_of_two_values_that_are_conjugate():
    """SciPy may find the other one where no vectors are asked for."""
    rows = np.random.default_rng(1).normal(size=(7, 7))
    a = sp.csr_array(np.where(abs(rows) < 0.5, 0.0, rows) + np.diag(np.arange(1.0, 8.0)))

    def sizes(v):
        a_of = sp.csr_array((v, a.indices, a.indptr), shape=a.shape)
        found = spl.eigs(a_of, 3, which="SM", return_eigenvectors=False, v0=np.ones(7))
        return np.abs(found) @ W[:3]

    np.testing.assert_allclose(gradient(sizes, a.data)[0], differences(sizes, a.data), atol=1e-6)


def test_what_has_no_derivative_is_refused():
    eye = np.where(WHOLE.coords[0] == WHOLE.coords[1], 1.0, 0.0)
    with pytest.raises(np.linalg.LinAlgError, match="twice"):
        gradient(lambda v: spl.eigsh(symmetric(v), 2, **START)[0][0], eye)
    with pytest.raises(np.linalg.LinAlgError, match="repeated"):
        gradient(lambda v: spl.eigsh(symmetric(v), 1, **START)[1][0, 0], eye)
    with pytest.raises(np.linalg.LinAlgError, match="not symmetric"):
        gradient(lambda v: spl.eigsh(matrix(v), 2, **START)[0][0], DATA)
    with pytest.raises(np.linalg.LinAlgError, match="phase"):
        gradient(lambda v: np.real(spl.eigs(matrix(v) * (1 + 0.2j), 1, **START)[1][0, 0]), DATA)
    with pytest.raises(np.linalg.LinAlgError, match="repeated"):
        gradient(lambda v: np.real(spl.eigs(matrix(v), 1, **START)[0][0]), eye)
    with pytest.raises(np.linalg.LinAlgError, match="repeated"):
        gradient(lambda v: spl.svds(matrix(v), 1, **START)[0][0, 0], eye)
    with pytest.raises(DifferentiationError, match="has no rule for M"):
        gradient(lambda v: np.real(spl.eigs(matrix(v), 2, sp.eye_array(N))[0][0]), DATA)
    definite, options = 9 * sp.eye_array(N), {"sigma": 4.0, "mode": "buckling"}
    with pytest.raises(DifferentiationError, match="no rule for mode"):
        gradient(lambda v: spl.eigsh(symmetric(v) + definite, 2, **options)[0][0], DATA)


MOVES = np.cos(np.add.outer(np.arange(5.0), np.arange(5.0)))
TURNS = np.cos(np.arange(25.0)).reshape(5, 5)
SYMMETRIC = np.diag([1.0, 2.0, 4.0, 7.0, 9.0])
TWICE = {
    "eigs": lambda t: np.sum(np.real(spl.eigs(sp.csr_array(SYMMETRIC + t * TURNS), k=2)[0]) ** 3),
    "eigsh": lambda t: np.sum(spl.eigsh(sp.csr_array(SYMMETRIC + t * MOVES), k=2)[1] ** 4),
    "svds": lambda t: np.sum(spl.svds(sp.csr_array(SYMMETRIC[:4] + t * TURNS[:4]), k=1)[0] ** 4),
}


@pytest.mark.parametrize("name", TWICE)
def test_second_derivatives_of_values_and_vectors(name):
    f, t, h = TWICE[name], 1.3, 1e-4
    expected = (grad(f)(t + h) - grad(f)(t - h)) / (2 * h)
    assert grad(grad(f))(t) == pytest.approx(expected, rel=1e-5)
