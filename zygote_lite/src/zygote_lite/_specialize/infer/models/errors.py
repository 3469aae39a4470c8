"""Exceptions that a program makes and catches: their classes, and what they were made with."""

import operator
from typing import Any

from zygote_lite._cotangents.kinds import is_written_in_python
from zygote_lite._specialize.infer.models.classes import settle
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.raising import Kinds
from zygote_lite._specialize.typed.reasons import NotSupported, Unsound
from zygote_lite._specialize.typed.stand_ins import Error
from zygote_lite._specialize.typed.structures import structure
from zygote_lite._specialize.typed.values import Value, constant

_OWN_WAYS = (UnicodeError, OSError, BaseExceptionGroup, ImportError, SyntaxError, SystemExit)
_OF_ERRORS = {"__new__", "__init__", "__getattribute__", "__getattr__", "__setattr__",
             "__class__", "__init_subclass__", "args", "with_traceback"}  # fmt: skip


def is_kind(f: Any) -> bool:
    """Return whether something is a class of exceptions, which keep what they are made with."""
    if not (type(f) is type and issubclass(f, BaseException)) or issubclass(f, _OWN_WAYS):
        return False
    return not any(
        _OF_ERRORS & vars(base).keys() for base in f.__mro__[:-1] if is_written_in_python(base)
    )


def made_error(builder: Builder, f: Any, xs: list[Value], kws: dict[str, Value]) -> Value:
    """Return a new exception."""
    if kws:
        raise NotSupported.CONTAINER(
            "it makes an exception with keywords: give its arguments by position"
        )
    if is_written_in_python(f):
        settle(builder.inputs, f)
    return constant(Error((f,), [*xs]))


def error_of(builder: Builder, x: Value) -> Value:
    """Return the exception that `raise` is given, or makes."""
    if isinstance(x.sample, Error):
        return x
    if not (x.is_constant and is_kind(x.sample)):
        raise NotSupported.STATEMENT("it raises an exception whose class is known only as it runs")
    return made_error(builder, x.sample, [], {})


def attribute_of_error(x: Value, name: str) -> Value:
    """Return an attribute of an exception."""
    error = x.sample
    if name == "args" and error.args is not None:
        return structure(tuple, error.args)
    if name == "value" and error.kinds == (StopIteration,) and error.args is not None:
        return error.args[0] if error.args else constant(None)
    raise NotSupported.ATTRIBUTE(f"it reads the attribute {name} of an exception")


def caught_by(builder: Builder, x: Value, wanted: tuple[Any, ...]) -> Value:
    """Return whether a handler for some classes catches an exception.

    Handlers are asked in turn: the last one that asks for what is left catches it.
    """
    error = error_of(builder, x).sample
    if not all(isinstance(kind, type) and issubclass(kind, BaseException) for kind in wanted):
        raise Unsound.RAISES("an `except` names something that is not a class of exceptions")
    asked = error.asked or [(error.kinds, 0)]
    found = [i for i, (kinds, _) in enumerate(asked) if all(issubclass(k, wanted) for k in kinds)]
    for i, (kinds, place) in enumerate(asked):
        narrower = error.args is not None or wanted in error.order[:place]
        if i not in found and not narrower and restricted(kinds, wanted):
            raise NotSupported.STATEMENT(
                "which `except` catches an exception is known only as it runs"
            )
    if len(found) in (0, len(asked)):
        return constant(bool(found))
    if len(found) > 1 or error.which is None:
        raise NotSupported.STATEMENT(
            "one `except` catches exceptions of several classes, and reads which it was"
        )
    return builder.apply(operator.eq, [error.which, constant(found[0])])


def restricted(kinds: Kinds, wanted: Kinds) -> Kinds:
    """Return the classes by which a handler for some of them catches errors of others."""
    found: dict[type[BaseException], None] = {}
    for kind in kinds:
        for want in wanted:
            if issubclass(kind, want):
                found[kind] = None
            elif issubclass(want, kind):
                found[want] = None
    return tuple(found)


def _identity_of_error(builder: Builder, f: Any, x: Value, y: Value) -> Value:
    """Return whether an error, or the class of one, is `None` or a class."""
    error, other = (x, y) if isinstance(x.sample, Error) else (y, x)
    kinds = error.sample.kinds
    if isinstance(other.sample, type) and len(kinds) == 1 and error.sample.is_class:
        same = kinds[0] is other.sample
        if not same and issubclass(other.sample, kinds[0]):
            raise NotSupported.STATEMENT(
                "it asks for the class of an exception that may be of several classes"
            )
    elif other.sample is None:
        same = False
    else:
        raise NotSupported.STATEMENT(
            "it asks for the class of an exception that may be of several classes"
        )
    return constant(same is (f is operator.is_))


def _is_instance(builder: Builder, f: Any, x: Value, kinds: Value) -> Value:
    """Return whether an error is an instance of classes, or its class is derived from them."""
    wanted = kinds.sample if isinstance(kinds.sample, tuple) else (kinds.sample,)
    if not kinds.is_constant or x.sample.is_class is not (f is issubclass):
        raise NotSupported.STATEMENT(
            "it asks for the class of an exception that may be of several classes"
        )
    return caught_by(builder, x, wanted)


ASKING = {
    operator.is_: _identity_of_error, operator.is_not: _identity_of_error,
    isinstance: _is_instance, issubclass: _is_instance,
}  # fmt: skip
