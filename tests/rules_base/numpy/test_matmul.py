"""Matrix products."""

import operator

import numpy as np
import pytest

from rulescore import rrule
from rulescore.testing import check_rrule


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_base"


SHAPES = [
    ((3,), (3,)),
    ((3,), (3, 2)),
    ((2, 3), (3,)),
    ((2, 3), (3, 4)),
    ((5, 2, 3), (3,)),
    ((3,), (5, 3, 2)),
    ((5, 2, 3), (3, 4)),
    ((2, 3), (5, 3, 4)),
    ((5, 2, 3), (5, 3, 4)),
    ((1, 2, 3), (5, 3, 4)),
    ((5, 2, 3), (1, 3, 4)),
    ((6, 1, 2, 3), (5, 3, 4)),
    ((5, 2, 3), (6, 1, 3, 4)),
    ((2, 0), (0, 3)),
    ((0, 2), (2, 3)),
]


def filled(shape, dtype):
    x = np.sin(np.arange(np.prod(shape) * 1.0) + len(shape)).reshape(shape)
    return (x + 1j * np.cos(3 * x)).astype(dtype) if np.dtype(dtype).kind == "c" else x


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize(("left", "right"), SHAPES, ids=str)
def test_every_mix_of_axes(check, left, right, dtype):
    a, b = filled(left, dtype), filled(right, dtype)
    check(np.matmul, a, b)
    check(operator.matmul, a, b)
    check(np.dot, a, b)


def test_precision_of_each_factor():
    a, b = np.ones((2, 3), np.float32), np.ones((3, 2))
    _, da, db = rrule(np.matmul, a, b)[1](np.ones((2, 2)))
    assert (da.dtype, db.dtype) == (np.float32, np.float64)
    _, da, db = rrule(np.matmul, np.ones((2, 3), int), b + 1j)[1](np.ones((2, 2)) * 1j)
    assert (da.dtype, db.dtype) == (np.float64, np.complex128)
