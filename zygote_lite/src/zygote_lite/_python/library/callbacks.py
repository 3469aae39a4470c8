"""Calls that lead to the user's own functions, which Python or NumPy was told to call before.

C calls such a function unrecorded: that of `np.seterrcall`, one of `gc.callbacks`, a stream.
"""

import gc
from typing import Any

import numpy as np

from zygote_lite._activity.classes import member_of
from zygote_lite._activity.side_effects import callbacks
from zygote_lite._activity.walk import reaches_active_at_all
from zygote_lite._cotangents.registry import Handlers, Nodes, Traced
from zygote_lite._ir.places import is_library
from zygote_lite._tape.refusals.refusal import hook_refusal
from zygote_lite._tape.tape import Tape

handlers = Handlers()


def refuse_callbacks(f: Any, *called: Any) -> None:
    """Refuse a call that leads to functions of the user's, if one may write something active."""
    hooks = [
        (function, x)
        for function, x in callbacks(called)
        if not is_library(function.__code__.co_filename)
    ]
    if hooks and reaches_active_at_all(*hooks):
        raise hook_refusal(f, hooks)


def writing_method(stream: Any) -> Any:
    """Return the bound method by which a stream is written to, where it is written in Python."""
    method = member_of(type(stream), "write")
    return method.__get__(stream) if hasattr(method, "__code__") else None


@handlers.desugared(np.seterrcall, always=True)
def _(tape: Tape, nodes: Nodes, func: Any) -> Traced:
    refuse_callbacks(np.seterrcall, func, writing_method(func))
    return np.seterrcall(func), None


@handlers.desugared(gc.collect, always=True)
def _(tape: Tape, nodes: Nodes, *xs: Any, **kws: Any) -> Traced:
    refuse_callbacks(gc.collect, *gc.callbacks)
    return gc.collect(*xs, **kws), None
