"""Iterators and generators: `iter`, `next`, and the methods of generators."""

import array
import gc
import operator
from collections.abc import Iterator
from typing import Any

import numpy as np

from zygote_lite._activity.classes import bind_method
from zygote_lite._activity.walk import reaches_active
from zygote_lite._cotangents.kinds import FUNCTION, INERT, VALUE, kind_of
from zygote_lite._cotangents.registry import Handlers, NodeId, Nodes, Traced
from zygote_lite._cotangents.run import state
from zygote_lite._python.library.builtins import ITEMS, KEYS, VALUES, flat_entries
from zygote_lite._python.library.c_iterators import is_native, take_step
from zygote_lite._tape.generators import Generated, attribute_refusal, refuse_whole_iterators
from zygote_lite._tape.holders import instead_of, refused_holder
from zygote_lite._tape.tape import Tape

handlers = Handlers()


def _is_walked(x: Any, node: NodeId) -> bool:
    """Return whether an iterator in C is over something with an address, or over numbers."""
    return is_native(x) and (node is None or not isinstance(x, np.flatiter))


def _is_given(x: Any) -> bool:
    """Return whether an iterator in C, or a view of a dict, is itself what is differentiated."""
    return id(x) in state.held and kind_of(x) == VALUE and instead_of(x) is not None


def _carries_none(x: Any) -> bool:
    """Return whether a gradient with respect to a value is of no interest: it is an index, say."""
    if isinstance(x, tuple | list):
        return all(map(_carries_none, x))
    return kind_of(x) in (INERT, FUNCTION) or isinstance(x, int | np.integer)


@handlers.desugared(iter)
def _(tape: Tape, nodes: Nodes, x: Any, *sentinel: Any) -> Traced | None:
    if _is_given(x):
        if isinstance(x, KEYS | VALUES | ITEMS) and not all(map(_carries_none, x)):
            raise refused_holder(x)
        if isinstance(x, Iterator):
            return x, nodes[1]
    holds_numbers = nodes[1] is not None and isinstance(x, array.array | memoryview)
    if holds_numbers and not all(map(_carries_none, x)):
        raise refused_holder(x)
    if isinstance(x, Generated) or _is_walked(x, nodes[1]):
        return x, None
    method = bind_method(type(x), "__iter__")
    return tape.call((None, nodes[1]), method, x) if method and not sentinel else None


@handlers.desugared(next)
def _(tape: Tape, nodes: Nodes, x: Any, *default: Any) -> Traced | None:
    try:
        return _next_of(tape, nodes, x)
    except StopIteration:
        if not default:
            raise
    return default[0], nodes[2]


def _next_of(tape: Tape, nodes: Nodes, x: Any) -> Traced | None:
    """Take the next element of an iterator."""
    if _is_given(x):
        y = next(x)
        if not _carries_none(y):
            raise refused_holder(x)
        return y, nodes[1] if isinstance(y, str | bytes) else None
    if isinstance(x, Generated):
        return x.step()
    if isinstance(x, np.flatiter) and nodes[1] is not None and x.index < x.base.size:
        place = x.index
        next(x)
        entries, node = tape.call((None, nodes[1]), flat_entries, x)
        return tape.call((None, node, None), operator.getitem, entries, place)
    if _is_walked(x, nodes[1]) and reaches_active(x):
        return take_step(tape, x)
    method = bind_method(type(x), "__next__")
    if method is not None:
        return tape.call((None, nodes[1]), method, x)
    behind = gc.get_referents(x) if kind_of(x) == VALUE else [""]
    if reaches_active(x) or any(isinstance(y, str | bytes) for y in behind):
        return None
    return next(x), None  # of a range, say


@handlers.desugared(isinstance)
def _(tape: Tape, nodes: Nodes, x: Any, classes: Any) -> Traced | None:
    return (issubclass(x.kind, classes), None) if isinstance(x, Generated) else None


@handlers.desugared(operator.eq, operator.ne, of=Generated, given=True)
def _(f: Any, tape: Tape, nodes: Nodes, x: Any, y: Any) -> Traced:
    if isinstance(x, np.ndarray) or isinstance(y, np.ndarray):
        refuse_whole_iterators(f, (x, y))
    return f(x, y), None


@handlers.desugared(operator.length_hint)
def _(tape: Tape, nodes: Nodes, x: Any, default: int = 0) -> Traced | None:
    if not isinstance(x, Generated):
        return None
    if hasattr(x.kind, "__length_hint__"):
        raise attribute_refusal(x, "__length_hint__")
    return default, None


_METHODS: dict[Any, Any] = {
    Generated.__next__: lambda tape, nodes, x: x.step(),
    Generated.__iter__: lambda tape, nodes, x: (x, None),
    Generated.send: lambda tape, nodes, x, value: x.step((value, nodes[2])),
    Generated.throw: lambda tape, nodes, x, *error: x.step(throw=error),
    Generated.close: lambda tape, nodes, x: (x.frame.close(), None),
}
for _of_generators, _resolve in _METHODS.items():
    handlers.desugared(_of_generators)(_resolve)
