"""Frames of running code: reading variables from them cannot be followed, and is refused.

A single frame is refused wherever it comes from (`looked_at`); this module has the objects that
hold frames.
"""

import functools
import inspect
import sys
import traceback
from typing import Any

from zygote_lite._cotangents.registry import Handlers, Nodes, Traced
from zygote_lite._ir.intrinsics import frame_refusal
from zygote_lite._ir.places import is_library, name_of
from zygote_lite._tape.refusal import asking
from zygote_lite._tape.tape import Tape

handlers = Handlers()


def _refuse(f: Any, tape: Tape, nodes: Nodes, *xs: Any, **kws: Any) -> Traced:
    """Refuse what the user asks for; Python's own library may look at frames."""
    if is_library(asking()):
        return f(*xs, **kws), None
    raise frame_refusal(f"`{name_of(f)}`")


for _f in (
    inspect.currentframe, inspect.getargvalues, inspect.getgeneratorlocals, inspect.getinnerframes,
    inspect.getouterframes, inspect.stack, inspect.trace, sys._current_frames, sys._getframe,
    traceback.walk_stack, traceback.walk_tb,
):  # fmt: skip
    handlers.desugared(_f)(functools.partial(_refuse, _f))
    handlers.even_if_inactive(_f)
