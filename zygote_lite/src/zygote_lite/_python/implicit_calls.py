"""Builtins that call a special method of a user class (`hash`, `int`, `in`, ...).

If that method has side effects, the call is redirected to it, and so recorded. Functions without an
equivalent in Python are not here: `side_effects` refuses them.
"""

import io
import math
import operator
import sys
import types
from typing import Any

from zygote_lite._activity.activity import text_pullback
from zygote_lite._activity.classes import member_of
from zygote_lite._cotangents.pullbacks import ValueAndPullback
from zygote_lite._cotangents.registry import Handlers, Nodes, Traced
from zygote_lite._ir.traits import declare
from zygote_lite._python.library.folds import order_of
from zygote_lite._tape.tape import Tape

handlers = Handlers()

declare(order_of, calls=frozenset(("__lt__",)), calls_within=True)


def _by_method(f: Any, name: str, number: Any) -> None:
    """Declare that `f(x, ...)` calls a method of `x`, and what it makes of the value."""

    def resolve(tape: Tape, nodes: Nodes, x: Any = None, *xs: Any) -> Traced | None:
        method = member_of(type(x), name)
        if not isinstance(method, types.FunctionType):
            return None
        y, node = tape.call((None, *nodes[1:]), method, x, *xs)
        return (y, node) if number is None else (number(y), None)

    handlers.desugared(f)(resolve)


for _f, _name, _number in (
    (hash, "__hash__", lambda y: hash(y) if isinstance(y, int) else y),
    (operator.index, "__index__", operator.index),
    (int, "__int__", int),
    (round, "__round__", None),
    (math.floor, "__floor__", None),
    (math.ceil, "__ceil__", None),
    (math.trunc, "__trunc__", None),
    (operator.delitem, "__delitem__", None),
    (reversed, "__reversed__", None),
):
    _by_method(_f, _name, _number)


@handlers.desugared(operator.not_)
def _(tape: Tape, nodes: Nodes, x: Any) -> Traced | None:
    names = ("__bool__", "__len__")
    if not any(isinstance(member_of(type(x), name), types.FunctionType) for name in names):
        return None
    return not tape.call(nodes, operator.truth, x)[0], None


@handlers.desugared(list.sort)
def _(tape: Tape, nodes: Nodes, x: Any, **kws: Any) -> Any:
    key, at = kws.get("key"), dict(zip(kws, nodes[2:], strict=True))
    if key is None:
        return None
    flags = (None, nodes[1], at["key"], None)
    return tape.call(flags, _sort, x, key, kws.get("reverse", False))


def _sort(x: Any, key: Any, reverse: Any) -> Any:
    keys = []
    for y in x:
        keys.append(key(y))
    x[:] = [x[i] for i in order_of(keys, reverse)]


@handlers.structural(io.StringIO.getvalue)
def _(nodes: Nodes, x: io.StringIO) -> ValueAndPullback:
    y = x.getvalue()
    return y, text_pullback(y, len(nodes))


@handlers.in_python(operator.contains, list.__contains__, tuple.__contains__)
def _contains(x: Any, value: Any) -> Any:
    return any(y is value or y == value for y in x)


@handlers.in_python(list.count, tuple.count, operator.countOf)
def _count_equal(x: Any, value: Any) -> Any:
    n = 0
    for y in x:
        if y is value or y == value:
            n = n + 1
    return n


@handlers.in_python(list.index, tuple.index)
def _index(x: Any, value: Any, start: Any = 0, stop: Any = sys.maxsize) -> Any:
    first, last, _ = slice(start, stop).indices(len(x))
    i = first
    while i < last and i < len(x):
        y = x[i]
        if y is value or y == value:
            return i
        i = i + 1
    raise ValueError(f"{value!r} is not in {type(x).__name__}")


@handlers.in_python(list.remove)
def _remove_equal(x: Any, value: Any) -> Any:
    i = 0
    while i < len(x):
        y = x[i]
        if y is value or y == value:
            del x[i]
            return
        i = i + 1
    raise ValueError("list.remove(x): x not in list")
