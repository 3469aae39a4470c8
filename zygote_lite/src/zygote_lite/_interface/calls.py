"""How a call is answered: by transformed code first, else by the tape, and then it is noted.

Transformed code is of plain functions that are called by position. Calls by keyword, of methods,
of objects with `__call__`, through `functools.partial`, and of functions in C, come to such calls
(`PlainCalls`).
"""

import functools
import types
from collections.abc import Callable, Iterable
from typing import Any

from rulescore import find_rule
from zygote_lite._cotangents.kinds import own_derivative
from zygote_lite._interface.library_functions import in_one_order, that_calls, that_names
from zygote_lite._ir.frames import keep_users_frames
from zygote_lite._ir.source import compiled_by_numba
from zygote_lite._specialize.cache import (
    NO_FUNCTION,
    Specializations,
    specializations_of,
    warn_uncompiled,
)
from zygote_lite._specialize.infer.models.classes import of_class
from zygote_lite._specialize.jitted import original
from zygote_lite._specialize.typed.facts import NUMBERS
from zygote_lite._specialize.watch import GRADIENT, PRODUCT
from zygote_lite._tape.rules import handed_in
from zygote_lite._tape.seeds import Argnums, argument_numbers, arguments_and_vector, is_single
from zygote_lite.modes import forget_suspected, refuse_suspected

PlainCall = tuple[types.FunctionType, tuple[Any, ...], int]
FoundCall = tuple[Specializations | None, Any, tuple[Any, ...]]


class PlainCalls:
    """The calls of one callable as plain calls, with the transformed code for them.

    Attributes:
        f: the callable.
        by_count: the code for calls by position, by their number, with the function that it is
            of. It is that of plain functions, and of functions in C.
    """

    def __init__(
        self, f: Any, argnums: Argnums, form: str = GRADIENT, compiled: bool = False
    ) -> None:
        self.f, self.argnums, self.form, self.compiled = f, argnums, form, compiled
        self.by_count: dict[int, tuple[Specializations, types.FunctionType]] = {}
        self.known: dict[Any, Specializations | None] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Return the state to pickle, which has no code: it is made anew."""
        return {**vars(self), "known": {}}

    def of(self, xs: tuple[Any, ...], kws: dict[str, Any]) -> FoundCall:
        """Return the code for calls of this kind, with the plain call that it comes to."""
        vector: tuple[Any, ...] = ()
        if self.form == PRODUCT:
            xs, last = arguments_and_vector(self.f, xs, kws)
            vector = (last,) if is_single(self.argnums) else last if type(last) is tuple else ()
        function, given, before = self.f, xs, 0
        if type(function) is not types.FunctionType or kws:
            call = plain_call(function, xs, kws, in_c=not self.compiled)
            if call is None:
                if self.compiled and type(function) is not types.FunctionType:
                    warn_uncompiled(function, NO_FUNCTION)
                return None, function, xs
            function, given, before = call
        key = function, len(xs), before, len(given), len(vector), *kws
        if key not in self.known:
            asked = argument_numbers(self.f, self.argnums, len(xs), kws)
            numbers, made = numbers_of(asked, function, before, len(xs), kws), None
            single = is_single(self.argnums)
            if numbers and (self.form != PRODUCT or len(vector) == len(numbers)):
                made = specializations_of(
                    function, len(given), numbers, single, self.compiled, self.form
                )
            self.known[key] = made
            if made is not None and given is xs and not kws and (single or not vector):
                self.by_count[len(xs) + len(vector)] = made, function
        return self.known[key], function, given + vector


class PlainValues(PlainCalls):
    """The calls of a function for its value alone."""

    def __init__(self, f: Any) -> None:
        super().__init__(f, (), compiled=True)

    def of(self, xs: tuple[Any, ...], kws: dict[str, Any]) -> FoundCall:
        """Return the code for calls with so many arguments; there is none for names."""
        if kws:
            return None, self.f, xs
        known = specializations_of(self.f, len(xs), (), False, True)
        if known is not None:
            self.by_count[len(xs)] = known, self.f
        return known, self.f, xs


def transformed_first(
    calls: PlainCalls, wrapped: Any, finish: Any = None
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorate what the tape does with a call: transformed code is asked before it.

    Arguments:
        calls: where the transformed code is found.
        wrapped: the function whose name and signature the result has.
        finish: makes the answer of what transformed code gives, as `finish(found, known, function,
            given)`; `NotImplemented` leaves the call to the tape after all.
    """
    f, by_count = calls.f, calls.by_count

    def decorate(recorded: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(wrapped)
        def answer(*xs: Any, **kws: Any) -> Any:
            try:
                known, function = by_count.get(len(xs)) or (None, f)
                given = xs
                if known is None or kws:
                    known, function, given = calls.of(xs, kws)
                found = None if known is None else known.enter(function, *given)
                if found is not None:
                    if finish is None:
                        return found
                    found = finish(found, known, function, given)
                    if found is not NotImplemented:
                        return found
                return record_and_note(known, function, given, recorded, xs, kws)
            except BaseException as error:
                __tracebackhide__ = keep_users_frames(error)
                raise

        return answer

    return decorate


def record_and_note(
    known: Specializations | None,
    function: Any,
    given: tuple[Any, ...],
    recorded: Callable[..., Any],
    xs: tuple[Any, ...],
    kws: dict[str, Any],
) -> Any:
    """Return the tape's answer to a call that transformed code has not answered, and note it.

    Arguments:
        known, function, given: the transformed code for such calls, and the plain call.
        recorded, xs, kws: what answers by the tape, and the call.
    """
    try:
        found = recorded(*xs, **kws)
    except BaseException:
        forget_suspected()
        raise
    refuse_suspected()
    if known is not None:
        known.note(function, given)
    return found


def plain_call(
    f: Any, xs: tuple[Any, ...], kws: dict[str, Any], in_c: bool = False
) -> PlainCall | None:
    """Return the Python function that a call comes to, with its positional arguments.

    Arguments:
        f, xs, kws: the call.
        in_c: whether to write a Python function that calls `f`, where it is a function in C.

    Returns the function, the arguments, and where among them the first of `xs` is; `None` where
    there is no such function, or a rule answers the call. What the caller left out in between has
    its default. Where an argument can be given by name alone, a function is written that does so.
    """
    before = 0
    are_numbers = NUMBERS.issuperset(map(type, xs)) and not kws
    while find_rule(f, *xs, ad=handed_in, **kws) is None and own_derivative(f) is None:
        if type(f) is types.FunctionType:
            given = _in_order(f, xs, kws, _defaults_of(f)) if kws else xs
            if given is None and f.__closure__ and (ordered := in_one_order(f)) is not None:
                given = _in_order(ordered, xs, kws, _defaults_of(f))
                return None if given is None else (ordered, given, before)
            written = that_names(f, len(xs), tuple(kws)) if given is None else f
            return None if written is None else (written, given or (*xs, *kws.values()), before)
        more: tuple[Any, ...]
        if type(f) is functools.partial:
            more, kws, f = f.args, {**f.keywords, **kws}, original(f.func)
        elif type(f) is types.MethodType:
            more, f = (f.__self__,), f.__func__
        elif in_c and that_calls(f, len(xs), tuple(kws)) is not None:
            break
        elif (python := compiled_by_numba(f, of_entries=are_numbers)) is not None:
            more, f = (), python
        else:
            more, f = (f,), of_class(type(f), "__call__")
            if compiled_by_numba(more[0], of_entries=True) or type(f) is not types.FunctionType:
                return None
        before, xs = before + len(more), (*more, *xs)
    written = that_calls(f, len(xs), tuple(kws)) if in_c else None
    given = (*xs, *kws.values()) if kws else xs
    return None if written is None else (written, given, before)


def numbers_of(
    asked: Iterable[int], function: types.FunctionType, before: int, count: int, kws: Iterable[str]
) -> tuple[int, ...]:
    """Return which arguments of a plain call are some of those of the user's call.

    Arguments:
        asked: the latter, where those by keyword come last.
        function, before: of the plain call, and where the first of the user's arguments is in it.
        count, kws: how many arguments the user has given by position, and the names of the others.
    """
    named = map(function.__code__.co_varnames.index, kws)
    places = [*range(before, before + count), *named]
    return tuple([places[n] for n in asked])


def _defaults_of(f: types.FunctionType) -> dict[str, Any]:
    """Return the defaults of the parameters of a function, by name."""
    names, defaults = f.__code__.co_varnames[: f.__code__.co_argcount], f.__defaults__ or ()
    first = len(names) - len(defaults)
    return {**dict(zip(names[first:], defaults, strict=True)), **(f.__kwdefaults__ or {})}


def _in_order(
    f: types.FunctionType, xs: tuple[Any, ...], kws: dict[str, Any], defaults: dict[str, Any]
) -> tuple[Any, ...] | None:
    """Return arguments given by position and by keyword, all by position."""
    code = f.__code__
    names = code.co_varnames[: code.co_argcount]
    given, left = [*xs], len(kws)
    for i in range(len(xs), len(names)):
        if not left:
            break
        if names[i] in kws and i >= code.co_posonlyargcount:
            given.append(kws[names[i]])
            left -= 1
        elif names[i] in defaults:
            given.append(defaults[names[i]])
        else:
            return None
    return None if left else tuple(given)
