"""Convolutions and correlations against finite differences."""

import numpy as np
import pytest

from rules_base.numpy import convolutions

EXAMPLES = [
    pytest.param(*e, id=f"{e[0].__name__}-{i}") for i, e in enumerate(convolutions.rule.examples)
]


@pytest.mark.parametrize(("f", "xs", "options"), EXAMPLES)
def test_example(check, f, xs, options):
    check(f, *xs, **options)


@pytest.mark.parametrize("sizes", [(1, 1), (1, 4), (4, 1), (5, 2), (2, 5), (6, 3), (3, 6), (4, 4)])
@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("f", [np.convolve, np.correlate])
def test_convolution_of_any_lengths(check, f, mode, sizes):
    a, v = (np.sin(np.arange(1.0, n + 1) ** 2) + 1j * np.cos(np.arange(n)) for n in sizes)
    check(f, a, v, mode=mode)
