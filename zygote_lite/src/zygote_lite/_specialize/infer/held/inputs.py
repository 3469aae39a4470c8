"""Containers that are given, and that the code changes, or holds in others."""

import operator
from typing import Any

from zygote_lite._specialize.infer.held.containers import (
    computed,
    mirror,
    new_contents,
)
from zygote_lite._specialize.rules.contributions import Contribution
from zygote_lite._specialize.typed.abstract_eval import Result
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.contents import ANY, Contents, Slot, contents_in
from zygote_lite._specialize.typed.facts import ListOf, Other
from zygote_lite._specialize.typed.runtime import as_it_is
from zygote_lite._specialize.typed.shadows import nest_of
from zygote_lite._specialize.typed.structures import mapping, structure
from zygote_lite._specialize.typed.values import Value, constant


def as_given(builder: Builder, x: Value, name: str, at: str) -> Value:
    """Return what stands for an argument in the function: its lists and dicts can be held."""
    is_list = isinstance(x.fact, ListOf)
    if not is_list and (x.items is None or type(x.sample) not in (tuple, list, dict)):
        return x
    if not builder.held:
        return x
    if is_list:
        return _list_of(builder, x, at)
    whole = Value(Other(type(x.sample)), x.sample, name)
    return _given_part(builder, x, whole, at)


def _given_part(builder: Builder, x: Value, whole: Value, at: str) -> Value:
    """Return the same of a part, which an expression leads to."""
    if isinstance(x.fact, ListOf):
        return _list_of(builder, x, at)
    if x.items is None or type(x.sample) not in (tuple, list, dict):
        return x
    if type(x.sample) is dict:
        pairs = [(k.sample, v) for k, v in zip(x.items[::2], x.items[1::2], strict=True)]
        made = mapping(
            {k: _given_part(builder, v, _at_key(builder, whole, v, k), at) for k, v in pairs}
        )
        made.is_constant = False
    else:
        parts = [
            _given_part(builder, v, _at_key(builder, whole, v, i), at)
            for i, v in enumerate(x.items)
        ]
        made = structure(type(x.sample), parts)
    if type(x.sample) is not tuple:
        builder.settle_home(made)
        builder.given_as[made] = whole, at
    return made


def _at_key(builder: Builder, whole: Value, part: Value, key: Any) -> Value:
    """Write what leads to a part that is a container itself."""
    if part.items is None or type(part.sample) not in (tuple, list, dict):
        return part
    made = builder.write(
        Result(Other(type(part.sample)), part.sample), operator.getitem, [whole, constant(key)], {}
    )
    made.required = False
    return made.target


def _list_of(builder: Builder, x: Value, at: str) -> Value:
    """Return the container for a list of numbers, or of lists of those, of any length."""
    fact = x.fact
    assert isinstance(fact, ListOf)
    op = builder.write(Result(Other(list), [*x.sample]), as_it_is, [x], {})
    made = new_contents(builder, op, list, {})
    contents, whole = contents_in(made), made
    contents.given, made.made = frozenset((at,)), False
    if isinstance(fact.item, ListOf):
        as_it_was = builder.write(Result(Other(list), [*x.sample]), list, [made], {})
        as_it_was.required, whole = False, as_it_was.target  # it is read for its gradient alone
        assert fact.item.item is not None
        rows = Contents(list, owners=[made], given=contents.given)
        rows.slots[ANY] = Slot(fact.item.item, x.sample[0][0], x.active)
        contents.slots[ANY] = Slot(Other(list), [*x.sample[0]], False, rows)
    elif fact.item is not None:
        contents.slots[ANY] = Slot(fact.item, x.sample[0], x.active)

    def back(builder: Builder, _: Value | None) -> list[Contribution]:
        assert builder.shadows is not None
        d = computed(builder, Result(x.fact, x.sample), nest_of, builder.shadows, whole)
        d.fresh = True
        return [d]

    mirror(op, back, [x] if x.active else [])
    if not x.active:
        mirror(op, lambda builder, _: [], [])
    return made
