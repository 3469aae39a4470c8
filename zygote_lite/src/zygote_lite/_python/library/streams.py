"""Streams: what is written runs once, in order, and carries no gradient; what is read again does.

A stream that is given what depends on what is differentiated is marked (`outputs`). The text in a
buffer in memory may be asked for, and is such a text again; anything else that reads is refused.
"""

import csv
import io
import sys
import types
from typing import Any

from zygote_lite._activity.activity import holds_text, text_pullback
from zygote_lite._activity.classes import member_of
from zygote_lite._activity.outputs import (
    BY_DESCRIPTOR,
    is_output,
    is_stream,
    layers,
    note_name,
    note_output,
)
from zygote_lite._activity.side_effects import hooks_called
from zygote_lite._activity.walk import reaches_active
from zygote_lite._cotangents.registry import Handlers, Nodes, Traced, ValueAndPullback
from zygote_lite._ir.places import is_library
from zygote_lite._tape.refusals.refusal import read_refusal
from zygote_lite._tape.tape import Tape

handlers = Handlers()

_STREAMS_IN_C = (io.TextIOWrapper, io.StringIO, io.BytesIO, io.BufferedReader, io.BufferedWriter,
          io.BufferedRandom, io.BufferedRWPair, io.FileIO)  # fmt: skip


def _methods(*names: str) -> list[Any]:
    """Return the methods of streams in C that have some names, each once."""
    found = [getattr(kind, name, None) for kind in _STREAMS_IN_C for name in names]
    return [*dict.fromkeys(f for f in found if isinstance(f, types.MethodDescriptorType))]


@handlers.desugared(*_methods("write"), given=True)
def _(f: Any, tape: Tape, nodes: Nodes, stream: Any, given: Any) -> Traced | None:
    if nodes[2] is not None or holds_text(given, None) or reaches_active(given):
        if not is_written_in_c(stream):
            return None
        note_output(stream)
    return f(stream, given), None


@handlers.desugared(open)
def _(tape: Tape, nodes: Nodes, name: Any, *xs: Any, **kws: Any) -> Traced:
    """Open a file: what is read from one that was there is no quantity, but its new name may be."""
    stream = open(name, *xs, **kws)  # noqa: SIM115 - it is the user's
    if stream.writable():
        note_name()
    return stream, None


@handlers.in_python(*_methods("writelines"))
def _writelines(stream: Any, lines: Any) -> Any:
    for line in lines:
        stream.write(line)


@handlers.desugared(
    *_methods(
        "flush", "close", "seek", "tell", "truncate", "fileno", "isatty", "readable", "writable",
        "seekable", "__enter__", "__exit__", "detach", "reconfigure",
    ),
    given=True,
)  # fmt: skip
def _(f: Any, tape: Tape, nodes: Nodes, *xs: Any, **kws: Any) -> Traced:
    return f(*xs, **kws), None


@handlers.structural(io.StringIO.getvalue, io.BytesIO.getvalue, given=True)
def _(f: Any, nodes: Nodes, stream: Any) -> ValueAndPullback:
    y = f(stream)
    return y, text_pullback(y, len(nodes))


@handlers.desugared(
    io.TextIOWrapper, io.BufferedReader, io.BufferedWriter, io.BufferedRandom, csv.writer,
    csv.reader, given=True,
)  # fmt: skip
def _(f: Any, tape: Tape, nodes: Nodes, stream: Any, *xs: Any, **kws: Any) -> Traced | None:
    """Make what writes to a stream, or reads from it: it is known by the stream."""
    is_temporary = type(stream).__module__ == "tempfile" and "file" in vars(stream)
    file = vars(stream)["file"] if is_temporary else stream  # a wrapper hands on what it is given
    return (f(stream, *xs, **kws), None) if is_written_in_c(file) else None


@handlers.desugared(*BY_DESCRIPTOR, given=True, always=True)
def _(f: Any, tape: Tape, nodes: Nodes, *xs: Any, **kws: Any) -> Traced:
    """Read from descriptors, unless one is that of a file which the run has written."""
    for x in (*xs, *kws.values()):
        if type(x) is int and x >= 0 and is_output(_Descriptor(x)):
            raise read_refusal(f, (_Descriptor(x),))
    if any(n is not None for n in nodes):
        return tape.refuse(nodes, f, xs, kws)
    return tape.run_inactive(f, xs, kws)


class _Descriptor(io.RawIOBase):
    """A descriptor as a stream, which does not own it."""

    def __init__(self, number: int) -> None:
        self.number = number

    def fileno(self) -> int:
        """Return the descriptor."""
        return self.number


# -- print ----------------------------------------------------------------------------------------


def is_written_in_c(stream: Any) -> bool:
    """Return whether what a stream is given goes to streams of Python's, and nowhere else.

    Arguments:
        stream: what has a method `write`; one that a library defines gives it to such streams.
    """
    return is_stream(stream) and all(map(_writes_in_c, layers(stream)))


def _writes_in_c(stream: Any) -> bool:
    method = member_of(type(stream), "write")
    if "write" in vars(stream):
        return False
    return not isinstance(method, types.FunctionType) or (
        is_library(method.__code__.co_filename) or "site-packages" in method.__code__.co_filename
    )


@handlers.desugared(print, always=True)
def _(
    tape: Tape,
    nodes: Nodes,
    *xs: Any,
    sep: Any = None,
    end: Any = None,
    file: Any = None,
    flush: Any = False,
) -> Traced:
    stream = sys.stdout if file is None else file
    is_wrong = not (isinstance(sep, str | None) and isinstance(end, str | None))
    if (
        stream is not None
        and not is_wrong
        and (not is_written_in_c(stream) or hooks_called(print, (*xs, flush)))
    ):
        given = (None, None, None, None, None, *nodes[1 : 1 + len(xs)])
        return tape.call(given, _print, stream, sep, end, flush, *xs)
    is_noted = stream is not None and (any(n is not None for n in nodes) or reaches_active(*xs))
    if is_noted:
        note_output(stream)
    print(*xs, sep=sep, end=end, file=file, flush=flush)
    if is_noted:
        note_output(stream)  # it may have moved what it holds into a file
    return None, None


def _print(stream: Any, sep: Any, end: Any, flush: Any, /, *xs: Any) -> None:
    """Do what `print` does in C."""
    for i, x in enumerate(xs):
        if i:
            stream.write(" " if sep is None else sep)
        stream.write(str(x))
    stream.write("\n" if end is None else end)
    if flush:
        stream.flush()
