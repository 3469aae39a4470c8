"""Zeros: the cotangent of what no gradient has reached, of the kind of its primal."""

import contextlib
from collections.abc import Iterable
from numbers import Number
from types import FunctionType, MappingProxyType
from typing import Any

import numpy as np

from rulescore import Tangent, zero
from zygote_lite._cotangents.kinds import (
    DICT,
    FUNCTION,
    INERT,
    LIST,
    OBJECT,
    SET,
    TUPLE,
    VALUE,
    address_of,
    cotangent_like,
    entries_of,
    held_by,
    is_data,
    kind_of,
    shown_by_proxy,
)

_WITH_ENTRIES = (TUPLE, LIST, DICT, OBJECT)
WITHOUT_NONE = {float, np.ndarray, np.float64, complex, np.float32}
"""Types of cotangents that hold no `None`."""


ZerosByTuple = dict[int, tuple[Any, Any]]
"""By the identity of a tuple: the tuple, and its zeros."""
_NOT_WRITTEN = {float, complex, np.float64, np.float32, np.complex128, np.complex64, type(None)}


def has_no_none(d: Any) -> bool:
    """Return whether a cotangent has no `None` inside, as far as that is told quickly."""
    kind = type(d)
    if kind in WITHOUT_NONE:
        return True
    if kind is dict:
        d = d.values()
    elif kind is not tuple and kind is not list:
        return False
    return all(map(has_no_none, d))


def zeros_to_read(x: Any) -> Any:
    """Return zeros of the form of `x` that nobody changes: one object for a part met many times."""
    return filled(None, x, set(), {}, True)


def forms_of(xs: Iterable[Any], numbers: Iterable[int] | None = None) -> tuple[Any, ...]:
    """Return arguments, with what `filled` needs of containers: the entries that they have now.

    A function that is called with them may remove entries, add others, or put text in their places.

    Arguments:
        xs: the arguments.
        numbers: which of them are differentiated; the others are returned as they are.
    """
    forms = [*xs]
    for i in range(len(forms)) if numbers is None else numbers:
        with contextlib.suppress(RecursionError):  # of lists in lists a thousand deep
            forms[i] = _form_now(forms[i], set(), {})
    return tuple(forms)


def _form_now(x: Any, seen: set[int], known: ZerosByTuple) -> Any:
    kind = kind_of(x)
    if kind not in _WITH_ENTRIES or isinstance(x, Number | np.ndarray) or is_data(type(x)):
        return x
    if kind != TUPLE:
        address = address_of(x)
        if address in seen:  # its gradient is at the first place
            return None
        seen.add(address)
    elif id(x) in known:
        return known[id(x)][1]
    before = len(seen)
    found = {str(key) if kind == OBJECT else key: _form_now(part, seen, known)
             for key, part in entries_of(x)}  # fmt: skip
    form = cotangent_like(x, found)
    if kind == TUPLE and len(seen) == before:
        known[id(x)] = x, form
    return form


def filled(
    d: Any, x: Any, seen: set[int] | None = None, known: ZerosByTuple | None = None,
    to_read: bool = False,
) -> Any:  # fmt: skip
    """Return the cotangent `d` of `x` with zeros where it has `None`.

    What cannot have a gradient (text, truth values, functions that hold no numbers) keeps `None`.
    So does a list, a dict or an object where it is met a second time: its gradient is at the
    first place.

    Arguments:
        d, x: the cotangent and its primal.
        seen: the addresses of what was met before.
        known: the zeros of tuples that were met before.
        to_read: whether zeros may be one object that can be written to, such as arrays, too.
    """
    seen = set() if seen is None else seen
    known = {} if known is None else known
    kind = kind_of(x)
    if kind == VALUE or isinstance(x, Number):  # a `Fraction` has fields
        if isinstance(x, MappingProxyType):
            return filled(d, shown_by_proxy(x), seen, known, to_read)
        return zero(x) if d is None else d
    if kind in (INERT, SET) or (kind == FUNCTION and not held_by(x)):
        return d
    if isinstance(x, np.ndarray) or is_data(type(x)):  # or a masked array: it has no gradient
        return d
    if kind != TUPLE:  # which goes by value: each place has its own gradient
        address = id(x) if kind == FUNCTION else address_of(x)
        if address in seen:
            return d
        seen.add(address)
    if kind == FUNCTION:
        return _filled_function(d, x, seen, known, to_read)
    if d is None and id(x) in known:
        return known[id(x)][1]
    before = len(seen)
    given = dict(enumerate(d)) if isinstance(d, list | tuple) else {} if d is None else dict(d)
    found = dict(given)
    for entry, value in entries_of(x):
        key = str(entry) if kind == OBJECT else entry
        if isinstance(d, list) and key not in given:
            break  # it was appended by the function itself
        found[key] = filled(given.get(key), value, seen, known, to_read)
    whole = cotangent_like(x, found)
    if d is None and kind == TUPLE and len(seen) == before:
        # all that it holds by address was met before, and is `None` here
        each = zip(tuple(x), found.values(), strict=True)
        if to_read or all(type(z) in _NOT_WRITTEN or id(part) in known for part, z in each):
            known[id(x)] = x, whole
    return whole


def _filled_function(d: Any, f: Any, seen: set[int], known: ZerosByTuple, to_read: bool) -> Any:
    """Return the cotangent of a function with zeros for what it holds, if that has any."""
    held = {"__self__": getattr(f, "__self__", None)}
    if isinstance(f, FunctionType):
        cells = zip(f.__code__.co_freevars, f.__closure__ or (), strict=True)
        held = {name: value for name, cell in cells for _, value in entries_of(cell)}
    given = dict(d.items()) if isinstance(d, Tangent) else {}
    parts = {name: filled(given.get(name), x, seen, known, to_read) for name, x in held.items()}
    found = {**given, **parts}
    return d if all(entry is None for entry in found.values()) else Tangent(type(f), **found)
