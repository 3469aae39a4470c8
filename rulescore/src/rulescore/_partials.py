"""Partial derivatives of elementwise rules: what they are computed from, and how many are due."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from rulescore._errors import Fault, RuleError
from rulescore._rule import Rule

PYTHONS = frozenset((float, int))


def given_to(rule: Rule, xs: tuple[Any, ...], out: Any) -> tuple[Any, ...]:
    """Return what the partial derivatives of a rule are computed from."""
    for x in xs:
        kind = type(x)
        if kind not in PYTHONS and (kind is not np.ndarray or x.dtype.kind != "f"):
            break
    else:
        return (*xs, out) if rule.takes_out else xs
    inexact = [as_inexact(x, rule) for x in xs]
    return (*inexact, out) if rule.takes_out else tuple(inexact)


def partials_of(rule: Rule, xs: tuple[Any, ...], out: Any, needed: Sequence[Any]) -> list[Any]:
    """Return the partial derivatives that are needed, and `None` for the others."""
    given = given_to(rule, xs, out)
    if rule.partials is not None:
        return [
            partial(*given) if n else None for partial, n in zip(rule.partials, needed, strict=True)
        ]
    partials = rule.body(*given)
    each = (partials,) if len(xs) == 1 else partials
    if type(each) is not tuple or len(each) != len(xs) or type(each[0]) is tuple:
        raise wrong_number(rule, partials)
    return [p if n else None for p, n in zip(each, needed, strict=True)]


def lacks_partials(rule: Rule, xs: tuple[Any, ...], out: Any) -> bool:
    """Return whether a rule has `...` where partial derivatives are still to be written."""
    try:
        return any(p is ... for p in partials_of(rule, xs, out, (True,) * len(xs)))
    except Exception:  # of the user's code: what it raised first is told
        return False


def wrong_number(rule: Rule, partials: Any) -> RuleError:
    """Return the error for a body that returns another number of partial derivatives."""
    given = f"a tuple of {len(partials)}" if type(partials) is tuple else type(partials).__name__
    due = "one partial derivative" if len(rule.types) == 1 else f"a tuple of {len(rule.types)}"
    return Fault.COUNT(
        f"the partial derivatives of {rule.signature} ({rule.place}) are {given} where {due} "
        "was due: return that"
    )


def as_inexact(x: Any, rule: Rule) -> Any:
    """Return NumPy integers as float64: their arithmetic wraps around without a word.

    Of NumPy's complex numbers the functions of `math` take the real part, with a warning.
    """
    kind = type(x)
    if kind is float or kind is int:
        return x
    if kind is not np.ndarray and not hasattr(x, "dtype"):
        return x
    if x.dtype.kind not in "iub":
        if isinstance(x, np.complexfloating) and _module_of(rule.function) == "math":
            return float(x.real)
        return x
    return x.astype(np.float64)


def _module_of(f: Any) -> Any:
    return getattr(f, "__module__", None)


def ieee(x: Any) -> Any:
    """Return a number or an array for which arithmetic gives inf or nan, and raises nothing."""
    kind = type(x)
    if kind is float or kind is int:
        return np.float64(x)
    if kind is complex:
        return np.complex128(x)
    if kind is np.ndarray and x.dtype.kind in "iu":
        return x.astype(np.float64)
    return x


def together_of(partials: tuple[Any, ...]) -> Any:
    """Return the one function that returns all partial derivatives."""

    def together(*given: Any) -> tuple[Any, ...]:
        return tuple([partial(*given) for partial in partials])

    if len(partials) == 2:  # as nearly always, and quicker
        first, second = partials
        count = first.__code__.co_argcount

        def of_both(x: Any, y: Any) -> tuple[Any, ...]:
            return first(x, y), second(x, y)

        def of_both_and_out(x: Any, y: Any, out: Any) -> tuple[Any, ...]:
            return first(x, y, out), second(x, y, out)

        together = of_both if count == 2 else of_both_and_out
    together.__module__ = partials[0].__module__
    return together
