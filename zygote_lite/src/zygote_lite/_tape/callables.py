"""Callables: those that stand for another call, and what a call may change."""

import functools
import operator
import types
from numbers import Number
from typing import TYPE_CHECKING, Any

import numpy as np

from rulescore import find_rule
from zygote_lite._activity.saved import is_writer
from zygote_lite._activity.side_effects import may_write
from zygote_lite._cotangents.kinds import OBJECT, VALUE, kind_of
from zygote_lite._cotangents.registry import COMPOSITE, EQUIVALENT, STRUCTURAL, Node, Recorded
from zygote_lite._ir.intrinsics import build_tuple, invoke, read_cell
from zygote_lite._python.objects.attributes import member_of

if TYPE_CHECKING:
    from zygote_lite._tape.tape import Tape

CALLS_PYTHON = (types.FunctionType, types.MethodType, type, functools.partial)


def through_getter(tape: "Tape", nodes: tuple[Node, ...], f: Any, xs: tuple[Any, ...]) -> Recorded:
    """Resolve an `attrgetter`, an `itemgetter` or a `methodcaller`."""
    names = f.__reduce__()[1]
    if isinstance(f, operator.methodcaller):
        if not isinstance(names[0], str):
            return tape.refuse(nodes, f, xs, {})
        flags = (None, nodes[1], None, *(None for _ in names[1:]))
        return tape.pull(flags, invoke, xs[0], *names)
    found = []
    for name in names:
        y, node = xs[0], nodes[1]
        if isinstance(f, operator.itemgetter):
            y, node = tape.pull((None, node, None), operator.getitem, y, name)
        else:
            for part in name.split("."):
                y, node = tape.pull((None, node, None), getattr, y, part)
        found.append((y, node))
    if len(found) == 1:
        return found[0]
    return tape.pull((None, *(n for _, n in found)), build_tuple, *(y for y, _ in found))


def through_partial(
    tape: "Tape", nodes: tuple[Node, ...], f: Any, xs: tuple[Any, ...], kws: dict[str, Any]
) -> Recorded:
    """Resolve a partial: what it was made with are its parts."""
    given, node = tape.pull((None, nodes[0], None), getattr, f, "args")
    parts = [tape.pull((None, node, None), operator.getitem, given, i) for i in range(len(given))]
    named = {
        name: tape.pull((None, nodes[0], None), operator.getitem, f.keywords, name)
        for name in f.keywords
        if name not in kws
    }
    inner = (None, *(n for _, n in parts), *nodes[1 : 1 + len(xs)])
    inner += (*(n for _, n in named.values()), *nodes[1 + len(xs) :])
    values = {name: value for name, (value, _) in named.items()}
    return tape.pull(inner, f.func, *(v for v, _ in parts), *xs, **values, **kws)


def may_change(f: Any, xs: tuple[Any, ...]) -> bool:
    """Return whether a call may change anything, as far as the code of its function tells."""
    kind = None
    if f is invoke:
        kind, f = type(xs[0]), member_of(type(xs[0]), xs[1])
    return not isinstance(f, types.FunctionType) or may_write(f, kind)


def is_resolved_later(f: Any) -> bool:
    """Return whether a callable stands for another call, which takes generators as they are."""
    if isinstance(f, types.BuiltinFunctionType | types.MethodWrapperType):
        return not isinstance(f.__self__, types.ModuleType | None)
    return isinstance(f, CALLS_PYTHON)


def is_harmless(f: Any, xs: tuple[Any, ...], kws: dict[str, Any]) -> bool:
    """Return whether an inactive call cannot change anything that was saved."""
    if f is read_cell:
        return True
    if is_writer(f, kws):
        return False
    if isinstance(f, CALLS_PYTHON) or (getattr(f, "__module__", None) or "").startswith(
        "numpy.random"
    ):
        return False
    owner = getattr(f, "__self__", None)
    if owner is not None and not isinstance(owner, types.ModuleType | type):
        descriptor = descriptor_of(f)  # a bound method: what it is bound to may change
        if descriptor is None or is_writer(descriptor, kws):
            return False
        f, xs = descriptor, (owner, *xs)
    if all(isinstance(x, Number | str | bytes | None) for x in (*xs, *kws.values())):
        return True
    if id(f) in STRUCTURAL or id(f) in COMPOSITE or id(f) in EQUIVALENT:
        return all(kind_of(x) != OBJECT and not is_opaque(x) for x in xs)
    return find_rule(f, *xs) is not None


def is_opaque(x: Any) -> bool:
    """Return whether a value is an object written in C, such as an iterator, and no number."""
    return kind_of(x) == VALUE and not isinstance(x, Number | np.generic | np.ndarray)


def descriptor_of(f: Any) -> Any:
    """Return the method of a built-in type that a bound method is of."""
    owner = getattr(f, "__objclass__", None)
    if owner is not None:
        return owner.__dict__.get(f.__name__)
    for base in type(f.__self__).__mro__:
        member = base.__dict__.get(f.__name__)
        if isinstance(member, types.MethodDescriptorType | types.WrapperDescriptorType):
            return member
    return None
