"""Functions that write numbers into files and streams: `np.save`, `csv.writer`, `json.dump`.

They are run as they are, where what they write goes into files and into streams of Python's own.
"""

import csv
import io
import json
import logging
import os
import sys
import types
from typing import Any

import numpy as np

from zygote_lite._activity.activity import holds_text, is_integer, text_pullback
from zygote_lite._activity.marks import note_made
from zygote_lite._activity.outputs import note_name, note_output, noting_files
from zygote_lite._activity.reachability import referents
from zygote_lite._activity.side_effects import unknown_hooks
from zygote_lite._activity.walk import reaches_active
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
def _(f: Any, tape: Tape, nodes: Nodes, writer: Any, rows: Any) -> Traced | None:
    (rows,), nodes = tape.run_out((rows,), (None, nodes[2]))
    if unknown_hooks(f, (rows,)):
        return None
    write = next(x for x in referents(writer) if callable(x) and not isinstance(x, type))
    stream = getattr(write, "__self__", None)
    if stream is not None and is_written_in_c(stream):
        note_output(stream)
        return f(writer, rows), None
    written: Traced = (None, None)
    for row in (rows,) if f is _Writer.writerow else rows:
        text = io.StringIO(newline="")
        csv.writer(text, writer.dialect).writerow(row)
        line = text.getvalue()
        node = tape.record(line, text_pullback(line, 1), (tape.text_node(),))[1]
        written = tape.call((None, node), write, line)
    return written if f is _Writer.writerow else (None, None)


# -- what shows progress -------------------------------------------------------------------------

_SHOWING = {
    "rich.console": ("Console.print", "Console.log", "Console.rule"),
    "rich.logging": ("RichHandler.emit",),
    "rich.progress": ("Progress.update", "Progress.add_task"),
    "tqdm.std": (
        "tqdm.set_description", "tqdm.set_description_str", "tqdm.set_postfix",
        "tqdm.set_postfix_str", "tqdm.update", "tqdm.refresh", "tqdm.clear", "tqdm.reset",
        "tqdm.close", "tqdm.__enter__", "tqdm.__exit__",
    ),
}  # fmt: skip
_KEEPS_NUMBERS = (
    "Progress.update",
    "Progress.add_task",
    "tqdm.update",
    "tqdm.reset",
    "tqdm.__exit__",
)
"""What keeps the numbers that it is given, which may be asked for again; other keeps are texts."""

_FORMATTERS = (logging.Formatter, type(None))


def _keeps_output(x: Any, is_given_active: bool) -> bool:
    """Return whether a console of `rich` records what it shows, or may be capturing it."""
    if not getattr(x, "_buffer_index", 0):
        return bool(getattr(x, "record", False))
    return is_given_active


def _is_of_a_bar(kind: type) -> bool:
    return kind.__module__.partition(".")[0] in ("rich", "tqdm")


@handlers.callables(types.FunctionType, of=_is_of_a_bar)
def _(tape: Tape, nodes: Nodes, f: Any, xs: Any, kws: Any) -> Traced | None:
    """Run what shows a text in a terminal, and keeps no other trace of it."""
    if f.__qualname__ not in _SHOWING.get(f.__module__, ()):
        return None
    shown = [
        (n, x) for n, x in zip(nodes[2:], (*xs[1:], *kws.values()), strict=True)
        if n is not None or reaches_active(x)
    ]  # fmt: skip
    shows = getattr(xs[0], "console", xs[0])
    keeps = f.__qualname__ in _KEEPS_NUMBERS and not all(holds_text(x, n) for n, x in shown)
    formats = getattr(xs[0], "formatter", None)  # what a handler of logs has
    if keeps or _keeps_output(shows, bool(shown)) or type(formats) not in _FORMATTERS:
        return None
    if unknown_hooks(f, (*xs[1:], *kws.values())):
        return None
    stream = getattr(shows, "file", getattr(shows, "fp", sys.stderr))  # the second of `tqdm`
    stream = getattr(stream, "_wrapped", stream)
    if not is_written_in_c(stream):
        return None
    note_output(stream)
    return f(*xs, **kws), None


def make_bar(tape: Tape, nodes: Nodes, cls: Any, xs: Any, kws: Any) -> Traced | None:
    """Make a bar of `tqdm`: of what it is given, only what it walks over comes back."""
    values = (*xs, *kws.values())
    given = dict(zip((*range(len(xs)), *kws), zip(nodes[1:], values, strict=True), strict=True))
    node, walked = given.pop(0 if xs else "iterable", (None, None))
    shown = [(n, x) for n, x in given.values() if n is not None or reaches_active(x)]
    stream = sys.stderr if kws.get("file") is None else kws["file"]
    shown = [(n, x) for n, x in shown if not is_integer(x) and x is not stream]
    if not all(holds_text(x, n) for n, x in shown) or not is_written_in_c(stream):
        return None
    if shown:
        note_output(stream)
    y = cls(*xs, **kws)
    note_made(y)
    if walked is not None:
        tape.call((None, None, None, node), object.__setattr__, y, "iterable", walked)
    return y, None
