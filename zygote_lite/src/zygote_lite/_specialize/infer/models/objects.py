"""Objects that are passed in or read from globals, lists, tuples and dicts too.

Their attributes and items are loaded once, in the guard at entry, so that a concurrent write cannot
be seen half-way. The guard tests the class of an object and the attributes that the code reads;
other attributes do not matter. An object is identified by the variable that the guard puts it in.
"""

import abc
import dataclasses
import enum
import functools
import io
import types
from typing import Any

from rulescore.faults import an
from zygote_lite._activity.outputs import is_stream
from zygote_lite._cotangents.kinds import is_known_by_rule, is_written_in_python
from zygote_lite._specialize.infer.effects.attributes import known_once
from zygote_lite._specialize.infer.effects.collectors import (
    collector,
    is_collected,
    may_collect,
    refuse_to_collect,
)
from zygote_lite._specialize.infer.effects.draws import generator_from_outside
from zygote_lite._specialize.infer.effects.variables import attribute_now, set_attribute_outside
from zygote_lite._specialize.infer.iteration.rows import given_rows
from zygote_lite._specialize.infer.models import differentiated as _differentiated
from zygote_lite._specialize.infer.models import fields as _fields
from zygote_lite._specialize.infer.models import instances as _instances
from zygote_lite._specialize.infer.models import made_classes as _made_classes
from zygote_lite._specialize.infer.models.callables import partial_from_outside
from zygote_lite._specialize.infer.models.classes import (
    ABSENT,
    FUNCTIONS,
    bound_to,
    class_value,
    defined_in,
    definer_of,
    in_class,
    is_made_class,
    is_plain,
    keep,
    method_of,
    of_class,
    settle,
)
from zygote_lite._specialize.infer.models.named import is_named_tuple
from zygote_lite._specialize.infer.models.subclasses import attribute_held, base_of, new_of
from zygote_lite._specialize.infer.models.wholes import given_whole
from zygote_lite._specialize.infer.tables import given_table
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.contents import is_record
from zygote_lite._specialize.typed.decisions import is_abstract, is_without_hooks, kinds_in
from zygote_lite._specialize.typed.effects import GENERATORS
from zygote_lite._specialize.typed.facts import Other
from zygote_lite._specialize.typed.inputs import Inputs
from zygote_lite._specialize.typed.reasons import NotSpecializable, NotSupported, Unsound
from zygote_lite._specialize.typed.stand_ins import Lookup, Method, Super
from zygote_lite._specialize.typed.structures import mapping, structure
from zygote_lite._specialize.typed.values import Value, constant

_OF_OBJECT = ("__init__", "__setattr__", "__delattr__")
_OF_DATACLASSES = (dataclasses.Field, type(dataclasses._FIELD))  # type: ignore[attr-defined]
_MOST_ITEMS_FROM_OUTSIDE = 256  # items of structures from outside


def known_object(inputs: "Inputs", x: Any, expression: str) -> Value:
    """Return an object from outside, and demand that it is one of its class, as that is now."""
    value = Value(Other(type(x)), x)
    value.where = inputs.holder(type(x), expression)
    settle(inputs, type(x))
    inputs.objects[value.where] = None
    return value


def from_outside(builder: Builder, inputs: "Inputs", x: Any, expression: str, stem: str) -> Value:
    """Return an object or a structure that is read from outside."""
    if is_collected(builder, x):
        refuse_to_collect(builder, stem)
        return collector(builder, x, expression, stem)
    if isinstance(x, _OF_DATACLASSES):
        inputs.guard(expression, x)
        return constant(x)
    if type(x) in GENERATORS:
        return generator_from_outside(builder, x, expression, stem)
    rows = given_rows(builder, x, expression, stem)
    if rows is not None:
        return rows
    whole = given_whole(builder, x, expression, stem)
    if whole is not None:
        return inputs.give(whole, expression, inputs.holders[expression])
    table = given_table(builder, x, expression)
    if table is not None:
        return table
    if is_plain(x):
        return known_once(builder, known_object(inputs, x, expression))
    if is_named_tuple(type(x)):
        return _differentiated.fields_of_named(builder, x, expression, stem, active=False)
    if type(x) is functools.partial:
        return partial_from_outside(builder, x, expression)
    if is_stream(x) and isinstance(x, io.TextIOBase):
        inputs.guard(expression, x)
        return constant(x)
    if type(x) is types.MethodType:
        return _method_from_outside(builder, x, expression)
    base = base_of(type(x))
    if base in (tuple, list) and not base.__len__(x) and not hasattr(x, "__dict__"):
        held = inputs.holder(type(x), expression)
        inputs.guards[f"not {inputs.name_for(base.__len__, 'f')}({held})"] = None
        return new_of(builder, type(x), structure(base, []))
    if type(x) is object:  # it marks an absence
        inputs.guard(expression, x)
        return constant(x)
    before = inputs.attempt() if may_collect(builder, x) else None
    try:
        if type(x) in (set, frozenset):
            return _set_from_outside(inputs, x, expression, stem)
        if type(x) not in (tuple, list, dict):
            raise NotSupported.OUTSIDE_TYPE(f"{stem} is of the type {type(x).__name__}")
        return _structure_from_outside(builder, inputs, x, expression, stem)
    except NotSpecializable as reason:
        if before is None:
            raise
        inputs.give_up(before)
        return collector(builder, x, expression, stem, reason)


def _structure_from_outside(
    builder: Builder, inputs: "Inputs", x: Any, expression: str, stem: str
) -> Value:
    """Return a tuple, a list or a dict that is read from outside, with what it holds."""
    if expression in inputs.structures:
        return inputs.structures[expression]
    if type(x) is dict and (len(x) > _MOST_ITEMS_FROM_OUTSIDE or not {*map(type, x)} <= {str, int}):
        held = inputs.holder(dict, expression)
        inputs.containers[held] = None
        found = inputs.structures[expression] = constant(Lookup(x, held))
        inputs.outside[found] = x
        return found
    inputs.taken += len(x)
    if inputs.taken > _MOST_ITEMS_FROM_OUTSIDE:
        raise NotSupported.TOO_LONG(
            f"{stem} is {an(type(x).__name__)} of many items: pass it as an argument, or make it "
            "an array"
        )
    held = inputs.holder(type(x), expression)
    if type(x) is not tuple:
        inputs.containers[held] = None

    def part(item: Any, at: Any) -> Value:
        name = f"{stem}_{at}" if f"{stem}_{at}".isidentifier() else stem
        return builder.read(item, f"{held}[{at!r}]", name, changes=True)

    if type(x) is dict:
        kinds = {*map(type, x)}
        inputs.guards[f"[*{held}] == {[*x]!r}"] = None
        if len(kinds) < 2:
            kind = "int" if int in kinds else "str"
            inputs.guards[f"{{*map(type, {held})}} <= {{{kind}}}"] = None
        else:  # `1 == True`
            classes = inputs.name_for([*map(type, x)], "o")
            inputs.guards[f"[*map(type, {held})] == {classes}"] = None
        found = mapping({key: part(item, key) for key, item in x.items()})
    else:
        inputs.guards[f"len({held}) == {len(x)}"] = None
        found = structure(type(x), [part(item, i) for i, item in enumerate(x)])
    inputs.structures[expression] = found
    inputs.outside[found] = x
    return found


def _set_from_outside(inputs: "Inputs", x: Any, expression: str, stem: str) -> Value:
    """Return a set of texts or of integers that is read from outside.

    One that may change is not walked over, as its order may change, too.
    """
    kinds = {*map(type, x)}
    if type(x) is frozenset and kinds <= {str, int}:
        inputs.guard(expression, x)
        value = Value(Other(frozenset), x)
        value.items = [*map(constant, x)]
        return value
    if kinds not in ({str}, {int}) or len(x) > _MOST_ITEMS_FROM_OUTSIDE:
        raise NotSupported.OUTSIDE_TYPE(f"{stem} is a set of something other than a few texts")
    held = inputs.holder(type(x), expression)
    inputs.guard(expression, x)
    inputs.guards[f"{held} == {inputs.name_for(frozenset(x), 'o')}"] = None
    inputs.guards[f"{{*map(type, {held})}} == {{{kinds.pop().__name__}}}"] = None
    found = constant(x)
    inputs.outside[found] = x
    return found


def _method_from_outside(builder: Builder, x: types.MethodType, expression: str) -> Value:
    """Return a method that was looked up outside: its object is read at each entry."""
    f = x.__func__
    if not isinstance(f, types.FunctionType) and type(x.__self__) not in GENERATORS:
        raise NotSupported.METHOD(
            "a bound method that is stored in a variable is not a Python function"
        )
    held = builder.inputs.holder(types.MethodType, expression)
    builder.inputs.guard(f"{held}.__func__", f)
    owner = builder.read(x.__self__, f"{held}.__self__", "owner", changes=True)
    return constant(Method(owner, f.__name__, f))


def refuse_whole(x: Value) -> None:
    """Refuse an object that a rule set knows as a whole: only the tape sees who writes to it."""
    if is_known_by_rule(type(x.sample)):
        kind = type(x.sample).__name__
        raise NotSupported.RULE_OPERAND(
            f"it passes {an(kind)} to something other than a function with a rule"
        )


def attribute(builder: Builder, x: Value, name: str) -> Value:
    """Return an attribute of an object, or note that a method was looked up."""
    if isinstance(x.sample, Super):
        return _of_ancestors(builder, x.sample, name)
    if is_made_class(x):
        return _made_classes.class_attribute(builder, x, name)
    refuse_whole(x)
    if is_record(x):
        return _instances.attribute_made(builder, x, name)
    if name == "__dict__" and (x.fields is None) == (x.where is not None):
        return _fields.attributes_of(builder, x)
    if x.fields is not None and (x.where is None or name in x.fields):
        return _instances.attribute_made(builder, x, name)
    inputs, owner, expression = builder.inputs, x.sample, f"{x.where}.{name}"
    if name == "__class__":
        return class_value(type(owner))
    found = of_class(type(owner), name)
    if isinstance(found, property):
        settle(inputs, type(owner))
        return bound_to(builder, x, type(owner), name, found)
    if name in ("name", "value") and found is vars(enum.Enum)[name]:
        settle(inputs, type(owner))
        return attribute(builder, x, f"_{name}_")
    if hasattr(type(found), "__set__") or hasattr(type(found), "__delete__"):
        raise Unsound.COMPUTED_ATTRIBUTE(f"the attribute {name} is computed where it is read")
    if name in vars(owner):
        if found is not ABSENT:  # a property may take the place of a default
            inputs.guard_type(in_class(inputs, type(owner), name), found)
        if x.read is not None:
            part = _differentiated.attribute_of_differentiated(builder, x, name)
            return part if part.where is None else known_once(builder, part)
        return builder.read(vars(owner)[name], expression, name, changes=True)
    if isinstance(found, types.FunctionType):
        _guard_method(inputs, x, name, found)
        return constant(Method(x, name))
    if isinstance(found, staticmethod) and isinstance(found.__func__, types.FunctionType):
        _guard_method(inputs, x, name, found)
        return constant(found.__func__)
    if isinstance(found, classmethod):
        settle(inputs, type(owner))
        return bound_to(builder, x, type(owner), name, found)
    if hasattr(type(found), "__get__"):
        raise Unsound.COMPUTED_ATTRIBUTE(f"the attribute {name} is computed where it is read")
    _demand_without(inputs, x, name)
    now = None if found is ABSENT else attribute_now(builder, definer_of(type(owner), name), name)
    if now is not None:
        return now
    if found is ABSENT:
        raise Unsound.RAISES(
            f"it reads the attribute {name} of {an(type(owner).__name__)}, which has none"
        ).always(AttributeError)
    return builder.read(found, in_class(inputs, type(owner), name), name, changes=True)


def set_attribute(builder: Builder, x: Value, name: str, value: Value) -> None:
    """Note `x.name = value`."""
    if is_made_class(x):
        _made_classes.set_class_attribute(builder, x, name, value)
    elif x.is_constant and isinstance(x.sample, type | types.FunctionType):
        set_attribute_outside(builder, x.sample, name, value)
    else:
        _instances.assign_attribute(builder, x, name, value)


def _of_ancestors(builder: Builder, x: Super, name: str) -> Value:
    """Return what `super()` finds."""
    owner = x.owner.sample
    is_class = isinstance(owner, type)
    if not (x.owner.is_object or is_class):
        raise NotSupported.ATTRIBUTE("it uses `super()` of something that is not an object")
    kind = owner if is_class else type(owner)
    settle(builder.inputs, kind)
    for base in kind.__mro__[kind.__mro__.index(x.kind) + 1 :]:
        found = defined_in(base, name)
        if base is object and name == "__new__":
            return constant(object.__new__)
        if base is object and name in _OF_OBJECT and not is_class:
            return constant(Method(x.owner, name, found))
        if found is not ABSENT:
            if is_class and isinstance(found, FUNCTIONS) and base is not object:
                keep(builder.inputs, base, name, found)
                return constant(found)
            own = attribute_held(builder, x.owner, found, name)
            return bound_to(builder, x.owner, base, name, found) if own is None else own
    raise Unsound.RAISES(f"`super()` has no attribute {name}")


def function_of(inputs: "Inputs", x: Value, name: str) -> Any:
    """Return the function that an object is called by, or one of its methods."""
    kind = type(x.sample)
    found = of_class(kind, name)
    if x.fields is not None or is_record(x):
        found = method_of(inputs, kind, name)
        if found is None:
            raise Unsound.RAISES(f"{an(kind.__name__)} has no method {name}")
        return found
    if not isinstance(found, types.FunctionType):
        raise NotSupported.METHOD(f"it calls the method {name} of {an(kind.__name__)}")
    if name == "__call__":  # that of its class, whatever attributes it has
        inputs.guard(in_class(inputs, kind, name), found)
    return found


def _guard_method(inputs: "Inputs", x: Value, name: str, found: Any) -> None:
    """Demand that an object finds a method in its class, and nothing of that name in itself."""
    inputs.guard(in_class(inputs, type(x.sample), name), found)
    _demand_without(inputs, x, name)


def _demand_without(inputs: "Inputs", x: Value, name: str) -> None:
    """Demand that an object has no attribute of its own of some name."""
    if type(x.sample).__dictoffset__:
        inputs.guards[f"{name!r} not in {x.where}.__dict__"] = None


def ask_for_class(inputs: "Inputs", kind: Any, kinds: Any) -> None:
    """Demand that a class has the ancestors that it has now, if it is one made in Python.

    Of abstract classes, demand that no class has been registered: until then each keeps its answer.
    """
    made_in_python = isinstance(kind, type) and is_written_in_python(kind)
    asked = kinds_in(kinds)
    if any(is_abstract(k) and (made_in_python or not is_without_hooks(k)) for k in asked):
        token = inputs.name_for(abc.get_cache_token, "o")
        inputs.guards[f"{token}() == {abc.get_cache_token()}"] = None
    if made_in_python:
        if not all(type(k) is type or is_abstract(k) for k in asked):
            raise Unsound.CLASS(
                "it asks for instances of a class whose metaclass decides which they are"
            )
        inputs.guard(f"{inputs.name_for(kind, 'o')}.__mro__", kind.__mro__)
