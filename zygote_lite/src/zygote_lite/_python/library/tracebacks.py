"""Texts that tell where a program stands: warnings, records of logs, tracebacks.

They look for the user's line in frames, and between those of the user lie frames of the engine.
"""

import logging
import logging.handlers
import queue
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Iterable
from typing import Any

from zygote_lite._activity.activity import text_pullback
from zygote_lite._activity.outputs import note_output
from zygote_lite._activity.walk import reaches_active
from zygote_lite._cotangents.registry import Handlers, Nodes, Traced
from zygote_lite._ir.names import name_of
from zygote_lite._ir.places import ENGINE, is_library, where
from zygote_lite._python.library.callbacks import refuse_callbacks, writing_method
from zygote_lite._python.library.streams import is_written_in_c
from zygote_lite._tape.tape import Tape
from zygote_lite.errors import Fault

handlers = Handlers()


def _level(wanted: int, is_passed_over: Callable[[Any], bool]) -> int:
    """Return how many frames lie between the caller and a frame of the user, with both.

    Arguments:
        wanted: the number of that frame among those of the user.
        is_passed_over: of a frame, whether Python does not count it.
    """
    frame: Any = sys._getframe(1)
    level = 0
    while frame is not None:
        if not is_passed_over(frame):
            level += 1
            wanted -= not frame.f_code.co_filename.startswith(ENGINE)
            if wanted <= 0:
                return level
        frame = frame.f_back
    return level + wanted


def _imports(frame: Any) -> bool:
    """Return whether a frame is one of Python's machinery of imports."""
    name = frame.f_code.co_filename
    return "importlib" in name and "_bootstrap" in name


@handlers.desugared(warnings.warn, always=True)
def _(
    tape: Tape,
    nodes: Nodes,
    message: Any,
    category: Any = None,
    stacklevel: Any = 1,
    source: Any = None,
    **options: Any,
) -> Traced:
    if any(n is not None for n in nodes) or reaches_active(message):
        shown: Any = warnings.showwarning
        if shown is not warnings._showwarning_orig:  # type: ignore[attr-defined]
            raise Fault.OUTPUT(
                f"{where()}: a warning depends on what is differentiated, and {name_of(shown)} "
                "shows it, which is not followed: leave the number out of its text"
            )
        note_output(sys.stderr)
    shows = (warnings.showwarning, warnings.formatwarning, writing_method(sys.stderr))
    refuse_callbacks(warnings.warn, *shows)
    prefixes = options.get("skip_file_prefixes", ())  # from Python 3.12 on

    def is_passed_over(frame: Any) -> bool:
        return _imports(frame) or (prefixes and frame.f_code.co_filename.startswith(prefixes))

    at = _level(max(stacklevel, 2 if prefixes else 1), is_passed_over)
    warnings.warn(message, category, at, source, **options)
    return None, None


_SEVERITIES = ("debug", "info", "warning", "warn", "error", "exception", "critical", "fatal", "log")


@handlers.desugared(
    *{getattr(kind, name) for kind in (logging.Logger, logging.LoggerAdapter, logging)
      for name in _SEVERITIES if hasattr(kind, name)},
    logging.Logger._log, always=True,
)  # fmt: skip
def _(tape: Tape, nodes: Nodes, *xs: Any, **kws: Any) -> None:
    """Record what logs, though nothing may depend on anything: it looks for the user's line."""
    return


@handlers.desugared(logging.Logger.findCaller, always=True)
def _(
    tape: Tape, nodes: Nodes, logger: Any, stack_info: bool = False, stacklevel: int = 1
) -> Traced:
    own = logging._srcfile
    at = _level(stacklevel, lambda frame: frame.f_code.co_filename == own or _imports(frame))
    found = logging.Logger.findCaller(logger, False, at)
    if not stack_info:
        return found, None
    lines = traceback.extract_stack(sys._getframe(1))
    shown = [x for x in lines if not x.filename.startswith(ENGINE) and x.filename != own]
    text = "".join(["Stack (most recent call last):\n", *traceback.format_list(shown)])
    return (*found[:3], text.removesuffix("\n")), None


def streams_of(logger: logging.Logger) -> list[Any] | None:
    """Return the streams that the messages of a logger go to; `None` where they go elsewhere, too.

    A user's handler may do anything, and some of Python's own keep the messages.
    """
    found = []
    around: logging.Logger | None = logger
    while around is not None:
        found += around.handlers
        around = around.parent if around.propagate else None
    return _streams_of_handlers(found)


def _streams_of_handlers(given: Iterable[logging.Handler]) -> list[Any] | None:
    found = []
    for handler in given:
        module = sys.modules.get(type(handler).__module__)
        own = is_library(getattr(module, "__file__", None) or "")
        if not own or not isinstance(handler, logging.StreamHandler | logging.NullHandler):
            return None
        found.append(getattr(handler, "stream", None))
    return None if any(x is not None and not is_written_in_c(x) for x in found) else found


_PLAIN_QUEUES = (queue.Queue, queue.SimpleQueue)
_PLAIN_FORMATTERS = (type(None), logging.Formatter)
_OF_RECORDS = {*vars(logging.makeLogRecord({})), "message", "asctime"}


@handlers.desugared(logging.handlers.QueueHandler.enqueue)
def _(tape: Tape, nodes: Nodes, handler: Any, record: Any) -> Traced | None:
    """Hand a message to a thread that writes it to streams, and does nothing else with it."""
    targets = [getattr(thread, "_target", None) for thread in threading.enumerate()]
    listeners: list[Any] = [getattr(target, "__self__", None) for target in targets]
    waiting = [x for x in listeners if getattr(x, "queue", None) is handler.queue]
    if not waiting or any(type(x) is not logging.handlers.QueueListener for x in waiting):
        return None
    final = [h for x in waiting for h in x.handlers]
    streams = _streams_of_handlers(final)
    if streams is None or any(
        h.filters or type(h.formatter) not in _PLAIN_FORMATTERS for h in final
    ):
        return None  # code of the user's would run in the thread
    told = vars(record)
    is_text = type(record) is logging.LogRecord and not told["args"]
    if type(handler.queue) not in _PLAIN_QUEUES or not is_text or not _OF_RECORDS.issuperset(told):
        return None
    for stream in streams:
        if stream is not None:
            note_output(stream)
    # a copy, as the reverse pass undoes what was written to this one, and the thread may be late
    handler.queue.put_nowait(logging.makeLogRecord(told))
    return None, None


# -- tracebacks -----------------------------------------------------------------------------------


def _without_engine(shown: traceback.TracebackException) -> traceback.TracebackException:
    """Take the frames of the engine out of what is shown of an error, and of what led to it."""
    kept = [x for x in shown.stack if not x.filename.startswith(ENGINE)]
    shown.stack = traceback.StackSummary.from_list(kept)
    for other in (shown.__cause__, shown.__context__, *(shown.exceptions or ())):
        if other is not None:
            _without_engine(other)
    return shown


def _lines(error: Any, value: Any, tb: Any, limit: Any, chain: bool) -> list[str]:
    if value is not None or not isinstance(error, BaseException):
        error = value
    else:
        tb = error.__traceback__
    kind: Any = type(error)
    made = traceback.TracebackException(kind, error, tb, limit=limit, compact=True)
    return [*_without_engine(made).format(chain=chain)]


@handlers.desugared(traceback.format_exception, always=True)
def _format_exception(
    tape: Tape, nodes: Nodes, /, exc: Any, value: Any = None, tb: Any = None, limit: Any = None,
    chain: bool = True,
) -> Traced:  # fmt: skip
    lines = _lines(exc, value, tb, limit, chain)
    if not reaches_active(exc, value):
        return lines, None
    return tape.record(lines, text_pullback(lines, 1), (tape.text_node(),))


@handlers.desugared(traceback.print_exception, always=True)
def _print_exception(
    tape: Tape, nodes: Nodes, /, exc: Any, value: Any = None, tb: Any = None, limit: Any = None,
    file: Any = None, chain: bool = True,
) -> Traced:  # fmt: skip
    for line in _lines(exc, value, tb, limit, chain):
        node = tape.text_node() if reaches_active(exc, value) else None
        stream = sys.stderr if file is None else file
        tape.call((None, node, None, None), print, line, file=stream, end="")
    return None, None


@handlers.desugared(traceback.format_exc, always=True)
def _(tape: Tape, nodes: Nodes, limit: Any = None, chain: bool = True) -> Traced:
    lines, node = _format_exception(tape, nodes, sys.exception(), limit=limit, chain=chain)
    return tape.call((None, None, node), str.join, "", lines)


@handlers.desugared(traceback.print_exc, always=True)
def _(
    tape: Tape, nodes: Nodes, limit: Any = None, file: Any = None, chain: bool = True
) -> Traced:  # fmt: skip
    return _print_exception(  # type: ignore[no-any-return]
        tape, nodes, sys.exception(), limit=limit, file=file, chain=chain
    )
