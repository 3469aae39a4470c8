"""Sparse matrices and right-hand sides that tests of `scipy.sparse.linalg` begin with."""

import numpy as np
from scipy import sparse as sp

from tests.rules_scipy.tiers import compare

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


def agrees(f, transformed=False):
    expected = [(f(DATA + h) - f(DATA - h)) / 2e-5 for h in 1e-5 * np.eye(DATA.size)]
    compare(f, DATA, expected, transformed, rtol=1e-5, atol=1e-7)
