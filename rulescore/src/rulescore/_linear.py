"""Linear rules: forward is the function itself, back is its adjoint, which is what is declared."""

from typing import Any

import numpy as np

from rulescore._project import project, shape_of
from rulescore._rule import Rule, RuleError


def pull_linear(
    rule: Rule, options: dict[str, Any], function: Any, xs: tuple[Any, ...], dy: Any, /
) -> tuple[Any, ...]:
    """Return all cotangents of a linear call: what a `Pullback` of its rule calls."""
    found: list[Any] = [None] * (len(xs) + 1)
    if dy is None:
        return tuple(found)
    given = rule.body(dy, *xs, **options)
    for i, dx in zip(rule.linear, each_cotangent(rule, given), strict=True):
        x = xs[i]
        if type(dx) is np.ndarray is type(x) and dx.dtype is x.dtype and dx.shape == x.shape:
            found[i + 1] = dx if dx.dtype.kind in "fc" else project(dx, x)
            continue
        try:
            found[i + 1] = project(dx, x)
        except (TypeError, ValueError) as error:
            raise RuleError(
                f"the adjoint of {rule.signature} ({rule.place}) gave what is no cotangent "
                f"of argument {i + 1}, of shape {shape_of(x)}: {error}"
            ) from error
    return tuple(found)


def each_cotangent(rule: Rule, given: Any) -> tuple[Any, ...]:
    """Return the cotangents that an adjoint gave, one for each argument that the rule names."""
    if len(rule.linear) == 1:
        return (given,)
    if type(given) is tuple and len(given) == len(rule.linear):
        return given
    what = f"a tuple of {len(given)}" if type(given) is tuple else type(given).__name__
    raise RuleError(
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
