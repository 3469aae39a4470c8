"""The rows of the table of matrices in the README of `rules_scipy`."""

import numpy as np
import pytest
from scipy import linalg
from scipy.linalg import lapack

from zygote_lite import gradient, hessian

ONES, EYE = np.ones((3, 3)), np.eye(3)
WEIGHTS = np.cos(np.arange(9.0)).reshape(3, 3)
RANK_TWO = np.diag([2.0, 1.0, 0.0])


def test_zeros_and_ties():
    np.testing.assert_array_equal(gradient(linalg.norm, np.zeros(3))[0], np.zeros(3))
    (da,) = gradient(lambda a: np.sum(linalg.svdvals(a)), RANK_TWO)
    np.testing.assert_allclose(da, np.diag([1.0, 1.0, 0.0]), atol=1e-15)
    (dx,) = gradient(lambda x: linalg.norm(x, np.inf), np.array([2.0, -2.0, 1.0]))
    np.testing.assert_array_equal(dx, [0.5, -0.5, 0.0])
    # 1 / (1 / |x| + ...): it follows the smallest entry
    with np.errstate(divide="ignore"):  # SciPy's own
        (dx,) = gradient(lambda x: linalg.norm(x, -1), np.array([1.0, 2.0, 0.0]))
    np.testing.assert_array_equal(dx, np.zeros(3))


def test_second_derivatives_of_the_determinant_of_singular_matrices():
    for a in (RANK_TWO, np.outer([1.0, 2.0, 0.0], [0.0, 1.0, -1.0])):
        steps = np.eye(9).reshape(9, 3, 3)
        # it is a polynomial that is linear in each entry
        expected = [
            [linalg.det(a + s + t) - linalg.det(a + s) - linalg.det(a + t) for t in steps]
            for s in steps
        ]
        found = hessian(lambda x: linalg.det(x.reshape(3, 3)))(a.ravel())
        np.testing.assert_allclose(found, expected, atol=1e-13)


def test_repeated_values():
    for f in (linalg.eigvalsh, linalg.svdvals, lambda a: np.real(linalg.eigvals(a))):
        (da,) = gradient(lambda a, f=f: np.sum(f(a)), EYE)
        np.testing.assert_allclose(da, EYE, atol=1e-15)


def test_a_singular_matrix():
    (da,) = gradient(linalg.det, RANK_TWO)
    np.testing.assert_allclose(da, np.diag([0.0, 0.0, 2.0]), atol=1e-15)
    (da,) = gradient(lambda a: np.sum(linalg.pinv(a)), RANK_TWO)
    t = 1e-6 * np.outer([1.0, 2.0, 0.0], [1.0, -1.0, 0.0])  # in a direction that keeps the rank
    difference = np.sum(linalg.pinv(RANK_TWO + t)) - np.sum(linalg.pinv(RANK_TWO - t))
    assert np.sum(da * t) == pytest.approx(difference / 2, rel=1e-6)


@pytest.mark.filterwarnings("ignore::scipy.linalg.LinAlgWarning")  # of the root, by SciPy
@pytest.mark.parametrize(
    ("f", "a"),
    [
        (lambda a: np.sum(linalg.eigh(a)[1] * WEIGHTS), EYE),
        (lambda a: np.sum(linalg.svd(a)[0] * WEIGHTS), EYE),
        (lambda a: np.sum(linalg.svd(a)[0] * WEIGHTS), RANK_TWO),
        (lambda a: np.sum(linalg.svd(a[:, :2])[0] * WEIGHTS), WEIGHTS),
        (lambda a: np.sum(linalg.qr(a)[0] * WEIGHTS), ONES),
        (lambda a: np.sum(linalg.polar(a)[0] * WEIGHTS), RANK_TWO),
        (lambda a: np.sum(lapack.dpotrf(a)[0]), -EYE),
        (lambda a: np.sum(lapack.dgesv(a, EYE)[2]), ONES),
        (lambda a: np.real(linalg.eigvals(a)[0]), np.eye(3, k=1)),
        (lambda a: np.sum(linalg.schur(a)[1] * WEIGHTS), EYE),
        (lambda a: np.sum(linalg.schur(a)[0] * WEIGHTS), EYE),
        (lambda a: np.sum(linalg.ldl(a)[0] * WEIGHTS), ONES),
        (lambda a: np.sum(linalg.sqrtm(a)), RANK_TWO),
        (lambda a: np.sum(linalg.fractional_matrix_power(a, 0.5)), RANK_TWO),
        (lambda a: np.sum(linalg.signm(a)), RANK_TWO),
        (lambda a: np.sum(linalg.solve_sylvester(a, -a, ONES)), EYE),
        (lambda a: linalg.det(a, check_finite=False), np.diag([np.inf, 1.0, 0.0])),
        (lambda a: np.sum(linalg.hessenberg(a, True)[1] * WEIGHTS), EYE),
    ],
)
def test_what_has_none_is_an_error_at_the_users_line(f, a):
    place = f"{f.__code__.co_filename}:{f.__code__.co_firstlineno}: the pullback of scipy.linalg."
    for _ in range(4):
        with pytest.raises(linalg.LinAlgError) as caught:
            gradient(f, a)
        assert str(caught.value).startswith(place)


def test_errors_of_the_call_are_those_of_scipy():
    for f, a in ((linalg.inv, ONES), (linalg.cholesky, -EYE), (linalg.cho_factor, -EYE)):
        with pytest.raises(linalg.LinAlgError) as plain:
            f(a)
        with pytest.raises(linalg.LinAlgError) as caught:
            gradient(lambda a, f=f: np.sum(f(a)[0]), a)
        assert str(caught.value) == str(plain.value)
