"""The state of a run: which containers are active, and the cotangents of what has an address.

Numbers, arrays, tuples and functions are identified by their value: their cotangents go from
pullback to pullback. Lists, dicts, sets and objects are identified by their address: the
cotangents of their entries accumulate in a `Store`, keyed by identity, that lives in one call of
`back`; so all aliases of a list see the same cotangent, and a write can move it.
"""

import datetime
import enum
import re
import threading
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from rulescore import Array, Tangent, accumulate

INERT, VALUE, TUPLE, FUNCTION, LIST, DICT, SET, OBJECT = range(8)
_INERT_TYPES = (
    type(None), bool, np.bool_, str, bytes, bytearray, type, types.ModuleType, range, slice,
    type(...), type(NotImplemented), np.dtype, np.random.Generator, re.Pattern, re.Match,
    datetime.date, datetime.timedelta, types.CodeType, types.GenericAlias, enum.Enum,
)  # fmt: skip
_FUNCTION_TYPES = (
    types.FunctionType, types.BuiltinFunctionType, types.MethodType, np.ufunc,
    types.MethodWrapperType, types.MethodDescriptorType, types.WrapperDescriptorType,
)  # fmt: skip
_kinds: dict[type, int] = {}


def kind_of(x: Any) -> int:
    """Return how a value is identified: one of the kinds above, by its type alone."""
    try:
        return _kinds[type(x)]
    except KeyError:
        kind = _kinds[type(x)] = _classify(type(x))
        return kind


def _classify(t: type) -> int:
    if issubclass(t, _INERT_TYPES):
        return INERT
    if issubclass(t, int | float | complex | np.generic | Array):
        return VALUE
    if issubclass(t, tuple):
        return TUPLE
    if issubclass(t, _FUNCTION_TYPES):
        return FUNCTION
    if issubclass(t, list):
        return LIST
    if issubclass(t, dict):
        return DICT
    if issubclass(t, set | frozenset):
        return SET
    return OBJECT


def has_address(x: Any) -> bool:
    """Return whether the cotangent of `x` lives in the store."""
    return kind_of(x) >= LIST


class State(threading.local):
    """What belongs to the thread: the run that goes forward, the store of the run that goes back."""

    active: dict[int, Any] | None = None  # containers that hold active values, by identity
    store: "Store | None" = None


state = State()


class Store:
    """Hold the cotangents of the entries of containers, by the identity of the container."""

    def __init__(self) -> None:
        self.entries: dict[int, tuple[Any, dict[Any, Any]]] = {}
        self.redo: list[Callable[[], None]] = []

    def slots(self, x: Any) -> dict[Any, Any]:
        """Return the cotangents of the entries of `x`, by index, key or field."""
        try:
            return self.entries[id(x)][1]
        except KeyError:
            slots: dict[Any, Any] = {}
            self.entries[id(x)] = (x, slots)
            return slots

    def add(self, x: Any, dx: Any) -> Any:
        """Add the cotangent `dx` of `x`; return the part of it that goes by value."""
        if dx is None:
            return None
        kind = kind_of(x)
        if kind < LIST:
            return self._add_tuple(x, dx) if kind == TUPLE and isinstance(dx, tuple) else dx
        slots = self.slots(x)
        for key, value in entries_of(x):
            d = _entry(dx, key, kind)
            if d is not None:
                d = self.add(value, d)
                if d is not None:
                    slots[key] = accumulate(slots.get(key), d)
        return None

    def _add_tuple(self, x: Any, dx: Any) -> Any:
        parts = [self.add(value, d) for value, d in zip(x, dx, strict=True)]
        if all(d is None for d in parts):
            return None
        return type(x)(*parts) if hasattr(x, "_fields") else tuple(parts)

    def collect(self, x: Any, dx: Any, seen: dict[int, Any] | None = None) -> Any:
        """Return the whole cotangent of `x`: the part `dx` that goes by value, and the store's.

        An object that is met a second time has given its cotangent at the first place.
        """
        kind = kind_of(x)
        if kind == TUPLE:
            if not any(kind_of(value) >= TUPLE for value in x):
                return dx
            parts = [
                self.collect(value, None if dx is None else dx[i], seen)
                for i, value in enumerate(x)
            ]
            if all(d is None for d in parts):
                return None
            return type(x)(*parts) if hasattr(x, "_fields") else tuple(parts)
        if kind < LIST:
            return dx
        seen = {} if seen is None else seen
        if id(x) in seen:
            return None
        seen[id(x)] = x
        slots = self.entries[id(x)][1] if id(x) in self.entries else {}
        parts_by_key = {
            key: self.collect(value, slots.get(key), seen) for key, value in entries_of(x)
        }
        if all(d is None for d in parts_by_key.values()):
            return None
        if kind == LIST:
            return list(parts_by_key.values())
        if kind == DICT:
            return parts_by_key
        return Tangent(type(x), **{str(k): d for k, d in parts_by_key.items()})

    def restore(self) -> None:
        """Put the state of the containers back to what it was before the reverse pass."""
        while self.redo:
            self.redo.pop()()


def _entry(dx: Any, key: Any, kind: int) -> Any:
    if kind == LIST:
        return dx[key]
    if kind == DICT:
        return dx.get(key)
    return dx[key] if key in dx else None


def entries_of(x: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the entries of a container as (index, key or field; value)."""
    kind = kind_of(x)
    if kind in (LIST, TUPLE):
        yield from enumerate(x)
    elif kind == DICT:
        yield from x.items()
    elif kind == OBJECT:
        yield from getattr(x, "__dict__", {}).items()
        for name in _slot_names(type(x)):
            try:
                yield name, object.__getattribute__(x, name)
            except AttributeError:
                pass


_slots: dict[type, tuple[str, ...]] = {}


def _slot_names(t: type) -> tuple[str, ...]:
    try:
        return _slots[t]
    except KeyError:
        names = [
            name
            for base in t.__mro__
            for name, member in vars(base).items()
            if isinstance(member, types.MemberDescriptorType)
        ]
        _slots[t] = tuple(names)
        return _slots[t]


def reaches_active(*roots: Any) -> bool:
    """Return whether an active container can be reached from `roots`."""
    active = state.active
    if not active:
        return False
    seen: set[int] = set()
    stack = list(roots)
    while stack:
        x = stack.pop()
        kind = kind_of(x)
        if kind in (INERT, VALUE) or id(x) in seen:
            continue
        if id(x) in active:
            return True
        seen.add(id(x))
        if kind == FUNCTION:
            stack += _captured_by(x)
        elif kind == SET:
            stack += x
        else:
            stack += [value for _, value in entries_of(x)]
    return False


def _captured_by(f: Any) -> list[Any]:
    """Return what a function holds: captured variables, bound object, the globals it names."""
    if isinstance(f, types.MethodType):
        return [f.__self__, f.__func__]
    if not isinstance(f, types.FunctionType):
        owner = getattr(f, "__self__", None)
        return [] if owner is None else [owner]
    held = []
    for cell in f.__closure__ or ():
        try:
            held.append(cell.cell_contents)
        except ValueError:  # not assigned yet
            pass
    for name in f.__code__.co_names:
        value = f.__globals__.get(name)
        if kind_of(value) >= TUPLE:
            held.append(value)
    return held
