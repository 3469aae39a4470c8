"""Contributions: the cotangents that one step of the reverse pass adds to its operands.

Each is projected to the kind of its primal, which undoes NumPy's broadcasting.
"""

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rulescore import project
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.facts import (
    FLOATS,
    UNKNOWN,
    ArrayOf,
    Other,
    Scalar,
    can_carry,
    dtypes_of,
    may_be_complex,
)
from zygote_lite._specialize.typed.functions import attribute_of
from zygote_lite._specialize.typed.nodes import Op
from zygote_lite._specialize.typed.reasons import NotSupported, Unsound
from zygote_lite._specialize.typed.runtime import same_shape
from zygote_lite._specialize.typed.structures import structure
from zygote_lite._specialize.typed.values import Value, constant, is_one, shape_root


@dataclass(eq=False)
class Scatter:
    """A cotangent that belongs to a part of an array."""

    index: Value
    value: Value


@dataclass(eq=False)
class Each:
    """A cotangent of every item of a list."""

    value: Value


Contribution = Value | Scatter | Each | None


@dataclass(eq=False)
class IndexRule:
    """Through `x[index]`: the cotangent is added to that part of the cotangent of `x`."""

    index: Value

    def back(self, builder: Builder, dy: Value) -> list[Contribution]:
        """Return the cotangent of a part."""
        return [Scatter(self.index, dy), None]


@dataclass(eq=False)
class LinearRule:
    """Through an operation whose cotangents need that of its result alone."""

    cotangents: Callable[[Value], list[Contribution]]

    def back(self, builder: Builder, dy: Value) -> list[Contribution]:
        """Return the cotangents of the operands."""
        return self.cotangents(dy)


@dataclass(eq=False)
class Mirror:
    """Through a change of a container: the reverse pass undoes it in the shadow, always."""

    write: Callable[[Builder, Value | None], list[Contribution]]

    def back(self, builder: Builder, dy: Value | None) -> list[Contribution]:
        """Write what undoes the change, and return the cotangents of the operands."""
        return self.write(builder, dy)


SINGLE = np.dtype(np.float32)
_SHORT = {np.float32, np.complex64}
_WIDEST = (np.float64, np.complex128)


def projected(builder: Builder, d: Value, x: Value) -> Value:
    """Write what gives a cotangent the kind of its primal: nothing, where it has it already."""
    if d.is_constant and d.sample is None:
        return d
    if isinstance(x.fact, Other):
        if x.active and x.items is not None and type(x.sample) in (tuple, list) and d.is_array:
            return _projected_parts(builder, d, x)
        if x.active:
            raise NotSupported.STRUCTURE_COTANGENT(
                "the gradient of a tuple, list, dict or object is needed as a whole"
            )
        return constant(None)
    if may_be_complex(d.fact) and not may_be_complex(x.fact):
        d = _real_part(builder, d)
    if isinstance(x.fact, Scalar) and isinstance(d.fact, ArrayOf) and d.fact.dtype in _WIDEST:
        if d.has_no_axes:
            return builder.apply(operator.getitem, [d, constant(())])
        return builder.apply(np.ndarray.sum, [d])
    if not can_carry(x.fact):
        if x.active and (x.is_array or d.is_array):
            raise Unsound.NO_FLOAT(
                "it differentiates something that is not a float, or an array of floats"
            )
        return d if isinstance(x.fact, Scalar) else constant(None)
    if isinstance(x.fact, Scalar) and isinstance(d.fact, Scalar):
        short = not x.fact.classes.isdisjoint(_SHORT) or d.fact.classes <= _SHORT
        if x.fact.classes == d.fact.classes or not short:
            return d
    if x.has_no_axes and d.is_scalar and dtypes_of(d.fact) == dtypes_of(x.fact):
        return d  # a number, until an array is needed
    if isinstance(x.fact, ArrayOf) and isinstance(d.fact, ArrayOf) and d.fact.dtype == x.fact.dtype:
        if shape_root(d) is shape_root(x):
            return d
        if x.fact.axes == d.fact.axes and UNKNOWN not in x.fact.axes:
            return d
        summed = _summed(builder, d, x.fact)
        if summed is not None:
            return summed
    alike = np.shape(d.sample) == np.shape(x.sample) and d.is_array
    if builder.follows and alike and d.sample.dtype == x.sample.dtype:
        builder.demand(same_shape, d, x)
        return d
    if not builder.follows:
        return builder.operation(project, [d, x], fact=x.fact).target
    if isinstance(x.fact, Scalar) and not may_be_complex(d.fact) and len(x.fact.classes) == 1:
        return _as_number(builder, d, *x.fact.classes)
    if not (isinstance(d.fact, ArrayOf) and isinstance(x.fact, ArrayOf)):
        raise Unsound.COTANGENT_TYPE("the shape of a gradient is known only as it runs")
    op = builder.operation(project, [d, x], fact=x.fact)
    op.target.shaped = shape_root(x)
    if d.active:
        op.target.active = True
        op.reverse_rule, op.active_operands = ProjectedRule(d), [d]
    return op.target


def _as_number(builder: Builder, d: Value, kind: type) -> Value:
    """Write the cotangent of a number, of one kind, where it is differentiated again."""
    if d.has_no_axes:
        d = builder.apply(operator.getitem, [d, constant(())])
    elif d.is_array:
        d = builder.apply(np.ndarray.sum, [d])
    kind = kind if kind in FLOATS else float
    if isinstance(d.fact, Scalar) and d.fact.classes == {kind}:
        return d
    return builder.apply(kind, [d])


def _projected_parts(builder: Builder, d: Value, x: Value) -> Value:
    """Write the cotangents of the parts of a tuple or a list, from an array with those of all."""
    whole = builder.operation(project, [d, x], certain=True).target
    nested = any(item.items is not None for item in x.items or ())
    if nested or type(whole.sample) is not type(x.sample):
        raise NotSupported.STRUCTURE_COTANGENT(
            "the gradient of a list of lists is needed as a whole"
        )
    parts = []
    for i, item in enumerate(x.items or ()):
        if not item.active:
            parts.append(constant(None))
            continue
        part = builder.operation(operator.getitem, [whole, constant(i)], fact=item.fact).target
        part.fresh = False
        parts.append(part)
    return structure(type(x.sample), parts)


def _real_part(builder: Builder, d: Value) -> Value:
    """Write the real part of the cotangent of a real value."""
    if d.is_constant:
        return constant(d.sample.real)
    return builder.operation(attribute_of("real"), [d]).target


@dataclass(eq=False)
class ProjectedRule:
    """Through `project(d, x)`, which sums over the axes along which `x` was broadcast."""

    d: Value

    def back(self, builder: Builder, dy: Value) -> list[Contribution]:
        """Write the cotangent of the cotangent: that of each sum, once for each of its terms."""
        shape = builder.attribute(self.d, "shape")
        return [builder.apply(np.broadcast_to, [dy, shape])]


def _summed(builder: Builder, d: Value, fact: ArrayOf) -> Value | None:
    """Write the sum over the axes along which a primal was broadcast, where they are known."""
    assert isinstance(d.fact, ArrayOf)
    extra = len(d.fact.axes) - len(fact.axes)
    if extra < 0 or UNKNOWN in (*fact.axes, *d.fact.axes):
        return None
    if extra:
        axes: Any = 0 if extra == 1 else tuple(range(extra))
        d = builder.apply(np.ndarray.sum, [d, constant(axes)] if fact.axes else [d])
    if not isinstance(d.fact, ArrayOf):
        return d
    stretched = [i for i, (a, b) in enumerate(zip(d.fact.axes, fact.axes, strict=True)) if a != b]
    if stretched:
        axes = stretched[0] if len(stretched) == 1 else tuple(stretched)
        options = {"axis": constant(axes), "keepdims": constant(True)}
        d = builder.apply(np.ndarray.sum, [d], options, "")
    return d


def as_precise(builder: Builder, dy: Value | None, of: Op) -> Value | None:
    """Return the cotangent of a result as NumPy's number, where an operand is less precise.

    A product with one of Python's own would have the precision of that operand.
    """
    if dy is None or not isinstance(dy.fact, Scalar) or float not in dy.fact.classes or is_one(dy):
        return dy
    is_double = isinstance(of.target.fact, Scalar) and np.float64 in of.target.fact.classes
    if not is_double or not any(SINGLE in dtypes_of(x.fact) for x in of.arguments):
        return dy
    return builder.apply(np.float64, [dy])
