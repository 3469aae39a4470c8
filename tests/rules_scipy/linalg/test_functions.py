"""Rules of `rules_scipy.linalg.functions`, against differences."""

import numpy as np
import pytest
from scipy import linalg

from rules_scipy.linalg.functions import undrawn
from rulescore.testing import check_rrule
from zygote_lite import gradient, hessian, hvp, jvp


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


def test_what_a_pullback_draws_is_the_same_each_time():
    before = np.random.get_state()
    draw = undrawn(np.random.rand)
    assert np.array_equal(draw(3), draw(3))
    assert np.array_equal(np.random.get_state()[1], before[1])


def test_second_derivatives_of_the_exponential():
    a = np.array([[0.3, -0.7], [0.5, 0.2]])
    second = hessian(lambda t: np.sum(linalg.expm(t * a)))(0.8)
    assert second == pytest.approx(np.sum(a @ a @ linalg.expm(0.8 * a)), rel=1e-10)


def test_the_derivative_along_a_large_matrix_has_all_digits():
    a, e = np.array([[6.0, 2.0], [1.0, 3.0]]), np.array([[0.5, -1.0], [2.0, 1.5]])
    found = gradient(lambda a: np.sum(linalg.expm_frechet(a, 1e8 * e, compute_expm=False)), a)[0]
    expected = gradient(lambda a: np.sum(linalg.expm_frechet(a, e, compute_expm=False)), a)[0]
    np.testing.assert_allclose(found, 1e8 * expected, rtol=1e-12)


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


@pytest.mark.parametrize("last", [-3.0, 2.0])
@pytest.mark.parametrize(
    "f", [linalg.sqrtm, linalg.logm, lambda a: linalg.fractional_matrix_power(a, 0.3)]
)
def test_tangents_and_second_derivatives_on_the_branch_cut(f, last):
    """Rounding took the eigenvalues of blocks to both sides of the cut: numbers of size 1e6."""
    matrix = np.array([[-1.0, 2.0, 0.0], [0.3, -2.0, 0.5], [0.1, 0.4, last]])
    x, v, h = np.array([0.3, 0.5, 0.2]), np.array([1.0, -0.4, 0.6]), 1e-5

    def entries(x):
        y = f(matrix + np.diag(x) / 10)
        return np.real(y)[0, 1] + np.imag(y)[2, 1]

    found = jvp(entries, (x,), (v,))[1]
    assert found == pytest.approx((entries(x + h * v) - entries(x - h * v)) / (2 * h), rel=1e-6)
    assert found == pytest.approx(gradient(entries, x)[0] @ v, rel=1e-9)
    near = (gradient(entries, x + h * v)[0] - gradient(entries, x - h * v)[0]) / (2 * h)
    np.testing.assert_allclose(hvp(entries)(x, v), near, rtol=1e-5)


@pytest.mark.parametrize("f", [linalg.sqrtm, linalg.logm])
def test_complex_matrices_with_negative_eigenvalues_are_refused(f):
    """The value itself jumps from one branch to the other by rounding."""
    q = np.linalg.qr(np.array([[1.0, 2j, 0.3], [0.4j, 1.0, -1j], [0.7, 0.1, 2.0 + 1j]]))[0]
    a = (q * [-1.0, -2.0, -3.0]) @ q.conj().T
    with pytest.raises(np.linalg.LinAlgError, match="which branch"):
        gradient(lambda t: np.real(f(t * a))[0, 1], 1.2)
