"""Legendre functions and spherical harmonics, against differences."""

import numpy as np
import pytest
from scipy import special as sp

from rulescore import rrule
from rulescore.testing import check_rrule


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


def test_degree_zero_has_slopes_at_the_ends():
    for x in (1.0, -1.0):
        slope = rrule(sp.lpmv, 0, 3, x)[1](1.0)[3]
        assert slope == pytest.approx(6.0)


def test_a_second_derivative_has_none():
    with pytest.raises(NotImplementedError, match="no third derivative"):
        rrule(sp.legendre_p, 3, np.array([0.3]), diff_n=2)
