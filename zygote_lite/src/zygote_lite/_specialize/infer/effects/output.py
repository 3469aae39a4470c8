"""Texts, `print` and `logging`: texts are made where output takes them, and written at the end."""

import io
import logging
import operator
import warnings
from typing import Any

import numpy as np

from rulescore.faults import an
from zygote_lite._specialize.infer.effects.waiting import effects_of
from zygote_lite._specialize.infer.held.containers import NO_RESULT, ONE_INT, mirror
from zygote_lite._specialize.typed.abstract_eval import Result, run
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.contents import contents_in, holds_record
from zygote_lite._specialize.typed.effects import (
    flush_of_stream,
    logged,
    logged_by_root,
    printed,
    put_on_stream,
    warned,
)
from zygote_lite._specialize.typed.facts import ListOf, Other, Scalar
from zygote_lite._specialize.typed.nodes import leaves
from zygote_lite._specialize.typed.reasons import NotSupported, Unsound
from zygote_lite._specialize.typed.stand_ins import Message
from zygote_lite._specialize.typed.values import Value, constant

_WITH_TEXT = (str, int, float, bool, type(None), np.generic)


def message(
    builder: Builder, f: Any, xs: list[Value], kws: dict[str, Value] | None = None
) -> Value:
    """Return the text that a function makes of values: of arrays that are written, at once."""
    x = constant(Message(f, [*xs], kws or {}))
    if any(leaf.may_be_written for part in xs for leaf in leaves(part)) and not builder.plain:
        return written_text(builder, x)
    return x


def text_of_call(builder: Builder, f: Any, xs: list[Value], kws: dict[str, Value]) -> Value | None:
    """Return the text that `"...".format(x)` or `"..." % x` gives; `None` for other calls."""
    by_method = getattr(f, "__name__", "") == "format" and isinstance(
        getattr(f, "__self__", None), str
    )
    if builder.plain or not (by_method or (f is operator.mod and type(xs[0].sample) is str)):
        return None
    given = [*xs, *kws.values()]
    if all(x.is_constant and not isinstance(x.sample, Message) for x in given):
        return None
    if f is operator.mod and not xs[0].is_constant:
        return None
    parts = [leaf for x in given for leaf in leaves(x)]
    if not all(x.is_array or x.is_scalar or type(x.sample) is str for x in parts):
        return None
    if any(isinstance(x.fact, Scalar) and len(x.fact.classes) > 1 for x in parts):
        return None
    run(f, [x.sample for x in xs], {name: x.sample for name, x in kws.items()})
    return message(builder, f, xs, kws)


def as_text(builder: Builder, xs: list[Value]) -> list[Value]:
    """Return values as operands of what makes texts of them."""
    found = [written_text(builder, x) if isinstance(x.sample, Message) else x for x in xs]
    for x in found:
        for leaf in leaves(x):
            if leaf.contents is not None and holds_record(contents_in(leaf)):
                raise NotSupported.TEXT(
                    "it prints an object that is held in a list or dict: print its numbers"
                )
            if leaf.is_scalar or leaf.is_array or leaf.contents is not None:
                continue
            if not (isinstance(leaf.fact, ListOf) or isinstance(leaf.sample, _WITH_TEXT)):
                raise NotSupported.TEXT(f"it makes text of {an(type(leaf.sample).__name__)}")
        if x.is_object or x in builder.iterators:
            raise NotSupported.TEXT("it makes text of an object: use its numbers")
    return found


def written_text(builder: Builder, x: Value) -> Value:
    """Write what makes a text of values that the code computes."""
    made: Message = x.sample
    xs, kws = as_text(builder, made.parts), made.options
    as_text(builder, [*kws.values()])
    return builder.write(Result(Other(str), "text"), made.function, xs, kws).target


def _warning_given(builder: Builder, xs: list[Value], kws: dict[str, Value]) -> Value:
    """Note a warning of the function itself, at its line."""
    given = dict(zip(("message", "category", "stacklevel"), xs, strict=False)) | kws
    message, category = given.pop("message", None), given.pop("category", constant(None))
    level = given.pop("stacklevel", constant(1))
    kind = UserWarning if category.sample is None else category.sample
    known = level.is_constant and level.sample == 1 and category.is_constant
    if message is None or given or not known or builder.context:
        raise Unsound.EFFECTS("it warns with options, or inside of `with`")
    if not (isinstance(kind, type) and issubclass(kind, Warning)):
        raise Unsound.RAISES("it warns of something other than a warning")
    (text,) = as_text(builder, [message])
    if type(text.sample) is not str:
        raise Unsound.EFFECTS("it warns by an object")
    frame, line = builder.frames[-1], getattr(builder.origin, "lineno", 0)
    place, space = constant((frame.code.co_filename, line)), constant(frame.globals)
    effects = effects_of(builder, "warnings.warn")
    op = builder.write(NO_RESULT, warned, [effects, place, space, constant(kind), text], {})
    mirror(op, lambda builder, _: [], [])
    return constant(None)


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
    if f is warnings.warn and not builder.plain:
        return _warning_given(builder, xs, kws)
    if f is logging.getLogger and not (kws or builder.plain):
        return _logger(builder, xs)
    if isinstance(getattr(f, "__self__", None), io.TextIOBase) and not kws:
        return _to_a_stream(builder, f, xs)
    if f in _OF_LOGGERS and type(xs[0].sample) in (logging.Logger, logging.RootLogger):
        return _logged(builder, _OF_LOGGERS[f], xs[0], xs[1:], kws)
    return _logged(builder, _OF_ROOT[f], None, xs, kws) if f in _OF_ROOT else None


def _printed(builder: Builder, xs: list[Value], kws: dict[str, Value]) -> Value:
    if not kws.keys() <= {"sep", "end", "flush", "file"} or not all(
        x.is_constant for x in kws.values()
    ):
        raise Unsound.EFFECTS("it prints to a file, or with options that are not constants")
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
            raise Unsound.RAISES("it writes something other than text to a stream")
        op = builder.write(ONE_INT, put_on_stream, [effects, constant(f), text], {})
    else:
        raise Unsound.EFFECTS(f"it calls the method {f.__name__} of a stream")
    mirror(op, lambda builder, _: [], [])
    return op.target if f.__name__ == "write" else constant(None)


def _logger(builder: Builder, xs: list[Value]) -> Value | None:
    """Return the logger of a name, which each entry looks up again."""
    if len(xs) > 1 or not all(x.is_constant and type(x.sample) in (str, type(None)) for x in xs):
        return None
    names, inputs = [x.sample for x in xs], builder.inputs
    logger = logging.getLogger(*names)
    found = Value(Other(type(logger)), logger)
    at = f"{inputs.name_for(logging.getLogger, 'f')}({', '.join(map(repr, names))})"
    found.where = inputs.holder(type(logger), at)
    inputs.objects[found.where] = None
    return found


def _logged(
    builder: Builder, level: int | None, logger: Value | None, xs: list[Value],
    kws: dict[str, Value],
) -> Value:  # fmt: skip
    """Note a message of a logger from outside, or of the root logger."""
    if level is None:
        severity, *xs = xs
        if not (severity.is_constant and type(severity.sample) is int):
            raise Unsound.EFFECTS("it logs at a level that is not a constant")
        level = severity.sample
    if kws or not xs:
        raise Unsound.EFFECTS("it logs with options that may have other side effects")
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
