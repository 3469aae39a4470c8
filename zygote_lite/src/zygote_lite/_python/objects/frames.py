"""Frames of running code: what reads variables there is refused, as it cannot be followed.

A single frame is refused wherever it comes from (`looked_at`); here is what hides them in others.
"""

import functools
import inspect
import sys
import traceback
from typing import Any

from zygote_lite._activity.reachability import is_library
from zygote_lite._cotangents.registry import ALWAYS, Node, Recorded, composite
from zygote_lite._tape.refusal import asking, frame_refusal, name_of
from zygote_lite._tape.tape import Tape

Nodes = tuple[Node, ...]


def _refuse(f: Any, tape: Tape, nodes: Nodes, *xs: Any, **kws: Any) -> Recorded:
    """Refuse what the user asks for; Python's own library may look at frames."""
    if is_library(asking()):
        return f(*xs, **kws), None
    raise frame_refusal(f"`{name_of(f)}`")


for _f in (
    inspect.currentframe, inspect.getargvalues, inspect.getgeneratorlocals, inspect.getinnerframes,
    inspect.getouterframes, inspect.stack, inspect.trace, sys._current_frames, sys._getframe,
    traceback.walk_stack, traceback.walk_tb,
):  # fmt: skip
    composite(_f)(functools.partial(_refuse, _f))
    ALWAYS.add(id(_f))
