"""Methods and operators of lists and deques that are held, each with what undoes it."""

import operator
from collections import deque
from collections.abc import Callable
from typing import Any

from zygote_lite._specialize.infer.held.containers import (
    NO_RESULT,
    ONE_INT,
    computed,
    cotangent,
    hold,
    kept,
    mirror,
    new_contents,
    note_item,
    refuse_given,
    refuse_place,
    shadow,
    slot_value,
    taken,
    zero_for,
)
from zygote_lite._specialize.infer.models.items import Several, known_items
from zygote_lite._specialize.rules.contributions import Contribution
from zygote_lite._specialize.typed.abstract_eval import Result
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.contents import ANY, Slot, contents_in, holds_active
from zygote_lite._specialize.typed.facts import ArrayOf, Other, Scalar
from zygote_lite._specialize.typed.nodes import Op
from zygote_lite._specialize.typed.reasons import NotSupported, Unsound
from zygote_lite._specialize.typed.shadows import (
    add_all,
    arrange,
    arrange_back,
    cut_off,
    fill,
    places_sorted,
    put_back,
    put_zeros,
    take_out,
    undo_slice,
)
from zygote_lite._specialize.typed.stand_ins import Iterator
from zygote_lite._specialize.typed.structures import structure
from zygote_lite._specialize.typed.values import Value, constant

_XX = "a list is changed"


def slot_in(builder: Builder, x: Value) -> Slot:
    """Return what holds for the items of a list; leave the code where it has had none so far."""
    slot = contents_in(x).slots.get(ANY)
    if slot is None:
        builder.leave()
    return slot


def changed_list(
    builder: Builder, f: Any, xs: list[Value], back: Callable[[Builder], list[Contribution]],
    operands: list[Value] | None = None, resizes: bool = True,
) -> Op:  # fmt: skip
    """Write a call that changes a list, with what undoes it where its items carry gradients."""
    x = xs[0]
    refuse_given(builder, x)
    if resizes:
        note_resized(builder, x)
    op = builder.write(NO_RESULT, f, xs, {})

    def undo(builder: Builder, _: Value | None) -> list[Contribution]:
        return back(builder) if holds_active(contents_in(x)) else []

    mirror(op, undo, [y for y in operands or [] if y.active])
    return op


def note_resized(builder: Builder, x: Value) -> None:
    """Note that a container gets another length: no loop may walk over it."""
    builder.resized.append(contents_in(x))
    if x in builder.walked:
        raise Unsound.CHANGES_WHAT_IT_WALKS("it changes the length of a list that it walks over")


def list_length(builder: Builder, x: Value) -> Value:
    """Write `len(x)`."""
    found = builder.write(Result(ONE_INT.fact, max(1, len(x.sample))), len, [x], {}).target
    return found


# -- methods -----------------------------------------------------------------------------------


def list_append(builder: Builder, x: Value, value: Value, first: bool = False) -> Value:
    """Write `x.append(value)`, or `x.appendleft(value)`."""
    value = kept(builder, value)
    kind = contents_in(x).kind
    note_item(builder, x, ANY, value)
    for lengths in builder.grown if kind is list else []:
        lengths.setdefault(x, len(x.sample))
    x.sample.append(value.sample)
    f: Any = kind.append if not first else deque.appendleft
    pop = kind.pop if not first else deque.popleft

    def back(builder: Builder) -> list[Contribution]:
        given = value if value.active else slot_value(slot_in(builder, x))
        d = cotangent(builder, given, pop, shadow(builder, x))
        return [d] if value.active else []

    changed_list(builder, f, [x, value], back, [value])
    return constant(None)


def list_pop(builder: Builder, x: Value, index: Value | None = None, first: bool = False) -> Value:
    """Write `x.pop()`, `x.pop(index)` or `x.popleft()`."""
    slot, kind = slot_in(builder, x), contents_in(x).kind
    if index is not None:
        refuse_place(index)
    refuse_given(builder, x)
    note_resized(builder, x)
    f: Any = deque.popleft if first else kind.pop
    op = taken(builder, slot, f, [x] if index is None else [x, index])
    if len(x.sample) > 1:
        x.sample.pop()

    def back(builder: Builder, dy: Value | None) -> list[Contribution]:
        if not holds_active(contents_in(x)):
            return []
        d = zero_for(slot_in(builder, x)) if dy is None else dy
        if index is None:
            put = deque.appendleft if first else kind.append
            computed(builder, NO_RESULT, put, shadow(builder, x), d)
        else:
            computed(builder, NO_RESULT, put_back, shadow(builder, x), index, d)
        return []

    mirror(op, back, [])
    return op.target


def list_insert(builder: Builder, x: Value, index: Value, value: Value) -> Value:
    """Write `x.insert(index, value)`."""
    value = kept(builder, value)
    refuse_place(index)
    note_item(builder, x, ANY, value)
    x.sample.append(value.sample)

    def back(builder: Builder) -> list[Contribution]:
        given = value if value.active else slot_value(slot_in(builder, x))
        d = cotangent(builder, given, take_out, shadow(builder, x), index)
        return [d] if value.active else []

    changed_list(builder, contents_in(x).kind.insert, [x, index, value], back, [value])
    return constant(None)


def list_extend(builder: Builder, x: Value, more: Value) -> Value:
    """Write `x.extend(more)`."""
    items = known_items(more)
    if items is not None and more not in builder.iterators:
        for one in [*items]:
            list_append(builder, x, one)
        return constant(None)
    y = listed(builder, more, hinted=True)
    if contents_in(y).slots:
        _share(builder, x, y)
    count = list_length(builder, y)

    def back(builder: Builder) -> list[Contribution]:
        tail = computed(builder, SOME_LIST, cut_off, shadow(builder, x), count)
        if holds_active(contents_in(y)):
            computed(builder, NO_RESULT, add_all, shadow(builder, y), tail)
        return []

    changed_list(builder, contents_in(x).kind.extend, [x, y], back)
    x.sample.extend(y.sample)
    return constant(None)


SOME_LIST = Result(Other(list), [])


def _share(builder: Builder, x: Value, y: Value) -> None:
    """Note that one list holds what another holds."""
    slot = slot_in(builder, y)
    value = Value(slot.fact, slot.sample)
    value.active, value.contents = slot.active, slot.contents
    note_item(builder, x, ANY, value)


def list_remove(builder: Builder, x: Value, index: Value) -> Value:
    """Write `del x[index]`."""
    if isinstance(index.sample, slice):
        count = list_length(builder, x)

        def back(builder: Builder) -> list[Contribution]:
            zero = zero_for(slot_in(builder, x))
            computed(builder, NO_RESULT, put_zeros, shadow(builder, x), index, count, zero)
            return []
    else:
        refuse_place(index)

        def back(builder: Builder) -> list[Contribution]:
            computed(
                builder,
                NO_RESULT,
                put_back,
                shadow(builder, x),
                index,
                zero_for(slot_in(builder, x)),
            )
            return []

    changed_list(builder, operator.delitem, [x, index], back)
    return constant(None)


def store_slice(builder: Builder, x: Value, part: Value, value: Value) -> None:
    """Write `x[i:j] = value`."""
    y = listed(builder, value)
    if contents_in(y).slots:
        _share(builder, x, y)
    count = list_length(builder, x)

    def back(builder: Builder) -> list[Contribution]:
        given = [shadow(builder, x), part, count, zero_for(slot_in(builder, x))]
        tail = computed(builder, SOME_LIST, undo_slice, *given)
        if holds_active(contents_in(y)):
            computed(builder, NO_RESULT, add_all, shadow(builder, y), tail)
        return []

    changed_list(builder, operator.setitem, [x, part, y], back)


def list_clear(builder: Builder, x: Value) -> Value:
    """Write `x.clear()`."""
    count = list_length(builder, x)

    def back(builder: Builder) -> list[Contribution]:
        computed(builder, NO_RESULT, fill, shadow(builder, x), count, zero_for(slot_in(builder, x)))
        return []

    changed_list(builder, contents_in(x).kind.clear, [x], back)
    return constant(None)


def list_reverse(builder: Builder, x: Value) -> Value:
    """Write `x.reverse()`."""
    kind = contents_in(x).kind

    def back(builder: Builder) -> list[Contribution]:
        computed(builder, NO_RESULT, kind.reverse, shadow(builder, x))
        return []

    changed_list(builder, kind.reverse, [x], back, resizes=False)
    return constant(None)


def list_sort(
    builder: Builder, x: Value, kws: dict[str, Value], keys: Value | None = None
) -> Value:
    """Write `x.sort()`: the places of the items in their order, and the items in it."""
    kws = {"reverse": kws["reverse"]} if "reverse" in kws else {}
    if any(not isinstance(k.fact, Scalar) for k in kws.values()):
        raise NotSupported.METHOD("it sorts in an order that is not known")
    by = x if keys is None else keys
    refuse_arrays(by)
    order = builder.write(SOME_LIST, places_sorted, [by], kws).target

    def back(builder: Builder) -> list[Contribution]:
        computed(builder, NO_RESULT, arrange_back, shadow(builder, x), order)
        return []

    changed_list(builder, arrange, [x, order], back, resizes=False)
    return constant(None)


def refuse_arrays(x: Value) -> None:
    """Refuse to compare the items of a list that are, or hold, arrays."""
    waiting, seen = [contents_in(x)], []
    while waiting:
        contents = waiting.pop()
        seen.append(contents)
        for slot in contents.slots.values():
            if isinstance(slot.fact, ArrayOf):
                raise NotSupported.LIST_OPERATION("it compares arrays in a list")
            inner = slot.contents
            if inner is not None and inner not in seen:
                waiting.append(inner)


# -- new lists ---------------------------------------------------------------------------------


def like(builder: Builder, x: Value, f: Any, xs: list[Value], sample: Any, stem: str = "") -> Op:
    """Write a call that gives a new list of items of another, and return it."""
    op = builder.write(Result(Other(list), sample), f, xs, {}, stem)
    slots = contents_in(x).slots
    new_contents(builder, op, list, {ANY: slots[ANY]} if ANY in slots else {})
    return op


def part_of(builder: Builder, x: Value, part: Value | None, stem: str = "") -> Value:
    """Write `x[i:j]`, or `list(x)`, a new list."""
    whole = structure(slice, [constant(None)] * 3)
    index = whole if part is None else part
    if part is None:
        op = like(builder, x, list, [x], [*x.sample], stem)
    else:
        given = part.sample if isinstance(part.sample, slice) else slice(None)
        sample = [*x.sample][given] or [*x.sample][:1]
        op = like(builder, x, operator.getitem, [x, index], sample, stem)

    def back(builder: Builder, _: Value | None) -> list[Contribution]:
        if holds_active(contents_in(op.target)):
            given = [shadow(builder, x), shadow(builder, op.target)]
            given += [] if part is None else [part]
            computed(builder, NO_RESULT, add_all, *given)
        return []

    mirror(op, back, [])
    return op.target


def lists_joined(builder: Builder, a: Value, b: Value) -> Value:
    """Write `a + b`, a new list."""
    a, b = hold(builder, a), hold(builder, b)
    first = list_length(builder, a)
    op = like(builder, a, operator.add, [a, b], [*a.sample, *b.sample])
    if contents_in(b).slots:
        _share(builder, op.target, b)
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

    def back(builder: Builder, _: Value | None) -> list[Contribution]:
        if holds_active(contents_in(op.target)):
            given = [shadow(builder, x), shadow(builder, op.target), size]
            computed(builder, NO_RESULT, add_repeated, *given)
        return []

    mirror(op, back, [])
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
    if x.contents is not None and contents_in(x).kind is deque:
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
    if isinstance(x.sample, Several | Iterator) or x.is_array or x.contents is not None:
        builder.iterators.pop(x, None)
        return hold(builder, builder.inline(in_list, [x], {}))
    if x.is_object:
        return listed(builder, builder.iterator(x, hinted))
    raise NotSupported.ITERATION(f"it makes a list of a {type(x.sample).__name__}")


def in_list(items: Any) -> list[Any]:
    """Return a list of what an iterable gives."""
    found = []
    for one in items:
        found.append(one)
    return found


def _display_of(builder: Builder, items: list[Value]) -> Value:
    made = builder.build("list", [*items])
    return hold(builder, made)
