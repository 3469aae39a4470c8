"""`np.vectorize`: a function is called with each entry of arrays, as Python's number.

NumPy calls it with the first entries once more, before the others: the value that it gives then
says of which kind the others are. Here it has to be a float.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from zygote_lite._specialize.infer.models.lookups import is_inert
from zygote_lite._specialize.typed.abstract_eval import Result
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.facts import DOUBLES, ArrayOf, Scalar
from zygote_lite._specialize.typed.reasons import NotSupported
from zygote_lite._specialize.typed.runtime import as_it_is, same_shape
from zygote_lite._specialize.typed.stand_ins import Local, Method, StandIn
from zygote_lite._specialize.typed.values import Value, constant


@dataclass(eq=False)
class OfEntries(StandIn):
    """A function of the entries of arrays: the function that is called with each of them."""

    function: Value


def made_vectorized(f: Any, xs: list[Value], kws: dict[str, Value]) -> Value | None:
    """Return what `np.vectorize` makes of a function; `None` for a call of another function."""
    if f is not np.vectorize or len(xs) != 1 or kws:
        return None
    is_function = xs[0].is_constant and (
        isinstance(xs[0].sample, Local | Method) or callable(xs[0].sample)
    )
    return constant(OfEntries(xs[0])) if is_function else None


def vectorized_from_outside(builder: Builder, x: Value) -> OfEntries | None:
    """Return what an object of `np.vectorize` stands for, without options; `None` for others."""
    f = x.sample
    if type(f) is not np.vectorize or x.where is None:
        return None
    if f.otypes is not None or f.signature is not None or f.cache or f.excluded:
        raise NotSupported.METHOD("`np.vectorize` has options")
    for name in ("pyfunc", "otypes", "signature", "cache"):
        builder.inputs.guard(f"{x.where}.{name}", getattr(f, name))
    builder.inputs.guards[f"not {x.where}.excluded"] = None
    return OfEntries(constant(f.pyfunc))


def called_vectorized(
    builder: Builder, f: OfEntries, xs: list[Value], kws: dict[str, Value]
) -> Value:
    """Return what a function of entries gives of arrays of one shape, and numbers."""
    if kws or not xs or not all(map(_is_vectorized, xs)) or not xs[0].is_array:
        raise NotSupported.METHOD(
            "a function under `np.vectorize` gets something other than arrays of floats"
        )
    for x in xs[1:]:
        if x.is_array:
            builder.demand(same_shape, x, xs[0])
    first = builder.inline(_of_the_first, [f.function, *xs], {})
    known = first.fact.classes if isinstance(first.fact, Scalar) else {None}
    if not known & DOUBLES:
        raise NotSupported.METHOD(
            "a function under `np.vectorize` returns something other than a float"
        )
    if not known <= DOUBLES:
        fact = Scalar(DOUBLES)
        builder.write(Result(fact, float(first.sample), certain=False), as_it_is, [first], {})
    y = builder.inline(_of_each, [f.function, *xs], {})
    if not (isinstance(y.fact, ArrayOf) and y.fact.dtype == np.float64):
        raise NotSupported.METHOD(
            "a function under `np.vectorize` returns something other than a float"
        )
    return y


def _is_vectorized(x: Value) -> bool:
    if isinstance(x.fact, ArrayOf):
        return x.fact.dtype == np.float64 and bool(x.fact.axes)
    return isinstance(x.fact, Scalar) and (x.fact.classes <= DOUBLES or is_inert(x))


def _of_the_first(function: Any, *xs: Any) -> Any:
    return function(*[x.ravel()[0] if np.ndim(x) else x for x in xs])


def _of_each(function: Any, *xs: Any) -> Any:
    rows = [x.ravel() if np.ndim(x) else x for x in xs]
    out = []
    for i in range(len(rows[0])):
        out.append(function(*[float(x[i]) if np.ndim(x) else _as_of_python(x) for x in rows]))
    return np.array(out).reshape(xs[0].shape)


def _as_of_python(x: Any) -> Any:
    return float(x) if isinstance(x, float) else x
