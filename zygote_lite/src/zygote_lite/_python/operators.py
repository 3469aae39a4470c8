"""Operators of user classes, and builtins that ask an object for a method (`hash`, `int`, ...).

They are resolved to the methods as Python does, and so what these do is recorded.
"""

import array
import cmath
import collections
import math
import operator
import types
from numbers import Number
from typing import Any

import numpy as np

from zygote_lite._activity.classes import bind_method, may_have_methods, member_of
from zygote_lite._activity.side_effects import hooks_called
from zygote_lite._activity.walk import reaches_active
from zygote_lite._cotangents.kinds import has_rows, is_known_by_rule, is_written_in_python
from zygote_lite._cotangents.registry import Handlers, NodeId, Nodes, Traced
from zygote_lite._ir.operators import BINARY, IN_PLACE, REFLECTED
from zygote_lite._ir.places import where
from zygote_lite._python.library.builtins import KEYS
from zygote_lite._tape.tape import Tape
from zygote_lite.errors import Fault

handlers = Handlers()


def _is_index(kind: type) -> bool:
    """Return whether a class says in Python which index its objects are."""
    return isinstance(member_of(kind, "__index__"), types.FunctionType)


@handlers.desugared(operator.getitem, operator.setitem, of=_is_index, given=True)
def _(f: Any, tape: Tape, nodes: Nodes, x: Any, index: Any, *value: Any) -> Traced | None:
    """Ask an object once which index it is."""
    if type(x) not in (list, tuple, np.ndarray) or not _is_index(type(index)):
        return None
    place, node = tape.call((None, nodes[2]), operator.index, index)
    return tape.call((None, nodes[1], node, *nodes[3:]), f, x, place, *value)


_OF_OBJECTS = {*BINARY} - {"matmul"}  # which NumPy hands on to the objects in an array
_ARRAY_PROTOCOLS = ("__len__", "__array__", "__array_interface__", "__array_struct__",
                    "__array_ufunc__", "__array_priority__")  # fmt: skip


def _is_one_object(t: type) -> bool:
    """Return whether NumPy treats objects of a user class as one entry, and not as arrays."""
    return is_written_in_python(t) and not any(hasattr(t, name) for name in _ARRAY_PROTOCOLS)


_BINARY_METHODS: dict[Any, tuple[str, ...]] = {
    **{of.function: of.methods[:2] for of in BINARY.values()},
    **{
        getattr(operator, name): (f"__{name}__", f"__{other}__")
        for name, other in REFLECTED.items()
    },
    divmod: ("__divmod__", "__rdivmod__"),
}
"""The functions of two operands: each with its method, and that of the right operand."""
_METHODS_ASKED: dict[Any, tuple[str, Any]] = {
    operator.neg: ("__neg__", None), operator.pos: ("__pos__", None),
    operator.invert: ("__invert__", None), operator.abs: ("__abs__", None),
    abs: ("__abs__", None), float: ("__float__", None), complex: ("__complex__", None),
    len: ("__len__", None), round: ("__round__", None), math.floor: ("__floor__", None),
    math.ceil: ("__ceil__", None), math.trunc: ("__trunc__", None),
    reversed: ("__reversed__", None), operator.delitem: ("__delitem__", None),
    int: ("__int__", int), operator.index: ("__index__", operator.index),
    dir: ("__dir__", sorted), hash: ("__hash__", lambda y: hash(y) if isinstance(y, int) else y),
}  # fmt: skip
"""Functions that ask an operand for a method, and, without a gradient, what they make of it."""


def _method_of(x: Any, name: str) -> Any:
    """Return the method of a class for an operator; `!=` may be the opposite of its `==`."""
    method = bind_method(type(x), name)
    if method is None and name == "__ne__" and member_of(type(x), name) is object.__ne__:
        return _is_other if bind_method(type(x), "__eq__") is not None else None
    return method


def _is_other(x: Any, y: Any) -> Any:
    equal: Any = operator.attrgetter("__eq__")(type(x))(x, y)
    return equal if equal is NotImplemented else not equal


@handlers.desugared(*_BINARY_METHODS, of=KEYS, given=True)
def _(f: Any, tape: Tape, nodes: Nodes, a: Any, b: Any) -> Traced | None:
    is_refused = reaches_active(*hooks_called(f, (a, b)))
    return None if is_refused else (f(a, b), None)  # keys carry no gradient


@handlers.desugared(*_BINARY_METHODS, of=may_have_methods, given=True)
def _(f: Any, tape: Tape, nodes: Nodes, a: Any, b: Any) -> Traced | None:
    """Resolve an operator of user classes as Python does: left, then reflected right."""
    name, reflected = _BINARY_METHODS[f]
    left, right = _method_of(a, name), _method_of(b, reflected)
    if left is None and right is None:
        return None
    if isinstance(a, np.generic) and name[2:-2] in _OF_OBJECTS and _is_one_object(type(b)):
        a, node = tape.call((None, nodes[1]), np.generic.item, a)  # as NumPy does
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
        and (name[2:-2] in REFLECTED or member_of(type(a), reflected) is not right)
    ):
        tries.reverse()
    if right is not None and _is_joined_in_c(type(a), name, reflected):
        tries = [(right, b, a, nodes[2], nodes[1]), tries[0]]
    for method, x, y, at_x, at_y in tries:
        if method is not None:
            result, node = tape.call((None, at_x, at_y), method, x, y)
            if result is not NotImplemented:
                return result, node
        elif x is a and _repeats(name, x, y):
            return tape.call(
                (None, at_x, None), f, x, tape.call((None, at_y), operator.index, y)[0]
            )
        elif x is a:
            builtin = getattr(type(x), name, None)
            if builtin is not None:
                result = builtin(x, y)
                if result is not NotImplemented:
                    return None
    other: Any = None if right or type(a) is type(b) else member_of(type(b), reflected)
    is_in_c = other is not None and other is not vars(object).get(reflected)
    if is_in_c and (not isinstance(b, Number | str) or other(b, a) is not NotImplemented):
        return None  # it answers
    if f in (operator.eq, operator.ne):
        return (a is b) is (f is operator.eq), None
    f(_without_methods(a), _without_methods(b))  # raises what Python raises
    return None


_SEQUENCES = (list, tuple, str, bytes, bytearray, collections.deque, array.array)


def _is_joined_in_c(kind: type, name: str, reflected: str) -> bool:
    """Return whether C joins or repeats a sequence, which it does after the right operand's way."""
    return (
        issubclass(kind, _SEQUENCES)
        and name in ("__add__", "__mul__")
        and bind_method(kind, name) is None
        and bind_method(kind, reflected) is None
    )


def _repeats(name: str, x: Any, y: Any) -> bool:
    """Return whether a sequence is repeated as often as an object of the user's says."""
    is_repeated = name == "__mul__" and isinstance(x, _SEQUENCES)
    return is_repeated and bind_method(type(y), "__index__") is not None


def _without_methods(x: Any) -> Any:
    """Return an object of a class of the same name that has no operators."""
    return type(type(x).__name__, (), {})()


_EXTENDING: dict[Any, Any] = {
    (collections.deque, "__iadd__"): collections.deque.extend,
    (dict, "__ior__"): dict.update,
    (set, "__ior__"): set.update,
}


@handlers.desugared(*IN_PLACE, given=True)
def _(in_place: Any, tape: Tape, nodes: Nodes, a: Any, b: Any) -> Traced | None:
    """Resolve an operator in place, which a container may have and a number has not."""
    f, name = IN_PLACE[in_place].function, IN_PLACE[in_place].methods[2]
    named, reflected = _BINARY_METHODS.get(f, ("", ""))
    right = bind_method(type(b), reflected) if may_have_methods(type(b)) else None
    is_own = hasattr(type(a), name) and bind_method(type(a), name) is None
    if is_own and _is_joined_in_c(type(a), named, reflected):
        if right is not None:
            result, node = tape.call((None, nodes[2], nodes[1]), right, b, a)
            if result is not NotImplemented:
                return result, node
        is_count = name == "__imul__" and isinstance(b, np.integer)
        if (isinstance(b, np.ndarray | np.generic) and not is_count) or has_rows(type(b)):
            return tape.call((None, nodes[1], nodes[2]), f, a, b)  # NumPy's way comes first
        if _repeats(named, a, b):
            b, nodes = tape.call((None, nodes[2]), operator.index, b)[0], (None, nodes[1], None)
    if type(a) is list and name == "__imul__":
        value, node = tape.call((None, nodes[1], nodes[2]), f, a, b)
        tape.call((None, nodes[1], None, node), operator.setitem, a, slice(None), value)
        return a, nodes[1]
    extend = _EXTENDING.get((type(a), name))
    if extend is set.update and not isinstance(b, set | frozenset):
        extend = None  # which `|=` does not take
    method = bind_method(type(a), name)
    if method is not None:
        result, node = tape.call((None, nodes[1], nodes[2]), method, a, b)
        if result is not NotImplemented:
            return result, node
    elif isinstance(a, list) and name == "__iadd__":
        known = type(a) is list and isinstance(b, list | tuple)  # then it has a pullback
        extend = None if known else list.extend
    if extend is not None:
        tape.call((None, nodes[1], nodes[2]), extend, a, b)
        return a, nodes[1]
    if getattr(type(a), name, None) is None or method is not None:
        return tape.call(nodes, f, a, b)
    return None


@handlers.desugared(*_METHODS_ASKED, of=may_have_methods, given=True)
def _(f: Any, tape: Tape, nodes: Nodes, x: Any = None, *xs: Any) -> Traced | None:
    """Resolve a call that asks an object for a method, which may have side effects."""
    name, make = _METHODS_ASKED[f]
    method = bind_method(type(x), name)
    if method is None or (xs and name not in ("__round__", "__delitem__")):
        return None
    y, node = tape.call((None, *nodes[1:]), method, x, *xs)
    _demand_class_given(f, x, name, y)
    return (y, node) if make is None else (make(y), None)


_IN_INTEGERS = (math.gcd, math.lcm, math.comb, math.perm, math.factorial, math.isqrt)
_IN_ITEMS = (math.prod, math.fsum, math.dist, getattr(math, "sumprod", None))
_OF_A_NUMBER = [
    f
    for module in (math, cmath)
    for f in vars(module).values()
    if callable(f) and not any(f is g for g in (*_IN_INTEGERS, *_IN_ITEMS, *_METHODS_ASKED))
    if not isinstance(f, type)
]


def number_asked(kind: type, *, complex_too: bool = True) -> Any:
    """Return the function that asks objects of a user class for the number that they are."""
    if not may_have_methods(kind) or issubclass(kind, Number | np.ndarray):
        return None
    asked = {"__complex__": complex, "__float__": float, "__index__": operator.index}
    for name, f in asked.items():
        if (complex_too or f is not complex) and isinstance(
            member_of(kind, name), types.FunctionType
        ):
            return f
    return None


def _is_a_number(kind: type) -> bool:
    return number_asked(kind) is not None and not is_known_by_rule(kind)


@handlers.desugared(*_OF_A_NUMBER, of=_is_a_number, given=True)
def _(f: Any, tape: Tape, nodes: Nodes, *xs: Any) -> Traced | None:
    """Ask objects for the numbers that they are, in the order of the operands, as C does."""
    in_complex = getattr(cmath, f.__name__, None) is f
    given, at = [*xs], [*nodes]
    for i, x in enumerate(xs):
        ask = number_asked(type(x), complex_too=in_complex)
        if ask is not None:
            given[i], at[i + 1] = tape.call((None, nodes[i + 1]), ask, x)
    if all(x is y for x, y in zip(xs, given, strict=True)):
        return None
    return tape.call((None, *at[1:]), f, *given)


_GIVING: dict[str, Any] = {
    "__bool__": bool, "__len__": int, "__int__": int, "__index__": int, "__hash__": int,
    "__float__": float, "__complex__": complex,
}  # fmt: skip


def _demand_class_given(f: Any, x: Any, name: str, y: Any) -> None:
    """Raise what Python raises where a method gives what a function that asks for it refuses."""
    if not isinstance(y, _GIVING.get(name, object)) or (name == "__len__" and y < 0):
        f(type(type(x).__name__, (), {name: lambda _: y})())


@handlers.desugared(bool, operator.truth, of=may_have_methods)
def _truth_of(tape: Tape, nodes: Nodes, *xs: Any) -> Traced | None:
    for name in ("__bool__", "__len__"):
        method = bind_method(type(xs[0]), name) if xs else None
        if method is not None:
            y, _ = tape.call((None, nodes[1]), method, xs[0])
            _demand_class_given(bool, xs[0], name, y)
            return bool(y), None
    return None


@handlers.desugared(operator.not_, of=may_have_methods)
def _(tape: Tape, nodes: Nodes, x: Any) -> Traced | None:
    found = _truth_of(tape, nodes, x)
    return None if found is None else (not found[0], None)


@handlers.desugared(operator.getitem)
def _(tape: Tape, nodes: Nodes, x: Any, index: Any) -> Traced | None:
    method = bind_method(type(x), "__getitem__")
    if method is None and isinstance(x, type):
        hook = getattr(member_of(x, "__class_getitem__"), "__func__", None)
        if isinstance(hook, types.FunctionType) and hook.__module__ != "typing":
            return tape.call((None, None, nodes[2]), hook, x, index)
        _refuse_numbers_in_type(nodes[2], index)
        return x[index], None  # type: ignore[index]
    if type(x).__module__ == "typing":
        _refuse_numbers_in_type(nodes[2], index)
    if method is None and isinstance(x, dict):
        if nodes[2] is not None and index not in x and not hasattr(type(x), "__missing__"):
            raise tape.call((None, nodes[2]), KeyError, index)[0]  # its argument is active
        if type(x) is collections.defaultdict and x.default_factory and index not in x:
            y, node = tape.call((None,), x.default_factory)
            tape.call((None, None, nodes[2], node), operator.setitem, x, index, y)
            return y, node
        missing = bind_method(type(x), "__missing__")
        method = missing if missing and index not in x else None
    return None if method is None else tape.call((None, nodes[1], nodes[2]), method, x, index)


def _refuse_numbers_in_type(node: NodeId, index: Any) -> None:
    """Refuse a type that would hold a number without its gradient, as `Annotated[int, x]` does."""
    parts = index if type(index) is tuple else (index,)
    if node is not None and any(isinstance(x, _WITH_A_GRADIENT) for x in parts):
        raise Fault.CLASS(
            f"{where()}: a type is given a number that depends on what is differentiated, and no "
            "gradient passes through a type: keep the number in a variable"
        )


_WITH_A_GRADIENT = (float, complex, np.inexact, np.ndarray)


@handlers.desugared(operator.delitem, dict.pop, dict.__delitem__, set.remove, given=True)
def _(f: Any, tape: Tape, nodes: Nodes, x: Any, key: Any, *default: Any) -> Traced | None:
    """Raise the error for a key that is not there, whose argument is active."""
    is_plain = isinstance(x, dict | set) and bind_method(type(x), "__delitem__") is None
    if is_plain and nodes[2] is not None and not default and key not in x:
        raise tape.call((None, nodes[2]), KeyError, key)[0]
    return None


@handlers.desugared(operator.setitem)
def _(tape: Tape, nodes: Nodes, x: Any, index: Any, value: Any) -> Traced | None:
    method = bind_method(type(x), "__setitem__")
    spread = isinstance(index, slice) and not isinstance(value, list | tuple)
    if method is None and spread and isinstance(x, list):
        it, node = tape.call((None, nodes[3]), iter, value)  # which asks for no length
        value, node = tape.call((None, node), list, it)
        return tape.call((None, None, None, node), operator.setitem, x, index, value)
    if method is None:
        return None
    return tape.call((None, nodes[1], nodes[2], nodes[3]), method, x, index, value)


@handlers.desugared(operator.contains)
def _(tape: Tape, nodes: Nodes, x: Any, value: Any) -> Traced | None:
    method = bind_method(type(x), "__contains__")
    if method is None:
        return None
    found, node = tape.call((None, nodes[1], nodes[2]), method, x, value)
    return tape.call((None, node), operator.truth, found)


@handlers.desugared(str.join)
def _(tape: Tape, nodes: Nodes, between: Any, parts: Any) -> Traced | None:
    """Iterate over an iterable that is not a list, for the side effects of doing so."""
    if type(parts) in (list, tuple, str) or not (
        hasattr(type(parts), "__iter__") or hasattr(type(parts), "__getitem__")
    ):
        return None
    parts, node = tape.call((None, nodes[2]), list, parts)
    return tape.call((None, nodes[1], node), str.join, between, parts)
