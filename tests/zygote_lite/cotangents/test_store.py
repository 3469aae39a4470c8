"""The cotangent of written memory is that of all its views, also where entries of one overlap."""

import numpy as np
import pytest

from tests.zygote_lite.checks.finite_differences import slopes
from zygote_lite import gradient
from zygote_lite.testing import recorded_only


def repeated(x):
    w = x * x
    v = np.broadcast_to(w, (4, 3))
    w[1] = x[0] * 3.0
    return np.sum(v * v * np.arange(12.0).reshape(4, 3))


def one_entry_repeated(x):
    w = x * x
    v = np.broadcast_to(w[1:2], (4,))
    w[1] = x[0] * 3.0
    return np.sum(v * v * np.arange(4.0))


def windows(x):
    w = x * x
    v = np.lib.stride_tricks.sliding_window_view(w, 2)
    w[1] = x[0] * 3.0
    return np.sum(v * v * np.array([[1.0, 2.0], [3.0, 4.0]]))


@pytest.mark.parametrize("f", [repeated, one_entry_repeated, windows])
def test_entries_of_a_view_that_are_one_place_add_up(f):
    x = np.array([0.7, 3.2, -5.1])
    [(_, want, _)] = slopes(f, (x,))
    with recorded_only():
        for _ in range(3):
            np.testing.assert_allclose(gradient(f, x)[0], want, rtol=1e-7)
