"""Structures: values whose parts are known one by one."""

import types
from collections.abc import Callable, Iterable
from typing import Any

from rulescore import Tangent
from zygote_lite._specialize.typed.facts import ListOf, Other
from zygote_lite._specialize.typed.reasons import NotSupported
from zygote_lite._specialize.typed.stand_ins import StandIn
from zygote_lite._specialize.typed.values import Value, constant

HELD = "@held"  # what an object holds whose class inherits from a container
_MOST_PLACES = 10_000  # of a structure, in which each place of a part counts


def refuse_grown(items: Iterable[Value]) -> None:
    """Raise where a structure of some items has very many parts.

    Its leaves become variables, one for each place: a tuple that holds another one twice, which
    holds a third one twice, would have more of them than there is memory.
    """
    waiting, count = [x for x in items if x.items or isinstance(x.sample, tuple)], 0
    while waiting:
        x = waiting.pop()
        parts = x.items or [*(x.fields or {}).values()]
        count += len(parts)
        if count > _MOST_PLACES:
            raise NotSupported.TOO_LONG(
                "a tuple, list or dict has too many items, if shared ones are counted each time"
            )
        waiting += [part for part in parts if part.items or isinstance(part.sample, tuple)]


def structure(kind: type, items: list[Value]) -> Value:
    """Return a tuple, list or slice whose parts are known one by one."""
    refuse_grown(items)
    samples = [item.sample for item in items]
    sample = slice(*samples) if kind is slice else kind(samples)
    value = Value(Other(kind), sample)
    value.items = items
    value.active = any(item.active for item in items)
    value.is_constant = kind in (tuple, slice) and all(item.is_constant for item in items)
    return value


def named_tuple(kind: Any, fields: list[Value]) -> Value:
    """Return a named tuple whose fields are known one by one."""
    refuse_grown(fields)
    value = Value(Other(kind), tuple.__new__(kind, [x.sample for x in fields]))
    value.fields = dict(zip(kind._fields, fields, strict=True))
    return value


def tangent_of(kind: type, fields: dict[str, Value]) -> Value:
    """Return the gradient of an object, whose fields are known one by one."""
    value = Value(Other(Tangent), Tangent(kind, **{name: x.sample for name, x in fields.items()}))
    value.fields, value.moved = fields, True
    return value


def blank(kind: Any) -> Any:
    """Return an object of a class, without attributes."""
    if kind is types.SimpleNamespace:
        return kind()
    base = next((base for base in (tuple, list, dict) if issubclass(kind, base)), object)
    return base.__new__(kind)


def settled_instance(kind: type, fields: dict[str, Value]) -> Value:
    """Return an object that stands for one of several, of which none is assigned to any more."""
    value = Value(Other(kind), blank(kind))
    value.fields, value.moved = fields, True
    return value


def is_named(x: Value) -> bool:
    """Return whether a value is a named tuple."""
    return x.fields is not None and isinstance(x.sample, tuple) and HELD not in x.fields


def mapping(entries: dict[Any, Value]) -> Value:
    """Return a dict whose keys are known: its items are keys and values that alternate."""
    refuse_grown(entries.values())
    value = Value(Other(dict), {key: x.sample for key, x in entries.items()})
    value.items = [part for key, x in entries.items() for part in (constant(key), x)]
    value.active = any(x.active for x in entries.values())
    value.is_constant = not entries
    return value


def parts_of(x: Value) -> list[tuple[str, Value]]:
    """Return the parts of a structure, each with the text that it is subscripted by."""
    items = x.items or []
    if type(x.sample) is dict:
        return [(_quoted(k.sample), part) for k, part in zip(items[::2], items[1::2], strict=True)]
    return [(str(i), part) for i, part in enumerate(items)]


def _quoted(key: Any) -> str:
    """Return the text of a key, in double quotes where it has none itself."""
    text = repr(key)
    return text if '"' in text or type(key) is not str else f'"{text[1:-1]}"'


def paths_of(x: Value, path: str) -> list[tuple[str, Value]]:
    """Return the leaves of a structure, each with the expression for it."""
    if x.read is not None:
        parts = [(repr(name), part) for name, part in x.read.items()]
        return [found for at, part in parts for found in paths_of(part, f"{path}[{at}]")]
    if x.fields is not None:
        given = enumerate(x.fields.values())
        return [found for i, part in given for found in paths_of(part, f"{path}[{i}]")]
    if x.items is None:
        return [(path, x)]
    return [found for at, part in parts_of(x) for found in paths_of(part, f"{path}[{at}]")]


def in_form_of(
    x: Value, text: Callable[[Value], str], named: Callable[[Any], str] | None = None
) -> str:
    """Return the text of the gradient of an argument, in its form, from those of its parts.

    Arguments:
        x: the argument.
        text: gives the text of a part.
        named: gives the names of classes, where objects are among the parts.
    """
    if x.read is not None and named is not None:
        fields = {
            name: in_form_of(x.read[name], text, named) if name in x.read else "None"
            for name in vars(x.sample)
        }
        if {*fields.values()} <= {"None"}:
            return "None"
        given = [f"{name}={part}" for name, part in fields.items()]
        return f"{named(Tangent)}({', '.join([named(type(x.sample)), *given])})"
    if x.fields is not None and named is not None:
        inside = [in_form_of(part, text, named) for part in x.fields.values()]
        whole = f"{named(type(x.sample))}({', '.join(inside)})"
        return "None" if {*inside} <= {"None"} else whole
    if x.items is None:
        return text(x)
    parts = [(at, in_form_of(part, text, named)) for at, part in parts_of(x)]
    texts = [part for _, part in parts]
    if {*texts} <= {"None"}:
        return "None"
    if type(x.sample) is dict:
        return f"{{{', '.join(f'{at}: {part}' for at, part in parts)}}}"
    if type(x.sample) is list:
        return f"[{', '.join(texts)}]"
    return f"({', '.join(texts)}{',' * (len(texts) == 1)})"


def composition_of(x: Value) -> str:
    """Return what a value is that no variable can take on two paths; nothing for the others."""
    if x.items is not None:
        return "tuple, list or dict"
    if isinstance(x.sample, StandIn):
        return "function"
    if x.is_object:
        return "object"
    return "list" if isinstance(x.fact, ListOf) else ""
