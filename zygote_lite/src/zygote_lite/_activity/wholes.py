"""Values that go by value, and hold arrays: such as sparse matrices, known by a rule set.

Their cotangents go by value, and those of arrays that are written in place live in a shadow. So a
value is refused that is used after its memory has been written. What pullbacks saved of its memory
is put back going back, as that of any array.
"""

import gc
from collections.abc import Iterator
from typing import Any

import numpy as np

from zygote_lite._activity.walk import reaches_active_at_all
from zygote_lite._cotangents.kinds import (
    LIST,
    TUPLE,
    dict_of,
    entries_of,
    is_known_by_rule,
    kind_of,
    owner_of,
)
from zygote_lite._cotangents.run import state


def arrays_inside(x: Any) -> Iterator[Any]:
    """Yield the arrays in the fields of a value, in tuples there, and what is in its part in C."""
    for field in [*(dict_of(x) or {}).values(), *gc.get_referents(x)]:
        for part in field if type(field) in (tuple, list) else (field,):
            if isinstance(part, np.ndarray):
                yield part


def note_whole(x: Any) -> None:
    """Note that the run has made a value that is followed, and when."""
    state.wholes[id(x)] = (x, state.writes)


def rewritten(nodes: tuple[Any, ...], xs: tuple[Any, ...]) -> Any:
    """Return an operand, or an entry of one, whose memory was written since it was made.

    Arguments:
        nodes: those of the operands; what is not followed may be written with constants.
        xs: the operands.
    """
    for node, x in zip(nodes, xs, strict=False):
        entries = [y for _, y in entries_of(x)] if kind_of(x) in (LIST, TUPLE) else [x]
        for y in entries:
            if not is_known_by_rule(type(y)):
                continue
            made = state.wholes.get(id(y))
            since = 0 if made is None or made[0] is not y else made[1]
            written = [array for array in arrays_inside(y) if _last_write(array) > since]
            if written and (node is not None or y is not x or reaches_active_at_all(*written)):
                return y
    return None


def _last_write(array: Any) -> int:
    """Return the number of the last write into the memory of an array, or 0."""
    owner = owner_of(array)
    is_written = state.written is not None and state.written.get(id(owner)) is owner
    return state.last_writes.get(id(owner), 0) if is_written else 0
