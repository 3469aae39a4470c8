"""Calls that stand for other calls: methods, properties, operators of user classes.

Each resolves to other calls on the same tape, in the way in which Python itself resolves it.
"""

import collections
import contextlib
import functools
import gc
import operator
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from zygote_lite._activity.activity import mark_active, reaches_active
from zygote_lite._cotangents.kinds import (
    FUNCTION,
    INERT,
    OBJECT,
    VALUE,
    is_foreign,
    is_written_in_python,
    kind_of,
)
from zygote_lite._cotangents.registry import Node, Recorded, composite
from zygote_lite._cotangents.run import state
from zygote_lite._ir.intrinsics import (
    apply,
    invoke,
    join_arguments,
    join_tuple,
    set_defaults,
)
from zygote_lite._numpy.foreign import rows_of
from zygote_lite._numpy.writes import in_place, write_item
from zygote_lite._python.library.builtins import ITEMS, KEYS, VALUES, flat_entries
from zygote_lite._python.library.c_iterators import is_native, take_step
from zygote_lite._python.objects.attributes import fields_of, member_of
from zygote_lite._python.objects.lookup import bind_method
from zygote_lite._tape.generators import Generated
from zygote_lite._tape.refusal import instead_of, refused_holder
from zygote_lite._tape.tape import Tape

Nodes = tuple[Node, ...]
_PYTHON = types.FunctionType


@composite(invoke)
def _(tape: Tape, nodes: Nodes, x: Any, name: str, /, *xs: Any, **kws: Any) -> Recorded:
    if not isinstance(x, type | types.ModuleType | super):
        member = member_of(type(x), name)
        fields = fields_of(x)
        plain = isinstance(member, _PYTHON | types.MethodDescriptorType)
        if plain and name not in fields and not bind_method(type(x), "__getattribute__"):
            return tape.pull((None, nodes[1], *nodes[3:]), member, x, *xs, **kws)
    method, node = tape.pull((None, nodes[1], None), getattr, x, name)
    return tape.pull((node, *nodes[3:]), method, *xs, **kws)


@composite(apply)
def _(tape: Tape, nodes: Nodes, f: Any, xs: Any, kws: Any) -> Recorded:
    arguments, at = tape.pull((None, nodes[2]), tuple, xs)
    parts = [tape.pull((None, at, None), operator.getitem, arguments, i)[1]
             for i in range(len(arguments))]  # fmt: skip
    named = {name: tape.pull((None, nodes[3], None), operator.getitem, kws, name) for name in kws}
    inner = (nodes[1], *parts, *(node for _, node in named.values()))
    return tape.pull(inner, f, *arguments, **{name: value for name, (value, _) in named.items()})


@composite(set_defaults)
def _(tape: Tape, nodes: Nodes, f: Any, names: tuple[str, ...], *values: Any) -> Recorded:
    if any(node is not None for node in nodes[3:]):
        tape.defaults[id(f)] = (f, dict(zip(names, nodes[3:], strict=True)))
        mark_active(f)
    return None, None


def _simply_run(f: Any) -> None:
    """Declare that a decorator is run as it is: what it makes is differentiated when called."""
    composite(f)(lambda tape, nodes, *xs, **kws: (f(*xs, **kws), None))


for _f in (
    functools.wraps, functools.update_wrapper, functools.lru_cache, functools.cache,
    functools.singledispatch, functools.total_ordering, functools.cached_property, property,
    property.getter, property.setter, property.deleter, staticmethod, classmethod,
    contextlib.contextmanager, BaseExceptionGroup.split, BaseExceptionGroup.subgroup,
    BaseExceptionGroup.derive, BaseException.with_traceback, BaseException.add_note,
):  # fmt: skip
    _simply_run(_f)


@composite(types.FunctionType.__get__, types.MethodType)
def _(tape: Tape, nodes: Nodes, f: Any, x: Any, *cls: Any) -> Recorded:
    method = types.MethodType(f, x) if x is not None else f
    return method, nodes[2]  # what the method has got goes to its object


@composite(join_arguments)
def _(tape: Tape, nodes: Nodes, f: Any, *parts: Any) -> Recorded:
    for part in parts:
        if not hasattr(type(part), "__iter__") and not hasattr(type(part), "__getitem__"):
            f(*part)  # raises what Python raises
    return tape.pull((None, *nodes[2:]), join_tuple, *parts)


# -- operators ---------------------------------------------------------------------------------

_BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor",
           "lshift", "rshift")  # fmt: skip
_COMPARE = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}


_OF_OBJECTS = {*_BINARY} - {"matmul"}  # which NumPy hands on to the objects in an array
_OF_ARRAYS = ("__len__", "__array__", "__array_interface__", "__array_struct__", "__array_ufunc__",
              "__array_priority__")  # fmt: skip


def _is_one_object(t: type) -> bool:
    """Return whether objects of a user's class are no arrays to NumPy, but one entry of one."""
    return is_written_in_python(t) and not any(hasattr(t, name) for name in _OF_ARRAYS)


def _declare_operators() -> None:
    for name in _BINARY:
        f = getattr(operator, name, None) or getattr(operator, name + "_")
        composite(f)(functools.partial(_binary, f, f"__{name}__", f"__r{name}__"))
        g = getattr(operator, "i" + name)
        composite(g)(functools.partial(_in_place, f, g, f"__i{name}__"))
    for name, reflected in _COMPARE.items():
        f = getattr(operator, name)
        composite(f)(functools.partial(_binary, f, f"__{name}__", f"__{reflected}__"))
    composite(divmod)(functools.partial(_binary, divmod, "__divmod__", "__rdivmod__"))
    for name in ("neg", "pos", "abs", "invert"):
        composite(getattr(operator, name))(functools.partial(_unary, f"__{name}__"))
    composite(abs)(functools.partial(_unary, "__abs__"))
    composite(float)(functools.partial(_unary, "__float__"))
    composite(complex)(functools.partial(_unary, "__complex__"))
    composite(len)(functools.partial(_unary, "__len__"))
    composite(bool, operator.truth)(_truth)


def _binary(
    f: Any, name: str, reflected: str, tape: Tape, nodes: Nodes, a: Any, b: Any
) -> Recorded | None:
    """Resolve an operator of user classes as Python does: left, then reflected right."""
    if isinstance(a, KEYS) or isinstance(b, KEYS):
        return f(a, b), None  # keys carry no gradient
    left, right = bind_method(type(a), name), bind_method(type(b), reflected)
    if left is None and right is None:
        return None
    if isinstance(a, np.generic) and name[2:-2] in _OF_OBJECTS and _is_one_object(type(b)):
        a, node = tape.pull((None, nodes[1]), np.generic.item, a)  # as NumPy does
        nodes = (None, node, nodes[2])
    tries = [(left, a, b, nodes[1], nodes[2])]
    if (
        type(a) is not type(b)
        or reflected == name
        or name in ("__lt__", "__le__", "__gt__", "__ge__")
    ):
        tries.append((right, b, a, nodes[2], nodes[1]))
    if (
        len(tries) == 2
        and issubclass(type(b), type(a))
        and type(b) is not type(a)
        and right is not None
        and (name[2:-2] in _COMPARE or member_of(type(a), reflected) is not right)
    ):
        tries.reverse()
    for method, x, y, at_x, at_y in tries:
        if method is not None:
            result, node = tape.pull((None, at_x, at_y), method, x, y)
            if result is not NotImplemented:
                return result, node
        elif x is a:
            builtin = getattr(type(x), name, None)
            if builtin is not None and kind_of(x) < OBJECT:
                result = builtin(x, y)
                if result is not NotImplemented:
                    return None
    f(a, b)  # raises what Python raises
    return None


def _in_place(
    f: Any, g: Any, name: str, tape: Tape, nodes: Nodes, a: Any, b: Any
) -> Recorded | None:
    if isinstance(a, np.ndarray):
        return in_place(tape, nodes, name.strip("_")[1:], a, b)
    if type(a) is list and name == "__imul__":
        value, node = tape.pull((None, nodes[1], nodes[2]), f, a, b)
        tape.pull((None, nodes[1], None, node), operator.setitem, a, slice(None), value)
        return a, nodes[1]
    if type(a) is collections.deque and name == "__iadd__":
        tape.pull((None, nodes[1], nodes[2]), collections.deque.extend, a, b)
        return a, nodes[1]
    if type(a) is dict and name == "__ior__":
        tape.pull((None, nodes[1], nodes[2]), dict.update, a, b)
        return a, nodes[1]
    method = bind_method(type(a), name)
    if method is not None:
        result, node = tape.pull((None, nodes[1], nodes[2]), method, a, b)
        if result is not NotImplemented:
            return result, node
    elif (
        isinstance(a, list)
        and name == "__iadd__"
        and not (type(a) is list and isinstance(b, list | tuple))
    ):
        tape.pull((None, nodes[1], nodes[2]), list.extend, a, b)
        return a, nodes[1]
    if getattr(type(a), name, None) is None or method is not None:
        return tape.pull(nodes, f, a, b)
    return None


def _unary(name: str, tape: Tape, nodes: Nodes, x: Any = None, *xs: Any) -> Recorded | None:
    method = None if xs else bind_method(type(x), name)
    return None if method is None else tape.pull((None, nodes[1]), method, x)


def _truth(tape: Tape, nodes: Nodes, *xs: Any) -> Recorded | None:
    for name in ("__bool__", "__len__"):
        method = bind_method(type(xs[0]), name) if xs else None
        if method is not None:
            return bool(tape.pull((None, nodes[1]), method, xs[0])[0]), None
    return None


_declare_operators()


@composite(operator.getitem)
def _(tape: Tape, nodes: Nodes, x: Any, index: Any) -> Recorded | None:
    if type(x) is np.ndarray and x.dtype == object and nodes[1] is None:
        return x[index], None  # the numbers in it carry no gradient, and the rest has an address
    if isinstance(x, np.flatiter) and nodes[1] is None:
        flat, at = tape.pull((None, None), np.ravel, x.base)
        return tape.pull((None, at, nodes[2]), operator.getitem, flat, index)
    method = bind_method(type(x), "__getitem__")
    if method is None and isinstance(x, type):
        hook = getattr(member_of(x, "__class_getitem__"), "__func__", None)
        if isinstance(hook, _PYTHON) and hook.__module__ != "typing":
            return tape.pull((None, None, nodes[2]), hook, x, index)
        return x[index], None  # type: ignore[index]
    if method is None and isinstance(x, dict):
        if nodes[2] is not None and index not in x and not hasattr(type(x), "__missing__"):
            raise tape.pull((None, nodes[2]), KeyError, index)[0]  # its argument is active
        if type(x) is collections.defaultdict and x.default_factory and index not in x:
            y, node = tape.pull((None,), x.default_factory)
            tape.pull((None, None, nodes[2], node), operator.setitem, x, index, y)
            return y, node
        missing = bind_method(type(x), "__missing__")
        method = missing if missing and index not in x else None
    return None if method is None else tape.pull((None, nodes[1], nodes[2]), method, x, index)


@composite(operator.setitem)
def _(tape: Tape, nodes: Nodes, x: Any, index: Any, value: Any) -> Recorded | None:
    method = bind_method(type(x), "__setitem__")
    spread = isinstance(index, slice) and not isinstance(value, list | tuple)
    if method is None and spread and isinstance(x, list):
        value, node = tape.pull((None, nodes[3]), list, value)
        return tape.pull((None, None, None, node), operator.setitem, x, index, value)
    if method is None:
        return write_item(tape, nodes, x, index, value)
    return tape.pull((None, nodes[1], nodes[2], nodes[3]), method, x, index, value)


@composite(operator.contains)
def _(tape: Tape, nodes: Nodes, x: Any, value: Any) -> Recorded | None:
    method = bind_method(type(x), "__contains__")
    if method is None:
        return None
    found, node = tape.pull((None, nodes[1], nodes[2]), method, x, value)
    return tape.pull((None, node), operator.truth, found)


@composite(str.join)
def _(tape: Tape, nodes: Nodes, between: Any, parts: Any) -> Recorded | None:
    """Walk over what is no list, for what that does beside."""
    if type(parts) in (list, tuple, str) or not (
        hasattr(type(parts), "__iter__") or hasattr(type(parts), "__getitem__")
    ):
        return None
    parts, node = tape.pull((None, nodes[2]), list, parts)
    return tape.pull((None, nodes[1], node), str.join, between, parts)


# -- generators --------------------------------------------------------------------------------


def _is_walked(x: Any, node: Node) -> bool:
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


@composite(iter)
def _(tape: Tape, nodes: Nodes, x: Any, *sentinel: Any) -> Recorded | None:
    if _is_given(x):
        if isinstance(x, KEYS | VALUES | ITEMS) and not all(map(_carries_none, x)):
            raise refused_holder(x)
        if isinstance(x, Iterator):
            return x, nodes[1]
    if isinstance(x, Generated) or _is_walked(x, nodes[1]):
        return x, None
    method = rows_of if is_foreign(type(x)) else bind_method(type(x), "__iter__")
    return tape.pull((None, nodes[1]), method, x) if method and not sentinel else None


@composite(next)
def _(tape: Tape, nodes: Nodes, x: Any, *default: Any) -> Recorded | None:
    if _is_given(x):
        y = next(x, *default)
        if default and y is default[0]:
            return y, nodes[2]
        if not _carries_none(y):
            raise refused_holder(x)
        return y, nodes[1] if isinstance(y, str | bytes) else None
    if isinstance(x, np.flatiter) and nodes[1] is not None and x.index < x.base.size:
        place = x.index
        next(x)
        entries, node = tape.pull((None, nodes[1]), flat_entries, x)
        return tape.pull((None, node, None), operator.getitem, entries, place)
    method = None if isinstance(x, Generated) else bind_method(type(x), "__next__")
    if _is_walked(x, nodes[1]) and reaches_active(x):
        try:
            return take_step(tape, x)
        except StopIteration:
            if default:
                return default[0], nodes[2]
            raise
    if method is None and not isinstance(x, Generated):
        behind = gc.get_referents(x) if kind_of(x) == VALUE else [""]
        if reaches_active(x) or any(isinstance(y, str | bytes) for y in behind):
            return None
        try:
            return next(x), None  # of a range, say
        except StopIteration:
            if default:
                return default[0], nodes[2]
            raise
    try:
        return x.step() if method is None else tape.pull((None, nodes[1]), method, x)
    except StopIteration:
        if default:
            return default[0], nodes[2]
        raise


@composite(isinstance)
def _(tape: Tape, nodes: Nodes, x: Any, classes: Any) -> Recorded | None:
    return (issubclass(x.kind, classes), None) if isinstance(x, Generated) else None


@composite(Generated.__next__)
def _(tape: Tape, nodes: Nodes, x: Any) -> Recorded:
    return x.step()  # type: ignore[no-any-return]


@composite(Generated.__iter__)
def _(tape: Tape, nodes: Nodes, x: Any) -> Recorded:
    return x, None


@composite(Generated.send)
def _(tape: Tape, nodes: Nodes, x: Any, value: Any) -> Recorded:
    return x.step((value, nodes[2]))  # type: ignore[no-any-return]


@composite(Generated.throw)
def _(tape: Tape, nodes: Nodes, x: Any, *error: Any) -> Recorded:
    return x.step(throw=error)  # type: ignore[no-any-return]


@composite(Generated.close)
def _(tape: Tape, nodes: Nodes, x: Any) -> Recorded:
    x.frame.close()
    return None, None
