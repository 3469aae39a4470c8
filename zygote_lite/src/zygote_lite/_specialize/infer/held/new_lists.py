"""New lists that are made of what others hold: parts, sums, copies, what iterables give."""

import operator
from collections import deque
from typing import Any

from rulescore.faults import an
from zygote_lite._specialize.infer.held.containers import (
    NO_RESULT,
    ONE_INT,
    computed,
    hold,
    is_held,
    mirror,
    new_contents,
    note_item,
    shadow,
)
from zygote_lite._specialize.infer.iteration.in_python import list_of_all
from zygote_lite._specialize.infer.iteration.known import Several, known_items
from zygote_lite._specialize.rules.contributions import Contribution
from zygote_lite._specialize.typed.abstract_eval import Result
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.contents import ANY, LongTuple, Slot, contents_in, holds_active
from zygote_lite._specialize.typed.facts import Other, Scalar
from zygote_lite._specialize.typed.nodes import Op
from zygote_lite._specialize.typed.reasons import NotSupported
from zygote_lite._specialize.typed.shadows import (
    add_all,
)
from zygote_lite._specialize.typed.stand_ins import Iterator
from zygote_lite._specialize.typed.structures import structure
from zygote_lite._specialize.typed.values import Value, constant

SOME_LIST = Result(Other(list), [])


def slot_in(builder: Builder, x: Value) -> Slot:
    """Return what holds for the items of a list; leave the code where it has had none so far."""
    slot = contents_in(x).slots.get(ANY)
    if slot is None:
        builder.leave()
    return slot


def list_length(builder: Builder, x: Value) -> Value:
    """Write `len(x)`."""
    return builder.write(Result(ONE_INT.fact, max(1, len(x.sample))), len, [x], {}).target


def share_items(builder: Builder, x: Value, y: Value) -> None:
    """Note that one list holds what another holds."""
    slot = slot_in(builder, y)
    value = Value(slot.fact, slot.sample)
    value.active, value.contents = slot.active, slot.contents
    note_item(builder, x, ANY, value)


def like(builder: Builder, x: Value, f: Any, xs: list[Value], sample: Any, stem: str = "") -> Op:
    """Write a call that gives a new list of items of another, and return it."""
    op = builder.write(Result(Other(list), sample), f, xs, {}, stem)
    slots = contents_in(x).slots
    new_contents(builder, op, list, {ANY: slots[ANY]} if ANY in slots else {})
    return op


def mirror_copy(op: Op, x: Value, add: Any, *more: Value) -> None:
    """Give an operation that makes a container of another the reverse that adds to the other's."""
    made = op.target

    def back(builder: Builder, _: Value | None) -> list[Contribution]:
        if holds_active(contents_in(made)):
            computed(builder, NO_RESULT, add, shadow(builder, x), shadow(builder, made), *more)
        return []

    mirror(op, back, [])


def part_of(builder: Builder, x: Value, part: Value | None, stem: str = "") -> Value:
    """Write `x[i:j]`, or `list(x)`, a new list."""
    if part is None:
        op = like(builder, x, list, [x], [*x.sample], stem)
    else:
        given = part.sample if isinstance(part.sample, slice) else slice(None)
        sample = [*x.sample][given] or [*x.sample][:1]
        op = like(builder, x, operator.getitem, [x, part], sample, stem)

    mirror_copy(op, x, add_all, *([] if part is None else [part]))
    return op.target


def tuple_of(builder: Builder, x: Value) -> Value:
    """Write `tuple(x)` of a list, whose length is not known."""
    op = builder.write(Result(Other(tuple), (*x.sample,)), tuple, [x], {})
    new_contents(builder, op, LongTuple, contents_in(x).slots)
    mirror_copy(op, x, add_all)
    return op.target


def lists_joined(builder: Builder, a: Value, b: Value) -> Value:
    """Write `a + b`, a new list."""
    a, b = hold(builder, a), hold(builder, b)
    first = list_length(builder, a)
    op = like(builder, a, operator.add, [a, b], [*a.sample, *b.sample])
    if contents_in(b).slots:
        share_items(builder, op.target, b)
    ends = [(constant(None), first), (first, constant(None))]
    parts = [structure(slice, [*end, constant(None)]) for end in ends]

    def back(builder: Builder, _: Value | None) -> list[Contribution]:
        for x, part in zip((a, b), parts, strict=True):
            if holds_active(contents_in(x)):
                d = computed(builder, SOME_LIST, operator.getitem, shadow(builder, op.target), part)
                computed(builder, NO_RESULT, add_all, shadow(builder, x), d)
        return []

    mirror(op, back, [])
    return op.target


def list_repeated(builder: Builder, x: Value, count: Value) -> Value:
    """Write `x * n`, a new list."""
    x = hold(builder, x)
    size = list_length(builder, x)
    times = count.sample if isinstance(count.sample, int) else 1
    op = like(builder, x, operator.mul, [x, count], [*x.sample] * max(1, min(times, 1000)))

    mirror_copy(op, x, add_repeated, size)
    return op.target


def repeat_in_place(x: Any, count: Any) -> None:
    """Stand for `x *= count`."""
    once = list(x)
    if count < 1:
        x.clear()
    for _ in range(count - 1):
        x.extend(once)


def add_repeated(d: list[Any], found: list[Any], size: int) -> None:
    """Add the cotangents of a list that was repeated."""
    for start in range(0, len(found), max(1, size)):
        add_all(d, found[start : start + size])


def listed(builder: Builder, x: Value, hinted: bool = False) -> Value:
    """Return a list of what an iterable gives: a list that is held itself.

    Where `hinted`, an object is asked for its length before.
    """
    if x.contents is not None and contents_in(x).kind is list:
        return x
    if x.contents is not None and contents_in(x).kind in (deque, LongTuple):
        return part_of(builder, x, None)
    if x.items is not None and type(x.sample) is list and x not in builder.iterators:
        return hold(builder, x) if x in builder.homes else _display_of(builder, x.items)
    items = known_items(x)
    if items is not None:
        return _display_of(builder, items)
    if type(x.sample) is range:
        op = builder.write(Result(Other(list), [*x.sample]), list, [x], {})
        slot = Slot(Scalar(frozenset((int,))), x.sample[0] if x.sample else 0, False)
        return new_contents(builder, op, list, {ANY: slot})
    if isinstance(x.sample, Several | Iterator) or x.is_array or is_held(x):
        builder.iterators.pop(x, None)
        return hold(builder, builder.inline(list_of_all, [x], {}))
    if x.is_object:
        return listed(builder, builder.iterator(x, hinted))
    raise NotSupported.ITERATION(f"it makes a list of {an(type(x.sample).__name__)}")


def _display_of(builder: Builder, items: list[Value]) -> Value:
    made = builder.build("list", [*items])
    return hold(builder, made)
