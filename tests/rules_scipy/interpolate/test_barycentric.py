"""Rules of `rules_scipy.interpolate.barycentric`, against differences."""

import numpy as np
import pytest
from scipy import interpolate as si

from rulescore.testing import check_rrule
from tests.rules_scipy.tiers import differences
from zygote_lite import gradient, hessian

X = np.array([0.0, 0.7, 1.5, 2.9])
Y = np.array([0.3, 1.0, 0.4, 1.7])
AT = np.array([0.3, 0.7, 2.5])  # one of them is a node
W = np.array([1.0, -0.7, 0.4])


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


def polynomial(x, y, at):
    return np.sum(W * si.BarycentricInterpolator(x, y)(at) ** 2)


def slopes(x, y, at):
    return np.sum(W * si.BarycentricInterpolator(x, y).derivative(at) ** 2)


def rational(x, y, at):
    return np.sum(W * si.FloaterHormannInterpolator(x, y, d=2)(at) ** 2)


def krogh(x, y, at):
    return np.sum(W * si.KroghInterpolator(x, y)(at) ** 2)


@pytest.mark.parametrize("f", [polynomial, slopes, rational, krogh])
def test_derivatives_at_nodes_and_elsewhere(f):
    found = gradient(f, X, Y, AT)
    for i in range(3):

        def moved(x, i=i):
            return f(*[x if j == i else known for j, known in enumerate((X, Y, AT))])

        expected = differences(moved, (X, Y, AT)[i])
        np.testing.assert_allclose(found[i], expected, rtol=1e-6, atol=1e-7)


def test_second_derivatives_at_nodes():
    expected = differences(lambda at: gradient(polynomial, X, Y, at)[2][1], AT)
    np.testing.assert_allclose(hessian(lambda at: polynomial(X, Y, at))(AT)[1], expected, atol=1e-6)
