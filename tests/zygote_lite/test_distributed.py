"""Sums over batches, as far as they need no cluster; `tests/distributed` runs them on some."""

import math
import pickle

from zygote_lite.distributed import _Sum


def test_a_sum_is_pickled_without_the_future_that_its_client_holds():
    found = _Sum(math.sin, None, False, 2, in_flight=5, of_rows=True, mean=True)
    found.known = object(), b"packed", lambda: None  # which nothing can pickle
    other = pickle.loads(pickle.dumps(found))
    assert vars(other) == {**vars(found), "known": (None, b"", None)}
