"""Tuples, lists, dicts and slices that statements build, and what is appended to lists."""

from rulescore.faults import an
from zygote_lite._specialize.infer.effects.collectors import demand_collector
from zygote_lite._specialize.infer.held import calls as _held_calls
from zygote_lite._specialize.infer.held import containers as _held
from zygote_lite._specialize.infer.held import methods as _held_methods
from zygote_lite._specialize.infer.models import dicts as _dicts
from zygote_lite._specialize.infer.models import sets as _sets
from zygote_lite._specialize.infer.models.lists import items as _lists
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.facts import ListOf
from zygote_lite._specialize.typed.nodes import holds
from zygote_lite._specialize.typed.reasons import NotSupported, Unsound
from zygote_lite._specialize.typed.structures import mapping, structure
from zygote_lite._specialize.typed.values import Value, constant


def build_structure(builder: Builder, kind: str, items: list[Value]) -> Value:
    """Return a new tuple, list, dict or slice."""
    if any(x in builder.iterators for x in items):
        raise Unsound.ITERATOR(f"it puts an iterator into {an(kind)}: make a list of it first")
    if kind == "dict":
        if not all(_is_known_key(k) for k in items[::2]) and builder.held:
            return _of_computed_keys(builder, items)
        pairs = zip(items[::2], items[1::2], strict=True)
        value = mapping({_dicts.known_key(k): v for k, v in pairs})
        builder.settle_home(value)
        return value
    if kind == "set" and builder.held:
        return builder.call(constant(set), [builder.build("list", items)] if items else [], {})
    if kind == "set":
        return _sets.new_set(builder, set, items)
    if kind == "list" and not items and builder.uniform:
        return _lists.new_list(builder)
    builder.inputs.lists = builder.inputs.lists or kind == "list"
    made = structure({"tuple": tuple, "list": list, "slice": slice}[kind], items)
    if kind == "list":
        builder.settle_home(made)
    return made


def append_item(builder: Builder, x: Value, item: Value) -> Value:
    """Write `x.append(item)`, for a list whose items are known one by one."""
    if isinstance(x.fact, ListOf):
        _lists.append(builder, x, item)
        return constant(None)
    if x.contents is not None:
        _held_methods.held_method(builder, x, "append", [item], {})
        return constant(None)
    if _held.may_be_held(builder, x) and not _held.is_made_here(builder, x):
        return append_item(builder, _held.hold(builder, x), item)
    if x in builder.walked:
        raise Unsound.CHANGES_WHAT_IT_WALKS("it appends to a list while it iterates over it")
    if builder.homes.get(x, builder.out) is not builder.out and may_be_of_any_length(builder, item):
        _lists.from_items(builder, x)
        return builder.append(x, item)
    change_items(builder, x, "append", [item])
    return constant(None)


CHANGING = {
    "append": (1,), "pop": (0, 1), "insert": (2,), "extend": (1,), "clear": (0,), "reverse": (0,)
}  # fmt: skip
"""Methods of lists that change them, and how many arguments they take."""


def change_items(builder: Builder, x: Value, name: str, xs: list[Value]) -> Value:
    """Write a method of a list whose items are known one by one, and return what it gives."""
    if x in builder.walked:
        raise Unsound.CHANGES_WHAT_IT_WALKS("it changes a list while it iterates over it")
    if builder.homes.get(x) is not builder.out:
        demand_collector(builder, x)
        raise Unsound.WRITES_ELSEWHERE(
            "it changes a list in a branch or a loop, and made the list before that"
        )
    places = xs[:1] if name in ("pop", "insert") else []
    if not all(at.is_constant and type(at.sample) is int for at in places):
        raise NotSupported.LIST_OPERATION("it changes a list at an index that is not a constant")
    added = xs[len(places) :]
    if name == "extend":
        if type(xs[0].sample) not in (tuple, list) or xs[0].items is None:
            raise NotSupported.UNKNOWN_LENGTH(
                "it extends a list by something whose length is not fixed"
            )
        added = [*xs[0].items]
    if any(item in builder.iterators for item in (*xs, *added)):
        raise Unsound.ITERATOR("it puts an iterator into a list: make a list of it first")
    if any(holds(item, x, objects=False) for item in added):
        raise NotSupported.CONTAINER("a list contains itself")
    builder.changing(x)
    given = [added] if name == "extend" else added
    try:
        taken = getattr(x.items, name)(*[at.sample for at in places], *given)
    except IndexError:
        raise Unsound.RAISES("an index of a list is out of range").always(IndexError) from None
    x.sample[:] = [item.sample for item in x.items or []]
    x.active = x.active or any(item.active for item in added)
    return taken if name == "pop" else constant(None)


def may_be_of_any_length(builder: Builder, item: Value) -> bool:
    """Return whether a list that a branch or a loop changes is written as one of any length."""
    if builder.uniform:
        return True
    return (item.is_scalar or item.is_array) and not (builder.compiled or builder.guesses)


def _is_known_key(key: Value) -> bool:
    return key.is_constant and _dicts.is_plain_key(key.sample)


def _of_computed_keys(builder: Builder, items: list[Value]) -> Value:
    """Write a dict of keys that are computed, entry by entry."""
    made = _held.hold(builder, build_structure(builder, "dict", []))
    for key, value in zip(items[::2], items[1::2], strict=True):
        _held_calls.put_held(builder, made, key, value)
    return made
