"""Show the text of each stage, and how each call was resolved."""

import ast
import functools
import inspect
import types
from collections import Counter
from collections.abc import Callable
from typing import Any, TypeVar

from rulescore import find_rule
from rulescore.faults import with_cells
from zygote_lite._cotangents.run import state
from zygote_lite._cotangents.zeros import filled
from zygote_lite._interface.calls import numbers_of, plain_call
from zygote_lite._interface.code import CallList, Code, shown_as
from zygote_lite._interface.stages import TEXTS, text_of_exits
from zygote_lite._ir.compile import lowered, recording
from zygote_lite._ir.emit import emit
from zygote_lite._ir.frames import entry
from zygote_lite._ir.lower.function import lower
from zygote_lite._ir.names import name_of
from zygote_lite._ir.places import ENGINE
from zygote_lite._nested.gradients import refused_inside
from zygote_lite._specialize.cache import NO_FUNCTION
from zygote_lite._specialize.driver import specialize
from zygote_lite._specialize.entry import attempt
from zygote_lite._specialize.jitted import original
from zygote_lite._specialize.tangents import specialize_forward
from zygote_lite._specialize.typed.derivatives import gone_over
from zygote_lite._specialize.typed.reasons import NotSpecializable, NotSupported, Unsound
from zygote_lite._tape.run import recorded
from zygote_lite._tape.seeds import ActiveArguments, Argnums, argument_numbers
from zygote_lite._tape.validate import hide_keywords, refuse_keywords, refuse_no_function
from zygote_lite.errors import Fault

_WITH_EFFECTS = (Unsound.EFFECTS, Unsound.WRITES_TO_GIVEN)
_LONGEST_NAME = 60
Shown = TypeVar("Shown")
_NAMES_OF_OURS = "zygote_lite._"  # how the names of the functions of the engine begin
_RECORDED_OF_OURS = f"recorded; {ENGINE}_"  # and how the places of others begin
_RECORDED = (
    "# `x_` goes with `x` and tells where on the tape its cotangent goes.\n"
    "# Going back is walking the tape backwards (`Tape.back`).\n"
)


@entry
@shown_as(Code)
def code_lowered(f: Any, /, *xs: Any, **kws: Any) -> str:
    """Return the lowered code of a function: one operation per statement, as readable Python.

    Arguments:
        f: a Python function, or a callable that has one.
        xs, kws: its arguments, which have no influence.

    Raises `TypeError` if `f` has no Python source.
    """
    function = _function_of(f)
    return emit(lower(function.__code__, function.__globals__)).text


@entry
@shown_as(Code)
def code_primal(f: Any, /, *xs: Any, **kws: Any) -> str:
    """Return the recording code of a function: its forward code, which notes each call on a tape.

    Arguments:
        f: a Python function, or a callable that has one.
        xs, kws: its arguments, which have no influence: the code serves all types.

    Raises `TypeError` if `f` has no Python source. (MicroGrad.jl's `primal`.)
    """
    return _recorded(f, "for all types")


@entry
@shown_as(Code)
def code_adjoint(
    f: Any, /, *xs: Any, argnums: Argnums | None = None, stage: str = "adjoint", **kws: Any
) -> str:
    """Return the code that computes a gradient, as readable Python.

    Arguments:
        f: a Python function, or a callable that has one.
        xs, kws: its arguments, whose types choose the code; or none.
        argnums: the arguments to differentiate, by position or by name; without it, all, but for
            integers and text that are given by name.
        stage: which stage of the code: `"exits"`, the lowered code with one exit; `"typed"`, both
            passes with their types, before anything is optimized; `"adjoint"`, the code that runs;
            `"guards"`, the function that tests what it takes for granted, and enters it.

    With arguments, this is the transformed code for their types: the forward pass, with the reverse
    pass inside, and the rules inlined. Without arguments, or if the function cannot be transformed,
    it is the recording code. That serves all types, looks up the rules as it runs, and has no
    reverse pass of its own, because the tape is walked backwards. The first line says which of the
    two it is, and why. Raises `TypeError` if `f` has no Python source, and `ValueError` if there is
    no such stage. (MicroGrad.jl's `reverse_differentiate`.)
    """
    if argnums is not None or stage != "adjoint":
        options = {"argnums": argnums, "stage": stage if stage != "adjoint" else None}
        refuse_keywords("code_adjoint", f, {}, **options)
    if stage not in TEXTS:
        raise Fault.OPTION_VALUE(
            f"there is no stage {stage!r}: give one of {', '.join(map(repr, TEXTS))}"
        )
    if stage == "exits":
        function = _function_of(f)
        return _text_or_why(f, attempt(function, (), lambda: text_of_exits(function)))
    if not xs and not kws:
        return _recorded(f, "for all types: `code_adjoint(f, *xs)` shows transformed code")
    function = original(f)
    plain = _plain_call(function, xs, kws, argnums)
    if plain is None and (type(function) is not types.FunctionType or kws):
        why = _why_not_by_name(function, xs, kws) if kws else NO_FUNCTION
        return _recorded(f, f"not transformed: {why}")
    # a function with a rule is shown all the same: the rule is why it is not transformed
    function, xs, flags = plain or (function, xs, _flags(function, xs, argnums))
    return _text_or_why(f, _code_for(function, xs, flags, TEXTS[stage]))


@entry
@shown_as(Code)
def code_jvp(f: Any, /, *xs: Any, argnums: Argnums | None = None, **keywords: Any) -> str:
    """Return the code that `jvp` runs for arguments of these types, as readable Python.

    Arguments:
        f: a Python function, or a callable that has one.
        xs: its arguments.
        argnums: the arguments that have a tangent, by position or by name; without it, floats,
            arrays, and what holds them.

    Other keywords are refused, as `jvp` takes none: show `lambda x: f(x, s=2.0)`.

    It is dual code: behind each statement stands the one that computes its tangent. If the function
    cannot be transformed in this way, the first line says why, and the recording code follows; then
    `jvp` transposes its pullback. Raises `TypeError` if `f` has no Python source.
    """
    refuse_keywords("code_jvp", f, keywords, argnums=argnums)
    function, over = gone_over(original(f))
    if type(function) is not types.FunctionType:
        return _recorded(f, f"not transformed: {NO_FUNCTION}")
    moving = [i for i, x in enumerate(xs) if _has_tangent(x)]
    flags = _flags(function, xs, moving if argnums is None else argnums)
    dxs = tuple([filled(None, x) for x, flag in zip(xs, flags, strict=True) if flag])
    made = attempt(function, xs, lambda: specialize_forward(function, xs, flags, dxs, over))
    return _text_or_why(function, made if isinstance(made, Exception) else str(made.text))


def _recorded(f: Any, why: str) -> str:
    """Return the recording code of a function, which begins with why it is shown."""
    return f"# Recorded, {why}\n{_RECORDED}{recording(lowered(_function_of(f))).text}"


def _text_or_why(f: Any, found: str | Exception) -> str:
    """Return a text, or the recording code, which begins with why there is none."""
    if isinstance(found, str):
        return found
    return _recorded(f, f"not transformed: {_place_of(found)}{found}")


def _flags(f: Any, xs: tuple[Any, ...], argnums: Argnums | None) -> tuple[bool, ...]:
    """Return which arguments of a call are differentiated; all, if none is named."""
    numbers = argument_numbers(f, range(len(xs)) if argnums is None else argnums, len(xs))
    return tuple([i in numbers for i in range(len(xs))])


def _has_tangent(x: Any) -> bool:
    """Return whether an argument has a tangent, unless somebody asks for that of an integer."""
    return type(x) is not int and filled(None, x) is not None


def _plain_call(
    f: Any, xs: tuple[Any, ...], kws: dict[str, Any], argnums: Argnums | None
) -> tuple[types.FunctionType, tuple[Any, ...], tuple[bool, ...]] | None:
    """Return the plain call that a call comes to, and which of its arguments are differentiated."""
    plain = plain_call(f, xs, kws, in_c=True)
    if plain is None:
        return None
    function, given, before = plain
    if argnums is None:
        argnums = [*range(len(xs)), *(name for name, x in kws.items() if _has_tangent(x))]
    asked = argument_numbers(f, argnums, len(xs), kws)
    numbers = numbers_of(asked, function, before, len(xs), kws)
    return function, given, tuple([i in numbers for i in range(len(given))])


def _why_not_by_name(f: Any, xs: tuple[Any, ...], kws: dict[str, Any]) -> NotSpecializable:
    """Return why a call with arguments by name comes to no call by position."""
    if find_rule(f, *xs, **kws) is not None:
        return Unsound.OWN_RULE("a rule answers it")
    return NotSupported.NO_PYTHON_FUNCTION(
        "it gets an argument by name alone: differentiate a `lambda` that gives it"
    )


def _code_for(
    f: Any, xs: tuple[Any, ...], flags: tuple[bool, ...], make: Callable[..., Shown]
) -> Shown | Exception:
    """Return the code for a pullback, or, of a function with effects, for its gradient alone."""
    found = attempt(f, xs, lambda: make(f, xs, flags, as_pullback=True))
    effects = isinstance(found, NotSpecializable) and found.reason in _WITH_EFFECTS
    return attempt(f, xs, lambda: make(f, xs, flags)) if effects else found


def _place_of(reason: Exception) -> str:
    """Return the beginning of the statement that is not specialized, to stand before the reason."""
    if not isinstance(reason, NotSpecializable) or not hasattr(reason.origin, "lineno"):
        return ""
    text = ast.unparse(reason.origin).partition("\n")[0]  # type: ignore[arg-type]
    return f"`{text if len(text) < _LONGEST_NAME else text[:_LONGEST_NAME] + ' ...'}`: "


def _function_of(f: Any) -> types.FunctionType:
    """Return the Python function that a callable stands for."""
    f = original(f)
    while not isinstance(f, types.FunctionType):
        implementation = getattr(f, "_implementation", None)
        if isinstance(f, types.MethodType):
            f = f.__func__
        elif isinstance(f, functools.partial):
            f = f.func
        elif isinstance(f, type):
            f = inspect.getattr_static(f, "__init__")
        elif isinstance(implementation, types.FunctionType):
            f = implementation
        elif isinstance(inspect.getattr_static(type(f), "__call__", None), types.FunctionType):
            f = type(f).__call__
        else:
            refuse_no_function(f)
            raise Fault.NOT_CALLABLE(
                f"{name_of(f)} has no Python source to show: give a Python function that calls it"
            )
    return f


@entry
@shown_as(CallList)
def explain(f: Any, /, *xs: Any, argnums: Argnums | None = None, **kws: Any) -> str:
    """Return how each call of `f(*xs, **kws)` was resolved: one line for each, in order.

    Arguments:
        f: the function. It runs once, on a tape.
        xs, kws: its arguments.
        argnums: the arguments to differentiate, by position or by name; without it, all.

    A line has the place of the call, the call, and the rule that answered it (plugin, file, line),
    or that its source was recorded. Calls in a loop that were resolved alike have one line, with
    their number. Calls without a differentiated argument, and operations of the
    engine's own, are left out. If there is transformed code for these types, the lines of `f` and
    of the functions that it calls say so: it uses the same rules. A function that the code leaves
    to the tape is recorded, and its line says why. If there is no code, the first line says why.
    That is about the gradient, not about forward mode, which has code of its own.
    A notebook and the prompt show the list in colors. Raises the errors of the gradient.
    """
    refuse_keywords("explain", f, {}, argnums=argnums)
    lines = [tuple(map(with_cells, line)) for line in resolutions(f, xs, kws, argnums)]
    if not lines:
        return "nothing was differentiated"
    places = max(len(place) for place, _, _ in lines)
    calls = max(len(call) for _, call, _ in lines)
    return "\n".join(f"{place:{places}}  {call:{calls}}  {how}" for place, call, how in lines)


def resolutions(
    f: Any, xs: tuple[Any, ...], kws: dict[str, Any], argnums: Argnums | None
) -> list[tuple[str, str, str]]:
    """Return the place of each call of `f(*xs, **kws)`, the call, and how it was resolved."""
    function = original(f)
    outer, state.trace = state.trace, []
    try:
        active = _recorded_flags(function, xs, kws, argnums)
        recorded(active, function, xs, kws)
        lines = [line for line in state.trace if not _is_of_ours(line)]
    finally:
        state.trace = outer
    plain = _plain_call(function, xs, kws, argnums) if xs or kws else None
    if plain is not None:
        lines = _with_tiers(plain[0], _code_for(*plain, specialize), lines)
    elif kws:
        lines = _with_tiers(function, _why_not_by_name(function, xs, kws), lines)
    found = Counter(lines)  # those of a loop stand once
    return [
        (place, call, f"{how} ({n} times)" if n > 1 else how)
        for (place, call, how), n in found.items()
    ]


def _recorded_flags(
    f: Any, xs: tuple[Any, ...], kws: dict[str, Any], argnums: Argnums | None
) -> tuple[Any, ...]:
    if argnums is None:
        return (True,) * (1 + len(xs) + len(kws))
    return ActiveArguments(f, argnums, len(xs), kws).flags


def _with_tiers(f: Any, made: Any, lines: list[Any]) -> list[Any]:
    """Return the lines about calls, with what transformed code does with the functions.

    Arguments:
        f, made: the function, and its code, or why there is none.
        lines: the place of each call, the call, and how it was resolved on the tape.
    """
    islands = {} if isinstance(made, Exception) else made.inputs.islands
    of_names = {name: f"recorded inside of transformed code: {islands[name]}" for name in islands}
    of_names[name_of(f)] = "transformed"
    if isinstance(made, Exception):
        of_names[name_of(f)] = f"recorded: {_place_of(made)}{made}"
    # without islands, no function that is called runs on the tape: all are part of the code
    within = None if isinstance(made, Exception) or islands else "transformed"
    found = []
    for place, call, how in lines:
        name = call.partition("(")[0]
        tier = of_names.get(name) or of_names.get(name.rpartition(".")[2]) or within
        found.append((place, call, _with_tier(how, tier)))
    return found


def _is_of_ours(line: tuple[str, str, str]) -> bool:
    """Return whether a line is about a private function of the engine, which users do not know."""
    _, call, how = line
    return call.startswith(_NAMES_OF_OURS) or how.startswith(_RECORDED_OF_OURS)


def _with_tier(how: str, tier: str | None) -> str:
    """Return how a call was resolved, with what is known of the function that was recorded."""
    return how if tier is None or not how.startswith("recorded;") else tier + how[len("recorded") :]


hide_keywords(code_jvp)
for _shows_code in (code_lowered, code_primal, code_adjoint, code_jvp, explain):
    refused_inside(_shows_code)
