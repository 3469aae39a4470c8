"""Array constructors, copies, conversions and fills."""

import numpy as np
import pytest

from rulescore import rrule
from rulescore.testing import check_rrule


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_base"


def test_the_kind_of_nested_lists_is_kept():
    xs = [(1.0, 2), [np.float32(3.0), True]]
    _y, back = rrule(np.array, xs)
    _, dxs = back(np.arange(4.0).reshape(2, 2))
    assert dxs == [(0.0, 1.0), [np.float32(2.0), None]]
    assert [type(d) for d in dxs] == [tuple, list]
    assert type(dxs[1][0]) is np.float32


def test_what_truncates_has_no_slope():
    for f in (np.array, np.asarray):
        assert rrule(f, [1.5, 2.5], dtype=int)[1](np.ones(2)) == (None, None)
        assert rrule(f, np.array([1.5]), dtype=bool)[1](np.ones(1)) == (None, None)
    _, dxs = rrule(np.array, [1, 2])[1](np.ones(2))
    assert dxs == [1.0, 1.0]


def test_empty_lists():
    for xs in ([], [[]], [[], []]):
        y, back = rrule(np.array, xs)
        assert back(y)[1] == xs


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, np.complex64])
def test_scalar_types_convert(kind):
    y, back = rrule(kind, 0.5)
    assert type(y) is kind
    assert back(y)[1] == 0.5
    assert type(back(y)[1]) is float


def test_long_lists_of_floats_and_of_other_numbers():
    for xs in ([0.5] * 20, [0.5] * 19 + [1], tuple([0.5] * 20), [0.5] * 19 + [True]):
        _, dxs = rrule(np.array, xs)[1](np.arange(20.0))
        assert type(dxs) is type(xs)
        assert dxs[:19] == type(xs)(np.arange(19.0).tolist())
        assert type(dxs[0]) is float
        assert dxs[19] == (None if xs[19] is True else 19.0)
