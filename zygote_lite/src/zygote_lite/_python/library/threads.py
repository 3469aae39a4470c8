"""Threads, programs, random numbers: what is computed elsewhere is inactive, or refused."""

import concurrent.futures
import os
import queue
import random
import sys
import threading
import types
from itertools import islice
from typing import Any

import numpy as np

from zygote_lite._activity.activity import is_integer
from zygote_lite._activity.outputs import note_output
from zygote_lite._activity.reachability import named_within
from zygote_lite._activity.saved import lend, take_back
from zygote_lite._activity.walk import reaches_active_at_all
from zygote_lite._cotangents.kinds import INERT, LIST, kind_of, owner_of, within
from zygote_lite._cotangents.registry import Handlers, Nodes, Traced
from zygote_lite._cotangents.run import state
from zygote_lite._ir.names import name_of
from zygote_lite._ir.places import where
from zygote_lite._python.library.streams import is_written_in_c
from zygote_lite._tape.entries import Entries
from zygote_lite._tape.tape import Tape
from zygote_lite.errors import Fault

if sys.platform == "win32":
    import _winapi as _programs

    _starting = (_programs.CreateProcess, os.system)
else:
    import _posixsubprocess as _programs

    _starting = (_programs.fork_exec, os.posix_spawn, os.system)

handlers = Handlers()

_MOST_SHARED, _MOST_OF_A_FRAME = 10_000, 1000
_PUTTING = (queue.SimpleQueue.put, queue.SimpleQueue.put_nowait)


def _share(nodes: Nodes, f: Any, worker: Any, *given: Any) -> None:
    """Note what another thread is given: nothing active may be written into it from now on."""
    instead = (
        "use a `collections.deque` in one thread" if f in _PUTTING else "call the function here"
    )
    if any(n is not None for n in nodes) or reaches_active_at_all(*given):
        raise Fault.THREAD(
            f"{where()}: {name_of(f)} gives another thread what depends on what is differentiated, "
            f"and no gradient passes through what is computed there: {instead}"
        )
    held = state.shared.setdefault(id(worker), {})
    named = [x for x in islice(within(*given), _MOST_SHARED) if type(x) is types.FunctionType]
    for x in islice(within(*given, *named_within(named)), _MOST_SHARED):
        is_array = isinstance(x, np.ndarray)
        if x is worker or (kind_of(x) < LIST and not is_array):
            continue
        x = owner_of(x) if is_array else x
        if id(x) in (state.written or ()):
            raise Fault.THREAD(
                f"{where()}: {name_of(f)} gives another thread an array that was written after a "
                "gradient read it, and the reverse pass undoes this for a while: give it a copy"
            )
        held[id(x)] = x
        if id(x) in (state.captured or ()):
            lend(x)


def _end(tape: Tape, worker: Any) -> None:
    """Log what a thread has written that is over: it can read nothing any more."""
    undo = take_back(state.shared.pop(id(worker), {}))
    if undo is not None:
        Entries.record(tape, None, undo, ())


_REFRESHING = (("rich.live", "_RefreshThread"), ("rich.progress", "_TrackThread"))
"""Threads that show what there is, again and again."""


@handlers.desugared(threading.Thread.start, always=True)
def _(tape: Tape, nodes: Nodes, thread: Any) -> Traced:
    if (type(thread).__module__, type(thread).__qualname__) in _REFRESHING:
        shows = getattr(thread, "live", None) or thread.progress
        if is_written_in_c(shows.console.file):
            note_output(shows.console.file)
            threading.Thread.start(thread)
            return None, None
    _share(nodes, threading.Thread.start, thread, thread)
    threading.Thread.start(thread)
    return None, None


@handlers.desugared(threading.Thread.join, always=True)
def _(tape: Tape, nodes: Nodes, thread: Any, *xs: Any, **kws: Any) -> Traced:
    threading.Thread.join(thread, *xs, **kws)
    if not thread.is_alive():
        _end(tape, thread)
    return None, None


_Pool = concurrent.futures.ThreadPoolExecutor


@handlers.desugared(_Pool.submit, _Pool.map, given=True, always=True)
def _(f: Any, tape: Tape, nodes: Nodes, pool: Any, *xs: Any, **kws: Any) -> Traced:
    _share(nodes, f, pool, *xs, *kws.values())
    return f(pool, *xs, **kws), None


@handlers.desugared(_Pool.shutdown, _Pool.__exit__, given=True, always=True)
def _(f: Any, tape: Tape, nodes: Nodes, pool: Any, *xs: Any, **kws: Any) -> Traced:
    y = f(pool, *xs, **kws)
    if not any(thread.is_alive() for thread in pool._threads):
        _end(tape, pool)
    return y, None


@handlers.desugared(*_PUTTING, given=True, always=True)
def _(f: Any, tape: Tape, nodes: Nodes, given: Any, *xs: Any, **kws: Any) -> Traced:
    """Put what is inactive into a queue that other threads read, those of `multiprocessing` too."""
    _share(nodes, f, given, *xs, *kws.values())
    return f(given, *xs, **kws), None


@handlers.desugared(
    queue.Queue.put, queue.Queue.put_nowait, concurrent.futures.Future.set_result, given=True,
    always=True,
)  # fmt: skip
def _(f: Any, tape: Tape, nodes: Nodes, given: Any, *xs: Any, **kws: Any) -> Traced | None:
    """Share what is inactive, or what another thread may take; record what this one takes."""
    is_inactive = all(n is None for n in nodes) and not reaches_active_at_all(given, *xs)
    if not is_inactive and not _is_read_elsewhere(given):
        return None
    _share(nodes, f, given, *xs, *kws.values())
    return f(given, *xs, **kws), None


def _is_read_elsewhere(x: Any) -> bool:
    """Return whether another thread has a value among its variables, or within one of them."""
    own = threading.get_ident()
    for thread, top in sys._current_frames().items():
        frame: types.FrameType | None = None if thread == own else top
        while frame is not None:
            seen = (*frame.f_locals.values(), *frame.f_globals.values())
            if any(y is x for y in seen) or any(
                y is x for y in islice(within(*frame.f_locals.values()), _MOST_OF_A_FRAME)
            ):
                return True
            frame = frame.f_back
    return False


@handlers.desugared(*_starting, given=True, always=True)
def _(f: Any, tape: Tape, nodes: Nodes, *xs: Any, **kws: Any) -> Traced | None:
    """Refuse to start another program with what is differentiated."""
    if all(n is None for n in nodes) and not reaches_active_at_all(*xs):
        return None
    raise Fault.TEXT(
        f"{where()}: another program is given what depends on what is differentiated, and no "
        "gradient passes through what is computed there: compute it here"
    )


_OF_PROCESSES = {"multiprocessing.queues", "multiprocessing.connection"}


def _is_of_processes(kind: type) -> bool:
    return any(base.__module__ in _OF_PROCESSES for base in kind.__mro__)


@handlers.callables(types.FunctionType, of=_is_of_processes)
def _(tape: Tape, nodes: Nodes, f: Any, xs: Any, kws: Any) -> Traced | None:
    """Refuse to hand another process what is differentiated, by a queue or a pipe."""
    given = (*xs[1:], *kws.values())
    if f.__name__ not in ("put", "send", "send_bytes") or (
        all(n is None for n in nodes[2:]) and not reaches_active_at_all(*given)
    ):
        return None
    raise Fault.THREAD(
        f"{where()}: {name_of(f)} gives another process what depends on what is differentiated, "
        "and no gradient passes through what is computed there: call the function here"
    )


_LOCKS = (type(threading.Lock()), type(threading.RLock()))


@handlers.desugared(
    *[getattr(kind, name) for kind in _LOCKS
      for name in ("acquire", "release", "__enter__", "__exit__")], given=True,
)  # fmt: skip
def _(f: Any, tape: Tape, nodes: Nodes, *xs: Any, **kws: Any) -> Traced:
    """Lock, or release, what an active object holds: it carries nothing itself."""
    return f(*xs, **kws), None


@handlers.desugared(random.Random, random.Random.seed, given=True)
def _(f: Any, tape: Tape, nodes: Nodes, *xs: Any, **kws: Any) -> Traced | None:
    """Take an integer or a text as a seed: no gradient passes through it."""
    if not all(is_integer(x) or kind_of(x) == INERT for x in (*xs, *kws.values())):
        return None
    return f(*xs, **kws), None
