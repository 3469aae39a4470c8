"""Calls as they are: of functions that no gradient passes through, and that return plain values.

A function of shapes or options may be written in a way that cannot be transformed. Where nothing
that it is given is differentiated, the code calls it. What it returns are tuples, lists and dicts
of numbers and texts. The code tests that they have the form that they have now; the numbers in them
are variables.
"""

import operator
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from zygote_lite._specialize.infer.effects.sought import is_known_constant
from zygote_lite._specialize.typed.abstract_eval import sealed
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.facts import NUMBERS
from zygote_lite._specialize.typed.reasons import Unsound
from zygote_lite._specialize.typed.structures import structure
from zygote_lite._specialize.typed.values import Value, constant

_MOST_NUMBERS = 64
_TESTED = {str, bool, type(None)}  # what is tested to be as it was, and so is a constant
# a form: the class of a number; a constant in a list; or a kind and the forms of the parts


class CalledAsItIs:
    """Call a function as it is, and return the numbers in what it returns, one after the other."""

    def __init__(self, f: Any, form: Any) -> None:
        self.f, self.form = f, form
        self.__name__ = f.__name__

    def __call__(self, *xs: Any, **kws: Any) -> tuple[Any, ...]:
        form, numbers = called(self.f, [*map(sealed, xs)], {k: sealed(x) for k, x in kws.items()})
        if form != self.form:
            raise Unsound.CLASS(f"{self.__name__} returns lists of other lengths, or other types")
        return numbers


def called(f: Any, xs: list[Any], kws: dict[str, Any]) -> tuple[Any, tuple[Any, ...]]:
    """Return the form of what a function returns, and the numbers in it.

    Raises `NotSpecializable` where it returns other things, or changes a list that it is given.
    """
    given = [*xs, *kws.values()]
    before = [*_parts_within(given)]
    y = f(*xs, **kws)
    after = [*_parts_within(given)]
    if len(before) != len(after) or any(x is not z for x, z in zip(before, after, strict=True)):
        raise Unsound.WRITES_TO_GIVEN(f"{f.__name__} changes a list that it is given")
    numbers: list[Any] = []
    return _form_returned(y, numbers, {id(x) for x in before if type(x) in (list, dict)}), tuple(
        numbers
    )


def _parts_within(xs: Any) -> Iterator[Any]:
    """Yield what containers hold, and what containers in them hold."""
    for x in xs.values() if type(xs) is dict else xs:
        yield x
        if type(x) in (tuple, list, dict):
            yield from _parts_within(x)


def _form_returned(y: Any, numbers: list[Any], seen: set[int]) -> Any:
    """Return the form of a value, and note the numbers in it; no list may be met twice."""
    kind = type(y)
    if kind in _TESTED:
        return [y]
    if kind in NUMBERS:
        numbers.append(y)
        if len(numbers) <= _MOST_NUMBERS:
            return kind
    if kind is not tuple and (kind not in (list, dict) or id(y) in seen):
        raise Unsound.CLASS("it returns something other than new lists of numbers and texts")
    seen.add(id(y))
    if kind is not dict:
        return kind, *[_form_returned(part, numbers, seen) for part in y]
    if not all(type(key) is str for key in y):
        raise Unsound.KEY("it returns a dict whose keys are not text")
    return kind, tuple(y), *[_form_returned(part, numbers, seen) for part in y.values()]


def call_as_it_is(
    builder: Builder, f: Any, xs: list[Value], kws: dict[str, Value], stem: str
) -> Value:
    """Write the call of a function as it is, and return its value.

    Raises `NotSpecializable` where the function does not return plain values.
    """
    given = [sealed(x.sample) for x in xs]
    options = {name: sealed(x.sample) for name, x in kws.items()}
    try:
        with np.errstate(all="ignore"):
            form, _ = called(f, given, options)
    except Exception as error:
        raise Unsound.RAISES(f"{f.__name__} fails: {error}") from error
    made = builder.operation(CalledAsItIs(f, form), xs, kws, stem, certain=True).target
    numbers = (
        builder.operation(operator.getitem, [made, constant(i)]).target
        for i in range(len(made.sample))
    )
    return _with_numbers(builder, form, numbers)


def _with_numbers(builder: Builder, form: Any, numbers: Iterator[Value]) -> Value:
    """Return the value of a form, with numbers for its parts."""
    if isinstance(form, type):
        return next(numbers)
    if type(form) is list:
        return constant(form[0])
    kind, *parts = form
    if kind is not dict:
        items = [_with_numbers(builder, part, numbers) for part in parts]
        return structure(tuple, items) if kind is tuple else builder.build("list", items)
    keys, *parts = parts
    entries: list[Value] = []
    for key, part in zip(keys, parts, strict=True):
        entries += [constant(key), _with_numbers(builder, part, numbers)]
    return builder.build("dict", entries)


def may_be_called(builder: Builder, f: Any, xs: list[Value], kws: dict[str, Value]) -> bool:
    """Return whether a call may stand in the code as it is, as far as its operands tell."""
    return (
        builder.has_islands
        and not (builder.settings or builder.protected)
        and isinstance(f, types.FunctionType)
        and all(f.__code__ != frame.code for frame in builder.frames)
        and all(map(_is_plain_operand, (*xs, *kws.values())))
    )


def _is_plain_operand(x: Value) -> bool:
    """Return whether an operand holds numbers, texts and arrays, of which none is active."""
    if x.active or x.is_object or x.contents is not None:
        return False
    if x.items is not None:
        return type(x.sample) in (tuple, list) and all(map(_is_plain_operand, x.items))
    if x.is_constant:
        parts = x.sample if type(x.sample) is tuple else (x.sample,)
        return all(map(is_known_constant, parts))
    if type(x.sample) is tuple:  # a shape
        return all(type(n) is int for n in x.sample)
    return x.is_array or x.is_scalar
