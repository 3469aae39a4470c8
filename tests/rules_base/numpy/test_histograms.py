"""Counts and weights in bins."""

import numpy as np
import pytest

from rulescore import rrule
from rulescore.testing import check_rrule


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_base"


def test_weights_go_to_the_bins_of_their_samples():
    x = np.array([0.0, 0.5, 1.0, 2.0, 2.5, np.nan])
    y, back = rrule(np.histogram, x, [0.0, 1.0, 2.0], None, None, np.arange(6.0))
    np.testing.assert_array_equal(y[0], [1.0, 5.0])
    cotangents = back((np.array([10.0, 20.0]), None))
    np.testing.assert_array_equal(cotangents[5], [10.0, 10.0, 20.0, 20.0, 0.0, 0.0])
    assert cotangents[:5] == (None,) * 5


@pytest.mark.parametrize("bins", [4, 7, 10])
def test_every_sample_is_found_in_its_bin(bins):
    x = np.linspace(0.0, 1.0, 101)  # many samples are on edges
    counts, _ = np.histogram(x, bins, weights=x)
    _, back = rrule(np.histogram, x, bins, None, None, x)
    dy = np.arange(1.0, bins + 1)
    dweights = back((dy, None))[5]
    assert np.isclose(dweights @ x, dy @ counts)


def test_edges_follow_the_range_or_the_bins_given():
    x = np.array([0.1, 0.7, 3.0])
    _, _, _, drange = rrule(np.histogram_bin_edges, x, 2, (0.0, 2.0))[1](np.array([1.0, 2.0, 4.0]))
    assert drange == (2.0, 5.0)
    _, dx, dbins = rrule(np.histogram, x, [0.0, 1.0, 2.0])[1]((None, np.array([1.0, 2.0, 4.0])))
    assert dx is None
    assert dbins == [1.0, 2.0, 4.0]


def test_edges_follow_the_extreme_samples():
    x = np.array([0.5, 3.0, 0.1])
    for bins in (2, "sturges"):
        edges, back = rrule(np.histogram_bin_edges, x, bins)
        _, dx, *_ = back(np.ones_like(edges))
        np.testing.assert_allclose(dx, np.array([0.0, 1.0, 1.0]) * edges.size / 2)
