"""Lists of any length, forward: a list of tangents goes through what its list goes through.

It has the tangent of each item at the place of the item. That of an array is an array that is
never written to.
"""

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from zygote_lite._specialize.typed.abstract_eval import Result
from zygote_lite._specialize.typed.facts import FLOATS, ArrayOf, Fact, ListOf, Scalar
from zygote_lite._specialize.typed.nodes import Append, Op, StoreItem
from zygote_lite._specialize.typed.reasons import NotSupported
from zygote_lite._specialize.typed.runtime import zero_tangents
from zygote_lite._specialize.typed.structures import structure
from zygote_lite._specialize.typed.values import Value, list_root

if TYPE_CHECKING:
    from zygote_lite._specialize.forward.rules import OperationRules


def made(rules: "OperationRules", node: Op) -> Value | None:
    """Write the list of tangents of a new list, or of a row; `None` where no item moves."""
    y, f, xs = node.target, node.function, node.arguments
    if not list_root(y).active:
        return None
    if f is list or (f is operator.getitem and len(xs) > 1):
        given = [*map(rules.whole, xs[:1]), *xs[1:]]
    elif f is operator.add:
        given = [rules.whole(x) for x in xs]
    elif f is operator.mul and xs[0].items is not None:
        given = [structure(list, [rules.whole(x) for x in xs[0].items]), xs[1]]
    else:
        raise NotSupported.FORWARD("a list is made in a way that is not written forward")
    d = _written(rules, y, f, given)
    d.row_of = None if y.row_of is None else (given[0], xs[1])
    return d


def zeros(rules: "OperationRules", x: Value) -> Value:
    """Write the list of tangents of a list no item of which moves."""
    return _written(rules, x, zero_tangents, [x])


def _written(rules: "OperationRules", y: Value, f: Any, xs: list[Value]) -> Value:
    d = rules.builder.write(Result(_fact(y.fact), _sample(y.sample)), f, xs, {}).target
    d.made = True
    return d


def append(rules: "OperationRules", node: Append) -> None:
    """Write the tangent of what is appended to a list."""
    d = rules.of(node.array)
    if d is not None:
        value = rules.whole(node.value)
        rules.builder.out.append(Append(node.origin, d, value, context=node.context))


def store(rules: "OperationRules", node: StoreItem) -> None:
    """Write the tangent of what is stored in a list."""
    d = rules.of(node.array)
    if d is not None:
        value = rules.whole(node.value)
        rules.builder.out.append(StoreItem(node.origin, d, node.index, value, context=node.context))


def _fact(fact: Fact | None) -> Fact:
    """Return what holds for the tangents of the items of a list, or for that of an item."""
    if isinstance(fact, ListOf):
        return ListOf(None if fact.item is None else _fact(fact.item))
    if isinstance(fact, Scalar):  # a zero is Python's, and what comes from an array is NumPy's
        return Scalar((fact.classes & FLOATS) | {float, np.float64})
    if isinstance(fact, ArrayOf) and fact.dtype.kind == "f":
        return fact
    raise NotSupported.FORWARD("a list of something other than floats has a tangent")


def _sample(x: Any) -> Any:
    return [_sample(item) for item in x] if type(x) is list else x * 1.0
