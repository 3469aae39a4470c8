"""Forward mode: `frule` pushes tangents through a call, by its rule."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from rulescore._array import Numeric
from rulescore._errors import Fault, RuleError, keep_callers_frames
from rulescore._linear import push_linear
from rulescore._naming import describe
from rulescore._project import fits, project, sequence_like, shape_of, zero
from rulescore._rule import Rule, those_given
from rulescore._scalar import push_scalar
from rulescore._table.resolution import find_frule
from rulescore._tangent import accumulate
from rulescore.faults import counted
from rulescore.watching import watched


def frule(tangents: Any, f: Any, /, *xs: Any, **options: Any) -> tuple[Any, Any] | None:
    """Return `(y, dy)` for `y = f(*xs, **options)`, or `None` if no rule is for it.

    Arguments:
        tangents: `(df, *dxs)`, the tangents of the function and of each argument; `None` is a zero.
            `df` is not used: rules are for functions that hold no variables.
        f: the function.
        xs: the arguments, whose types choose the rule.
        options: keyword arguments of `f`; they have no tangents.

    `dy` is the derivative of `f` in the direction of the tangents, with the shape and the structure
    of `y`. It is the adjoint of what `rrule` gives. It is `None` if the types make it zero, and may
    share memory with the tangents. A scalar or linear rule gives it from the line that declares it;
    other rules need a forward rule (`RuleSet.forward`). Raises `RuleError` if the tangents do not
    fit the arguments. (ChainRules' `frule`.)
    """
    try:
        if not isinstance(tangents, tuple | list):
            raise Fault.TANGENT(
                f"frule is given {describe(tangents)} where the tangents are due, which come "
                "before the function: write `frule((None, dx), f, x)`"
            )
        dxs = tuple(tangents[1:])
        if len(dxs) != len(xs):
            raise Fault.TANGENT(
                f"frule is given {counted(len(tangents), 'tangent')}: give one for the function "
                f"and one for each argument, {1 + len(xs)} in all"
            )
        rule = find_frule(f, *xs, **options)
        return None if rule is None else push_forward(rule, f, xs, dxs, those_given(options))
    except RuleError as error:
        __tracebackhide__ = keep_callers_frames(error)
        raise


def push_forward(
    rule: Rule, f: Any, xs: tuple[Any, ...], dxs: tuple[Any, ...], options: dict[str, Any]
) -> tuple[Any, Any]:
    """Return the value of a call and its tangent, by a rule that `find_frule` has found."""
    if rule.kind == "constant":
        return rule.primal(*xs, **options), None
    for i, (dx, x) in enumerate(zip(dxs, xs, strict=True)):
        if dx is not None and not fits(dx, x):
            raise Fault.TANGENT(
                f"argument {i + 1} of {rule.signature} is {describe(x)}, and its tangent "
                f"{describe(dx)}: give one of its shape and structure"
            )
        if dx is not None and i in rule.refuses:
            raise Fault.UNKNOWN_DERIVATIVE(rule.refusal(i, "give no tangent of it"))
    if rule.kind == "forward":
        of = f"the forward rule {rule.signature} ({rule.place})"
        y, pushforward = value_and_pushforward(rule.body(*xs, **options), of)
        dy = _pushed(rule, pushforward, dxs)
    else:
        y, dy = watched(rule, rule.primal, xs, options), None
        if rule.kind == "scalar" and any(dx is not None for dx in dxs):
            dy = push_scalar(rule, y, xs, dxs)
        elif rule.kind == "linear" and any(dxs[i] is not None for i in rule.linear):
            whole = tuple([_filled(dxs[i], xs[i]) for i in rule.linear])
            dy = push_linear(rule, f, whole, xs, options)
    try:
        return y, in_kind_of(dy, y)
    except (TypeError, ValueError) as error:
        raise Fault.COTANGENT(
            f"the forward mode of {rule.signature} ({rule.place}) gave {describe(dy)} for the "
            f"tangent of {describe(y)}: return one of its shape and structure"
        ) from error


def value_and_pushforward(given: Any, of: str) -> tuple[Any, Any]:
    """Return what the body of a forward rule has returned; raise where that is no such pair."""
    if type(given) is tuple and len(given) == 2:
        y, pushforward = given
        if pushforward is None or type(pushforward) is tuple or callable(pushforward):
            return y, pushforward
    raise Fault.VALUE(f"{of} returned {describe(given)}: return the value and the pushforward")


def _pushed(rule: Rule, pushforward: Any, dxs: tuple[Any, ...]) -> Any:
    """Return the tangent that a pushforward gives, or the sum of what its parts give."""
    dxs = dxs if rule.varargs is not None else dxs[: len(rule.types)]
    if pushforward is None or all(dx is None for dx in dxs):
        return None
    if callable(pushforward):
        return pushforward(*dxs)
    of = f"the pushforward of {rule.signature} ({rule.place})"
    parts, shared = parts_of_pushforward(pushforward, len(dxs), of)
    total = pushed_by_parts(parts, dxs)
    return total if shared is None or total is None else shared(total)


def parts_of_pushforward(pushforward: Any, count: int, of: str) -> tuple[tuple[Any, ...], Any]:
    """Return the functions of one tangent each, and what is applied to their sum, or `None`.

    Arguments:
        pushforward: a tuple of functions, or a pair of that and what is applied.
        count: how many arguments there are.
        of: what the error says that it is of.
    """
    shared, parts = None, pushforward
    if len(parts) == 2 and type(parts[0]) is tuple:
        parts, shared = parts
    if len(parts) != count:
        raise Fault.COUNT(
            f"{of} has {counted(len(parts), 'part')} for "
            f"{counted(count, 'argument')}: give one for each"
        )
    return parts, shared


def pushed_by_parts(parts: tuple[Any, ...], dxs: Sequence[Any]) -> Any:
    """Return the sum of what functions give for one tangent each."""
    total: Any = None
    for part, dx in zip(parts, dxs, strict=True):
        if part is not None and dx is not None:
            total = accumulate(total, part(dx))
    return total


def _filled(dx: Any, x: Any) -> Any:
    """Return a tangent with zeros for `None`."""
    if dx is None:
        found = zero(x)
        is_truth = found is None and isinstance(x, Numeric)
        return x * 0 if is_truth else found
    if isinstance(x, list | tuple) and isinstance(dx, list | tuple):
        return sequence_like(x, [_filled(d, entry) for d, entry in zip(dx, x, strict=True)])
    return dx


def in_kind_of(dy: Any, y: Any) -> Any:
    """Return a tangent in the kind of its primal, repeated where it has fewer entries.

    Raises `ValueError` where it has more.
    """
    if isinstance(y, list | tuple) and isinstance(dy, list | tuple):
        return sequence_like(y, [in_kind_of(d, entry) for d, entry in zip(dy, y, strict=True)])
    if dy is not None and isinstance(y, Numeric) and shape_of(dy) != shape_of(y):
        dy = np.broadcast_to(dy, shape_of(y))
    return project(dy, y)
