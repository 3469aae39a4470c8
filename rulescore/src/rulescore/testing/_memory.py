"""What a rule may touch: who shares memory with whom, copies, and the global random state."""

import copy
import gc
import random
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from rulescore.testing._differences import quietly
from rulescore.testing._leaves import arrays, children, rebuild

CALLS = 32  # of which each may leave something behind in memory
GENERATORS = (np.random.Generator, np.random.RandomState, random.Random)


@contextmanager
def free_lists_filled() -> Iterator[Callable[[], int]]:
    """Let Python keep as many freed small objects as it will, so that it keeps no more later.

    They are freed again by a full collection, which must not come of itself meanwhile. Gives the
    function that collects the cycles that were made: they are no leak.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        made: list[Any] = [(number,) * size for size in range(1, 9) for number in range(2000)]
        made += [[float(number), {}] for number in range(200)]
        del made
        gc.collect(0)  # what others have left must not be counted as freed
        yield partial(gc.collect, 0)
    finally:
        if enabled:
            gc.enable()


@contextmanager
def all_collected() -> Iterator[Callable[[], int]]:
    """Free whatever can be freed of what is made from now on, and give the function that does so.

    Older objects are set aside meanwhile: to go through all of a large process takes seconds. Where
    the user has set some aside, all are collected: taking them back would be seen.
    """
    aside = gc.get_freeze_count() == 0
    if aside:
        gc.freeze()
    try:
        gc.collect()  # the free lists are emptied, too
        yield gc.collect
    finally:
        if aside:
            gc.unfreeze()


def kept_by(call: Callable[[], Any], settle: Any, times: int) -> int:
    """Return how many blocks of memory are left behind by as many rounds of a call.

    Arguments:
        call: what is called, which may warn.
        settle: the context in which to count.
        times: the number of rounds.
    """
    with settle() as collect:
        before = sys.getallocatedblocks()
        for _ in range(CALLS * times):
            quietly(call)
        collect()
        return sys.getallocatedblocks() - before


def shares(array: np.ndarray, x: Any) -> bool:
    """Return whether an array is memory of an array in `x`."""
    held = x.base if isinstance(x, np.flatiter) else x
    return any(np.shares_memory(array, other) for _, other in arrays(held))


def copied(x: Any) -> Any:
    """Return a deep copy, in which arrays keep their strides."""
    if isinstance(x, np.flatiter):
        return x.base.copy().flat
    if isinstance(x, np.ndarray):
        return x.copy(order="K")
    if children(x):
        return rebuild(x, copied)
    try:
        return copy.deepcopy(x)
    except TypeError:  # a generator, a module: no rule has a reason to change it
        return x


def drawing_anew(x: Any) -> Any:
    """Return a copy of a random generator, in its state; anything else is returned itself."""
    return copy.deepcopy(x) if isinstance(x, GENERATORS) else x


def random_states() -> tuple[Any, Any]:
    """Return the global states of the random numbers of NumPy and Python."""
    return np.random.get_state(legacy=False), random.getstate()


def restore(states: tuple[Any, Any]) -> None:
    """Set the global states of the random numbers back."""
    np.random.set_state(states[0])
    random.setstate(states[1])


def same_states(a: tuple[Any, Any], b: tuple[Any, Any]) -> bool:
    """Return whether no random number was drawn in between."""
    mine, theirs = a[0]["state"], b[0]["state"]
    return bool(
        np.array_equal(mine["key"], theirs["key"]) and mine["pos"] == theirs["pos"] and a[1] == b[1]
    )
