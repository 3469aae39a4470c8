"""Objects that the function makes: their attributes are variables, for each object its own.

The object itself is never made. It has a table of its attributes, so all names for it see what is
written; branches join the tables that their paths leave, and loops carry what they change. An
object may not leave the code: it is refused as an operand, as an item of what was given, as a
result.
"""

import dataclasses
import operator
import types
from typing import Any

import numpy as np

from rulescore import find_rule
from rulescore.faults import an
from zygote_lite._activity.classes import is_written_by_dataclasses
from zygote_lite._cotangents.kinds import is_written_in_python
from zygote_lite._specialize.infer.effects.attributes import demand_table, refuse_adopted
from zygote_lite._specialize.infer.held.items import held_item, store_held
from zygote_lite._specialize.infer.models.classes import (
    ABSENT,
    FUNCTIONS,
    abstract_methods,
    bound_to,
    cached_by,
    class_value,
    defined_in,
    definer_of,
    function_of_property,
    is_data_descriptor,
    is_ordinary,
    is_property,
    keep,
    method_of,
    of_class,
    of_descriptor,
    settle,
)
from zygote_lite._specialize.infer.models.named import OF_NAMED, attribute_of_named
from zygote_lite._specialize.infer.models.subclasses import attribute_held, held_inside, made_by_new
from zygote_lite._specialize.typed.abstract_eval import run
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.contents import contents_in, is_record
from zygote_lite._specialize.typed.decisions import classes_of
from zygote_lite._specialize.typed.facts import ListOf, Other
from zygote_lite._specialize.typed.reasons import NotSupported, Unsound
from zygote_lite._specialize.typed.stand_ins import LOST, Given
from zygote_lite._specialize.typed.structures import blank, is_named, named_tuple
from zygote_lite._specialize.typed.values import Value, constant, made_class

_DECIDING = {"__del__", "__class__", "__getattribute__"}
_COPYING = ("__copy__", "__reduce__", "__reduce_ex__", "__getstate__", "__setstate__",
            "__getnewargs__", "__getnewargs_ex__")  # fmt: skip


def can_be_made(kind: Any) -> bool:
    """Return whether objects of a class hold what is assigned to their attributes, and no more."""
    if kind is types.SimpleNamespace:
        return True
    if not (isinstance(kind, type) and is_ordinary(kind)) or kind is object:
        return False
    if abstract_methods(kind):
        return False
    for base in kind.__mro__[:-1]:
        if not is_written_in_python(base):
            return False
        if any(defined_in(base, name) is not ABSENT for name in _DECIDING):
            return False
    return True


def _is_frozen_dataclass(base: type) -> bool:
    """Return whether a class is a dataclass whose attributes cannot be assigned."""
    parameters = vars(base).get("__dataclass_params__")
    setter = vars(base).get("__setattr__")
    return parameters is not None and parameters.frozen and is_written_by_dataclasses(setter)


def construct(builder: Builder, kind: type, xs: list[Value], kws: dict[str, Value]) -> Value:
    """Return a new object of a class, whose attributes `__init__` has set."""
    rule = find_rule(kind, *[x.sample for x in xs], **{n: x.sample for n, x in kws.items()})
    if rule is not None:
        if kind in (np.finfo, np.iinfo) and len(xs) == 1 and xs[0].is_constant:
            return constant(run(kind, [xs[0].sample], {}))
        raise Unsound.OWN_RULE(f"{kind.__name__} has a rule")
    if kind is types.SimpleNamespace:
        return _namespace(builder, xs, kws)
    settle(builder.inputs, kind)
    new = of_class(kind, "__new__")
    if new is object.__new__:
        x = new_object(builder, kind)
        if of_class(kind, "__init__") is object.__init__ and (xs or kws):
            raise Unsound.RAISES(f"{kind.__name__} takes no arguments")
    elif (inherited := made_by_new(builder, new, [class_value(kind), *xs], kws)) is not None:
        x = inherited
    else:
        f = new.__func__ if isinstance(new, staticmethod) else new
        if not isinstance(f, FUNCTIONS):
            raise NotSupported.METHOD(f"the `__new__` of {kind.__name__} is not a Python function")
        keep(builder.inputs, kind, "__new__", f)
        x = builder.call(constant(f), [class_value(kind), *xs], kws)
        if not (x.is_object and isinstance(x.sample, kind)):
            return x
    _initialize(builder, x, xs, kws)
    return x


def _namespace(builder: Builder, xs: list[Value], kws: dict[str, Value]) -> Value:
    """Return a new `types.SimpleNamespace`."""
    if xs:
        raise NotSupported.CONTAINER("it makes a SimpleNamespace of a dict: give keywords")
    x = new_object(builder, types.SimpleNamespace)
    for name, value in kws.items():
        put(builder, x, name, value)
    return x


def _initialize(builder: Builder, x: Value, xs: list[Value], kws: dict[str, Value]) -> None:
    """Write what calling a class does with the object that `__new__` gave."""
    kind = type(x.sample)
    init = of_class(kind, "__init__")
    if init is object.__init__:
        return
    if not isinstance(init, FUNCTIONS) and held_inside(x) is None:
        raise NotSupported.METHOD(f"the `__init__` of {kind.__name__} is not a Python function")
    keep(builder.inputs, kind, "__init__", init)
    builder.making.append(x)
    result = initialized(builder, x, init, xs, kws)
    builder.making.remove(x)
    if not (result.is_constant and result.sample is None):
        raise Unsound.RAISES(f"the `__init__` of {kind.__name__} returns a value")


def initialized(
    builder: Builder, x: Value, init: Any, xs: list[Value], kws: dict[str, Value]
) -> Value:
    """Return what an `__init__` returns, and set the attributes that it sets."""
    kind = type(x.sample)
    owner = next(base for base in kind.__mro__ if defined_in(base, "__init__") is init)
    if "__dataclass_fields__" not in vars(owner) or not is_written_by_dataclasses(init):
        return builder.apply(init, [x, *xs], kws)
    _fill(builder, x, owner, init, xs, kws)
    return constant(None)


def new_object(builder: Builder, kind: type) -> Value:
    """Return an object without attributes."""
    x = Value(Other(kind), blank(kind))
    x.fields = {}
    builder.settle_home(x)
    builder.objects.append(x)
    return x


def object_of(builder: Builder, kind: Any) -> Value:
    """Return what `object.__new__` makes of a class."""
    if not can_be_made(kind):
        raise NotSupported.CONTAINER(
            "it makes an object of a class that is not written in Python, or has a metaclass"
        )
    settle(builder.inputs, kind)
    return new_object(builder, kind)


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
    for name in [n for n in made.keys() - kws.keys() if not isinstance(made[n], Given)]:
        builder.inputs.guard(
            f"{builder.inputs.name_for(declared[name], 'o')}.default_factory", made[name]
        )
    given = builder.parameters(init, [x, *xs], kws, {*made})
    frozen = vars(owner)["__dataclass_params__"].frozen
    assign = set_plainly if frozen else assign_attribute
    for f in fields:
        if f.name in made and f.name not in given:
            factory = made[f.name]
            factory = factory.value if isinstance(factory, Given) else constant(factory)
            assign(builder, x, f.name, builder.call(factory, [], {}))
        elif f.init:
            assign(builder, x, f.name, given[f.name])
        elif isinstance(of_class(type(x.sample), f.name), types.MemberDescriptorType):
            raise NotSupported.CONTAINER("a dataclass with slots has a field with `init=False`")
    if made_class(owner) is None:
        goes_on = "__post_init__" in init.__code__.co_names  # a class that inherits may have one
    else:  # made inside: the class that stands for it has no methods
        goes_on = of_class(owner, "__post_init__") is not ABSENT
    if goes_on:
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
    kind, fields = type(x.sample), x.fields or {}
    found = of_class(kind, name)
    if name == "__class__":
        return class_value(kind)
    if name in OF_NAMED and is_named(x):
        return attribute_of_named(builder, x, name)
    is_data = found is not ABSENT and not is_named(x) and is_data_descriptor(found)
    if is_record(x) and name in contents_in(x).slots and not is_data:
        return held_item(builder, x, constant(name), name)
    if name in fields and not is_data:
        value = fields[name]
        if value is LOST:
            raise NotSupported.DEPENDS_ON_PATH(
                f"the attribute {name} of {an(kind.__name__)} is different after two branches, or "
                "is not set"
            )
        if is_named(x):
            keep(builder.inputs, kind, name, found)
        return value
    if isinstance(found, types.MemberDescriptorType):
        raise Unsound.RAISES(f"the attribute {name} of {an(kind.__name__)} is not set")
    held = attribute_held(builder, x, found, name)
    if held is not None:
        return held
    cached = cached_by(found)
    if cached is not None:
        keep(builder.inputs, kind, name, found)
        value = builder.apply(cached, [x])
        put(builder, x, name, value)
        return value
    if found is ABSENT:
        hook = method_of(builder.inputs, kind, "__getattr__")
        if hook is not None:
            return builder.apply(hook, [x, constant(name)])
    return bound_to(builder, x, kind, name, found)


def assign_attribute(builder: Builder, x: Value, name: str, value: Value) -> None:
    """Note `x.name = value`."""
    if (x.fields is None or x.where is not None) and not is_record(x):
        _refuse_without_attributes(x, name)
        demand_table(builder, x, name)
    kind = type(x.sample)
    owner = definer_of(kind, "__setattr__")
    if is_named(x) or (owner is not object and owner is not None and _is_frozen_dataclass(owner)):
        raise Unsound.RAISES(f"the attributes of {an(kind.__name__)} cannot be assigned")
    hook = method_of(builder.inputs, kind, "__setattr__")
    if hook is None:
        set_plainly(builder, x, name, value)
    else:
        builder.apply(hook, [x, constant(name), value])


def _refuse_without_attributes(x: Value, name: str) -> None:
    """Refuse to assign an attribute of a number, an array or a structure, which have no such."""
    is_known = x.is_scalar or x.is_array or x.items is not None or isinstance(x.fact, ListOf)
    if is_known and not any(hasattr(kind, name) for kind in classes_of(x)):
        raise Unsound.RAISES(
            f"it assigns the attribute {name} of a value that has no such attribute"
        ).always(AttributeError)


def set_plainly(builder: Builder, x: Value, name: str, value: Value) -> None:
    """Set an attribute as `object.__setattr__` does."""
    kind = type(x.sample)
    found = of_class(kind, name)
    is_slot = isinstance(found, types.MemberDescriptorType)
    if found is not ABSENT and not is_slot:
        if is_property(found):
            f = function_of_property(builder, kind, name, found, "fset")
            builder.call(f, [x, value], {})
            return
        setter = of_descriptor(builder, kind, name, found, "__set__")
        if setter is not None:
            builder.call(setter, [x, value], {})
            return
    if not is_slot and not kind.__dictoffset__:
        raise Unsound.RAISES(f"{an(kind.__name__)} has no attribute {name}")
    put(builder, x, name, value)


def delete_attribute(builder: Builder, x: Value, name: str) -> None:
    """Note `del x.name`."""
    if x.fields is None or is_named(x):
        raise Unsound.WRITES_TO_GIVEN("it deletes an attribute of an object that it did not create")
    kind = type(x.sample)
    hook = method_of(builder.inputs, kind, "__delattr__")
    if hook is None:
        delete_plainly(builder, x, name)
    else:
        builder.apply(hook, [x, constant(name)])


def delete_plainly(builder: Builder, x: Value, name: str) -> None:
    """Delete an attribute as `object.__delattr__` does."""
    kind = type(x.sample)
    found = of_class(kind, name)
    if found is not ABSENT and is_property(found):
        builder.call(function_of_property(builder, kind, name, found, "fdel"), [x], {})
        return
    if found is not ABSENT and not isinstance(found, types.MemberDescriptorType):
        deleter = of_descriptor(builder, kind, name, found, "__delete__")
        if deleter is not None:
            builder.call(deleter, [x], {})
            return
    assert x.fields is not None
    if name not in x.fields:
        raise Unsound.RAISES(f"{an(kind.__name__)} has no attribute {name}").always(AttributeError)
    remove(builder, x, name)


def remove(builder: Builder, x: Value, name: str) -> None:
    """Delete an attribute from the table of an object, whatever its class says."""
    refuse_adopted(x, "deprived of an attribute")
    assert x.fields is not None
    if x.scope is not builder.loop or x.fields[name] is LOST:
        raise NotSupported.DEPENDS_ON_PATH(
            f"whether an object has the attribute {name} is different after two branches"
        )
    put(builder, x, name, x.fields[name])
    x.fields = {at: value for at, value in x.fields.items() if at != name}


def put(builder: Builder, x: Value, name: str, value: Value) -> None:
    """Set an attribute in the table of an object, whatever its class says."""
    if is_record(x) and name in contents_in(x).slots:
        store_held(builder, x, constant(name), value)
        return
    if x.fields is None or is_named(x):
        raise Unsound.WRITES_TO_GIVEN("it assigns an attribute of an object that it did not create")
    if name in ("__class__", "__dict__"):
        raise NotSupported.ATTRIBUTE(f"it assigns the attribute {name} of an object")
    if value in builder.iterators:
        raise Unsound.ITERATOR("it stores an iterator in an object: make a list of it first")
    if x.moved:
        raise Unsound.SHARED_WRITE(
            "it assigns an attribute of an object that may be one of several"
        )
    if x not in builder.making or x.scope is not builder.loop:
        builder.assigned.add(x)
    x.fields = {**x.fields, name: value}


# -- copies --------------------------------------------------------------------------------------


def shallow_copy(builder: Builder, x: Value) -> Value:
    """Return `copy.copy(x)`."""
    refuse_adopted(x, "copied")
    kind: Any = type(x.sample)
    if is_named(x):
        return named_tuple(kind, [*(x.fields or {}).values()])
    if held_inside(x) is not None:
        raise NotSupported.METHOD("it copies an object of a class that inherits from a container")
    usual = kind is types.SimpleNamespace
    if not usual and any(
        of_class(kind, name) is not getattr(object, name, ABSENT) for name in _COPYING
    ):
        raise NotSupported.METHOD(f"{an(kind.__name__)} defines how it is copied")
    settle(builder.inputs, kind)
    made = new_object(builder, kind)
    names = contents_in(x).slots if is_record(x) else ()
    made.fields = x.fields or {name: held_item(builder, x, constant(name)) for name in names}
    return made


def with_changes(builder: Builder, x: Value, changes: dict[str, Value]) -> Value:
    """Return `dataclasses.replace(x, **changes)`."""
    kind = type(x.sample)
    declared = getattr(kind, "__dataclass_fields__", None)
    if declared is None:
        raise Unsound.RAISES(f"{an(kind.__name__)} is not a dataclass")
    settle(builder.inputs, kind)
    keep(builder.inputs, kind, "__dataclass_fields__", declared)
    given = dict(changes)
    for f in _fields_of(declared):
        if not f.init:
            if f.name in changes:
                raise Unsound.RAISES(f"the field {f.name} of {an(kind.__name__)} takes no value")
        elif f.name not in changes:
            given[f.name] = builder.attribute(x, f.name)
    return construct(builder, kind, [], given)
