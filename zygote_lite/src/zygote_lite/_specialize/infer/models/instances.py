"""Objects that the function makes: their attributes are variables, for each object its own.

The object itself is never made. It has a table of its attributes, so all names for it see what is
written; branches join the tables that their paths leave, and loops carry what they change. An
object may not leave the code: it is refused as an operand, as an item of what was given, as a
result.
"""

import dataclasses
import functools
import operator
import types
from typing import Any

from rulescore import find_rule
from zygote_lite._cotangents.kinds import HEAPTYPE
from zygote_lite._specialize.infer.models.classes import (
    ABSENT,
    bound_to,
    is_ordinary,
    of_class,
    settle,
)
from zygote_lite._specialize.infer.models.named import OF_NAMED, attribute_of_named
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.facts import Other
from zygote_lite._specialize.typed.nodes import holds
from zygote_lite._specialize.typed.reasons import NotSupported, Unsound
from zygote_lite._specialize.typed.stand_ins import LOST
from zygote_lite._specialize.typed.structures import is_named, named_tuple
from zygote_lite._specialize.typed.values import Value, constant

_DECIDING = {"__new__", "__del__", "__setattr__", "__delattr__", "__getattr__", "__class__",
             "__getattribute__"}  # fmt: skip
_COPYING = ("__copy__", "__reduce__", "__reduce_ex__", "__getstate__", "__setstate__",
            "__getnewargs__", "__getnewargs_ex__", "__replace__")  # fmt: skip


def can_be_made(kind: Any) -> bool:
    """Return whether objects of a class hold what is assigned to their attributes, and no more."""
    if not (isinstance(kind, type) and is_ordinary(kind)) or kind is object:
        return False
    if getattr(kind, "__abstractmethods__", None):
        return False
    for base in kind.__mro__[:-1]:
        if not base.__flags__ & HEAPTYPE:
            return False
        own = _DECIDING & vars(base).keys()
        if own and not (own <= {"__setattr__", "__delattr__"} and _is_frozen_dataclass(base)):
            return False
    return True


def _is_frozen_dataclass(base: type) -> bool:
    """Return whether a class is a dataclass whose attributes cannot be assigned."""
    parameters = vars(base).get("__dataclass_params__")
    setter = vars(base).get("__setattr__")
    return parameters is not None and parameters.frozen and _is_generated(setter)


def _is_generated(f: Any) -> bool:
    """Return whether `dataclasses` has written a function."""
    return isinstance(f, types.FunctionType) and f.__code__.co_filename == "<string>"


def construct(builder: Builder, kind: type, xs: list[Value], kws: dict[str, Value]) -> Value:
    """Return a new object of a class, whose attributes `__init__` has set."""
    if find_rule(kind, *[x.sample for x in xs], **{n: x.sample for n, x in kws.items()}):
        raise Unsound.OWN_RULE(f"{kind.__name__} has a rule")
    known = settle(builder.inputs, kind)
    x = new_object(builder, kind)
    init = of_class(kind, "__init__")
    if init is object.__init__:
        if xs or kws:
            raise Unsound.RAISES(f"{kind.__name__} takes no arguments")
        return x
    if not isinstance(init, types.FunctionType):
        raise NotSupported.METHOD(f"the `__init__` of {kind.__name__} is no Python function")
    builder.inputs.guard(f"{known}.__init__", init)
    builder.making.append(x)
    result = initialized(builder, x, init, xs, kws)
    builder.making.remove(x)
    if not (result.is_constant and result.sample is None):
        raise Unsound.RAISES(f"the `__init__` of {kind.__name__} returns a value")
    return x


def initialized(
    builder: Builder, x: Value, init: types.FunctionType, xs: list[Value], kws: dict[str, Value]
) -> Value:
    """Return what an `__init__` returns, and set the attributes that it sets."""
    kind = type(x.sample)
    owner = next(base for base in kind.__mro__ if vars(base).get("__init__") is init)
    if "__dataclass_fields__" not in vars(owner) or not _is_generated(init):
        return builder.apply(init, [x, *xs], kws)
    _fill(builder, x, owner, init, xs, kws)
    return constant(None)


def new_object(builder: Builder, kind: type) -> Value:
    """Return an object without attributes."""
    x = Value(Other(kind), object.__new__(kind))
    x.fields, x.scope = {}, builder.loop
    builder.objects.append(x)
    return x


def _fill(
    builder: Builder, x: Value, owner: type, init: types.FunctionType, xs: list[Value],
    kws: dict[str, Value],
) -> None:  # fmt: skip
    """Set the attributes of an object of a dataclass, as its `__init__` does."""
    declared = vars(owner)["__dataclass_fields__"]
    fields = _fields_of(declared)
    made = {
        f.name: f.default_factory for f in fields if f.default_factory is not dataclasses.MISSING
    }
    for name in made.keys() - kws.keys():
        builder.inputs.guard(
            f"{builder.inputs.name_for(declared[name], 'o')}.default_factory", made[name]
        )
    given = builder.parameters(init, [x, *xs], kws, {*made})
    found = {}
    for f in fields:
        if f.name in made and f.name not in given:
            found[f.name] = builder.call(constant(made[f.name]), [], {})
        elif f.init:
            found[f.name] = given[f.name]
        elif isinstance(of_class(type(x.sample), f.name), types.MemberDescriptorType):
            raise NotSupported.CONTAINER("a dataclass with slots has a field without `init`")
    for name, value in found.items():
        put(builder, x, name, value)
    after = of_class(type(x.sample), "__post_init__")
    if after is not ABSENT:
        builder.call(attribute_made(builder, x, "__post_init__"), [], {})


_kind_of_field = operator.attrgetter("_field_type.name")


def _fields_of(declared: dict[str, Any]) -> list[Any]:
    """Return the fields of a dataclass, without variables of the class."""
    kinds = {name: _kind_of_field(f) for name, f in declared.items()}
    if "_FIELD_INITVAR" in kinds.values():
        raise NotSupported.CONTAINER("a dataclass has an InitVar")
    return [f for name, f in declared.items() if kinds[name] == "_FIELD"]


# -- attributes ----------------------------------------------------------------------------------


def attribute_made(builder: Builder, x: Value, name: str) -> Value:
    """Return an attribute of an object that the function has made."""
    assert x.fields is not None
    kind = type(x.sample)
    found = of_class(kind, name)
    if name == "__class__":
        return constant(kind)
    if name in OF_NAMED and is_named(x):
        return attribute_of_named(builder, x, name)
    if name == "__dict__":
        raise NotSupported.ATTRIBUTE("it reads the attributes of an object as a dict")
    if not isinstance(found, property) and name in x.fields:
        value = x.fields[name]
        if value is LOST:
            raise NotSupported.DEPENDS_ON_PATH(
                f"the attribute {name} of a {kind.__name__} depends on the path, or is not set"
            )
        return value
    if isinstance(found, types.MemberDescriptorType):
        raise Unsound.RAISES(f"the attribute {name} of a {kind.__name__} is not set")
    if type(found) is functools.cached_property:
        builder.inputs.guard(f"{builder.inputs.name_for(kind, 'o')}.{name}", found)
        value = builder.apply(found.func, [x])
        put(builder, x, name, value)
        return value
    return bound_to(builder, x, kind, name, found)


def set_attribute(builder: Builder, x: Value, name: str, value: Value) -> None:
    """Note `x.name = value`."""
    if x.fields is None:
        raise Unsound.WRITES_TO_GIVEN("it assigns an attribute of what it has not made itself")
    kind = type(x.sample)
    if is_named(x):
        raise Unsound.RAISES(f"the attributes of a {kind.__name__} cannot be assigned")
    if any("__setattr__" in vars(base) for base in kind.__mro__[:-1]):
        raise Unsound.RAISES(f"the attributes of a {kind.__name__} cannot be assigned")
    found = of_class(kind, name)
    if isinstance(found, property):
        if not isinstance(found.fset, types.FunctionType):
            raise Unsound.RAISES(f"the attribute {name} of a {kind.__name__} cannot be assigned")
        builder.inputs.guard(f"{builder.inputs.name_for(kind, 'o')}.{name}", found)
        builder.apply(found.fset, [x, value])
        return
    is_slot = isinstance(found, types.MemberDescriptorType)
    if not is_slot and hasattr(type(found), "__set__"):
        raise Unsound.COMPUTED_ATTRIBUTE(f"the attribute {name} is computed where it is set")
    if not is_slot and not kind.__dictoffset__:
        raise Unsound.RAISES(f"a {kind.__name__} has no attribute {name}")
    put(builder, x, name, value)


def put(builder: Builder, x: Value, name: str, value: Value) -> None:
    """Set an attribute in the table of an object, whatever its class says."""
    if x.fields is None or is_named(x):
        raise Unsound.WRITES_TO_GIVEN("it assigns an attribute of what it has not made itself")
    if name in ("__class__", "__dict__"):
        raise NotSupported.ATTRIBUTE(f"it sets the attribute {name} of an object")
    if value in builder.iterators:
        raise Unsound.ITERATOR("an object holds an iterator, which can be walked over only once")
    if x.moved:
        raise Unsound.SHARED_WRITE("an object is assigned to that may be one of several")
    if x not in builder.making or x.scope is not builder.loop:
        builder.assigned.add(x)
    if holds(value, x):
        raise NotSupported.CONTAINER("an object is reached from its own attributes")
    x.fields = {**x.fields, name: value}


# -- copies --------------------------------------------------------------------------------------


def shallow_copy(builder: Builder, x: Value) -> Value:
    """Return `copy.copy(x)`."""
    kind: Any = type(x.sample)
    if is_named(x):
        return named_tuple(kind, [*(x.fields or {}).values()])
    if any(of_class(kind, name) is not getattr(object, name, ABSENT) for name in _COPYING):
        raise NotSupported.METHOD(f"a {kind.__name__} says itself how it is copied")
    assert x.fields is not None
    settle(builder.inputs, kind)
    made = new_object(builder, kind)
    made.fields = x.fields
    return made


def with_changes(builder: Builder, x: Value, changes: dict[str, Value]) -> Value:
    """Return `dataclasses.replace(x, **changes)`."""
    kind = type(x.sample)
    declared = getattr(kind, "__dataclass_fields__", None)
    if declared is None or "__replace__" in declared:
        raise Unsound.RAISES(f"a {kind.__name__} is no dataclass")
    builder.inputs.guard(f"{settle(builder.inputs, kind)}.__dataclass_fields__", declared)
    given = dict(changes)
    for f in _fields_of(declared):
        if not f.init:
            if f.name in changes:
                raise Unsound.RAISES(f"the field {f.name} of a {kind.__name__} takes no value")
        elif f.name not in changes:
            given[f.name] = builder.attribute(x, f.name)
    return construct(builder, kind, [], given)
