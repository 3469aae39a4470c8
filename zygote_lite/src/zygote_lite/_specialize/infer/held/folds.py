"""What reads containers that are held: questions, folds, and what sorts them."""

import operator
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from zygote_lite._python.library.folds import folded
from zygote_lite._specialize.infer.held import lists as _lists
from zygote_lite._specialize.infer.held import new_lists as _new_lists
from zygote_lite._specialize.infer.held.containers import (
    NO_RESULT,
    ONE_INT,
    computed,
    hold,
    is_held,
    mirror,
    shadow,
)
from zygote_lite._specialize.infer.held.items import held_item, taken
from zygote_lite._specialize.infer.held.new_lists import SOME_LIST, slot_in
from zygote_lite._specialize.infer.iteration.known import Several, as_they_are_now, known_items
from zygote_lite._specialize.rules.contributions import Contribution
from zygote_lite._specialize.typed.abstract_eval import Result, result_of, run
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.contents import Contents, LongTuple, Slot, contents_in
from zygote_lite._specialize.typed.facts import (
    UNKNOWN,
    ArrayOf,
    Other,
    Scalar,
    can_carry,
    may_be_complex,
)
from zygote_lite._specialize.typed.nodes import leaves
from zygote_lite._specialize.typed.reasons import NotSupported, Unsound
from zygote_lite._specialize.typed.shadows import (
    add_array,
    add_each,
    add_rows,
    add_to_places,
    places_equal,
)
from zygote_lite._specialize.typed.stand_ins import Local, LocalCache, Method, Partial, Super
from zygote_lite._specialize.typed.values import Value, constant

QUESTION = Result(Scalar(frozenset((bool,))), True)
Options = dict[str, Value]


def asks(f: Any, result: Result) -> Callable[..., Value | None]:
    """Return what writes a question about containers, which only reads them."""

    def ask(builder: Builder, xs: list[Value], kws: Options) -> Value | None:
        for x in xs:
            if x.contents is not None and f is not len:
                _lists.refuse_arrays(x)
        if any(not _can_be_asked(x) for x in xs) or kws:
            return None
        return builder.write(result, f, [*map(as_they_are_now, xs)], {}).target

    return ask


def _can_be_asked(x: Value) -> bool:
    inner = x.items is not None and type(x.sample) in (tuple, list)
    if inner:
        return all(map(_can_be_asked, x.items or []))
    plain = x.is_scalar or isinstance(x.sample, str | None)
    return x.fields is None and x.where is None and (x.contents is not None or plain)


def touches(x: Value) -> bool:
    """Return whether a value is a container that is held, or holds one."""
    if isinstance(x.sample, Several):
        return any(map(touches, x.sample.parts))
    return any(map(is_held, leaves(x)))


def sum_of(builder: Builder, xs: list[Value], kws: Options) -> Value | None:
    return None if kws else list_total(builder, _new_lists.listed(builder, xs[0]), xs[1:])


def product_of(builder: Builder, xs: list[Value], kws: Options) -> Value | None:
    return None if kws else builder.inline(folded, [constant(operator.mul), *xs, constant(1)], {})


def extreme_of(f: Any) -> Callable[..., Value | None]:
    def extreme(builder: Builder, xs: list[Value], kws: Options) -> Value | None:
        if len(xs) > 1 and not kws:
            given = [hold(builder, x) if x.items is not None else x for x in xs]
            xs = [hold(builder, builder.build("list", given))]
        if len(xs) != 1 or kws.keys() - {"key"}:
            return None
        x = _new_lists.listed(builder, xs[0])
        if not kws:
            return list_extreme(builder, f, x)
        keys = hold(builder, builder.inline(keys_by, [x, kws["key"]], {}))
        _lists.refuse_arrays(keys)
        place = builder.write(ONE_INT, _PLACES[f], [keys], {}).target
        return held_item(builder, x, place)

    return extreme


def keys_by(xs: Any, key: Any) -> list[Any]:
    """Return what a function gives of each item."""
    found = []
    for x in xs:
        found.append(key(x))
    return found


def sorted_of(builder: Builder, xs: list[Value], kws: Options) -> Value | None:
    x = _new_lists.listed(builder, xs[0])
    if x is xs[0]:
        x = _new_lists.part_of(builder, x, None)
    sort_held(builder, x, kws)
    return x


def sort_held(builder: Builder, x: Value, kws: Options) -> Value:
    """Write `x.sort(key=..., reverse=...)`."""
    if kws.keys() - {"key", "reverse"}:
        raise NotSupported.METHOD("it sorts a list with other options than `key` and `reverse`")
    if len(known_items(x) or [None]) == 0:
        return constant(None)
    keys = None
    if "key" in kws and not (kws["key"].is_constant and kws["key"].sample is None):
        if _may_see(kws["key"], x):  # it is empty meanwhile
            raise Unsound.CHANGES_WHAT_IT_WALKS("it sorts a list by a key that may look at it")
        keys = hold(builder, builder.inline(keys_by, [x, kws["key"]], {}))
    return _lists.list_sort(builder, x, kws, keys)


def _may_see(f: Value, x: Value) -> bool:
    """Return whether a function that is written here may reach a list by what it captured."""
    waiting, seen = [f], {f}
    while waiting:
        value = waiting.pop()
        if value is x or (value.contents is not None and value.contents is x.contents):
            return True
        inner, kind = [*(value.items or []), *(value.fields or {}).values()], value.sample
        if isinstance(kind, Local):
            inner += [*kind.around.values(), *kind.defaults.values()]
        elif isinstance(kind, LocalCache):
            inner.append(kind.function)
        elif isinstance(kind, Method | Super):
            inner.append(kind.owner)
        elif isinstance(kind, Partial):
            inner += kind.parts
        elif value.contents is not None and any(
            slot.contents is not None for slot in value.contents.slots.values()
        ):
            return True  # what it holds is not told apart
        inner = [part for part in inner if part not in seen]
        waiting += inner
        seen.update(inner)
    return False


def array_of_held(builder: Builder, x: Value) -> Value:
    """Write `np.array(x)` of a list of numbers or arrays, or of lists of those."""
    x = hold(builder, x)
    number, depth = _number_in(contents_in(x), [])
    sample = run(np.array, [x.sample], {})
    if sample.ndim < depth or sample.dtype == object:
        raise NotSupported.LIST_OPERATION("it makes an array of a list that may be empty")
    fact = ArrayOf(sample.dtype, (UNKNOWN,) * sample.ndim)
    op = builder.write(Result(fact, sample, certain=False), np.array, [x], {})
    op.target.made = True
    if number and builder.follows and can_carry(fact):
        op.target.active = True
        if depth > 2:
            raise NotSupported.LIST_OPERATION(
                "it makes an array of lists nested more than two deep"
            )
        rows = None  # they are those of now, whatever is done to the list
        if depth > 1:
            rows = builder.write(Result(Other(list), []), list, [x], {}).target

        def back(builder: Builder, dy: Value | None) -> list[Contribution]:
            assert builder.shadows is not None
            if dy is not None and rows is None:
                computed(builder, NO_RESULT, add_array, shadow(builder, x), dy)
            elif dy is not None and rows is not None:
                computed(builder, NO_RESULT, add_rows, builder.shadows, rows, dy)
            return []

        mirror(op, back, [])
    return op.target


def _number_in(contents: Contents, seen: list[Contents]) -> tuple[bool, int]:
    """Return whether a gradient passes through what a nest of lists holds, and how deep it is."""
    if contents in seen or contents.kind not in (list, tuple, LongTuple, deque):
        raise NotSupported.LIST_OPERATION(
            "it makes an array of a list that holds dicts, sets or objects"
        )
    active, depth = False, 1
    for slot in contents.slots.values():
        if slot.contents is not None:
            inner, below = _number_in(contents_root(slot), [*seen, contents])
            active, depth = active or inner, max(depth, below + 1)
        elif not isinstance(slot.fact, Scalar | ArrayOf):
            raise NotSupported.LIST_OPERATION(
                "it makes an array of a list of something other than numbers and arrays"
            )
        active = active or slot.active
    return active, depth


def contents_root(slot: Slot) -> Contents:
    """Return the contents of a container that is an item."""
    value = Value(slot.fact, slot.sample)
    value.contents = slot.contents
    return contents_in(value)


def list_total(builder: Builder, x: Value, start: list[Value]) -> Value:
    """Write `sum(x)` of numbers or arrays."""
    if not contents_in(x).slots:  # it is still empty
        return start[0] if start else constant(0)
    slot = slot_in(builder, x)
    if slot.contents is not None or any(not y.is_constant for y in start):
        raise NotSupported.LIST_OPERATION(
            "it sums a list of something other than numbers and arrays, or from a start that is "
            "not a constant"
        )
    given = constant([slot.sample, slot.sample])
    result = result_of(sum, [given, *start], {})
    if isinstance(slot.fact, Scalar):
        kinds: set[type] = set()
        for kind in slot.fact.classes:
            kinds.add(type(sum([kind(1), kind(1)], *[y.sample for y in start])))
        kinds |= {int} if not start else {type(start[0].sample)}
        result.fact = Scalar(frozenset(kinds))
    result.certain = False
    op = builder.write(result, sum, [x, *start], {})
    op.required = True
    if slot.active and builder.follows and can_carry(op.target.fact):
        op.target.active = True
        if may_be_complex(op.target.fact) and not may_be_complex(slot.fact):
            raise NotSupported.LIST_OPERATION("it sums real numbers of a list to a complex number")

        def back(builder: Builder, dy: Value | None) -> list[Contribution]:
            if dy is not None:
                computed(builder, NO_RESULT, add_each, shadow(builder, x), dy)
            return []

        mirror(op, back, [])
    return op.target


def list_extreme(builder: Builder, f: Any, x: Value) -> Value:
    """Write `max(x)` or `min(x)` of numbers."""
    slot = slot_in(builder, x)
    if slot.contents is not None:
        _lists.refuse_arrays(x)
        return held_item(builder, x, builder.write(ONE_INT, _PLACES[f], [x], {}).target)
    if not isinstance(slot.fact, Scalar):
        raise NotSupported.LIST_OPERATION("it takes the largest or smallest of a list of arrays")
    op = taken(builder, slot, f, [x])
    if op.target.active:
        equal = builder.write(SOME_LIST, places_equal, [x, op.target], {})

        def back(builder: Builder, dy: Value | None) -> list[Contribution]:
            if dy is not None:
                computed(builder, NO_RESULT, add_to_places, shadow(builder, x), equal.target, dy)
            return []

        mirror(op, back, [])
    return op.target


def place_of_largest(x: list[Any]) -> int:
    """Return the place of the first of the largest items."""
    return max(range(len(x)), key=x.__getitem__)


def place_of_smallest(x: list[Any]) -> int:
    """Return the place of the first of the smallest items."""
    return min(range(len(x)), key=x.__getitem__)


_PLACES = {max: place_of_largest, min: place_of_smallest}
