"""Scalar rules: the cotangent times the partial derivatives, which are inlined."""

import operator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from zygote_lite._specialize.rules.contributions import Contribution, projected
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.facts import (
    ArrayOf,
    Scalar,
    can_carry,
    may_be_complex,
    shares_axes,
)
from zygote_lite._specialize.typed.reasons import NotSupported
from zygote_lite._specialize.typed.runtime import chosen_product, strong_product
from zygote_lite._specialize.typed.values import Value, constant, is_one


@dataclass(eq=False)
class ScalarRule:
    """The reverse through an elementwise rule: the cotangent times the partial derivatives."""

    rule: Any
    xs: list[Value]
    out: Value
    alike: list[bool]  # whether the operand has the shape of the result
    multiples: dict[int, int] = field(default_factory=dict)  # how often a factor counts: `powers`

    def back(self, builder: Builder, dy: Value) -> list[Contribution]:
        """Write the cotangents of the operands that are active, and return them."""
        if builder.strong or (self.rule.poles and any(warns_of_poles(x) for x in self.xs)):
            builder.poles = True
        parts = self.partial_derivatives(builder)
        found: list[Contribution] = []
        quotients: dict[Value, Value] = {}  # the cotangent divided by operands
        is_product = len(parts) == 2 and parts[0] is self.xs[1] and parts[1] is self.xs[0]
        for i, (x, partial, alike) in enumerate(zip(self.xs, parts, self.alike, strict=True)):
            multiple = self.multiples.get(i, 1) if is_product and not builder.strong else 1
            if not x.active or not multiple or (partial.is_constant and partial.sample is None):
                found.append(None)
                continue
            product = _strong_times if builder.strong else times
            partial = conjugated(builder, partial)
            divided = None if builder.strong else self._divided(builder, partial, quotients)
            d = product(builder, *(divided or (dy, partial)), self.out)
            made = builder.definitions.get(d)
            is_quotient = made is not None and made.function is operator.truediv
            if made and is_quotient and made.arguments[0] in (dy, dy.spread):
                quotients[made.arguments[1]] = d  # it is none where a partial is a quotient itself
            if builder.strong and self.rule.chooses and d in builder.definitions:
                op = builder.definitions[d]
                op.function = chosen_product if op.function is strong_product else op.function
            if d in builder.definitions and not partial.is_constant:
                builder.definitions[d].suspect = True
            if multiple > 1:
                d = _operation(builder, operator.mul, constant(float(multiple)), d)
            arrays = isinstance(d.fact, ArrayOf) and isinstance(x.fact, ArrayOf)
            if not (alike and arrays and d.sample.dtype == x.sample.dtype):
                d = projected(builder, d, x)
            found.append(d)
        return found

    def _divided(
        self, builder: Builder, partial: Value, quotients: dict[Value, Value]
    ) -> tuple[Value, Value] | None:
        """Return `dy / y` and `a` for a partial `a / y`, where that quotient is known."""
        made = _quotient(builder, partial)
        known = None if made is None else quotients.get(made[1])
        return (known, made[0]) if made is not None and known is not None else None

    def partial_derivatives(self, builder: Builder) -> list[Value]:
        """Write the partial derivatives by the operands that are active, at least."""
        given = [*self.xs, self.out] if self.rule.takes_out else self.xs
        if self.rule.partials is not None:
            return [
                builder.body_of(partial, given) if x.active else constant(None)
                for x, partial in zip(self.xs, self.rule.partials, strict=True)
            ]
        partials = builder.body_of(self.rule.body, given)
        parts = [partials] if len(self.xs) == 1 else partials.items
        if parts is None and isinstance(partials.sample, tuple) and partials.is_constant:
            parts = [constant(p) for p in partials.sample]
        if parts is None or len(parts) != len(self.xs):
            raise NotSupported.RULE_FORM(
                f"the rule {self.rule.signature} returns another number of partial derivatives "
                "than it has arguments"
            )
        return parts


def warns_of_poles(x: Value) -> bool:
    """Return whether NumPy computes with a value, which warns of infinities."""
    return x.is_array or (isinstance(x.fact, Scalar) and not x.fact.classes <= {float, int, bool})


def conjugated(builder: Builder, partial: Value) -> Value:
    """Write the conjugate of a partial derivative, which is itself where that is real."""
    if not may_be_complex(partial.fact):
        return partial
    if partial.is_constant:
        return constant(partial.sample.conjugate())
    return builder.operation(np.conjugate, [partial]).target


def times(builder: Builder, dy: Value, partial: Value, out: Value) -> Value:
    """Write the product of a cotangent and a partial derivative, in its simplest form."""
    if partial.is_constant and type(partial.sample) in (int, float):
        if partial.sample == 1:
            return dy
        if partial.sample == -1:
            d = _operation(builder, operator.neg, dy)
            spread = dy.spread
            if spread is not None and spread.is_constant and type(spread.sample) is float:
                d.spread = constant(-spread.sample)
            return d
    if dy.spread is not None and shares_axes(partial.fact, out.fact) and _is_wide(partial, out):
        dy = dy.spread
    unit = dy.is_constant and type(dy.sample) is float and dy.sample in (1.0, -1.0)
    if unit and can_carry(partial.fact) and shares_axes(partial.fact, out.fact):
        return partial if dy.sample == 1 else _operation(builder, operator.neg, partial)
    made = builder.definitions.get(partial)
    if made is not None and any(x.may_be_written for x in made.arguments):
        made = None  # its operands may hold something else by now
    if made is not None and made.function is operator.truediv and is_one(made.arguments[0]):
        return _divided_by(builder, dy, made.arguments[1])
    if made is not None and made.function is operator.neg:
        return _operation(builder, operator.neg, times(builder, dy, made.arguments[0], out))
    return _operation(builder, operator.mul, dy, partial)


def _is_wide(x: Value, out: Value) -> bool:
    """Return whether a number of Python's own times an array is as precise as an array times it."""
    kinds = [v.fact.dtype for v in (x, out) if isinstance(v.fact, ArrayOf)]
    return len(kinds) < 2 or kinds[0].kind not in "fc" or kinds[0].itemsize >= kinds[1].itemsize


def _divided_by(builder: Builder, dy: Value, y: Value) -> Value:
    """Write the quotient of a cotangent; of `d / (x / y)` that is `d / x`."""
    outer = _quotient(builder, dy)
    inner = None if outer is None else _quotient(builder, outer[1])
    if outer and inner and inner[1] is y and shares_axes(inner[0].fact, outer[1].fact):
        dy, y = outer[0], inner[0]
    return _operation(builder, operator.truediv, dy, y)


def over_one_divisor(
    builder: Builder, partials: list[Value]
) -> tuple[Value | None, list[Value]]:  # fmt: skip
    """Return what several partials are all divided by, and their dividends; else `None` and them.

    Sums of tangents are then divided once: `(dx - out * dy) / y`.
    """
    quotients = [_quotient(builder, x, of_one=True) for x in partials]
    divisors = {q[1] for q in quotients if q is not None}
    if len(partials) < 2 or None in quotients or len(divisors) != 1:
        return None, partials
    return divisors.pop(), [q[0] for q in quotients if q is not None]


def _quotient(builder: Builder, x: Value, of_one: bool = False) -> tuple[Value, Value] | None:
    """Return what a float64 is the quotient of, where that is still what it was.

    Arguments:
        of_one: whether the dividend may be the constant one.
    """
    made = builder.definitions.get(x)
    if made is None or made.function is not operator.truediv or x in builder.added_to:
        return None
    a, b = made.arguments
    if any(part.may_be_written for part in (a, b)) or not all(map(_is_double, (x, b))):
        return None
    return (a, b) if _is_double(a) or (of_one and is_one(a)) else None


def _is_double(x: Value) -> bool:
    """Return whether a value is of float64, whose range is wide enough for another order."""
    if isinstance(x.fact, Scalar):
        return x.fact.classes <= {float, np.float64}
    return isinstance(x.fact, ArrayOf) and x.fact.dtype == np.float64


def _strong_times(builder: Builder, dy: Value, partial: Value, out: Value) -> Value:
    """Write that product with a strong zero, in its simplest form that has one."""
    # Only code that is made after a gradient was not finite comes here (`WithStrongZeros`): a test
    # of each entry costs more than the product, and nearly no function needs it. A partial of 1 or
    # -1 is finite, and so cannot meet a zero wrongly.
    if partial.is_constant and type(partial.sample) in (int, float) and partial.sample in (1, -1):
        return times(builder, dy, partial, out)
    d = builder.operation(strong_product, [dy, partial]).target
    d.base, d.fresh = None, True  # it gives a new array each time
    return d


def _operation(builder: Builder, f: Any, *xs: Value) -> Value:
    return builder.apply(f, [*xs])
