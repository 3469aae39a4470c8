"""Contents: what arrays and containers hold, and whether they hold the same after a call."""

import zlib
from typing import Any

import numpy as np

from zygote_lite._activity.asking import COMMON_GENERATORS, RANDOM_GENERATORS, state_drawn_from
from zygote_lite._activity.effects import BUFFERS
from zygote_lite._cotangents.kinds import (
    FUNCTION,
    INERT,
    SET,
    entries_of,
    kind_of,
    owner_of,
    type_in_c,
    within,
)
from zygote_lite._cotangents.run import state


def contents_of(operands: Any, whole: bool = False) -> list[tuple[Any, Any]]:
    """Return all arrays and containers that operands reach, each with what it holds now.

    Of an array this is a checksum of its memory where that has been written, else `None`; `whole`
    asks for those of all arrays and buffers, and for the elements of sets.
    """
    found: list[tuple[Any, Any]] = []
    written = state.written or {}
    for value in within(operands):
        kind = kind_of(value)
        if isinstance(value, np.ndarray):
            known = whole or id(owner_of(value)) in written
            found.append((value, checksum_of(value) if known else None))
        elif kind == SET:
            found += [(value, [*enumerate(type_in_c(value).__iter__(value))])] if whole else []
        elif kind > FUNCTION:
            found.append((value, [*entries_of(value)]))
        elif whole and isinstance(value, BUFFERS):
            found.append((value, bytes(value)))
        elif whole and isinstance(value, RANDOM_GENERATORS) and value not in COMMON_GENERATORS:
            found.append((value, state_drawn_from(value)))
    return found


def checksum_of(x: Any) -> int:
    """Return a checksum of what an array holds, which takes no memory where it is contiguous."""
    plain = type(x) is np.ndarray and x.flags.c_contiguous and x.dtype.kind in "biufc"
    return zlib.crc32(x if plain else np.ndarray.tobytes(x))  # a masked one would be filled


def hold_the_same(
    before: list[tuple[Any, Any]], after: list[tuple[Any, Any]], counts: bool = False
) -> bool:
    """Return whether operands that `contents_of` was asked for twice hold the same objects.

    A counter may change, as no gradient passes through it, but where `counts` says otherwise.
    """
    return len(before) == len(after) and all(
        x is y and _still_holds(held, now, counts)
        for (x, held), (y, now) in zip(before, after, strict=True)
    )


def _still_holds(held: Any, now: Any, counts: bool) -> bool:
    if not isinstance(held, list) or not isinstance(now, list):
        return bool(held == now)  # the memory of an array
    if len(held) != len(now):
        return False
    return all(
        key == other and (x is y or (_is_a_count(x) and _is_a_count(y) and (not counts or x == y)))
        for (key, x), (other, y) in zip(held, now, strict=True)
    )


def _is_a_count(x: Any) -> bool:
    return kind_of(x) == INERT or type(x) is int
