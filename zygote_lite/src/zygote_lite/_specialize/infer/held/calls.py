"""What functions and operators do with containers that are held, those of `heapq` too."""

import bisect
import copy
import heapq
import math
import operator
from collections import defaultdict, deque
from collections.abc import Callable
from typing import Any

import numpy as np

from zygote_lite._ir.intrinsics import join_arguments, unpack
from zygote_lite._ir.traits import module_of
from zygote_lite._python.library.heapq import in_python
from zygote_lite._specialize.infer.held import dicts as _dicts
from zygote_lite._specialize.infer.held import lists as _lists
from zygote_lite._specialize.infer.held import new_lists as _new_lists
from zygote_lite._specialize.infer.held.changes import note_change
from zygote_lite._specialize.infer.held.containers import (
    NO_RESULT,
    ONE_INT,
    hold,
    is_held,
    kept,
    may_be_held,
    mirror,
    note_item,
    note_key,
)
from zygote_lite._specialize.infer.held.folds import (
    QUESTION,
    Options,
    array_of_held,
    asks,
    extreme_of,
    product_of,
    sorted_of,
    sum_of,
    touches,
)
from zygote_lite._specialize.infer.held.items import held_item, refuse_key, store_held, taken
from zygote_lite._specialize.infer.held.makers import MADE_BY_CLASS
from zygote_lite._specialize.infer.held.methods import (
    VIEWS,
    added_to,
    push_first,
    push_last,
    pushed,
)
from zygote_lite._specialize.infer.iteration.known import (
    Several,
    as_they_are_now,
    strict_zip,
)
from zygote_lite._specialize.rules.contributions import Contribution
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.contents import (
    ANY,
    LongTuple,
    contents_in,
    holds_active,
    root_of,
)
from zygote_lite._specialize.typed.facts import Scalar
from zygote_lite._specialize.typed.reasons import NotSupported, Unsound
from zygote_lite._specialize.typed.runtime import has_items, has_length, has_room
from zygote_lite._specialize.typed.structures import structure
from zygote_lite._specialize.typed.values import Value, constant


def heap_call(f: Any) -> Callable[..., Value | None]:
    """Return what writes a function of `heapq` on a list of containers, as it stands.

    What a gradient passes through is in these, and it does not matter where they stand.
    """

    def call(builder: Builder, xs: list[Value], kws: Options) -> Value | None:
        x = hold(builder, xs[0])
        note_change(builder, x)
        more = [kept(builder, y) for y in xs[1:]]
        for y in more:
            note_item(builder, x, ANY, y)
        slot = contents_in(x).slots.get(ANY)
        if slot is None:
            builder.leave()
        if slot.active:
            return builder.inline(in_python(heapq)[f], [x, *more], {})
        _lists.refuse_arrays(x)
        _lists.note_resized(builder, x)
        x.sample.extend(y.sample for y in more[len(x.sample) :])
        gives = f is not heapq.heappush and f is not heapq.heapify
        if gives:
            op = taken(builder, slot, f, [x, *more])
        else:
            op = builder.write(NO_RESULT, f, [x, *more], {})

        def back(builder: Builder, _: Value | None) -> list[Contribution]:
            if holds_active(contents_in(x)):
                raise NotSupported.LIST_OPERATION(
                    "a heap holds numbers that are differentiated later"
                )
            return []

        mirror(op, back, [])
        return op.target if gives else constant(None)

    return call


def of_held(
    builder: Builder, f: Any, xs: list[Value], kws: Options, stem: str
) -> Value | None:  # fmt: skip
    """Write a call of a function on containers that are held; return `None` for other functions."""
    asks = f is operator.contains and not xs[1].is_constant
    by_key = "key" in kws and f in (max, min, sorted)
    makes_or_holds = f is join_arguments or f in MADE_BY_CLASS or f in _HOLDS or asks or by_key
    if not (makes_or_holds or any(map(touches, (*xs, *kws.values())))) or not builder.held:
        return None
    if f is join_arguments:
        return _rows_of_zip(*xs)
    if f in MADE_BY_CLASS:
        return MADE_BY_CLASS[f](builder, xs, kws, stem)
    if (f in _HOLDS or asks) and xs and may_be_held(builder, xs[0]):
        xs = [hold(builder, xs[0]), *xs[1:]]
    if not any(map(touches, (*xs, *kws.values()))) and not by_key:
        return None
    if hasattr(f, "__code__") and f not in _OF_FUNCTIONS:
        return None
    if f in _SEVERAL or f is isinstance or f is type:
        return None
    if f in _OF_STRUCTURES and not (is_held(xs[0]) or isinstance(xs[0].sample, Several)):
        return None
    if f in _OF_FUNCTIONS:
        xs = [hold(builder, x) if may_be_held(builder, x) else x for x in xs]
        found: Value | None = _OF_FUNCTIONS[f](builder, xs, kws)
        if found is not None:
            return found
    if not any(is_held(x) or isinstance(x.sample, Several) for x in xs):
        return None
    if isinstance(f, np.ufunc) or module_of(f).partition(".")[0] == "numpy":
        if any(isinstance(x.sample, Several) for x in xs):
            raise Unsound.ITERATOR("it passes an iterator to NumPy: pass a list")
        given = [array_of_held(builder, x) if touches(x) else x for x in xs]
        if f in (np.array, np.asarray, np.stack, np.vstack) and len(xs) == 1 and not kws:
            return given[0]
        return builder.apply(f, given, kws, stem)
    raise NotSupported.CONTAINER(
        f"it calls {getattr(f, '__name__', f)} with a list, dict or set that changes"
    )


def held_part(builder: Builder, x: Value, index: Value, stem: str) -> Value:
    """Write `x[index]`."""
    kind = contents_in(x).kind
    if kind is list and isinstance(index.sample, slice):
        return _new_lists.part_of(builder, x, index, stem)
    if kind is LongTuple and isinstance(index.sample, slice):
        items = _new_lists.part_of(builder, _new_lists.listed(builder, x), index)
        return _new_lists.tuple_of(builder, items)
    if kind is defaultdict:
        _lists.note_resized(builder, x)
        refuse_key(index)
        note_key(builder, x, index)  # which it has from now on
        factory = contents_in(x).factory
        if factory is not None:
            return builder.inline(_dicts.get_or_make, [x, index, factory], {})
    return held_item(builder, x, index, stem)


def _held_length(builder: Builder, xs: list[Value], kws: Options) -> Value | None:
    x = xs[0]
    if isinstance(x.sample, Several):
        if x.sample.kind not in VIEWS:
            return None
        x = x.sample.parts[0]
    return _new_lists.list_length(builder, x)


def _truth(builder: Builder, xs: list[Value], kws: Options) -> Value | None:
    if not is_held(xs[0]):
        return None
    return builder.write(QUESTION, bool, xs, {}).target


def _not(builder: Builder, xs: list[Value], kws: Options) -> Value | None:
    found = _truth(builder, xs, kws)
    return None if found is None else builder.apply(operator.not_, [found])


def _held_contains(builder: Builder, xs: list[Value], kws: Options) -> Value | None:
    x, y = xs
    if isinstance(x.sample, Several):
        return None
    if issubclass(contents_in(x).kind, dict | set):
        refuse_key(y)
        return builder.write(QUESTION, operator.contains, [x, as_they_are_now(y)], {}).target
    return asks(operator.contains, QUESTION)(builder, xs, kws)


def _set_item(builder: Builder, xs: list[Value], kws: Options) -> Value | None:
    put_held(builder, *xs)
    return constant(None)


def put_held(builder: Builder, x: Value, index: Value, value: Value) -> None:
    """Write `x[index] = value`."""
    if isinstance(index.sample, slice):
        _lists.store_slice(builder, x, index, value)
        return
    store_held(builder, x, index, value)


def _delete(builder: Builder, xs: list[Value], kws: Options) -> Value | None:
    x, index = xs
    if issubclass(contents_in(x).kind, dict):
        return _dicts.dict_remove(builder, x, index)
    return _lists.list_remove(builder, x, index)


def _held_added(builder: Builder, xs: list[Value], kws: Options) -> Value | None:
    kinds = {contents_in(x).kind if is_held(x) else type(x.sample) for x in xs}
    if LongTuple in kinds and kinds <= {LongTuple, tuple}:
        items = [_new_lists.listed(builder, x) for x in xs]
        return _new_lists.tuple_of(builder, _new_lists.lists_joined(builder, *items))
    return _new_lists.lists_joined(builder, *xs) if kinds == {list} else None


def _added_in_place(builder: Builder, xs: list[Value], kws: Options) -> Value | None:
    x, more = xs
    if not is_held(x) or contents_in(x).kind not in (list, deque):
        return None
    return added_to(builder, x, more)


def _repeated_in_place(builder: Builder, xs: list[Value], kws: Options) -> Value | None:
    if not is_held(xs[0]) or contents_in(xs[0]).kind is not list:
        return None
    builder.inline(_new_lists.repeat_in_place, xs, {})
    return xs[0]


def _times(builder: Builder, xs: list[Value], kws: Options) -> Value | None:
    a, b = xs if type(xs[0].sample) is list else xs[::-1]
    if type(a.sample) is not list or not isinstance(b.fact, Scalar):
        return None
    return _new_lists.list_repeated(builder, a, b)


def _united(builder: Builder, xs: list[Value], kws: Options) -> Value | None:
    if not all(type(x.sample) is dict for x in xs):
        return None
    made = _dicts.dict_copied(builder, hold(builder, xs[0]))
    _dicts.dict_update(builder, made, xs[1])
    return made


def _united_in_place(builder: Builder, xs: list[Value], kws: Options) -> Value | None:
    if not is_held(xs[0]) or not issubclass(contents_in(xs[0]).kind, dict):
        return None
    _dicts.dict_update(builder, *xs)
    return xs[0]


def _held_list(builder: Builder, xs: list[Value], kws: Options) -> Value | None:
    if len(xs) != 1:
        return None
    x = xs[0]
    if is_held(x) and contents_in(x).kind in (list, deque, LongTuple):
        return _new_lists.part_of(builder, x, None)
    if is_held(x) and issubclass(contents_in(x).kind, dict | set):
        return _dicts.list_of_keys(builder, x)
    return _new_lists.listed(builder, x)


def _held_tuple(builder: Builder, xs: list[Value], kws: Options) -> Value | None:
    if is_held(xs[0]) and issubclass(contents_in(xs[0]).kind, tuple):
        return xs[0]
    made = _held_list(builder, xs, kws)
    return None if made is None else _new_lists.tuple_of(builder, made)


def _rows_of_zip(f: Value, *parts: Value) -> Value | None:
    """Return what `zip(*rows)` is given, where that is a list of tuples of one length."""
    if f.sample is not zip or len(parts) != 1 or not is_held(parts[0]):
        return None
    slot = contents_in(parts[0]).slots.get(ANY)
    is_table = slot is not None and slot.contents and root_of(slot.contents).kind is tuple
    return parts[0] if is_table else None


def columns(builder: Builder, rows: Value) -> Value:
    """Write `zip(*rows)`: an iterator of tuples, one for each item of a row."""
    slot = _new_lists.slot_in(builder, rows)
    assert slot.contents is not None
    builder.demand(has_items, rows)  # `zip()` gives nothing
    places = [constant(i) for i in range(len(root_of(slot.contents).slots))]
    found = [builder.inline(column, [rows, i], {}) for i in places]
    made = [_new_lists.tuple_of(builder, hold(builder, items)) for items in found]
    return builder.iterator(structure(tuple, made))


def column(rows: Any, i: Any) -> Any:
    """Return an item of each row."""
    return [row[i] for row in rows]


def _held_copy(builder: Builder, xs: list[Value], kws: Options) -> Value | None:
    kind = contents_in(xs[0]).kind if is_held(xs[0]) else None
    if kind is not None and issubclass(kind, dict):
        return _dicts.dict_copied(builder, xs[0])
    return _new_lists.part_of(builder, xs[0], None) if kind is list else None


def _unpacked(builder: Builder, xs: list[Value], kws: Options) -> Value | None:
    x, count, star = xs
    if not is_held(x) or contents_in(x).kind not in (tuple, list, deque, LongTuple):
        return None
    x = _new_lists.listed(builder, x) if contents_in(x).kind in (deque, LongTuple) else x
    n = count.sample
    if contents_in(x).kind is tuple:
        parts = [held_item(builder, x, constant(i)) for i in range(len(contents_in(x).slots))]
        return builder.apply(unpack, [structure(tuple, parts), count, star])
    if star.sample is None:
        builder.demand(has_length, x, count)
        return structure(tuple, [held_item(builder, x, constant(i)) for i in range(n)])
    before, after = star.sample, n - 1 - star.sample
    first = [held_item(builder, x, constant(i)) for i in range(before)]
    last = [held_item(builder, x, constant(i - after)) for i in range(after)]
    if n > 1:  # it has as many items at least
        held_item(builder, x, constant(n - 2))
    ends = [constant(before), constant(-after if after else None), constant(None)]
    rest = _new_lists.part_of(builder, x, structure(slice, ends))
    return structure(tuple, [*first, rest, *last])


def _key_at(f: Any) -> Callable[..., Value | None]:
    def call(builder: Builder, xs: list[Value], kws: Options) -> Value | None:
        key = contents_in(xs[0]).key
        if key is None:
            builder.leave()
        return taken(builder, key, f, xs).target

    return call


_SEVERAL = (zip, strict_zip, enumerate, reversed, iter)
_OF_FUNCTIONS: dict[Any, Callable[..., Value | None]] = {
    len: _held_length, bool: _truth, operator.truth: _truth, operator.not_: _not,
    operator.contains: _held_contains, operator.setitem: _set_item, operator.delitem: _delete,
    operator.add: _held_added, operator.iadd: _added_in_place, operator.mul: _times,
    operator.imul: _repeated_in_place,
    operator.or_: _united, operator.ior: _united_in_place,
    math.prod: product_of, sum: sum_of, max: extreme_of(max), min: extreme_of(min),
    sorted: sorted_of, list: _held_list,
    _dicts.last_key: _key_at(_dicts.last_key), _dicts.first_key: _key_at(_dicts.first_key),
    _dicts.demand_room: lambda builder, xs, kws: builder.demand(has_room, *xs),
    _dicts.plain_item: lambda builder, xs, kws: held_item(builder, *xs), tuple: _held_tuple,
    copy.copy: _held_copy, unpack: _unpacked,
    bisect.bisect_left: asks(bisect.bisect_left, ONE_INT),
    bisect.bisect_right: asks(bisect.bisect_right, ONE_INT),
}  # fmt: skip


_COMPARISONS_OF_TWO = (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)
_OF_FUNCTIONS |= {f: asks(f, QUESTION) for f in _COMPARISONS_OF_TWO}
_HEAPS = (heapq.heappush, heapq.heappop, heapq.heapify, heapq.heapreplace, heapq.heappushpop)
_OF_FUNCTIONS |= {f: heap_call(f) for f in _HEAPS}
_OF_FUNCTIONS |= {push_last: pushed(first=False), push_first: pushed(first=True)}
_OF_STRUCTURES = {len, bool, operator.truth, operator.not_, unpack, tuple}
_HOLDS = {f for f in _OF_FUNCTIONS if getattr(f, "__module__", "") in ("_heapq", "_bisect")}
_HOLDS |= {_dicts.demand_room, operator.delitem, operator.iadd, operator.imul, operator.ior}
