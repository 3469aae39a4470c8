"""Methods of lists and deques that are held, each with what undoes it."""

import operator
from collections import deque
from collections.abc import Callable
from typing import Any

from zygote_lite._ir.traits import COMPARING
from zygote_lite._specialize.infer.held.changes import note_change
from zygote_lite._specialize.infer.held.containers import (
    NO_RESULT,
    computed,
    cotangent,
    kept,
    mirror,
    note_item,
    shadow,
    zero_for,
)
from zygote_lite._specialize.infer.held.items import refuse_place, slot_value, taken
from zygote_lite._specialize.infer.held.new_lists import (
    SOME_LIST,
    list_length,
    listed,
    share_items,
    slot_in,
)
from zygote_lite._specialize.infer.iteration.known import Several, known_items
from zygote_lite._specialize.rules.contributions import Contribution
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.contents import ANY, contents_in, holds_active
from zygote_lite._specialize.typed.facts import ArrayOf, Scalar
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
from zygote_lite._specialize.typed.values import Value, constant


def changed_in_place(
    builder: Builder, f: Any, xs: list[Value], undo: Callable[[Builder], Value],
    added: Value | None = None, resizes: bool = True,
) -> Value:  # fmt: skip
    """Write a call that changes a container, with what undoes it where its items carry gradients.

    Arguments:
        builder, f, xs: the call; the first operand is the container.
        undo: writes what undoes it in the shadow; of a value that was `added`, it returns the
            cotangent.
        added: that value.
        resizes: whether the container gets another length.
    """
    x = xs[0]
    note_change(builder, x)
    if resizes:
        note_resized(builder, x)
    op = builder.write(NO_RESULT, f, xs, {})
    operands = [added] if added is not None and added.active else []

    def back(builder: Builder, _: Value | None) -> list[Contribution]:
        d = undo(builder) if holds_active(contents_in(x)) else None
        return [d] if operands and d is not None else []

    mirror(op, back, operands)
    return constant(None)


def note_resized(builder: Builder, x: Value) -> None:
    """Note that a container gets another length: no loop may walk over it."""
    builder.resized.append(contents_in(x))
    if x in builder.walked:
        raise Unsound.CHANGES_WHAT_IT_WALKS(
            "it changes the length of a list while it iterates over it"
        )


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

    def undo(builder: Builder) -> Value:
        given = value if value.active else slot_value(slot_in(builder, x))
        return cotangent(builder, given, pop, shadow(builder, x))

    return changed_in_place(builder, f, [x, value], undo, value)


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

    def undo(builder: Builder) -> Value:
        given = value if value.active else slot_value(slot_in(builder, x))
        return cotangent(builder, given, take_out, shadow(builder, x), index)

    return changed_in_place(builder, contents_in(x).kind.insert, [x, index, value], undo, value)


def extend_one_by_one(x: Any, more: Any) -> None:
    """Stand for `x.extend(more)` of what is taken as it is appended."""
    for value in more:
        x.append(value)


def list_extend(builder: Builder, x: Value, more: Value) -> Value:
    """Write `x.extend(more)`."""
    items = known_items(more)
    if items is not None and more not in builder.iterators:
        for one in [*items]:
            list_append(builder, x, one)
        return constant(None)
    if isinstance(more.sample, Several | Iterator):  # which may look at what is extended
        return builder.inline(extend_one_by_one, [x, more], {})
    y = listed(builder, more, hinted=True)
    if contents_in(y).slots:
        share_items(builder, x, y)
    count = list_length(builder, y)

    def undo(builder: Builder) -> Value:
        tail = computed(builder, SOME_LIST, cut_off, shadow(builder, x), count)
        return _added_to_shadow(builder, y, tail)

    changed_in_place(builder, contents_in(x).kind.extend, [x, y], undo)
    x.sample.extend(y.sample)
    return constant(None)


def list_remove(builder: Builder, x: Value, index: Value) -> Value:
    """Write `del x[index]`."""
    put: Any = put_zeros
    at = [index]
    if isinstance(index.sample, slice):
        at.append(list_length(builder, x))
    else:
        refuse_place(index)
        put = put_back

    def undo(builder: Builder) -> Value:
        zero = zero_for(slot_in(builder, x))
        return computed(builder, NO_RESULT, put, shadow(builder, x), *at, zero)

    return changed_in_place(builder, operator.delitem, [x, index], undo)


def store_slice(builder: Builder, x: Value, part: Value, value: Value) -> None:
    """Write `x[i:j] = value`."""
    y = listed(builder, value)
    if contents_in(y).slots:
        share_items(builder, x, y)
    count = list_length(builder, x)

    def undo(builder: Builder) -> Value:
        given = [shadow(builder, x), part, count, zero_for(slot_in(builder, x))]
        return _added_to_shadow(builder, y, computed(builder, SOME_LIST, undo_slice, *given))

    changed_in_place(builder, operator.setitem, [x, part, y], undo)


def _added_to_shadow(builder: Builder, y: Value, tail: Value) -> Value:
    """Add the cotangents of the items that another list has given to the shadow of that."""
    if holds_active(contents_in(y)):
        computed(builder, NO_RESULT, add_all, shadow(builder, y), tail)
    return tail


def list_clear(builder: Builder, x: Value) -> Value:
    """Write `x.clear()`."""
    count = list_length(builder, x)

    def undo(builder: Builder) -> Value:
        zero = zero_for(slot_in(builder, x))
        return computed(builder, NO_RESULT, fill, shadow(builder, x), count, zero)

    return changed_in_place(builder, contents_in(x).kind.clear, [x], undo)


def list_reverse(builder: Builder, x: Value) -> Value:
    """Write `x.reverse()`."""
    f = contents_in(x).kind.reverse

    def undo(builder: Builder) -> Value:
        return computed(builder, NO_RESULT, f, shadow(builder, x))

    return changed_in_place(builder, f, [x], undo, resizes=False)


def list_sort(
    builder: Builder, x: Value, kws: dict[str, Value], keys: Value | None = None
) -> Value:
    """Write `x.sort()`: the places of the items in their order, and the items in it."""
    kws = {"reverse": kws["reverse"]} if "reverse" in kws else {}
    if any(not isinstance(k.fact, Scalar) for k in kws.values()):
        raise NotSupported.METHOD("it sorts a list with options that are not constants")
    by = x if keys is None else keys
    refuse_arrays(by)
    order = builder.write(SOME_LIST, places_sorted, [by], kws).target

    def undo(builder: Builder) -> Value:
        return computed(builder, NO_RESULT, arrange_back, shadow(builder, x), order)

    return changed_in_place(builder, arrange, [x, order], undo, resizes=False)


def refuse_arrays(x: Value) -> None:
    """Refuse to compare items that are, or hold, arrays, or objects whose class compares them."""
    waiting, seen = [contents_in(x)], []
    while waiting:
        contents = waiting.pop()
        seen.append(contents)
        if contents.is_record:
            if any(getattr(contents.kind, name) is not getattr(object, name) for name in COMPARING):
                raise NotSupported.LIST_OPERATION(
                    "it sorts or compares a list of objects: use `key` with a number"
                )
            continue
        for slot in contents.slots.values():
            if isinstance(slot.fact, ArrayOf):
                raise NotSupported.LIST_OPERATION(
                    "it sorts or compares a list of arrays: use `key` with a number"
                )
            inner = slot.contents
            if inner is not None and inner not in seen:
                waiting.append(inner)
