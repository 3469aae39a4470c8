"""Texts of what the code computes: they are made where output takes them."""

import operator
from typing import Any

import numpy as np

from zygote_lite._specialize.typed.abstract_eval import Result, run
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.facts import ListOf, Other, Scalar
from zygote_lite._specialize.typed.nodes import leaves
from zygote_lite._specialize.typed.reasons import NotSupported
from zygote_lite._specialize.typed.stand_ins import Message
from zygote_lite._specialize.typed.values import Value, constant

_WITH_TEXT = (str, int, float, bool, type(None), np.generic)


def message(
    builder: Builder, f: Any, xs: list[Value], kws: dict[str, Value] | None = None
) -> Value:
    """Return the text that a function makes of values: of arrays that are written, at once."""
    x = constant(Message(f, [*xs], kws or {}))
    if any(leaf.may_be_written for part in xs for leaf in leaves(part)) and not builder.plain:
        return written_text(builder, x)
    return x


def text_of_call(builder: Builder, f: Any, xs: list[Value], kws: dict[str, Value]) -> Value | None:
    """Return the text that `"...".format(x)` or `"..." % x` gives; `None` for other calls."""
    by_method = getattr(f, "__name__", "") == "format" and isinstance(
        getattr(f, "__self__", None), str
    )
    if builder.plain or not (by_method or (f is operator.mod and type(xs[0].sample) is str)):
        return None
    given = [*xs, *kws.values()]
    if all(x.is_constant and not isinstance(x.sample, Message) for x in given):
        return None
    if f is operator.mod and not xs[0].is_constant:
        return None
    parts = [leaf for x in given for leaf in leaves(x)]
    if not all(x.is_array or x.is_scalar or type(x.sample) is str for x in parts):
        return None
    if any(isinstance(x.fact, Scalar) and len(x.fact.classes) > 1 for x in parts):
        return None
    run(f, [x.sample for x in xs], {name: x.sample for name, x in kws.items()})
    return message(builder, f, xs, kws)


def as_text(builder: Builder, xs: list[Value]) -> list[Value]:
    """Return values as operands of what makes texts of them."""
    found = [written_text(builder, x) if isinstance(x.sample, Message) else x for x in xs]
    for x in found:
        for leaf in leaves(x):
            if leaf.is_scalar or leaf.is_array or leaf.contents is not None:
                continue
            if not (isinstance(leaf.fact, ListOf) or isinstance(leaf.sample, _WITH_TEXT)):
                raise NotSupported.TEXT(f"the text of a {type(leaf.sample).__name__} is not known")
        if x.is_object or x in builder.iterators:
            raise NotSupported.TEXT("the text of an object is not known")
    return found


def written_text(builder: Builder, x: Value) -> Value:
    """Write what makes a text of values that the code computes."""
    made: Message = x.sample
    xs, kws = as_text(builder, made.parts), made.options
    as_text(builder, [*kws.values()])
    return builder.write(Result(Other(str), "text"), made.function, xs, kws).target
