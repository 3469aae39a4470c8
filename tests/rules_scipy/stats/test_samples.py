"""Rules of `rules_scipy.stats.samples`, against differences and the functions' own Python."""

import numpy as np
import pytest
from scipy import stats

from rulescore.testing import check_rrule
from zygote_lite import grad

X = np.array([0.6, 1.3, 0.9, 2.7, 1.9])


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


EDGES = {
    "a nan": np.array([np.nan, 2.0, 1.0]),
    "one": np.array([2.0]),
    "all alike": np.full(4, 0.7),
    "single precision": X.astype(np.float32),
    "whole numbers": np.array([1, 2, 6, 9]),
}


@pytest.mark.sampled(2)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("f", [stats.gmean, stats.hmean, stats.skew, stats.kurtosis])
@pytest.mark.parametrize("name", EDGES)
def test_edges_are_those_of_the_python(f, name):
    x = EDGES[name]
    found = outcome(lambda x: f(x), x)
    expected = outcome(lambda x: f(x, nan_policy="propagate"), x)  # which no rule takes
    np.testing.assert_allclose(found, expected, rtol=1e-5 if x.dtype == np.float32 else 1e-10)
    assert found.dtype == expected.dtype


def test_means_that_are_zero():
    rows = np.array([[0.0, 2.0, 1.0], [0.0, 0.0, 1.0], [3.0, 2.0, 1.0]])

    def by_forward_differences(f, i, h=1e-9):
        steps = np.eye(3) * h
        return [(f(rows[i] + step) - f(rows[i])) / h for step in steps]

    found = grad(lambda a: np.sum(stats.hmean(a, axis=1)))(rows)
    expected = [by_forward_differences(stats.hmean, i) for i in range(3)]
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)

    found = grad(lambda a: np.sum(stats.gmean(a, axis=1)))(rows)
    np.testing.assert_array_equal(found[0], [np.inf, 0.0, 0.0])  # that of x ** (1 / 3)
    np.testing.assert_array_equal(found[1], np.zeros(3))
    expected = by_forward_differences(stats.gmean, 2)
    np.testing.assert_allclose(found[2], expected, rtol=1e-5)
    assert grad(stats.gmean)(np.zeros(1)) == grad(stats.hmean)(np.zeros(1)) == [1.0]


def outcome(f, x):
    with np.errstate(all="ignore"):
        return grad(f)(x)
