"""The package `numpy.polynomial`."""

import numpy as np
import pytest

from rulescore import rrule
from rulescore.testing import check_rrule


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_base"


def test_coefficients_that_numpy_drops_are_refused():
    """`polymul` of what ends in zeros gave no gradient for these."""
    with pytest.raises(NotImplementedError, match="drops trailing coefficients"):
        rrule(np.polynomial.polyutils.trimseq, np.array([1.0, 0.0]))
    y, back = rrule(np.polynomial.polyutils.trimseq, np.array([0.0, 1.0]))
    np.testing.assert_array_equal(back(y)[1], y)
