"""`copy.copy` and `copy.deepcopy` of values that their source leaves to C: arrays, plain objects.

An object is reduced here in Python, as C does (`__reduce_ex__`); `copy` rebuilds it in Python
anyway.
"""

import collections
import copyreg
import types
from typing import Any

import numpy as np

from zygote_lite._activity.classes import bind_method, member_of
from zygote_lite._cotangents.kinds import (
    DICT,
    LIST,
    OBJECT,
    dict_of,
    entries_of,
    kind_of,
    slot_names,
)
from zygote_lite._cotangents.registry import Handlers, Nodes, Traced
from zygote_lite._tape.generators import Generated, attribute_refusal
from zygote_lite._tape.tape import Tape

handlers = Handlers()


@handlers.desugared(np.ndarray.__copy__, np.ndarray.__deepcopy__)
def _(tape: Tape, nodes: Nodes, x: Any, *memo: Any) -> Traced:
    return tape.call((None, nodes[1]), np.copy, x)


@handlers.desugared(np.generic.__copy__, np.generic.__deepcopy__)
def _(tape: Tape, nodes: Nodes, x: Any, *memo: Any) -> Traced:
    return x, nodes[1]


def reduced(x: Any) -> Any:
    """Return what `copy` makes another such object of: its state and what it contains."""
    state: Any = None
    names = names_beside_dict(x)
    if has_own_state(x):
        state = x.__getstate__()
    elif names:
        state = None, {name: object.__getattribute__(x, name) for name in names}
    elif has_fields(x):
        state = x.__dict__
    entries = iter(x) if isinstance(x, list) else None
    items = iter(x.items()) if isinstance(x, dict) else None
    return copyreg.__newobj__, (type(x),), state, entries, items  # type: ignore[attr-defined]


def names_beside_dict(x: Any) -> list[str]:
    """Return the names of the attributes of an object of which some have slots."""
    return [name for name, _ in entries_of(x)] if slot_names(type(x)) else []


def has_own_state(x: Any) -> bool:
    """Return whether a class has a `__getstate__` in Python."""
    return hasattr(type(x), "__getstate__") and bind_method(type(x), "__getstate__") is not None


def has_fields(x: Any) -> bool:
    """Return whether an object has attributes of its own."""
    return bool(dict_of(x))


handlers.inert(names_beside_dict, has_own_state, has_fields)


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
    if isinstance(x, Generated):
        raise attribute_refusal(x, "__reduce__")
    cls: Any = type(x)
    reduce = bind_method(cls, "__reduce__") or _REDUCED_IN_C.get(cls)
    if reduce is None and _is_reduced_as_usual(x) and protocol >= 2:
        reduce = reduced
    return None if reduce is None else tape.call((None, nodes[1]), reduce, x)


def _is_reduced_as_usual(x: Any) -> bool:
    cls: Any = type(x)
    kinds = (OBJECT,) if slot_names(cls) else (OBJECT, LIST, DICT)
    if slot_names(cls) and dict_of(x) and cls.__setattr__ is not object.__setattr__:
        return False  # which what has no slot is not to be given to
    arguments = any(hasattr(cls, name) for name in ("__getnewargs__", "__getnewargs_ex__"))
    own = arguments or member_of(cls, "__reduce__") is not vars(object)["__reduce__"]
    return kind_of(x) in kinds and not own
