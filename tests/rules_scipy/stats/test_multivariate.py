"""Densities of several variables: covariances with repeated eigenvalues, against differences."""

import numpy as np
import pytest
from scipy import stats

from zygote_lite import grad, gradient

X, ONE = np.array([0.4, -0.7]), np.eye(2)
DENSITIES = {
    "mean": lambda a: stats.multivariate_normal(a[:2], ONE).logpdf(X),
    "scale": lambda a: stats.multivariate_normal.logpdf(X, a[:2], a[2] * ONE),
    "correlation": lambda a: stats.multivariate_normal.logpdf(
        X, cov=np.array([[a[1], a[0] - 0.7], [a[0] - 0.7, 1.3]])
    ),
    "singular": lambda a: stats.multivariate_normal.logpdf(
        a[0] * np.ones(2), cov=a[1] * np.ones((2, 2)), allow_singular=True
    ),
    "multivariate_t": lambda a: stats.multivariate_t.logpdf(X, a[:2], a[2] * ONE, 3 + a[0]),
    "matrix_normal": lambda a: stats.matrix_normal.logpdf(np.outer(X, X), None, a[0] * ONE, ONE),
}


@pytest.mark.parametrize("name", DENSITIES)
def test_repeated_eigenvalues(name):
    f, a = DENSITIES[name], np.array([0.7, 1.3, 0.9])
    expected = [(f(a + step) - f(a - step)) / 2e-5 for step in 1e-5 * np.eye(3)]
    np.testing.assert_allclose(gradient(f, a)[0], expected, rtol=1e-7, atol=1e-9)


def test_a_choice_of_eigenvectors_has_no_gradient():
    def f(a):
        return np.sum(stats._multivariate._PSD(a * ONE).U[0])

    with pytest.raises(np.linalg.LinAlgError, match="depends on the basis of eigenvectors"):
        gradient(f, 1.3)


@pytest.mark.parametrize("method", ["logpdf", "entropy"])
def test_a_frozen_von_mises_fisher_distribution_has_derivatives_by_its_concentration(method):
    mean, x = np.array([0.0, 0.0, 1.0]), np.array([0.0, 0.6, 0.8])

    def f(kappa):
        frozen = stats.vonmises_fisher(mean, kappa)
        return frozen.logpdf(x) if method == "logpdf" else frozen.entropy()

    h = 1e-3
    for order in (f, grad(f)):
        expected = (8 * (order(2 + h) - order(2 - h)) - order(2 + 2 * h) + order(2 - 2 * h)) / 12e-3
        assert grad(order)(2.0) == pytest.approx(expected, rel=1e-9)
