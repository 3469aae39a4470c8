"""Sums over batches, as far as they need no cluster; `tests/distributed` runs them on some."""

import math
import pickle

import numpy as np
import pytest

from zygote_lite._interface.clusters import pieces_of
from zygote_lite.distributed import _Sum, sum_of_gradients, value_and_grad


def test_a_sum_is_pickled_without_the_future_that_its_client_holds():
    found = _Sum(math.sin, None, False, 2, in_flight=5, of_rows=True, mean=True)
    found.known = object(), b"packed", lambda: None  # which nothing can pickle
    other = pickle.loads(pickle.dumps(found))
    assert vars(other) == {**vars(found), "known": (None, b"", None)}


@pytest.mark.parametrize("verb", [sum_of_gradients, value_and_grad])
def test_what_sums_gradients_is_pickled(verb):
    """A process of joblib, say, is given it; it was a function inside of another."""
    summed = verb(math.sin, workers=2)
    other = pickle.loads(pickle.dumps(summed))
    assert other.func is summed.func
    assert vars(other.args[0]) == vars(summed.args[0])


def test_batches_are_what_is_walked_over_and_no_array():
    assert [*pieces_of(([1, 2], iter("ab")))] == [(1, "a"), (2, "b")]
    with pytest.raises(ValueError, match="different numbers of batches"):
        [*pieces_of(([1, 2], iter("a")))]
    for other in (np.ones(2), {"a": 1}, "text", 3.0):
        with pytest.raises(TypeError, match=f"not {type(other).__name__}; make chunks of an array"):
            pieces_of((other,))
