"""Objects that are differentiated: their attributes are read at entry, as variables.

The gradient is a `Tangent` with all attributes of the object. Those that the code does not read
have none; but a list, a dict or an object has its gradient at the first place where it is met, so
they are looked at too, and the guards demand that none of them is there twice.
"""

import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from rulescore.faults import an
from zygote_lite._cotangents.kinds import (
    FUNCTION,
    INERT,
    OBJECT,
    VALUE,
    held_by,
    kind_of,
    slot_names,
)
from zygote_lite._specialize.infer.models.classes import is_plain, settle
from zygote_lite._specialize.infer.models.named import is_named_tuple
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.facts import NUMBERS, ArrayOf, Other, fact_of
from zygote_lite._specialize.typed.reasons import NotSupported
from zygote_lite._specialize.typed.structures import mapping, named_tuple, structure
from zygote_lite._specialize.typed.values import Value

_MOST_ATTRIBUTES = 256  # attributes and items of what is differentiated


def differentiated_object(builder: Builder, x: Any, expression: str) -> Value:
    """Return an object that is differentiated, and demand that it is one of its class."""
    inputs = builder.inputs
    if builder.compiled:
        raise NotSupported.COMPILED_VALUE(
            f"an argument is {an(type(x).__name__)}: pass numbers and arrays to compiled code"
        )
    if kind_of(x) != OBJECT or slot_names(type(x)):
        raise NotSupported.ARGUMENT_TYPE(f"it differentiates {an(type(x).__name__)}")
    fields = vars(x)
    if not all(type(name) is str and name.isidentifier() for name in fields):
        raise NotSupported.KEYS("an object has attributes whose names are not identifiers")
    value = Value(Other(type(x)), x)
    value.where = inputs.holder(type(x), expression)
    settle(inputs, type(x))
    value.active, value.read = True, {}
    inputs.differentiated[f"{value.where}.__dict__"] = None
    inputs.guards[f"are_keys({value.where}.__dict__, {tuple(fields)!r})"] = None
    return value


def attribute_of_differentiated(builder: Builder, x: Value, name: str) -> Value:
    """Return an attribute of an object that is differentiated."""
    assert x.read is not None
    if name not in x.read:
        x.read[name] = _part(builder, vars(x.sample)[name], f"{x.where}.{name}", name)
        builder.inputs.attributes.append((x, name))
    return x.read[name]


def read_all(builder: Builder, x: Value) -> None:
    """Read all attributes that can have a gradient, also those of what they hold."""
    for each in _objects_in([x]):
        for name, field in vars(each.sample).items():
            kind = kind_of(field)
            if kind != INERT and not (kind == FUNCTION and not held_by(field)):
                attribute_of_differentiated(builder, each, name)


def _objects_in(values: list[Value]) -> Iterator[Value]:
    """Yield the objects that are differentiated, and then those that their attributes hold."""
    waiting = [*values]
    while waiting:
        x = waiting.pop()
        waiting += x.items or (x.fields or {}).values()
        if x.read is not None:
            yield x
            waiting += x.read.values()


def _part(builder: Builder, x: Any, expression: str, stem: str) -> Value:
    """Return what an attribute or an item is."""
    inputs, kind = builder.inputs, kind_of(x)
    if kind == INERT or (kind == FUNCTION and not held_by(x)):
        return builder.read(x, expression, stem)
    inputs.taken += 1
    if inputs.taken > _MOST_ATTRIBUTES:
        raise NotSupported.TOO_LONG("a differentiated object has too many attributes and items")
    fact = fact_of(x)
    if not isinstance(fact, Other):
        value = Value(fact, x, builder.name(stem))
        value.sizes = {}
        value.active = isinstance(fact, ArrayOf) or type(x) in NUMBERS - {np.bool_}
        return inputs.give(value, expression)
    if is_named_tuple(type(x)):
        return fields_of_named(builder, x, expression, stem, active=True)
    if type(x) in (tuple, list, dict):
        return _structure(builder, x, expression, stem)
    if is_plain(x):
        return differentiated_object(builder, x, expression)
    raise NotSupported.OUTSIDE_TYPE(f"{stem} is of the type {type(x).__name__}")


def _structure(builder: Builder, x: Any, expression: str, stem: str) -> Value:
    inputs = builder.inputs
    held = inputs.holder(type(x), expression)
    if type(x) is not tuple:
        inputs.differentiated[held] = None

    def part(item: Any, at: Any) -> Value:
        name = f"{stem}_{at}" if f"{stem}_{at}".isidentifier() else stem
        return _part(builder, item, f"{held}[{at!r}]", name)

    if type(x) is dict:
        if any(type(key) is not str for key in x):
            raise NotSupported.KEYS(f"{stem} has keys that are not text")
        inputs.guards[f"are_keys({held}, {tuple(x)!r})"] = None
        return mapping({key: part(item, key) for key, item in x.items()})
    inputs.guards[f"len({held}) == {len(x)}"] = None
    return structure(type(x), [part(item, i) for i, item in enumerate(x)])


def fields_of_named(builder: Builder, x: Any, expression: str, stem: str, *, active: bool) -> Value:
    """Return a named tuple that is given."""
    kind = type(x)
    if builder.compiled:
        raise NotSupported.COMPILED_VALUE(
            f"an argument is {an(kind.__name__)}: pass numbers and arrays to compiled code"
        )
    held = builder.inputs.holder(kind, expression)
    builder.inputs.guard(f"{settle(builder.inputs, kind)}.__new__", kind.__new__)
    fields = []
    for i, (name, item) in enumerate(zip(kind._fields, x, strict=True)):
        at, within = f"{held}[{i}]", f"{stem}_{name}"
        fields.append(
            _part(builder, item, at, within)
            if active
            else builder.read(item, at, within, changes=True)
        )
    return named_tuple(kind, fields)


def complete(builder: Builder, arguments: list[Value]) -> None:
    """Look at the attributes that are not read, of all objects that are differentiated."""
    for x in _objects_in(arguments):
        assert x.read is not None
        for name, field in vars(x.sample).items():
            at = f"{x.where}.__dict__[{name!r}]"
            if name not in x.read and not _is_simple(builder, field, at):
                attribute_of_differentiated(builder, x, name)


def _is_simple(builder: Builder, x: Any, expression: str) -> bool:
    """Return whether an attribute holds nothing that has one gradient; demand that it stays so."""
    inputs, kind = builder.inputs, kind_of(x)
    if kind == FUNCTION and not held_by(x):
        inputs.guard(expression, x)
        return True
    inputs.guards[f"type({expression}) is {inputs.name_for(type(x), 'o')}"] = None
    return kind in (INERT, VALUE) and not isinstance(x, types.MappingProxyType)
