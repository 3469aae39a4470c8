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
from zygote_lite._ir.traits import HEAPTYPE
from zygote_lite.caches import Cache

Marked = tuple[Any, str, Any]
"""A variable (a dict or a cell, and the name there), and what marks where it leads."""


def reached_by_name(f: Any, read: list[Marked] | None = None) -> Iterator[Any]:
    """Yield a function and all that it may call by name, each once; libraries are not looked into.

    What a variable holds that code in C or an argument brings is not found.

    Arguments:
        f: the function.
        read: a list that is given the variables that were read on the way.
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
        if read is not None:
            cells = [(cell, "cell_contents") for cell in x.__closure__ or ()]
            modules = [vars(m) for m in found if type(m) is types.ModuleType]
            spaces = [(space, name) for space in (x.__globals__, *modules) for name in names]
            read += [(space, name, _mark_of(space, name)) for space, name in (*cells, *spaces)]
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
        if kind.__flags__ & HEAPTYPE:
            for name in (*names, "__init__", "__call__"):
                member = member_of(kind, name)
                if type(member) is property:
                    member = member.fget
                elif type(member) in (staticmethod, classmethod):
                    member = member.__func__
                yield member


_READING_FRAMES = {"f_locals", "getargvalues", "settrace", "setprofile"}
_HANDING_OVER = {"start", "submit", "map", "put", "put_nowait", "set_result"}
_names_reached: Cache[list[tuple[set[str], list[Marked]]]] = Cache(4096)


def _telling_names(f: types.FunctionType) -> set[str]:
    """Return the names that tell of frames and threads, of a function and those it may call.

    What is known of a function is asked again where a variable on the way leads elsewhere by now.
    """
    key = (f if f.__closure__ else f.__code__, id(f.__globals__))
    found: Any = _names_reached.find(key, None)
    kept: list[tuple[set[str], list[Marked]]] = (
        _names_reached.keep(key, []) if found is None else found
    )
    if kept:
        names, read = kept[0]
        if all(_mark_of(space, name) is mark for space, name, mark in read):
            return names
    names, read = set[str](), []
    for x in reached_by_name(f, read):
        if type(x) is types.FunctionType and not is_library(x.__code__.co_filename):
            names |= names_from_outside(x.__code__) & (_READING_FRAMES | _HANDING_OVER)
    kept[:] = [(names, read)]
    return names


def _mark_of(space: Any, name: str) -> Any:
    """Return what tells whether a variable leads elsewhere by now: code, or else only a class."""
    if type(space) is dict:
        x = space.get(name)
    else:
        x = next((held for _, held in entries_of(space)), None)  # of a cell, which may be empty
    return x if isinstance(x, _LEADING_ON) else type(x)


_LEADING_ON = types.FunctionType | types.MethodType | types.ModuleType | type


_READ_BY_THREADS = (
    threading.Thread, concurrent.futures.Executor, concurrent.futures.Future, queue.Queue,
    queue.SimpleQueue,
)  # fmt: skip
_MOST_HELD = 100


def may_be_seen_elsewhere(f: types.FunctionType, xs: tuple[Any, ...]) -> bool:
    """Return whether a call may look at its callers, or give something to another thread."""
    names = _telling_names(f)
    if not _READING_FRAMES.isdisjoint(names):
        return True
    return not _HANDING_OVER.isdisjoint(names) and any(
        issubclass(x if isinstance(x, type) else type(x), _READ_BY_THREADS)
        for x in (*reached_by_name(f), *islice(within(*xs), _MOST_HELD))
    )
