"""Reshaping, transposing and broadcasting."""

import numpy as np

from rulescore import rrule
from rulescore.testing import check_rrule


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_base"


def test_flatten_copies_and_ravel_does_not():
    x = np.ones((2, 2))
    assert not np.shares_memory(rrule(np.ndarray.flatten, x)[0], x)
    assert np.shares_memory(rrule(np.ravel, x)[0], x)


def test_a_shape_by_keyword():
    x = np.ones((2, 3))
    y, back = rrule(np.reshape, x, shape=(3, 2))
    assert back(y)[1].shape == (2, 3)
    assert len(back(y)) == 2
    y, back = rrule(np.swapaxes, x, 0, 1)
    assert len(back(y)) == 4


def test_empty_arrays():
    x = np.ones((0, 3))
    for f, args in ((np.reshape, ((3, 0),)), (np.transpose, ()), (np.ravel, ()), (np.squeeze, ())):
        y, back = rrule(f, x, *args)
        assert back(y)[1].shape == (0, 3)
