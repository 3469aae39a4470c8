"""Lists of any length, forward: a list of tangents goes through what its list goes through.

It has the tangent of each item at the place of the item. That of an array is an array that is
never written to.
"""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from zygote_lite._specialize.typed.abstract_eval import Result
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.facts import (
    FLOATS,
    ArrayOf,
    Fact,
    ListOf,
    Scalar,
    may_be_complex,
)
from zygote_lite._specialize.typed.nodes import Op
from zygote_lite._specialize.typed.reasons import NotSupported
from zygote_lite._specialize.typed.runtime import zero_tangents
from zygote_lite._specialize.typed.structures import structure
from zygote_lite._specialize.typed.values import Value


def tangents_of_list(builder: Builder, node: Op, whole: Callable[[Value], Value]) -> Value:
    """Write the list of tangents of a new list, or of a row of one.

    Arguments:
        builder: what writes it.
        node: the operation that makes the list, or reads the row.
        whole: gives the tangent of an operand, with zeros where it does not move.
    """
    y, f, xs = node.target, node.function, node.arguments
    if f is list or (f is operator.getitem and len(xs) > 1):
        given = [*map(whole, xs[:1]), *xs[1:]]
    elif f is operator.add:
        given = [whole(x) for x in xs]
    elif f is operator.mul and xs[0].items is not None:
        given = [structure(list, [whole(x) for x in xs[0].items]), xs[1]]
    else:
        raise NotSupported.FORWARD(
            "a list of differentiated values is made in a way that forward mode does not support"
        )
    d = _list_written(builder, y, f, given)
    d.row_of = None if y.row_of is None else (given[0], xs[1])
    return d


def zero_list(builder: Builder, x: Value) -> Value:
    """Write the list of tangents of a list no item of which moves."""
    return _list_written(builder, x, zero_tangents, [x])


def _list_written(builder: Builder, y: Value, f: Any, xs: list[Value]) -> Value:
    d = builder.write(Result(fact_of_tangent(y.fact), _sample_of(y.sample)), f, xs, {}).target
    d.made = True
    return d


def fact_of_tangent(fact: Fact) -> Fact:
    """Return what holds for the tangent of a value: of a number, an array of floats or a list."""
    if isinstance(fact, ListOf):
        return ListOf(None if fact.item is None else fact_of_tangent(fact.item))
    if isinstance(fact, Scalar) and not may_be_complex(
        fact
    ):  # a zero is Python's, and what comes from an array is NumPy's
        return Scalar((fact.classes & FLOATS) | {float, np.float64})
    if isinstance(fact, ArrayOf) and fact.dtype.kind == "f":
        return fact
    raise NotSupported.FORWARD(
        "a differentiated value is not a float, an array of floats or a list of these"
    )


def _sample_of(x: Any) -> Any:
    return [_sample_of(item) for item in x] if type(x) is list else x * 1.0
