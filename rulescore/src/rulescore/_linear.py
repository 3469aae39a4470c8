"""Linear rules: forward is the function itself, back is its adjoint, which is what is declared."""

from typing import Any

import numpy as np

from rulescore._errors import Fault
from rulescore._project import project, shape_of
from rulescore._rule import Rule

_FIRST = (0,)


def pull_linear(
    rule: Rule, options: dict[str, Any], function: Any, xs: tuple[Any, ...], dy: Any, /
) -> tuple[Any, ...]:
    """Return all cotangents of a linear call: what a `Pullback` of its rule calls."""
    if dy is None:
        return (None,) * (len(xs) + 1)
    given = rule.body(dy, *xs, **options)
    x = xs[0]
    if type(given) is np.ndarray is type(x) and given.shape == x.shape and rule.linear == _FIRST:
        dtype = x.dtype  # the usual case
        if given.dtype is not dtype and dtype.kind == "f" and given.dtype.kind == "c":
            given = given.real
        if (given.dtype is dtype or given.dtype == dtype) and dtype.kind in "fc":
            return (None, given) if len(xs) == 1 else (None, given, *(None,) * (len(xs) - 1))
    found: list[Any] = [None] * (len(xs) + 1)
    for i, dx in zip(rule.linear, each_cotangent(rule, given), strict=True):
        x = xs[i]
        try:
            found[i + 1] = _in_kind_of(dx, x)
        except (TypeError, ValueError) as error:
            raise Fault.COTANGENT(
                f"the adjoint of {rule.signature} ({rule.place}) gave something other than a "
                f"cotangent of argument {i + 1}, of shape {shape_of(x)}: {error}; "
                "return one of its shape"
            ) from error
    return tuple(found)


def _in_kind_of(dx: Any, x: Any) -> Any:
    """Return `project(dx, x)`, quicker for arrays and lists of arrays."""
    kind = type(x)
    if kind is np.ndarray is type(dx):
        if dx.dtype == x.dtype and dx.shape == x.shape and dx.dtype.kind in "fc":
            return dx
    elif type(dx) is list and (kind is list or kind is tuple) and len(dx) == len(x):
        entries = list(map(_in_kind_of, dx, x))
        return entries if kind is list else tuple(entries)
    return project(dx, x)


def each_cotangent(rule: Rule, given: Any) -> tuple[Any, ...]:
    """Return the cotangents that an adjoint gave, one for each argument that the rule names."""
    if len(rule.linear) == 1:
        return (given,)
    if type(given) is tuple and len(given) == len(rule.linear):
        return given
    what = f"a tuple of {len(given)}" if type(given) is tuple else type(given).__name__
    raise Fault.COUNT(
        f"the adjoint of {rule.signature} ({rule.place}) returned {what}: return a tuple of "
        f"{len(rule.linear)}, one cotangent for each argument in which the function is linear"
    )


def push_linear(
    rule: Rule, f: Any, dxs: tuple[Any, ...], xs: tuple[Any, ...], options: dict[str, Any]
) -> Any:
    """Return the tangent of a linear call: the function itself, of the tangents.

    Arguments:
        rule: the rule.
        f: the function.
        dxs: the tangents of the arguments `rule.linear`.
        xs: all arguments.
        options: its options; `rule.shifts` add a constant to the value, and so nothing here.
    """
    given = list(xs)
    for i, dx in zip(rule.linear, dxs, strict=True):
        given[i] = dx
    f = f if callable(f) else rule.primal
    return f(*given, **{name: x for name, x in options.items() if name not in rule.shifts})
