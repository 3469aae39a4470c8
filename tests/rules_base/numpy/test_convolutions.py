"""Convolutions and correlations against finite differences."""

import numpy as np
import pytest

from rules_base.numpy import convolutions
from rulescore import rrule

EXAMPLES = [
    pytest.param(*e, id=f"{e[0].__name__}-{i}") for i, e in enumerate(convolutions.rule.examples)
]


@pytest.mark.parametrize(("f", "xs", "options"), EXAMPLES)
def test_example(check, f, xs, options):
    check(f, *xs, **options)


@pytest.mark.parametrize("f", [np.convolve, np.correlate])
def test_integers_are_real_numbers(f):
    a, b = np.array([1, 2, 3]), np.array([4, -1, 2])
    y, back = rrule(f, a, b)
    assert y.dtype == f(a, b).dtype
    floats = rrule(f, a.astype(float), b.astype(float))[1](np.ones(y.shape))
    for d, expected in zip(back(np.ones(y.shape))[1:], floats[1:], strict=True):
        assert d.dtype == np.float64
        np.testing.assert_array_equal(d, expected)


@pytest.mark.parametrize("sizes", [(1, 1), (1, 4), (4, 1), (5, 2), (2, 5), (6, 3), (3, 6), (4, 4)])
@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("f", [np.convolve, np.correlate])
def test_convolution_of_any_lengths(check, f, mode, sizes):
    a, v = (np.sin(np.arange(1.0, n + 1) ** 2) + 1j * np.cos(np.arange(n)) for n in sizes)
    check(f, a, v, mode=mode)
