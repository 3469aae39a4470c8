"""Rolling, flipping, repeating, triangles and diagonals."""

import numpy as np
import pytest

from rulescore import rrule
from rulescore.testing import check_rrule


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_base"


@pytest.mark.parametrize("shape", [(2, 3, 4), (4, 2, 3), (3, 3, 3)])
@pytest.mark.parametrize("offset", [-5, -1, 0, 2, 7])
@pytest.mark.parametrize("axes", [(0, 1), (1, 0), (2, 0), (-1, 1)])
def test_diagonals(check, shape, offset, axes):
    x = np.sin(np.arange(np.prod(shape) * 1.0)).reshape(shape)
    check(np.diagonal, x, offset, *axes)
    check(np.trace, x, offset, *axes)


@pytest.mark.parametrize("axis", [-4, -2, 0, 1, 3])
@pytest.mark.parametrize("start", [-4, -1, 0, 2, 4])
def test_rollaxis(check, axis, start):
    check(np.rollaxis, np.sin(np.arange(24.0)).reshape(1, 2, 3, 4), axis, start)


def test_repeats_of_nothing(check):
    check(np.repeat, np.ones((2, 3)), [0, 0], axis=0)
    check(np.repeat, np.ones((2, 3)), 0)
    check(np.tile, np.ones((2, 3)), (0, 2))


def test_long_precision_and_no_dimensions():
    x = np.ones((2, 3), np.longdouble)
    for f, args in ((np.pad, (1, "edge")), (np.repeat, (2,)), (np.resize, ((4, 4),))):
        y, back = rrule(f, x, *args)
        assert back(np.ones_like(y))[1].dtype == np.longdouble
    _, dx = rrule(np.repeat, np.array(2.0), 3, axis=0)[1](np.ones(3))[:2]
    assert dx.shape == ()
    assert dx == 3.0
