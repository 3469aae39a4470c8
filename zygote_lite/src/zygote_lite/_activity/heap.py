"""The walk through the heap: it yields what is active of all that can be reached from objects.

What was found to reach nothing active (`state.clean`) is passed over. What code reaches only by the
name of a variable is put aside: whoever walks decides whether that counts.
"""

import functools
import re
import threading
import weakref
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from numbers import Number
from typing import Any

import numpy as np

from rulescore.faults import an
from zygote_lite._activity.outputs import is_output
from zygote_lite._activity.reachability import (
    held_and_named,
    is_users_class,
    named_by_class,
    referents,
)
from zygote_lite._cotangents.kinds import (
    DICT,
    FUNCTION,
    INERT,
    LIST,
    OBJECT,
    SET,
    TUPLE,
    VALUE,
    buffer_of,
    dict_of,
    entries_of,
    has_fields_in_c,
    kind_of,
    owner_of,
    type_in_c,
)
from zygote_lite._cotangents.run import state
from zygote_lite._ir.places import where
from zygote_lite._ir.traits import HEAPTYPE
from zygote_lite.errors import Fault

_BUILTIN_CONTAINERS = {list, tuple, dict, set, frozenset}
LIMIT = 2000
HOLDING_NOTHING = {float, int, bool, complex, str, bytes, type(None), np.float64, np.int64}
VAST = object()


@dataclass(frozen=True, slots=True)
class Vast:
    """Mark what a walk was given up from, and keep it alive as long as its identity is known.

    Attributes:
        x: the object.
        limit: how many objects that walk might look at. One that may look at more tries again.
    """

    x: Any
    limit: int


def walk_heap(
    active: dict[int, Any],
    stack: list[Any],
    seen: dict[int, Any],
    by_name: list[Any],
    limit: int,
) -> Iterator[Any]:
    """Yield what is active of all that can be reached from `stack`; `VAST` for giving up.

    What is reached by name is put aside.
    """
    clean, vast = (state.clean, state.vast) if active is state.active else ({}, {})
    steps, most = 0, len(seen) + limit
    while stack:
        x = stack.pop()
        steps += 1
        if len(seen) > most or steps > 5 * limit:
            for y in seen.values() if vast is state.vast else ():
                if type(y) in _BUILTIN_CONTAINERS and len(y) > limit:
                    vast[id(y)] = Vast(y, limit)
            yield VAST
            return
        kind = kind_of(x)
        if (kind == VALUE and type(x) in HOLDING_NOTHING) or id(x) in seen:
            continue
        if id(x) in clean:
            continue
        if id(x) in vast and vast[id(x)].limit >= limit:
            yield VAST
            continue
        if kind == INERT:
            if isinstance(x, str | bytes | bytearray | re.Match) and id(x) in active:
                yield x
            elif isinstance(x, type):
                seen[id(x)] = x
                if x.__flags__ & HEAPTYPE:
                    yield from (base for base in x.__mro__ if id(base) in active)
                by_name += named_by_class(x)
                if is_users_class(type(x)):
                    stack.append(type(x))
            elif type(x).__flags__ & HEAPTYPE and id(type(x)) not in seen:
                stack.append(type(x))  # a member of an enumeration: methods may use variables
            continue
        # by the types: `isinstance` asks a weak reference for what may be gone
        if kind == VALUE or issubclass(type(x), np.ndarray):  # masked arrays are objects
            if issubclass(type(x), np.ndarray):
                if id(owner_of(x)) in active:
                    yield owner_of(x)
                _put_parts_of_array(active, x, stack, seen)
            elif not issubclass(type(x), np.generic | Number):
                if id(x) in active:
                    yield x
                elif state.written and hasattr(type(x), "__dlpack__"):
                    refuse_shared_memory(x, active)
                seen[id(x)] = x  # an iterator or a view in C, say: it may hold a container
                stack += referents(x)
            continue
        if (
            id(x) in active
            or (kind >= TUPLE and id(dict_of(x)) in active)
            or (kind == OBJECT and is_output(x) and active is state.active)
        ):
            yield x
        seen[id(x)] = x
        if kind == FUNCTION:
            held, named = held_and_named(x)
            stack += held
            by_name += named
        else:
            before = len(stack)
            _put_items(x, kind, stack, 5 * limit - steps + 1)
            if type(x) is list and len(stack) == before and id(x) not in active:
                clean[id(x)] = x  # of a million numbers, say: to look at them again takes time
        if kind in (LIST, TUPLE, DICT, SET) and type(x) not in _BUILTIN_CONTAINERS:
            stack += (dict_of(x) or {}).values()
            stack.append(x.default_factory if isinstance(x, defaultdict) else None)
        if type(x).__flags__ & HEAPTYPE and id(type(x)) not in seen:
            stack.append(type(x))


def _put_parts_of_array(
    active: dict[int, Any], x: Any, stack: list[Any], seen: dict[int, Any]
) -> None:
    """Put on the stack what an array holds: objects, its own attributes, operands of `nditer`."""
    owner = owner_of(x)
    if id(owner) not in active:
        if isinstance(owner.base, np.nditer):
            stack += owner.base.operands
        elif x.dtype.hasobject and x.dtype.names is None:
            seen[id(x)] = x
            stack += x.flat[: LIMIT + 1].tolist()
        elif owner.base is not None:
            stack.append(buffer_of(owner))
    if type(x) is not np.ndarray:
        stack.append(dict_of(x))


def _put_items(x: Any, kind: int, stack: list[Any], room: int) -> None:
    """Put on the stack the items of a container, and what an object holds.

    There is `room` for what the walk can look at before it gives up: to put more takes time only.
    """
    if kind == SET:
        stack += islice(type_in_c(x).__iter__(x), room)
    elif kind in (LIST, TUPLE):
        items = x if type(x) in _BUILTIN_CONTAINERS else [*type_in_c(x).__iter__(x)]
        if not HOLDING_NOTHING.issuperset(map(type, items)):
            stack += items[-room:]
        if type(x).__flags__ & HEAPTYPE:
            stack += [value for _, value in entries_of(x)]
    elif isinstance(x, functools._lru_cache_wrapper):
        stack += referents(x)
    else:
        if kind == DICT:  # whose keys are objects that hold something, too
            stack += [y for y in islice(dict.__iter__(x), room) if type(y) not in HOLDING_NOTHING]
        elif issubclass(type(x), weakref.ref):
            stack += referents(x)
        elif issubclass(type(x), BaseException):
            stack += [x.__cause__, x.__context__]
        elif issubclass(type(x), threading.local):
            stack += threading.local.__getattribute__(x, "__dict__").values()
        elif kind == OBJECT and has_fields_in_c(type(x)):
            stack += referents(x)
        stack += [value for _, value in islice(entries_of(x), room)]


def refuse_shared_memory(x: Any, active: dict[int, Any]) -> None:
    """Refuse another library's array over memory of NumPy that this run has written.

    What was written there depends on what is differentiated, and cannot be followed to that array.
    """
    try:
        array = np.from_dlpack(x)
    except Exception:  # of a device, or a tensor that has a gradient, as those that rules make
        return
    for y in (state.written or {}).values():
        if id(y) in active and np.may_share_memory(array, y):
            raise Fault.MEMORY(
                f"{where()}: {an(type(x).__name__)} shares the memory of an array that this code "
                "writes, and a gradient does not pass from one to the other; pass the array itself"
            )
