"""The items of an iterable, where they are known one by one."""

from dataclasses import dataclass
from typing import Any

from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.stand_ins import Collector
from zygote_lite._specialize.typed.structures import is_named, mapping, structure
from zygote_lite._specialize.typed.values import Value, constant


@dataclass(eq=False)
class Several:
    """Several iterables that are walked together, by `zip` or `enumerate`.

    Of an iterator (`from`): what it is over, and the place of the next item.
    """

    kind: str
    parts: list[Value]


def strict_zip(*xs: Any) -> Any:
    """Stand for `zip` with `strict=True`."""


def known_items(x: Value) -> list[Value] | None:
    """Return the elements of an iterable, where they are known one by one: of a dict, its keys."""
    if x.items is not None and type(x.sample) is dict:
        return x.items[::2]
    if x.items is not None and type(x.sample) in (list, tuple, set, frozenset):
        return x.items
    if x.fields is not None and is_named(x):
        return [*x.fields.values()]
    if isinstance(x.sample, Collector):
        raise x.sample.refused()
    if x.is_constant and isinstance(x.sample, tuple | str | bytes):
        return [constant(part) for part in x.sample]
    return None


def still_given(builder: Builder, x: Value) -> Value:
    """Return what an iterator over an array still gives, as an array; other values unchanged."""
    if not (isinstance(x.sample, Several) and x.sample.kind == "from" and x in builder.iterators):
        return x
    source, at = x.sample.parts
    return builder.item(source, builder.build("slice", [at, constant(None), constant(None)]))


def as_they_are_now(x: Value) -> Value:
    """Return an operand whose lists and dicts keep the items that they have now.

    Whatever is done to them later, the call has been given these.
    """
    if type(x.sample) is dict and (x.items is not None or x.is_constant):
        keys, values = (x.items or [])[::2], (x.items or [])[1::2]
        pairs = zip(keys, values, strict=True)
        return mapping({key.sample: as_they_are_now(value) for key, value in pairs})
    if x.items is None or type(x.sample) not in (tuple, list):
        return x
    items = [as_they_are_now(item) for item in x.items]
    changes = type(x.sample) is list or any(a is not b for a, b in zip(items, x.items, strict=True))
    return structure(type(x.sample), items) if changes else x
