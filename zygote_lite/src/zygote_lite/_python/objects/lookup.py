"""The attribute protocol of user classes: properties, descriptors, `__getattr__`, `super()`.

Each access that runs user code is resolved to other calls on the same tape, in the order in which
Python looks an attribute up. The attributes of classes are here, too.
"""

import dataclasses
import functools
import types
import weakref
from typing import Any

import numpy as np

from zygote_lite._activity.activity import holder_of
from zygote_lite._activity.classes import (
    attribute_in_c,
    bind_method,
    fields_of,
    hook_of,
    is_written_by_dataclasses,
    member_of,
)
from zygote_lite._activity.deeds import may_write
from zygote_lite._activity.marks import mark_new
from zygote_lite._activity.reachability import referent
from zygote_lite._cotangents.kinds import OBJECT, kind_of
from zygote_lite._cotangents.registry import Handlers, NodeId, Nodes, Traced
from zygote_lite._ir.intrinsics import frame_refusal
from zygote_lite._ir.module_hooks import hook_of_module
from zygote_lite._tape.generators import NODE, Generated, attribute_refusal
from zygote_lite._tape.tape import Tape

handlers = Handlers()


def attribute_above(tape: Tape, nodes: Nodes, x: Any, name: str, *default: Any) -> Traced:
    """Resolve `super().name`."""
    order = x.__self_class__.__mro__
    classes = order[order.index(x.__thisclass__) + 1 :]
    member = next((vars(cls)[name] for cls in classes if name in vars(cls)), None)
    found = _computed(tape, nodes[1], member, x.__self__, type(x.__self__))
    if found is not None:
        return found
    y = getattr(x, name, *default)
    if isinstance(y, types.MethodType | types.BuiltinFunctionType | types.MethodWrapperType):
        return y, nodes[1]
    holder = holder_of(classes, name, y)
    return (y, None) if holder is None else tape.call((None, None, None), getattr, holder, name)


def _computed(tape: Tape, node: NodeId, member: Any, x: Any, cls: type) -> Traced | None:
    """Resolve what a member of a class computes for an object, if it does so in Python."""
    if isinstance(member, property | functools.cached_property):
        f = member.fget if isinstance(member, property) else member.func
        return None if f is None else tape.call((None, node), f, x)
    getter = bind_method(type(member), "__get__")
    return None if getter is None else tape.call((None, None, node, None), getter, member, x, cls)


def attribute_of_class(
    tape: Tape, nodes: Nodes, x: type, name: str, *default: Any
) -> Traced | None:
    """Resolve an attribute of a class, if user code (a metaclass, a descriptor) decides it."""
    kind: Any = type(x)
    of_kind, own = member_of(kind, name), member_of(x, name)
    if isinstance(of_kind, property) and isinstance(of_kind.fget, types.FunctionType):
        return tape.call((None, None), of_kind.fget, x)
    getter = bind_method(type(own), "__get__")
    if getter is not None:
        return tape.call((None, None, None, None), getter, own, None, x)
    hook = bind_method(kind, "__getattr__")
    try:
        if hook and not any(name in vars(base) for base in (*x.__mro__, *kind.__mro__)):
            return tape.call((None, None, None), hook, x, name)
    except AttributeError:
        if not default:
            raise
        return default[0], nodes[3]
    return (default[0], nodes[3]) if default and not hasattr(x, name) else None


@handlers.desugared(getattr)
def _(tape: Tape, nodes: Nodes, x: Any, name: str, *default: Any) -> Traced | None:
    if isinstance(x, type):
        return attribute_of_class(tape, nodes, x, name, *default)
    computed = hook_of_module(x, name)
    if computed is not None:
        try:
            return tape.call((None, None), computed, name)
        except AttributeError:
            if not default:
                raise
            return default[0], nodes[3]
    if isinstance(x, types.ModuleType | types.FunctionType):
        return (default[0], nodes[3]) if default and not hasattr(x, name) else None
    if isinstance(x, Generated) and name.startswith("gi_"):
        raise frame_refusal(f"`.{name}` of a generator")
    if isinstance(x, Generated) and hasattr(x.kind, name) and not hasattr(Generated, name):
        raise attribute_refusal(x, name)
    if type(x) is StopIteration and name == "value" and NODE in vars(x):
        return x.value, vars(x)[NODE]
    if isinstance(x, super):
        return attribute_above(tape, nodes, x, name, *default)
    if type(x) in weakref.ProxyTypes:
        return tape.call((None, *nodes[1:]), getattr, referent(x), name, *default)
    own = hook_of(type(x), "__getattribute__")
    hook = hook_of(type(x), "__getattr__")
    try:
        if own is not None:
            return tape.call((None, nodes[1], None), own, x, name)
        return own_attribute(tape, nodes, x, name)  # type: ignore[no-any-return]
    except AttributeError:
        if hook is None and not default:
            raise
    if hook is not None:
        try:
            return tape.call((None, nodes[1], None), hook, x, name)
        except AttributeError:
            if not default:
                raise
    return default[0], nodes[3]


@handlers.desugared(object.__getattribute__)
def own_attribute(tape: Tape, nodes: Nodes, x: Any, name: str) -> Traced | None:
    """Resolve an attribute as `object` does: what the class computes, or what the object holds."""
    member = member_of(type(x), name)
    fields = fields_of(x)
    if name not in fields or isinstance(member, property) or bind_method(type(member), "__set__"):
        found = _computed(tape, nodes[1], member, x, type(x))
        if found is not None and isinstance(member, functools.cached_property):
            tape.call((None, None, None, found[1]), object.__setattr__, x, name, found[0])
        if found is not None:
            return found
    if kind_of(x) != OBJECT or member is not None:
        y = attribute_in_c(x, name)
        if isinstance(y, types.MethodType | types.BuiltinFunctionType | types.MethodWrapperType):
            return y, nodes[1]  # what the method has got goes to its object
        if name == "__self__" and isinstance(x, types.BuiltinFunctionType | types.MethodType):
            return y, nodes[1]
        if isinstance(x, types.MethodType) and (member is None or name == "__func__"):
            f = x.__func__  # of which it has all other attributes
            return (f, None) if member else tape.call((None, None, None), getattr, f, name)
        if isinstance(x, slice | range) and isinstance(y, int | np.integer | None):
            return y, None  # a choice of entries
    elif name not in fields:
        attribute_in_c(x, name)  # raises what Python raises
    return None


@handlers.desugared(hasattr)
def _(tape: Tape, nodes: Nodes, x: Any, name: str) -> Traced | None:
    member = member_of(type(x), name)
    found = [member.fget] if isinstance(member, property) else []
    found.append(bind_method(type(member), "__get__"))
    found += [bind_method(type(x), hook) for hook in ("__getattribute__", "__getattr__")]
    kept = isinstance(member, functools.cached_property) and name not in fields_of(x)
    if not (
        kept or any(isinstance(f, types.FunctionType) and may_write(f, type(x)) for f in found)
    ):
        return None
    try:
        tape.call((None, nodes[1], None), getattr, x, name)
    except AttributeError:
        return False, None
    return True, None


@handlers.desugared(setattr, delattr, given=True)
def _(f: Any, tape: Tape, nodes: Nodes, x: Any, name: str, *value: Any) -> Traced | None:
    """Resolve `setattr` or `delattr`: the method of the class, or what that of `object` does."""
    of_object: Any = object.__setattr__ if f is setattr else object.__delattr__
    if type(x) in weakref.ProxyTypes:
        return tape.call(nodes, f, referent(x), name, *value)
    hook = hook_of(type(x), of_object.__name__)
    # that of a frozen dataclass has no source: it refuses some names, and hands others on
    frozen = is_written_by_dataclasses(hook) and dataclasses.is_dataclass(type(x))
    if frozen and (hook in vars(type(x)).values() or name in type(x).__dataclass_fields__):
        return None
    if hook is None or frozen:
        return _by_descriptor(of_object, tape, nodes, x, name, *value)
    return tape.call((None, nodes[1], None, *nodes[3:]), hook, x, name, *value)


_ACCESSORS: dict[Any, tuple[str, str]] = {
    object.__setattr__: ("fset", "__set__"),
    object.__delattr__: ("fdel", "__delete__"),
}
"""What the two methods ask of a property, and of another descriptor."""


def _by_descriptor(
    f: Any, tape: Tape, nodes: Nodes, x: Any, name: str, *value: Any
) -> Traced | None:
    """Resolve the writing or deletion of an attribute as `object` does: descriptors go first."""
    member = member_of(type(x), name)
    of_property, of_descriptor = _ACCESSORS[f]
    own = getattr(member, of_property) if isinstance(member, property) else None
    if own is not None:
        return tape.call((None, nodes[1], *nodes[3:]), own, x, *value)
    method = bind_method(type(member), of_descriptor)
    if method is not None:
        return tape.call((None, None, nodes[1], *nodes[3:]), method, member, x, *value)
    return None


handlers.desugared(*_ACCESSORS, given=True)(_by_descriptor)


@handlers.desugared(vars)
def _(tape: Tape, nodes: Nodes, x: Any) -> Traced:
    return tape.call((None, nodes[1], None), getattr, x, "__dict__")


@handlers.desugared(super)
def _(tape: Tape, nodes: Nodes, *xs: Any) -> Traced:
    above = super(*xs)
    mark_new(above)
    return above, nodes[2] if len(xs) > 1 else None
