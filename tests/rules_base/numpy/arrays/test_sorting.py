"""Sorting and order statistics."""

import numpy as np
import pytest

from rulescore import rrule
from rulescore.testing import check_rrule


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_base"


def test_ties_keep_their_order():
    x = np.array([2.0, 1.0, 2.0, 1.0])
    _, dx = rrule(np.sort, x)[1](np.array([10.0, 20.0, 30.0, 40.0]))
    np.testing.assert_array_equal(dx, [30.0, 10.0, 40.0, 20.0])
    _, dx = rrule(np.unique, x)[1](np.array([10.0, 20.0]))
    np.testing.assert_array_equal(dx, [20.0, 10.0, 0.0, 0.0])


@pytest.mark.parametrize("q", [0.0, 0.1, 0.5, 0.99, 1.0])
@pytest.mark.parametrize("n", [1, 2, 7])
def test_quantiles_of_samples(check, q, n):
    x = np.sin(np.arange(3.0 * n)).reshape(n, 3)
    for f in (np.quantile, np.nanquantile):
        y, back = rrule(f, x, q, axis=0)
        _, dx, _ = back(np.ones(3))
        np.testing.assert_allclose(dx.sum(0), np.ones(3))
        np.testing.assert_allclose((dx * x).sum(0), y, rtol=1e-12)


def test_quantile_of_a_lane_of_missing_values():
    x = np.array([[np.nan, 1.0], [np.nan, 2.0]])
    with pytest.warns(RuntimeWarning, match="All-NaN"):
        _y, back = rrule(np.nanmedian, x, axis=0)
    with pytest.warns(RuntimeWarning, match="All-NaN"):
        _, dx = back(np.array([0.0, 1.0]))
    np.testing.assert_array_equal(dx[:, 1], [0.5, 0.5])


def test_partition_agrees_with_sorting():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(4, 9))
    y, back = rrule(np.partition, x, 4, axis=1)
    np.testing.assert_allclose(back(y**2)[1], x**2)


@pytest.mark.filterwarnings("ignore:.*empty slice", "ignore:invalid value")
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_quantiles_of_nothing(axis):
    x = np.ones((2, 0))
    for f in (np.nanquantile, np.nanmedian, np.median):
        xs = (x, 0.3) if f is np.nanquantile else (x,)
        y, back = rrule(f, *xs, axis=axis)
        assert back(np.ones_like(y))[1].shape == (2, 0)
    assert rrule(np.quantile, np.ones(3), np.ones(0))[1](np.ones(0))[2].shape == (0,)


def test_leading_zeros_of_coefficients_are_not_lost():
    with pytest.raises(NotImplementedError, match="such as coefficients of np"):
        rrule(np.trim_zeros, np.array([0.0, 1.0, 2.0]), "f")
    assert rrule(np.trim_zeros, np.array([1.0, 0.0]), "f") is not None


@pytest.mark.parametrize("trim", ["fb", "f", "b"])
def test_zeros_around_a_matrix(trim):
    x = np.zeros((4, 5))
    x[1:3, 2:4] = [[0.0, 1.5], [2.5, 0.0]]
    if np.lib.NumpyVersion(np.__version__) < "2.2.0":  # it is for one axis only
        with pytest.raises(ValueError, match="ambiguous"):
            rrule(np.trim_zeros, x, trim)
        return
    _, back = rrule(np.trim_zeros, x, trim)
    y = np.trim_zeros(x, trim)
    dy = np.arange(1.0, y.size + 1).reshape(y.shape)
    (dx, _) = back(dy)[1:]
    assert np.sum(dx) == np.sum(dy)
    assert np.sum(dx * x) == np.sum(dy * y)
    assert rrule(np.trim_zeros, np.zeros((2, 3)), trim)[1](np.zeros((0, 0)))[1].shape == (2, 3)
