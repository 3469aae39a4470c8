"""Callables of Python's own: `partial`, `itemgetter`, `attrgetter`."""

import functools
import operator
from typing import Any

from zygote_lite._specialize.infer.models.dicts import entries_of_dict, is_plain_key
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.reasons import NotSupported, Unsound
from zygote_lite._specialize.typed.stand_ins import Local, Method, Partial
from zygote_lite._specialize.typed.structures import structure
from zygote_lite._specialize.typed.values import Value, constant

_GETTERS = (operator.itemgetter, operator.attrgetter)


def made_getter(f: Any, xs: list[Value], kws: dict[str, Value]) -> Value | None:
    """Return what `itemgetter` or `attrgetter` makes; `None` for other functions."""
    if f not in _GETTERS or kws or not xs or not all(x.is_constant for x in xs):
        return None
    given = [x.sample for x in xs]
    if not all(is_plain_key(x) or isinstance(x, slice) for x in given):
        return None
    return constant(f(*given))


def called_getter(builder: Builder, f: Any, x: Value) -> Value:
    """Return what an `itemgetter` or `attrgetter` gives."""
    found = []
    for name in f.__reduce__()[1]:
        y = x
        if isinstance(f, operator.itemgetter):
            y = builder.item(x, constant(name))
        else:
            for part in name.split("."):
                y = builder.attribute(y, part)
        found.append(y)
    return found[0] if len(found) == 1 else structure(tuple, found)


def is_getter(f: Any) -> bool:
    """Return whether something is an `itemgetter` or an `attrgetter`."""
    return type(f) in _GETTERS


def made_partial(builder: Builder, f: Any, xs: list[Value], kws: dict[str, Value]) -> Value | None:
    """Return what `functools.partial` makes; `None` for a call of another function."""
    if f is not functools.partial:
        return None
    if not xs or not (xs[0].is_object or (xs[0].is_constant and _is_callable(xs[0].sample))):
        raise NotSupported.UNKNOWN_CALLEE(
            "it makes a partial of a function that is known only as it runs"
        )
    if any(x in builder.iterators for x in (*xs, *kws.values())):
        raise Unsound.ITERATOR("it passes an iterator to partial: pass a list")
    return constant(Partial(xs[0], xs[1:], kws))


def partial_from_outside(builder: Builder, x: Any, expression: str) -> Value:
    """Return a partial that is read from outside; what it keeps is read at each entry."""
    held = builder.inputs.holder(functools.partial, expression)
    function = builder.read(x.func, f"{held}.func", "function", changes=True)
    arguments = builder.read(x.args, f"{held}.args", "arguments", changes=True)
    keywords = builder.read(x.keywords, f"{held}.keywords", "keywords", changes=True)
    given = [constant(part) for part in x.args] if arguments.items is None else arguments.items
    return constant(Partial(function, given, entries_of_dict(keywords)))


def called_partial(
    builder: Builder, f: Partial, xs: list[Value], kws: dict[str, Value], stem: str
) -> Value:
    """Return what a partial gives."""
    return builder.call(f.function, [*f.arguments, *xs], {**f.keywords, **kws}, stem)


def _is_callable(f: Any) -> bool:
    return callable(f) or isinstance(f, Local | Method | Partial)
