"""Activity: what depends on a differentiated argument, and what pullbacks have saved.

Both are found from the values that a call is given and all that can be reached from them.
"""

import functools
import gc
import inspect
import operator
import types
from numbers import Number
from typing import Any

import numpy as np

from zygote_lite._kinds import (
    DICT,
    FUNCTION,
    INERT,
    LIST,
    SET,
    TUPLE,
    VALUE,
    entries_of,
    held_by,
    kind_of,
    owner_of,
)
from zygote_lite._pullbacks import Flags
from zygote_lite._state import state
from zygote_lite._tables import STRUCTURAL


def is_active(flags: Flags, f: Any, xs: tuple[Any, ...], kws: dict[str, Any]) -> bool:
    """Return whether a call can depend on a differentiated argument."""
    for flag in flags:
        if flag:
            return True
    active = state.active
    if not active:
        return False
    if (
        id(f) in STRUCTURAL
        and f is not operator.truth
        and (f is not operator.getitem or type(xs[0]) in (list, dict))
    ):
        if f is not getattr:
            return _is_any_active(active, xs)
        if not _computes(type(xs[0]), xs[1]):  # type: ignore[arg-type]
            return (
                id(_dict_of(xs[0])) in active
                or _is_any_active(active, xs)
                or _is_class_active(active, xs[0])
            )
    return reaches_active(f, *xs, *kws.values())


def _is_any_active(active: dict[int, Any], xs: tuple[Any, ...]) -> bool:
    return any(id(x) in active or (kind_of(x) == VALUE and reaches_active(x)) for x in xs)


def _is_class_active(active: dict[int, Any], x: Any) -> bool:
    cls = x if isinstance(x, type) else type(x)
    return bool(cls.__flags__ & 512) and any(id(base) in active for base in cls.__mro__)


def _dict_of(x: Any) -> Any:
    try:
        return object.__getattribute__(x, "__dict__")
    except AttributeError:
        return None


@functools.lru_cache(maxsize=4096)
def _computes(kind: type, name: str) -> bool:
    """Return whether looking up an attribute may run Python code."""
    member = inspect.getattr_static(kind, name, None)
    if isinstance(member, property | functools.cached_property):
        return True
    return hasattr(kind, "__getattr__") or type(member).__module__ not in ("builtins", "numpy")


def mark_active(x: Any) -> None:
    """Note that a container holds an active value now."""
    if state.active is not None:
        state.active[id(x)] = x


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


def note_captured(f: Any, xs: tuple[Any, ...]) -> None:
    """Note what the pullback of a rule may have saved."""
    captured = state.captured
    if captured is None:
        return
    for x in (f, *xs):
        kind = kind_of(x)
        if isinstance(x, np.ndarray):
            owner = owner_of(x)
            captured[id(owner)] = owner
        elif kind in (LIST, DICT, TUPLE):
            if kind != TUPLE:
                captured[id(x)] = x
            for _, entry in entries_of(x):
                if isinstance(entry, np.ndarray):
                    owner = owner_of(entry)
                    captured[id(owner)] = owner


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
        if id(x) in seen:
            continue
        if kind == INERT:
            if isinstance(x, type):
                seen.add(id(x))
                if _is_class_active(active, x):
                    if found is None:
                        return True
                    found.update({id(b): b for b in x.__mro__ if id(b) in active})
                stack += _held_by_class(x)
            continue
        if kind == VALUE:
            if isinstance(x, np.ndarray) and id(owner_of(x)) in active:
                if found is None:
                    return True
                found[id(owner_of(x))] = owner_of(x)
            elif isinstance(x, np.ndarray):
                if isinstance(owner_of(x).base, np.nditer):
                    stack += owner_of(x).base.operands
            elif not isinstance(x, np.generic | Number):
                seen.add(id(x))  # an iterator or a view in C, say: it may hold a container
                stack += _behind(x)
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
            if type(x).__flags__ & 512 and id(type(x)) not in seen:
                stack.append(type(x))
    return False


def _behind(x: Any) -> list[Any]:
    """Return what an object written in C refers to, as far as it tells."""
    if isinstance(x, np.nditer):
        return [*x.operands]
    return [*gc.get_referents(x), *([x.base] if isinstance(x, np.flatiter) else [])]


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
    held += f.__dict__.values()
    names = _names_in(f.__code__)
    for name in names:
        value = f.__globals__.get(name)
        if isinstance(value, types.ModuleType):
            held += [vars(value)[n] for n in names if _may_hold(vars(value).get(n))]
        elif isinstance(value, types.FunctionType | type) or _may_hold(value):
            held.append(value)
    return held


def _may_hold(x: Any) -> bool:
    return kind_of(x) >= TUPLE or isinstance(x, np.ndarray)


@functools.lru_cache(maxsize=4096)
def _names_in(code: types.CodeType) -> tuple[str, ...]:
    """Return the globals and attributes that a function names, and functions inside it."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names.update(_names_in(constant))
    return tuple(names)


def _held_by_class(cls: type) -> list[Any]:
    """Return what a class of the user's holds: in its attributes, and captured by its methods."""
    held: list[Any] = []
    for base in cls.__mro__:
        if base.__module__ in ("builtins", "numpy", "typing", "abc") or not base.__flags__ & 512:
            continue
        is_local = "<locals>" in base.__qualname__
        for member in vars(base).values():
            f = getattr(member, "__func__", getattr(member, "fget", member))
            if isinstance(f, types.FunctionType):
                held += (f.__closure__ or ()) if is_local else ()
            elif _may_hold(member) and not isinstance(member, types.MappingProxyType):
                held.append(member)
    return [x for x in held if not isinstance(x, types.CellType) or not _holds_class(x)]


def _holds_class(cell: Any) -> bool:
    try:
        return isinstance(cell.cell_contents, type)
    except ValueError:
        return True
