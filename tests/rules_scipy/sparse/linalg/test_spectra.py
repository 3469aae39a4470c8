"""Rules of `rules_scipy.sparse.linalg.spectra`, against differences."""

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


START = {"v0": np.ones(N)}
PROGRAMS = {
    "values": lambda v: W[:3] @ spl.eigsh(symmetric(v), 3, **START)[0],
    "values alone": lambda v: (
        W[:3] @ spl.eigsh(symmetric(v), 3, which="SA", return_eigenvectors=False, **START)
    ),
    "vectors": lambda v: np.sum(spl.eigsh(symmetric(v), 2, **START)[1] ** 2 @ W[:2] * W),
    "singular values": lambda v: W[:2] @ spl.svds(matrix(v), 2, **START)[1],
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_spectra(name):
    agrees(PROGRAMS[name], name == "values")


def test_what_has_no_derivative_is_refused():
    eye = np.where(WHOLE.coords[0] == WHOLE.coords[1], 1.0, 0.0)
    with pytest.raises(np.linalg.LinAlgError, match="twice"):
        gradient(lambda v: spl.eigsh(symmetric(v), 2, **START)[0][0], eye)
    with pytest.raises(np.linalg.LinAlgError, match="repeated"):
        gradient(lambda v: spl.eigsh(symmetric(v), 1, **START)[1][0, 0], eye)
    with pytest.raises(np.linalg.LinAlgError, match="not symmetric"):
        gradient(lambda v: spl.eigsh(matrix(v), 2, **START)[0][0], DATA)
    with pytest.raises((DifferentiationError, NotImplementedError), match="singular values"):
        gradient(lambda v: spl.svds(matrix(v), 2, **START)[0][0, 0], DATA)
    with pytest.raises(DifferentiationError):
        gradient(lambda v: np.real(spl.eigs(matrix(v), 2, **START)[0][0]), DATA)
