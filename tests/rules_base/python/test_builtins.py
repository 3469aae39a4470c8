"""Python's builtin functions of numbers."""

import numpy as np
import pytest

from rulescore import rrule
from rulescore.testing import check_rrule


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_base"


def test_ties_are_shared():
    assert rrule(max, 1.0, 1.0, 0.0)[1](1.0) == (None, 0.5, 0.5, 0.0)
    assert rrule(min, [1.0, 2.0, 1.0])[1](1.0) == (None, [0.5, 0.0, 0.5])
    np.testing.assert_array_equal(rrule(max, np.array([3.0, 3.0]))[1](1.0)[1], [0.5, 0.5])


def test_the_greatest_of_things_that_are_no_numbers():
    xs = [(1, 2.0), (3, 4.0)]
    assert rrule(max, xs)[1]((None, 1.0)) == (None, [None, (None, 1.0)])


def test_integers_and_truth_values():
    assert rrule(sum, [1, True, 2.0])[1](1.0) == (None, [1.0, None, 1.0])
    assert rrule(float, 3)[1](2.0) == (None, 2.0)
    assert rrule(float, True)[1](2.0) == (None, None)
    assert rrule(int, 2.5)[0] == 2
    assert rrule(int, 2.5)[1](1.0) == (None, None)


def test_sum_of_arrays_and_numbers():
    x = np.ones((2, 1))
    _, back = rrule(sum, [x, 3.0, np.ones(2)], 1.0)
    _, dxs, dstart = back(np.ones((2, 2)))
    np.testing.assert_array_equal(dxs[0], [[2.0], [2.0]])
    assert dxs[1] == 4.0
    np.testing.assert_array_equal(dxs[2], [2.0, 2.0])
    assert dstart == 4.0


def test_sum_of_lists_is_refused():
    with pytest.raises(NotImplementedError, match="list"):
        rrule(sum, [[1.0], [2.0]], 0)


def test_empty_sum():
    assert rrule(sum, [])[1](1.0) == (None, [])
    assert rrule(sum, ())[1](1.0) == (None, ())


def test_greatest_of_missing_values():
    nan = float("nan")
    assert rrule(max, nan, 1.0)[1](1.0) == (None, 1.0, 0.0)


@pytest.mark.parametrize(("f", "wins"), [(max, 2.0), (min, 1.0)])
def test_the_chosen_of_two_numbers_has_the_cotangent(f, wins):
    for xs in ((1.0, 2.0), (2.0, 1.0), (1, 2), (np.float64(2.0), 1)):
        y, back = rrule(f, *xs)
        assert y == wins
        expected = [3.0 if x == wins else 0.0 for x in xs]
        found = back(3.0)
        assert found == (None, *expected)
        assert [type(d) for d in found[1:]] == [
            np.float64 if isinstance(x, np.float64) else float for x in xs
        ]


@pytest.mark.parametrize("f", [max, min])
def test_two_numbers_are_chosen_from_as_three_are(f):
    nan, inf = float("nan"), float("inf")
    numbers = [0.0, -0.0, 1.5, -1.5, nan, inf, -inf]
    for x in numbers:
        for y in numbers:
            first = rrule(f, x, y)[1](2.0)[1:]
            unlike = -inf if f is max else inf
            again = rrule(f, x, y, unlike)[1](2.0)[1:3]
            if unlike not in (x, y) and not (x != x or y != y):
                assert first == again, (x, y)
            assert first[0 if f(x, y) is x else 1] in (1.0, 2.0), (x, y)
