"""The plainest operations on tuples, lists, dicts and objects: resolved at once.

Each gives what the usual order of resolution gives for operands that are of Python's own classes,
or objects that look attributes up as `object` does. For all other operands it gives `None`.
"""

import itertools
import operator
import types
from typing import Any

import numpy as np

from rulescore import when_changed
from zygote_lite._activity.activity import is_fields_view
from zygote_lite._activity.classes import member_of
from zygote_lite._activity.marks import BOUND, PLAIN
from zygote_lite._cotangents.kinds import (
    DICT,
    LIST,
    OBJECT,
    SET,
    carries_nothing,
    dict_of,
    is_known_by_rule,
    is_written_in_python,
    kind_of,
    slot_names,
)
from zygote_lite._cotangents.registry import Handlers, Nodes, Traced, TupleNode
from zygote_lite._cotangents.run import EntryBack, state
from zygote_lite._ir.intrinsics import (
    build_tuple,
    invoke,
    invoke_found,
    join_tuple,
    look_up,
    read_cell,
    unpack,
    write_cell,
)
from zygote_lite._python.calls import invoked, invoked_as_found, method_looked_up
from zygote_lite._python.containers.dicts import PUT, put_item
from zygote_lite._python.containers.keys import refuse_active_key
from zygote_lite._python.containers.lists import APPENDED, append_to
from zygote_lite._python.objects.attributes import CHANGED, write_attribute
from zygote_lite._tape.generators import Generated
from zygote_lite._tape.scalars import KINDS_OF_FLOATS
from zygote_lite._tape.tape import Tape
from zygote_lite.caches import cached_by_kind

handlers = Handlers()

Operands = tuple[Any, ...]
_of_object: Any = object
_LOOKS_UP, _WRITES = _of_object.__getattribute__, _of_object.__setattr__


def _is_held_active(nodes: Nodes, *holders: Any) -> bool:
    """Return whether an operand has a node, or what is read or written holds active values."""
    active = state.active or ()
    return any(nodes) or any(id(x) in active for x in holders)


def _note_read(
    tape: Tape, nodes: Nodes, holder: Any, key: Any, y: Any, active: bool
) -> Traced | None:
    """Return an entry of a container that has been read, and record that."""
    if not active:
        return None if type(y) is types.FrameType or type(y) in BOUND else (y, None)
    if type(y) in KINDS_OF_FLOATS:
        return tape.record_read(y, holder, key)
    if carries_nothing(y):
        return y, None
    return tape.record(y, EntryBack(holder, key), nodes)


def _may_overwrite(holder: Any, value: Any) -> bool:
    """Return whether nobody asks what a write of a value into an inactive container changes."""
    return type(value) in PLAIN and id(holder) not in (state.captured or ())


# -- tuples, lists, dicts ----------------------------------------------------------------------


@handlers.direct(build_tuple)
def _(tape: Tape, nodes: Nodes, f: Any, xs: Operands) -> Traced | None:
    """Build a tuple, whose node are the nodes of what it holds."""
    if tape.written:
        nodes = tape.numbered(nodes, xs)
    if any(nodes):
        return None if state.has_texts else (xs, TupleNode(nodes[1:]))
    return (xs, None) if PLAIN.issuperset(map(type, xs)) else None


@handlers.direct(join_tuple)
def _(tape: Tape, nodes: Nodes, f: Any, xs: Operands) -> Traced | None:
    """Join tuples, such as the arguments of `f(x, *xs)`: what is constant in them stays so."""
    kinds = {type(node) for node in nodes[1:] if node is not None}
    if kinds != {TupleNode} or {*map(type, xs)} != {tuple} or tape.written or state.has_texts:
        return None
    parts = zip(xs, nodes[1:], strict=True)
    return f(*xs), TupleNode(
        itertools.chain(*(n if type(n) is TupleNode else (None,) * len(x) for x, n in parts))
    )


@handlers.direct(unpack)
def _(tape: Tape, nodes: Nodes, f: Any, xs: Operands) -> Traced | None:
    x, count, star = xs
    return (x, nodes[1]) if type(x) is tuple and len(x) == count and star is None else None


@handlers.direct(operator.getitem, tuple.__getitem__, list.__getitem__, dict.__getitem__)
def _(tape: Tape, nodes: Nodes, f: Any, xs: Operands) -> Traced | None:
    x, index = xs
    kind, at = type(x), type(index)
    if kind is tuple and at is int:
        if type(nodes[1]) is TupleNode:
            return x[index], nodes[1][index]
        return _note_read(tape, nodes, x, index, x[index], False) if not any(nodes) else None
    if kind is np.ndarray and at is int and nodes[1] is not None and not tape.written:
        return tape.read(nodes, x, index) if x.dtype.kind in "fc" else None
    if kind is list and at is int:
        y = x[index]
        return _note_read(tape, nodes, x, index % len(x), y, _is_held_active(nodes, x))
    is_key = kind is dict and (at is str or at is int) and index in x
    if is_key and not state.has_texts and not is_fields_view(x):
        return _note_read(tape, nodes, x, index, x[index], _is_held_active(nodes, x))
    return None


@handlers.direct(operator.setitem, list.__setitem__, dict.__setitem__)
def _(tape: Tape, nodes: Nodes, f: Any, xs: Operands) -> Traced | None:
    """Write a number, say, into a list or dict."""
    x, index, value = xs
    kind, at = type(x), type(index)
    if not ((kind is list and at is int) or (kind is dict and (at is int or at is str))):
        return None
    if state.has_texts or is_fields_view(x):
        return None
    if _is_held_active(nodes, x):
        if type(value) not in PLAIN:
            return None
        refuse_active_key(index, nodes[2] if kind is dict else None)
        return tape.record_write(nodes[3], PUT, *put_item(x, index, value))
    if not _may_overwrite(x, value):
        return None
    x[index] = value
    return None, None


@handlers.direct(list.append)
def _(tape: Tape, nodes: Nodes, f: Any, xs: Operands) -> Traced | None:
    x, *value = xs
    if type(x) is not list or len(value) != 1 or state.has_texts:
        return None
    if _is_held_active(nodes, x):
        if type(value[0]) not in PLAIN:
            return None
        return tape.record_write(nodes[2], APPENDED, x, append_to(x, *value))
    if not _may_overwrite(x, value[0]):
        return None
    x.append(*value)
    return None, None


@handlers.direct(len, list.__len__, tuple.__len__)
def _(tape: Tape, nodes: Nodes, f: Any, xs: Operands) -> Traced | None:
    return (f(*xs), None) if len(xs) == 1 and type(xs[0]) in (list, tuple) else None


@handlers.direct(operator.is_, operator.is_not)
def _(tape: Tape, nodes: Nodes, f: Any, xs: Operands) -> Traced:
    return f(*xs), None


# -- variables that functions share ------------------------------------------------------------


@handlers.direct(read_cell)
def _(tape: Tape, nodes: Nodes, f: Any, xs: Operands) -> Traced | None:
    cell = xs[0]
    return _note_read(
        tape, nodes, cell, "cell_contents", read_cell(*xs), _is_held_active(nodes, cell)
    )


@handlers.direct(write_cell)
def _(tape: Tape, nodes: Nodes, f: Any, xs: Operands) -> Traced | None:
    cell, value = xs
    if _is_held_active(nodes, cell) or not _may_overwrite(cell, value) or state.has_texts:
        return None
    cell.cell_contents = value
    return None, None


# -- objects -----------------------------------------------------------------------------------


@cached_by_kind(4096)
def _keeps_fields(kind: type) -> bool:
    """Return whether all that objects of a class hold is in a `__dict__`."""
    if kind.__module__.split(".")[0] in ("zygote_lite", "rulescore"):
        return False
    if issubclass(kind, BaseException) or not is_written_in_python(kind):
        return False
    in_c = (types.NoneType, types.GetSetDescriptorType)
    if not all(isinstance(vars(base).get("__dict__"), in_c) for base in kind.__mro__):
        return False
    return not is_known_by_rule(kind) and not slot_names(kind)


when_changed(_keeps_fields.cache_clear)  # type: ignore[attr-defined]


def _own_fields(x: Any, name: Any) -> Any:
    """Return the `__dict__` of an object, if reading and writing an attribute asks nobody else."""
    kind: Any = type(x)
    if kind_of(x) != OBJECT or type(name) is not str or not _keeps_fields(kind):
        return None
    if kind.__getattribute__ is not _LOOKS_UP or member_of(kind, name) is not None:
        return None
    fields = dict_of(x)
    return fields if type(fields) is dict else None


@handlers.direct(getattr)
def _(tape: Tape, nodes: Nodes, f: Any, xs: Operands) -> Traced | None:
    """Read what an object holds itself."""
    x, name, *default = xs
    fields = None if default else _own_fields(x, name)
    if fields is None or name not in fields or state.held:
        return None
    return _note_read(tape, nodes, x, name, fields[name], _is_held_active(nodes, x, fields))


@handlers.direct(setattr)
def _(tape: Tape, nodes: Nodes, f: Any, xs: Operands) -> Traced | None:
    """Give an object a number, say."""
    x, name, value = xs
    fields = _own_fields(x, name)
    if fields is None or type(x).__setattr__ is not _WRITES:
        return None
    if _is_held_active(nodes, x, fields):
        if type(value) not in PLAIN or state.has_texts:
            return None
        return tape.record_write(nodes[3], CHANGED, *write_attribute(x, name, value))
    if not _may_overwrite(fields, value) or id(x) in (state.captured or ()) or state.has_texts:
        return None
    fields[name] = value
    return None, None


@handlers.direct(invoke)
def _(tape: Tape, nodes: Nodes, f: Any, xs: Operands) -> Traced | None:
    """Call a method of something active."""
    x = xs[0]
    if kind_of(x) not in (LIST, DICT, SET, OBJECT) or not _is_held_active(nodes, x):
        return None
    if state.has_texts or tape.written or is_known_by_rule(type(x)):
        return None
    done: Traced = invoked(tape, nodes, *xs)
    return done


@handlers.direct(look_up)
def _(tape: Tape, nodes: Nodes, f: Any, xs: Operands) -> Traced | None:
    return None if tape.written else method_looked_up(tape, nodes, *xs)


@handlers.direct(invoke_found)
def _(tape: Tape, nodes: Nodes, f: Any, xs: Operands) -> Traced | None:
    done: Traced = invoked_as_found(tape, nodes, *xs)
    return done


# -- iterators ---------------------------------------------------------------------------------


@handlers.direct(iter)
def _(tape: Tape, nodes: Nodes, f: Any, xs: Operands) -> Traced | None:
    return (xs[0], None) if type(xs[0]) is Generated and len(xs) == 1 else None


@handlers.direct(next)
def _(tape: Tape, nodes: Nodes, f: Any, xs: Operands) -> Traced | None:
    return xs[0].step() if type(xs[0]) is Generated and len(xs) == 1 else None
