"""Objects of classes that inherit from `tuple`, `list` or `dict`.

Such an object is one with attributes, as others are. What it holds is a plain tuple, list or dict,
in an attribute of its own, which no program can name. What the class does not define itself is done
with that.
"""

import copy
import operator
from collections.abc import Iterable
from typing import Any

from zygote_lite._cotangents.kinds import is_written_in_python
from zygote_lite._ir.intrinsics import INTRINSICS, unpack
from zygote_lite._ir.operators import IN_PLACE
from zygote_lite._specialize.infer.iteration.known import Several
from zygote_lite._specialize.infer.models.classes import (
    ABSENT,
    FUNCTIONS,
    defined_in,
    keep,
    of_class,
    settle,
)
from zygote_lite._specialize.infer.models.dicts import entries_of_dict, is_dict
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.facts import Other
from zygote_lite._specialize.typed.functions import is_hashable
from zygote_lite._specialize.typed.reasons import NotSupported, Unsound
from zygote_lite._specialize.typed.stand_ins import Iterator, Method
from zygote_lite._specialize.typed.structures import HELD
from zygote_lite._specialize.typed.values import Value, constant

_HOLDING = (tuple, list, dict)
_BEFORE_ALL = {"__del__", "__class__", "__getattribute__", "__getattr__"}
_WALKING = (
    "__iter__", "__len__", "__getitem__", "__contains__", "__reversed__", "__bool__", "__eq__",
    "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__add__", "__radd__", "__mul__", "__rmul__",
    "__or__", "__ror__", "__array__", "__length_hint__", "keys", "items", "values",
)  # fmt: skip
_TO_WALK = ("__iter__", "__len__", "__length_hint__")  # by `for`, and by what takes each item
_ONLY_WALKING = {sum, any, all, list, tuple, sorted, zip, enumerate, iter, unpack}
_OF_ANY_OBJECT = {isinstance, issubclass, type, getattr, hasattr, setattr, delattr, vars, super, id,
               operator.is_, operator.is_not, callable, object.__setattr__, object.__delattr__,
               object.__init__}  # fmt: skip
_BY_OPERATOR = {
    "__len__": len,
    "__contains__": operator.contains, "__iter__": iter, "__add__": operator.add,
    "__mul__": operator.mul, "__delitem__": operator.delitem, "__eq__": operator.eq,
    "__ne__": operator.ne,
}  # fmt: skip


def base_of(kind: Any) -> Any:
    """Return the builtin class that a class written in Python inherits from; `None` for others."""
    if not (isinstance(kind, type) and type(kind) is type) or kind in (object, *_HOLDING):
        return None
    *own, base, top = kind.__mro__
    if base not in _HOLDING or top is not object or not all(map(is_written_in_python, own)):
        return None
    computes = any(defined_in(b, name) is not ABSENT for b in own for name in _BEFORE_ALL)
    return None if computes else base


def held_inside(x: Value) -> Value | None:
    """Return what an object of such a class holds; `None` for all other values."""
    return None if x.fields is None else x.fields.get(HELD)


def new_of(builder: Builder, kind: Any, held: Value) -> Value:
    """Return a new object that holds something."""
    settle(builder.inputs, kind)
    x = Value(Other(kind), base_of(kind).__new__(kind))
    x.fields = {HELD: held}
    builder.settle_home(x)
    builder.objects.append(x)
    return x


def made_by_new(builder: Builder, f: Any, xs: list[Value], kws: dict[str, Value]) -> Value | None:
    """Return what the `__new__` of a builtin class gives for a class that inherits from it."""
    base = next((kind for kind in _HOLDING if f is kind.__new__), None)
    if base is None or not xs or base_of(xs[0].sample) is not base:
        return None
    if base is tuple:
        return new_of(builder, xs[0].sample, builder.apply(tuple, xs[1:], kws))
    return new_of(builder, xs[0].sample, builder.build(base.__name__, []))


def leaves_to_builtin(builder: Builder, kind: Any, names: Iterable[str]) -> bool:
    """Return whether a class leaves some methods to its builtin class."""
    base = base_of(kind)
    plain = base is not None and all(of_class(kind, name) is of_class(base, name) for name in names)
    if plain:
        settle(builder.inputs, kind)
    return plain


def plainly_held(builder: Builder, x: Value, names: Iterable[str] = _TO_WALK) -> Value:
    """Return what an object holds, where its class leaves these methods to the builtin one.

    Others are returned unchanged.
    """
    held = held_inside(x)
    return held if held is not None and leaves_to_builtin(builder, type(x.sample), names) else x


def of_subclasses(
    builder: Builder, f: Any, xs: list[Value], kws: dict[str, Value], stem: str = ""
) -> Value | None:
    """Return what a call gives of objects that hold things; `None` if it is for others to say."""
    if not is_hashable(f):
        return None
    if f in _MADE_BY:
        return made_by_new(builder, f, xs, kws)
    if not any(held_inside(x) is not None for x in (*xs, *kws.values())) or f in _OF_ANY_OBJECT:
        return None
    owner = getattr(f, "__objclass__", None)
    held = held_inside(xs[0]) if xs else None
    if held is not None and owner in _HOLDING and isinstance(xs[0].sample, owner):
        return _method_of_builtin(builder, f, xs, kws)
    if hasattr(f, "__code__") and f not in INTRINSICS.values():
        return None
    if isinstance(f, type) and f not in _HOLDING and is_written_in_python(f):
        return None
    if f in (copy.copy, copy.deepcopy):
        raise NotSupported.METHOD("it copies an object of a class that inherits from a container")
    if held is not None:
        found = _change_held(builder, f, xs)
        if f is operator.getitem:
            found = _missing_entry(builder, xs[0], held, xs[1])
        if found is not None:
            return found
    names = ("__len__",) if f is len else _TO_WALK if f in _ONLY_WALKING else _WALKING
    given = [plainly_held(builder, x, names) for x in xs]
    options = {name: plainly_held(builder, x, names) for name, x in kws.items()}
    if given == xs and options == kws:
        return None
    if f is operator.getitem:
        return builder.item(given[0], given[1], stem)
    return builder.apply(f, given, options, stem)


_MADE_BY = {kind.__new__ for kind in _HOLDING}


def _method_of_builtin(builder: Builder, f: Any, xs: list[Value], kws: dict[str, Value]) -> Value:
    """Return what a method of a builtin class gives, as in `list.append(x, y)`, or by `super()`."""
    x, name, base = xs[0], f.__name__, base_of(type(xs[0].sample))
    held = held_inside(x)
    assert held is not None
    assert x.fields is not None
    if name == "__init__":
        if base is tuple:
            return constant(None)
        if held.items or held.contents is not None or x not in builder.making:
            raise NotSupported.METHOD("it calls `__init__` of an object that holds something")
        if any(isinstance(y.sample, Several | Iterator) for y in xs[1:]):  # it may look at `x`
            fill = "extend" if base is list else "update"
            return builder.call(builder.attribute(held, fill), xs[1:], kws)
        filled = builder.apply(base, xs[1:], kws)
        x.fields = {**x.fields, HELD: filled}
        return constant(None)
    if name == "__setitem__" and len(xs) == 3 and not kws:
        builder.store(held, xs[1], xs[2])
        return constant(None)
    if name == "__getitem__" and len(xs) == 2 and not kws:
        return builder.item(held, xs[1])
    if name in _BY_OPERATOR and not kws:
        return builder.apply(_BY_OPERATOR[name], [held, *xs[1:]])
    if name.startswith("__"):
        raise NotSupported.METHOD(f"it calls the method {name} of a builtin class")
    return builder.call(builder.attribute(held, name), xs[1:], kws)


def _change_held(builder: Builder, f: Any, xs: list[Value]) -> Value | None:
    """Write an operator that changes what an object holds."""
    kind, base = type(xs[0].sample), base_of(type(xs[0].sample))
    name = f"__{getattr(f, '__name__', '')}__"
    if f in (operator.setitem, operator.delitem) and of_class(kind, name) is getattr(base, name, 0):
        settle(builder.inputs, kind)
        return _method_of_builtin(builder, getattr(base, name), xs, {})
    if f in IN_PLACE and isinstance(of_class(kind, name), FUNCTIONS):
        return None
    if f is operator.iadd and base is list and of_class(kind, name) is list.__iadd__:
        settle(builder.inputs, kind)
        held = held_inside(xs[0]) or xs[0]
        builder.call(builder.attribute(held, "extend"), xs[1:], {})
        return xs[0]
    if f in IN_PLACE and base is not tuple:
        raise NotSupported.METHOD("it changes an object by an operator in place")
    return None


def _missing_entry(builder: Builder, x: Value, held: Value, key: Value) -> Value | None:
    """Return `x[key]` of a dict whose class says what a missing entry is."""
    kind = type(x.sample)
    own = of_class(kind, "__missing__")
    if own is ABSENT or of_class(kind, "__getitem__") is not dict.__getitem__:
        return None
    if not (isinstance(own, FUNCTIONS) and is_dict(held) and key.is_constant):
        raise Unsound.KEY("a key is computed of a dict whose class defines `__missing__`")
    settle(builder.inputs, kind)
    keep(builder.inputs, kind, "__missing__", own)
    if key.sample in entries_of_dict(held):
        return builder.item(held, key)
    return builder.apply(own, [x, key])


def attribute_held(builder: Builder, x: Value, found: Any, name: str) -> Value | None:
    """Return a method of the builtin class, bound to what an object holds."""
    held = held_inside(x)
    if held is None or getattr(found, "__objclass__", None) not in _HOLDING:
        return None
    settle(builder.inputs, type(x.sample))
    return constant(Method(x, name, found))
