"""Forms of what a rule returns: numbers and arrays in it, which the code takes one by one.

A solver returns a number, an array, a tuple, or a result with fields. What is no number and no
array, such as a message, is not followed.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from zygote_lite._specialize.typed.facts import ArrayOf, Scalar, can_carry, fact_of
from zygote_lite._specialize.typed.reasons import NotSupported, Unsound
from zygote_lite._specialize.typed.stand_ins import SolverResult, Unfollowed
from zygote_lite._specialize.typed.structures import structure
from zygote_lite._specialize.typed.values import Value, constant


def is_a_part(x: Any, counts: bool = True) -> bool:
    """Return whether a value is a number or an array that code computes with.

    Where a gradient passes through the call, no counts are: the tape refuses one by them.
    """
    fact = fact_of(x)
    if not counts and isinstance(fact, Scalar) and not can_carry(fact):
        return isinstance(x, bool | np.bool_)
    return isinstance(fact, Scalar | ArrayOf)


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
        followed: those that the code takes.
    """

    def __init__(self, kind: Any, keys: list[Any], followed: list[Any]) -> None:
        self.kind, self.keys, self.followed = kind, keys, followed

    def parts_of(self, y: Any) -> tuple[Any, ...]:
        """Return the numbers and arrays in a value of this form."""
        if type(y) is not self.kind or keys_of_parts(y) != self.keys:
            raise Unsound.CLASS("a function returns a result with other fields")
        return tuple([y[key] for key in self.followed])

    def cotangent(self, d: Any) -> Any:
        """Return the cotangent of the value, `None` where no part has one."""
        if d is None or all(part is None for part in d):
            return None
        found = dict(zip(self.followed, d, strict=True))
        if issubclass(self.kind, tuple):
            return tuple([found.get(key) for key in self.keys])
        return found

    def value(self, parts: list[Value]) -> Value:
        """Return what stands for the value in the code."""
        known = dict(zip(self.followed, parts, strict=True))
        whole = {key: known.get(key) or constant(Unfollowed(_ABOUT)) for key in self.keys}
        if self.kind is tuple:
            return structure(tuple, [*whole.values()])
        return constant(SolverResult(self.kind, whole))


_ABOUT = "a part of what a function with a rule returns is no number and no array"


def keys_of_parts(y: Any) -> list[Any]:
    """Return the places of a tuple, or the names of the fields of a result."""
    return [*y] if isinstance(y, dict) else [*range(len(y))]


def form_of_answer(y: Any, counts: bool) -> OneValue | SeveralParts:
    """Return the form of what a rule has returned; where no gradient passes, with `counts`."""
    if is_a_part(y):
        return OneValue()
    is_result = isinstance(y, dict) and type(y) is not dict and {*map(type, y)} <= {str}
    if type(y) is not tuple and not is_result:
        raise NotSupported.VALUE_TYPE(
            f"a function with a rule returns something of the type {type(y).__name__}"
        )
    keys = keys_of_parts(y)
    followed = [key for key in keys if is_a_part(y[key], counts)]
    if not any(isinstance(y[key], np.ndarray | float | complex) for key in followed):
        raise NotSupported.VALUE_TYPE("a function with a rule returns no number and no array")
    return SeveralParts(type(y), keys, followed)
