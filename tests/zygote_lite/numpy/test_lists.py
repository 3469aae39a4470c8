"""Ufuncs of lists, and `np.vectorize` of nothing."""

import numpy as np
import pytest
from scipy import special

from zygote_lite import gradient


def test_a_ufunc_of_another_library_takes_lists():
    (found,) = gradient(lambda x: np.sum(special.gammaln([x, 2 * x])), 1.3)
    assert found == pytest.approx(special.psi(1.3) + 2 * special.psi(2.6))
    (found,) = gradient(lambda x: special.betaln((x, 2.0), [1.5, x])[1], 1.3)
    assert found == pytest.approx(special.psi(1.3) - special.psi(3.3))


def test_vectorize_of_nothing():
    def f(x):
        squared = np.vectorize(lambda v: v * v, otypes=[float])
        return np.sum(squared(x[x > 9])) + np.sum(squared(x))

    np.testing.assert_array_equal(gradient(f, np.array([1.0, 2.0]))[0], [2.0, 4.0])


def test_arrays_of_lists_have_an_order():
    (found,) = gradient(lambda x: np.sum(np.asanyarray([x, x * x], order=None)), 1.5)
    assert found == 4.0
