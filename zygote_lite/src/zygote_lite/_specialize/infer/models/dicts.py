"""Dicts whose keys are known: they are split into their entries when code is generated.

Specialized code neither creates nor changes a dict: entries are variables like others. A dict that
the function creates may be written only in the block that creates it.
"""

from collections.abc import Callable
from typing import Any

from zygote_lite._specialize.infer.effects.collectors import demand_collector
from zygote_lite._specialize.infer.iteration.known import known_items
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.facts import Other
from zygote_lite._specialize.typed.nodes import holds
from zygote_lite._specialize.typed.reasons import NotSupported, Unsound
from zygote_lite._specialize.typed.stand_ins import SOURCE, View
from zygote_lite._specialize.typed.structures import mapping, structure
from zygote_lite._specialize.typed.values import Value, constant

_KEYS = (str, int, bool, float, type(None), type)


def is_dict(x: Value) -> bool:
    """Return whether a value is a dict whose entries are known one by one."""
    known = x.items is not None or (x.is_constant and x.sample == {})
    return type(x.sample) is dict and known


def entries_of_dict(x: Value) -> dict[Any, Value]:
    """Return the entries of a dict."""
    return {key.sample: part for key, part in pairs_of(x)}


def pairs_of(x: Value) -> list[tuple[Value, Value]]:
    """Return the keys of a dict, each with its entry."""
    items = x.items or []
    return [*zip(items[::2], items[1::2], strict=True)]


def known_key(key: Value) -> Any:
    """Return a key.

    Raises `NotSpecializable` where it is not known, or may be compared in its own way.
    """
    if not (key.is_constant and is_plain_key(key.sample)):
        raise Unsound.KEY("a key of a dict is not a constant text or number")
    return key.sample


def is_plain_key(key: Any) -> bool:
    """Return whether a key is compared as Python's own are."""
    return type(key) in _KEYS or (type(key) is tuple and all(map(is_plain_key, key)))


def item_of_dict(x: Value, key: Value) -> Value:
    """Return `x[key]`."""
    found = entries_of_dict(x).get(known_key(key))
    if found is None:
        raise Unsound.RAISES("a dict does not have the key").always(KeyError)
    return found


def store_in_dict(builder: Builder, x: Value, key: Value, value: Value) -> None:
    """Note `x[key] = value`."""
    _change_entries(builder, x, {**entries_of_dict(x), known_key(key): value})


def _change_entries(builder: Builder, x: Value, entries: dict[Any, Value]) -> None:
    """Give a dict other entries."""
    if x in builder.walked:
        raise Unsound.CHANGES_WHAT_IT_WALKS(
            "it assigns an entry of a dict while it iterates over it"
        )
    if _is_lent(builder, x, entries):
        return
    if builder.homes.get(x) is not builder.out:
        demand_collector(builder, x)
        raise Unsound.WRITES_ELSEWHERE(
            "it assigns an entry of a dict in a branch or a loop, and made the dict before that"
        )
    for value in entries.values():
        if value in builder.iterators:
            raise Unsound.ITERATOR("it puts an iterator into a dict: make a list of it first")
        if holds(value, x, objects=False):
            raise NotSupported.CONTAINER("a dict contains itself")
    builder.changing(x)
    changed = mapping(entries)
    x.items, x.active, x.is_constant = changed.items, changed.active, False
    x.sample.clear()
    x.sample.update(changed.sample)


def _is_lent(builder: Builder, x: Value, entries: dict[Any, Value]) -> bool:
    """Note what a dict from outside holds until it is given back; return whether it is one."""
    known = entries_of_dict(x)
    items = builder.met.get(x, x.items or [])
    first = {key.sample: value for key, value in zip(items[::2], items[1::2], strict=True)}
    plainly = all(
        value in (known.get(key), first.get(key))
        or (value.is_constant and type(value.sample) in _LENT)
        for key, value in entries.items()
    )
    is_busy = builder.plain or builder.inner or builder.protected or builder.compiled
    outside = [e for e, found in builder.inputs.structures.items() if found is x]
    is_namespace = "__name__" in known
    if is_busy or not (outside and plainly) or known.keys() != entries.keys() or is_namespace:
        return False
    builder.inputs.lends[builder.inputs.holder(dict, outside[0])] = None
    builder.lend(x, mapping({key: entries[key] for key in known}).items or [])
    return True


_LENT = (str, int, float, bool, type(None))


def delete_from_dict(builder: Builder, x: Value, key: Value) -> Value:
    """Note `del x[key]`, and return the entry."""
    value = item_of_dict(x, key)
    entries = entries_of_dict(x)
    del entries[known_key(key)]
    _change_entries(builder, x, entries)
    return value


def made(builder: Builder, xs: list[Value], kws: dict[str, Value]) -> Value:
    """Return `dict(*xs, **kws)`."""
    entries: dict[Any, Value] = {}
    for x in xs:
        entries |= entries_of_dict(x) if is_dict(x) else _of_pairs(x)
    value = mapping({**entries, **kws})
    builder.settle_home(value)
    return value


def _of_pairs(x: Value) -> dict[Any, Value]:
    rows = known_items(x)
    pairs = [None] if rows is None else [known_items(row) for row in rows]
    if any(pair is None or len(pair) != 2 for pair in pairs):
        raise NotSupported.UNKNOWN_LENGTH(
            "it makes a dict of pairs whose number or keys are not fixed"
        )
    return {known_key(pair[0]): pair[1] for pair in pairs if pair is not None}


def method(builder: Builder, x: Value, name: str, xs: list[Value], kws: dict[str, Value]) -> Value:
    """Return what a method of a dict gives."""
    entries = entries_of_dict(x)
    if name == "get" and len(xs) in (1, 2) and not kws:
        return entries.get(known_key(xs[0]), xs[1] if len(xs) > 1 else constant(None))
    if name == "copy" and not xs and not kws:
        return made(builder, [x], {})
    if name == "update" and len(xs) < 2:
        _change_entries(builder, x, entries | entries_of_dict(made(builder, xs, kws)))
        return constant(None)
    change, counts = _CHANGING_DICTS.get(name, (None, ()))
    if change is not None and len(xs) in counts and not kws:
        return change(builder, x, *xs)
    if name not in ("keys", "values", "items") or xs or kws:
        raise NotSupported.METHOD(f"it calls the method {name} of a dict")
    view = Value(Other(View), View(name))
    view.fields = {SOURCE: x}
    return view


# -- methods that change it ------------------------------------------------------------------------


def _set_default(builder: Builder, x: Value, key: Value, value: Value | None = None) -> Value:
    if known_key(key) not in entries_of_dict(x):
        store_in_dict(builder, x, key, constant(None) if value is None else value)
    return item_of_dict(x, key)


def _pop_entry(builder: Builder, x: Value, key: Value, default: Value | None = None) -> Value:
    if default is not None and known_key(key) not in entries_of_dict(x):
        return default
    return delete_from_dict(builder, x, key)


def _pop_last(builder: Builder, x: Value) -> Value:
    if not x.items:
        raise Unsound.RAISES("it takes an entry of an empty dict").always(KeyError)
    key = x.items[-2]
    return structure(tuple, [key, delete_from_dict(builder, x, key)])


def _clear_dict(builder: Builder, x: Value) -> Value:
    _change_entries(builder, x, {})
    return constant(None)


_CHANGING_DICTS: dict[str, tuple[Callable[..., Value], tuple[int, ...]]] = {
    "setdefault": (_set_default, (1, 2)), "pop": (_pop_entry, (1, 2)), "popitem": (_pop_last, (0,)),
    "clear": (_clear_dict, (0,)),
}  # fmt: skip
"""What writes the other methods, and how many arguments they take."""
