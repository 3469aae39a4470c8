"""Refusals: the errors for calls that cannot be differentiated, with the place of the call."""

import array
import io
import json
import sys
import time
import types
from numbers import Number
from typing import Any

import numpy as np

from rulescore import home_of, provider_of, reason_of
from rulescore.faults import an
from rulescore.watching import contents, have_changed
from zygote_lite._activity.activity import is_active_text, is_text, text_pullback
from zygote_lite._activity.marks import mark_active
from zygote_lite._activity.outputs import is_stream, note_name
from zygote_lite._activity.side_effects import callbacks, unknown_hooks
from zygote_lite._activity.walk import captured_within, reaches_active_at_all
from zygote_lite._cotangents.kinds import (
    FUNCTION,
    INERT,
    OBJECT,
    TUPLE,
    VALUE,
    kind_of,
)
from zygote_lite._cotangents.registry import Flags, ValueAndPullback, no_pullback
from zygote_lite._cotangents.run import state
from zygote_lite._ir.intrinsics import frame_refusal
from zygote_lite._ir.names import name_of
from zygote_lite._ir.places import (
    ENGINE,
    call_as_written,
    called_by_user,
    is_library,
    place_of,
    where,
)
from zygote_lite._tape.holders import of_jitclass, with_holder
from zygote_lite._tape.refusals.advice import (
    OF_TRACER,
    call_by_user,
    has_remedy,
    hint_on_library,
    hint_on_made,
    host_of,
    name_by_user,
    what_to_do,
    with_remedy,
)
from zygote_lite._tape.refusals.messages import told_inside
from zygote_lite._tape.refusals.near_misses import (
    advice_on_options,
    near_miss,
    options_without_rule,
    type_meant,
    types_given,
)
from zygote_lite.errors import Fault


def no_rule(flags: Flags, f: Any, xs: tuple[Any, ...], kws: dict[str, Any]) -> ValueAndPullback:
    """Run a call that has neither rule nor source; refuse it if a gradient passes through it.

    None passes where nothing active is given, or where the value has no gradient (a text, say)
    and nothing was given that the call may have changed.
    """
    operands = (getattr(f, "__self__", None), *xs, *kws.values())
    is_held = type(operands[0]) is not types.ModuleType  # a function of a module holds nothing
    meant = operands if is_held else operands[1:]
    hooks = [*unknown_hooks(f, meant), *callbacks(meant)]
    if hooks and (reaches_active_at_all(*hooks) or captured_within(*hooks)):
        raise hook_refusal(f, hooks)
    reaches = reaches_active_at_all(f, *meant)  # an iterator that ends lets go of what it held
    flags = (flags[0] if is_held else None, *flags[1:])
    given = [x for flag, x in zip(flags, operands, strict=True) if flag]
    if (not given and not reaches) or id(f) in _WITHOUT_TRACE:
        return f(*xs, **kws), no_pullback(len(flags))
    before = contents(operands)
    y = f(*xs, **kws)
    only_text = all(kind_of(x) == INERT for x in given) and not reaches
    is_file = isinstance(y, io.IOBase)
    is_apart = kind_of(y) == OBJECT and (is_file or not any(map(is_text, given)))
    carries_none = kind_of(y) == INERT or _is_text_array(y) or (only_text and is_apart)
    if carries_none and all(_is_immutable(x) or _is_text_array(x) for x in operands):
        if is_file:
            mark_active(y)  # what is read from it is text that depends on what is differentiated
            note_name()
        elif y is None:
            raise refusal(f, xs, kws)  # it is called for what it does, and that may be found again
        return y, text_pullback(y, len(flags))
    if y is not None and any(map(is_active_text, operands)) and type(f).__module__ != "_json":
        raise text_refusal(f, xs)
    are_unchanged = not have_changed(operands, before)
    is_read = any(map(is_stream, operands))
    if is_text(y) and are_unchanged and not is_read and reason_of(name_of(f)) is None:
        raise Fault.TEXT(
            f"{where()}: {name_of(f)} of ({types_given(xs, kws)}) makes a text of what is "
            "differentiated, and no gradient passes through a text: compute with the numbers, or "
            "give it `stop_gradient(...)` of them, which says that the text carries no gradient"
        )
    raise refusal(f, xs, kws, returns=y is not None and are_unchanged)


_WITHOUT_TRACE = {id(f) for f in (time.sleep, sys.audit)}
"""Functions in C that return nothing, and leave nothing that could be found again."""


def refusal(
    f: Any, xs: tuple[Any, ...], kws: dict[str, Any] | None = None, *, returns: bool = True
) -> Exception:
    """Return the error for a function that a gradient passes, and that has no rule.

    Arguments:
        f, xs, kws: the call.
        returns: whether it is called for what it returns, and not for what it changes.
    """
    if any(map(is_stream, xs[:1])):
        return read_refusal(f, xs)
    if type(f).__module__ == "_json":  # all that Python's own readers of JSON end in
        return text_refusal(json.loads, xs[:1])
    made_by_numba = of_jitclass(f, xs)
    if made_by_numba is not None:
        return made_by_numba
    given = types_given(xs, kws or {})
    of = call_as_written(f, xs)
    told = (
        of[0] if of is not None and of[1] == "operator" else f"{name_by_user(f, xs)} of ({given})"
    )
    if type in type(f).__mro__ and issubclass(f, Number) and any(isinstance(x, str) for x in xs):
        return text_refusal(f, xs)
    of_holder = with_holder(told, f, (*xs, *(kws or {}).values()))
    if of_holder is not None:
        return of_holder
    outside = called_by_user()
    place, name, module = outside or (where(), name_by_user(f, xs) if of is None else of[0], "")
    called = call_by_user() if outside else (f, xs, kws or {})
    if called is not None and "<locals>" in name:  # of a decorator
        name = name_of(called[0])
    if "<locals>" in name and host_of(module) is not None:  # by `jax.grad`, say
        name = f"what {module.partition('.')[0]} made of {name.rpartition('<locals>.')[2]}"
    of_call = xs if called is None else (*called[1], *called[2].values())
    of_type = type(f).__module__  # a function that `jax.jit` made is of JAX
    home = of_type if of_type.startswith("jax") else home_of(f) or of_type
    host = host_of(module) or host_of(home)
    hint = hint_on_made(name, module or home, of_call) or hint_on_library(of_call, None)
    if hint is not None and (host is None or hint == OF_TRACER):  # a host calls its own functions
        return Fault.HOLDER(
            f"{place}: {name} has no rule, and a gradient passes through it: {hint}"
        )
    options = options_without_rule(f, xs, kws or {})
    is_of_keyword = bool(options)  # there is a rule for what was passed by position
    known = provider_of(home) is None
    almost = near_miss(f, xs, kws or {}, is_of_keyword) if known else None
    if options and almost is None:
        return Fault.OPTION(
            f"{where()}: {told} has no rule that takes {' and '.join(options)}, and a gradient "
            f"passes through it; {advice_on_options(f, kws or {})}"
        )
    why = reason_of(name)
    if why is not None and not why.endswith(" its own source"):  # then it is what that calls
        return Fault.UNKNOWN_DERIVATIVE(
            f"{place}: {name} has no rule, and a gradient passes through it: "
            f"{with_remedy(why, name, called)}"
        )
    if outside is not None:
        calls = f": it calls {told} at {where()}, which has no rule and no Python source"
        return what_to_do(
            f"{place}: {name} has no rule, and a gradient passes through it{'' if host else calls}",
            module,
            called,
        )
    if almost is not None:
        return Fault.OTHER_TYPES(
            f"{where()}: {told} has no rule, and a gradient passes through it; {almost}"
        )
    if f is array.array:
        return Fault.HOLDER(
            f"{where()}: a gradient passes through an {name_of(f)}, which holds numbers without "
            "theirs: use a list, or `np.array(...)`"
        )
    return what_to_do(
        f"{where()}: {told} has no rule and no Python source, and a gradient passes through it",
        home,
        (f, xs, kws or {}),
        returns,
    )


def read_refusal(f: Any, xs: tuple[Any, ...]) -> Exception:
    """Return the error for a function that reads a stream to which active values were written."""
    place, name, _ = called_by_user() or (where(), name_of(f), "")
    return Fault.TEXT(
        f"{place}: {name} reads what {an(type(xs[0]).__name__)} was given, which depends "
        "on what is differentiated, and no gradient passes through a text: use the numbers that it "
        "was made of"
    )


def option_refusal(error: NotImplementedError | str, f: Any, instead: str = "") -> Exception:
    """Return the error for a call that a rule refuses, with the place of the user's own call.

    Arguments:
        error: what the rule says, with what to do after a colon.
        f: the function.
        instead: what to do, where the rule does not say it.
    """
    outside = called_by_user()
    host = host_of(type(f).__module__) or host_of(str(home_of(f)))
    why = str(error)
    if host is not None and has_remedy(why):  # what it does inside is nobody's concern
        place = f"{outside[0]}: a gradient passes through {outside[1]}" if outside else where()
        if outside is None and callable(f):
            place += f": a gradient passes through {name_of(f).rpartition('<locals>.')[2]}"
        return Fault.UNKNOWN_DERIVATIVE(f"{place}: {why}")
    if outside is None:
        told, name = f"{where()}: {error}", name_of(f)
    else:
        told, name = told_inside(outside, where(), error), outside[1]
    if not instead and not has_remedy(str(error)):
        instead = "use another function"
    own = f"or declare a rule of your own for {name}, which goes first"
    return Fault.UNKNOWN_DERIVATIVE(f"{told}; {f'{instead}, ' if instead else ''}{own}")


def text_refusal(f: Any, xs: tuple[Any, ...]) -> Exception:
    """Return the error for a function that reads numbers from a text of active values."""
    given = ", ".join(type(x).__name__ for x in xs)
    return Fault.TEXT(
        f"{where()}: {name_of(f)} of ({given}) makes numbers of a text that depends on what is "
        "differentiated, and no gradient passes through a text: use the numbers that it was made "
        "of"
    )


def hook_refusal(f: Any, hooks: list[tuple[Any, Any]]) -> Exception:
    """Return the error for user code that a function written in C calls, and that may write."""
    hook = hooks[0][0]
    hint = hint_on_library([hook], None)
    if hint is not None:
        return Fault.HOLDER(f"{where()}: {hint}")
    symbol = (call_as_written(f, ()) or ("",))[0].partition("` of ")[0]
    name = f"{symbol}`" if symbol.startswith("`") else name_of(f)
    place, name, _ = called_by_user() or (where(), name, "")
    return Fault.CALLBACK(
        f"{place}: {name}, which is written in C, may call {hook.__qualname__} "
        f"({place_of(hook)}), and that may change what a gradient depends on: call it from Python, "
        "or let it change nothing"
    )


def refuse_frame() -> None:
    """Refuse a frame that the user asks for.

    In it lie variables of the recorded code, and numbers of which it is not known where they came
    from. Python's own library looks there for a line number or the name of a module: to log, say.
    """
    if not is_library(asking()):
        raise frame_refusal("this")


def asking() -> str:
    """Return the file of the code that the running call stands in."""
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(ENGINE):
        frame = frame.f_back
    return "" if frame is None else frame.f_code.co_filename


def _is_text_array(x: Any) -> bool:
    return isinstance(x, np.ndarray) and is_text(x)  # functions in C make new ones


def _is_immutable(x: Any) -> bool:
    kind = kind_of(x)
    if isinstance(x, bytearray):
        return False
    if kind == VALUE:
        return isinstance(x, Number | np.generic)
    return kind <= FUNCTION or (kind == TUPLE and all(map(_is_immutable, x)))


def note_resolution(f: Any, xs: tuple[Any, ...], how: str) -> None:
    """Note how a call was resolved, if `explain` asks for it."""
    if state.trace is not None:
        state.trace.append(
            (where(), f"{name_of(f)}({', '.join(type_meant(x).__name__ for x in xs)})", how)
        )


def resolutions_noted() -> int:
    """Return how many calls are noted for `explain`."""
    return 0 if state.trace is None else len(state.trace)


def forget_resolutions(first: int) -> None:
    """Forget what was noted for `explain` after so many calls: it is done anew in another way."""
    if state.trace is not None:
        del state.trace[first:]


def refused_part(x: Any, name: str) -> Exception:
    """Return the error for a part of a value that a rule set knows as a whole: read, or written."""
    kind = type(x).__qualname__
    return Fault.KNOWN_AS_A_WHOLE(
        f"{where()}: a gradient passes through `.{name}` of {an(kind)}, whose cotangents are known "
        f"by rule, as a whole: declare a rule for what reads or writes it (`{kind}` itself, its "
        "methods and properties, or a function)"
    )


def refused_whole(f: Any, x: Any) -> Exception:
    """Return the error for a value known as a whole that is used after its memory was written."""
    kind = type(x).__qualname__
    return Fault.MEMORY(
        f"{where()}: {name_of(f)} is given {an(kind)} whose memory was written in place since it "
        f"was made, as by `a.data[0] = x`, and its gradient cannot be followed: make a new {kind} "
        "of the array that is written"
    )


def refused_fields(name: str) -> Exception:
    """Return the error for the attributes of an object that are reached through its `__dict__`."""
    return Fault.ATTRIBUTE(
        f"{where()}: the attributes of {name} are reached through its `__dict__`, which cannot "
        "be differentiated; use `getattr` and `setattr`"
    )
