"""Calls that stand for other calls: methods, `*args`, decorators. Those of frames are refused."""

import contextlib
import dataclasses
import functools
import inspect
import operator
import sys
import threading
import traceback
import types
from numbers import Number
from typing import Any

import numpy as np

from rulescore import rules_of
from zygote_lite._activity.classes import bind_method, fields_of, member_of
from zygote_lite._activity.marks import mark_active, note_outside
from zygote_lite._activity.walk import reaches_active, reaches_active_at_all
from zygote_lite._cotangents.kinds import OBJECT, kind_of
from zygote_lite._cotangents.registry import Handlers, Nodes, Traced
from zygote_lite._cotangents.run import state
from zygote_lite._ir.intrinsics import (
    WITHOUT_FIELDS,
    LookedUp,
    apply,
    frame_refusal,
    invoke,
    invoke_found,
    join_arguments,
    join_keywords,
    join_tuple,
    look_up,
    note_annotations,
    set_defaults,
)
from zygote_lite._ir.names import name_of
from zygote_lite._ir.places import is_library
from zygote_lite._python.objects.attributes import refuse_numbers_in_annotations
from zygote_lite._python.objects.construct import initialize
from zygote_lite._tape.arguments import OPERATORS, is_of_numbers
from zygote_lite._tape.generators import Generated
from zygote_lite._tape.outermost import recursion_limit, set_recursion_limit
from zygote_lite._tape.refusals.refusal import asking
from zygote_lite._tape.tape import Tape

handlers = Handlers()

UNARY_METHODS: dict[str, Any] = {"__abs__": abs, "__neg__": operator.neg, "__pos__": operator.pos}


@handlers.desugared(invoke)
def invoked(tape: Tape, nodes: Nodes, x: Any, name: str, /, *xs: Any, **kws: Any) -> Traced:
    """Resolve the call of a method: that of the function that the class has."""
    member = _plain_method(x, name)
    if member is not None:
        return tape.call((None, nodes[1], *nodes[3:]), member, x, *xs, **kws)
    method, node = tape.call((None, nodes[1], None), getattr, x, name)
    return tape.call((node, *nodes[3:]), method, *xs, **kws)


def _plain_method(x: Any, name: str) -> Any:
    """Return the function that the class of an object has for a method, if it is found there."""
    if isinstance(x, type | types.ModuleType | super):
        return None
    member = member_of(type(x), name)
    plain = isinstance(member, types.FunctionType | types.MethodDescriptorType)
    if not plain or name in fields_of(x) or bind_method(type(x), "__getattribute__"):
        return None
    return None if _has_own_rule(x, member) else member


@handlers.desugared(look_up, always=True)
def method_looked_up(tape: Tape, nodes: Nodes, x: Any, name: str) -> Traced:
    """Look up a method: what has no methods but those of Python's own types stands for it."""
    if (type(x) in WITHOUT_FIELDS or type(x) is Generated) and hasattr(type(x), name):
        return x, nodes[1]
    member = _plain_method(x, name)
    if member is not None:
        return LookedUp(member, x), nodes[1]
    y, node = tape.call((None, nodes[1], None), getattr, x, name)
    return LookedUp(y), node


@handlers.desugared(invoke_found, always=True)
def invoked_as_found(
    tape: Tape, nodes: Nodes, found: Any, name: str, /, *xs: Any, **kws: Any
) -> Traced:
    """Call a method as it was before the arguments of the call were computed."""
    if type(found) is not LookedUp:
        return tape.call(nodes, invoke, found, name, *xs, **kws)
    owner, method = found.owner, found.method
    if owner is None:
        return tape.call((nodes[1], *nodes[3:]), method, *xs, **kws)
    if _plain_method(owner, name) is method:
        return tape.call(nodes, invoke, owner, name, *xs, **kws)
    return tape.call((None, nodes[1], *nodes[3:]), method, owner, *xs, **kws)


def _has_own_rule(x: Any, f: Any) -> bool:
    """Return whether there is a rule for a method of this object alone."""
    known = rules_of(f.__code__) if type(f) is types.FunctionType else ()
    return any(
        type(rule.function) is types.MethodType and rule.function.__self__ is x for rule in known
    )


@handlers.desugared(apply)
def _(tape: Tape, nodes: Nodes, f: Any, xs: Any, *keywords: Any) -> Traced:
    known = tape.parts_of(nodes[2]) if type(xs) is tuple else None
    if known is not None:
        arguments, parts = xs, [*known]
    else:
        arguments, at = tape.call((None, nodes[2]), tuple, xs)
        parts = [None if kind_of(x) == OBJECT and not reaches_active(x) else
                 tape.call((None, at, None), operator.getitem, arguments, i)[1]
                 for i, x in enumerate(arguments)]  # fmt: skip
    join_keywords(f, keywords)
    named = {name: tape.call((None, node, None), operator.getitem, kws, name)
             for kws, node in zip(keywords, nodes[3:], strict=True) for name in kws}  # fmt: skip
    inner = (nodes[1], *parts, *(node for _, node in named.values()))
    return tape.call(inner, f, *arguments, **{name: value for name, (value, _) in named.items()})


@handlers.desugared(set_defaults)
def _(tape: Tape, nodes: Nodes, f: Any, names: tuple[str, ...], *values: Any) -> Traced:
    if any(node is not None for node in nodes[3:]):
        tape.defaults[id(f)] = (f, dict(zip(names, nodes[3:], strict=True)))
        given = zip(names, nodes[3:], strict=True)
        state.defaulted[id(f)] = (f, [name for name, node in given if node is not None])
        mark_active(f)
    return None, None


@handlers.desugared(
    functools.wraps, functools.update_wrapper, functools.lru_cache, functools.cache,
    functools.singledispatch, functools.total_ordering, functools.cached_property, property,
    property.getter, property.setter, property.deleter, staticmethod, classmethod,
    contextlib.contextmanager, BaseExceptionGroup.split, BaseExceptionGroup.subgroup,
    BaseExceptionGroup.derive, BaseException.with_traceback, BaseException.add_note, given=True,
)  # fmt: skip
def _(f: Any, tape: Tape, nodes: Nodes, *xs: Any, **kws: Any) -> Traced:
    """Run a decorator: the function that it returns is recorded when it is called."""
    note_outside()  # what it keeps its operands in has no marks
    return f(*xs, **kws), None


@handlers.desugared(types.FunctionType.__get__, types.MethodType)
def _(tape: Tape, nodes: Nodes, f: Any, x: Any, *cls: Any) -> Traced:
    method = types.MethodType(f, x) if x is not None else f
    return method, nodes[2]  # what the method has got goes to its object


@handlers.desugared(join_arguments)
def _(tape: Tape, nodes: Nodes, f: Any, *parts: Any) -> Traced:
    for part in parts:
        if not hasattr(type(part), "__iter__") and not hasattr(type(part), "__getitem__"):
            f(*part)  # raises what Python raises
    return tape.call((None, *nodes[2:]), join_tuple, *parts)


@handlers.callables(types.WrapperDescriptorType)
def _(tape: Tape, nodes: Nodes, f: Any, xs: tuple[Any, ...], kws: dict[str, Any]) -> Traced | None:
    """Resolve a special method that is written in C, called by its name."""
    if f.__name__ in ("__next__", "__iter__"):
        return tape.call(nodes, next if f.__name__ == "__next__" else iter, *xs)
    if f.__name__ in UNARY_METHODS and issubclass(f.__objclass__, Number | np.generic | np.ndarray):
        return tape.call(nodes, UNARY_METHODS[f.__name__], *xs)
    if is_of_numbers(f) and len(xs) == 2:
        meant, is_swapped = OPERATORS[f.__name__]
        if not f.__name__.startswith("__i") and f(*xs) is NotImplemented:
            return NotImplemented, None
        (a, b), (at_a, at_b) = (xs, nodes[1:3])
        if is_swapped:
            return tape.call((None, at_b, at_a), meant, b, a)
        return tape.call((None, at_a, at_b), meant, a, b)
    return initialize(tape, nodes, f, xs, kws) if f.__name__ == "__init__" else None


@handlers.desugared(note_annotations)
def _(tape: Tape, nodes: Nodes, x: Any, *values: Any) -> Traced:
    """Refuse numbers in the annotations of a function or class, which would be constants there."""
    if any(node is not None for node in nodes[2:]) or reaches_active_at_all(*values):
        refuse_numbers_in_annotations(x)
    return None, None


@handlers.desugared(inspect.signature)
def _(tape: Tape, nodes: Nodes, f: Any, **kws: Any) -> Traced | None:
    """Ask for the parameters of a function, whose defaults may be active."""
    defined = f.__func__ if isinstance(f, types.MethodType) else f
    plain = isinstance(defined, types.FunctionType) and not defined.__dict__
    given = tape.defaults_of(defined) if plain else {}
    if not any(given.values()) or reaches_active(defined.__defaults__, defined.__kwdefaults__):
        return None
    found = inspect.signature(f, **kws)
    for name, p in found.parameters.items():
        node = given.get(name)
        tape.call((None, None, None, node), object.__setattr__, p, "_default", p.default)
    return found, None


@handlers.desugared(dataclasses.fields)
def _(tape: Tape, nodes: Nodes, x: Any) -> Traced:
    """Ask for the fields of a dataclass, which hold their defaults."""
    return dataclasses.fields(x), None


@handlers.in_python(sys.exit)
def _exit(status: Any = None, /) -> Any:
    if isinstance(status, SystemExit):
        raise status
    if status is None:
        raise SystemExit
    raise SystemExit(*(status if isinstance(status, tuple) else (status,)))


# Reading variables from frames of running code cannot be followed, and is refused. A single frame
# is refused wherever it comes from; the following return objects that hold frames.


@handlers.desugared(
    inspect.currentframe, inspect.getargvalues, inspect.getgeneratorlocals, inspect.getinnerframes,
    inspect.getouterframes, inspect.stack, inspect.trace, sys._current_frames, sys._getframe,
    traceback.walk_stack, traceback.walk_tb, given=True, always=True,
)  # fmt: skip
def _(f: Any, tape: Tape, nodes: Nodes, *xs: Any, **kws: Any) -> Traced:
    """Refuse what the user asks for; Python's own library may look at frames."""
    if is_library(asking()):
        return f(*xs, **kws), None
    raise frame_refusal(f"`{name_of(f)}`")


# Functions that Python calls with the frames of what runs: they would see the engine's.
_TRACING = [sys.settrace, sys.setprofile, threading.settrace, threading.setprofile]
if sys.version_info >= (3, 12):
    _TRACING.append(sys.monitoring.register_callback)


@handlers.desugared(*_TRACING, given=True, always=True)
def _(f: Any, tape: Tape, nodes: Nodes, *xs: Any) -> Traced:
    """Refuse a function of the user's that is to trace; `None` ends that."""
    if not xs or xs[-1] is None or is_library(asking()):
        return f(*xs), None
    raise frame_refusal(f"`{name_of(f)}`")


@handlers.desugared(sys.getrecursionlimit, sys.setrecursionlimit, given=True, always=True)
def _(f: Any, tape: Tape, nodes: Nodes, *xs: Any) -> Traced:
    """Ask for the limit of the user's functions, or set it: the engine's own is higher."""
    own = recursion_limit if f is sys.getrecursionlimit else set_recursion_limit
    return own(*xs), None
