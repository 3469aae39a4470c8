"""What code may call by name: functions, methods of classes and objects, and those these name."""

import concurrent.futures
import queue
import threading
import types
from collections.abc import Iterator
from itertools import islice
from typing import Any

from zygote_lite._activity.classes import member_of
from zygote_lite._cotangents.kinds import entries_of, within
from zygote_lite._ir.bytecode import names_from_outside
from zygote_lite._ir.places import is_library
from zygote_lite.caches import Cache

_READING_FRAMES = {"f_locals", "getargvalues", "settrace", "setprofile"}
_looking: Cache[bool] = Cache(4096)


def reached_by_name(f: Any) -> Iterator[Any]:
    """Yield a function and all that it may call by name, each once; libraries are not looked into.

    What a variable holds that code in C or an argument brings is not found.
    """
    waiting, seen = [f], {id(f)}
    while waiting:
        x = waiting.pop()
        yield x
        if type(x) is types.MethodType:
            x = x.__func__
        if type(x) is not types.FunctionType or is_library(x.__code__.co_filename):
            continue
        names = names_from_outside(x.__code__)
        held = [part for cell in x.__closure__ or () for _, part in entries_of(cell)]
        found = [*held, *(x.__globals__[name] for name in names if name in x.__globals__)]
        for part in (*found, *_members_named(found, names)):
            if id(part) not in seen:
                seen.add(id(part))
                waiting.append(part)


def _members_named(found: list[Any], names: set[str]) -> Iterator[Any]:
    """Yield what code may ask of modules, classes and objects by the names in it."""
    for x in found:
        if type(x) is types.ModuleType:
            yield from (vars(x)[name] for name in names if name in vars(x))
            continue
        kind = x if issubclass(type(x), type) else type(x)
        if kind.__flags__ & _MADE_BY_CLASS:
            for name in (*names, "__init__", "__call__"):
                member = member_of(kind, name)
                if type(member) is property:
                    member = member.fget
                elif type(member) in (staticmethod, classmethod):
                    member = member.__func__
                yield member


_MADE_BY_CLASS = 1 << 9  # Py_TPFLAGS_HEAPTYPE


def may_look_at_frames(f: types.FunctionType) -> bool:
    """Return whether a function, or one that it names, may read variables of its callers."""
    key = (f if f.__closure__ else f.__code__,)
    found: Any = _looking.find(key, None)
    return _looking.keep(key, _looks_at_frames(f)) if found is None else found


def _looks_at_frames(f: Any) -> bool:
    return _names_any(f, _READING_FRAMES)


def _names_any(f: Any, names: set[str]) -> bool:
    """Return whether a function, or one of the user's that it may call, has one of some names."""
    return any(
        not is_library(x.__code__.co_filename)
        and not names.isdisjoint(names_from_outside(x.__code__))
        for x in reached_by_name(f)
        if type(x) is types.FunctionType
    )


_HANDING_OVER = {"start", "submit", "map", "put", "put_nowait", "set_result"}
_READ_BY_THREADS = (
    threading.Thread, concurrent.futures.Executor, concurrent.futures.Future, queue.Queue,
    queue.SimpleQueue,
)  # fmt: skip
_MOST_HELD = 1000
_handing_over: Cache[bool] = Cache(4096)


def may_give_to_threads(f: types.FunctionType, xs: tuple[Any, ...]) -> bool:
    """Return whether a function, or one that it names, may give something to another thread."""
    key = (f if f.__closure__ else f.__code__,)
    found: Any = _handing_over.find(key, None)
    if not (_handing_over.keep(key, _names_any(f, _HANDING_OVER)) if found is None else found):
        return False
    return any(
        issubclass(x if isinstance(x, type) else type(x), _READ_BY_THREADS)
        for x in (*reached_by_name(f), *islice(within(*xs), _MOST_HELD))
    )
