"""Second derivatives where the formula of the first one has a special case, against differences.

Functions are smooth there: what is special is the formula, for a tie, a zero or a singular matrix.
"""

import math

import numpy as np
import pytest

from tests.zygote_lite.checks.finite_differences import jacobian_by_differences
from zygote_lite import grad, gradient, hessian, hvp, jacobian, jvp
from zygote_lite.testing import recorded_only

A = np.array([[1.0, 2.0], [3.0, -1.0]])
SINGULAR = np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [0.5, 1.0, 1.5]])
CASES = {
    "likelihood of a logistic model": (lambda w: np.sum(np.logaddexp(0, A @ w)), np.zeros(2)),
    "base 2": (lambda w: np.sum(np.logaddexp2(w, w[::-1])), np.ones(3)),
    "accumulated": (lambda w: np.sum(np.logaddexp.accumulate(w) ** 2), np.zeros(3)),
    "outer": (lambda w: np.sum(np.logaddexp.outer(w, w) ** 2), np.array([0.5, 0.5, 1.0])),
    "running products": (lambda w: np.sum(np.cumprod(w) ** 2), np.array([2.0, 0.0, 3.0, 0.0, 1.0])),
    "rows": (lambda w: np.sum(np.cumprod(w, axis=1)), np.array([[0.0, 2.0, 0.0], [1.0, 0.0, 3.0]])),
    "missing values": (lambda w: np.sum(np.nancumprod(w)), np.array([2.0, 0.0, 3.0, 0.0])),
    "array API": (lambda w: np.sum(np.cumulative_prod(w)), np.zeros(3)),
    "products": (lambda w: np.prod(w), np.array([0.0, 2.0, 0.0, 3.0])),
    "accumulate": (lambda w: np.sum(np.multiply.accumulate(w)), np.zeros(3)),
    "Vandermonde": (lambda w: np.sum(np.vander(w, 4)), np.zeros(2)),
    "least squares": (
        lambda w: np.sum(np.linalg.lstsq(w, np.arange(4.0))[0] ** 2),
        np.eye(4, 2),
    ),
    "a line": (lambda w: np.sum(np.polyfit(w, A[0], 1) ** 2), np.array([-1.0, 1.0])),
    "no matrix": (lambda w: np.linalg.det(w), np.zeros((2, 2))),
    "rank 1": (lambda w: np.linalg.det(w), SINGULAR),
    "a determinant of 7e-18": (lambda w: np.linalg.det(w), np.arange(1.0, 10).reshape(3, 3) / 10),
    "rank 2 in a stack": (
        lambda w: np.sum(np.linalg.det(w)),
        np.stack([SINGULAR + np.eye(3), SINGULAR + np.diag([1.0, 0.0, 0.0])]),
    ),
    "power of zero": (lambda w: math.pow(w[0], w[1]), np.array([2.0, 0.0])),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", CASES)
def test_hessian(name):
    f, x = CASES[name]
    expected = jacobian_by_differences(lambda x: gradient(f, x)[0], (x,))
    v = np.cos(np.arange(x.size)).reshape(x.shape)
    for _ in range(3):
        np.testing.assert_allclose(hessian(f)(x), expected, rtol=1e-6, atol=1e-7)
    product = np.tensordot(expected, v, x.ndim)
    np.testing.assert_allclose(hvp(f)(x, v), product, rtol=1e-6, atol=1e-7)
    with recorded_only():
        np.testing.assert_allclose(hessian(f)(x), expected, rtol=1e-6, atol=1e-7)
    of_gradient = grad(lambda x: np.sum(v * grad(f)(x)))
    for _ in range(3):
        np.testing.assert_allclose(of_gradient(x), product, rtol=1e-6, atol=1e-7)
    _, twice = jvp(lambda x: jvp(f, (x,), (v,))[1], (x,), (v,))
    np.testing.assert_allclose(twice, np.sum(product * v), rtol=1e-6, atol=1e-7)


def test_complex_determinants():
    w = SINGULAR.astype(complex)
    w[2] *= 1j

    def f(x):
        return np.abs(np.linalg.det(w + x)) ** 2 + np.real(np.linalg.det(w + (1 + 2j) * x))

    x = np.zeros((3, 3))
    expected = jacobian_by_differences(lambda x: gradient(f, x)[0], (x,))
    np.testing.assert_allclose(hessian(f)(x), expected, rtol=1e-6, atol=1e-7)


def test_a_cotangent_of_zero_has_the_slope_of_its_factor():
    """It wins over what is not finite, and over nothing else."""
    x = np.array([4.0, 0.0])

    def of_weights(w):
        return grad(lambda x: np.sum(w * np.linalg.norm(x[:, None] ** 0.5, axis=1)))(x)[0]

    with np.errstate(all="ignore"):
        d = jacobian(of_weights)(np.zeros(2))
        expected = jacobian_by_differences(of_weights, (np.zeros(2),))
    np.testing.assert_allclose(d, expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("axis", [0, 1, None])
def test_zeros_and_infinities_among_running_products(axis):
    x = np.array([[2.0, 0.0, np.inf], [3.0, 0.5, 1.0]])
    dy = np.array([1.0, 1, 0, 0, 0, 0] if axis is None else [[1.0, 0, 0], [1, 0, 0]])

    def f(x):
        return np.sum(np.where(dy != 0, np.cumprod(x, axis), 0.0))

    with np.errstate(invalid="ignore"):
        d = gradient(f, x)[0]
        finite = np.where(np.isfinite(x), x, 7.0)
        np.testing.assert_allclose(d, gradient(f, finite)[0])


@pytest.mark.parametrize("mode", [grad, lambda f: lambda a: jvp(f, (a,), (A,))[1]])
def test_an_array_that_is_said_to_be_hermitian_counts_by_its_lower_triangle(mode):
    def f(a):
        return np.sum(A * np.linalg.pinv(a, hermitian=True))

    a = np.array([[2.0, 7.0], [0.5, 1.0]])
    lower = np.tril(a) + np.tril(a, -1).T
    np.testing.assert_allclose(mode(f)(a), mode(f)(lower))
    np.testing.assert_allclose(grad(f)(a), jacobian_by_differences(f, (a,)), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("a", [np.zeros((3, 3)), SINGULAR, np.diag([1.0, 1.0, 0.0])])
def test_third_derivatives_of_determinants(a):
    """They are the permutation symbol, in all modes, where singular values have no derivatives."""
    symbol = np.zeros((3, 3, 3))
    symbol[[0, 1, 2], [1, 2, 0], [2, 0, 1]], symbol[[0, 2, 1], [2, 1, 0], [1, 0, 2]] = 1, -1
    u, v = np.cos(np.arange(9.0)).reshape(3, 3), np.sin(np.arange(9.0)).reshape(3, 3)
    expected = np.einsum("ikm,jln,ij,kl->mn", symbol, symbol, u, v)

    def along(f, v):
        return lambda x: jvp(f, (x,), (v,))[1]

    det = np.linalg.det
    np.testing.assert_allclose(grad(along(along(det, u), v))(a), expected, atol=1e-12)
    np.testing.assert_allclose(grad(lambda x: np.sum(u * hvp(det)(x, v)))(a), expected, atol=1e-12)
    third = along(along(along(det, u), v), u)(a)
    np.testing.assert_allclose(third, np.sum(u * expected), atol=1e-12)
