"""Rules of `rules_scipy.sparse.linalg.exponentials`, against differences and SciPy."""

import numpy as np
import pytest
from scipy import linalg as sl
from scipy import sparse as sp
from scipy.sparse import linalg as spl

from rulescore.testing import check_rrule
from tests.rules_scipy.sparse_systems import B, N, W, agrees, matrix
from zygote_lite import gradient


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


PROGRAMS = {
    "a matrix": lambda v: np.sum(np.tanh(spl.expm(matrix(v).tocsc()).toarray())),
    "a product": lambda v: W @ (spl.expm(matrix(v).tocsc() / 2) @ B),
    "one time": lambda v: W @ spl.expm_multiply(matrix(v), B * v[0]),
    "several times": lambda v: np.sum(
        spl.expm_multiply(-2 * matrix(v), B * v[0], 0.5, 2.0, 4, False) * np.outer(W[:4], W)
    ),
    "many steps": lambda v: W @ spl.expm_multiply(-20 * matrix(v), B),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_exponentials(name):
    agrees(PROGRAMS[name], name == "one time")


@pytest.mark.parametrize("x", [B, np.eye(N)[-1]])
def test_vectors_that_a_nilpotent_matrix_takes_to_zero(x):
    a = sp.csr_array(np.diag(np.arange(1.0, N), -1))
    found = gradient(lambda a: W @ spl.expm_multiply(a, x), a)[0].toarray()
    expected = sl.expm_frechet(a.toarray().T, np.outer(W, x), compute_expm=False)
    np.testing.assert_allclose(found, np.where(a.toarray() != 0, expected, 0), rtol=1e-13)
