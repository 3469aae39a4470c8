"""Doubt: whether a call depends on what is differentiated, where that takes long to find out.

Once code outside the run can reach something active, a call of Python code may reach it by name,
through all the modules that its code names. To find out whether it does may take a walk through the
whole heap; to record the call costs what the call itself does, and gives the same. So a call
that cannot be told in the time that the run has earned (`may_reach_active`) is recorded.

The same holds for functions written in C that have a Python equivalent: what that calls is asked
for in turn. Of a function that loops in a way that is not counted, recording may cost more: all
walks for such functions together are given more. A function in C that looks at its operands, and
at nothing that they hold, depends on no more than these.
"""

import dis
import functools
import inspect
import operator
import types
import weakref
from typing import Any

from rulescore import find_rule
from zygote_lite._activity.classes import member_of
from zygote_lite._activity.deeds import names_loaded
from zygote_lite._activity.operands import holds_itself, looked_at
from zygote_lite._activity.side_effects import SEEKING_IN_ORDER, as_far_as_found
from zygote_lite._activity.walk import (
    FOR_LONG_CALLS,
    may_reach_active,
    reaches_active,
    reaches_active_at_all,
)
from zygote_lite._cotangents.kinds import OBJECT, dict_of, is_opaque, kind_of
from zygote_lite._cotangents.registry import IN_PYTHON, STRUCTURAL
from zygote_lite._cotangents.run import state
from zygote_lite._ir.bytecode import codes_in, variables_named
from zygote_lite._ir.compile import recording_of
from zygote_lite._ir.intrinsics import apply, invoke
from zygote_lite._ir.places import ENGINE, is_library
from zygote_lite.caches import cached
from zygote_lite.errors import DifferentiationError

_LONG_CALL = 2000
GENERATES = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_RUNNING_TEXTS = {"eval", "exec"}
_OF_VARIABLES = {"locals", "globals", "vars", "dir"}  # followed where they are called by name
_OF_FRAMES = {
    "_getframe", "_current_frames", "currentframe", "getouterframes", "inspect", "settrace",
    "setprofile",
}  # fmt: skip
# what took more calls than a walk takes steps
_long: "weakref.WeakSet[types.CodeType]" = weakref.WeakSet()


def may_depend(f: Any, xs: tuple[Any, ...], kws: dict[str, Any]) -> bool:
    """Return whether a call can reach something active; yes where to record it costs less."""
    if _looks_only(f) and type(xs[0]) is types.FunctionType:  # which is not called
        held = xs[0].__defaults__, xs[0].__kwdefaults__, xs[0].__dict__
        return id(xs[0]) in (state.active or ()) or reaches_active(*held)
    operands = (f, *xs, *kws.values())
    if not state.outside:
        return reaches_active(*operands)
    if type(f) is types.BuiltinFunctionType and type(f.__self__) in (list, tuple, set, frozenset):
        f, xs = getattr(type(f.__self__), f.__name__), (f.__self__, *xs)
    if id(f) in SEEKING_IN_ORDER and not kws:
        if holds_itself(xs[0]):
            return True
        xs = as_far_as_found(xs)
        operands = (f, *xs)
    seen = looked_at(f, xs, kws)
    if seen is not None:
        return any(map(holds_itself, seen))
    if type(f) is functools._lru_cache_wrapper and _is_recordable(f.__wrapped__):
        return may_reach_active(*operands, given=FOR_LONG_CALLS)  # what it keeps costs nothing
    called = _function_called(f, xs)
    if called is None and (f is apply or f is invoke):
        return True  # it stands for the call of a function in C, which is asked for in turn
    if called is None:
        is_alike = _has_equivalent(f, xs, kws)
        return (may_reach_active if is_alike else reaches_active)(*operands)
    if not _is_recordable(called):
        is_known = is_library(called.__code__.co_filename)
        return (reaches_active if is_known else reaches_active_at_all)(*operands)
    return may_reach_active(*operands, given=FOR_LONG_CALLS if _is_long(called.__code__) else 0)


def note_length(f: types.FunctionType, count: int) -> None:
    """Note how many calls were resolved in one of a function that was recorded."""
    if count > _LONG_CALL and state.outside:
        _long.add(f.__code__)


def _has_equivalent(f: Any, xs: tuple[Any, ...], kws: dict[str, Any]) -> bool:
    """Return whether a function in C is recorded as its Python equivalent, which gives the same.

    So is what Python's own callables stand for, and a look-up by its key. An iterator would be run
    out, and a rule would read all of an object. What is given nothing depends on nothing: the
    equivalent of `set` calls it so.
    """
    if type(f) in _STANDING_FOR_OTHERS or (id(f) in _LOOKING_UP and type(xs[0]) is dict):
        return True
    declared = IN_PYTHON.get(id(f)) if xs or kws else None
    if declared is None or next(iter(declared.bodies(xs, kws)), None) is None:
        return False
    if any(map(is_opaque, xs)) or (xs and id(f) in STRUCTURAL and kind_of(xs[0]) != OBJECT):
        return False
    return find_rule(f, *xs) is None or is_of_objects(f, xs)


def is_of_objects(f: Any, xs: tuple[Any, ...]) -> bool:
    """Return whether an operand is an object, or a sequence of them.

    A rule would take all that they reach. One that is declared for their class is preferred.
    """
    if any(type(x) in (list, tuple) and x and kind_of(x[0]) == OBJECT for x in xs):
        return True
    if not any(kind_of(x) == OBJECT for x in xs):
        return False
    rule = find_rule(f, *xs)
    if rule is None or rule.kind == "constant":
        return False
    return all(kind is object for kind in rule.types)


def _looks_only(f: Any) -> bool:
    """Return whether a function asks for the parameters of another."""
    return (f.__wrapped__ if type(f) is functools._lru_cache_wrapper else f) is inspect.signature


_STANDING_FOR_OTHERS: set[Any] = {
    functools.partial, operator.attrgetter, operator.itemgetter, operator.methodcaller, weakref.ref
}  # fmt: skip
_LOOKING_UP = {id(f) for f in (operator.getitem, operator.contains, dict.get, dict.__contains__)}
_ASKING = {id(len): "__len__", id(repr): "__repr__", id(str): "__str__"}


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
    elif id(f) in _ASKING and xs:
        f = member_of(type(xs[0]), _ASKING[id(f)])
    elif f is getattr and len(xs) == 2:
        f = getattr(member_of(type(xs[0]), xs[1]), "fget", None)
    if type(f) is type and f.__new__ is object.__new__:  # type: ignore[comparison-overlap]
        f = member_of(f, "__init__")
    if isinstance(f, types.MethodType | staticmethod | classmethod):
        f = f.__func__
    elif type(f) is not types.FunctionType and not isinstance(f, type):
        f = member_of(type(f), "__call__")
    return f if type(f) is types.FunctionType else None


def _is_recordable(f: Any) -> bool:
    """Return whether a function does the same where it is recorded: it looks at no frames."""
    if type(f) is not types.FunctionType or not _is_followed(f.__code__):
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
    return (
        not is_library(code.co_filename)
        and not any(
            _OF_FRAMES.intersection(part.co_names) or _RUNNING_TEXTS & variables_named(part)
            for part in codes_in(code)
        )
        and not any(name in _OF_VARIABLES and not called for name, called in names_loaded(code))
    )


def _is_long(code: types.CodeType) -> bool:
    """Return whether recording a function may take more than is known from the calls in it."""
    return code in _long or (not code.co_filename.startswith(ENGINE) and _loops_uncounted(code))


@cached(4096)
def _loops_uncounted(code: types.CodeType) -> bool:
    return any(part.co_flags & GENERATES or _has_while(part) for part in codes_in(code))
