"""Results that nobody reads are left out, but not those of the program, whose calls may raise."""

import math

import numpy as np
import pytest

from zygote_lite import gradient, testing


def unread_root(x):
    math.sqrt(x)
    return x * 2.0


def unread_inverse(x):
    np.linalg.inv(x)
    return np.sum(x * 2.0)


def unread_logarithm(x):
    np.log(x)
    return np.sum(x * 2.0)


@pytest.mark.parametrize(
    ("f", "good", "bad", "error"),
    [
        (unread_root, 4.0, -1.0, ValueError),
        (unread_inverse, np.eye(2), np.ones((2, 2)), np.linalg.LinAlgError),
        (unread_logarithm, np.ones(2), -np.ones(2), FloatingPointError),
    ],
)
def test_calls_of_the_program_that_nobody_reads_raise_what_they_raise(f, good, bad, error):
    with np.errstate(all="raise"):
        with testing.transformed_only():
            assert np.all(gradient(f, good)[0] == 2.0)
        with pytest.raises(error):
            gradient(f, bad)
