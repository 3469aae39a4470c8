"""Texts of objects: `str`, `repr`, `format` and f-strings run the user's own methods.

The side effects of such a method are followed, and its text is the one that Python would use.
"""

import re
import types
from typing import Any

from zygote_lite._activity.activity import text_pullback
from zygote_lite._activity.classes import member_of
from zygote_lite._cotangents.kinds import is_foreign
from zygote_lite._cotangents.registry import Handlers, NodeId, Nodes, Traced, ValueAndPullback
from zygote_lite._ir.intrinsics import CONVERSIONS, format_value, join_text
from zygote_lite._tape.tape import Tape

handlers = Handlers()

_WITH_STR = (object, int, float, complex, str)
"""Classes whose `__format__`, in C, takes what `str` gives where the format is empty."""


def _own_method(x: Any, *names: str) -> Any:
    """Return the first of some methods of a class that is not that of any object, if in Python."""
    for name in names:
        member = None if is_foreign(type(x)) else member_of(type(x), name)
        if member is not vars(object)[name]:
            return member if isinstance(member, types.FunctionType) else None
    return None


def _text_by_method(tape: Tape, node: NodeId, name: str, method: Any, x: Any, *xs: Any) -> Traced:
    """Run a user method that returns a text, for the one of Python's under that name."""
    y, at = tape.call((None, node, *(None for _ in xs)), method, x, *xs)
    if isinstance(y, str):
        return y, at
    kind = type(y).__name__
    if name == "__format__":
        raise TypeError(f"__format__ must return a str, not {kind}")
    raise TypeError(f"{name} returned non-string (type {kind})")


@handlers.desugared(str)
def _(tape: Tape, nodes: Nodes, *xs: Any, **kws: Any) -> Traced | None:
    method = _own_method(xs[0], "__str__", "__repr__") if len(xs) == 1 and not kws else None
    return None if method is None else _text_by_method(tape, nodes[1], "__str__", method, xs[0])


@handlers.desugared(repr)
def _(tape: Tape, nodes: Nodes, x: Any) -> Traced | None:
    method = _own_method(x, "__repr__")
    return None if method is None else _text_by_method(tape, nodes[1], "__repr__", method, x)


@handlers.desugared(ascii)
def _(tape: Tape, nodes: Nodes, x: Any) -> Traced | None:
    if _own_method(x, "__repr__") is None:
        return None
    text, node = tape.call((None, nodes[1]), repr, x)
    return str.encode(text, "ascii", "backslashreplace").decode("ascii"), node


@handlers.desugared(object.__str__)
def _(tape: Tape, nodes: Nodes, x: Any) -> Traced:
    return tape.call(nodes, repr, x)


@handlers.desugared(object.__format__)
def _(tape: Tape, nodes: Nodes, x: Any, spec: Any) -> Traced | None:
    return tape.call(nodes[:2], str, x) if spec == "" else None


@handlers.desugared(format)
def _format(tape: Tape, nodes: Nodes, x: Any, spec: Any = "") -> Traced | None:
    method = _own_method(x, "__format__")
    if method is not None:
        return _text_by_method(tape, nodes[1], "__format__", method, x, spec)
    if spec != "" or getattr(type(x).__format__, "__objclass__", None) not in _WITH_STR:
        return None
    method = _own_method(x, "__str__", "__repr__")
    return None if method is None else _text_by_method(tape, nodes[1], "__str__", method, x)


@handlers.desugared(format_value)
def _(tape: Tape, nodes: Nodes, x: Any, conversion: int, spec: str) -> Traced | None:
    if conversion == -1:
        return _format(tape, (None, nodes[1], nodes[3]), x, spec)  # type: ignore[no-any-return]
    text, node = tape.call((None, nodes[1]), CONVERSIONS[conversion], x)
    return tape.call((None, node, nodes[3]), format, text, spec)


_TO_TEXTS = ("split", "rsplit", "splitlines", "partition", "rpartition", "translate")


@handlers.structural(
    join_text, format_value, str.join, str.format, re.Pattern.split, re.Pattern.findall,
    re.Pattern.match, re.Pattern.search, re.Pattern.fullmatch,
    re.Match.group, re.Match.groups, re.Match.groupdict, re.Match.expand, re.Match.__getitem__,
    *[getattr(kind, name) for kind in (str, bytes) for name in _TO_TEXTS], given=True,
)  # fmt: skip
def _(f: Any, nodes: Nodes, *xs: Any, **kws: Any) -> ValueAndPullback:
    y = f(*xs, **kws)
    return y, text_pullback(y, len(nodes))


_TO_PLACES = ("find", "rfind", "index", "rindex", "count")
handlers.inert(
    re.Match.start, re.Match.end, re.Match.span,
    *[getattr(kind, name) for kind in (str, bytes) for name in _TO_PLACES],
)  # fmt: skip


@handlers.desugared(re.Pattern.finditer)
def _(tape: Tape, nodes: Nodes, *xs: Any, **kws: Any) -> Traced:
    found = [*re.Pattern.finditer(*xs, **kws)]
    made = tape.record(found, text_pullback(found, 1), (tape.text_node(),))
    return tape.call((None, made[1]), iter, found)


handlers.inert(dir, object.__dir__, type.__dir__, types.ModuleType.__dir__)
