"""What users call: `pullback`, and the gradients made of it."""

import functools
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from zygote_lite._interface import handlers  # noqa: F401 - those of the engine
from zygote_lite._interface.calls import Specializations, jacobian_by
from zygote_lite._nested.gradients import (
    inside,
    inside_gradient,
    inside_hvp,
    inside_jacobian,
    inside_run,
    inside_value_and_grad,
)
from zygote_lite._nested.rules import pullback_inside
from zygote_lite._specialize.cache import Entries, entries_of
from zygote_lite._specialize.jitted import is_jitted, mark, original
from zygote_lite._specialize.watch import PRODUCT, PULLBACK
from zygote_lite._tape.run import Pullback, recorded
from zygote_lite._tape.seeds import Argnums, argument_numbers, basis, seed


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
    return recorded((True,) * (1 + len(xs) + len(kws)), original(f), xs, kws)


def gradient(f: Callable[..., Any], /, *xs: Any) -> tuple[Any, ...]:
    """Return the gradient of `f(*xs)`, a real number, with respect to each argument.

    Returns a tuple with one entry for each argument, of the argument's kind and shape. It is
    `None` where the argument cannot have a gradient (text), or where the code has no path from it
    to the value. Where a branch decides whether the value depends on it, the entry may be `None`
    or a zero of the argument's kind: both mean the same. Raises `TypeError` where the value is
    not a real number. (Zygote's `gradient`.)
    """
    compiled, f = is_jitted(f), original(f)
    function, given = f, xs
    if type(f) is types.FunctionType:
        known = entries_of(f, len(xs), tuple(range(len(xs))), False, compiled) if xs else None
    else:
        fast = Specializations(f, False, compiled)
        known, function, given, _ = fast.of(xs, {}, tuple(range(len(xs))))
    if known is not None:
        for enter in known.enters:
            found = enter(function, *given)
            if found is not None:
                return found[1]  # type: ignore[no-any-return]
    y, back = recorded((None, *(True for _ in xs)), f, xs, {})
    found = back(seed(f, y))[1:]
    if known is not None:
        known.note(function, given)
    return found


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
    """
    compiled = compile or is_jitted(f)
    f = original(f)
    fast = Specializations(f, isinstance(argnums, int), compiled)
    by_count = fast.by_count

    @functools.wraps(f)
    def value_and_gradient(*xs: Any, **kws: Any) -> tuple[Any, Any]:
        known, function, given = by_count.get(len(xs)), f, xs
        if known is None or kws:
            known, function, given, _ = fast.of(xs, kws, argnums)
        if known is not None:
            for enter in known.enters:
                found = enter(function, *given)
                if found is not None:
                    return found  # type: ignore[no-any-return]
        numbers = argument_numbers(f, argnums, len(xs))
        flags = (None, *(True if i in numbers else None for i in range(len(xs))))
        y, back = recorded((*flags, *(None for _ in kws)), f, xs, kws)
        cotangents = back(seed(f, y))
        if known is not None:
            known.note(function, given)
        if isinstance(argnums, int):
            return y, cotangents[1 + numbers[0]]
        return y, tuple(cotangents[1 + i] for i in numbers)

    how = inside_value_and_grad(f, argnums, both=True)
    return inside(how)(value_and_gradient)  # type: ignore[no-any-return]


def grad(
    f: Callable[..., Any], argnums: Argnums = 0, *, compile: bool = False
) -> Callable[..., Any]:
    """Return a function that computes the gradient of `f`, as `value_and_grad` does."""
    both = value_and_grad(f, argnums, compile=compile)
    f = original(f)

    @functools.wraps(f)
    def gradient_of(*xs: Any, **kws: Any) -> Any:
        return both(*xs, **kws)[1]

    how = inside_value_and_grad(f, argnums, both=False)
    return inside(how)(gradient_of)  # type: ignore[no-any-return]


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
    fast: dict[int, Entries | None] = {}

    @functools.wraps(f)
    def compiled(*xs: Any, **kws: Any) -> Any:
        known = fast.get(len(xs))
        if known is not None and not kws:
            for enter in known.enters:
                found = enter(f, *xs)
                if found is not None:
                    return found[0]
        y = f(*xs, **kws)
        if not kws:
            if known is None:
                known = fast[len(xs)] = entries_of(f, len(xs), (), False, True)
            if known is not None:
                known.note(f, xs)
        return y

    mark(compiled, f)
    return compiled


def jacobian(f: Callable[..., Any], argnum: int = 0) -> Callable[..., Any]:
    """Return a function that computes the Jacobian of `f`, by one pullback for each output.

    Arguments:
        f: a function from a real number or array to a real number or array.
        argnum: the positional argument to differentiate.

    The Jacobian has the shape of the value followed by that of the argument.
    """

    fast = Specializations(original(f), False, form=PULLBACK)

    @functools.wraps(f)
    def jacobian_of(*xs: Any, **kws: Any) -> Any:
        (number,) = argument_numbers(f, argnum, len(xs))
        known, function, given, before = fast.of(xs, kws, number)
        if known is not None:
            for enter in known.enters:
                found = enter(function, *given)
                if found is not None:
                    y, back = found
                    place = 1 + before + number
                    matrix = jacobian_by(back, f, y, xs[number], number, place)
                    if matrix is not None:
                        return matrix
        flags = (None, *(True if i == number else None for i in range(len(xs))))
        y, back = recorded((*flags, *(None for _ in kws)), f, xs, kws)
        rows = []
        for dy in basis(f, y, xs[number], number):
            d = back(dy)[1 + number]
            rows.append(np.zeros(np.shape(xs[number])) if d is None else d)
        if known is not None:
            known.note(function, given)
        return np.reshape(np.array(rows), (*np.shape(y), *np.shape(xs[number])))

    return inside(inside_jacobian(f, argnum))(jacobian_of)  # type: ignore[no-any-return]


def hessian(f: Callable[..., Any], argnum: int = 0) -> Callable[..., Any]:
    """Return a function that computes the Hessian of `f`, whose value is a real number.

    The Hessian has the shape of the argument twice. The gradient is differentiated in reverse
    once for each entry of the argument.
    """
    derivative = grad(f, argnum)
    generic = jacobian(derivative, argnum)
    fast = Specializations(original(f), True, form=PRODUCT)

    @functools.wraps(f)
    def hessian_of(*xs: Any, **kws: Any) -> Any:
        (number,) = argument_numbers(f, argnum, len(xs))
        x = xs[number]
        units = [*basis(f, x, x, number)] if type(x) in (float, np.ndarray) else []
        if not units:
            return generic(*xs, **kws)
        known, function, given, _ = fast.of(xs, kws, number)
        if known is not None:
            for enter in known.enters:
                rows = [enter(function, *given, v) for v in units]
                if all(row is not None for row in rows):
                    return np.reshape(np.array(rows), (*np.shape(x), *np.shape(x)))
        found = generic(*xs, **kws)
        if known is not None:
            known.note(function, (*given, units[0]))
        return found

    return inside(inside_jacobian(derivative, argnum))(hessian_of)  # type: ignore[no-any-return]


def hvp(f: Callable[..., Any], argnum: int = 0) -> Callable[..., Any]:
    """Return a function of `f`'s arguments and a vector: the Hessian times the vector.

    Arguments:
        f: a function whose value is a real number.
        argnum: the positional argument to differentiate twice.

    The returned function takes the arguments of `f` and, last, a vector of the kind and shape
    of the differentiated one. The Hessian itself is never formed.
    """
    derivative = grad(f, argnum)
    fast = Specializations(original(f), True, form=PRODUCT)

    @functools.wraps(f)
    def hessian_times_vector(*xs: Any, **kws: Any) -> Any:
        *arguments, v = xs
        (number,) = argument_numbers(f, argnum, len(arguments))
        known, function, given, _ = fast.of(tuple(arguments), kws, number)
        if known is not None:
            for enter in known.enters:
                found = enter(function, *given, v)
                if found is not None:
                    return found
        flags = (None, *(True if i == number else None for i in range(len(arguments))))
        _, back = recorded((*flags, *(None for _ in kws)), derivative, tuple(arguments), kws)
        found = back(v)[1 + number]
        if known is not None:
            known.note(function, (*given, v))
        return found

    how = inside_hvp(f, derivative, argnum)
    return inside(how)(hessian_times_vector)  # type: ignore[no-any-return]


for _maker in (grad, value_and_grad, jit, jacobian, hessian, hvp):
    inside_run(_maker)
inside(inside_gradient)(gradient)
inside(pullback_inside)(pullback)
