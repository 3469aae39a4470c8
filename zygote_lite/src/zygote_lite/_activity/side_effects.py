"""Implicit calls: special methods that C code invokes (`__eq__` in `x in xs`, `__hash__`, ...).

The tape does not see such calls. They may read anything, but a write to an active or saved value
would be lost. So a function written in C is not simply run if a user class among its operands has
a special method that may write, and something active or saved can be reached from that method.
Its Python equivalent is recorded instead; if there is none, the call is refused.
"""

import builtins
import dataclasses
import functools
import gc
import inspect
import math
import operator
import types
from collections.abc import Iterable
from typing import Any

import numpy as np

from zygote_lite._activity.walk import room_for_hooks
from zygote_lite._cotangents.kinds import (
    DICT,
    HEAPTYPE,
    LIST,
    OBJECT,
    SET,
    TUPLE,
    dict_of,
    entries_of,
    is_foreign,
    is_known_by_rule,
    kind_of,
    kind_of_type,
    slot_names,
)
from zygote_lite._cotangents.run import state
from zygote_lite._ir.bytecode import Named, deeds_of
from zygote_lite._ir.intrinsics import build_dict, join_dict
from zygote_lite._ir.operators import COMPARISONS
from zygote_lite._ir.places import is_library
from zygote_lite._ir.traits import (
    BY_ID,
    HARMLESS_METHODS,
    HASH,
    NO_TRAITS,
    SPECIAL_METHODS,
    SPREAD,
    changes_nothing,
)
from zygote_lite.caches import cached_by_class

Hook = tuple[types.FunctionType, Any]

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
_OF_COMPARISONS = {id(of.function) for of in COMPARISONS}
_ALSO_OF_SETS = {id(f) for f in (
    operator.or_, operator.and_, operator.xor, operator.sub, operator.ior, operator.iand,
    operator.ixor, operator.isub,
)}  # fmt: skip
_NO_ENTRIES: dict[Any, Any] = {}
_VIEWS_OF_DICTS: Any = (type(_NO_ENTRIES.values()), type(_NO_ENTRIES.items()))
_HASHING: Any = (dict, set, frozenset, type(_NO_ENTRIES.keys()), type(_NO_ENTRIES.items()))
_plain: set[type] = {float, int, complex, bool, str, bytes, type(None), np.ndarray, np.float64,
                     slice, type, types.FunctionType, types.BuiltinFunctionType}  # fmt: skip
_PYTHON_CALLABLES = (types.FunctionType, types.MethodType, type, functools.partial)
_containers = {list, tuple, dict, set, frozenset}
_plain_or_containers = _plain | _containers


def hooks_called(f: Any, xs: Iterable[Any]) -> list[Hook]:
    """Return the methods of user classes that `f`, written in C, may call and that may write."""
    known = BY_ID.get(id(f), NO_TRAITS)
    names, deep = known.calls, known.calls_within
    if id(f) in _ALSO_OF_SETS and all(isinstance(x, _HASHING) for x in xs):
        return _hooks_of([[*x] for x in xs], True, HASH)
    if names is None:
        return []
    if id(f) in _INDEXED:
        return _hooks_of_index(names, *xs)
    if id(f) in _FILLING_DICTS:
        xs = _without_values(f, xs)
    if _are_plain(xs) if deep else _plain_or_containers.issuperset(map(type, xs)):
        return []
    if id(f) in SEEKING_IN_ORDER:
        xs = as_far_as_found(xs)
    if id(f) in _KEYED:
        x, *keys = xs
        if isinstance(x, dict | set | frozenset):  # what else it holds is not looked at
            return _hooks_of((x,), False, names) + _hooks_of_keys(x, keys[:1], names)
    bounded = id(f) in _OF_COMPARISONS and all(_is_compared_in_python(x, names) for x in xs)
    return _hooks_of(xs, deep, names, bounded)


def _is_compared_in_python(x: Any, names: frozenset[str]) -> bool:
    """Return whether a value is compared by a method with source, or is a plain number or text."""
    kind: type = type(x)
    if kind in _plain or dataclasses.is_dataclass(kind):
        return kind is not np.ndarray and kind in _plain
    return kind_of(x) == OBJECT and any(name in names for name, _ in _own_hooks(kind))


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
    found = _hooks_of(keys, True, names)
    return found + _hooks_of([[*x]], True, names) if found else found


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
    if not _plain_or_containers.issuperset(map(type, (x, *parts, *value))):
        found = _hooks_of(asked, False, names)
        if found and isinstance(x, dict):
            found += _hooks_of_keys(x, (index,), names)
        if value and (isinstance(x, np.ndarray) or (isinstance(x, list) and type(index) is slice)):
            found += _hooks_of(value, False, SPREAD)
    return found


def _is_declared(f: Any) -> bool:
    """Return whether it is known which methods a function written in C calls."""
    return BY_ID.get(id(f), NO_TRAITS).calls is not None


def hooks_of_operands(f: Any, xs: Iterable[Any]) -> list[Hook]:
    """Return the methods of operands that C or NumPy may call where a rule is applied."""
    if isinstance(f, types.FunctionType) and not is_library(f.__code__.co_filename):
        return []  # whoever declared a rule for it knows
    known = _is_declared(f) or _are_plain(xs)
    return [] if known else _hooks_of(xs, deep=True, names=SPREAD)


def unknown_hooks(f: Any, xs: Iterable[Any]) -> list[Hook]:
    """Return the methods of operands that a function written in C may call, whichever they are."""
    if _is_declared(f) or isinstance(f, _PYTHON_CALLABLES):
        return []
    if isinstance(f, np.ufunc):
        return callbacks(gc.get_referents(f))  # what `np.frompyfunc` made it of
    if _are_plain(xs):
        return []
    found = _hooks_of(xs, deep=True, names=SPECIAL_METHODS)
    held = getattr(f, "__self__", None) if found else None
    return found + _hooks_of([[*held]], True, HASH) if isinstance(held, _HASHING) else found


def _are_plain(xs: Iterable[Any]) -> bool:
    """Return whether none of some values is, or holds, an object with methods."""
    return _plain.issuperset(map(type, xs)) and not any(map(_holds_objects, xs))


def _holds_objects(x: Any) -> bool:
    return type(x) is np.ndarray and x.dtype.hasobject


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


def _hooks_of(
    xs: Iterable[Any], deep: bool, names: frozenset[str], bounded: bool = False
) -> list[Hook]:
    """Return the hooks of some values, and of what they hold: each with what holds the object.

    Of many objects in a container each class is asked once. A `bounded` search looks at as much as
    a walk may, and then gives up: the method of the object counts as one that may write. That is
    for calls that are recorded then, and not refused.
    """
    found: list[Hook] = []
    seen: set[int] = set()
    looked, most = 0, room_for_hooks() if bounded else math.inf
    known: dict[type, list[types.FunctionType]] = {}

    def hooks_of(kind: type) -> list[types.FunctionType]:
        if kind not in known:
            known[kind] = [f for name, f in _writing_hooks(kind) if name in names]
        return known[kind]

    stack: list[tuple[Any, Any]] = [(x, None) for x in xs]  # each with the object that holds it
    while stack:
        x, owner = stack.pop()
        kind: type = type(x)
        if (kind in _plain and not (deep and _holds_objects(x))) or id(x) in seen:
            continue
        seen.add(id(x))
        if kind not in _containers:
            found += [(f, x) for f in hooks_of(kind)]
        if not deep:
            continue
        if bounded:
            owner = x if kind_of(x) == OBJECT else owner
            size = _size_of(x, names)
            looked += size
            state.looked += size
            if looked > most:
                return [*found, (_method_named(type(owner), names), owner)]
        items = _items_of(x, names)
        kinds = {*map(type, items)}
        for kind in kinds - _plain if kinds else ():
            if kind in _containers or _is_looked_into(kind, names):
                stack += [(y, owner) for y in _with_more([y for y in items if type(y) is kind])]
            found += [(f, x) for f in hooks_of(kind)] if kind not in _containers else []
        if np.ndarray in kinds:
            stack += [(y, owner) for y in items if _holds_objects(y)]
    return found


def _size_of(x: Any, names: frozenset[str]) -> int:
    """Return how many items are looked at of a container or an object."""
    kind = type(x)
    for base in (list, tuple, dict, set, frozenset, np.ndarray):
        if issubclass(kind, base):
            return int(x.size) if base is np.ndarray else base.__len__(x)
    if kind in _VIEWS_OF_DICTS:
        return len(x)
    return 1 + len(dict_of(x) or ()) if has_any_of(kind, names) else 0


def _method_named(kind: type, names: frozenset[str]) -> Any:
    """Return one of some methods of a user's class; the class where it has none of its own."""
    return next((f for name, f in _own_hooks(kind) if name in names), kind)


def _is_looked_into(kind: type, names: frozenset[str]) -> bool:
    """Return whether methods may be called of what values of a class hold."""
    held = kind_of_type(kind)
    is_read = held == OBJECT and has_any_of(kind, names)
    return is_read or held in (LIST, TUPLE, DICT, SET) or kind in _VIEWS_OF_DICTS


def _with_more(objects: list[Any]) -> list[Any]:
    """Return those of many values of one class that hold more than plain values in a `__dict__`."""
    kind = type(objects[0])
    if kind in _containers or kind_of_type(kind) != OBJECT or slot_names(kind):
        return objects
    return [y for y in objects if not _plain.issuperset(map(type, (dict_of(y) or {}).values()))]


@cached_by_class
def has_any_of(kind: type, names: frozenset[str]) -> bool:
    """Return whether one of some methods of a class is another than that of any object."""
    return any(not names.isdisjoint(vars(of)) for of in kind.__mro__ if of is not object)


def _items_of(x: Any, names: frozenset[str]) -> Any:
    """Return what a container holds, or an object whose methods may read it."""
    if type(x) is np.ndarray:
        return x.ravel().tolist()
    kind = kind_of(x)
    if type(x) in _VIEWS_OF_DICTS:
        return [*x]
    if kind == SET:
        return x
    if kind == DICT:
        return [*dict.keys(x), *dict.values(x)]
    if type(x) in _containers:
        return x
    if kind in (LIST, TUPLE):
        return [value for _, value in entries_of(x)]
    if kind != OBJECT or not has_any_of(type(x), names):
        return ()
    if type(x).__module__.startswith("zygote_lite."):  # a tape holds all that was computed
        return ()
    return [value for _, value in entries_of(x)]


@cached_by_class
def _own_hooks(kind: type) -> tuple[tuple[str, types.FunctionType], ...]:
    """Return the methods that C calls unasked, as the user's classes define them."""
    found: dict[str, Any] = {}
    for base in kind.__mro__:
        for name, member in vars(base).items():
            if name in SPECIAL_METHODS:
                found.setdefault(name, getattr(member, "__func__", member))
    return tuple([(n, f) for n, f in found.items() if isinstance(f, types.FunctionType)])


def _writing_hooks(kind: type) -> list[tuple[str, types.FunctionType]]:
    by_rule = is_foreign(kind) or is_known_by_rule(kind)  # arrays are for the rules
    hooks = () if by_rule else _own_hooks(kind)
    is_held = kind_of_type(kind) >= TUPLE or kind in _VIEWS_OF_DICTS
    if not hooks and not is_held and not kind.__flags__ & HEAPTYPE:
        _plain.add(kind)
        _plain_or_containers.add(kind)
    return [(name, f) for name, f in hooks if may_write(f, kind)]


# -- what a function may write, told from its code ---------------------------------------------


def names_loaded(code: types.CodeType) -> set[Named]:
    """Return the globals that code names, each with whether it is called there."""
    return deeds_of(code)[1]


def may_write(f: types.FunctionType, kind: Any = None, seen: frozenset[Any] = frozenset()) -> bool:
    """Return whether a function may change more than its own variables, as far as its code tells.

    Arguments:
        f: the function.
        kind: the class that it is a method of.
        seen: the code that is being looked at.
    """
    code = f.__code__
    if code in seen or is_library(code.co_filename):
        return False
    seen = seen | {code}
    writes, names, free, methods = deeds_of(code)
    if writes:
        return True
    held = zip(code.co_freevars, f.__closure__ or (), strict=True)
    captured = [x for name, cell in held if name in free for _, x in entries_of(cell)]
    named = [(f.__globals__.get(n, getattr(builtins, n, None)), called) for n, called in names]
    return (
        any(_writes_if_called(x, callable(x) and not isinstance(x, type), seen) for x in captured)
        or any(_writes_if_called(x, called and not changes_nothing(x), seen) for x, called in named)
        or any(_method_may_write(name, called, kind, seen) for name, called in methods)
    )


def _writes_if_called(x: Any, otherwise: bool, seen: frozenset[Any]) -> bool:
    return may_write(x, None, seen) if isinstance(x, types.FunctionType) else otherwise


def _method_may_write(name: str, called: bool, kind: Any, seen: frozenset[Any]) -> bool:
    """Return whether the method or property of that name may write, as the class defines it."""
    member = None if kind is None else inspect.getattr_static(kind, name, None)
    member = getattr(member, "__func__", getattr(member, "fget", member))
    if isinstance(member, types.FunctionType):
        return may_write(member, kind, seen)
    return called and name not in HARMLESS_METHODS
