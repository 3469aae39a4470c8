"""What a call does to the system, noticed where it happens: output, files, clocks, random bytes.

A function that a host repeats is watched where its code calls what was not looked into (`effects`):
libraries, and what stands behind a condition. A profile function of Python's sees the calls of
functions, before they are run, and an audit hook sees files that are opened and processes that are
started, also by compiled code. Draws are told from the states of the generators, afterwards.
"""

import contextlib
import functools
import inspect
import io
import linecache
import logging
import os
import random
import sys
import sysconfig
import threading
import tokenize
import traceback
import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from zygote_lite._activity import asking, outputs
from zygote_lite._activity.effects import called_effect, is_outside
from zygote_lite._ir.places import are_ours
from zygote_lite.caches import cached

Refused = Callable[[str], Exception]


class _Watched(threading.local):
    """The watch over the call that runs in this thread, if there is one."""

    watch: "Watch | None" = None


_here = _Watched()


class Watch:
    """A watch over one call.

    Arguments:
        refused: gives the error for an effect, in words.
    """

    def __init__(self, refused: Refused) -> None:
        self.refused = refused
        self.refusal: Exception | None = None

    def refuse(self, effect: str) -> None:
        """Raise the error for an effect, and keep it: the code may catch it."""
        self.refusal = self.refusal or self.refused(effect)
        raise self.refusal

    def hear(self, frame: types.FrameType, event: str, given: Any) -> None:
        """Refuse a call that has an effect. Python calls this before it is run."""
        if event == "c_call":
            effect = _effect_in_c(given)
            if effect is not None and _is_meant(frame, given):
                self.refuse(effect)
        elif event == "call" and frame.f_code in _ACTING_CODES:
            effect = _ACTING_CODES[frame.f_code](frame)
            if effect is not None and frame.f_back is not None and _is_meant(frame.f_back, None):
                self.refuse(effect)


@contextlib.contextmanager
def watching_effects(refused: Refused, is_compared: bool = False) -> Iterator[None]:
    """Raise an error before the running code has an effect.

    Arguments:
        refused: gives that error, for an effect in words.
        is_compared: whether the values of two runs are compared, which tells of random draws, too.
            So draws of other threads do not count, and where a profiler runs, nothing is watched.
    """
    outer, profile = _here.watch, sys.getprofile()
    if profile is not None and outer is None:
        if is_compared:
            yield
            return
        raise refused(
            "it calls libraries, or acts behind a condition, and a profiler runs, beside which "
            "effects cannot be seen"
        )
    _install_watch()
    is_told_otherwise = is_compared and threading.active_count() > 1
    drawn = None if is_told_otherwise else unwatched(asking.states_of_generators)
    watch = _here.watch = Watch(refused)
    sys.setprofile(watch.hear)
    try:
        yield
    finally:
        sys.setprofile(profile)
        _here.watch = outer
        if watch.refusal is not None:
            raise watch.refusal
    if drawn is not None and drawn != unwatched(asking.states_of_generators):
        raise refused("it draws random numbers, or another thread does meanwhile")


def unwatched(work: Callable[..., Any], *xs: Any) -> Any:
    """Do work of the engine's own, such as making code: no watch would hear of an effect in it."""
    outer = _here.watch
    if outer is None:
        return work(*xs)
    _here.watch = None
    sys.setprofile(None)
    try:
        return work(*xs)
    finally:
        _here.watch = outer
        sys.setprofile(outer.hear)


# -- calls of functions --------------------------------------------------------------------------


def _effect_in_c(f: Any) -> str | None:
    """Return the effect of calling a function that is written in C."""
    owner = f.__self__
    if owner is None or isinstance(owner, types.ModuleType):
        return _effect_of_function(f)
    if isinstance(owner, io.IOBase):
        is_outside = f.__name__ in _WRITING_METHODS and not isinstance(
            owner, io.StringIO | io.BytesIO
        )
        return f"it writes to {type(owner).__name__}" if is_outside else None
    is_asked = isinstance(owner, type) or owner is asking.COMMON_GENERATORS[0]
    return called_effect(f) if is_asked else None


_WRITING_METHODS = ("write", "writelines", "truncate")


@functools.lru_cache(maxsize=4096)
def _effect_of_function(f: Any) -> str | None:
    if f.__name__ in ("start_new_thread", "start_joinable_thread"):
        return "it starts a thread"
    return None if f in _HEARD_OTHERWISE else called_effect(f)


_HEARD_OTHERWISE = (open, exec, eval, globals)  # the code that is run is watched itself


def _is_meant(frame: types.FrameType | None, f: Any) -> bool:
    """Return whether an effect of a function is one of the code that runs.

    It is not where Python imports a module, warns, or reads source, and not where a library asks
    how the system is, or for the time that its own work takes. What the engine asks of a stream is
    none, too.
    """
    if f is not None and frame is not None and frame.f_code.co_filename == outputs.__file__:
        return False
    while frame is not None:
        path, module = frame.f_code.co_filename, frame.f_globals.get("__name__")
        if path.startswith("<frozen importlib") or path in _QUIET:
            return False
        package = str(module).partition(".")[0]
        if f in _ASKING_FOR_THREAD and (package == "numpy" or not are_ours(path, module)):
            # libraries, also Python's, tell one recursion from another by that
            return not (is_outside(path, module) or _passes_on(path, module))
        if f is not None and is_outside(path, module):
            if package in _SCHEDULERS or (package in _TIMED and f.__module__ == "time"):
                return False
            if f.__module__ in ("posix", "nt") and f.__name__ not in _BY_NUMBER:
                return False
        if not _passes_on(path, module):
            return True
        frame = frame.f_back
    return True


_ASKING_FOR_THREAD = (threading.get_ident, threading.get_native_id)
_QUIET = {m.__file__ for m in (inspect, linecache, tokenize, traceback, warnings)}
_SCHEDULERS = ("joblib", "threadpoolctl")
_TIMED = ("jax", "torch")  # which log how long they compile
_BY_NUMBER = ("urandom", "getrandom", "write", "pwrite", "writev", "sendfile", "kill")
"""The functions of the system that tell no audit hook, and do more than to ask how it is."""


@cached(4096)
def _passes_on(path: str, module: str | None) -> bool:
    """Return whether code acts for its caller: Python's library, NumPy, and the engine."""
    return are_ours(path, module) or path.startswith(("<frozen ", *_OF_PYTHON))


_OF_PYTHON = tuple([sysconfig.get_path(name) + os.sep for name in ("stdlib", "platstdlib")])


def _logs(frame: types.FrameType) -> str | None:
    return "it logs a message"


def _seeded(frame: types.FrameType) -> str | None:
    given = frame.f_locals
    seed = given.get("a", given.get("x"))
    return "it makes a random generator without a seed" if seed is None else None


_ACTING_CODES: dict[types.CodeType, Callable[[types.FrameType], str | None]] = {
    logging.Logger._log.__code__: _logs,
    random.Random.seed.__code__: _seeded,
}


# -- files and processes, also those of compiled code ---------------------------------------------

_HEARD = ("os.", "shutil.", "socket.", "tempfile.", "subprocess.", "sqlite3.", "urllib.", "mmap.",
          "winreg.", "msvcrt.", "pty.", "smtplib.", "ftplib.", "http.", "webbrowser.")  # fmt: skip
_ASKING_EVENTS = frozenset(("os.listdir", "os.scandir", "os.walk", "os.fwalk"))
_is_installed = False


def _install_watch() -> None:
    global _is_installed
    if not _is_installed:
        _is_installed = True
        sys.addaudithook(_hear_event)


def _hear_event(event: str, given: tuple[Any, ...]) -> None:
    if event != "open" and not event.startswith(_HEARD):
        return
    watch = _here.watch
    if watch is None or event in _ASKING_EVENTS:
        return
    if event == "open" and _is_of_the_installation(given[0], given[-1]):
        return
    if _is_meant(sys._getframe(1), None):
        watch.refuse(f"it calls `{event}`")


def _is_of_the_installation(path: Any, flags: Any) -> bool:
    """Return whether a file is only read that came with a library, or tells of the system."""
    if not isinstance(flags, int) or flags & os.O_ACCMODE != os.O_RDONLY:
        return False
    known = (*_OF_PYTHON, sys.prefix + os.sep, sys.base_prefix + os.sep, "/proc/", "/sys/")
    return isinstance(path, str) and os.path.abspath(path).startswith(known)
