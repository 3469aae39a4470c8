"""Tracebacks: an error shows the frames of the user's code, and one of the engine's.

What users call ends with

    except BaseException as error:
        __tracebackhide__ = keep_users_frames(error)
        raise

which costs nothing where nothing is raised; where a call costs more anyway, `entry` does it.
pytest hides the one frame too. `ZYGOTE_LITE_ALL_FRAMES=1` shows all; it may be set while the
program runs. A package of rules whose frames are to go has `__tracebackhide__ = True` at its top.
"""

import contextlib
import functools
import os
import re
import sys
import traceback
import types
from collections.abc import Callable
from typing import Any, TypeVar

import rulescore
from rulescore.faults import code_in, with_cells
from zygote_lite._ir.places import ENGINE, place_in
from zygote_lite._ir.stand_in_frames import StandIns
from zygote_lite.modes import InternalError

ALL_FRAMES = "ZYGOTE_LITE_ALL_FRAMES"
GUARDS = "<guards>"  # the file name of the code that enters transformed code
_OF_ENGINE = (ENGINE, os.path.dirname(os.path.abspath(rulescore.__file__)) + os.sep, GUARDS)
Called = TypeVar("Called", bound=Callable[..., Any])
_called_by_users: set[types.CodeType] = set()  # of the functions that have kept users' frames


def keep_users_frames(error: BaseException) -> bool:
    """Remove the frames of the engine from an error and from all that is chained to it.

    It is called where users have called the engine, whose frame there stays. Returns whether
    frames are hidden: not those of an internal error, nor where the user wants to see all.
    """
    if isinstance(error, InternalError):
        return False
    if code_in(str(error)).startswith("ZL"):
        _tell_place(error)
    if os.environ.get(ALL_FRAMES, "") not in ("", "0"):
        return False
    if error.__traceback__ is not None:
        _called_by_users.add(error.__traceback__.tb_frame.f_code)
    left: list[BaseException] = [error]
    seen: set[int] = set()
    while left:
        one = left.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        one.__traceback__ = _of_user(one.__traceback__)
        context = one.__context__
        while context is not None and context is not one and _is_internal(context):
            context = one.__context__ = context.__context__
        cause = one.__cause__
        if cause is not None and str(cause) in str(one) and _of_user(cause.__traceback__) is None:
            one.__cause__ = cause = context = None  # it has been said
        left += [e for e in (cause, context) if e is not None]
        if isinstance(one, BaseExceptionGroup):
            left += one.exceptions
    return True


def entry(f: Called) -> Called:
    """Decorate a function that users call: its errors show their frames, and one of ours."""

    @functools.wraps(f)
    def called(*xs: Any, **kws: Any) -> Any:
        try:
            return f(*xs, **kws)
        except BaseException as error:
            __tracebackhide__ = keep_users_frames(error)
            raise

    same: Any = called
    return same  # type: ignore[no-any-return]


def _tell_place(error: BaseException) -> None:
    """Let a message of ours begin with the user's file and line, unless it names a place."""
    text = str(error)
    found = error.__traceback__
    if found is None or re.fullmatch(r".*:\d+", text.partition(": ")[0], re.DOTALL):
        return
    inside = [frame for frame, _ in traceback.walk_tb(found)][1:]
    outside = [frame for frame, _ in traceback.walk_stack(found.tb_frame)]
    place = place_in([*reversed(inside), *outside])
    if place is not None:
        error.args = (with_cells(f"{place}: {text}"),)


def _of_user(found: types.TracebackType | None) -> types.TracebackType | None:
    """Return a traceback without the frames of the engine, but for those that users called.

    Rules keep their frames where the user has none: in the reverse pass.
    """
    kept, of_rules, is_user = [], [], True
    while found is not None:
        frame, was_user = found.tb_frame, is_user
        is_user = not (_is_of_engine(frame) or _is_of_hidden_rules(frame) or _is_manager(found))
        if is_user or (was_user and frame.f_code in _called_by_users):
            kept.append(found)
        elif not _is_of_engine(frame):
            of_rules.append(found)
        found = found.tb_next
    if len(kept) == 1 and not is_user:
        kept += of_rules
    made, stand_ins = None, StandIns()
    for one in reversed(kept):
        made = stand_ins.as_written(one if one.tb_next is made else _linked(one, made))
    return made


def _is_manager(found: types.TracebackType) -> bool:
    """Return whether a frame is of `contextlib`, and runs a context manager of the engine."""
    below, path = found.tb_next, found.tb_frame.f_code.co_filename
    return path == contextlib.__file__ and below is not None and _is_of_engine(below.tb_frame)


def _linked(one: types.TracebackType, rest: types.TracebackType | None) -> types.TracebackType:
    return types.TracebackType(rest, one.tb_frame, one.tb_lasti, one.tb_lineno)


def _is_internal(error: BaseException) -> bool:
    """Return whether an error was raised, and caught, by the engine alone."""
    found = error.__traceback__
    if found is None or found.tb_frame.f_code in _called_by_users:
        return False
    while found is not None:
        if not _is_of_engine(found.tb_frame):
            return False
        found = found.tb_next
    return True


def _is_of_engine(frame: types.FrameType) -> bool:
    return frame.f_code.co_filename.startswith(_OF_ENGINE)


def _is_of_hidden_rules(frame: types.FrameType) -> bool:
    """Return whether a frame is of a package of rules that hides its frames."""
    package = str(frame.f_globals.get("__name__")).partition(".")[0]
    return getattr(sys.modules.get(package), "__tracebackhide__", False) is True
