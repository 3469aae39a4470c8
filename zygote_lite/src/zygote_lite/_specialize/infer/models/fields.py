"""The attributes of an object that the function makes, as a dict: `x.__dict__`, `vars(x)`.

The code has no such dict: a read of it gives the current attributes, and a write to it sets them.
Of an object from outside, only the names of its attributes are known.
"""

import operator
import types
from collections.abc import Callable
from typing import Any

from zygote_lite._specialize.infer.effects.attributes import refuse_adopted
from zygote_lite._specialize.infer.models import instances as _instances
from zygote_lite._specialize.infer.models.builtins import SPECIAL
from zygote_lite._specialize.infer.models.classes import is_made_class, is_plain, of_class
from zygote_lite._specialize.infer.models.dicts import entries_of_dict, known_key, made
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.facts import Other
from zygote_lite._specialize.typed.reasons import NotSupported, Unsound
from zygote_lite._specialize.typed.stand_ins import LOST, SOURCE, Fields, View
from zygote_lite._specialize.typed.structures import HELD, is_named, mapping, structure
from zygote_lite._specialize.typed.values import Value, constant


def attributes_of(builder: Builder, x: Value) -> Value:
    """Return `x.__dict__`."""
    kind = type(x.sample)
    is_outside = x.fields is None and x.where is not None and has_plain_names(x)
    is_own = not is_named(x) and x.fields is not None and kind.__dictoffset__
    if is_made_class(x) or not (is_own or is_outside):
        raise NotSupported.ATTRIBUTE(
            "it reads the `__dict__` of an object that has none, or that it did not create"
        )
    found = Value(Other(Fields), Fields())
    found.fields, found.scope = {SOURCE: x}, builder.loop
    return found


def has_plain_names(x: Value) -> bool:
    """Return whether an object from outside has a `__dict__` of its own, with names alone."""
    is_usual = isinstance(of_class(type(x.sample), "__dict__"), types.GetSetDescriptorType)
    return is_usual and is_plain(x.sample) and {*map(type, vars(x.sample))} <= {str}


def names_of_attributes(builder: Builder, x: Value) -> list[Value] | None:
    """Return the names of the attributes of an object from outside; nothing for others."""
    owner = (x.fields or {}).get(SOURCE) if isinstance(x.sample, Fields) else None
    if owner is None or owner.fields is not None:
        return None
    names = [*vars(owner.sample)]
    builder.inputs.guards[f"[*{owner.where}.__dict__] == {names!r}"] = None
    return [*map(constant, names)]


def as_dict(builder: Builder, x: Value) -> Value:
    """Return a dict of the current attributes; return any other value unchanged."""
    if not isinstance(x.sample, Fields):
        return x
    owner = (x.fields or {})[SOURCE]
    if owner in builder.unordered or LOST in (owner.fields or {}).values():
        raise NotSupported.DEPENDS_ON_PATH(
            "which attributes an object has is different after two branches"
        )
    return entries_now(x)


def entries_now(x: Value) -> Value:
    """Return the same, of attributes that are known to be there."""
    if not isinstance(x.sample, Fields):
        return x
    owner = (x.fields or {})[SOURCE]
    if owner.fields is None:
        raise NotSupported.ATTRIBUTE(
            "it reads values of the `__dict__` of an object that it did not create, or that is "
            "held in a list or dict"
        )
    return mapping({name: value for name, value in owner.fields.items() if name != HELD})


def of_attributes(builder: Builder, f: Any, xs: list[Value], kws: dict[str, Value]) -> Value | None:
    """Return what a function gives of the attributes of an object; nothing where there are none."""
    is_asked = f is vars and len(xs) == 1 and not kws
    if is_asked and (xs[0].fields is not None or xs[0].where is not None):
        refuse_adopted(xs[0], "taken apart")
        return attributes_of(builder, xs[0])
    follows = hasattr(f, "__code__") and f not in SPECIAL  # its body takes what it is given
    if follows or not any(isinstance(x.sample, Fields) for x in xs):
        return None
    if isinstance(xs[0].sample, Fields) and f in _CHANGES and not kws:
        return _CHANGES[f](builder, *xs)
    if f in (operator.is_, operator.is_not):
        raise Unsound.IDENTITY(
            "it asks whether the `__dict__` of an object is the same as something else"
        )
    names = names_of_attributes(builder, xs[0]) if f in _OF_NAMES and not kws else None
    if names is not None:
        return builder.apply(f, [structure(list, names), *xs[1:]])
    return builder.apply(f, [as_dict(builder, x) for x in xs], kws)


def method_of_fields(
    builder: Builder, x: Value, name: str, xs: list[Value], kws: dict[str, Value]
) -> Value:
    """Return what a method of the attributes of an object gives."""
    if name in ("keys", "values", "items"):
        view = Value(Other(View), View(name))
        view.fields = {SOURCE: x}
        return view
    if name == "update":
        given = entries_of_dict(made(builder, [as_dict(builder, y) for y in xs], kws))
        for key, value in given.items():
            _set_field(builder, x, constant(key), value)
        return constant(None)
    if name in _OF_ITEMS:
        return _CHANGES[_OF_ITEMS[name]](builder, x, *xs)
    now = as_dict(builder, x)
    if name in ("setdefault", "pop") and xs and not kws:
        found = entries_of_dict(now).get(known_key(xs[0]))
        if name == "pop" and found is not None:
            return _remove_field(builder, x, xs[0], found)
        if name == "setdefault" and found is None:
            _set_field(builder, x, xs[0], (xs[1:] or [constant(None)])[0])
        found = found or (xs[1:] or [constant(None)])[0]
        if name == "pop" and len(xs) == 1:
            raise Unsound.RAISES("it takes out an attribute that does not exist").always(KeyError)
        return found
    return builder.call(builder.attribute(now, name), xs, kws)


def _set_field(builder: Builder, x: Value, key: Value, value: Value) -> Value:
    _instances.put(builder, (x.fields or {})[SOURCE], str(known_key(key)), value)
    return constant(None)


def _remove_field(builder: Builder, x: Value, key: Value, found: Value | None = None) -> Value:
    name, owner = known_key(key), (x.fields or {})[SOURCE]
    if name not in (owner.fields or {}):
        raise Unsound.RAISES("it deletes an attribute that does not exist").always(KeyError)
    _instances.remove(builder, owner, name)
    return found or constant(None)


def _attribute_by_key(builder: Builder, x: Value, key: Value) -> Value:
    """Return `x.__dict__[key]`, of an object from outside too."""
    owner, name = (x.fields or {})[SOURCE], key.sample
    if owner.fields is not None or not (key.is_constant and name in vars(owner.sample)):
        return builder.item(as_dict(builder, x), key)
    if not hasattr(type(of_class(type(owner.sample), name)), "__set__"):
        if owner.where is not None:  # without it, the attribute is that of the class
            builder.inputs.guards[f"{name!r} in {owner.where}.__dict__"] = None
        return builder.attribute(owner, name)
    if owner.read is not None:  # what is differentiated is known by its attributes
        return builder.item(as_dict(builder, x), key)
    held = f"{owner.where}.__dict__[{name!r}]"
    return builder.read(vars(owner.sample)[name], held, name, changes=True)


_OF_NAMES = (operator.contains, len, list, tuple, sorted, set, frozenset)
_CHANGES: dict[Any, Callable[..., Value]] = {
    operator.setitem: _set_field, operator.delitem: _remove_field,
    operator.getitem: _attribute_by_key,
}  # fmt: skip
_OF_ITEMS = {
    "__setitem__": operator.setitem, "__delitem__": operator.delitem,
    "__getitem__": operator.getitem,
}  # fmt: skip
