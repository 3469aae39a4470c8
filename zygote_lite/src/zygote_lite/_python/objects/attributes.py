"""Structural pullbacks of attributes: reading, writing and deleting one."""

import collections
import dataclasses
import gc
import types
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from rulescore import find_rule
from zygote_lite._activity.activity import is_veiled, mark_active, mark_fields
from zygote_lite._cotangents.kinds import (
    DICT,
    FUNCTION,
    INERT,
    LIST,
    OBJECT,
    SET,
    TUPLE,
    VALUE,
    dict_of,
    kind_of,
    slot_names,
)
from zygote_lite._cotangents.pullbacks import Effect, Flags, Pulled, inert
from zygote_lite._cotangents.registry import structural
from zygote_lite._cotangents.run import current_store, give, slots_of, state
from zygote_lite._python.literals import field_of_tuple_back
from zygote_lite._tape.refusal import COMPUTING, refusal, refused_holder, where
from zygote_lite.errors import DifferentiationError


def member_of(kind: type, name: str) -> Any:
    """Return what a class (or a base class of it) defines under a name, or `None`."""
    for base in kind.__mro__:
        if name in base.__dict__:
            return base.__dict__[name]
    return None


def overrides_iteration(kind: type) -> bool:
    """Return whether a list or tuple class of the user's says in Python what it holds."""
    if kind is list or kind is tuple or not issubclass(kind, list | tuple):
        return False
    names = ("__iter__", "__getitem__", "__len__")
    return any(isinstance(member_of(kind, name), types.FunctionType) for name in names)


_COMPARED = {"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__hash__", "__repr__"}


def hook_of(kind: type, name: str) -> Any:
    """Return what a class of the user's calls as the method `name`, or `None` for C's own.

    It may be a function in C under another name: `__getattr__ = dict.__getitem__`.
    """
    member = member_of(kind, name)
    if isinstance(member, types.WrapperDescriptorType | types.MethodDescriptorType):
        return None if member.__name__ == name else member
    return member if isinstance(member, types.FunctionType) else None


def attribute_in_c(x: Any, name: str) -> Any:
    """Return an attribute as the part of the class that is written in C looks it up."""
    for base in type(x).__mro__:
        found = base.__dict__.get("__getattribute__")
        if found is not None and not isinstance(found, types.FunctionType):
            return found(x, name)
    raise AssertionError(f"{type(x).__qualname__} is no object")


def is_method_of_dataclass(f: types.FunctionType, xs: tuple[Any, ...]) -> bool:
    """Return whether a function is a method that a dataclass was given, which has no source."""
    if f.__code__.co_filename != "<string>" or f.__name__ not in _COMPARED or not xs:
        return False
    return dataclasses.is_dataclass(type(xs[0]))


def is_init_of_dataclass(f: Any, x: Any) -> bool:
    """Return whether a function is the `__init__` that a dataclass was given, without source."""
    return (
        isinstance(f, types.FunctionType)
        and f.__code__.co_filename.startswith("<")
        and f.__name__ == "__init__"
        and dataclasses.is_dataclass(type(x))
    )


def holder_of(classes: Iterable[type], name: str, y: Any) -> Any:
    """Return the first class whose attribute `name` is `y`, if it holds what is active."""
    for cls in classes:
        if name in cls.__dict__:
            held = cls.__dict__[name] is y and state.active and id(cls) in state.active
            return cls if held and kind_of(y) not in (INERT, FUNCTION) else None
    return None


def has_active_class(x: Any) -> bool:
    """Return whether an attribute of a class, or of the class of an object, is active."""
    active, cls = state.active, x if isinstance(x, type) else type(x)
    return bool(active) and any(id(base) in (active or {}) for base in cls.__mro__)


def refused_fields(name: str) -> DifferentiationError:
    """Return the error for the attributes of an object that are reached through its `__dict__`."""
    return DifferentiationError(
        f"{where()}: the attributes of {name} are reached through its `__dict__`, which cannot "
        "be differentiated; use `getattr` and `setattr`"
    )


def _refuse_fields_of_class(x: Any) -> None:
    if has_active_class(x):
        raise DifferentiationError(
            f"{where()}: the attributes of the class {x.__qualname__} are reached through its "
            "`__dict__`, which cannot be differentiated; use `getattr` and `setattr`"
        )


@structural(getattr, object.__getattribute__)
def _(flags: Flags, x: Any, name: str, *default: Any) -> Pulled:
    count = len(flags)
    if isinstance(x, types.ModuleType):
        y = getattr(x, name, *default)
        is_held = id(vars(x)) in (state.active or {}) and name in vars(x)
        if not is_held or kind_of(y) in (INERT, FUNCTION):
            return y, inert(count)
        return y, _field_back(vars(x), name, count)
    if isinstance(x, type):
        if name == "__dict__":
            _refuse_fields_of_class(x)
        y = getattr(x, name, *default)
        holder = holder_of(x.__mro__, name, y)
        return y, inert(count) if holder is None else _field_back(holder, name, count)
    if id(x) in state.held and isinstance(x, COMPUTING) and name not in _OF_SHAPE:
        raise refused_holder(x)
    member = member_of(type(x), name)
    fields = dict_of(x)
    if kind_of(x) == OBJECT and type(fields) is dict and not slot_names(type(x)):
        if name == "__dict__":
            return fields, inert(count)  # it shares the cotangents of the object
    elif name == "__dict__" or (id(fields) in (state.active or {}) and not is_veiled(fields)):
        raise refused_fields(f"a {type(x).__qualname__}")
    if isinstance(member, _DESCRIPTORS) and kind_of(x) != OBJECT:
        return attribute_by_rule(flags, x, name, member)
    y = attribute_in_c(x, name)
    if kind_of(x) == TUPLE and type(member) is _TUPLE_GETTER:
        return y, field_of_tuple_back(x, type(x)._fields.index(name), count)
    if isinstance(x, BaseException) and isinstance(member, _DESCRIPTORS) and name != "args":
        place = next((i for i, given in enumerate(x.args) if given is y), None)
        if place is not None:  # such as the `value` of a StopIteration
            return y, _argument_back(x, place, count)
        if _is_kept_in_c(member, name) and kind_of(y) == VALUE:
            raise refusal(member, (x,))  # such as the `filename` of an OSError
    is_field = kind_of(x) != FUNCTION or _is_own_attribute(x, name)
    if kind_of(y) in (INERT, FUNCTION) or not is_field:
        return y, inert(count)
    if member is y and name not in fields_of(x):
        return y, _field_back(holder_of(type(x).__mro__, name, y) or x, name, count)
    return y, _field_back(x, name, count)


_OF_SHAPE = ("shape", "ndim", "size", "dtype", "mask", "__class__", "__dict__")


def fields_of(x: Any) -> Any:
    """Return the `__dict__` of an object, whatever its class makes of attribute access."""
    fields = dict_of(x)
    return {} if fields is None else fields


_DESCRIPTORS = (types.GetSetDescriptorType, types.MemberDescriptorType)
_TUPLE_GETTER = type(collections.namedtuple("_Pair", "a").__dict__["a"])


def attribute_by_rule(flags: Flags, x: Any, name: str, member: Any) -> Pulled:
    """Read an attribute of a class in C by its rule."""
    if isinstance(x, collections.deque | np.flatiter) and name != "base":  # `maxlen`, `coords`
        return getattr(x, name), inert(len(flags))
    rule = find_rule(member, x)
    if rule is None:
        y = getattr(x, name)
        if kind_of(y) == INERT:
            return y, inert(len(flags))
        raise refusal(member, (x,))
    if rule.kind == "constant":
        return getattr(x, name), inert(len(flags))
    y, back = rule(member, x)
    nothing = (None,) * (len(flags) - 2)

    def attribute_back(dy: Any) -> tuple[Any, ...]:
        return None, back(dy)[1], *nothing

    return y, attribute_back


def _field_back(x: Any, name: str, count: int) -> Any:
    nothing = (None,) * count

    def getattr_back(dy: Any) -> tuple[Any, ...]:
        give(slots_of(x), name, dy)
        return nothing

    return getattr_back


def _is_own_attribute(x: Any, name: str) -> bool:
    """Return whether an attribute is one that the user gave a function."""
    its_own = not name.startswith("__") or name == "__wrapped__"
    return its_own and isinstance(x, types.FunctionType)


def _is_kept_in_c(member: Any, name: str) -> bool:
    """Return whether an attribute of an exception is kept by a class in C, beside its arguments."""
    return not name.startswith("__") and not member.__objclass__.__flags__ & _MADE_AT_RUN_TIME


_MADE_AT_RUN_TIME = 1 << 9  # `Py_TPFLAGS_HEAPTYPE`


def _argument_back(x: BaseException, place: int, count: int) -> Any:
    def argument_back(dy: Any) -> tuple[Any, ...]:
        given = [None] * len(x.args)
        given[place] = dy
        give(slots_of(x), "args", tuple(given))
        return (None,) * count

    return argument_back


@structural(setattr)
def _(flags: Flags, x: Any, name: str, value: Any) -> Pulled:
    return write_attribute(x, name, value, setattr)


@structural(vars(type)["__setattr__"])
def _(flags: Flags, x: Any, name: str, value: Any) -> Pulled:
    return write_attribute(x, name, value, type.__setattr__)


@structural(object.__setattr__)
def _(flags: Flags, x: Any, name: str, value: Any) -> Pulled:
    return write_attribute(x, name, value, object.__setattr__)


def write_attribute(x: Any, name: str, value: Any, write: Callable[..., None]) -> Pulled:
    """Write an attribute; the pullback takes the new value's cotangent and restores the old."""
    if isinstance(x, type):
        write = type.__setattr__
    elif kind_of(x) not in (OBJECT, LIST, DICT, SET) and not _is_own_attribute(x, name):
        write(x, name, value)
        raise DifferentiationError(
            f"{where()}: writing `.{name}` of a {type(x).__qualname__} cannot be differentiated"
        )
    had, old = _field(x, name)
    write(x, name, value)
    mark_active(x)
    mark_fields(x, gc.get_referents(x.__dict__)[0] if isinstance(x, type) else fields_of(x))

    def setattr_back(dy: Any) -> tuple[Any, ...]:
        d_value = slots_of(x).pop(name, None)
        now_had, now = _field(x, name)
        if had:
            put(x, name, old)
        elif now_had:
            remove(x, name)
        if now_had:
            current_store().redo.append(lambda: put(x, name, now))
        return None, None, None, d_value

    put, remove = _writers(x)

    return None, Effect(setattr_back)


@structural(delattr)
def _(flags: Flags, x: Any, name: str) -> Pulled:
    return _delete_attribute(x, name, delattr)


@structural(object.__delattr__)
def _(flags: Flags, x: Any, name: str) -> Pulled:
    return _delete_attribute(x, name, object.__delattr__)


def _delete_attribute(x: Any, name: str, delete: Callable[..., None]) -> Pulled:
    """Delete an attribute; the pullback restores it."""
    had, old = _field(x, name)
    delete(x, name)
    put, remove = _writers(x)

    def delattr_back(dy: Any) -> tuple[Any, ...]:
        slots_of(x).pop(name, None)
        if had:
            put(x, name, old)
            current_store().redo.append(lambda: remove(x, name))
        return None, None, None

    return None, Effect(delattr_back)


def _writers(x: Any) -> tuple[Callable[..., None], Callable[..., None]]:
    """Return what writes and what deletes an attribute, whatever the class makes of it."""
    kind: Any = type if isinstance(x, type) else object
    return kind.__setattr__, kind.__delattr__


def _field(x: Any, name: str) -> tuple[bool, Any]:
    """Return whether an object (or a class) itself has an attribute, and the attribute."""
    fields = x.__dict__ if isinstance(x, type) else fields_of(x)
    if name in fields:
        return True, fields[name]
    if isinstance(x, type) or not isinstance(member_of(type(x), name), _DESCRIPTORS):
        return False, None
    try:
        return True, object.__getattribute__(x, name)
    except AttributeError:
        return False, None
