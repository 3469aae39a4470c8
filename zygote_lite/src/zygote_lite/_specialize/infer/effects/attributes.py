"""Attributes of given objects that are assigned: variables of the code, and set at the end.

An object from outside gets a table of the attributes that the code assigns, as objects have that
the code makes. It has what these attributes hold at entry: so where an assignment is found, the
code is interpreted again. What they hold at the end is assigned when the call is answered.
"""

from typing import Any

from zygote_lite._specialize.infer.effects.waiting import effects_of
from zygote_lite._specialize.infer.held.containers import NO_RESULT, mirror
from zygote_lite._specialize.infer.models.differentiated import attribute_of_differentiated
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.effects import set_at_the_end
from zygote_lite._specialize.typed.facts import ListOf, Scalar, fact_of
from zygote_lite._specialize.typed.nodes import leaves
from zygote_lite._specialize.typed.notes import adopted
from zygote_lite._specialize.typed.reasons import NotSupported, Unsound
from zygote_lite._specialize.typed.values import Value, constant

_KEPT = (str, bytes, int, float, bool, type(None))


def known_once(builder: Builder, x: Value) -> Value:
    """Return the one value of an object from outside, with a table if the code assigns to it."""
    if adopted(x.sample) not in builder.own:
        return x
    if builder.inner:  # which would read what they hold at entry
        raise NotSupported.SECOND_ORDER("it assigns attributes and takes a nested gradient")
    assert x.where is not None
    if x.where not in builder.adopted:
        if any(other.sample is x.sample for other in builder.adopted.values()):
            raise Unsound.WRITES_TO_GIVEN(
                "it assigns attributes of an object that it knows by two names"
            )
        builder.adopted[x.where] = x
        names = [name for name in vars(x.sample) if (id(x.sample), name) in builder.own]
        builder.adopt(x, {name: _at_entry(builder, x, name) for name in names})
    return builder.adopted[x.where]


def _at_entry(builder: Builder, x: Value, name: str) -> Value:
    """Return what an attribute holds at entry: of a number, not the one that it is now.

    The object has it itself: of one that it finds in its class nothing is assigned on other paths.
    """
    if hasattr(type(x.sample), name):
        builder.inputs.guards[f"{name!r} in {x.where}.__dict__"] = None
    if x.read is not None:
        return attribute_of_differentiated(builder, x, name)
    found, expression = vars(x.sample)[name], f"{x.where}.{name}"
    if not isinstance(fact_of(found), Scalar):
        return builder.read(found, expression, name, changes=True)
    return read_at_entry(builder, found, expression, name)


def read_at_entry(builder: Builder, x: Any, expression: str, stem: str) -> Value:
    """Return a value that an expression gives at each entry."""
    if expression not in builder.inputs.given:
        builder.inputs.give(Value(fact_of(x), x, builder.name(stem)), expression)
    return builder.inputs.given[expression][0]


def assigned_global(space: int, name: str) -> tuple[str, int, str]:
    """Return what notes that the code assigns a global, of the dict that has an identity."""
    return "a global that is assigned", space, name


def is_adopted(x: Value) -> bool:
    """Return whether a value is an object from outside whose attributes are assigned."""
    return x.where is not None and x.fields is not None


def refuse_adopted(x: Value, what: str) -> None:
    """Refuse what is known of objects as a whole, of which this one's table has only a part."""
    if is_adopted(x):
        raise Unsound.WRITES_TO_GIVEN(f"an argument is {what}, and has attributes assigned")


def demand_table(builder: Builder, x: Value, name: str) -> None:
    """Have the code interpreted again, with a table that has an attribute of a given object.

    Raises `NotSpecializable` where it cannot have one.
    """
    if x.where is None or builder.compiled:
        raise Unsound.WRITES_TO_GIVEN("it assigns an attribute of an object that it did not create")
    effects_of(builder, "an assignment to an attribute of what is given")
    origins: list[Any] = [adopted(x.sample)]
    origins += [(id(x.sample), name)] if name in vars(x.sample) else []
    builder.wanted.update(origin for origin in origins if origin not in builder.own)
    if x.fields is None:
        raise Unsound.WRITES_TO_GIVEN("it assigns an attribute of an object that it did not create")


def settle_attributes(builder: Builder) -> None:
    """Write what sets the attributes that have other values at the end."""
    if builder.adopted:
        builder.refuse_all_readers()  # they would read the attributes too early
    for where, x in builder.adopted.items():
        builder.inputs.assigned[where] = None
        before, fields, x.fields = builder.at_entry[x], x.fields or {}, None
        for name, value in fields.items():
            if value is not before.get(name):
                _write_assignment(builder, x, name, value)


def refuse_to_keep(builder: Builder, what: str, value: Value) -> None:
    """Refuse what an attribute or a variable outside cannot be assigned at the end."""
    for leaf in leaves(value):
        known = leaf.is_scalar or leaf.is_array or (leaf.contents is not None and leaf is value)
        plain = leaf.is_constant and isinstance(leaf.sample, _KEPT)
        if not (known or plain) or isinstance(leaf.fact, ListOf) or leaf in builder.uncertain:
            raise Unsound.WRITES_TO_GIVEN(f"{what} holds an object: assign a number or an array")
    if (value.items is not None and type(value.sample) is not tuple) or value.is_object:
        raise Unsound.WRITES_TO_GIVEN(f"{what} holds a list: assign a number, an array or a tuple")
    if builder.copies and any(leaf.is_array for leaf in leaves(value)):
        raise Unsound.WRITES_TO_GIVEN(
            "it stores arrays in an argument, and writes to arrays of its arguments"
        )


def _write_assignment(builder: Builder, x: Value, name: str, value: Value) -> None:
    refuse_to_keep(builder, f"the attribute {name} of an argument", value)
    effects = effects_of(builder, "an assignment to an attribute")
    assert x.where is not None
    owner = read_at_entry(builder, x.sample, x.where, "owner")
    given = [effects, owner, constant(name), value]
    mirror(builder.write(NO_RESULT, set_at_the_end, given, {}), lambda builder, _: [], [])
