"""Lists that hold objects which NumPy asks what they are: by `__array__`, or by `__float__`.

Each object is asked in recorded code, and NumPy gets a list of what it says.
"""

import operator
import types
from typing import Any

import numpy as np

from zygote_lite._activity.classes import may_have_methods, member_of
from zygote_lite._activity.marks import PLAIN
from zygote_lite._cotangents.kinds import is_foreign, is_known_by_rule
from zygote_lite._cotangents.registry import Handlers, Nodes, Traced
from zygote_lite._tape.tape import Tape

handlers = Handlers()

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


@handlers.desugared(np.asarray, np.asanyarray, np.array, of=_LISTS, given=True)
def _(f: Any, tape: Tape, nodes: Nodes, x: Any, *xs: Any, **kws: Any) -> Traced | None:
    """Ask the objects in a list, in their order, as NumPy does."""
    dtype = xs[0] if xs else kws.get("dtype")
    letter = "" if dtype is None else np.dtype(dtype).kind
    asked = _questions_for(x, letter) if type(x) in _LISTS and letter != "O" else {}
    if not asked:
        return None
    given, node = tape.call((None, nodes[1], None), as_asked, x, asked)
    return tape.call((None, node, *nodes[2:]), f, given, *xs, **kws)
