"""The state of a run: which containers are active, and the cotangents of what has an address.

Numbers, arrays, tuples and functions are identified by their value: their cotangents go from
pullback to pullback. Lists, dicts, sets and objects are identified by their address: the
cotangents of their entries accumulate in a `Store`, keyed by identity, that lives in one call of
`back`; so all aliases of a list see the same cotangent, and a write can move it.
"""

import contextlib
import datetime
import enum
import functools
import re
import threading
import types
from collections.abc import Callable, Iterator
from numbers import Number
from typing import Any

import numpy as np

from rulescore import Array, Tangent, accumulate, project
from zygote_lite._errors import DifferentiationError

INERT, VALUE, FUNCTION, TUPLE, LIST, DICT, SET, OBJECT = range(8)
_INERT_TYPES = (
    type(None), bool, np.bool_, str, bytes, bytearray, type, types.ModuleType, range, slice,
    type(...), type(NotImplemented), np.dtype, np.random.Generator, re.Pattern, re.Match,
    datetime.date, datetime.timedelta, types.CodeType, types.GenericAlias, enum.Enum,
)  # fmt: skip
_FUNCTION_TYPES = (
    types.FunctionType, types.BuiltinFunctionType, types.MethodType, np.ufunc,
    types.MethodWrapperType, types.MethodDescriptorType, types.WrapperDescriptorType,
)  # fmt: skip
_PYTHON_TYPE = 1 << 9  # `Py_TPFLAGS_HEAPTYPE`: made by a `class` statement, as a rule
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
    known = (types.CellType, functools.partial)
    if t.__dictoffset__ == 0 and not t.__flags__ & _PYTHON_TYPE and t not in known:
        return VALUE  # of a type written in C: nothing in it can be told apart
    return OBJECT


def has_address(x: Any) -> bool:
    """Return whether the cotangent of `x` lives in the store."""
    return kind_of(x) >= LIST


class State(threading.local):
    """What belongs to the thread: the run that goes forward, the store of that going back."""

    active: dict[int, Any] | None = None  # containers that hold active values, by identity
    captured: dict[int, Any] | None = None  # arrays and containers that pullbacks have saved
    written: dict[int, Any] | None = None  # arrays that were written in place
    store: "Store | None" = None
    writes = 0  # into arrays, so far
    trace: list[tuple[Any, ...]] | None = None  # for `explain`: how each call was resolved


state = State()


class Store:
    """Hold the cotangents of the entries of containers, by the identity of the container."""

    def __init__(self) -> None:
        self.entries: dict[int, tuple[Any, dict[Any, Any]]] = {}
        self.redo: list[Callable[[], None]] = []
        self.shadows: dict[int, tuple[Any, Any]] = {}  # of arrays that are written in place
        self.taking = False  # whether a cotangent is collected at the making of its value
        self.aliases: set[int] = set()  # memory of the operands that the value was made of

    def slots(self, x: Any) -> dict[Any, Any]:
        """Return the cotangents of the entries of `x`, by index, key or field."""
        try:
            return self.entries[id(x)][1]
        except KeyError:
            slots: dict[Any, Any] = {}
            self.entries[id(x)] = (x, slots)
            return slots

    def shadow_view(self, x: Any, make: bool = False) -> Any:
        """Return the cotangent of an array that is written in place, or `None` if it has none yet.

        It is a view, with the offset and strides of `x`, of the shadow of the memory of `x`.
        """
        owner = owner_of(x)
        known = self.shadows.get(id(owner))
        if known is None:
            if not make:
                return None
            dtype = owner.dtype if owner.dtype.kind in "fc" else float
            known = self.shadows[id(owner)] = (
                owner,
                np.zeros_like(owner, dtype=dtype, subok=False),
            )
        return known[1] if x is owner else _same_view(known[1], owner, x)

    def overlaps(self, x: Any) -> bool:
        """Return whether two entries of a view may be one place in memory."""
        return _overlaps_itself(x)

    def add_to_shadow(self, x: Any, dx: Any) -> None:
        """Add to the cotangent of an array that is written in place."""
        shadow = self.shadow_view(x, make=True)
        if not self.overlaps(x):
            shadow += dx
            return
        owner, whole = self.shadows[id(owner_of(x))]
        numbers = np.arange(whole.size)
        places = _same_view(np.reshape(numbers, whole.shape, order=_order(whole)), owner, x)
        flat = np.ravel(whole, order="K")
        np.add.at(flat, np.array(places), dx)

    def add(self, x: Any, dx: Any) -> Any:
        """Add the cotangent `dx` of `x`; return the part of it that goes by value."""
        if dx is None:
            return None
        kind = kind_of(x)
        if kind < LIST:
            return self._add_tuple(x, dx) if kind == TUPLE and isinstance(dx, tuple) else dx
        if kind == OBJECT and not isinstance(dx, Tangent):
            raise TypeError(
                f"the cotangent of a {type(x).__qualname__} must be a Tangent, and it is a "
                f"{type(dx).__qualname__}"
            )
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
        seen = {} if seen is None else seen
        kind = kind_of(x)
        if kind == VALUE:
            if self.shadows and isinstance(x, np.ndarray):
                dx = self._with_shadow(x, dx)
            if isinstance(dx, Boxed):
                return dx.projected(x)
            return project(dx, x) if isinstance(x, Number | np.generic | Array) else dx
        if kind == INERT:
            return None
        if kind == TUPLE:
            parts = [
                self.collect(value, None if dx is None else dx[i], seen)
                for i, value in enumerate(x)
            ]
            if all(d is None for d in parts):
                return None
            return type(x)(*parts) if hasattr(x, "_fields") else tuple(parts)
        if kind == FUNCTION:
            return self._collect_function(x, dx, seen)
        if kind < LIST:
            return dx
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

    def _collect_function(self, f: Any, dx: Any, seen: dict[int, Any]) -> Any:
        """Return the cotangents of what a function holds, by the names of captured variables."""
        if id(f) in seen:
            return dx
        seen[id(f)] = f
        if isinstance(f, types.MethodType):
            inner = None if dx is None else dx["__self__"]
            d = self.collect(f.__self__, inner, seen)
            return None if d is None else Tangent(type(f), __self__=d)
        if not isinstance(f, types.FunctionType) or not f.__closure__:
            return dx
        fields: dict[str, Any] = {}
        for name, cell in zip(f.__code__.co_freevars, f.__closure__, strict=True):
            slots = self.entries[id(cell)][1] if id(cell) in self.entries else {}
            given = dx[name] if isinstance(dx, Tangent) and name in dx else None
            d = accumulate(slots.get("cell_contents"), given)
            try:
                fields[name] = self.collect(cell.cell_contents, d, seen)
            except ValueError:  # not assigned yet
                fields[name] = None
        return None if all(d is None for d in fields.values()) else Tangent(type(f), **fields)

    def _with_shadow(self, x: Any, dx: Any) -> Any:
        """Return the cotangent of an array, of which a part may live in a shadow."""
        owner = owner_of(x)
        if id(owner) not in self.shadows or id(owner) in self.aliases:
            return dx
        shadow = self.shadow_view(x)
        dx = accumulate(dx, np.copy(shadow))
        if self.taking:
            shadow[...] = 0
        return dx

    def restore(self) -> None:
        """Put the state of the containers back to what it was before the reverse pass."""
        while self.redo:
            self.redo.pop()()


def _entry(dx: Any, key: Any, kind: int) -> Any:
    if kind == LIST:
        return dx[key]
    if kind == DICT:
        return dx.get(key)
    return dict(dx).get(key)


def entries_of(x: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the entries of a container as (index, key or field; value)."""
    kind = kind_of(x)
    if kind in (LIST, TUPLE):
        yield from enumerate(x)
    elif kind == DICT:
        yield from x.items()
    elif isinstance(x, types.CellType):
        with contextlib.suppress(ValueError):  # not assigned yet
            yield "cell_contents", x.cell_contents
    elif isinstance(x, functools.partial):
        yield from (("func", x.func), ("args", x.args), ("keywords", x.keywords))
    elif kind == OBJECT:
        yield from getattr(x, "__dict__", {}).items()
        for name in _slot_names(type(x)):
            with contextlib.suppress(AttributeError):
                yield name, object.__getattribute__(x, name)


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


class Boxed:
    """A cotangent that knows how to take the kind of its primal."""

    __slots__ = ()

    def projected(self, x: Any) -> Any:
        """Return the cotangent with the kind of its primal `x`."""
        raise NotImplementedError


def add_addresses(x: Any) -> None:
    """Note that all that can be reached from a differentiated argument is active."""
    assert state.active is not None
    state.active.update(addresses_of(x))


def addresses_of(x: Any) -> dict[int, Any]:
    """Return all that has an address and can be reached from `x`."""
    found: dict[int, Any] = {}
    seen: set[int] = set()
    stack = [x]
    while stack:
        value = stack.pop()
        kind = kind_of(value)
        if kind < FUNCTION or id(value) in seen:
            continue
        seen.add(id(value))
        if kind == FUNCTION:
            stack += held_by(value)
        else:
            if kind >= LIST:
                found[id(value)] = value
            stack += [entry for _, entry in entries_of(value)]
    return found


def _order(x: Any) -> Any:
    return "C" if x.flags.c_contiguous else "F"


def _overlaps_itself(x: Any) -> bool:
    """Return whether two entries of a view may be one place in memory, as after broadcasting."""
    reach = x.itemsize
    for n, stride in sorted(zip(x.shape, map(abs, x.strides), strict=True), key=lambda p: p[1]):
        if n > 1:
            if stride < reach:
                return True
            reach += stride * (n - 1)
    return False


def _same_view(shadow: Any, owner: Any, x: Any) -> Any:
    """Return the view of `shadow` that lies in it as `x` lies in `owner`."""
    if x.size == 0:
        return np.zeros(x.shape, shadow.dtype)
    size = owner.itemsize
    offset = x.__array_interface__["data"][0] - owner.__array_interface__["data"][0]
    if x.dtype != owner.dtype or offset % size or any(s % size for s in x.strides):
        raise DifferentiationError(
            f"an array of {owner.dtype} that is written in place is also seen as {x.dtype} (by "
            "`.real`, `.view`): its gradient cannot be followed through such a view; write into a copy"
        )
    strides = tuple([s // size * shadow.itemsize for s in x.strides])
    flat = np.ravel(shadow, order="K")
    return np.lib.stride_tricks.as_strided(flat[offset // size :], x.shape, strides)


def current_store() -> Store:
    """Return the store of the call of `back` that is running."""
    assert state.store is not None
    return state.store


def slots_of(x: Any) -> dict[Any, Any]:
    """Return the cotangents of the entries of a container."""
    return current_store().slots(x)


def give(slots: dict[Any, Any], key: Any, d: Any) -> None:
    """Add the cotangent `d` to that of one entry."""
    if d is not None:
        slots[key] = accumulate(slots.get(key), d)


def forget(x: Any) -> dict[Any, Any]:
    """Return the cotangents of the entries of a container at its creation, and forget them."""
    entry = current_store().entries.pop(id(x), None)
    return {} if entry is None else entry[1]


def mark_active(x: Any) -> None:
    """Note that a container holds an active value now."""
    if state.active is not None:
        state.active[id(x)] = x


LIMIT = 2000


def reaches_active(*roots: Any) -> bool:
    """Return whether something active can be reached from `roots`.

    After `LIMIT` objects the search gives up and says yes: that costs time, but no gradient.
    """
    active = state.active
    return bool(active) and _reaches(active or {}, roots)


def captured_within(*roots: Any) -> list[Any]:
    """Return what pullbacks have saved and can be reached from `roots` (all of it, if in doubt)."""
    captured = state.captured
    if not captured:
        return []
    found: dict[int, Any] = {}
    if _reaches(captured, roots, found):
        return list(captured.values())
    return list(found.values())


def _reaches(active: dict[int, Any], roots: Any, found: dict[int, Any] | None = None) -> bool:
    seen: set[int] = set()
    stack = list(roots)
    while stack:
        x = stack.pop()
        kind = kind_of(x)
        if kind == INERT or id(x) in seen:
            if isinstance(x, type):
                stack += _held_by_class(x)
            continue
        if kind == VALUE:
            if isinstance(x, np.ndarray) and id(owner_of(x)) in active:
                if found is None:
                    return True
                found[id(owner_of(x))] = owner_of(x)
            continue
        if len(seen) > LIMIT:
            return True
        if id(x) in active:
            if found is None:
                return True
            found[id(x)] = x
        seen.add(id(x))
        if kind == FUNCTION:
            stack += _captured_by(x)
        elif kind == SET:
            stack += x
        else:
            stack += [value for _, value in entries_of(x)]
            if "<locals>" in type(x).__qualname__:
                stack += _held_by_class(type(x))
    return False


def owner_of(x: Any) -> Any:
    """Return the array whose memory `x` is a view of, or `x` itself."""
    while True:
        base = x.base
        if not isinstance(base, np.ndarray):
            base = getattr(base, "base", None)  # `as_strided` puts an object in between
            if not isinstance(base, np.ndarray):
                return x
        x = base


def take(y: Any, dy: Any, xs: tuple[Any, ...] = ()) -> Any:
    """Return the whole cotangent of a value at its creation from `xs`, and forget it.

    What lives in the memory of an array among `xs` is not new: its cotangent stays where it is.
    """
    kind = kind_of(y)
    if kind < TUPLE:
        return dy
    store = state.store
    assert store is not None
    store.taking = True
    held = [*xs, *(entry for x in xs if kind_of(x) in (LIST, TUPLE) for entry in x)]
    store.aliases = {id(owner_of(x)) for x in held if isinstance(x, np.ndarray)}
    try:
        dy = store.collect(y, dy)
    finally:
        store.taking, store.aliases = False, set()
    store.entries.pop(id(y), None)
    return dy


def _held_by_class(cls: type) -> list[Any]:
    """Return the cells that the methods of a class defined inside a function capture."""
    held: list[Any] = []
    for base in cls.__mro__:
        if "<locals>" in base.__qualname__:
            for member in vars(base).values():
                f = getattr(member, "__func__", getattr(member, "fget", member))
                if isinstance(f, types.FunctionType):
                    held += f.__closure__ or ()
    return [cell for cell in held if not _holds_class(cell)]


def _holds_class(cell: Any) -> bool:
    try:
        return isinstance(cell.cell_contents, type)
    except ValueError:
        return True


def held_by(f: Any) -> list[Any]:
    """Return what a function holds: the cells of captured variables, or its bound object."""
    if isinstance(f, types.FunctionType):
        return [*(f.__closure__ or ())]
    owner = getattr(f, "__self__", None)
    return [] if owner is None else [owner]


def _captured_by(f: Any) -> list[Any]:
    """Return what a function holds and what it can reach: also defaults and globals it names."""
    if isinstance(f, types.MethodType):
        return [f.__self__, f.__func__]
    f = getattr(f, "__wrapped__", f) if isinstance(f, functools._lru_cache_wrapper) else f
    if not isinstance(f, types.FunctionType):
        owner = getattr(f, "__self__", None)
        return [] if owner is None else [owner]
    held: list[Any] = [*(f.__closure__ or ()), *(f.__defaults__ or ())]
    held += (f.__kwdefaults__ or {}).values()
    for name in f.__code__.co_names:
        value = f.__globals__.get(name)
        if kind_of(value) >= TUPLE:
            held.append(value)
    return held
