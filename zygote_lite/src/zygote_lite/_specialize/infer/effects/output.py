"""`print` and `logging`: the texts are made where the program stands, and written at the end."""

import io
import logging
from typing import Any

from zygote_lite._specialize.infer.effects.texts import as_text
from zygote_lite._specialize.infer.effects.waiting import effects_of
from zygote_lite._specialize.infer.held.containers import NO_RESULT, ONE_INT, mirror
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.effects import (
    flush_of_stream,
    logged,
    logged_by_root,
    printed,
    put_on_stream,
)
from zygote_lite._specialize.typed.reasons import Unsound
from zygote_lite._specialize.typed.values import Value, constant

_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING,
           "error": logging.ERROR, "critical": logging.CRITICAL}  # fmt: skip
_OF_LOGGERS: dict[Any, int | None] = {
    getattr(logging.Logger, name): level for name, level in _LEVELS.items()
}
_OF_LOGGERS[logging.Logger.log] = None
_OF_ROOT: dict[Any, int | None] = {getattr(logging, name): level for name, level in _LEVELS.items()}
_OF_ROOT[logging.log] = None


def output(builder: Builder, f: Any, xs: list[Value], kws: dict[str, Value]) -> Value | None:
    """Note the output of a call; return `None` for a call that has none."""
    if f is print:
        return _printed(builder, xs, kws)
    if isinstance(getattr(f, "__self__", None), io.TextIOBase) and not kws:
        return _to_a_stream(builder, f, xs)
    if f in _OF_LOGGERS and type(xs[0].sample) in (logging.Logger, logging.RootLogger):
        return _logged(builder, _OF_LOGGERS[f], xs[0], xs[1:], kws)
    return _logged(builder, _OF_ROOT[f], None, xs, kws) if f in _OF_ROOT else None


def _printed(builder: Builder, xs: list[Value], kws: dict[str, Value]) -> Value:
    if not kws.keys() <= {"sep", "end", "flush", "file"} or not all(
        x.is_constant for x in kws.values()
    ):
        raise Unsound.EFFECTS("it prints to a file, or in a way that is not known")
    effects = effects_of(builder, "print")
    op = builder.write(NO_RESULT, printed, [effects, *as_text(builder, xs)], kws)
    mirror(op, lambda builder, _: [], [])
    return constant(None)


def _to_a_stream(builder: Builder, f: Any, xs: list[Value]) -> Value | None:
    """Note what is written to a stream."""
    effects = effects_of(builder, f.__name__)
    if f.__name__ == "flush" and not xs:
        op = builder.write(NO_RESULT, flush_of_stream, [effects, constant(f)], {})
    elif f.__name__ == "write" and len(xs) == 1:
        (text,) = as_text(builder, xs)
        if not isinstance(text.sample, str):
            raise Unsound.RAISES("it writes what is no text")
        op = builder.write(ONE_INT, put_on_stream, [effects, constant(f), text], {})
    else:
        raise Unsound.EFFECTS(f"it calls the method {f.__name__} of a stream")
    mirror(op, lambda builder, _: [], [])
    return op.target if f.__name__ == "write" else constant(None)


def _logged(
    builder: Builder, level: int | None, logger: Value | None, xs: list[Value],
    kws: dict[str, Value],
) -> Value:  # fmt: skip
    """Note a message of a logger from outside, or of the root logger."""
    if level is None:
        severity, *xs = xs
        if not (severity.is_constant and type(severity.sample) is int):
            raise Unsound.EFFECTS("how severe a message is, is not known")
        level = severity.sample
    if kws or not xs:
        raise Unsound.EFFECTS("it logs in a way that may have other effects")
    code, line = builder.frames[-1].code, getattr(builder.origin, "lineno", 0)
    place = constant((code.co_filename, line, code.co_name))
    given = [effects_of(builder, "logging")]
    if logger is not None:
        assert logger.where is not None
        builder.inputs.guard(logger.where, logger.sample)
        given.append(constant(logger.sample))
    f: Any = logged_by_root if logger is None else logged
    op = builder.write(NO_RESULT, f, [*given, constant(level), place, *as_text(builder, xs)], {})
    mirror(op, lambda builder, _: [], [])
    return constant(None)
