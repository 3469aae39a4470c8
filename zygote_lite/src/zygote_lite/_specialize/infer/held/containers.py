"""Containers that the code makes, and changes, as it runs: in any block, under any name.

A list, dict or tuple whose items are known one by one is a structure, until something is done to it
that only an object can take: then it is made where it was built, and is `held` from there on. What
is known of what it holds is shared by all that may be the same container (`typed.contents`). Its
cotangent is a shadow (`typed.shadows`), so aliases need no care.
"""

from typing import Any

from rulescore.faults import an
from zygote_lite._specialize.infer.iteration.known import known_items
from zygote_lite._specialize.rules.contributions import Contribution, Mirror, projected
from zygote_lite._specialize.typed.abstract_eval import Result
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.contents import (
    ANY,
    Contents,
    Slot,
    add_key,
    add_slot,
    contents_in,
    is_record,
    slot_of,
)
from zygote_lite._specialize.typed.facts import (
    FLOATS,
    ListOf,
    Other,
    Scalar,
    may_be_complex,
)
from zygote_lite._specialize.typed.nodes import Op, assigned_by, holds, leaves
from zygote_lite._specialize.typed.reasons import NotSupported, Unsound
from zygote_lite._specialize.typed.runtime import as_it_is, zeros_or
from zygote_lite._specialize.typed.shadows import (
    HeldObject,
    number_or,
    shadow_of,
    take_entry,
    take_item,
)
from zygote_lite._specialize.typed.stand_ins import StandIn
from zygote_lite._specialize.typed.structures import HELD, is_named, mapping, structure
from zygote_lite._specialize.typed.values import Value, constant

_MUTABLE = (list, dict)
ONE_INT = Result(Scalar(frozenset((int,))), 1)
NO_RESULT = Result(Other(type(None)), None)


def is_held(x: Value) -> bool:
    """Return whether a value is a container that the code makes as it runs."""
    return x.contents is not None and not is_record(x)


def is_held_dict(x: Value) -> bool:
    """Return whether a container is a dict of any class, or an object that containers hold."""
    return is_record(x) or issubclass(contents_in(x).kind, dict)


def may_be_held(builder: Builder, x: Value) -> bool:
    """Return whether a value is a structure that can be held from here on."""
    if x.items is None or type(x.sample) not in _MUTABLE or x not in builder.homes:
        return False
    return not (x.scope is not None and x.scope.is_closed) and builder.held


# -- making them -------------------------------------------------------------------------------


def is_made_here(builder: Builder, x: Value) -> bool:
    """Return whether a structure is made in this block, which may change it as a structure."""
    return builder.homes.get(x) is builder.out and x not in builder.given_as


def hold(builder: Builder, x: Value) -> Value:
    """Return a container for a structure; a list or a dict is one from now on."""
    if x.contents is not None:
        return x
    items = known_items(x)
    if type(x.sample) is tuple and items is not None:
        return display(builder, tuple, structure(tuple, [kept(builder, item) for item in items]))
    outside = x in builder.inputs.structures.values()
    if x.items is None or not (x in builder.homes or outside):
        raise NotSupported.CONTAINER(
            f"it changes {an(type(x.sample).__name__)} that it did not create here"
        )
    if x in builder.walked or x in builder.keyed:
        raise Unsound.CHANGES_WHAT_IT_WALKS("it changes a list or a dict while it iterates over it")
    builder.changing(x)
    outer = builder.out, builder.loop, builder.grown, builder.origin
    around, builder.held_from = builder.held_from, builder.held_from or [builder.out]
    home, (whole, at) = builder.homes.get(x, builder.top), builder.given_as.get(x, (None, ""))
    builder.out, builder.loop, builder.grown = home, x.scope, []
    before = len(home)
    try:
        parts = [kept(builder, item) for item in x.items]
        if type(x.sample) is dict:
            pairs = zip(parts[::2], parts[1::2], strict=True)
            found = mapping({key.sample: part for key, part in pairs})
        else:
            found = structure(list, parts)
        made = display(builder, type(x.sample), found, builder.titles.get(x, ""), whole)
    finally:
        builder.out, builder.loop, builder.grown, builder.origin = outer
        builder.held_from = around
    builder.homes.pop(x, None)
    if outside or whole is not None:
        contents_in(made).given = frozenset((at,))
    x.made = not (outside or whole is not None)
    x.name, x.contents, x.items, x.sample = made.name, made.contents, None, made.sample
    x.active = x.is_constant = False
    contents_in(x).owners.append(x)
    builder.inputs.names |= {y.name for node in home[before:] for y in assigned_by(node)}
    op = builder.definitions.pop(made)
    op.target = x
    builder.definitions[x] = op
    builder.changed.append(x)
    return x


def display(
    builder: Builder, kind: type, whole: Value, stem: str = "", given: Value | None = None
) -> Value:
    """Write a tuple, list or dict of known parts, or name one that is given, and return it."""
    text = whole if given is None else given
    op = builder.write(Result(Other(kind), whole.sample), as_it_is, [text], {}, stem)
    builder.displayed[op] = whole
    items = whole.items or []
    pairs: list[tuple[Any, Value]] = [*enumerate(items)]
    if kind is dict:
        pairs = [(k.sample, v) for k, v in zip(items[::2], items[1::2], strict=True)]
    x = new_contents(builder, op, kind)
    for key, item in pairs:
        note_item(builder, x, ANY if kind is list else key, item)
        if kind is dict:
            note_key(builder, x, constant(key))
    _mirror_display(op, {key: item for key, item in pairs if item.active})
    return x


def _mirror_display(op: Op, active: dict[Any, Value]) -> None:
    """Give an operation that makes a container of parts the reverse that takes their cotangents."""
    taken = [(constant(key), item) for key, item in active.items()]

    def back(builder: Builder, _: Value | None) -> list[Contribution]:
        return [taken_cotangent(builder, op.target, key, item) for key, item in taken]

    mirror(op, back, [item for _, item in taken])


def new_contents(
    builder: Builder, op: Op, kind: type, slots: dict[Any, Slot] | None = None
) -> Value:
    """Note that an operation makes a container, and return that."""
    x = op.target
    x.contents = Contents(kind, dict(slots or {}), owners=[x])
    x.made = op.required = True
    return x


def kept(builder: Builder, x: Value) -> Value:
    """Return a value as a container can keep it."""
    if x in builder.iterators:
        raise Unsound.ITERATOR(
            "it puts an iterator into a list, dict or object: make a list of it first"
        )
    if x.contents is not None:
        return x
    if x.fields is not None and x.where is None:
        return hold_object(builder, x)
    if x.where is not None or isinstance(x.fact, ListOf):
        raise NotSupported.STORED(
            "it stores a list or object that it did not create in a list, dict or set that changes"
        )
    if type(x.sample) in (tuple, list, dict):
        return hold(builder, x)
    if not (x.is_scalar or x.is_array or isinstance(x.sample, str | None)):
        raise NotSupported.STORED(
            f"it stores {an(type(x.sample).__name__)} in a list, dict or set that changes"
        )
    if x.active and not x.is_array and not (isinstance(x.fact, Scalar) and x.fact.classes & FLOATS):
        raise Unsound.NO_FLOAT(
            "it stores a differentiated value that is not a float in a list, dict or set that "
            "changes"
        )
    if x.is_scalar and may_be_complex(x.fact):
        raise NotSupported.STORED(
            "it stores a complex number in a list, dict or set that changes: store an array"
        )
    builder.note_moved([x])
    return x


def hold_object(builder: Builder, x: Value) -> Value:
    """Have the code make an object where it was made: its attributes are entries from here on."""
    kind, fields = type(x.sample), x.fields or {}
    is_whole = is_named(x) or HELD in fields
    if is_whole or isinstance(x.sample, type | StandIn) or x in builder.making:
        raise NotSupported.STORED(
            f"it stores {an(kind.__name__)} in a list, dict or set that changes"
        )
    home, outer = builder.homes.get(x), builder.out
    (block,) = builder.held_from or [outer]
    elsewhere = home is not block and x in builder.assigned  # since then
    if home is None or elsewhere or x.moved or x.scope is not builder.loop:
        raise NotSupported.STORED(
            "it stores an object in a list, dict or set in another loop than the one that made "
            "the object"
        )
    if any(holds(value, x) for value in fields.values()):
        raise NotSupported.CONTAINER(f"{an(kind.__name__)} contains itself")
    builder.changing(x)
    builder.out = home
    try:
        parts = {name: kept(builder, value) for name, value in fields.items()}
        stem = builder.titles.get(x, kind.__name__.lower())
        op = builder.write(Result(x.fact, None), HeldObject, [mapping(parts)], {}, stem)
    finally:
        builder.out = outer
    made = new_contents(builder, op, kind)
    contents_in(made).is_record = True
    for name, part in parts.items():
        note_item(builder, made, name, part)
    _mirror_display(op, {name: part for name, part in parts.items() if part.active})
    x.name, x.contents, x.fields, x.made = made.name, made.contents, None, True
    contents_in(x).owners[:] = [x]
    builder.objects.remove(x)
    builder.definitions.pop(made)
    op.target, builder.definitions[x] = x, op
    return x


def note_item(builder: Builder, x: Value, key: Any, item: Value) -> None:
    """Note that a container holds an item."""
    add_slot(builder.changed, contents_in(x), key, slot_of(item))


def note_key(builder: Builder, x: Value, key: Value) -> None:
    """Note that a dict has a key."""
    add_key(builder.changed, contents_in(x), _slot_of_key(key))


def _slot_of_key(key: Value) -> Slot:
    items = known_items(key) if type(key.sample) is tuple else None
    if items is None:
        return slot_of(key)
    parts = {i: _slot_of_key(part) for i, part in enumerate(items)}
    return Slot(Other(tuple), key.sample, False, Contents(tuple, parts))


def refuse_inside(xs: list[Value]) -> None:
    """Refuse to give containers to a function of which it is not known what it does with them."""
    if any(leaf.contents is not None for x in xs for leaf in leaves(x)):
        raise NotSupported.CONTAINER(
            "it passes a list, dict or set that changes to a function that may keep it"
        )


# -- the reverse pass --------------------------------------------------------------------------


def mirror(op: Op, back: Any, operands: list[Value]) -> None:
    """Give an operation a reverse that undoes it in the shadow."""
    op.required, op.reverse_rule, op.active_operands = True, Mirror(back), operands


def computed(builder: Builder, result: Result, f: Any, *xs: Value, stem: str = "") -> Value:
    """Write a call in the reverse pass, and return its value."""
    op = builder.write(result, f, [*xs], {}, stem)
    op.required = True
    return op.target


def shadow(builder: Builder, x: Value) -> Value:
    """Return the shadow of a container."""
    known = ("shadow", x)
    if known not in builder.known:
        assert builder.shadows is not None
        result = Result(Other(list), [])
        made = computed(builder, result, shadow_of, builder.shadows, x, stem=f"d{x.name}")
        builder.known[known] = made
    return builder.known[known]


def zero_for(x: Value | Slot) -> Value:
    """Return what a shadow has for an item that no gradient has reached."""
    return constant(0.0 if isinstance(x.fact, Scalar) else None)


def taken_cotangent(builder: Builder, x: Value, key: Value, item: Value) -> Value:
    """Take the cotangent of an item from a shadow, which then has none there."""
    if is_held_dict(x):
        return cotangent(builder, item, take_entry, shadow(builder, x), key)
    return cotangent(builder, item, take_item, shadow(builder, x), key, zero_for(item))


def cotangent(builder: Builder, item: Value, f: Any, *xs: Value) -> Value:
    """Write a call that takes the cotangent of an item out of a shadow."""
    if item.is_array:
        d = computed(builder, Result(item.fact, item.sample), f, *xs)
        d = computed(builder, Result(item.fact, item.sample), zeros_or, d, item)
    else:
        d = computed(builder, Result(Scalar(FLOATS), 1.0), f, *xs)
        if f is take_entry:
            d = computed(builder, Result(Scalar(FLOATS), 1.0), number_or, d)
    d.fresh = False
    return projected(builder, d, item)
