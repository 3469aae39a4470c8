"""Forms of what a rule returns: numbers and arrays in it, which the code takes one by one.

A solver returns a number, an array, a tuple, or a result with fields. What is no number and no
array, such as a message, is not followed.
"""

import operator
from dataclasses import dataclass
from typing import Any

import numpy as np

from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.facts import ArrayOf, Scalar, can_carry, fact_of
from zygote_lite._specialize.typed.reasons import NotSupported, Unsound
from zygote_lite._specialize.typed.stand_ins import ComparedCount, SolverResult, Unfollowed
from zygote_lite._specialize.typed.structures import structure
from zygote_lite._specialize.typed.values import Value, constant


@dataclass
class OneValue:
    """A number or an array."""

    def parts_of(self, y: Any) -> Any:
        """Return what the code takes: the value itself."""
        return y

    def cotangent(self, d: Any) -> Any:
        """Return the cotangent of the value, from that of what the code takes."""
        return d


class SeveralParts:
    """A tuple, or a result with fields.

    Arguments:
        kind: its class.
        keys: its places or the names of its fields, all of them.
        followed: the forms of those that the code takes, by their keys.
        counts: those that may only be compared.
    """

    def __init__(
        self, kind: Any, keys: list[Any], followed: dict[Any, Any], counts: set[Any]
    ) -> None:
        self.kind, self.keys, self.followed, self.counts = kind, keys, followed, counts
        self.size: int = sum(getattr(form, "size", 1) for form in followed.values())

    def parts_of(self, y: Any) -> tuple[Any, ...]:
        """Return the numbers and arrays in a value of this form, one after the other."""
        if type(y) is not self.kind or keys_of_parts(y) != self.keys:
            raise Unsound.CLASS("a function returns a result with other fields")
        found: list[Any] = []
        for key, form in self.followed.items():
            part = form.parts_of(y[key])
            found += part if isinstance(form, SeveralParts) else (part,)
        return tuple(found)

    def cotangent(self, d: Any) -> Any:
        """Return the cotangent of the value, `None` where no part has one."""
        if d is None or all(part is None for part in d):
            return None
        found, rest = {}, [*d]
        for key, form in self.followed.items():
            if isinstance(form, SeveralParts):
                found[key] = form.cotangent(rest[: form.size])
                del rest[: form.size]
            else:
                found[key] = rest.pop(0)
        if issubclass(self.kind, tuple):
            return tuple([found.get(key) for key in self.keys])
        return found

    def value(self, parts: list[Value]) -> Value:
        """Return what stands for the value in the code."""
        whole = {key: constant(Unfollowed(_ABOUT)) for key in self.keys}
        rest = [*parts]
        for key, form in self.followed.items():
            if isinstance(form, SeveralParts):
                whole[key] = form.value(rest[: form.size])
                del rest[: form.size]
            else:
                x = rest.pop(0)
                whole[key] = constant(ComparedCount(x)) if key in self.counts else x
        if self.kind is tuple:
            return structure(tuple, [*whole.values()])
        return constant(SolverResult(self.kind, whole))


_ABOUT = "a part of what a function with a rule returns is no number and no array"


def keys_of_parts(y: Any) -> list[Any]:
    """Return the places of a tuple, or the names of the fields of a result."""
    return [*y] if isinstance(y, dict) else [*range(len(y))]


def form_of_answer(y: Any, counts: bool) -> OneValue | SeveralParts:
    """Return the form of what a rule has returned; where no gradient passes, with `counts`."""
    found = _form_of_part(y, counts)
    if found is None:
        raise NotSupported.VALUE_TYPE(
            f"a function with a rule returns something of the type {type(y).__name__}"
        )
    return found


def _form_of_part(y: Any, counts: bool) -> OneValue | SeveralParts | None:
    """Return the form of a part of what a rule has returned; `None` where it is not followed."""
    if isinstance(fact_of(y), Scalar | ArrayOf):
        return OneValue()
    is_result = isinstance(y, dict) and type(y) is not dict and {*map(type, y)} <= {str}
    if type(y) is not tuple and not is_result:
        return None
    keys = keys_of_parts(y)
    forms = {key: _form_of_part(y[key], counts) for key in keys}
    followed = {key: form for key, form in forms.items() if form is not None}
    only = () if counts else (key for key in followed if _is_count(y[key]))
    return SeveralParts(type(y), keys, followed, {*only})


def _is_count(x: Any) -> bool:
    """Return whether a number is an integer: the tape refuses a gradient by it."""
    fact = fact_of(x)
    return isinstance(fact, Scalar) and not (can_carry(fact) or isinstance(x, bool | np.bool_))


_OF_COUNTS = (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)


def compared_count(builder: Builder, f: Any, xs: list[Value]) -> Value | None:
    """Write the comparison of a count in a result with a number; nothing for other calls."""
    if not any(isinstance(x.sample, ComparedCount) for x in xs) or f not in _OF_COUNTS:
        return None
    given = [x.sample.x if isinstance(x.sample, ComparedCount) else x for x in xs]
    return builder.apply(f, given)
