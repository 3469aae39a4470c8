"""Lists of numbers, and lists of those, of any length: read and written one item at a time.

A list whose items are known one by one is a structure; this module is for the others. Code is
specialized only if it writes only to lists that the function has created, and to a row only through
its list, or before the row is appended to one. So each list has one cotangent, a list of the same
shape.
"""

import itertools
import operator
from typing import Any

from zygote_lite._specialize.rules.contributions import (
    IndexRule,
)
from zygote_lite._specialize.typed.abstract_eval import Result, result_of
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.facts import (
    INTS,
    REALS,
    TRUTHS,
    Fact,
    ListOf,
    Scalar,
    can_carry,
    join_facts,
)
from zygote_lite._specialize.typed.nodes import Append, Op, StoreItem
from zygote_lite._specialize.typed.reasons import NotSupported, Unsound
from zygote_lite._specialize.typed.values import Value, list_root

# -- what is known of a list -------------------------------------------------------------------


def fact_of_list(x: list[Any]) -> ListOf | None:
    """Return what holds for a list of numbers of one class, or for a list of such lists."""
    if not x or type(x[0]) is not list:
        return _fact_of_numbers(x)
    if any(type(row) is not list for row in x) or len({*map(id, x)}) != len(x):
        return None  # a row that is there twice has one gradient
    (fact, *others) = {_fact_of_numbers(row) for row in x}
    return None if others or fact is None else ListOf(fact)


def _fact_of_numbers(x: list[Any]) -> ListOf | None:
    """Return what holds for a list of numbers of one class."""
    kinds = frozenset(map(type, x))
    return ListOf(Scalar(kinds)) if len(kinds) == 1 and kinds <= REALS else None


def holds_floats(fact: Fact | None) -> bool:
    """Return whether all numbers in a list are Python's floats."""
    while isinstance(fact, ListOf):
        fact = fact.item
    return isinstance(fact, Scalar) and fact.classes == {float}


def settled(x: Value) -> ListOf:
    """Return what is known so far of a list, which may be a row of another."""
    if x.row_of is not None:
        fact = settled(x.row_of[0]).item
        assert isinstance(fact, ListOf)
        x.fact = fact
    if x.moved:
        raise Unsound.SHARED_WRITE("a list is used after it was appended to another: append a copy")
    assert isinstance(x.fact, ListOf)
    return x.fact


def refuse_second_list(value: Value) -> None:
    """Refuse an item that is a list: it may be known by another name."""
    if value.items is not None or isinstance(value.fact, ListOf):
        raise NotSupported.LIST_OPERATION("it stores a tuple, list or dict in a list of numbers")


def from_items(builder: Builder, x: Value) -> None:
    """Make a list whose items are known one by one a list of any length, which changes later.

    It is written where the block that made it goes on: there nothing has changed it yet.
    """
    if x in builder.walked:
        raise Unsound.CHANGES_WHAT_IT_WALKS("it changes a list while it iterates over it")
    builder.changing(x)
    items = x.items or []
    for item in items:
        refuse_second_list(item)
        if not (item.is_scalar or item.is_array):
            raise NotSupported.LIST_OPERATION("it changes a list of other things than numbers")
    # refused before anything is changed: a loop may be written in another way after that
    for a, b in itertools.pairwise(items):
        join_facts(a.fact, b.fact)
    block = builder.homes.pop(x)
    outer, loop, grown = builder.out, builder.loop, builder.grown
    builder.out, builder.loop, builder.grown = block, x.scope, []
    made = new_list(builder, builder.titles.get(x, ""))
    x.fact, x.name, x.made = made.fact, made.name, True
    builder.inputs.names.add(x.name)  # whatever is written again
    op = block[-1]
    assert isinstance(op, Op)
    op.target = x
    builder.definitions[x] = op
    x.items, x.active, x.is_constant = None, False, False
    x.sample.clear()
    for item in items:
        append(builder, x, item)
    builder.out, builder.loop, builder.grown = outer, loop, grown
    builder.changed.append(x)


def replace_item(builder: Builder, x: Value, index: Value, value: Value) -> None:
    """Note `x[index] = value`, of a list whose items are known one by one."""
    assert x.items is not None
    if x in builder.walked:
        raise Unsound.CHANGES_WHAT_IT_WALKS("it assigns items of a list while it iterates over it")
    if not index.is_constant or type(index.sample) is not int:
        raise NotSupported.LIST_OPERATION("it assigns a list item at an index that varies")
    if value in builder.iterators:
        raise Unsound.ITERATOR("it puts an iterator into a list: make a list of it first")
    if not -len(x.items) <= index.sample < len(x.items):
        raise Unsound.RAISES("an index of a list is out of range")
    builder.inputs.places = True
    builder.changing(x)
    x.items[index.sample] = value
    x.sample[index.sample] = value.sample
    x.active = x.active or value.active


def widen(builder: Builder, x: Value, item: Fact) -> None:
    """Note that a list holds items of one more kind."""
    fact = settled(x)
    joined = item if fact.item is None else join_facts(fact.item, item)
    if joined == fact.item:
        return
    builder.changed.append(list_root(x))
    x.fact = ListOf(joined)
    if x.row_of is not None:
        widen(builder, x.row_of[0], x.fact)


def activate(builder: Builder, x: Value, value: Value) -> None:
    """Note that a value that depends on a differentiated argument is written to a list."""
    if (value.is_scalar or value.is_array) and not can_carry(value.fact):
        raise Unsound.NO_FLOAT("it stores a differentiated value that is not a float in a list")
    root = list_root(x)
    if not root.active:
        root.active = True
        builder.changed.append(root)


# -- what is written ---------------------------------------------------------------------------


def new_list(builder: Builder, stem: str = "") -> Value:
    """Write `[]`."""
    op = builder.write(Result(ListOf(None), []), list, [], {}, stem)
    op.target.made = True
    return op.target


def item_of_list(builder: Builder, x: Value, index: Value, stem: str = "") -> Value:
    """Write `x[index]`."""
    fact = settled(x)
    if not isinstance(index.fact, Scalar) or not index.fact.classes <= INTS | TRUTHS:
        raise NotSupported.LIST_OPERATION("it indexes a list by something other than an integer")
    if fact.item is None or not x.sample:
        raise NotSupported.LIST_OPERATION("it takes an item of a list that may be empty")
    at = index.sample if index.is_constant else index
    key = None if list_root(x).made else (operator.getitem, x, at, index.is_constant)
    if key in builder.known:
        return builder.known[key]
    result = Result(fact.item, sample_at(x, index))
    op = builder.write(result, operator.getitem, [x, index], {}, stem)
    y = op.target
    builder.absent.update([y] if list_root(x) in builder.absent else [])  # it may be unset
    y.active = list_root(x).active and builder.follows and can_carry(y.fact)
    if isinstance(y.fact, ListOf):
        y.row_of, y.made = (x, place_of_row(builder, x, index)), x.made
    elif y.active:
        op.reverse_rule, op.active_operands = IndexRule(index), [x]
    if key is not None:
        builder.known[key] = y
    return y


def place_of_row(builder: Builder, x: Value, index: Value) -> Value:
    """Return the index of a row counted from the start, where the list may still grow."""
    if not list_root(x).made or _is_from_start(builder, index):
        return index
    length = builder.write(result_of(len, [x], {}), len, [x], {})
    operands = [index, length.target]
    place = builder.write(result_of(operator.mod, operands, {}), operator.mod, operands, {})
    length.required = place.required = False  # they are for the reverse pass
    return place.target


def _is_from_start(builder: Builder, index: Value) -> bool:
    """Return whether an index is surely not negative."""
    if index.is_constant:
        return bool(index.sample >= 0)
    loop = builder.loop
    while loop is not None and loop.target is not index:
        loop = loop.outer
    if loop is None or loop.iterable is None:
        return False
    if loop.iterable.is_constant:
        turns = loop.iterable.sample
        return len(turns) == 0 or min(turns[0], turns[-1]) >= 0
    made = builder.definitions.get(loop.iterable)
    return made is not None and made.function is range and len(made.arguments) == 1


def sample_at(x: Value, index: Value) -> Any:
    """Return the item of a sample; any, where it is too short."""
    try:
        return x.sample[index.sample]
    except IndexError:
        return x.sample[-1]


def store_in_list(builder: Builder, x: Value, index: Value, value: Value) -> None:
    """Write `x[index] = value`."""
    fact = settled(x)
    if not isinstance(index.fact, Scalar) or not index.fact.classes <= INTS | TRUTHS:
        raise NotSupported.LIST_OPERATION("it assigns a slice of a list: assign items in a loop")
    if not value.is_scalar or isinstance(fact.item, ListOf):
        raise NotSupported.LIST_OPERATION("it assigns a list item other than a number")
    widen(builder, x, value.fact)
    if value.active:
        activate(builder, x, value)
    if x.sample:
        try:
            x.sample[index.sample] = value.sample
        except IndexError:
            x.sample[-1] = value.sample
    builder.out.append(StoreItem(builder.origin, x, index, value))


def append(builder: Builder, x: Value, value: Value) -> None:
    """Write `x.append(value)`."""
    settled(x)
    if x in builder.walked:
        raise Unsound.CHANGES_WHAT_IT_WALKS("it appends to a list while it iterates over it")
    if not x.made:
        raise Unsound.WRITES_TO_GIVEN("it appends to a list that it did not create")
    if x.row_of is not None:
        raise NotSupported.LIST_OPERATION("it appends to a row of a list: fill the row first")
    if isinstance(value.fact, ListOf):
        fact = settled(value)
        if isinstance(fact.item, ListOf) or value.row_of is not None or not value.made:
            raise Unsound.SHARED_WRITE("it appends a list that may have two names: append a copy")
        if value.scope is not builder.loop or value in builder.walked:
            raise Unsound.SHARED_WRITE("it may append the same list more than once: append a copy")
        widen(builder, x, fact)
        value.moved = True
    elif value.is_scalar or value.is_array:
        widen(builder, x, value.fact)
        builder.note_moved([value])
    else:
        raise NotSupported.LIST_OPERATION("it appends something other than a number or an array")
    for lengths in builder.grown:
        lengths.setdefault(x, len(x.sample))
    x.sample.append(value.sample)
    if value.active:
        activate(builder, x, value)
    if value in builder.uncertain or value in builder.absent:
        builder.absent.add(list_root(x))
    builder.out.append(Append(builder.origin, x, value))
