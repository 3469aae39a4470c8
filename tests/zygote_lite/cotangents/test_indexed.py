"""The cotangent of an entry of an array is a part of that of the array, whatever its dtype."""

import numpy as np
import pytest

from tests.zygote_lite.checks.finite_differences import slopes
from zygote_lite import gradient
from zygote_lite._cotangents.indexed import is_part
from zygote_lite.testing import recorded_only


def entries(x):
    return x[0] * 0.5 + x[1] * x[0] * 0.25 + np.sum(x[1:] * 0.3)


def entries_of_a_written_array(x):
    w = x * 1
    w[0] = x[1]
    return w[0] * 0.5 + w[1] * 0.25 + w[2] * w[0] * 0.125


@pytest.mark.parametrize("dtype", [int, np.uint8, np.float32, float])
@pytest.mark.parametrize("f", [entries, entries_of_a_written_array])
def test_the_cotangent_of_an_entry_is_a_fraction(f, dtype):
    x = np.array([3, 2, 5])
    [(_, want, _)] = slopes(f, (x.astype(float),))
    with recorded_only():
        for _ in range(3):
            [d] = gradient(f, x.astype(dtype))
            np.testing.assert_allclose(d, want, rtol=1e-6)


INDICES = [0, np.int64(1), slice(1, None), ..., None, (0,), (slice(None), 1), (..., None)]


@pytest.mark.parametrize("index", INDICES, ids=repr)
def test_an_index_that_reads_each_entry_once_at_most_gives_a_part(index):
    assert is_part(np.ones((2, 2)), index)


@pytest.mark.parametrize("index", [True, False, [0, 0], np.array([0, 0]), (0, True)], ids=repr)
def test_other_indices_give_a_cotangent_of_the_whole_array(index):
    assert not is_part(np.ones((2, 2)), index)
