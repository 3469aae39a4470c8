"""Rules of `rules_scipy.linalg.factorizations`, against differences."""

import numpy as np
import pytest
from scipy import linalg

from rulescore import rrule
from rulescore.testing import check_rrule
from zygote_lite import gradient, hessian


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


MATRIX = np.array([[2.5, -1.5, 0.5], [0.75, 1.25, -0.25], [-0.5, 1.0, 1.75]])
A = MATRIX @ MATRIX.T + 0.5 * np.eye(3)


def evidence(a, noise):
    c = linalg.cho_factor(a + noise * np.eye(3), lower=True)
    return linalg.cho_solve(c, np.ones(3)) @ np.ones(3) + 2 * np.sum(np.log(np.diag(c[0])))


def test_a_marginal_likelihood_and_its_second_derivative():
    for _ in range(4):
        da, dnoise = gradient(evidence, A, 0.3)
        inverse = np.linalg.inv(A + 0.3 * np.eye(3))
        expected = inverse - np.outer(inverse.sum(0), inverse.sum(0))
        np.testing.assert_allclose((da + da.T) / 2, expected, rtol=1e-10)
        assert dnoise == pytest.approx(np.trace(expected))
    second = hessian(lambda t: evidence(A, t))(0.3)
    slope = lambda t: gradient(evidence, A, t)[1]
    assert second == pytest.approx((slope(0.301) - slope(0.299)) / 0.002, rel=1e-5)


def test_a_matrix_whose_columns_depend_on_each_other():
    y, back = rrule(linalg.qr, np.ones((3, 2)), mode="economic")
    with pytest.raises(linalg.LinAlgError, match="not linearly independent"):
        back(y)


def test_what_is_not_determined_is_refused():
    tall = np.sin(np.arange(12.0) ** 2).reshape(4, 3)
    y, back = rrule(linalg.qr, tall)
    with pytest.raises(linalg.LinAlgError, match="null space"):
        back(y)
    with pytest.raises(NotImplementedError, match="rq"):
        rrule(linalg.rq, tall)


def test_arguments_are_not_overwritten():
    a = np.asfortranarray(A)
    rrule(linalg.cho_factor, a, overwrite_a=True)[1]((np.ones((3, 3)), None))
    np.testing.assert_array_equal(a, A)
