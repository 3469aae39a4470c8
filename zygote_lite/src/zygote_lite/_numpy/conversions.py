"""Objects that NumPy asks what they are, where they are written and in lists.

It asks by `__array__`, or by `__float__`. Each object is asked in recorded code, and NumPy gets
what it says.
"""

import operator
import types
from collections import deque
from typing import Any

import numpy as np

from zygote_lite._activity.classes import may_have_methods, member_of
from zygote_lite._activity.marks import PLAIN
from zygote_lite._cotangents.kinds import is_foreign, is_known_by_rule
from zygote_lite._cotangents.registry import Handlers, NodeId, Nodes, Traced
from zygote_lite._tape.tape import Tape

handlers = Handlers()

_FILLING = (np.generic, int, float, complex)
_READ_AS_ARRAYS = ("__getitem__", "__array__", "__array_interface__", "__array_struct__")
_LISTS = (list, tuple)
_NUMBERS = {"__complex__": complex, "__float__": float, "__index__": operator.index}


def _question_for(kind: type, letter: str) -> Any:
    """Return the function by which NumPy asks objects of a class what they are, if there is one.

    Arguments:
        kind: the class.
        letter: that of the kind of the numbers that the array is to have, if that is given.
    """
    if not may_have_methods(kind) or is_foreign(kind) or is_known_by_rule(kind):
        return None
    if isinstance(member_of(kind, "__array__"), types.FunctionType):
        return np.asarray
    names = {"c": [*_NUMBERS], "f": ["__float__", "__index__"]}.get(letter, [])
    for name in names:
        if isinstance(member_of(kind, name), types.FunctionType):
            return _NUMBERS[name]
    return None


def _questions_for(xs: Any, letter: str) -> dict[type, Any]:
    """Return the functions that ask the objects in a list, and in lists in it, by their classes."""
    kinds = {*map(type, xs)} - PLAIN - {np.ndarray}
    found = {kind: _question_for(kind, letter) for kind in kinds}
    found = {kind: f for kind, f in found.items() if f is not None}
    for x in xs if kinds.intersection(_LISTS) else ():
        if type(x) in _LISTS:
            found.update(_questions_for(x, letter))
    return found


def as_asked(xs: Any, asked: Any) -> Any:
    """Return a list of what the objects in a list say that they are, list by list."""
    found = []
    for x in xs:
        if type(x) in _LISTS:
            found.append(as_asked(x, asked))
        elif type(x) in asked:
            found.append(asked[type(x)](x))
        else:
            found.append(x)
    return found


def _asked_in(f: Any, tape: Tape, nodes: Nodes, letter: str, xs: Any, kws: Any) -> Traced | None:
    """Call a function with a list of what the objects in a list say that they are."""
    x, *others = xs
    asked = _questions_for(x, letter) if type(x) in _LISTS and letter != "O" else {}
    if not asked:
        return None
    given, node = tape.call((None, nodes[1], None), as_asked, x, asked)
    return tape.call((None, node, *nodes[2:]), f, given, *others, **kws)


@handlers.desugared(np.asarray, np.asanyarray, np.array, of=_LISTS, given=True)
def _(f: Any, tape: Tape, nodes: Nodes, *xs: Any, **kws: Any) -> Traced | None:
    """Ask the objects in a list, in their order, as NumPy does."""
    dtype = xs[1] if len(xs) > 1 else kws.get("dtype")
    letter = "" if dtype is None else np.dtype(dtype).kind
    return _asked_in(f, tape, nodes, letter, xs, kws)


@handlers.desugared(
    np.concatenate,
    np.stack,
    np.vstack,
    np.hstack,
    np.dstack,
    np.column_stack,
    of=_LISTS,
    given=True,
)
def _(f: Any, tape: Tape, nodes: Nodes, *xs: Any, **kws: Any) -> Traced | None:
    """Ask the objects that are joined."""
    return _asked_in(f, tape, nodes, "", xs, kws)


def is_read_as_array(x: Any, index: Any, value: Any) -> bool:
    """Return whether `x[index] = value` makes an array of the value, a list or an object."""
    if x.dtype.kind == "O" or isinstance(value, (np.ndarray, *_FILLING)):
        return False
    return isinstance(value, list | tuple) or isinstance(x[index], np.ndarray)


def as_array(tape: Tape, node: NodeId, value: Any) -> Traced:
    """Make an array of what is written into one, if NumPy does: of a list, or by `__array__`."""
    if isinstance(value, (np.ndarray, str, bytes, *_FILLING)):
        return value, node
    if type(value) is deque:
        value, node = tape.call((None, node), list, value)
    if isinstance(value, list | tuple):
        return tape.call((None, node), np.array, value)
    if not any(hasattr(value, name) for name in _READ_AS_ARRAYS):
        return value, node  # which NumPy takes for a number
    return tape.call((None, node), np.asarray, value)


@handlers.desugared(np.ndarray.fill)
def _(tape: Tape, nodes: Nodes, x: Any, value: Any) -> Traced:
    if not isinstance(value, _FILLING):
        np.empty_like(x).fill(value)  # raises what NumPy raises: it fills with numbers alone
    return tape.call((None, nodes[1], None, nodes[2]), operator.setitem, x, Ellipsis, value)
