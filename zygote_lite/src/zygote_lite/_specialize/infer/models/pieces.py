"""`np.piecewise`, where its conditions are arrays of truth values, and its functions are known."""

from typing import Any

import numpy as np

from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.facts import ArrayOf
from zygote_lite._specialize.typed.runtime import same_shape
from zygote_lite._specialize.typed.structures import structure
from zygote_lite._specialize.typed.values import Value, constant, shape_root


def of_pieces(builder: Builder, f: Any, xs: list[Value], kws: dict[str, Value]) -> Value | None:
    """Write `np.piecewise`; return `None` for other calls, and where its own source is as good."""
    if f is not np.piecewise or len(xs) < 3 or builder.plain:
        return None
    x, conditions, functions, *more = xs
    is_one = isinstance(conditions.fact, ArrayOf)
    given = [conditions] if is_one else conditions.items
    if not given or functions.items is None or len(functions.items) - len(given) not in (0, 1):
        return None
    if not (isinstance(x.fact, ArrayOf) and x.fact.axes and all(map(_is_of_truth, given))):
        return None
    for condition in given:
        if shape_root(condition) is not shape_root(x):
            builder.demand(same_shape, condition, x)
    are_called = [constant(not (g.is_scalar or g.is_array)) for g in functions.items]
    parts = [structure(tuple, v) for v in (given, functions.items, are_called, more)]
    return builder.body_of(_by_pieces, [x, *parts], kws)


def _is_of_truth(x: Value) -> bool:
    return isinstance(x.fact, ArrayOf) and x.fact.dtype == np.bool_


def _by_pieces(
    x: Any, conditions: Any, functions: Any, are_called: Any, more: Any, /, **options: Any
) -> Any:
    """Do what `np.piecewise` does; some of its functions are constants, and are not called."""
    y = np.zeros_like(x)
    if len(functions) > len(conditions):
        taken = conditions[0]
        for condition in conditions[1:]:
            taken = taken | condition
        conditions = (*conditions, ~taken)
    for condition, f, is_called in zip(conditions, functions, are_called, strict=True):
        if is_called:
            part = x[condition]
            if part.size > 0:
                y[condition] = f(part, *more, **options)
        else:
            y[condition] = f
    return y
