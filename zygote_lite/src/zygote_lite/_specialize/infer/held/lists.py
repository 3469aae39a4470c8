"""Methods of lists and deques that are held, each with what undoes it."""

import operator
from collections import deque
from collections.abc import Callable
from typing import Any

from zygote_lite._specialize.infer.held.changes import note_change
from zygote_lite._specialize.infer.held.containers import (
    NO_RESULT,
    computed,
    cotangent,
    kept,
    mirror,
    note_item,
    refuse_place,
    shadow,
    slot_value,
    taken,
    zero_for,
)
from zygote_lite._specialize.infer.held.new_lists import (
    SOME_LIST,
    list_length,
    listed,
    share_items,
    slot_in,
)
from zygote_lite._specialize.infer.iteration.known import known_items
from zygote_lite._specialize.rules.contributions import Contribution
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.contents import ANY, contents_in, holds_active
from zygote_lite._specialize.typed.facts import ArrayOf, Scalar
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
from zygote_lite._specialize.typed.values import Value, constant


def changed_list(
    builder: Builder, f: Any, xs: list[Value], back: Callable[[Builder], list[Contribution]],
    operands: list[Value] | None = None, resizes: bool = True,
) -> Op:  # fmt: skip
    """Write a call that changes a list, with what undoes it where its items carry gradients."""
    x = xs[0]
    note_change(builder, x)
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
    note_change(builder, x)
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
        share_items(builder, x, y)
    count = list_length(builder, y)

    def back(builder: Builder) -> list[Contribution]:
        tail = computed(builder, SOME_LIST, cut_off, shadow(builder, x), count)
        if holds_active(contents_in(y)):
            computed(builder, NO_RESULT, add_all, shadow(builder, y), tail)
        return []

    changed_list(builder, contents_in(x).kind.extend, [x, y], back)
    x.sample.extend(y.sample)
    return constant(None)


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
        share_items(builder, x, y)
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
