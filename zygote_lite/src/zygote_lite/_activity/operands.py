"""Functions in C that look at their operands, and of what these hold at nothing but by methods.

Such a call depends on no more than what it looks at, however much can be reached from there:
`isinstance(x, Part)`, `x in parts`, `repr(x)`, `np.array(parts, dtype=object)`. An object whose
class has none of the methods that the function calls is not looked into.
"""

import gc
import operator
import sys
import threading
import types
import weakref
from abc import ABCMeta
from typing import Any

import numpy as np

from zygote_lite._activity.classes import computes, is_class_active, member_of
from zygote_lite._activity.hooks import has_any_of
from zygote_lite._activity.marks import PLAIN
from zygote_lite._activity.reachability import is_users_class
from zygote_lite._cotangents.kinds import OBJECT, dict_of, kind_of_type, owner_of
from zygote_lite._cotangents.run import state
from zygote_lite._ir.intrinsics import build_set
from zygote_lite._ir.operators import COMPARISONS
from zygote_lite._ir.places import ENGINE, is_library
from zygote_lite._ir.traits import BY_ID, SPREAD
from zygote_lite.caches import cached_by_class

_MOST_SEEN = 2000  # containers within containers that are looked at
_LOOKED_THROUGH = {list, tuple, dict, set, frozenset}
_OF_KEYS = {dict, set, frozenset}
_LOOKED_INTO = {*_LOOKED_THROUGH, np.ndarray, type}
_ARRAY_NAMES = frozenset(("__array__", "__array_interface__", "__array_struct__", "__getattr__"))
_READ_BY_NUMPY = SPREAD | _ARRAY_NAMES | {"__getattribute__"}
_METHODS_READ: dict[int, frozenset[str]] = {
    **{id(f): BY_ID[id(f)].calls or frozenset() for f in (
        hash, str, repr, ascii, format, set, frozenset, list, tuple, build_set, any, all, bool,
        sorted, min, max, int, float, complex, round, operator.contains, operator.countOf,
        operator.indexOf, operator.truth, operator.not_, operator.index, operator.is_,
        operator.is_not, list.index, list.count, tuple.index, tuple.count, set.union,
        set.intersection, set.difference, set.symmetric_difference, set.isdisjoint, set.issubset,
        set.issuperset, set.__contains__, dict.__contains__, sys.getsizeof, sys.getrefcount,
        *(of.function for of in COMPARISONS if not of.name.startswith("is")),
    )},
    **dict.fromkeys(map(id, (np.array, np.asarray, np.asanyarray)), _READ_BY_NUMPY),
    **{id(f): frozenset[str]() for f in (types.SimpleNamespace, weakref.ref)},
}  # fmt: skip
"""Functions that read objects by methods alone, and by which."""
_SEEKING = {id(f) for f in (operator.contains, set.__contains__, dict.__contains__)}


def looked_at(f: Any, xs: tuple[Any, ...], kws: dict[str, Any]) -> list[Any] | None:
    """Return what a function in C looks at; `None` where it may look at more.

    It is the operands, and the containers within containers, whose items are not active by
    themselves.
    """
    if xs and id(f) in _MOVING:
        array = array_of_objects(xs[0])
        if array is not None:
            return [array]
    if kws or not xs:
        return _looked_at_by_methods(f, (*xs, *kws.values()))
    if f is isinstance or f is issubclass:
        kinds = xs[1] if type(xs[1]) is tuple else (xs[1],)
        in_c = all(map(_is_asked_in_c, kinds)) and not computes(type(xs[0]), "__class__")
    elif f is hasattr:
        in_c = type(xs[1]) is str and not computes(type(xs[0]), xs[1])
    elif f is vars:
        in_c = len(xs) == 1 and not computes(type(xs[0]), "__dict__")
    else:
        in_c = len(xs) == 1 and (f is id or f is type or f is callable)
    return [*xs] if in_c else _looked_at_by_methods(f, xs)


def array_of_objects(x: Any) -> Any:
    """Return an array of objects, also for its `flat` or an iterator over it; otherwise `None`.

    None is made of what is active, which is refused. So it holds what is active only in objects,
    which are known by their address wherever they are read.
    """
    if type(x) is np.flatiter:
        x = x.base
    elif type(x) is _ITERATOR:
        x = next(iter(gc.get_referents(x)), None)
    return x if type(x) is np.ndarray and x.dtype == object else None


_ITERATOR = type(iter(np.zeros(0)))
_MOVING = {id(f) for f in (
    operator.getitem, iter, next, len, getattr, np.ndarray.tolist, np.ndarray.item,
    np.ndarray.copy, np.ndarray.ravel, np.ndarray.flatten, np.ndarray.reshape,
    np.ndarray.transpose, np.ndarray.squeeze, np.ndarray.take,
)}  # fmt: skip
"""Functions that hand on the items of an array of objects, and look at none."""


def holds_itself(x: Any) -> bool:
    """Return whether something that a value, or its class, holds itself is active."""
    active = state.active or {}
    if issubclass(type(x), np.ndarray):
        return id(owner_of(x)) in active
    is_held = id(x) in active or id(dict_of(x)) in active or is_class_active(active, x)
    return is_held or is_written_for_thread(x)


def is_written_for_thread(x: Any) -> bool:
    """Return whether the `__dict__` that a `threading.local` has in this thread is active."""
    if not issubclass(type(x), threading.local):
        return False
    return id(threading.local.__getattribute__(x, "__dict__")) in (state.active or {})


def _is_asked_in_c(kind: Any) -> bool:
    """Return whether C tells what is an instance of a class."""
    if type(kind) is ABCMeta:
        hook = member_of(kind, "__subclasshook__")
        return is_library(getattr(getattr(hook, "__code__", None), "co_filename", ENGINE))
    return type(kind) in (type, types.UnionType)


def _looked_at_by_methods(f: Any, xs: tuple[Any, ...]) -> list[Any] | None:
    """Return what a function looks at that reads objects by methods, if none has such methods."""
    names = _METHODS_READ.get(id(f))
    if names is None or state.has_texts:  # texts are active by themselves
        return None
    found, held = [*xs], list[Any]([xs])
    if id(f) in _SEEKING and type(xs[0]) in _OF_KEYS:  # which compares with an equal key alone
        held = [xs[1:]]
    while held:
        items = held.pop()
        kinds = {*map(type, items)} - PLAIN
        if not all(kind in _LOOKED_INTO or _has_none_of(kind, names) for kind in kinds):
            return None
        own = map(dict_of, items) if names is _READ_BY_NUMPY else ()
        if any(_ARRAY_NAMES.intersection(fields or ()) for fields in own):
            return None
        if np.ndarray in kinds and any(type(x) is np.ndarray and x.dtype.hasobject for x in items):
            return None
        within = [x for x in items if type(x) in _LOOKED_THROUGH] if kinds & _LOOKED_THROUGH else []
        held += within
        held += [x.values() for x in within if type(x) is dict]
        found += within
        if len(found) > _MOST_SEEN:
            return None
    return found


@cached_by_class
def _has_none_of(kind: type, names: frozenset[str]) -> bool:
    """Return whether instances of a user's class have none of some methods."""
    is_users = kind_of_type(kind) == OBJECT and is_users_class(kind)
    return is_users and not has_any_of(kind, names)
