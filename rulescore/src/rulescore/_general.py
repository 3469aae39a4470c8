"""Rules with a body: what the pullback that the body returned gives, checked.

A pullback is a function of the cotangent `dy`, or a tuple with one for each argument, which may
follow what these share: `(shared, (part, ...))`, where `shared(dy)` is what the parts are given.
"""

from typing import Any

from numpy import ndarray

from rulescore._errors import Fault
from rulescore._naming import describe
from rulescore._rule import Rule


def pull_general(
    rule: Rule,
    back: Any,
    function: Any,
    primals: tuple[Any, ...],
    dy: Any,
    /,
    needed: tuple[Any, ...] | None = None,
) -> tuple[Any, ...]:
    """Return all cotangents of a call, checked: what a `Pullback` of a rule body calls."""
    if dy is None or back is None:
        return (None,) * (len(primals) + 1)
    cotangents = back(dy) if type(back) is not tuple else _pull_parts(rule, back, dy, needed)
    due = len(primals) if rule.due is None else rule.due
    if type(cotangents) is tuple and len(cotangents) == due == len(primals):
        # the usual cases, which the loop would take longer for
        if due == 1:
            (dx,), (x,) = cotangents, primals
            kind = type(x)
            if kind is type(dx) and (
                dx.shape == x.shape
                if kind is ndarray
                else kind is float or (kind is list and len(dx) == len(x))
            ):
                return None, dx
        elif due == 2:
            (dx, dz), (x, z) = cotangents, primals
            are_arrays = type(dx) is ndarray is type(x) and type(dz) is ndarray is type(z)
            if are_arrays and dx.shape == x.shape and dz.shape == z.shape:
                return None, dx, dz
    misfit = rule.misfit(cotangents, primals)
    if misfit is not None:
        raise misfit
    return None, *cotangents, *(None,) * (len(primals) - due)  # options have no cotangent


def pull_instance(
    rule: Rule,
    back: Any,
    function: Any,
    primals: tuple[Any, ...],
    dy: Any,
    /,
    needed: tuple[Any, ...] | None = None,
) -> tuple[Any, ...]:
    """Return all cotangents of calling an object: what a `Pullback` of such a rule calls."""
    if needed is not None:
        needed = (None, *needed)
    return pull_general(rule, back, function, (function, *primals), dy, needed)[1:]


def _pull_parts(
    rule: Rule, parts: tuple[Any, ...], dy: Any, needed: tuple[Any, ...] | None
) -> tuple[Any, ...]:
    """Return the cotangents that the parts of a pullback give, `None` for what is not needed."""
    shared: Any = None
    if len(parts) == 2 and type(parts[1]) is tuple:
        shared, parts = parts
    if needed is not None:
        parts = tuple([p if n else None for p, n in zip(parts, needed[1:], strict=False)])
    found: list[Any] = []
    for part in parts:
        if part is None:
            found.append(None)
            continue
        if shared is not None:
            dy, shared = shared(dy), None
        if callable(part):
            found.append(part(dy))
        else:
            raise Fault.COUNT(
                f"the pullback of {rule.signature} ({rule.place}) has {describe(part)} among its "
                "parts: give a function of `dy` for each argument, or `None`"
            )
    return tuple(found)
