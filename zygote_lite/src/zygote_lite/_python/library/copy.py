"""`copy.copy` and `copy.deepcopy` of values that their source leaves to C: arrays, plain objects.

An object that is reduced in C (`__reduce_ex__`) is reduced here in Python; `copy` rebuilds it in
Python anyway.
"""

import collections
import copy
import copyreg
import types
from typing import Any

import numpy as np

from zygote_lite._activity.activity import mark_active
from zygote_lite._activity.classes import bind_method, member_of
from zygote_lite._cotangents.kinds import (
    DICT,
    HEAPTYPE,
    LIST,
    OBJECT,
    dict_of,
    entries_of,
    kind_of,
    slot_names,
)
from zygote_lite._cotangents.pullbacks import ValueAndPullback, no_pullback
from zygote_lite._cotangents.registry import Handlers, Nodes, Traced
from zygote_lite._cotangents.run import give, slots_of
from zygote_lite._tape.tape import Tape

handlers = Handlers()

_OWN_WAYS = ("__copy__", "__deepcopy__", "__setstate__", "__getnewargs__", "__getnewargs_ex__")


def _is_plain(x: Any) -> bool:
    """Return whether copying an object is copying its fields."""
    cls: Any = type(x)
    if kind_of(x) != OBJECT or isinstance(x, BaseException) or not cls.__flags__ & HEAPTYPE:
        return False
    usual = ("__reduce_ex__", "__reduce__", "__getstate__")
    if any(getattr(cls, name, None) is not getattr(object, name, None) for name in usual):
        return False
    return not any(hasattr(cls, name) for name in _OWN_WAYS)


@handlers.desugared(copy.copy)
def _(tape: Tape, nodes: Nodes, x: Any) -> Traced | None:
    return tape.call((None, nodes[1], None), copy_object, x, None) if _is_plain(x) else None


@handlers.desugared(copy.deepcopy)
def _(tape: Tape, nodes: Nodes, x: Any, memo: Any = None, *rest: Any) -> Traced | None:
    if not _is_plain(x):
        return None
    memo = {} if memo is None else memo
    return tape.call((None, nodes[1], None), copy_object, x, memo)


def copy_object(x: Any, memo: Any) -> Any:
    """Return a copy of a plain object; `memo` holds the deep copies so far."""
    if memo is not None and id(x) in memo:
        return memo[id(x)]
    y = new_like(x)
    if memo is not None:
        memo[id(x)] = y
    for name in names_of_fields(x):
        value = get_field(x, name)
        object.__setattr__(y, name, value if memo is None else copy.deepcopy(value, memo))
    return y


def new_like(x: Any) -> Any:
    """Return a new object of the class of `x`, without fields."""
    return object.__new__(type(x))


@handlers.structural(new_like)
def _(nodes: Nodes, x: Any) -> ValueAndPullback:
    y = new_like(x)
    mark_active(y)
    return y, no_pullback(2)


def names_of_fields(x: Any) -> list[str]:
    """Return the names of the fields of an object."""
    return [name for name, _ in entries_of(x)]


handlers.structural(names_of_fields)(lambda nodes, x: (names_of_fields(x), no_pullback(2)))


def get_field(x: Any, name: str) -> Any:
    """Return a field of an object, whatever its class makes of attribute access."""
    return object.__getattribute__(x, name)


@handlers.structural(get_field)
def _(nodes: Nodes, x: Any, name: str) -> ValueAndPullback:
    def get_field_back(dy: Any) -> tuple[Any, ...]:
        give(slots_of(x), name, dy)
        return None, None, None

    return get_field(x, name), get_field_back


@handlers.desugared(np.ndarray.__copy__, np.ndarray.__deepcopy__)
def _(tape: Tape, nodes: Nodes, x: Any, *memo: Any) -> Traced:
    return tape.call((None, nodes[1]), np.copy, x)


@handlers.desugared(np.generic.__copy__, np.generic.__deepcopy__)
def _(tape: Tape, nodes: Nodes, x: Any, *memo: Any) -> Traced:
    return x, nodes[1]


# -- what reduces itself -----------------------------------------------------------------------


def reduced(x: Any) -> Any:
    """Return what `copy` makes another such object of: its state and what it contains."""
    state = None
    if has_own_state(x):
        state = x.__getstate__()
    elif has_fields(x):
        state = x.__dict__
    entries = iter(x) if isinstance(x, list) else None
    items = iter(x.items()) if isinstance(x, dict) else None
    return copyreg.__newobj__, (type(x),), state, entries, items  # type: ignore[attr-defined]


def has_own_state(x: Any) -> bool:
    """Return whether a class has a `__getstate__` in Python."""
    return hasattr(type(x), "__getstate__") and bind_method(type(x), "__getstate__") is not None


def has_fields(x: Any) -> bool:
    """Return whether an object has attributes of its own."""
    return bool(dict_of(x))


handlers.structural(has_own_state)(lambda nodes, x: (has_own_state(x), no_pullback(2)))
handlers.structural(has_fields)(lambda nodes, x: (has_fields(x), no_pullback(2)))


_REDUCED_IN_C: dict[type, Any] = {
    collections.deque: lambda x: (collections.deque, ((), x.maxlen), None, iter(x)),
    collections.defaultdict: lambda x: (
        (collections.defaultdict, (x.default_factory,), None, None, iter(x.items()))
    ),
    collections.OrderedDict: lambda x: ((collections.OrderedDict, (), None, None, iter(x.items()))),
    types.SimpleNamespace: lambda x: (types.SimpleNamespace, (), x.__dict__),
}


@handlers.desugared(object.__reduce_ex__)
def _(tape: Tape, nodes: Nodes, x: Any, protocol: int) -> Traced | None:
    """Reduce an object by its own `__reduce__`, or else as C does."""
    cls: Any = type(x)
    reduce = bind_method(cls, "__reduce__") or _REDUCED_IN_C.get(cls)
    if reduce is None and _is_reduced_as_usual(x) and protocol >= 2:
        reduce = reduced
    return None if reduce is None else tape.call((None, nodes[1]), reduce, x)


def _is_reduced_as_usual(x: Any) -> bool:
    cls: Any = type(x)
    if kind_of(x) not in (OBJECT, LIST, DICT) or slot_names(cls):
        return False
    arguments = any(hasattr(cls, name) for name in ("__getnewargs__", "__getnewargs_ex__"))
    return not arguments and member_of(cls, "__reduce__") is vars(object)["__reduce__"]
