"""Attributes of arrays and numbers."""

import numpy as np

from rulescore import rrule
from rulescore.testing import check_rrule


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_base"


def test_shapes_are_constant():
    x = np.ones((2, 3))
    for attribute in (np.ndarray.shape, np.ndarray.ndim, np.ndarray.size, np.ndarray.dtype):
        y, back = rrule(attribute, x)
        assert y == attribute.__get__(x)
        assert back(1.0) == (None, None)


def test_flat():
    x = np.ones((2, 3))
    y, back = rrule(np.ndarray.flat, x)
    assert y.base is x
    np.testing.assert_array_equal(back(np.arange(6.0))[1], np.arange(6.0).reshape(2, 3))


def test_a_view_is_a_view():
    x = np.ones((2, 3), complex)
    for attribute in (np.ndarray.T, np.ndarray.mT, np.ndarray.real, np.ndarray.imag):
        assert np.shares_memory(rrule(attribute, x)[0], x)
