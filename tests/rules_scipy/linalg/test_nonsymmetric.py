"""Rules of `rules_scipy.linalg.nonsymmetric`, against differences."""

import numpy as np
import pytest
from scipy import linalg

from rulescore import rrule
from rulescore.testing import check_rrule
from zygote_lite import gradient, hessian
from zygote_lite.errors import NoRuleError

A = np.array([[2.5, -1.5, 0.5], [0.75, 4.25, -0.25], [-0.5, 1.0, 8.75]])
REAL = A + np.diag([0.0, 6.0, 12.0])  # with real eigenvalues
B = np.array([[3.0, 0.2, 0.1], [0.3, 2.0, -0.4], [0.1, 0.5, 1.5]])
DIRECTION = np.sin(np.arange(9.0) ** 2).reshape(3, 3)
WEIGHTS = np.cos(np.arange(9.0)).reshape(3, 3)


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


def agrees(f, a, tolerance=1e-6):
    """Compare the gradient by a matrix with a difference, and with that of the gradient."""
    (da,) = gradient(f, a)
    found = (f(a + 1e-6 * DIRECTION) - f(a - 1e-6 * DIRECTION)) / 2e-6
    assert np.sum(da * DIRECTION) == pytest.approx(found, rel=tolerance)
    along = lambda t: f(a + t * DIRECTION)
    slope = lambda t: gradient(along, t)[0]
    found = (slope(1e-5) - slope(-1e-5)) / 2e-5
    assert hessian(along)(0.0) == pytest.approx(found, rel=1e-4)


def test_vectors_of_a_general_matrix():
    agrees(lambda a: np.sum(np.abs(linalg.eig(a)[1]) ** 4 * WEIGHTS), A)


def test_vectors_of_a_pencil():
    agrees(lambda a: np.sum(np.abs(linalg.eig(a, B)[1]) ** 4 * WEIGHTS), A)
    agrees(lambda b: np.sum(np.abs(linalg.eig(A, b)[1]) ** 4 * WEIGHTS), B)
    agrees(lambda b: np.sum(np.real(linalg.eigvals(A, b=b)) ** 3), B)


def test_schur_forms():
    def of_real(a):
        t, z = linalg.schur(a)
        return np.sum(t**2 * WEIGHTS) + np.sum(z**2 * WEIGHTS)

    def of_complex(a):
        t, z = linalg.schur(a, output="complex")
        return np.sum(np.abs(t) ** 2 * WEIGHTS) + np.sum(np.abs(z) ** 2 * WEIGHTS)

    agrees(of_real, REAL)
    agrees(of_complex, REAL)
    agrees(of_complex, A)


def test_a_hessenberg_form():
    a = np.sin(np.arange(25.0) ** 2).reshape(5, 5)

    def value(t):
        h, q = linalg.hessenberg(a + t * a.T, calc_q=True)
        return np.sum(h**3) + np.sum(q[1:] ** 3)

    assert gradient(value, 0.3)[0] == pytest.approx((value(0.30001) - value(0.29999)) / 2e-5)
    slope = lambda t: gradient(value, t)[0]
    second = (slope(0.30001) - slope(0.29999)) / 2e-5
    assert hessian(value)(0.3) == pytest.approx(second, rel=1e-5)


@pytest.mark.parametrize(
    ("f", "a", "match"),
    [
        (
            lambda a: np.sum(np.real(linalg.eigvals(a)) * B),
            np.eye(3, k=1),
            "full set of eigenvectors",
        ),
        (lambda a: np.sum(linalg.eig(a)[1] ** 3), np.eye(3), "repeated"),
        (lambda a: np.sum(linalg.schur(a)[1] * WEIGHTS), np.eye(3), "repeated"),
        (lambda a: np.sum(linalg.hessenberg(a, True)[1] * WEIGHTS), np.eye(3), "zero below"),
        (lambda a: np.sum(linalg.hessenberg(a) * WEIGHTS), np.eye(3), "zero below"),
        (lambda a: np.sum(np.real(linalg.eigvals(A, a))), np.diag([1.0, 1.0, 0.0]), "infinite"),
        (lambda a: np.sum(np.real(linalg.schur(a, "complex")[1])), A, "phase"),
    ],
)
def test_what_has_no_gradient_is_refused_at_the_users_line(f, a, match):
    place = f"{f.__code__.co_filename}:{f.__code__.co_firstlineno}: "
    with pytest.raises(linalg.LinAlgError, match=match) as caught:
        gradient(f, a)
    assert str(caught.value).startswith(place)


def test_eigenvalues_that_are_repeated():
    _, da = rrule(linalg.eigvals, np.eye(3))[1](np.ones(3, complex))
    np.testing.assert_allclose(da, np.eye(3), atol=1e-15)


@pytest.mark.parametrize(
    ("f", "match"),
    [
        (lambda a: np.sum(linalg.schur(a)[0]), "output='complex'"),
        (lambda a: np.sum(linalg.null_space(a[:2])), "null_space has no rule"),
        (lambda a: np.sum(linalg.orth(a)), "orth has no rule"),
        (lambda a: np.sum(linalg.eig(a, left=True)[1]), "right eigenvectors only"),
        (lambda a: np.sum(linalg.hessenberg(a + 1j * a.T)), "real matrices"),
        (lambda a: np.sum(linalg.funm(a, np.exp)), "scipy.linalg.funm"),
    ],
)
def test_what_is_refused_by_name(f, match):
    with pytest.raises(NoRuleError, match=match) as caught:
        gradient(f, A)
    assert str(caught.value).startswith(f"{f.__code__.co_filename}:{f.__code__.co_firstlineno}")
