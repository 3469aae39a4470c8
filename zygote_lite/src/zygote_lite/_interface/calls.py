"""The specialized code of what users differentiate, however they call it.

Calls by keyword, of methods, of objects with `__call__` and through `functools.partial` are calls
of plain functions, by position.
"""

import functools
import types
from typing import Any

import numpy as np

from rulescore import find_rule
from zygote_lite._specialize.cache import NO_FUNCTION, Entries, entries_of, warn_uncompiled
from zygote_lite._specialize.infer.models.objects import of_class
from zygote_lite._specialize.jitted import original
from zygote_lite._specialize.watch import GRADIENT
from zygote_lite._tape.seeds import Argnums, argument_numbers, basis
from zygote_lite.modes import InternalError, TierMismatch

PlainCall = tuple[types.FunctionType, tuple[Any, ...], int]


class Specializations:
    """The specialized code of one callable.

    Attributes:
        by_count: what is made for calls of a plain function by position, by their number.
    """

    def __init__(self, f: Any, single: bool, compiled: bool = False, form: str = GRADIENT) -> None:
        self.f, self.single, self.compiled, self.form = f, single, compiled, form
        self.by_count: dict[int, Entries] = {}
        self.known: dict[Any, Entries | None] = {}

    def of(
        self, xs: tuple[Any, ...], kws: dict[str, Any], argnums: Argnums
    ) -> tuple[Entries | None, Any, tuple[Any, ...], int]:
        """Return the specializations for calls of this kind, with the plain call by position."""
        function, given, before = self.f, xs, 0
        if type(function) is not types.FunctionType or kws:
            call = plain_call(function, xs, kws)
            if call is None:
                if self.compiled and type(function) is not types.FunctionType:
                    warn_uncompiled(function, NO_FUNCTION)
                return None, function, xs, 0
            function, given, before = call
        key = function, len(xs), before, len(given)
        if key not in self.known:
            numbers = tuple([before + n for n in argument_numbers(self.f, argnums, len(xs))])
            made = None
            if numbers:
                made = entries_of(
                    function, len(given), numbers, self.single, self.compiled, self.form
                )
            self.known[key] = made
            if made is not None and given is xs and function is self.f:
                self.by_count[len(xs)] = made
        return self.known[key], function, given, before


def jacobian_by(back: Any, f: Any, y: Any, x: Any, number: int, place: int) -> Any:
    """Return the Jacobian by a specialized pullback; `None` where the engine has to answer.

    Arguments:
        back: the pullback.
        f: the function, for errors.
        y: its value.
        x: the argument that is differentiated.
        number: which one that is, for errors.
        place: where its cotangent is, of those that the pullback returns.
    """
    rows = []
    for dy in basis(f, y, x, number):
        try:
            d = back(dy)[place]
        except (InternalError, TierMismatch):
            raise
        except Exception:  # left to the tape, whose errors are those of the user's code
            return None
        if d is None:
            d = np.zeros(np.shape(x))
        elif not np.isfinite(d).all():  # a zero may have met an infinity
            return None
        rows.append(d)
    return np.reshape(np.array(rows), (*np.shape(y), *np.shape(x)))


def plain_call(f: Any, xs: tuple[Any, ...], kws: dict[str, Any]) -> PlainCall | None:
    """Return the Python function that a call comes to, with its positional arguments.

    Returns the function, the arguments, and where among them the first of `xs` is; `None` where
    there is no such function, a rule answers the call, or its arguments cannot all be given by
    position. What the caller left out in between has its default.
    """
    before = 0
    while find_rule(f, *xs, **kws) is None and not hasattr(f, "__differentiates__"):
        if type(f) is types.FunctionType:
            given = _in_order(f, xs, kws) if kws else xs
            return None if given is None else (f, given, before)
        more: tuple[Any, ...]
        if type(f) is functools.partial:
            more, kws, f = f.args, {**f.keywords, **kws}, original(f.func)
        elif type(f) is types.MethodType:
            more, f = (f.__self__,), f.__func__
        else:
            more, f = (f,), of_class(type(f), "__call__")
            if type(f) is not types.FunctionType:
                return None
        before, xs = before + len(more), (*more, *xs)
    return None


def _in_order(
    f: types.FunctionType, xs: tuple[Any, ...], kws: dict[str, Any]
) -> tuple[Any, ...] | None:
    """Return arguments given by position and by keyword, all by position."""
    code = f.__code__
    names = code.co_varnames[: code.co_argcount]
    first_default = len(names) - len(f.__defaults__ or ())
    given, left = [*xs], len(kws)
    for i in range(len(xs), len(names)):
        if not left:
            break
        if names[i] in kws and i >= code.co_posonlyargcount:
            given.append(kws[names[i]])
            left -= 1
        elif i >= first_default:
            given.append((f.__defaults__ or ())[i - first_default])
        else:
            return None
    return None if left else tuple(given)
