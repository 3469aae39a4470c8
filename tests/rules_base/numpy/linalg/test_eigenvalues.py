"""Eigenvalues against finite differences."""

import numpy as np
import pytest

from rules_base.numpy.linalg import eigenvalues
from rulescore import rrule

EXAMPLES = [
    pytest.param(*e, id=f"{e[0].__name__}-{i}") for i, e in enumerate(eigenvalues.rule.examples)
]


@pytest.mark.parametrize(("f", "xs", "options"), EXAMPLES)
def test_example(check, f, xs, options):
    check(f, *xs, **options)


def pulled(f, a, dw, dv):
    y, back = rrule(f, a)
    return back(type(y)(dw, dv))[1]


@pytest.mark.parametrize("f", [np.linalg.eigh, np.linalg.eig])
def test_eigenvectors_of_a_repeated_eigenvalue_have_no_gradient(f):
    a = np.diag([1.0, 2.0, 2.0])
    with pytest.raises(np.linalg.LinAlgError, match="repeated eigenvalue"):
        pulled(f, a, None, np.ones((3, 3)))
    with pytest.raises(np.linalg.LinAlgError, match="repeated eigenvalue"):
        pulled(f, np.stack([np.diag([1.0, 2.0, 3.0]), a]), None, np.ones((2, 3, 3)))


@pytest.mark.parametrize("f", [np.linalg.eigh, np.linalg.eig])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128])
def test_eigenvalues_that_differ_by_rounding_are_repeated(f, dtype):
    q = np.linalg.qr(np.sin(np.arange(25.0) ** 2).reshape(5, 5))[0]
    a = ((q * [1.0, 2.0, 2.0, 2.0, 3.0]) @ q.T).astype(dtype)
    with pytest.raises(np.linalg.LinAlgError, match="repeated eigenvalue"):
        pulled(f, a, None, np.ones((5, 5), dtype))


@pytest.mark.parametrize("f", [np.linalg.eigh, np.linalg.eig])
def test_no_cotangent_at_all(f):
    assert pulled(f, np.eye(2), None, None) is None


@pytest.mark.parametrize("f", [np.linalg.eigh, np.linalg.eig])
def test_the_eigenvalues_that_repeat_have_a_gradient(f):
    np.testing.assert_allclose(pulled(f, np.eye(3), np.ones(3), None), np.eye(3), atol=1e-15)
    zeros = np.zeros((3, 3))
    np.testing.assert_allclose(pulled(f, np.eye(3), np.ones(3), zeros), np.eye(3), atol=1e-15)


@pytest.mark.parametrize("f", [np.linalg.eigvalsh, np.linalg.eigvals])
def test_sum_of_repeated_eigenvalues_is_the_trace(f):
    for a in (np.eye(3), np.diag([1.0, 2.0, 2.0]), np.zeros((3, 3)), np.ones((3, 3))):
        _, back = rrule(f, a)
        da = back(np.ones(3))[1]
        if f is np.linalg.eigvalsh:
            da = (da + da.T) / 2
        np.testing.assert_allclose(da, np.eye(3), atol=1e-7)


@pytest.mark.parametrize("f", [np.linalg.eigh, np.linalg.eig])
def test_the_vector_of_a_single_eigenvalue_beside_repeated_ones(f):
    dv = np.zeros((3, 3))
    dv[:, 0] = [0.0, 1.0, 2.0]
    da = pulled(f, np.diag([1.0, 2.0, 2.0]), None, dv)
    # the first vector turns by da[j, 0] / (1 - 2) towards the others
    np.testing.assert_allclose(da, [[0, 0, 0], [-1, 0, 0], [-2, 0, 0]], atol=1e-14)


def test_one_triangle_is_read():
    a = np.array([[2.0, 99.0], [1.0, 3.0]])
    for f in (np.linalg.eigh, np.linalg.eigvalsh):
        _, back = rrule(f, a)
        da = back((np.array([1.0, -2.0]), None) if f is np.linalg.eigh else np.array([1.0, -2.0]))[
            1
        ]
        assert da[0, 1] == 0
        assert da[1, 0] != 0
    _, back = rrule(np.linalg.eigh, a.astype(complex), "u")
    assert back((np.array([1.0, -2.0]), None))[1][1, 0] == 0


def test_gradient_by_a_phase_that_is_not_determined():
    # the first entry of the eigenvectors is to be real, but vanishes
    a = np.diag([1.0, 2.0 + 0j])
    with pytest.raises(np.linalg.LinAlgError, match="phase"):
        pulled(np.linalg.eigh, a, None, np.array([[0, 0], [0, 1j]]))
    assert np.all(np.isfinite(pulled(np.linalg.eigh, a, None, np.ones((2, 2)))))


def test_against_a_matrix_function():
    # the exponential of a symmetric matrix by its eigenvectors
    scipy_linalg = pytest.importorskip("scipy.linalg", reason="scipy is not installed")
    rng = np.random.default_rng(0)
    a, dy = rng.normal(size=(2, 4, 4))
    a, dy = a + a.T, dy + dy.T
    (w, v), back = rrule(np.linalg.eigh, a)
    dw = np.exp(w) * np.diag(v.T @ dy @ v)
    da = back((dw, 2 * dy @ v * np.exp(w)))[1]
    expected = scipy_linalg.expm_frechet(a.T, dy, compute_expm=False)
    np.testing.assert_allclose((da + da.T) / 2, expected, rtol=1e-9)


@pytest.mark.parametrize("shape", [(0, 0), (0, 3, 3), (1, 1)], ids=str)
def test_empty_and_small_matrices(shape):
    for f in (np.linalg.eigh, np.linalg.eig):
        assert rrule(f, np.ones(shape))[1]((np.ones(shape[:-1]), np.ones(shape)))[1].shape == shape
    for f in (np.linalg.eigvalsh, np.linalg.eigvals):
        assert rrule(f, np.ones(shape))[1](np.ones(shape[:-1]))[1].shape == shape


@pytest.mark.parametrize("f", [np.linalg.eigvals, np.linalg.eig])
@pytest.mark.parametrize("roots", [[1.0, 1.0], [-0.3] * 3, [1e3, 1e3, 2.0], [1.0] * 5])
def test_coinciding_roots_of_a_polynomial_have_no_gradient(f, roots):
    c = np.poly(roots)
    a = np.diag(np.ones(len(roots) - 1), -1)
    a[0] = -c[1:]
    _, back = rrule(f, a)
    dw = np.ones(len(roots))
    with pytest.raises(np.linalg.LinAlgError, match="coinciding roots"):
        back(dw if f is np.linalg.eigvals else (dw, None))


@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e5])
def test_roots_that_are_near_have_a_gradient(scale):
    roots = scale * np.array([1.0, 1.01, 2.0, 5.0])
    a = np.diag(np.ones(3), -1)
    a[0] = -np.poly(roots)[1:]
    da = rrule(np.linalg.eigvals, a)[1](np.ones(4))[1]  # of their sum, the trace
    np.testing.assert_allclose(np.diag(da), 1.0, rtol=1e-6)
