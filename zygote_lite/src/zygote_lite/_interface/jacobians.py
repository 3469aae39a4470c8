"""Jacobians, Hessians, and their products with vectors: pullbacks, asked more than once.

They are made like the gradients of `gradients`: transformed code answers where there is some, else
the tape does, and the call is noted.
"""

import functools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from zygote_lite._cotangents.zeros import filled, forms_of, has_no_none
from zygote_lite._interface.calls import PlainCalls, transformed_first
from zygote_lite._interface.gradients import grad
from zygote_lite._ir.frames import entry
from zygote_lite._nested.gradients import (
    inside,
    inside_hvp,
    inside_jacobian,
    inside_jacobian_with_aux,
    inside_run,
)
from zygote_lite._specialize.compare import is_finite_answer
from zygote_lite._specialize.infer.models.classes import is_plain
from zygote_lite._specialize.infer.models.named import is_named_tuple
from zygote_lite._specialize.jitted import original
from zygote_lite._specialize.typed.derivatives import Verb, declare_verb, mark_derivative
from zygote_lite._specialize.watch import AUXILIARY, PRODUCT, PULLBACK
from zygote_lite._tape.jacobians import jacobian_by, stack_rows
from zygote_lite._tape.run import recorded
from zygote_lite._tape.seeds import (
    ActiveArguments,
    Argnums,
    arguments_and_vector,
    asked_arguments,
    hessian_product_of,
    of_first,
    pair_of,
)
from zygote_lite._tape.validate import check_fit, refuse_options
from zygote_lite.derivatives import Passed, by_name
from zygote_lite.modes import InternalError, TierMismatch

_BY_PRODUCTS = {float, np.ndarray, tuple, list, dict}  # whose Hessians are made of products


@by_name
def jacobian(
    f: Callable[Passed, Any], argnums: Argnums = 0, *, has_aux: bool = False,
    argnum: int | None = None,
) -> Callable[Passed, Any]:  # fmt: skip
    """Return a function that computes the Jacobian of `f` in reverse mode, one output at a time.

    Arguments:
        f: a function of real numbers and arrays, or of lists, tuples, dicts and objects of them.
            Its value may be any of these, too.
        argnums: the argument to differentiate, by position or by name; or several.
        has_aux: whether `f` returns a pair, of which only the first element is differentiated. The
            answer is then `(jacobian, aux)`.
        argnum: the same as `argnums`; deprecated.

    The Jacobian has the shape of the value, followed by that of the argument. Structures are
    nested: if both are dicts, `J["loss"]["w"]` is the Jacobian of one entry with respect to
    another. Several arguments give a tuple inside the structure of the value: `J["loss"][1]`.
    Entries that cannot have a gradient (text, booleans) have `None`. Raises `TypeError` for complex
    numbers. (JAX's `jacrev`.)
    """
    argnums = _spelled(argnums, argnum)
    refuse_options(has_aux=has_aux)
    calls = PlainCalls(original(f), argnums, AUXILIARY if has_aux else PULLBACK)
    how: Any = inside_jacobian_with_aux if has_aux else inside_jacobian

    @inside(functools.partial(how, f, argnums))
    @transformed_first(calls, f, functools.partial(_transformed_jacobian, has_aux=has_aux))
    def jacobian_of(*xs: Any, **kws: Any) -> Any:
        active = ActiveArguments(f, argnums, len(xs), kws)
        operands = (*xs, *kws.values())
        forms = forms_of(operands, active.numbers)
        y, back = recorded(active.flags, f, xs, kws)
        by: Any = back
        aux = None
        if has_aux:
            (y, aux), by = pair_of(f, y), of_first(back)
        found = jacobian_by(f, y, by, active.numbers, active.is_single, operands, forms, stack_rows)
        return (found, aux) if has_aux else found

    if not has_aux:
        mark_derivative(jacobian_of, Verb.JACOBIAN, f, argnums)
    return jacobian_of


def _spelled(argnums: Argnums, argnum: int | None) -> Argnums:
    """Return which arguments are differentiated, of which `argnum` is the old spelling."""
    asked_arguments(argnums if argnum is None else argnum)
    if argnum is None:
        return argnums
    message = "`argnum` is deprecated: write `argnums`, as everywhere else"
    warnings.warn(message, DeprecationWarning, stacklevel=4)
    return argnum


def _transformed_jacobian(
    found: Any, known: Any, function: Any, given: Any, *, has_aux: bool
) -> Any:
    """Return the Jacobian by the pullback of transformed code.

    Errors are left to the tape, whose errors are the user's, and so is what is not finite: a zero
    may have met an infinity.
    """
    y, back = found
    aux = None
    if has_aux:
        y, aux = pair_of(function, y)
    numbers = [i for i, flag in enumerate(known.active) if flag]
    try:
        whole = (lambda dy: back(filled(dy, y))) if type(y) is tuple else back
        rows = jacobian_by(function, y, whole, numbers, known.single, given, given, stack_rows)
    except (InternalError, TierMismatch):
        raise
    except Exception:
        return NotImplemented
    if not is_finite_answer(rows):
        return NotImplemented
    return (rows, aux) if has_aux else rows


@by_name
def hessian(
    f: Callable[Passed, Any], argnums: Argnums = 0, *, has_aux: bool = False,
    argnum: int | None = None,
) -> Callable[Passed, Any]:  # fmt: skip
    """Return a function that computes the Hessian of `f`, which returns a real number as a rule.

    Arguments:
        f: a function of real numbers and arrays, or of lists, tuples, dicts and objects of them.
            Its value may be any of these, too.
        argnums: the argument to differentiate twice, by position or by name; or several.
        has_aux: whether `f` returns a pair, of which only the first element is differentiated. The
            answer is then `(hessian, aux)`.
        argnum: the same as `argnums`; deprecated.

    The Hessian has the shape of the argument twice. For a dict it is a dict of dicts: `H["w"]["b"]`
    is the derivative of `∂f/∂w` with respect to `b`. For an object it is a `Tangent` of `Tangent`s,
    and for several arguments a tuple of tuples. Where the value is an array, its shape comes first;
    where it is a structure, each of its entries has a Hessian, in the same structure. The cost is
    that of one `hvp` for each entry of the argument (and of the value). Raises `TypeError` for
    complex numbers.
    """
    argnums = _spelled(argnums, argnum)
    derivative = jacobian(f, argnums, has_aux=has_aux)
    generic = jacobian(derivative, argnums, has_aux=has_aux)
    how: Any = inside_jacobian_with_aux if has_aux else inside_jacobian

    @transformed_first(PlainCalls(original(f), argnums, PRODUCT), f, _transformed_hessian)
    def by_products(*xs: Any, **kws: Any) -> Any:
        return generic(*xs[:-1], **kws)

    @inside(functools.partial(how, derivative, argnums))
    @entry
    @functools.wraps(f)
    def hessian_of(*xs: Any, **kws: Any) -> Any:
        active = ActiveArguments(f, argnums, len(xs), kws)
        given = [(*xs, *kws.values())[number] for number in active.numbers]
        if all(map(_is_for_products, given)) and not has_aux:
            return by_products(*xs, _no_vector(given, active.is_single), **kws)
        return generic(*xs, **kws)

    if not has_aux:
        mark_derivative(hessian_of, Verb.HESSIAN, f, argnums)
    return hessian_of


def _is_for_products(x: Any) -> bool:
    """Return whether a Hessian by an argument may be made of products with vectors."""
    return type(x) in _BY_PRODUCTS or is_named_tuple(type(x)) or is_plain(x)


def _no_vector(xs: list[Any], is_single: bool) -> Any:
    """Return zeros of the form of the arguments that are differentiated."""
    return filled(None, xs[0]) if is_single else tuple([filled(None, x) for x in xs])


def _transformed_hessian(found: Any, known: Any, function: Any, given: Any) -> Any:
    """Return the Hessian by its products with unit vectors.

    A function that asks a clock is left to the tape: each product would be that of another time.
    """
    if any(enter.__globals__["tells_time"] for enter in known.made):
        return NotImplemented
    arguments = given[: len(known.active)]
    numbers = [i for i, flag in enumerate(known.active) if flag]
    by = [arguments[i] for i in numbers]
    moving = by[0] if known.single else tuple(by)

    def times(v: Any) -> tuple[Any, ...]:
        """Return the product with a vector, in the places of the arguments."""
        vector = (filled(v, moving),) if known.single else filled(v, moving)
        row = known.enter(function, *arguments, *vector)
        if row is None:
            raise NotAnsweredError
        places: list[Any] = [None] * (1 + len(arguments))
        for number, part in zip(numbers, (row,) if known.single else row, strict=True):
            places[1 + number] = part
        return tuple(places)

    try:
        return jacobian_by(
            function, moving, times, numbers, known.single, arguments, arguments, stack_rows
        )
    except NotAnsweredError:
        return NotImplemented


class NotAnsweredError(Exception):
    """Tell that transformed code has left a call to the tape."""


@by_name
def hvp(
    f: Callable[..., Any], argnums: Argnums = 0, *, has_aux: bool = False,
    argnum: int | None = None,
) -> Callable[..., Any]:  # fmt: skip
    """Return a function that computes the Hessian of `f` times a vector, without the Hessian.

    Arguments:
        f: a function whose value is a real number.
        argnums: the argument to differentiate twice, by position or by name; or several.
        has_aux: whether `f` returns a pair of this number and anything else. The answer is then
            `(product, aux)`.
        argnum: the same as `argnums`; deprecated.

    The returned function takes the arguments of `f` and then the vector. The vector, and the
    product, have the shape and the structure of the gradient: a dict for a dict, a `Tangent` for an
    object, a tuple for several `argnums`. Raises `TypeError` if the value is not a real number, or
    if the vector does not fit.
    """
    argnums = _spelled(argnums, argnum)
    refuse_options(has_aux=has_aux)
    derivative = grad(f, argnums, has_aux=has_aux)
    name = getattr(f, "__name__", repr(f))

    @functools.wraps(f)
    def hessian_times_vector(*xs: Any, **kws: Any) -> Any:
        arguments, v = arguments_and_vector(f, xs, kws)
        active = ActiveArguments(f, argnums, len(arguments), kws)
        forms = forms_of((*arguments, *kws.values()), active.numbers)
        slope, back = recorded(active.flags, derivative, arguments, kws)
        by: Any = back
        aux = None
        if has_aux:
            (slope, aux), by = slope, of_first(back)
        check_fit(v, slope, f"hvp of {name}", "vector", "gradient")
        product = hessian_product_of(by(v), forms, active)
        return (product, aux) if has_aux else product

    declare = inside(functools.partial(inside_hvp, f, derivative, argnums, has_aux))
    if has_aux:
        return declare(entry(hessian_times_vector))
    calls = PlainCalls(original(f), argnums, PRODUCT)
    declared = declare(transformed_first(calls, f, _product_whole)(hessian_times_vector))
    mark_derivative(declared, Verb.HVP, f, argnums)
    return declared


def _product_whole(found: Any, known: Any, function: Any, given: Any) -> Any:
    """Return the Hessian times a vector that transformed code gives, with zeros for `None`."""
    if has_no_none(found):
        return found
    xs = [x for x, flag in zip(given, known.active, strict=False) if flag]
    if known.single:
        return filled(found, xs[0])
    return tuple(map(filled, found, xs))


jacrev = jacobian  # JAX's name for it
for _verb_of_jacobians in (jacobian, hessian, hvp):
    inside_run(_verb_of_jacobians)
    declare_verb(_verb_of_jacobians, Verb(_verb_of_jacobians.__name__))
