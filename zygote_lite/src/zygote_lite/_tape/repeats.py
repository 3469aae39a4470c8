"""Functions that are run again: what a second run would repeat, and what the first has changed."""

import contextlib
import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from zygote_lite._activity.asking import generator_of_torch
from zygote_lite._activity.contents import checksum_of, contents_of, hold_the_same
from zygote_lite._activity.effects import PLAIN_VALUES, effect_of
from zygote_lite._activity.watching import Refused, unwatched, watching_effects


class Surroundings:
    """What a function is given and what the variables around it hold, before it is run.

    Attributes:
        f: the function.
        effect: an effect that running it again would repeat; `None` where none is found.
        is_open: whether it may have others, which `watching_effects` tells where it is run.
    """

    def __init__(self, f: Any, xs: tuple[Any, ...]) -> None:
        unwatched(self._look, f, xs)

    def _look(self, f: Any, xs: tuple[Any, ...]) -> None:
        self.f = f
        self.effect, read, self.is_open = effect_of(f, *xs)
        self.values = (f, *xs, *read)
        self._contents = contents_of(self.values, whole=True)
        self._attributes = _attributes_of(self.values)
        self._generator = generator_of_torch()

    def watched(
        self, refused: Refused, is_compared: bool = False
    ) -> contextlib.AbstractContextManager[None]:
        """Return the context for a run: it raises an error before an effect that was not found.

        Arguments:
            refused, is_compared: as for `watching_effects`.
        """
        return watching_effects(refused, is_compared) if self.is_open else contextlib.nullcontext()

    def has_drawn(self) -> bool:
        """Return whether PyTorch's own generator has been used since, as by dropout."""
        return self._generator != generator_of_torch()

    def are_unchanged(self) -> bool:
        """Return whether all of that is as it was before the function was run."""
        return bool(unwatched(self._are_unchanged))

    def _are_unchanged(self) -> bool:
        now = _attributes_of(self.values)
        return (
            len(self._attributes) == len(now)
            and not self.has_drawn()
            and all(
                name == other and x is y
                for (name, x), (other, y) in zip(self._attributes, now, strict=True)
            )
            and hold_the_same(self._contents, contents_of(self.values, whole=True), counts=True)
        )


def _attributes_of(values: Iterable[Any]) -> list[tuple[str, Any]]:
    """Return what the attributes of classes are."""
    return [(name, y) for x in values if isinstance(x, type) for name, y in vars(x).items()]


def repeatable(f: Any, refused: Refused) -> Callable[[Any], contextlib.AbstractContextManager[Any]]:
    """Return what watches calls of a function that a host may repeat, or leave out.

    Arguments:
        f: the function.
        refused: gives the error for an effect, in words.

    Raises that error if the function is known to have effects.
    """
    effect, _, _ = effect_of(f)
    if effect is not None:
        raise refused(effect)
    return functools.partial(_watched, f, refused)


@contextlib.contextmanager
def _watched(f: Any, refused: Refused, structure: Any) -> Iterator[None]:
    """Raise where a call of a function changes what it reads, or what it was given as it is.

    Arguments:
        f: the function. Its variables are looked up anew: they may have been rebound.
        refused: as for `repeatable`.
        structure: that of its arguments.
    """
    before = Surroundings(f, (structure,))
    if before.effect is not None:
        raise refused(before.effect)
    with before.watched(refused):
        yield
    if before.has_drawn():
        raise refused("it draws random numbers with PyTorch")
    if not before.are_unchanged():
        raise refused("it changes a variable around it")


def writes_around(f: Any) -> Callable[[], bool] | None:
    """Return what tells whether an array that a function holds or names has been written.

    It compares checksums with those of now. The variables are looked up at each call of this
    function: they may have been rebound. It is `None` where there are no arrays.
    """
    arrays = _arrays_around(f)
    return functools.partial(_were_written, arrays) if arrays else None


def stamp_around(f: Any) -> int | None:
    """Return a checksum, of 32 bits, of these arrays and of the numbers and texts around.

    It is `None` if there are none.
    """
    _, read, _ = effect_of(f, all_read=True)
    held: list[Any] = [held for _, held in _arrays_among([f, *read])]
    held += [x if isinstance(x, str) else repr(x) for x in read if isinstance(x, PLAIN_VALUES)]
    return hash(tuple(held)) & 0xFFFFFFFF if held else None


def _arrays_around(f: Any) -> list[tuple[np.ndarray, int]]:
    return _arrays_among([f, *effect_of(f, all_read=True)[1]])


def _arrays_among(read: list[Any]) -> list[tuple[np.ndarray, int]]:
    found = [x for x in read if not isinstance(x, PLAIN_VALUES)]
    return [(x, held) for x, held in contents_of(found, whole=True) if isinstance(x, np.ndarray)]


def _were_written(arrays: list[tuple[np.ndarray, int]]) -> bool:
    return any(checksum_of(x) != held for x, held in arrays)
