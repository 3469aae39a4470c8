"""Functions of complex numbers that are not holomorphic."""

import math
import operator

import numpy as np
import pytest

from rulescore import rrule
from rulescore.testing import check_rrule


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_base"


@pytest.mark.parametrize("f", [abs, operator.abs, np.absolute], ids=["abs", "operator", "numpy"])
def test_magnitude_at_zero(f):
    assert rrule(f, 0.0)[1](1.0) == (None, 0.0)
    assert rrule(f, 0j)[1](1.0) == (None, 0.0)
    np.testing.assert_array_equal(rrule(f, np.zeros(2))[1](np.ones(2))[1], [0.0, 0.0])
    assert math.isnan(rrule(f, math.nan)[1](1.0)[1])


def test_gradient_of_the_squared_magnitude_descends():
    z = 3.0 - 4.0j
    r, back = rrule(np.absolute, z)
    assert back(2 * r)[1] == pytest.approx(2 * z)


def test_parts_of_real_numbers():
    x = np.array([0.5, -2.0])
    np.testing.assert_array_equal(rrule(np.real, x)[1](np.ones(2))[1], [1.0, 1.0])
    np.testing.assert_array_equal(rrule(np.imag, x)[1](np.ones(2))[1], [0.0, 0.0])
    assert rrule(np.sign, x)[1](np.ones(2)) == (None, None)


def test_conj_of_a_real_array_is_the_array():
    x = np.ones(2)
    assert rrule(np.ndarray.conj, x)[0] is x.conj()
