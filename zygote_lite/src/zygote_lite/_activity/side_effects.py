"""Implicit calls: special methods that C code invokes (`__eq__` in `x in xs`, `__hash__`, ...).

The tape does not see such calls. They may read anything, but a write to an active or saved value
would be lost. So a function written in C is not simply run if a user class among its operands has
a special method that may write, and something active or saved can be reached from that method.
Its Python equivalent is recorded instead; if there is none, the call is refused.
"""

import functools
import gc
import inspect
import operator
import types
from collections.abc import Iterable
from typing import Any

import numpy as np

from zygote_lite._activity.deeds import may_write
from zygote_lite._activity.hooks import CONTAINER_KINDS, PLAIN_KINDS, Hook, holds_objects, hooks_of
from zygote_lite._ir.intrinsics import build_dict, join_dict
from zygote_lite._ir.places import is_library
from zygote_lite._ir.traits import BY_ID, HASH, NO_TRAITS, SPECIAL_METHODS, SPREAD

_INDEXED = {id(f) for f in (operator.getitem, operator.setitem, operator.delitem)}
_KEYED = {id(f) for f in (
    operator.contains, dict.get, dict.pop, dict.setdefault, dict.__contains__, set.__contains__,
    set.add, set.discard, set.remove,
)}  # fmt: skip
SEEKING_IN_ORDER = {id(f) for f in (
    operator.contains, operator.indexOf, list.index, list.remove, list.__contains__, tuple.index,
    tuple.__contains__,
)}  # fmt: skip
_FILLING_DICTS = {id(f) for f in (dict, dict.update, build_dict, join_dict)}
_SEARCHED_WHOLE = 8
_ALSO_OF_SETS = {id(f) for f in (
    operator.or_, operator.and_, operator.xor, operator.sub, operator.ior, operator.iand,
    operator.ixor, operator.isub,
)}  # fmt: skip
_NO_ENTRIES: dict[Any, Any] = {}
_HASHING: Any = (dict, set, frozenset, type(_NO_ENTRIES.keys()), type(_NO_ENTRIES.items()))
_PYTHON_CALLABLES = (types.FunctionType, types.MethodType, type, functools.partial)


def hooks_called(f: Any, xs: Iterable[Any]) -> list[Hook]:
    """Return the methods of user classes that `f`, written in C, may call and that may write."""
    known = BY_ID.get(id(f), NO_TRAITS)
    names, deep = known.calls, known.calls_within
    if id(f) in _ALSO_OF_SETS and all(isinstance(x, _HASHING) for x in xs):
        return hooks_of([[*x] for x in xs], True, HASH)
    if names is None:
        return []
    if id(f) in _INDEXED:
        return _hooks_of_index(names, *xs)
    if id(f) in _FILLING_DICTS:
        xs = _without_values(f, xs)
    if _are_plain(xs) if deep else _are_plain_or_containers(xs):
        return []
    if id(f) in SEEKING_IN_ORDER:
        xs = as_far_as_found(xs)
    if id(f) in _KEYED:
        x, *keys = xs
        if isinstance(x, dict | set | frozenset):  # what else it holds is not looked at
            return hooks_of((x,), False, names) + _hooks_of_keys(x, keys[:1], names)
    return hooks_of(xs, deep, names)


def _without_values(f: Any, xs: Iterable[Any]) -> list[Any]:
    """Return the operands of a function that makes or fills a dict, without values of dicts."""
    if f is build_dict:
        return [*xs][::2]
    return [[*x] if type(x) is dict else x for x in xs]


def as_far_as_found(xs: Iterable[Any]) -> tuple[Any, ...]:
    """Return the operands of a search in a sequence, which ends at the object that is sought."""
    held, *sought = xs
    if type(held) in (list, tuple) and len(sought) == 1 and len(held) > _SEARCHED_WHOLE:
        place = next((i for i, x in enumerate(held) if x is sought[0]), len(held))
        held = held[: place + 1]
    return held, *sought


def _hooks_of_keys(x: Any, keys: Iterable[Any], names: frozenset[str]) -> list[Hook]:
    """Return the hooks of keys that are looked up, and of the keys that these may be compared to.

    Keys without hooks are not compared to all others: a look-up would take as long as a search.
    """
    found = hooks_of(keys, True, names)
    return found + hooks_of([[*x]], True, names) if found else found


def _hooks_of_index(names: frozenset[str], x: Any, index: Any, *value: Any) -> list[Hook]:
    """Return the hooks of a subscript: of what the index holds, and of what is spread there.

    A value that a list or a dict is given is stored as it is.
    """
    parts = [*index] if type(index) is tuple else [index]
    for part in parts:
        if type(part) is slice:
            parts += [part.start, part.stop, part.step]
    found: list[Hook] = []
    asked = (x, *parts) if isinstance(x, dict | list) else (x, *parts, *value)
    if not _are_plain_or_containers((x, *parts, *value)):
        found = hooks_of(asked, False, names)
        if found and isinstance(x, dict):
            found += _hooks_of_keys(x, (index,), names)
        if value and (isinstance(x, np.ndarray) or (isinstance(x, list) and type(index) is slice)):
            found += hooks_of(value, False, SPREAD)
    return found


def _is_declared(f: Any) -> bool:
    """Return whether it is known which methods a function written in C calls."""
    return BY_ID.get(id(f), NO_TRAITS).calls is not None


def hooks_of_operands(f: Any, xs: Iterable[Any]) -> list[Hook]:
    """Return the methods of operands that C or NumPy may call where a rule is applied."""
    if isinstance(f, types.FunctionType) and not is_library(f.__code__.co_filename):
        return []  # whoever declared a rule for it knows
    known = _is_declared(f) or _are_plain(xs)
    return [] if known else hooks_of(xs, deep=True, names=SPREAD)


def unknown_hooks(f: Any, xs: Iterable[Any]) -> list[Hook]:
    """Return the methods of operands that a function written in C may call, whichever they are."""
    if _is_declared(f) or isinstance(f, _PYTHON_CALLABLES):
        return []
    if isinstance(f, np.ufunc):
        return callbacks(gc.get_referents(f))  # what `np.frompyfunc` made it of
    if _are_plain(xs):
        return []
    found = hooks_of(xs, deep=True, names=SPECIAL_METHODS)
    held = getattr(f, "__self__", None) if found else None
    return found + hooks_of([[*held]], True, HASH) if isinstance(held, _HASHING) else found


def _are_plain_or_containers(xs: Iterable[Any]) -> bool:
    return all(kind in PLAIN_KINDS or kind in CONTAINER_KINDS for kind in map(type, xs))


def _are_plain(xs: Iterable[Any]) -> bool:
    """Return whether none of some values is, or holds, an object with methods."""
    return PLAIN_KINDS.issuperset(map(type, xs)) and not any(map(holds_objects, xs))


def callbacks(xs: Iterable[Any]) -> list[Hook]:
    """Return the functions among the operands of a function written in C that may write."""
    found: list[Hook] = []
    for x in xs:
        f = x.func if isinstance(x, functools.partial) else x
        f = f.__func__ if isinstance(f, types.MethodType) else f
        if not isinstance(f, types.FunctionType):
            f = inspect.getattr_static(type(x), "__call__", None)
        if isinstance(f, types.FunctionType) and may_write(f):
            found.append((f, x))
    return found
