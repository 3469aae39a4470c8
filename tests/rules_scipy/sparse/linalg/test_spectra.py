"""Rules of `rules_scipy.sparse.linalg.spectra`, against differences."""

import numpy as np
import pytest
from scipy.sparse import linalg as spl

from rulescore.testing import check_rrule
from tests.rules_scipy.sparse_systems import DATA, WHOLE, N, W, agrees, matrix, symmetric
from zygote_lite import DifferentiationError, gradient


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


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
