"""Doubt: whether a call depends on what is differentiated, where that takes long to find out.

Once code outside the run can reach something active, a call of Python code may reach it by name,
through all the modules that its code names. To find out whether it does may take a walk through the
whole heap; to record the call costs what the call itself does, and gives the same. So a call
that cannot be told in the time that the run has earned (`may_reach_active`) is recorded.
"""

import dis
import functools
import inspect
import types
from typing import Any
from weakref import WeakSet

from zygote_lite._activity.classes import member_of
from zygote_lite._activity.walk import may_reach_active, reaches_active
from zygote_lite._cotangents.kinds import dict_of
from zygote_lite._cotangents.run import state
from zygote_lite._ir.bytecode import codes_in, variables_named
from zygote_lite._ir.compile import recording_of
from zygote_lite._ir.intrinsics import apply, invoke
from zygote_lite._ir.places import ENGINE, is_library
from zygote_lite.caches import cached
from zygote_lite.errors import DifferentiationError

_LONG_CALL = 2000
GENERATES = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_OF_NAMES = {"locals", "globals", "vars", "eval", "exec"}  # builtins
_OF_FRAMES = {"_getframe", "_current_frames", "currentframe", "getouterframes", "inspect"}
_long: "WeakSet[types.CodeType]" = WeakSet()  # what took more calls than a walk takes steps


def may_depend(f: Any, xs: tuple[Any, ...], kws: dict[str, Any]) -> bool:
    """Return whether a call can reach something active; yes where to record it costs less."""
    if _looks_only(f) and type(xs[0]) is types.FunctionType:  # which is not called
        return reaches_active(xs[0].__defaults__, xs[0].__kwdefaults__, xs[0].__dict__)
    called = _function_called(f, xs) if state.outside else None
    if called is not None and called.__code__ not in _long and _is_recordable(called):
        return may_reach_active(f, *xs, *kws.values())
    return reaches_active(f, *xs, *kws.values())


def note_length(f: types.FunctionType, count: int) -> None:
    """Note how many calls were resolved in one of a function that was recorded."""
    if count > _LONG_CALL and state.outside:
        _long.add(f.__code__)


def _looks_only(f: Any) -> bool:
    """Return whether a function asks for the parameters of another."""
    return (f.__wrapped__ if type(f) is functools._lru_cache_wrapper else f) is inspect.signature


def _function_called(f: Any, xs: tuple[Any, ...]) -> types.FunctionType | None:
    """Return the Python function that a call stands for, as far as that shows."""
    if f is apply:
        f = xs[0]
    elif f is invoke:
        x, name = xs[:2]
        if isinstance(x, types.ModuleType) or name in (dict_of(x) or ()):
            f = (dict_of(x) or vars(x)).get(name)
        else:
            f = member_of(type(x), name)
    elif f is getattr and len(xs) == 2:
        f = getattr(member_of(type(xs[0]), xs[1]), "fget", None)
    if type(f) is type and f.__new__ is object.__new__:  # type: ignore[comparison-overlap]
        f = member_of(f, "__init__")
    if isinstance(f, types.MethodType | staticmethod | classmethod):
        f = f.__func__
    elif type(f) is not types.FunctionType and not isinstance(f, type):
        f = member_of(type(f), "__call__")
    return f if type(f) is types.FunctionType else None


def _is_recordable(f: types.FunctionType) -> bool:
    """Return whether a function does the same where it is recorded: it looks at no frames."""
    if not _is_followed(f.__code__):
        return False
    try:
        recording_of(f)
    except DifferentiationError:
        return False
    return True


def _has_while(code: types.CodeType) -> bool:
    """Return whether code loops in another way than by `for`, whose steps are counted."""
    steps = {i.offset: i for i in dis.get_instructions(code)}
    back = [i for i in steps.values() if "JUMP_BACKWARD" in i.opname]
    return any(steps[i.argval].opname != "FOR_ITER" for i in back)


@cached(4096)
def _is_followed(code: types.CodeType) -> bool:
    if code.co_filename.startswith(ENGINE):  # Python for what is written in C
        return True
    return not is_library(code.co_filename) and not any(
        part.co_flags & GENERATES
        or _OF_FRAMES.intersection(part.co_names)
        or _OF_NAMES & variables_named(part)
        or _has_while(part)
        for part in codes_in(code)
    )
