"""What transformed code calls: cotangents of lists, and of variables without a value."""

import numpy as np

from zygote_lite._specialize.typed.runtime import UNSET, duplicate, zeros_if_set


def test_a_duplicate_shares_no_list_with_the_other():
    d = [1.0, [2.0, None], []]
    found = duplicate(d)
    assert found == [1.0, [2.0, 0.0], []]
    found[1][0] = 5.0
    found[2].append(1.0)
    assert d == [1.0, [2.0, None], []]


def test_zeros_of_an_array_and_of_no_value():
    found = zeros_if_set(np.ones((2, 3)))
    assert type(found) is np.ndarray
    np.testing.assert_array_equal(found, np.zeros((2, 3)))
    assert zeros_if_set(UNSET) == 0.0
