"""What users call: `pullback`, and the gradients made of it.

A call goes through `calls.transformed_first`. Transformed code for the types of the arguments
answers where there is some. Else the decorated function answers, which records the call on a tape,
and the call is noted, so that code is made for it. Inside a function that is itself differentiated
the call is recorded on a nested tape, by the function of `_nested.gradients` that is declared with
`inside`. All of them make their answer of a value and a pullback by the functions of `_tape.seeds`.
"""

import functools
import itertools
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from zygote_lite._cotangents.zeros import WITHOUT_NONE, filled, is_whole
from zygote_lite._interface import handlers  # noqa: F401 - those of the engine
from zygote_lite._interface.calls import PlainCalls, PlainValues, record_and_note, transformed_first
from zygote_lite._interface.pullbacks import TransformedPullback, code_for_pullback
from zygote_lite._nested.gradients import (
    inside,
    inside_gradient,
    inside_gradient_of_all,
    inside_hvp,
    inside_jacobian,
    inside_run,
)
from zygote_lite._nested.rules import pullback_inside
from zygote_lite._specialize.cache import specializations_of
from zygote_lite._specialize.compare import is_finite_answer
from zygote_lite._specialize.jitted import is_jitted, mark, original
from zygote_lite._specialize.typed.derivatives import Verb, declare_verb, mark_derivative
from zygote_lite._specialize.watch import PRODUCT, PULLBACK
from zygote_lite._tape.run import Pullback, recorded
from zygote_lite._tape.seeds import (
    ActiveArguments,
    Argnums,
    argument_numbers,
    gradient_by,
    is_single,
    jacobian_by,
    stack_rows,
    units,
    with_zeros,
)
from zygote_lite.modes import InternalError, TierMismatch


def pullback(f: Callable[..., Any], /, *xs: Any, **kws: Any) -> tuple[Any, Pullback]:
    """Return the value of `f(*xs, **kws)` and the function that pulls its cotangent back.

    Arguments:
        f: any callable: a function with a rule, or with Python source, a method, a class, a
            callable object.
        xs, kws: its arguments.

    `back(dy)` returns `(∂self, ∂x1, ..., ∂xn)`, where `∂self` holds the gradients of a closure's
    captured variables or of an object's fields (a `Tangent`), and `None` means "no gradient".
    Raises `NoRuleError` where a gradient passes a function that has neither rule nor source, and
    `UnsupportedSyntaxError` where the source has a construct that cannot be differentiated, both
    with the user's file and line. (Zygote's `_pullback`.)
    """
    f = original(f)
    known = code_for_pullback(f, xs, kws)
    found = None if known is None else known.enter(f, *xs)
    if found is not None:
        y, back = found
        return y, TransformedPullback(back, f, y, xs)
    flags = (True,) * (1 + len(xs) + len(kws))
    answer: tuple[Any, Pullback] = record_and_note(known, f, xs, recorded, (flags, f, xs, kws), {})
    return answer


def gradient(f: Callable[..., Any], /, *xs: Any) -> tuple[Any, ...]:
    """Return the gradient of `f(*xs)`, a real number, with respect to each argument.

    Returns a tuple with one entry for each argument, of the argument's kind and shape. It is
    `None` where the argument cannot have a gradient (text), or where the code has no path from it
    to the value. Where a branch decides whether the value depends on it, the entry may be `None`
    or a zero of the argument's kind: both mean the same. Raises `TypeError` where the value is
    not a real number. (Zygote's `gradient`.)
    """
    compiled, f = is_jitted(f), original(f)
    known, function, given = None, f, xs
    if type(f) is not types.FunctionType:
        known, function, given = PlainCalls(f, range(len(xs)), compiled=compiled).of(xs, {})
    elif xs:
        known = specializations_of(f, len(xs), tuple(range(len(xs))), False, compiled)
    found = None if known is None else known.enter(function, *given)
    if found is None:
        numbers = range(len(xs))
        found = record_and_note(
            known, function, given, _recorded_gradient, (f, numbers, xs, {}), {}
        )
    cotangents: tuple[Any, ...] = found[1]
    return cotangents


def _recorded_gradient(
    f: Any, argnums: Argnums, xs: tuple[Any, ...], kws: dict[str, Any]
) -> tuple[Any, Any]:
    """Return the value and the gradient by the tape."""
    active = ActiveArguments(f, argnums, len(xs), len(kws))
    y, back = recorded(active.flags, f, xs, kws)
    return y, gradient_by(f, y, back, active)


def value_and_grad(
    f: Callable[..., Any], argnums: Argnums = 0, *, compile: bool = False
) -> Callable[..., tuple[Any, Any]]:
    """Return a function that computes the value of `f` and its gradient.

    Arguments:
        f: a function whose value is a real number.
        argnums: the positional argument, or arguments, to differentiate; nothing is spent on
            the others. For a sequence the gradient is a tuple.
        compile: whether to compile it with Numba (`pip install "zygote_lite[jit]"`), at the first
            call with arguments of certain types. Scalar code qualifies, and loops over entries of
            arrays; a function that does not runs as ever, after one warning that says why. Where
            the value is Python's float on one path and NumPy's on another, it is NumPy's.

    Where the value does not depend on an argument, or on an entry of a list, tuple, dict or
    object, there are zeros of its kind. Only entries that cannot have a gradient (text, truth
    values), and what is met a second time in an argument, have `None`. Raises `TypeError` where a
    differentiated argument cannot have a gradient. (`gradient` gives `None` in all these cases.)
    """
    return _gradient(f, argnums, compile, both=True)


def grad(
    f: Callable[..., Any], argnums: Argnums = 0, *, compile: bool = False
) -> Callable[..., Any]:
    """Return a function that computes the gradient of `f`, as `value_and_grad` does."""
    return _gradient(f, argnums, compile, both=False)


def _gradient(f: Any, argnums: Argnums, compile: bool, both: bool) -> Callable[..., Any]:
    """Return a function that computes the gradient of `f`, with its value where both are wanted."""
    compiled = compile or is_jitted(f)
    f = original(f)
    calls = PlainCalls(f, argnums, compiled=compiled)

    @inside(functools.partial(inside_gradient, f, argnums, both))
    @transformed_first(calls, f, _both_whole if both else _second_whole)
    def gradient_of(*xs: Any, **kws: Any) -> Any:
        y, found = _recorded_gradient(f, argnums, xs, kws)
        numbers = argument_numbers(f, argnums, len(xs))
        found = with_zeros(f, xs, numbers, is_single(argnums), found)
        return (y, found) if both else found

    verb = Verb.VALUE_AND_GRAD if both else Verb.GRAD
    mark_derivative(gradient_of, verb, f, argnums)
    return gradient_of


def raw_value_and_gradient(f: Any, argnums: Argnums) -> Any:
    """Return a function that computes the value and the gradient of `f`, with `None` as it comes.

    It is `value_and_grad` by the words of `gradient`, for what compares the two engines.
    """
    f = original(f)

    @transformed_first(PlainCalls(f, argnums), f)
    def recorded_of(*xs: Any, **kws: Any) -> Any:
        return _recorded_gradient(f, argnums, xs, kws)

    return recorded_of


def _both_whole(found: Any, known: Any, function: Any, given: Any) -> Any:
    """Return the value and the gradient that transformed code gives, with zeros for `None`."""
    d = found[1]
    if known.whole or type(d) in WITHOUT_NONE or is_whole(d):
        return found
    return found[0], _whole(d, known, function, given)


def _second_whole(found: Any, known: Any, function: Any, given: Any) -> Any:
    """Return the gradient that transformed code gives, with zeros for `None`."""
    d = found[1]
    if known.whole or type(d) in WITHOUT_NONE or is_whole(d):
        return d
    return _whole(d, known, function, given)


def _whole(d: Any, known: Any, function: Any, given: Any) -> Any:
    numbers = [i for i, flag in enumerate(known.active) if flag]
    return with_zeros(function, given, numbers, known.single, d)


def _first(found: Any, known: Any, function: Any, given: Any) -> Any:
    """Return the value of what transformed code gives."""
    return found[0]


def jit(f: Callable[..., Any]) -> Callable[..., Any]:
    """Return `f` compiled with Numba: for its value, and wherever its gradient is asked for.

    Arguments:
        f: a function of numbers and arrays whose value is a number, or an array that it makes.

    It is compiled at its first call with arguments of certain types; `value_and_grad`, `grad` and
    `gradient` of it compile the gradient too. What it gives is what `f` gives, its exceptions
    too; but a float that is Python's or NumPy's, as it happens, is always NumPy's. Where it does
    not qualify (see `value_and_grad`) it runs as `f`, after one warning.
    """
    f = original(f)

    @transformed_first(PlainValues(f), f, _first)
    def compiled(*xs: Any, **kws: Any) -> Any:
        return f(*xs, **kws)

    mark(compiled, f)
    return compiled


def jacobian(f: Callable[..., Any], argnum: int = 0) -> Callable[..., Any]:
    """Return a function that computes the Jacobian of `f`, by one pullback for each output.

    Arguments:
        f: a function from a real number or array to a real number or array, or of structures of
            them: lists, tuples, dicts and objects.
        argnum: the positional argument to differentiate.

    The Jacobian has the shape of the value followed by that of the argument. That of a structure
    is one: of a dict by a dict, `J["loss"]["w"]` is the Jacobian of one entry by another. Entries
    that cannot have a gradient (text, truth values) have `None`. Raises `TypeError` where complex
    numbers are inside.
    """
    calls = PlainCalls(original(f), argnum, PULLBACK)

    @inside(functools.partial(inside_jacobian, f, argnum))
    @transformed_first(calls, f, _transformed_jacobian)
    def jacobian_of(*xs: Any, **kws: Any) -> Any:
        active = ActiveArguments(f, argnum, len(xs), len(kws))
        y, back = recorded(active.flags, f, xs, kws)
        (number,) = active.numbers
        return jacobian_by(f, y, back, number, xs[number], stack_rows)

    mark_derivative(jacobian_of, Verb.JACOBIAN, f, argnum)
    return jacobian_of


def _transformed_jacobian(found: Any, known: Any, function: Any, given: Any) -> Any:
    """Return the Jacobian by the pullback of transformed code.

    Errors are left to the tape, whose errors are the user's, and so is what is not finite: a zero
    may have met an infinity.
    """
    y, back = found
    number = known.active.index(True)
    try:
        whole = (lambda dy: back(filled(dy, y))) if type(y) is tuple else back
        rows = jacobian_by(function, y, whole, number, given[number], stack_rows)
    except (InternalError, TierMismatch):
        raise
    except Exception:
        return NotImplemented
    return rows if is_finite_answer(rows) else NotImplemented


def hessian(f: Callable[..., Any], argnum: int = 0) -> Callable[..., Any]:
    """Return a function that computes the Hessian of `f`, whose value is a real number.

    The Hessian has the shape of the argument twice. That by a dict is a dict of dicts, as of
    `jacobian`: `H["w"]["b"]` is what `∂f/∂w` has for its derivative by `b`; that by an object is a
    `Tangent` of such. The gradient is differentiated in reverse once for each entry.
    """
    derivative = grad(f, argnum)
    generic = jacobian(derivative, argnum)

    @transformed_first(PlainCalls(original(f), argnum, PRODUCT), f, _transformed_hessian)
    def by_products(*xs: Any, **kws: Any) -> Any:
        return generic(*xs[:-1], **kws)

    @inside(functools.partial(inside_jacobian, derivative, argnum))
    @functools.wraps(f)
    def hessian_of(*xs: Any, **kws: Any) -> Any:
        (number,) = argument_numbers(f, argnum, len(xs))
        x = xs[number]
        if type(x) in (float, np.ndarray):
            for v in units(f, x):
                return by_products(*xs, v, **kws)
        return generic(*xs, **kws)

    mark_derivative(hessian_of, Verb.HESSIAN, f, argnum)
    return hessian_of


def _transformed_hessian(found: Any, known: Any, function: Any, given: Any) -> Any:
    """Return the Hessian, of which the product with the first unit vector is at hand."""
    arguments = given[:-1]
    number = known.active.index(True)
    x = arguments[number]
    others = itertools.islice(units(function, x), 1, None)
    rows = [found, *(known.enter(function, *arguments, v) for v in others)]
    if any(row is None for row in rows):
        return NotImplemented
    return np.reshape(np.array(rows), np.shape(x) * 2)


def hvp(f: Callable[..., Any], argnum: int = 0) -> Callable[..., Any]:
    """Return a function of `f`'s arguments and a vector: the Hessian times the vector.

    Arguments:
        f: a function whose value is a real number.
        argnum: the positional argument to differentiate twice.

    The returned function takes the arguments of `f` and, last, a vector of the kind and shape
    of the gradient: a dict for a dict, a `Tangent` for an object. The Hessian itself is never
    formed.
    """
    derivative = grad(f, argnum)

    @inside(functools.partial(inside_hvp, f, derivative, argnum))
    @transformed_first(PlainCalls(original(f), argnum, PRODUCT), f, _product_whole)
    def hessian_times_vector(*xs: Any, **kws: Any) -> Any:
        *arguments, v = xs
        active = ActiveArguments(f, argnum, len(arguments), len(kws))
        _, back = recorded(active.flags, derivative, tuple(arguments), kws)
        (number,) = active.numbers
        return filled(back(v)[1 + number], arguments[number])

    mark_derivative(hessian_times_vector, Verb.HVP, f, argnum)
    return hessian_times_vector


def _product_whole(found: Any, known: Any, function: Any, given: Any) -> Any:
    """Return the Hessian times a vector that transformed code gives, with zeros for `None`."""
    return found if is_whole(found) else filled(found, given[known.active.index(True)])


for _maker in (grad, value_and_grad, jit, jacobian, hessian, hvp):
    inside_run(_maker)
inside(inside_gradient_of_all)(gradient)
inside(pullback_inside)(pullback)
for _verb in (grad, value_and_grad, gradient, jacobian, hessian, hvp, pullback):
    declare_verb(_verb, Verb(_verb.__name__))
