"""Functions that write numbers into files and streams: `np.save`, `csv.writer`, `json.dump`.

They are run as they are, where what they write goes into files and into streams of Python's own.
"""

import csv
import io
import json
import os
import sys
import types
from typing import Any

import numpy as np

from zygote_lite._activity.activity import holds_text, text_pullback
from zygote_lite._activity.outputs import is_stream, note_name, note_output, noting_files
from zygote_lite._activity.reachability import referents
from zygote_lite._activity.side_effects import unknown_hooks
from zygote_lite._activity.walk import reaches_active
from zygote_lite._cotangents.kinds import within
from zygote_lite._cotangents.registry import Handlers, Nodes, Traced
from zygote_lite._python.library.streams import is_written_in_c
from zygote_lite._tape.tape import Tape

handlers = Handlers()


def _written_by(f: Any, tape: Tape, nodes: Nodes, at: int, xs: Any, kws: Any) -> Traced | None:
    """Run a function that writes all that it is given into a file, or a stream, in place `at`."""
    given = [x for i, x in enumerate(xs) if i != at]
    if len(xs) <= at or unknown_hooks(f, (*given, *kws.values())):
        return None
    target = xs[at]
    if isinstance(target, str | bytes | os.PathLike):
        if nodes[1 + at] is not None or holds_text(target, None):
            note_name()
        with noting_files():
            return f(*xs, **kws), None
    if not is_written_in_c(target):
        return None
    note_output(target)
    return f(*xs, **kws), None


@handlers.desugared(np.save, np.savez, np.savez_compressed, np.savetxt, given=True)
def _(f: Any, tape: Tape, nodes: Nodes, *xs: Any, **kws: Any) -> Traced | None:
    return _written_by(f, tape, nodes, 0, xs, kws)


@handlers.desugared(np.ndarray.tofile, given=True)
def _(f: Any, tape: Tape, nodes: Nodes, *xs: Any, **kws: Any) -> Traced | None:
    return _written_by(f, tape, nodes, 1, xs, kws)


_CALLING = ("default", "cls", "object_hook")


@handlers.desugared(json.dump, given=True)
def _(f: Any, tape: Tape, nodes: Nodes, *xs: Any, **kws: Any) -> Traced | None:
    if any(kws.get(name) is not None for name in _CALLING):
        return None
    return _written_by(f, tape, nodes, 1, xs, kws)


@handlers.desugared(json.dumps)
def _(tape: Tape, nodes: Nodes, *xs: Any, **kws: Any) -> Traced | None:
    if any(kws.get(name) is not None for name in _CALLING) or unknown_hooks(json.dumps, xs):
        return None
    text = json.dumps(*xs, **kws)
    return tape.record(text, text_pullback(text, 1), (tape.text_node(),))


_Writer: Any = type(csv.writer(io.StringIO()))


@handlers.desugared(_Writer.writerow, _Writer.writerows, given=True)
def _(f: Any, tape: Tape, nodes: Nodes, writer: Any, rows: Any) -> Traced:
    (rows,), nodes = tape.run_out((rows,), (None, nodes[2]))
    write = next(x for x in referents(writer) if callable(x) and not isinstance(x, type))
    stream = getattr(write, "__self__", None)
    if stream is not None and is_written_in_c(stream):
        note_output(stream)
        return f(writer, rows), None
    text = io.StringIO(newline="")
    f(csv.writer(text, writer.dialect), rows)
    line = text.getvalue()
    return tape.call((None, tape.text_node()), write, line)


# -- what shows progress -------------------------------------------------------------------------

_SHOWING = {
    "rich.console": ("Console.print", "Console.log", "Console.rule"),
    "rich.progress": ("Progress.update", "Progress.add_task"),
    "tqdm.std": (
        "tqdm.set_description", "tqdm.set_description_str", "tqdm.set_postfix",
        "tqdm.set_postfix_str",
    ),
}  # fmt: skip
_OPTIONS_KEPT = ("total", "completed", "advance", "start", "visible", "refresh")
"""Options of what shows progress that may be asked for again; others are a text by then."""


def _keeps_output(nodes: Nodes, x: Any, *shown: Any) -> bool:
    """Return whether a console of `rich` records what it shows, or may be capturing it."""
    if not getattr(x, "_buffer_index", 0):
        return bool(getattr(x, "record", False))
    return any(n is not None for n in nodes[2:]) or reaches_active(*shown)


@handlers.callables(types.FunctionType, of=lambda kind: kind.__module__ in _SHOWING)
def _(tape: Tape, nodes: Nodes, f: Any, xs: Any, kws: Any) -> Traced | None:
    """Run what shows a text in a terminal, and keeps no other trace of it."""
    if f.__qualname__ not in _SHOWING.get(f.__module__, ()) or _keeps_output(nodes, *xs):
        return None
    if unknown_hooks(f, xs[1:]) or reaches_active(*[kws.get(name) for name in _OPTIONS_KEPT]):
        return None
    if any(n is not None for name, n in zip(kws, nodes[1 + len(xs) :], strict=True)
           if name in _OPTIONS_KEPT):  # fmt: skip
        return None
    for stream in (sys.stdout, sys.stderr, *filter(is_stream, within(xs[0]))):
        note_output(stream)
    return f(*xs, **kws), None
