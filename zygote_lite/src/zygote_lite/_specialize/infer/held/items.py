"""Items of containers that are held: read, and written."""

import operator
from dataclasses import dataclass
from typing import Any

from zygote_lite._specialize.infer.held.changes import note_change
from zygote_lite._specialize.infer.held.containers import (
    NO_RESULT,
    computed,
    is_held_dict,
    kept,
    mirror,
    note_item,
    note_key,
    shadow,
    taken_cotangent,
)
from zygote_lite._specialize.infer.iteration.known import known_items
from zygote_lite._specialize.rules.contributions import Contribution
from zygote_lite._specialize.typed.abstract_eval import Result
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.contents import ANY, Slot, contents_in, spread
from zygote_lite._specialize.typed.facts import INTS, TRUTHS, Scalar
from zygote_lite._specialize.typed.nodes import Op, leaves
from zygote_lite._specialize.typed.reasons import NotSupported, Unsound
from zygote_lite._specialize.typed.runtime import add_item
from zygote_lite._specialize.typed.shadows import add_entry, add_number
from zygote_lite._specialize.typed.stand_ins import Key, StandIn
from zygote_lite._specialize.typed.structures import structure
from zygote_lite._specialize.typed.values import Value, constant


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
            raise NotSupported.ITEM(
                "it takes an item of a tuple at an index that is not a constant"
            )
        at = index.sample + len(slots) * (index.sample < 0)
        if at not in slots:
            raise Unsound.RAISES("an index of a tuple is out of range")
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
        raise Unsound.KEY("a key of a dict is not a number, text or a tuple of these")


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
    if issubclass(contents_in(x).kind, tuple):
        raise Unsound.RAISES("it assigns an item of a tuple")
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
