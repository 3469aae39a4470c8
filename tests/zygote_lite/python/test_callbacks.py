"""Functions of the user's that C calls, because Python or NumPy was told to: they are not lost."""

import gc
import sys
import warnings

import numpy as np
import pytest

from zygote_lite import DifferentiationError, grad, jvp


@pytest.fixture(autouse=True)
def settings_of_numpy():
    """Restore them, also where setting the second of two is refused."""
    with np.errstate():
        yield


def by_an_error_of_numpy(change):
    before = np.seterr(divide="call"), np.seterrcall(lambda kind, flag: change())
    try:
        np.ones(1) / np.zeros(1)
    finally:
        np.seterr(**before[0])
        np.seterrcall(before[1])


def by_a_log_of_numpy(change):
    class Log:
        def write(self, text):
            change()

    before = np.seterr(divide="log"), np.seterrcall(Log())
    try:
        np.ones(1) / np.zeros(1)
    finally:
        np.seterr(**before[0])
        np.seterrcall(before[1])


def by_the_garbage_collector(change):
    def note(phase, info):
        if phase == "stop":
            change()

    gc.callbacks.append(note)
    try:
        gc.collect()
    finally:
        gc.callbacks.remove(note)


def by_what_shows_a_warning(change):
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = lambda *xs, **kws: change()
        warnings.warn("something", stacklevel=1)


def by_what_a_warning_is_written_to(change):
    class Stream:
        def write(self, text):
            change()

        def flush(self):
            pass

    before, sys.stderr = sys.stderr, Stream()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.warn("something", stacklevel=1)
    finally:
        sys.stderr = before


WAYS = [
    by_an_error_of_numpy,
    by_a_log_of_numpy,
    by_the_garbage_collector,
    by_what_shows_a_warning,
    by_what_a_warning_is_written_to,
]


@pytest.mark.parametrize("way", WAYS)
def test_a_function_that_c_calls_and_that_writes_is_refused(way):
    def f(x):
        box = [x]

        def change():
            box[0] = box[0] * 3

        way(change)
        return box[0] * x

    for _ in range(3):
        with pytest.raises(DifferentiationError, match="which is written in C, may call"):
            grad(f)(1.3)
        with pytest.raises(DifferentiationError, match="which is written in C, may call"):
            jvp(f, (1.3,), (1.0,))


@pytest.mark.parametrize("way", WAYS[:-1])  # pytest shows warnings itself
def test_one_that_writes_nothing_active_is_called(way):
    calls = []

    def f(x):
        way(lambda: calls.append(1))
        return x * x

    for _ in range(3):
        calls.clear()
        assert grad(f)(1.5) == 3.0
        assert calls
