"""Derivatives that are taken inside: the verbs of the interface, and the functions they make.

`builder.differentiate` writes the adjoint of a function in the place of the call. What is here
makes the answer of each verb of it, as `_tape.seeds` does on the tape.
"""

import types
from collections.abc import Callable
from typing import Any

import numpy as np

from rulescore import project
from zygote_lite._cotangents.kinds import own_derivative
from zygote_lite._ir.names import name_of
from zygote_lite._specialize.rules.contributions import LinearRule
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.derivatives import (
    MAKERS,
    Adjoint,
    DerivativeInside,
    PullbackInside,
    Verb,
    derivative_of,
    verb_of,
)
from zygote_lite._specialize.typed.facts import COMPLEXES, FLOATS, ArrayOf, Scalar, may_be_complex
from zygote_lite._specialize.typed.functions import is_hashable
from zygote_lite._specialize.typed.nodes import leaves
from zygote_lite._specialize.typed.reasons import NotSupported, Unsound
from zygote_lite._specialize.typed.runtime import CONDITIONS, same_shape
from zygote_lite._specialize.typed.stand_ins import LOST, Local
from zygote_lite._specialize.typed.structures import mapping, named_tuple, structure, tangent_of
from zygote_lite._specialize.typed.values import Value, constant, shape_root
from zygote_lite._tape.seeds import argument_numbers, is_single

_DOUBLE = np.dtype(np.float64)
Kws = dict[str, Value]


def call_inside(builder: Builder, f: Any, xs: list[Value], kws: Kws) -> Value | None:
    """Write the call of a verb, or of what one has made; return `None` for other functions."""
    if isinstance(f, PullbackInside):
        given = [*xs, *kws.values()]
        if len(given) != 1 or not {*kws} <= {"dy"}:
            raise Unsound.COTANGENT_TYPE("a nested pullback is not given one cotangent")
        return f.call(*given)
    derivative = f if isinstance(f, DerivativeInside) else derivative_of(f)
    if derivative is not None:
        return call_derivative(builder, derivative, xs, kws)
    if not is_hashable(f):
        return None
    if f in CONDITIONS:
        return builder.demand(f, *xs)
    verb = verb_of(f)
    if verb is not None:
        return of_verb(builder, verb, xs, kws)
    if (own_derivative(f) or (None,))[0] is f:
        raise NotSupported.SECOND_ORDER(f"it calls `{name_of(f)}`")
    return None


def of_verb(builder: Builder, verb: Verb, xs: list[Value], kws: Kws) -> Value:
    """Write the call of a verb."""
    if not xs:
        raise Unsound.RAISES(f"`{verb.value}` is called without a function")
    f, *given = xs
    if verb in MAKERS:
        if len(given) > 1 or not kws.keys() <= {"argnums"} or (given and kws):
            raise NotSupported.SECOND_ORDER(
                f"a nested `{verb.value}` gets options other than `argnums`"
            )
        return constant(DerivativeInside(verb, f, _numbers([*given, *kws.values()])))
    if verb == Verb.GRADIENT and not kws:
        adjoint = _adjoint_of(builder, f, given, {}, [*range(len(given))])
        return structure(tuple, _as_it_comes(builder, given, adjoint, constant(1.0)))
    if verb in (Verb.PULLBACK, Verb.VJP) and not kws:
        return _pullback(builder, f, given, verb)
    raise NotSupported.SECOND_ORDER(
        f"a nested `{verb.value}` gets its arguments by name: give them by position"
    )


def _numbers(given: list[Value]) -> Any:
    """Return the value of `argnums`."""
    if not given:
        return 0
    (x,) = given
    if any(not part.is_constant for part in leaves(x)):
        raise NotSupported.ARGNUMS("`argnums` of a nested gradient is not a constant")
    if x.items is not None:
        return type(x.sample)([part.sample for part in x.items])
    return x.sample


def call_derivative(builder: Builder, d: DerivativeInside, xs: list[Value], kws: Kws) -> Value:
    """Write the call of what `grad(f)`, say, has made."""
    if d.verb == Verb.HESSIAN:
        inner = constant(DerivativeInside(Verb.GRAD, d.f, d.argnums))
        return call_derivative(builder, DerivativeInside(Verb.JACOBIAN, inner, d.argnums), xs, kws)
    given = xs[:-1] if d.verb == Verb.HVP else xs
    try:
        numbers = argument_numbers(d.f.sample, d.argnums, len(given), kws)
    except TypeError:
        raise Unsound.RAISES(
            "a nested gradient does not get the argument that it is taken of by position"
        ) from None
    if any(n >= len(given) for n in numbers):
        raise NotSupported.ARGNUMS(
            "a nested gradient is taken of an argument that is given by keyword: give it by "
            "position"
        )
    if len({*numbers}) < len(numbers):
        raise NotSupported.ARGNUMS("`argnums` of a nested gradient names an argument twice")
    if d.verb in (Verb.HVP, Verb.JACOBIAN) and not is_single(d.argnums):
        raise NotSupported.SECOND_ORDER(
            f"a nested `{d.verb.value}` is taken with respect to several arguments: take one at a "
            "time"
        )
    if d.verb == Verb.HVP:
        return _hessian_product(builder, d, xs, kws, numbers[0])
    if d.verb == Verb.JACOBIAN:
        return _jacobian(builder, d.f, xs, kws, numbers[0])
    adjoint = _adjoint_of(builder, d.f, xs, kws, numbers)
    parts = adjoint.cotangents(constant(1.0))
    pairs = zip(numbers, parts, strict=True)
    found = [_in_form(builder, xs[i], part, zeros=True) for i, part in pairs]
    if any(d.is_constant and d.sample is None for d in found):
        raise Unsound.RAISES("a nested gradient is taken of an argument that cannot have one")
    answer = found[0] if is_single(d.argnums) else structure(tuple, found)
    return structure(tuple, [adjoint.value, answer]) if d.verb == Verb.VALUE_AND_GRAD else answer


def _adjoint_of(
    builder: Builder, f: Value, xs: list[Value], kws: Kws, numbers: list[int],
    as_pullback: bool = False,
) -> Adjoint:  # fmt: skip
    if builder.protected or builder.plain or builder.reverse:
        raise NotSupported.SECOND_ORDER(
            "it takes a nested gradient in a rule, or in a block that catches exceptions"
        )
    if builder.differentiate is None:
        raise NotSupported.SECOND_ORDER("a function that calls itself takes a nested gradient")
    made: Adjoint = builder.differentiate(builder, f, xs, kws, numbers, as_pullback=as_pullback)
    return made


# -- the form of a gradient ----------------------------------------------------------------------


def _in_form(builder: Builder, x: Value, d: Any, *, zeros: bool = False) -> Value:
    """Return the gradient of an argument: of a structure, a new one of the same form.

    Arguments:
        builder: what writes the code.
        x: the argument.
        d: the gradient; of a structure, a list of those of its parts.
        zeros: whether what has none has zeros.
    """
    if not isinstance(d, list):
        if d is None:
            return _zero(builder, x) if zeros else constant(None)
        return _of_kind(builder, x, d)
    if x.read is not None:
        fields = {
            name: _in_form(builder, x.read[name], part, zeros=zeros)
            if name in x.read
            else constant(None)
            for name, part in zip(vars(x.sample), d, strict=True)
        }
        return tangent_of(type(x.sample), fields)
    parts = (x.items or [])[1::2] if type(x.sample) is dict else x.items
    if x.fields is not None:
        parts = [*x.fields.values()]
    found = [_in_form(builder, p, e, zeros=zeros) for p, e in zip(parts or [], d, strict=True)]
    if not zeros and all(part.is_constant and part.sample is None for part in found):
        return constant(None)
    if type(x.sample) is dict:
        whole = mapping(dict(zip(x.sample, found, strict=True)))
        builder.settle_home(whole)
        return whole
    if x.fields is not None:
        return named_tuple(type(x.sample), found)
    return builder.build(type(x.sample).__name__, found)


def _of_kind(builder: Builder, x: Value, d: Value) -> Value:
    """Return the gradient of a number that may be Python's or NumPy's as one of its kind."""
    kinds = x.fact.classes if isinstance(x.fact, Scalar) else frozenset()
    if (
        may_be_complex(x.fact)
        or len({issubclass(kind, np.generic) for kind in kinds}) < 2
        or not d.is_scalar
    ):
        return d
    op = builder.operation(project, [d, x], fact=Scalar(kinds & FLOATS | {float}))
    if d.active:
        op.target.active, op.active_operands = True, [d]
        op.reverse_rule = LinearRule(lambda dy: [dy, None])
    return op.target


def _as_it_comes(
    builder: Builder, xs: list[Value], adjoint: Adjoint, dy: Value
) -> list[Value]:  # fmt: skip
    """Return the gradients of all arguments, where it is known which are `None`."""
    if adjoint.has_paths:
        raise Unsound.IDENTITY(
            "a nested gradient is `None` or a number, depending on a branch or a loop"
        )
    pairs = zip(xs, adjoint.cotangents(dy), strict=True)
    return [_in_form(builder, x, d) for x, d in pairs]


def _zero(builder: Builder, x: Value) -> Value:
    """Return the zero of the kind of a number or an array; what has no gradient has no zero."""
    if isinstance(x.fact, ArrayOf):
        if x.fact.dtype.kind != "f":
            raise Unsound.NO_FLOAT(
                "it needs the gradient of an array of integers: make it an array of floats"
            )
        return builder.apply(np.zeros_like, [x])
    if isinstance(x.fact, Scalar) and not isinstance(x.sample, bool | np.bool_):
        kind = type(x.sample) if type(x.sample) in FLOATS | COMPLEXES else float
        return constant(kind(0.0))
    return constant(None)  # text, or a truth value


# -- pullbacks -----------------------------------------------------------------------------------


def _pullback(builder: Builder, f: Value, xs: list[Value], verb: Verb) -> Value:
    """Write `pullback(f, *xs)`, or `vjp(f, *xs)`."""
    adjoint = _adjoint_of(builder, f, xs, {}, [*range(len(xs))], as_pullback=True)
    if adjoint.may_change or any(x.may_be_written for x in leaves(adjoint.value)):
        raise Unsound.SHARED_WRITE("arrays may be written to before a nested pullback is called")

    def back(dy: Value) -> Value:
        fitted = _fitted(builder, dy, adjoint)
        if verb == Verb.VJP:
            pairs = zip(xs, adjoint.cotangents(fitted), strict=True)
            return structure(tuple, [_in_form(builder, x, d, zeros=True) for x, d in pairs])
        found = _as_it_comes(builder, xs, adjoint, fitted)
        return structure(tuple, [constant(None) if _holds_nothing(f.sample) else LOST, *found])

    return structure(tuple, [adjoint.value, constant(PullbackInside(back))])


def _holds_nothing(f: Any) -> bool:
    """Return whether a function has no variables of its own, which would have gradients."""
    if isinstance(f, Local):
        return not f.around
    return isinstance(f, types.BuiltinFunctionType | np.ufunc) or (
        isinstance(f, types.FunctionType) and not f.__closure__
    )


def _fitted(builder: Builder, dy: Value, adjoint: Adjoint) -> Value:
    """Return a cotangent; leave the code where it is not of the shape of the value."""
    return _fitted_part(builder, dy, adjoint.like, adjoint.value)


def _fitted_part(builder: Builder, dy: Value, like: Value, y: Value) -> Value:
    if like.items is not None:
        if dy.items is None or type(dy.sample) is not tuple or len(dy.items) != len(like.items):
            raise Unsound.COTANGENT_TYPE(
                "a nested pullback gets a cotangent that is not a tuple of the length of the value"
            )
        parts = zip(dy.items, like.items, y.items or [], strict=True)
        return structure(tuple, [_fitted_part(builder, *part) for part in parts])
    if like.is_constant:  # no gradient passes there
        return constant(None)
    if isinstance(like.fact, Scalar) and dy.is_constant and type(dy.sample) is int:
        return constant(float(dy.sample))
    if isinstance(dy.fact, Scalar) and isinstance(like.fact, Scalar) and dy.fact.classes <= FLOATS:
        return dy
    arrays = isinstance(dy.fact, ArrayOf) and isinstance(like.fact, ArrayOf)
    if not arrays or dy.fact.dtype != like.fact.dtype or dy.sample.ndim != like.sample.ndim:  # type: ignore[union-attr]
        raise Unsound.COTANGENT_TYPE(
            "a nested pullback gets a cotangent of another type than the value"
        )
    if shape_root(dy) is not shape_root(y):
        builder.demand(same_shape, dy, y)
    return dy


def _hessian_product(
    builder: Builder, d: DerivativeInside, xs: list[Value], kws: Kws, number: int
) -> Value:
    """Write `hvp(f)(*xs, v)`."""
    *given, v = xs
    gradient = constant(DerivativeInside(Verb.GRAD, d.f, d.argnums))
    adjoint = _adjoint_of(builder, gradient, given, kws, [number], as_pullback=True)
    (found,) = adjoint.cotangents(_fitted(builder, v, adjoint))
    return _in_form(builder, given[number], found, zeros=True)


def _jacobian(builder: Builder, f: Value, xs: list[Value], kws: Kws, number: int) -> Value:
    """Write `jacobian(f)(*xs)`."""
    adjoint = _adjoint_of(builder, f, xs, kws, [number], as_pullback=True)
    x, y = xs[number], adjoint.value
    if any(_dtype_of(part) != _DOUBLE for part in (x, y)) or not (x.is_array or y.is_array):
        raise NotSupported.SECOND_ORDER(
            "a nested Jacobian is taken of something other than float64 arrays"
        )

    def back(dy: Value) -> Value:
        (found,) = adjoint.cotangents(_fitted(builder, dy, adjoint))
        return _in_form(builder, x, found, zeros=True)

    if not isinstance(y.fact, ArrayOf):
        return back(constant(1.0))
    rows: Callable[..., Any] = _rows if len(y.fact.axes) == 1 else _rows_of_all_axes
    shapes = [_shape(builder, whole) for whole in (y, x)]
    return builder.body_of(rows, [constant(PullbackInside(back)), y, *shapes])


def _shape(builder: Builder, x: Value) -> Value:
    """Return the shape of a number or an array, length by length."""
    if not x.is_array:
        return structure(tuple, [])
    whole = builder.attribute(x, "shape")
    lengths = [builder.item(whole, constant(i)) for i in range(x.sample.ndim)]
    return structure(tuple, lengths)


def _dtype_of(x: Value) -> Any:
    if isinstance(x.fact, Scalar):
        return _DOUBLE if x.fact.classes <= {float, np.float64} else None
    return x.fact.dtype if isinstance(x.fact, ArrayOf) else None


def _rows(back: Any, y: Any, of_value: Any, shape: Any) -> Any:
    """Return the rows of a Jacobian; this is interpreted, and so is what is below."""
    rows = np.zeros((*of_value, *shape))
    for i in range(y.size):
        dy = np.zeros_like(y)
        dy[i] = 1.0
        rows[i] = back(dy)
    return rows


def _rows_of_all_axes(back: Any, y: Any, of_value: Any, shape: Any) -> Any:
    rows = np.zeros((y.size, *shape))
    for i in range(y.size):
        dy = np.zeros(y.size)
        dy[i] = 1.0
        rows[i] = back(np.reshape(dy, of_value))
    return np.reshape(rows, (*of_value, *shape))
