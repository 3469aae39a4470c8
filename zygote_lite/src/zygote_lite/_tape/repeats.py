"""Functions that are run again: what a second run would repeat, and what the first has changed."""

import contextlib
import copy
import functools
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from zygote_lite._activity.effects import effect_of
from zygote_lite._tape.validate import checksum_of, contents_of, hold_the_same


class Surroundings:
    """What a function is given and what the variables around it hold, before it is run.

    Attributes:
        effect: an effect that running it again would repeat; `None` where none is found.
    """

    def __init__(self, f: Any, xs: tuple[Any, ...]) -> None:
        self.effect, read = effect_of(f, *xs)
        self.values = (f, *xs, *read)
        self._note()

    def now(self, *more: Any) -> "Surroundings":
        """Return the same variables with what they hold now, and more values."""
        found = copy.copy(self)
        found.values += more
        found._note()
        return found

    def _note(self) -> None:
        self._contents = contents_of(self.values, whole=True)
        self._attributes = _attributes_of(self.values)

    def are_unchanged(self) -> bool:
        """Return whether all of that is as it was before the function was run."""
        now = _attributes_of(self.values)
        return (
            len(self._attributes) == len(now)
            and all(
                name == other and x is y
                for (name, x), (other, y) in zip(self._attributes, now, strict=True)
            )
            and hold_the_same(self._contents, contents_of(self.values, whole=True), counts=True)
        )


def _attributes_of(values: Iterable[Any]) -> list[tuple[str, Any]]:
    """Return what the attributes of classes are."""
    return [(name, y) for x in values if isinstance(x, type) for name, y in vars(x).items()]


Refused = Callable[[str], Exception]


def repeatable(f: Any, refused: Refused) -> Callable[[Any], contextlib.AbstractContextManager[Any]]:
    """Return what watches calls of a function that a host may repeat, or leave out.

    Arguments:
        f: the function.
        refused: gives the error for an effect, in words.

    Raises that error if the function is known to have effects.
    """
    around = Surroundings(f, ())
    if around.effect is not None:
        raise refused(around.effect)
    return functools.partial(_watched, around, refused)


@contextlib.contextmanager
def _watched(around: Surroundings, refused: Refused, structure: Any) -> Iterator[None]:
    """Raise where a call of a function changes what it reads, or what it was given as it is.

    Arguments:
        around: the variables around the function.
        refused: as for `repeatable`.
        structure: that of its arguments.
    """
    before = around.now(structure)
    yield
    if not before.are_unchanged():
        raise refused("it changes a variable around it")


_known_reads: weakref.WeakKeyDictionary[Any, list[Any]] = weakref.WeakKeyDictionary()


def arrays_around(f: Any) -> list[tuple[np.ndarray, int]]:
    """Return the arrays that a function captures or names, each with a checksum of its contents.

    The variables are looked for at the first call, and walked through at each.
    """
    try:
        read = _known_reads.get(f)
        if read is None:
            _known_reads[f] = read = effect_of(f, all_read=True)[1]
    except TypeError:  # it cannot be hashed, or referred to weakly
        read = effect_of(f, all_read=True)[1]
    return [(x, held) for x, held in contents_of(read, whole=True) if isinstance(x, np.ndarray)]


def were_written(arrays: list[tuple[np.ndarray, int]]) -> bool:
    """Return whether an array holds something else than before."""
    return any(checksum_of(x) != held for x, held in arrays)
