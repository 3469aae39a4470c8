"""The store: the cotangents of what has an address.

Numbers, arrays, tuples and functions are identified by their value: their cotangents go from
pullback to pullback. Lists, dicts, sets and objects are identified by their address: the
cotangents of their entries accumulate in a `Store`, keyed by identity, that lives in one call of
`back`; so all aliases of a list see the same cotangent, and a write can move it. The cotangent
of an array that is written in place lives there too, in a shadow of its memory.
"""

import collections
import types
from collections.abc import Callable
from numbers import Number
from typing import Any

import numpy as np

from rulescore import Array, Tangent, accumulate, project
from rulescore.faults import an
from zygote_lite._cotangents.kinds import (
    FUNCTION,
    INERT,
    LIST,
    OBJECT,
    OF_PYTHON,
    SET,
    TUPLE,
    VALUE,
    address_of,
    cotangent_like,
    differentiated_by,
    entries_of,
    is_known_by_rule,
    kind_of,
    own_fields,
    owner_of,
    shown_by_proxy,
    tuple_like,
)
from zygote_lite._cotangents.sequences import Places, Row
from zygote_lite.errors import Fault

_BARE_NUMBERS = (float, int, complex, np.float64, np.float32)


class Store:
    """Hold the cotangents of the entries of containers, by the identity of the container."""

    def __init__(self) -> None:
        self.entries: dict[int, tuple[Any, Any]] = {}
        self.redo: list[Callable[[], None]] = []
        self.shadows: dict[int, tuple[Any, Any]] = {}  # of arrays that are written in place
        self.written: dict[int, Any] = {}  # arrays that are written in place, of the run
        self.taking = False  # whether a cotangent is collected at the making of its value
        self.aliases: set[int] = set()  # memory of the operands that the value was made of

    def slots(self, x: Any) -> dict[Any, Any]:
        """Return the cotangents of the entries of `x`, by index, key or field."""
        address = address_of(x)
        try:
            return self.entries[address][1]  # type: ignore[no-any-return]
        except KeyError:
            is_deque = isinstance(x, collections.deque)
            slots: Any = Places(collections.deque([None] * len(x))) if is_deque else {}
            self.entries[address] = (x, slots)
            return slots  # type: ignore[no-any-return]

    def row(self, x: Any) -> Row:
        """Return the cotangents of the entries of a list, in a form that can be shifted."""
        slots: Any = self.slots(x)
        if isinstance(slots, Row):
            return slots
        row = Row([slots.get(i) for i in range(max(slots, default=-1) + 1)])
        self.entries[id(x)] = (x, row)
        return row

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
        return overlaps_itself(x)

    def add_to_shadow(self, x: Any, dx: Any) -> None:
        """Add to the cotangent of an array that is written in place."""
        shadow = self.shadow_view(x, make=True)
        if not self.overlaps(x):
            shadow += dx
            return
        np.add.at(*self.places_in_shadow(x), dx)

    def places_in_shadow(self, x: Any) -> tuple[Any, Any]:
        """Return the shadow of the memory of an array, as a vector, and where its entries are."""
        owner, whole = self.shadows[id(owner_of(x))]
        if x.dtype != owner.dtype:
            raise refused_view(x, owner)
        numbers = np.arange(whole.size)
        places = _same_view(np.reshape(numbers, whole.shape, order=_order(whole)), owner, x)
        return np.ravel(whole, order="K"), np.array(places)

    def take_shadow(self, x: Any) -> Any:
        """Return the cotangent of an array that is written in place at its making; forget it."""
        shadow = self.shadow_view(x)
        if shadow is None:
            return None
        d = np.copy(shadow)
        shadow[...] = 0
        return d

    def add(self, x: Any, dx: Any) -> Any:
        """Add the cotangent `dx` of `x`; return the part of it that goes by value."""
        if dx is None:
            return None
        kind = kind_of(x)
        if self.written and isinstance(x, np.ndarray) and id(owner_of(x)) in self.written:
            self.add_to_shadow(x, dx)
            return None
        if kind == FUNCTION and isinstance(dx, Tangent):
            return self._add_function(x, dx)
        if kind < LIST:
            return self._add_tuple(x, dx) if kind == TUPLE and isinstance(dx, tuple) else dx
        if kind == OBJECT and not isinstance(dx, Tangent):
            advice = "; pass `.to_numpy()` of it" if hasattr(type(x), "to_numpy") else "; give one"
            raise Fault.COTANGENT(
                f"the cotangent of {an(type(x).__qualname__)} must be a Tangent, and it is "
                f"{an(type(dx).__qualname__)}{advice}"
            )
        slots = self.slots(x)
        given = dx if kind == LIST else dict(dx)
        for key, value in entries_of(x):
            d = self.add(value, given[key] if kind == LIST else given.pop(key, None))
            if d is not None:
                slots[key] = accumulate(slots.get(key), d)
        if kind == OBJECT and any(d is not None for d in given.values()):
            lost = ", ".join(repr(name) for name, d in given.items() if d is not None)
            raise Fault.COTANGENT(
                f"the cotangent of {an(type(x).__qualname__)} has fields that the object does not "
                f"have: {lost}; leave them out"
            )
        return None

    def _add_tuple(self, x: Any, dx: Any, known: dict[Any, Any] | None = None) -> Any:
        """Add that of a tuple; of two tuples of numbers that are met again, the part is `known`."""
        known = {} if known is None else known
        parts, numbers = [], True
        for value, d in zip(x, dx, strict=True):
            key = id(value), id(d)
            if type(value) is not tuple or type(d) is not tuple:
                parts.append(self.add(value, d))
                numbers = numbers and type(value) in _BARE_NUMBERS
                continue
            parts.append(known[key] if key in known else self._add_tuple(value, d, known))
            numbers = numbers and key in known
        found = None if all(d is None for d in parts) else tuple_like(x, parts)
        if numbers:
            known[id(x), id(dx)] = found
        return found

    def _add_function(self, f: Any, dx: Any) -> Any:
        """Add the cotangent of a function: those of captured variables live in their cells."""
        if isinstance(f, types.MethodType):  # its node is that of its owner
            return self.add(f.__self__, dx["__self__"])
        if not isinstance(f, types.FunctionType) or not f.__closure__:
            return dx
        for name, cell in zip(f.__code__.co_freevars, f.__closure__, strict=True):
            d = self.add(cell.cell_contents, dx[name]) if name in dx else None
            if d is not None:
                slots = self.slots(cell)
                slots["cell_contents"] = accumulate(slots.get("cell_contents"), d)
        return None

    def collect(self, x: Any, dx: Any, seen: dict[int, Any] | None = None) -> Any:
        """Return the whole cotangent of `x`: the part `dx` that goes by value, and the store's.

        An object that is met a second time has given its cotangent at the first place.
        """
        seen = {} if seen is None else seen
        kind = kind_of(x)
        if kind == VALUE:
            if type(x) is types.MappingProxyType:
                return self.collect(shown_by_proxy(x), dx, seen)
            if self.shadows and issubclass(type(x), np.ndarray):
                dx = self._with_shadow(x, dx)
            if dx is None:
                return None  # not asked further: a weak reference may be to what is gone
            if isinstance(dx, Boxed):
                return dx.through(project, x)
            is_known = isinstance(x, Number | np.generic | Array) or is_known_by_rule(type(x))
            return project(dx, x) if is_known else dx
        if kind == INERT:
            return None
        if kind == FUNCTION:
            return self._collect_function(x, dx, seen)
        slots = dict(enumerate(dx or ()))
        if kind == TUPLE and dx is None and not self.shadows:
            # all that it gives has an address, and was given at the first place: so a tuple that
            # shares its parts many times is walked once
            if id(x) in seen:
                return None
            seen[id(x)] = x
        if kind != TUPLE:
            address = address_of(x)
            if address in seen:
                return None
            seen[address] = x
            slots = self.entries[address][1] if address in self.entries else {}
            if kind == SET and not self.taking and any(d is not None for d in slots.values()):
                raise Fault.NO_PLACE(
                    f"the elements of {an(type(x).__name__)} that is differentiated have a "
                    "gradient, and they have no order to give it in: pass a list, as by "
                    "`list(...)` or `sorted(...)`"
                )
            if self.taking:
                self.entries.pop(address, None)  # it goes to the operands: they may hold `x` itself
        parts = {key: self.collect(value, slots.get(key), seen) for key, value in entries_of(x)}
        if kind != OBJECT and type(x) not in OF_PYTHON:
            self._refuse_attributes(x, seen)
        return None if all(d is None for d in parts.values()) else cotangent_like(x, parts)

    def _collect_function(self, f: Any, dx: Any, seen: dict[int, Any]) -> Any:
        """Return the cotangents of what a function holds, by the names of captured variables."""
        if id(f) in seen:
            return dx
        seen[id(f)] = f
        if isinstance(f, types.MethodType):
            d = self.collect(f.__self__, dx, seen)
            return None if d is None else Tangent(type(f), __self__=d)
        if not isinstance(f, types.FunctionType) or not f.__closure__:
            return dx
        fields: dict[str, Any] = {}
        differentiated = differentiated_by(f)
        for name, cell in zip(f.__code__.co_freevars, f.__closure__, strict=True):
            if differentiated is not None and cell.cell_contents is not differentiated:
                continue
            given = dx[name] if isinstance(dx, Tangent) and name in dx else None
            if id(cell) in seen and given is None:
                fields[name] = None  # another function that captured it has given it
                continue
            seen[id(cell)] = cell
            slots = self.entries[id(cell)][1] if id(cell) in self.entries else {}
            if self.taking:
                self.entries.pop(id(cell), None)
            d = accumulate(slots.get("cell_contents"), given)
            try:
                fields[name] = self.collect(cell.cell_contents, d, seen)
            except ValueError:  # not assigned yet
                fields[name] = None
        return None if all(d is None for d in fields.values()) else Tangent(type(f), **fields)

    def _refuse_attributes(self, x: Any, seen: dict[int, Any]) -> None:
        """Refuse cotangents of the attributes of a container, which its own does not hold."""
        fields = own_fields(x)
        for name, d in (self.collect(fields, None, seen) or {}).items():
            if d is not None and not isinstance(fields[name], int):  # which is a choice there
                raise Fault.NO_PLACE(
                    f"the attribute `{name}` of {an(type(x).__qualname__)} that is differentiated "
                    "has a gradient, and the gradient of a tuple, list, dict or set has no place "
                    "for it: pass what it holds as an argument of its own"
                )

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
        # Going back, each write is undone, so that pullbacks see the values of their own time; the
        # redo log has the same writes, the last one of the program first. Popped from its end it
        # repeats them in the order of the program. It runs after an exception too (`finally`).
        while self.redo:
            self.redo.pop()()


class Boxed:
    """A cotangent that knows what a linear function makes of it."""

    __slots__ = ()

    def through(self, f: Any, *xs: Any) -> Any:
        """Return the cotangent that a linear function makes of this one."""
        raise NotImplementedError


def through(d: Any, f: Any, *xs: Any) -> Any:
    """Return what a linear function makes of a cotangent, which may be boxed, or none."""
    if isinstance(d, Boxed):
        return d.through(f, *xs)
    return None if d is None else f(d, *xs)


def _order(x: Any) -> Any:
    return "C" if x.flags.c_contiguous else "F"


def overlaps_itself(x: Any) -> bool:
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
    offset = x.__array_interface__["data"][0] - owner.__array_interface__["data"][0]
    flat = np.ravel(shadow, order="K")
    if x.dtype != owner.dtype:
        if not are_parts(x, owner):
            raise refused_view(x, owner)
        return np.ndarray(x.shape, x.dtype, flat, offset, x.strides)
    size = owner.itemsize
    if offset % size or any(s % size for s in x.strides):
        raise refused_view(x, owner)
    strides = tuple([s // size * shadow.itemsize for s in x.strides])
    return np.lib.stride_tricks.as_strided(flat[offset // size :], x.shape, strides)


def are_parts(x: Any, owner: Any) -> bool:
    """Return whether an array sees complex numbers as pairs of real ones, or pairs as complex."""
    kinds = {x.dtype.kind, owner.dtype.kind}
    return kinds == {*"fc"} and x.real.dtype == owner.real.dtype


def refused_view(x: Any, owner: Any) -> Exception:
    """Return the error for an array in memory that is written as another kind of number."""
    return Fault.MEMORY(
        f"an array of {owner.dtype} that is written in place is also seen as {x.dtype} (by "
        "`.view`): its gradient cannot be followed through such a view; write into a copy"
    )
