"""Cotangents of a nested tape: values with their nodes on the outer tape, entry by entry.

A value has two nodes, one on each tape: a `Pair`.
"""

import operator
from typing import Any

import numpy as np

from rulescore import Tangent, accumulate, project
from zygote_lite._activity.marks import mark_new
from zygote_lite._cotangents.kinds import (
    OBJECT,
    cotangent_like,
    entries_of,
    is_known_by_rule,
    kind_of,
    tuple_like,
)
from zygote_lite._cotangents.registry import (
    Handlers,
    NodeId,
    Nodes,
    Traced,
    ValueAndPullback,
    no_pullback,
)
from zygote_lite._cotangents.run import take_slots
from zygote_lite._cotangents.store import Boxed, through
from zygote_lite._ir.intrinsics import build_dict, build_list, build_tuple
from zygote_lite._tape.tape import Tape


class Pair:
    """The numbers of one value on the inner and on the outer tape."""

    __slots__ = ("inner", "outer")

    def __init__(self, inner: Any, outer: Any) -> None:
        self.inner = inner
        self.outer = outer


class TuplePair(Pair):
    """The numbers of a tuple that recorded code made, with those of what it holds."""

    __slots__ = ("parts",)

    def __init__(self, whole: Pair, parts: tuple[Pair | None, ...]) -> None:
        super().__init__(whole.inner, whole.outer)
        self.parts = parts


def pair(inner: Any, outer: Any) -> Pair | None:
    """Return both numbers of a value, or `None` where it has neither."""
    return None if inner is None and outer is None else Pair(inner, outer)


def inner_of(nodes: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the nodes of values on the inner tape."""
    return tuple([None if n is None else n.inner for n in nodes])


def outer_of(nodes: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the nodes of values on the outer tape."""
    return tuple([None if n is None else n.outer for n in nodes])


handlers = Handlers()


class Box(Boxed):
    """A cotangent of the inner tape: a value, and its number on the outer one."""

    __slots__ = ("node", "tape", "value")

    def __init__(self, value: Any, node: Any, tape: Tape) -> None:
        self.value, self.node, self.tape = value, node, tape

    def __add__(self, other: Any) -> "Box":
        if not isinstance(other, Box):
            return NotImplemented
        nodes = (None, self.node, other.node)
        return Box(*self.tape.call(nodes, accumulate, self.value, other.value), self.tape)

    def through(self, f: Any, *xs: Any) -> "Box | None":
        """Return the cotangent that a linear function makes of this one."""
        nodes = (None, self.node, *(None for _ in xs))
        value, node = self.tape.call(nodes, f, self.value, *xs)
        return None if value is None else Box(value, node, self.tape)


def box(value: Any, node: Any, tape: Tape) -> Any:
    """Return a cotangent with its numbers boxed, entry by entry."""
    if value is None:
        return None
    if isinstance(value, tuple | list | dict | Tangent):
        keys = [key for key, _ in entries_of(value)]
        read = [tape.call((None, node, None), operator.getitem, value, key) for key in keys]
        entries = [box(*found, tape) for found in read]
        return cotangent_like(value, dict(zip(keys, entries, strict=True)))
    return Box(value, node, tape)


def projected_entries(d: Any, x: Any) -> Any:
    """Return a boxed cotangent with the kind of its primal, entry by entry."""
    if isinstance(d, Box):
        if not isinstance(x, list | tuple):
            return d.through(project, x)
        read = [(None, d.node, None), operator.getitem, d.value]  # of a list, an array may come
        d = [Box(*d.tape.call(*read, i), d.tape) for i in range(len(x))]
    if isinstance(d, list | tuple):
        entries = [projected_entries(entry, part) for entry, part in zip(d, x, strict=True)]
        return entries if isinstance(x, list) else tuple_like(x, entries)
    return d


def unbox(d: Any, tape: Tape, known: dict[int, Traced] | None = None) -> Traced:
    """Return a boxed cotangent as a value with one number on the outer tape.

    A tuple that is met again is the value that is `known`.
    """
    if isinstance(d, Box):
        return d.value, d.node
    known = {} if known is None else known
    if type(d) is tuple:
        if id(d) not in known:
            parts = [unbox(entry, tape, known) for entry in d]
            nodes = (None, *(node for _, node in parts))
            known[id(d)] = tape.call(nodes, build_tuple, *(value for value, _ in parts))
        return known[id(d)]
    if isinstance(d, list | tuple):
        parts = [unbox(entry, tape, known) for entry in d]
        nodes = (None, *(node for _, node in parts))
        build = build_list if isinstance(d, list) else build_tuple
        y, node = tape.call(nodes, build, *(value for value, _ in parts))
        if isinstance(d, list):
            return y, node
        return tape.call((None, None, node), tuple.__new__, type(d), y)
    if isinstance(d, dict | Tangent):
        names = tuple(d)
        parts = [unbox(d[name], tape, known) for name in names]
        values, found = [value for value, _ in parts], [node for _, node in parts]
        if isinstance(d, Tangent):
            given = dict(zip(names, values, strict=True))
            return tape.call((None, None, *found), Tangent, d._primal, **given)
        items = [item for pair in zip(names, values, strict=True) for item in pair]
        at = [item for node in found for item in (None, node)]
        return tape.call((None, *at), build_dict, *items)
    return d, None


@handlers.structural(Tangent)
def _(nodes: Nodes, primal: Any, **fields: Any) -> ValueAndPullback:
    y = Tangent(primal, **fields)
    mark_new(y)
    mark_new(y._fields)

    def tangent_back(dy: Any) -> tuple[Any, ...]:
        slots = take_slots(y)
        return None, None, *(slots.get(name) for name in fields)

    return y, tangent_back


@handlers.desugared(getattr, of=Tangent)
def _(tape: Tape, nodes: Nodes, x: Tangent, name: str, *default: Any) -> Traced | None:
    """Read a field of a cotangent as its `__getattr__` does."""
    if name not in x:
        return None
    return tape.call((None, None, None), operator.getitem, x._fields, name)


@handlers.desugared(accumulate, project, given=True)
def _(f: Any, tape: Tape, nodes: tuple[NodeId, ...], a: Any, b: Any) -> Traced | None:
    """Take the cotangents of containers and objects entry by entry, as the source of `f` does.

    It also finds how a rule set adds objects of its own, whose parts the sum may hold.
    """
    if a is None or (kind_of(b) != OBJECT and not isinstance(b, list | tuple | dict | Tangent)):
        return None
    return tape.function(nodes, f, (a, b), {})


@handlers.structural(accumulate, new_array=True)
def _(nodes: Nodes, a: Any, b: Any) -> ValueAndPullback:
    def accumulate_back(dy: Any) -> tuple[Any, ...]:
        return None, None if a is None else dy, None if b is None else dy

    return accumulate(a, b), accumulate_back


def expand(dy: Any, x: Any) -> Any:
    """Return `dy` repeated to the shape of `x`, in the kind of `x`: the adjoint of `project`."""
    if is_known_by_rule(type(x)):
        return project(dy, x)
    kept = (1,) * (np.ndim(x) - np.ndim(dy)) + np.shape(dy)
    return project(np.broadcast_to(np.reshape(dy, kept), np.shape(x)), x)


@handlers.structural(project, new_array=True)
def _(nodes: Nodes, dx: Any, x: Any) -> ValueAndPullback:
    y = project(dx, x)

    def project_back(dy: Any) -> tuple[Any, ...]:
        return None, through(dy, expand, dx), None

    return y, project_back if y is not None else no_pullback(3)


@handlers.structural(expand, new_array=True)
def _(nodes: Nodes, dy: Any, x: Any) -> ValueAndPullback:
    def expand_back(d: Any) -> tuple[Any, ...]:
        return None, through(d, project, dy), None

    return expand(dy, x), expand_back


def scaled(dy: Any, partial: Any) -> Any:
    """Return `dy * conj(partial)`, where a zero in `dy` wins over an infinite `partial`."""
    if np.iscomplexobj(partial):
        partial = np.conj(partial)
    # an int may be too large for NumPy
    if isinstance(partial, int) or np.all(np.isfinite(partial)):
        return dy * partial
    # This product is differentiated again, so the mask must be as narrow as it can be. Where `dy`
    # is 0 and `partial` finite, the slope by `dy` is `partial`; where `dy` is not 0, an infinity is
    # the result. The inner `where` is for the reverse pass, which multiplies by what it selected.
    wins = (dy == 0) & ~np.isfinite(partial)
    return np.where(wins, 0.0, dy * np.where(wins, 0.0, partial))
