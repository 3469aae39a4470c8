"""Covariances and correlations."""

import numpy as np
import pytest

from rulescore import rrule
from rulescore.testing import check_rrule

X = np.sin(np.arange(8.0)).reshape(2, 4)
WEIGHTS = np.array([0.5, 1.25, 2.0, 0.75])


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_base"


@pytest.mark.parametrize("ddof", [None, 0, 1, 2])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("fweights", [None, [1, 2, 0, 3]])
def test_weights(check, ddof, bias, fweights):
    check(np.cov, X, None, True, bias, ddof, fweights, WEIGHTS)
    check(np.cov, X[0], X[1], True, bias, ddof, fweights, WEIGHTS)
    check(np.cov, X, fweights=fweights, bias=bias, ddof=ddof)


def test_counts_stand_for_repeated_observations():
    _, repeated = rrule(np.cov, np.repeat(X, [1, 2, 1, 3], axis=1))[1](np.ones((2, 2)))
    _, dx = rrule(np.cov, X, fweights=[1, 2, 1, 3])[1](np.ones((2, 2)))
    np.testing.assert_allclose(dx, np.add.reduceat(repeated, [0, 1, 3, 4], axis=1))


def test_one_variable_has_a_number():
    y, back = rrule(np.cov, X[0], aweights=WEIGHTS)
    assert y.shape == ()
    assert back(1.0)[1].shape == (4,)
