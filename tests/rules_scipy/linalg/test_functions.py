"""Rules of `rules_scipy.linalg.functions`, against differences."""

import numpy as np
import pytest
from scipy import linalg

from rulescore.testing import check_rrule
from zygote_lite import gradient, hessian


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


def test_second_derivatives_of_the_exponential():
    a = np.array([[0.3, -0.7], [0.5, 0.2]])
    second = hessian(lambda t: np.sum(linalg.expm(t * a)))(0.8)
    assert second == pytest.approx(np.sum(a @ a @ linalg.expm(0.8 * a)), rel=1e-10)


def test_powers_whose_type_depends_on_the_eigenvalues():
    """Code made for real powers must not answer where they are complex."""
    a, weights = np.array([[2.0, 0.3], [0.4, 1.5]]), np.array([[1.0, 0.4], [-0.3, 2.0]])

    def f(t, a):
        y = linalg.fractional_matrix_power(a, t)
        return np.sum(weights * np.real(y)) + np.sum(weights.T * np.imag(y))

    for matrix in (a, -a):
        for t in (0.7, -1.3, 0.6, 0.2):  # on the tape, then by transformed code
            expected = (f(t + 1e-5, matrix) - f(t - 1e-5, matrix)) / 2e-5
            assert gradient(f, t, matrix)[0] == pytest.approx(expected, rel=1e-7)
    with pytest.raises(np.linalg.LinAlgError, match="negative eigenvalue"):
        gradient(f, 2.0, -a, argnums=0)
    assert gradient(lambda a: f(2.0, a), -a)[0].shape == (2, 2)


def test_second_derivatives_by_the_power():
    a = np.array([[2.0, 0.3], [0.4, 1.5]])
    second = hessian(lambda t: np.sum(linalg.fractional_matrix_power(a, t)))(0.7)
    log = linalg.logm(a)
    assert second == pytest.approx(np.sum(log @ log @ linalg.expm(0.7 * log)), rel=1e-8)
