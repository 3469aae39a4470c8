"""Methods of dicts that are held: each with what undoes it in the shadow."""

import copy
import operator
from typing import Any

from zygote_lite._specialize.infer.held.changes import note_change
from zygote_lite._specialize.infer.held.containers import (
    NO_RESULT,
    computed,
    mirror,
    new_contents,
    shadow,
)
from zygote_lite._specialize.infer.held.items import refuse_key, slot_at, taken
from zygote_lite._specialize.infer.held.lists import changed_in_place, note_resized
from zygote_lite._specialize.infer.held.new_lists import mirror_copy
from zygote_lite._specialize.infer.iteration.known import Several
from zygote_lite._specialize.rules.contributions import Contribution
from zygote_lite._specialize.typed.abstract_eval import Result
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.contents import ANY, contents_in, holds_active
from zygote_lite._specialize.typed.facts import Other
from zygote_lite._specialize.typed.shadows import add_entry, put_entry, take_entry
from zygote_lite._specialize.typed.values import Value, constant


def dict_pop(builder: Builder, x: Value, key: Value, *default: Value) -> Value:
    """Write `x.pop(key)`."""
    if default:
        return builder.inline(pop_or, [x, key, *default], {})
    note_change(builder, x)
    note_resized(builder, x)
    op = taken(builder, slot_at(builder, x, key), dict.pop, [x, key])

    def back(builder: Builder, dy: Value | None) -> list[Contribution]:
        if holds_active(contents_in(x)):
            d = constant(None) if dy is None else dy
            computed(builder, NO_RESULT, put_entry, shadow(builder, x), key, d)
        return []

    mirror(op, back, [])
    return op.target


def dict_remove(builder: Builder, x: Value, key: Value) -> Value:
    """Write `del x[key]`."""
    refuse_key(key)

    def undo(builder: Builder) -> Value:
        return computed(builder, Result(Other(list), None), take_entry, shadow(builder, x), key)

    return changed_in_place(builder, operator.delitem, [x, key], undo)


def dict_clear(builder: Builder, x: Value) -> Value:
    """Write `x.clear()`."""

    def undo(builder: Builder) -> Value:
        return computed(builder, NO_RESULT, dict.clear, shadow(builder, x))

    return changed_in_place(builder, dict.clear, [x], undo)


def dict_copied(builder: Builder, x: Value, kind: Any = None) -> Value:
    """Write `kind(x)`, a new dict, or, where no class is given, a copy of its own class."""
    contents = contents_in(x)
    is_dict = dict in (kind, contents.kind)
    op = builder.write(
        Result(Other(kind or contents.kind), {**x.sample}), dict if is_dict else copy.copy, [x], {}
    )
    made = new_contents(builder, op, dict if is_dict else contents.kind, contents.slots)
    contents_in(made).key = contents.key
    contents_in(made).factory = None if is_dict else contents.factory

    mirror_copy(op, x, add_entries)
    return made


def add_entries(d: dict[Any, Any], found: dict[Any, Any]) -> None:
    """Add the cotangents of a copy of a dict."""
    for key, dy in found.items():
        if dy is not None:
            add_entry(d, key, dy)


def list_of_keys(builder: Builder, x: Value) -> Value:
    """Write a list of the keys of a dict, and return it."""
    key = contents_in(x).key
    op = builder.write(Result(Other(list), [*x.sample] or [None]), list, [x], {})
    return new_contents(builder, op, list, {} if key is None else {ANY: key})


def dict_update(builder: Builder, x: Value, *more: Value, **entries: Value) -> Value:
    """Write `x.update(y, **entries)`."""
    for y in more:
        if y.contents is not None and contents_in(y).kind is dict:
            builder.inline(put_all, [x, y], {})
        elif y.items is not None and type(y.sample) is dict:
            for key, value in zip(y.items[::2], y.items[1::2], strict=True):
                builder.call(constant(operator.setitem), [x, key, value], {})
        else:
            builder.inline(put_pairs, [x, y], {})
    for name, value in entries.items():
        builder.call(constant(operator.setitem), [x, constant(name), value], {})
    return constant(None)


def dict_view(builder: Builder, x: Value, kind: str) -> Value:
    """Return what stands for `x.keys()`, `x.values()` or `x.items()`."""
    found = constant(Several(kind, [x]))
    builder.iterators[found] = [x]
    return found


# -- written with others -----------------------------------------------------------------------


def pop_or(x: Any, key: Any, default: Any) -> Any:
    """Stand for `x.pop(key, default)`."""
    return x.pop(key) if key in x else default


def get_or(x: Any, key: Any, default: Any) -> Any:
    """Stand for `x.get(key, default)`."""
    return x[key] if key in x else default  # noqa: SIM401 - `get` is what it stands for


def set_default(x: Any, key: Any, default: Any = None) -> Any:
    """Stand for `x.setdefault(key, default)`."""
    if key not in x:
        x[key] = default
    return x[key]


def put_all(x: Any, y: Any) -> None:
    """Stand for `x.update(y)` of a dict."""
    for key in y:
        x[key] = y[key]


def put_pairs(x: Any, y: Any) -> None:
    """Stand for `x.update(y)` of pairs."""
    for key, value in y:
        x[key] = value


def get_or_make(x: Any, key: Any, factory: Any) -> Any:
    """Stand for `x[key]` of a `defaultdict`."""
    if key not in x:
        x[key] = factory()
    return plain_item(x, key)


def plain_item(x: Any, key: Any) -> Any:
    """Stand for `x[key]` of a dict that has the key."""
    raise NotImplementedError


def demand_room(x: Any, size: Any) -> None:
    """Stand for leaving the code where a cache is full: what it forgets is computed once more."""
    raise NotImplementedError


def first_key(x: dict[Any, Any]) -> Any:
    """Return the key that was put into a dict first."""
    return next(iter(x))


def last_key(x: dict[Any, Any]) -> Any:
    """Return the key that was put into a dict last."""
    return next(reversed(x))


def pop_item(x: Any, last: Any = True) -> Any:
    """Stand for `x.popitem()`."""
    key = last_key(x) if last else first_key(x)
    return key, x.pop(key)
