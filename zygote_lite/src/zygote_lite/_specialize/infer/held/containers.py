"""Containers that the code makes, and changes, as it runs: in any block, under any name.

A list, dict or tuple whose items are known one by one is a structure, until something is done to it
that only an object can take: then it is made where it was built, and is `held` from there on. What
is known of what it holds is shared by all that may be the same container (`typed.contents`). Its
cotangent is a shadow (`typed.shadows`), so aliases need no care.
"""

import operator
from dataclasses import dataclass
from typing import Any

from zygote_lite._specialize.infer.held.changes import note_change
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
    slot_of,
    spread,
)
from zygote_lite._specialize.typed.facts import (
    FLOATS,
    INTS,
    TRUTHS,
    ListOf,
    Other,
    Scalar,
    may_be_complex,
)
from zygote_lite._specialize.typed.nodes import Op, assigned_by, leaves
from zygote_lite._specialize.typed.reasons import NotSupported, Unsound
from zygote_lite._specialize.typed.runtime import add_item, as_it_is, zeros_or
from zygote_lite._specialize.typed.shadows import (
    add_entry,
    add_number,
    number_or,
    shadow_of,
    take_entry,
    take_item,
)
from zygote_lite._specialize.typed.stand_ins import Key, StandIn
from zygote_lite._specialize.typed.structures import mapping, structure
from zygote_lite._specialize.typed.values import Value, constant

_MUTABLE = (list, dict)
ONE_INT = Result(Scalar(frozenset((int,))), 1)
NO_RESULT = Result(Other(type(None)), None)


def is_held(x: Value) -> bool:
    """Return whether a value is a container that the code makes as it runs."""
    return x.contents is not None


def is_held_dict(x: Value) -> bool:
    """Return whether a container is a dict of any class."""
    return issubclass(contents_in(x).kind, dict)


def may_be_held(builder: Builder, x: Value) -> bool:
    """Return whether a value is a structure that can be held from here on."""
    if not builder.held or x.items is None or type(x.sample) not in _MUTABLE:
        return False
    return x in builder.homes and not (x.scope is not None and x.scope.is_closed)


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
        raise NotSupported.CONTAINER(f"a {type(x.sample).__name__} is made, or changed, elsewhere")
    if x in builder.walked or x in builder.keyed:
        raise Unsound.CHANGES_WHAT_IT_WALKS("it changes what it walks over")
    builder.changing(x)
    outer = builder.out, builder.loop, builder.grown, builder.origin
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
    items = whole.items or []
    pairs: list[tuple[Any, Value]] = [*enumerate(items)]
    if kind is dict:
        pairs = [(k.sample, v) for k, v in zip(items[::2], items[1::2], strict=True)]
    x = new_contents(builder, op, kind)
    for key, item in pairs:
        note_item(builder, x, ANY if kind is list else key, item)
        if kind is dict:
            note_key(builder, x, constant(key))
    taken = [(constant(key), item) for key, item in pairs if item.active]

    def back(builder: Builder, _: Value | None) -> list[Contribution]:
        return [taken_cotangent(builder, op.target, key, item) for key, item in taken]

    mirror(op, back, [item for _, item in taken])
    return x


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
        raise Unsound.ITERATOR("a container holds an iterator, which can be walked over only once")
    if x.contents is not None:
        return x
    if x.fields is not None or x.where is not None or isinstance(x.fact, ListOf):
        raise NotSupported.STORED("a container holds an object")
    if type(x.sample) in (tuple, list, dict):
        return hold(builder, x)
    if not (x.is_scalar or x.is_array or isinstance(x.sample, str | None)):
        raise NotSupported.STORED(f"a container holds a {type(x.sample).__name__}")
    if x.active and not x.is_array and not (isinstance(x.fact, Scalar) and x.fact.classes & FLOATS):
        raise Unsound.NO_FLOAT("a container holds what depends on an argument, and is no float")
    if x.is_scalar and may_be_complex(x.fact):
        raise NotSupported.STORED("a container holds a complex number")
    builder.note_moved([x])
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
        raise NotSupported.CONTAINER("a container that changes is given to a function")


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


@dataclass(eq=False)
class ReadRule:
    """Through `x[index]` of a container: the cotangent is added to that in the shadow."""

    x: Value
    index: Value

    def back(self, builder: Builder, dy: Value) -> list[Contribution]:
        """Write the sum."""
        add: Any = add_item if dy.is_array else add_number
        if is_held_dict(self.x):
            add = add_entry
        computed(builder, NO_RESULT, add, shadow(builder, self.x), self.index, dy)
        return []


# -- reading and writing items -----------------------------------------------------------------


def taken(builder: Builder, slot: Slot, f: Any, xs: list[Value], stem: str = "") -> Op:
    """Write a call that gives an item, and return it."""
    sample = [*slot.sample] if type(slot.sample) is list else slot.sample
    op = builder.write(Result(slot.fact, sample), f, xs, {}, stem)
    y = op.target
    y.contents = slot.contents
    y.active = slot.active
    if y.is_array:
        y.fresh = False
    return op


def held_item(builder: Builder, x: Value, index: Value, stem: str = "") -> Value:
    """Write `x[index]`."""
    contents = contents_in(x)
    if contents.kind is tuple and isinstance(index.sample, slice) and index.is_constant:
        places = range(len(contents.slots))[index.sample]
        return structure(tuple, [held_item(builder, x, constant(i)) for i in places])
    op = taken(builder, slot_at(builder, x, index), operator.getitem, [x, index], stem)
    if op.target.active:
        op.reverse_rule = ReadRule(x, index)
    return op.target


def slot_at(builder: Builder, x: Value, index: Value) -> Slot:
    """Return what is known of `x[index]`."""
    contents = contents_in(x)
    slots = contents.slots
    if contents.kind is tuple:
        if not index.is_constant or type(index.sample) is not int:
            raise NotSupported.ITEM("it takes an item of a tuple that is not known")
        at = index.sample + len(slots) * (index.sample < 0)
        if at not in slots:
            raise Unsound.RAISES("it takes an item that does not exist")
        return slots[at]
    key: Any = ANY
    if is_held_dict(x):
        refuse_key(index)
        if index.is_constant and ANY not in slots and slots:
            key = index.sample
        else:
            note_unknown_key(builder, x)
            slots = contents_in(x).slots
    else:
        refuse_place(index)
    if key not in slots:
        builder.leave()
    return slots[key]


def note_unknown_key(builder: Builder, x: Value) -> None:
    """Note that any key of a dict may be meant."""
    spread(builder.changed, contents_in(x))


def refuse_place(index: Value) -> None:
    """Refuse an index of a list that is not an integer."""
    if not isinstance(index.fact, Scalar) or not index.fact.classes <= INTS | TRUTHS:
        raise NotSupported.LIST_OPERATION("it indexes a list by something other than an integer")


def refuse_key(key: Value) -> None:
    """Refuse a key of a dict that depends on an argument, or has an equality of its own."""
    if any(leaf.active for leaf in leaves(key)):
        raise Unsound.KEY("a key of a dict depends on a differentiated argument")
    items = known_items(key) if type(key.sample) is tuple else None
    if items is not None:
        for part in items:
            refuse_key(part)
        return
    plain = key.is_scalar or isinstance(key.sample, str | Key | None)
    if key.contents is not None and contents_in(key).kind is tuple:
        plain = all(
            slot.contents is None and isinstance(slot.fact, Scalar) and not slot.active
            for slot in contents_in(key).slots.values()
        )
    if not plain or (isinstance(key.sample, StandIn) and type(key.sample) is not Key):
        raise Unsound.KEY("a key of a dict is no number or text, and no tuple of those")


def key_of(builder: Builder, x: Value, index: Value) -> Any:
    """Return the key of the slot that a write to an item belongs to."""
    contents = contents_in(x)
    if not is_held_dict(x):
        refuse_place(index)
        return ANY
    refuse_key(index)
    note_key(builder, x, index)
    if index.is_constant and ANY not in contents.slots:
        return index.sample
    return ANY


def store_held(builder: Builder, x: Value, index: Value, value: Value) -> None:
    """Write `x[index] = value`."""
    if contents_in(x).kind is tuple:
        raise Unsound.RAISES("it writes to an item of a tuple")
    note_change(builder, x)
    value = kept(builder, value)
    note_item(builder, x, key_of(builder, x, index), value)
    if contents_in(x).kind is list and x.sample and not isinstance(index.sample, slice):
        x.sample[-1] = value.sample
    op = builder.write(NO_RESULT, operator.setitem, [x, index, value], {})

    def back(builder: Builder, _: Value | None) -> list[Contribution]:
        slots = contents_in(x).slots
        slot = slots.get(ANY) or slots[index.sample]
        if not slot.active:
            return []
        d = taken_cotangent(builder, x, index, value if value.active else slot_value(slot))
        return [d] if value.active else []

    mirror(op, back, [value] if value.active else [])


def slot_value(slot: Slot) -> Value:
    """Return a value that stands for an item of which nobody needs the cotangent."""
    return (
        Value(Scalar(frozenset((float,))), 1.0) if isinstance(slot.fact, Scalar) else constant(None)
    )
