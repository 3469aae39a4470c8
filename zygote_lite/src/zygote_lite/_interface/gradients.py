"""What users call: `pullback`, and the gradients made of it.

A call goes through `calls.transformed_first`. Transformed code for the types of the arguments
answers where there is some. Else the decorated function answers, which records the call on a tape,
and the call is noted, so that code is made for it. Inside a function that is itself differentiated
the call is recorded on a nested tape, by the function of `_nested.gradients` that is declared with
`inside`. All of them make their answer of a value and a pullback by the functions of `_tape.seeds`.
"""

import functools
import types
from collections.abc import Callable
from typing import Any, overload

from zygote_lite._cotangents.zeros import WITHOUT_NONE, forms_of, has_no_none
from zygote_lite._interface import handlers  # noqa: F401 - those of the engine
from zygote_lite._interface.calls import PlainCalls, PlainValues, record_and_note, transformed_first
from zygote_lite._interface.library_functions import that_calls
from zygote_lite._interface.vjp import (
    TransformedPullback,
    code_for_pullback,
    gradient_with_auxiliary,
)
from zygote_lite._ir.frames import keep_users_frames
from zygote_lite._nested.gradients import (
    inside,
    inside_gradient,
    inside_gradient_of_all,
    inside_run,
)
from zygote_lite._nested.rules import pullback_inside
from zygote_lite._specialize.cache import specializations_of
from zygote_lite._specialize.jitted import is_jitted, mark, original
from zygote_lite._specialize.typed.derivatives import Verb, declare_verb, mark_derivative
from zygote_lite._tape.repeats import repeatable, stamp_around, writes_around
from zygote_lite._tape.run import Pullback, recorded
from zygote_lite._tape.seeds import (
    ActiveArguments,
    Argnums,
    argument_numbers,
    asked_arguments,
    gradient_by,
    is_single,
    with_zeros,
)
from zygote_lite._tape.validate import hide_keywords, refuse_keywords, refuse_options
from zygote_lite.derivatives import Answered, Passed, by_name
from zygote_lite.errors import Fault


def pullback(f: Callable[..., Any], /, *xs: Any, **kws: Any) -> tuple[Any, Pullback]:
    """Return the value of `f(*xs, **kws)`, and its pullback.

    Arguments:
        f: any callable: a function with a rule or with Python source, a method, a class, or a
            callable object.
        xs, kws: its arguments: numbers, arrays, and lists, tuples, dicts and objects of them.

    The pullback maps `dy`, a cotangent of the value, to `(∂self, ∂x1, ..., ∂xn)`, followed by the
    cotangents of the keyword arguments. Each has the shape and the precision of its argument;
    `None` means "no gradient". `∂self` holds the gradients of a closure's captured variables, or of
    an object's fields, as a `Tangent`.

    The pullback holds no copies. If you change an array that `f` was given, or that it reads from
    outside, before you call the pullback, that mixes old and new contents without an error: call
    it first, or give `f` copies.

    Raises `NoRuleError` if a gradient would have to pass through a function with neither a rule nor
    source, and `UnsupportedSyntaxError` if the source has a construct that cannot be
    differentiated. Both name the user's file and line. (Zygote's `_pullback`.)
    """
    try:
        function = f = original(f)
        if type(f) is not types.FunctionType and not kws:
            function = that_calls(f, len(xs)) or f
        known = code_for_pullback(function, xs, kws)
        found = None if known is None else known.enter(function, *xs)
        if found is not None:
            y, back = found
            return y, TransformedPullback(back, f, y, xs)
        flags = (True,) * (1 + len(xs) + len(kws))
        answer: tuple[Any, Pullback] = record_and_note(
            known, function, xs, recorded, (flags, f, xs, kws), {}
        )
        return answer
    except BaseException as error:
        __tracebackhide__ = keep_users_frames(error)
        raise


@overload
def gradient(f: Callable[..., Any], /, *xs: Any, argnums: None = None) -> tuple[Any, ...]: ...
@overload
def gradient(f: Callable[..., Any], /, *xs: Any, argnums: Argnums) -> Any: ...
def gradient(
    f: Callable[..., Any], /, *xs: Any, argnums: Argnums | None = None, **keywords: Any
) -> Any:
    """Return the gradient of `f(*xs)`, a real number, with respect to each argument.

    Arguments:
        f: a function whose value is a real number.
        xs: its arguments: numbers, arrays, and lists, tuples, dicts and objects of them.
        argnums: the argument to differentiate, by position or by name, or several. Without it, all
            arguments are differentiated.

    Other keywords are refused: bind those of `f` before, as in `gradient(lambda x: f(x, s=2.0), x)`
    or `gradient(functools.partial(f, s=2.0), x)`.

    Returns a tuple with one gradient for each argument; if `argnums` names one argument, its
    gradient alone. A gradient has the shape, the precision and the structure of its argument. An
    integer counts as a float, and an object gets a `Tangent`.

    The gradient is `None` if the argument cannot have one (text), or if no path in the code leads
    from the argument to the value. If a branch decides whether the value depends on the argument,
    the gradient may be `None` or zero, which mean the same. Raises `TypeError` if the value is not
    a real number. (Zygote's `gradient`.)
    """
    try:
        compiled, f = is_jitted(f), original(f)
        if keywords or argnums is not None:
            refuse_keywords("gradient", f, keywords, argnums=argnums)
        known, function, given = None, f, xs
        numbers = range(len(xs)) if argnums is None else argnums
        if type(f) is not types.FunctionType or argnums is not None:
            known, function, given = PlainCalls(f, numbers, compiled=compiled).of(xs, {})
        elif xs:
            known = specializations_of(f, len(xs), tuple(range(len(xs))), False, compiled)
        found = None if known is None else known.enter(function, *given)
        if found is None:
            found = record_and_note(
                known, function, given, _recorded_gradient, (f, numbers, xs, {}), {}
            )
        return found[1]
    except BaseException as error:
        __tracebackhide__ = keep_users_frames(error)
        raise


def _recorded_gradient(
    f: Any, argnums: Argnums, xs: tuple[Any, ...], kws: dict[str, Any]
) -> tuple[Any, Any]:
    """Return the value and the gradient by the tape."""
    active = ActiveArguments(f, argnums, len(xs), kws)
    y, back = recorded(active.flags, f, xs, kws)
    return y, gradient_by(f, y, back, active)


@by_name
def value_and_grad(
    f: Callable[Passed, Answered],
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    compile: bool = False,
) -> Callable[Passed, tuple[Answered, Any]]:
    """Return a function that computes the value of `f` and its gradient.

    Arguments:
        f: a function whose value is a real number.
        argnums: the argument to differentiate, by position or by the name of its parameter; or a
            sequence of them, for a tuple of gradients. No other gradients are computed. An argument
            that is passed by keyword is differentiated if `argnums` names it.
        has_aux: whether `f` returns a pair of this number and anything else. The answer is then
            `((value, aux), gradient)`, and that of `grad` is `(gradient, aux)`.
        compile: whether to compile the gradient with Numba (`pip install "zygote_lite[jit]"`), at
            the first call with arguments of new types. Scalar code qualifies, and so do loops over
            the entries of arrays. Any other function runs uncompiled, after one warning that says
            why. If the value is a Python float on one path and a NumPy scalar on another, the
            compiled function always returns a NumPy scalar.

    The gradient has the shape, the precision and the structure of its argument. It is zero where
    the value does not depend on the argument, or on an entry of a list, tuple, dict or object. It
    is `None` only for entries that cannot have a gradient (text, booleans), and for the second
    occurrence of an object in an argument.

    Raises `TypeError` if the value is not a real number, or if a differentiated argument cannot
    have a gradient. (`gradient` returns `None` in all these cases.)
    """
    return _gradient(f, argnums, has_aux, compile, both=True)


@by_name
def grad(
    f: Callable[Passed, Any], argnums: Argnums = 0, *, has_aux: bool = False, compile: bool = False
) -> Callable[Passed, Any]:
    """Return a function that computes the gradient of `f`, a real number.

    Arguments:
        f, argnums, has_aux, compile: as for `value_and_grad`.

    The gradient has the shape, the precision and the structure of the argument, with zeros where
    the value does not depend on it. Raises `TypeError` if the value is not a real number, or if an
    argument cannot have a gradient. (`grad` of autograd and JAX.)
    """
    return _gradient(f, argnums, has_aux, compile, both=False)


def _gradient(
    f: Any, argnums: Argnums, has_aux: bool, compile: bool, both: bool
) -> Callable[..., Any]:
    """Return a function that computes the gradient of `f`, with its value where both are wanted."""
    asked_arguments(argnums)
    refuse_options(has_aux=has_aux, compile=compile)
    if has_aux:
        if compile:
            raise Fault.OPTION_VALUE(
                "`compile=True` is for functions of one value: leave out `has_aux`"
            )
        return gradient_with_auxiliary(f, argnums, both)
    compiled = compile or is_jitted(f)
    f = original(f)
    calls = PlainCalls(f, argnums, compiled=compiled)

    @inside(functools.partial(inside_gradient, f, argnums, both))
    @transformed_first(calls, f, _both_whole if both else _second_whole)
    def gradient_of(*xs: Any, **kws: Any) -> Any:
        numbers = argument_numbers(f, argnums, len(xs), kws)
        forms = forms_of((*xs, *kws.values()), numbers)
        y, found = _recorded_gradient(f, argnums, xs, kws)
        found = with_zeros(f, forms, numbers, is_single(argnums), found)
        return (y, found) if both else found

    verb = Verb.VALUE_AND_GRAD if both else Verb.GRAD
    mark_derivative(gradient_of, verb, f, argnums)
    return gradient_of


def raw_value_and_gradient(f: Any, argnums: Argnums) -> Any:
    """Return a function that computes the value and the gradient of `f`, with `None` as it comes.

    Tests compare transformed code with the tape by it: `value_and_grad` puts zeros for `None`.
    """
    f = original(f)

    @transformed_first(PlainCalls(f, argnums), f)
    def recorded_of(*xs: Any, **kws: Any) -> Any:
        return _recorded_gradient(f, argnums, xs, kws)

    return recorded_of


def _both_whole(found: Any, known: Any, function: Any, given: Any) -> Any:
    """Return the value and the gradient that transformed code gives, with zeros for `None`."""
    d = found[1]
    if known.without_none or type(d) in WITHOUT_NONE or has_no_none(d):
        return found
    return found[0], _whole(d, known, function, given)


def _second_whole(found: Any, known: Any, function: Any, given: Any) -> Any:
    """Return the gradient that transformed code gives, with zeros for `None`."""
    d = found[1]
    if known.without_none or type(d) in WITHOUT_NONE or has_no_none(d):
        return d
    return _whole(d, known, function, given)


def _whole(d: Any, known: Any, function: Any, given: Any) -> Any:
    numbers = [i for i, flag in enumerate(known.active) if flag]
    return with_zeros(function, given, numbers, known.single, d)


def _first(found: Any, known: Any, function: Any, given: Any) -> Any:
    """Return the value of what transformed code gives."""
    return found[0]


@by_name
def jit(f: Callable[Passed, Answered]) -> Callable[Passed, Answered]:
    """Return `f` compiled with Numba, for its value and for its gradients.

    Arguments:
        f: a function of numbers and arrays. Its value is a number, or an array that it creates.

    It is compiled at its first call with arguments of new types; `value_and_grad`, `grad` and
    `gradient` of it compile the gradient, too. It returns what `f` returns, and raises what `f`
    raises. Only a float that may be Python's or NumPy's is always NumPy's. A function that does not
    qualify (see `value_and_grad`) runs uncompiled, after one warning.
    """
    f = original(f)

    @transformed_first(PlainValues(f), f, _first)
    def compiled(*xs: Any, **kws: Any) -> Any:
        return f(*xs, **kws)

    mark(compiled, f)
    return compiled


for _maker in (grad, value_and_grad, jit):
    inside_run(_maker)
hide_keywords(gradient)
inside(inside_gradient_of_all)(gradient)
inside(pullback_inside)(pullback)
for _for_interop in (repeatable, writes_around, stamp_around):  # by `rulescore.interop`
    setattr(pullback, _for_interop.__name__, _for_interop)
for _verb_of_gradients in (grad, value_and_grad, gradient, pullback):
    declare_verb(_verb_of_gradients, Verb(_verb_of_gradients.__name__))
