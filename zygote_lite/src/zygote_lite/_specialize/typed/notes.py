"""Notes of an attempt to write code: what it changes outside, which the next one has to know.

A note is kept in `own` by the next attempt, and in `wanted` until then.
"""

from collections.abc import Hashable, Iterable
from typing import Any

ONE_BY_ONE = "arrays that are equal are made one by one"
_PUT_INTO, _ASSIGNED = "a container that is put into", "an object whose attributes are assigned"


def collected(x: Any) -> tuple[str, int]:
    """Return what notes that the code puts into a container from outside."""
    return _PUT_INTO, id(x)


def puts_outside(own: frozenset[Hashable]) -> bool:
    """Return whether it is noted of anything from outside that the code puts something there."""
    return any(type(key) is tuple and key[0] in (_PUT_INTO, _ASSIGNED) for key in own)


def is_outside_changed(noted: Iterable[Hashable]) -> bool:
    """Return whether it is noted of anything from outside that the code changes it."""
    return any(
        isinstance(key, WrittenOutside)
        or (type(key) is tuple and key and key[0] in (_PUT_INTO, _ASSIGNED))
        for key in noted
    )


def adopted(x: Any) -> tuple[str, int]:
    """Return what notes that the code assigns attributes of an object from outside."""
    return _ASSIGNED, id(x)


def global_variable(globals_: dict[str, Any], name: str) -> tuple[str, int, str]:
    """Return what notes that the code assigns a global on some paths."""
    return _ASSIGNED, id(globals_), name


def attribute_outside(owner: Any, name: str) -> tuple[str, int, str]:
    """Return what notes that the code assigns an attribute of a class or a function."""
    return _ASSIGNED, id(owner), name


def has_arrays_of_its_own(own: frozenset[Hashable]) -> bool:
    """Return whether the code may write to arrays, or give them away, which it has for itself."""
    return not all(type(x) is tuple and x[0] == _PUT_INTO for x in own)


class WrittenOutside:
    """Note that the code writes to an array from outside, which has a name there."""

    def __init__(self, array: Any, stem: str) -> None:
        self.array, self.stem = array, stem

    def __eq__(self, other: object) -> bool:
        return isinstance(other, WrittenOutside) and self.array is other.array

    def __hash__(self) -> int:
        return id(self.array)
