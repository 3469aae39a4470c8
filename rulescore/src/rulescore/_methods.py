"""Methods of `project`, `accumulate`, `zero`, `flatten`: declared for types of libraries."""

from collections.abc import Callable
from typing import Any, get_args

from rulescore import _kinds
from rulescore._array import pattern
from rulescore._project import project
from rulescore._table.table import methods_of, wake


def _find_method(function: Any, xs: tuple[Any, ...]) -> Callable[..., Any] | None:
    """Return the method of `project` and its like for arguments of these types."""
    types = tuple(map(type, xs))
    primitive = methods_of(function)
    try:
        if primitive is not None:
            rule = primitive.cache[types]
            return None if rule is None else rule.body
    except (KeyError, TypeError):
        pass
    if wake():
        return _find_method(function, xs)
    rule = None if primitive is None else primitive.find(xs, types)
    return None if rule is None else rule.body


def goes_by_value(kind: type) -> bool:
    """Return whether a rule set says how cotangents of a type are projected.

    An AD treats such a value as a whole, like an array: its cotangent does not consist of those of
    its fields.

    Arguments:
        kind: the type.
    """
    if kind in _kinds.SETTLED:
        return False
    wake()
    primitive = methods_of(project)
    rules = () if primitive is None else primitive.rules
    primals = [pattern(rule.types[1]) for rule in rules if len(rule.types) == 2]
    named = [t for primal in primals for t in (get_args(primal) or (primal,))]
    return any(isinstance(t, type) and t is not object and issubclass(kind, t) for t in named)


def flatten(x: Any) -> tuple[list[Any], Callable[[list[Any]], Any]] | None:
    """Return the arrays of numbers that a value holds, and a function that builds such a value.

    Arguments:
        x: a value of a type that goes by value, or a cotangent of one.

    The function takes arrays of the same shapes. A rule set declares both by
    `rule.method(flatten)`; for other types the answer is `None`. `check_rrule` uses it to change
    the numbers of a value.
    """
    method = None if type(x) in _kinds.SETTLED else _find_method(flatten, (x,))
    if method is None:
        return None
    arrays, rebuild = method(x)
    return list(arrays), rebuild


_kinds.find = _find_method
