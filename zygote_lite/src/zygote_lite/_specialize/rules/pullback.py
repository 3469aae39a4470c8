"""General and linear rules: the body of the pullback or of the adjoint is inlined.

A pullback is called if it cannot be inlined. Of a function that gives several arrays or numbers,
such as `divmod` or `np.linalg.eigh`, the cotangents of all parts are given to one pullback.
"""

import operator
from dataclasses import dataclass
from typing import Any

import numpy as np

from zygote_lite._specialize.rules.contributions import (
    SINGLE,
    Contribution,
    IndexRule,
    Mirror,
    projected,
)
from zygote_lite._specialize.typed.abstract_eval import shares_memory
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.facts import (
    ArrayOf,
    ListOf,
    Scalar,
    can_carry,
    dtypes_of,
    may_be_complex,
)
from zygote_lite._specialize.typed.nodes import Op
from zygote_lite._specialize.typed.reasons import NotSupported, Unsound
from zygote_lite._specialize.typed.runtime import call_back, call_parts, has_length
from zygote_lite._specialize.typed.stand_ins import Local
from zygote_lite._specialize.typed.structures import named_tuple, structure
from zygote_lite._specialize.typed.values import Value, constant, shape_root

NO_COTANGENT = constant(None)


@dataclass(eq=False)
class InlinedPullback:
    """The reverse through a general rule: the body of its pullback is inlined."""

    pullback: Value  # of a function, or of a tuple of functions
    xs: list[Value]

    def back(self, builder: Builder, dy: Value) -> list[Contribution]:
        """Write the cotangents of the operands, and return them."""
        if self.pullback.items is None:
            parts = cotangents_of(builder, builder.body_of(self.pullback.sample, [dy]))
        else:
            shared, pullbacks = _shared_and_parts(self.pullback.items)
            if shared is not None:
                dy = builder.body_of(shared.sample, [dy])
            parts = [
                NO_COTANGENT
                if part.sample is None or not x.active
                else builder.body_of(part.sample, [dy])
                for part, x in zip(pullbacks, self.xs, strict=False)
            ]
        contributions: list[Contribution] = []
        for x, d in zip(self.xs, parts, strict=False):
            nothing = d.is_constant and d.sample is None
            contributions.append(None if nothing or not x.active else d)
            if not nothing and x.active:
                has_kind_of(d, x)
                other = may_be_complex(x.fact) != may_be_complex(d.fact)
                if other or SINGLE in dtypes_of(x.fact) != dtypes_of(d.fact):
                    contributions[-1] = projected(builder, d, x)
        return contributions


def _shared_and_parts(items: list[Value]) -> tuple[Value | None, list[Value]]:
    """Return what the parts of a pullback share, if they do, and the parts."""
    if len(items) == 2 and items[1].items is not None:
        return items[0], items[1].items
    return None, items


def is_pullback(found: Value) -> bool:
    """Return whether a value is a function that is defined in a rule, or a tuple of such."""
    if found.items is None:
        return _calls_what_is_known(found)
    shared, parts = _shared_and_parts(found.items)
    given = parts if shared is None else [shared, *parts]
    return all(_calls_what_is_known(f) or f.sample is None for f in given)


def _calls_what_is_known(f: Value) -> bool:
    """Return whether a function is defined in a rule, and what it calls is known, too."""
    return isinstance(f.sample, Local) and not any(
        callable(x.sample) and not x.is_constant for x in f.sample.around.values()
    )


def cotangents_of(builder: Builder, found: Value) -> list[Value]:
    """Return the items of the tuple that a pullback returns."""
    if found.items is not None:
        return found.items
    if not isinstance(found.sample, tuple):
        raise NotSupported.RULE_FORM("a pullback does not return a tuple of gradients")
    if found.is_constant:
        return [constant(d) for d in found.sample]
    parts = []
    made = builder.definitions.get(found)
    of = made.arguments[0].fact if made is not None and made.function is tuple else None
    fact = of.item if isinstance(of, ListOf) else None
    for i in range(len(found.sample)):
        # in another run it may be another kind of cotangent, unless they are the items of a list
        taken, known = [found, constant(i)], fact is not None
        op = builder.operation(operator.getitem, taken, fact=fact, certain=known)
        op.required, op.target.fresh = True, False
        parts.append(op.target if op.target.sample is not None else constant(None))
    return parts


def has_kind_of(d: Value, x: Value) -> None:
    """Note that a cotangent has the shape of its primal, as rules promise."""
    if not (isinstance(d.fact, ArrayOf) and isinstance(x.fact, ArrayOf)):
        return
    if d.fact.dtype == x.fact.dtype and len(d.fact.axes) == len(x.fact.axes):
        d.fact = x.fact
        if shape_root(x) is not shape_root(d):
            shape_root(d).shaped = shape_root(x)


@dataclass(eq=False)
class CalledPullback:
    """The reverse through a rule that is called, because its body cannot be inlined."""

    pullback: Value
    xs: list[Value]

    def back(self, builder: Builder, dy: Value) -> list[Contribution]:
        """Write the call of the pullback, and return the cotangents."""
        if builder.recording:
            raise NotSupported.SECOND_ORDER(
                "it takes a second derivative of a rule whose pullback cannot be transformed"
            )
        needed = (False, *(x.active for x in self.xs))
        f: Any = call_parts
        given = [self.pullback, constant(needed), dy]
        if self.pullback.sample.only(needed) is self.pullback.sample:  # it gives them all at once
            f, given = call_back, [self.pullback, dy]
        everything = builder.operation(f, given, certain=True).target
        found: list[Contribution] = []
        for i, x in enumerate(self.xs):
            if not x.active:
                found.append(None)
                continue
            taken = [everything, constant(i + 1)]
            if everything.sample[i + 1] is None:  # in another run it may be something
                builder.operation(operator.getitem, taken, certain=False).required = True
                found.append(None)
                continue
            if np.iscomplexobj(everything.sample[i + 1]) != np.iscomplexobj(x.sample):
                raise NotSupported.RULE_FORM(
                    "a pullback returns a complex gradient for a real argument, or the reverse"
                )
            d = builder.operation(operator.getitem, taken, fact=x.fact).target
            d.fresh = False
            found.append(d)
        return found


@dataclass(eq=False)
class IndexRuleTwice:
    """The reverse through `x[index]`: by its rule where that is differentiated again."""

    first: Any
    last: IndexRule

    def back(self, builder: Builder, dy: Value) -> list[Contribution]:
        """Return what the one or the other gives."""
        return (self.first if builder.recording else self.last).back(builder, dy)


@dataclass(eq=False)
class AdjointRule:
    """The reverse through a linear rule: its adjoint is inlined, and projected to the operands."""

    rule: Any
    xs: list[Value]
    options: dict[str, Value]

    def back(self, builder: Builder, dy: Value) -> list[Contribution]:
        """Write the cotangents of the operands that are active, and return them."""
        linear = self.rule.linear
        found = builder.body_of(self.rule.body, [dy, *self.xs], self.options)
        parts = [found] if len(linear) == 1 else cotangents_of(builder, found)
        contributions: list[Contribution] = [None] * len(self.xs)
        for i, d in zip(linear, parts, strict=True):
            x = self.xs[i]
            if not x.active or (d.is_constant and d.sample is None):
                continue
            contributions[i] = _in_kind_of(builder, d, x)
        return contributions


def _in_kind_of(builder: Builder, d: Value, x: Value) -> Value:
    """Write what gives a cotangent the kind of its primal, the parts of a structure one by one."""
    if x.items is None:
        d = projected(builder, d, x)
        has_kind_of(d, x)
        return d
    if d.items is not None and len(d.items) != len(x.items):
        raise NotSupported.RULE_FORM(
            "a pullback returns a gradient with another number of items than its argument"
        )
    parts = []
    for i, item in enumerate(x.items):
        if not item.active:
            parts.append(NO_COTANGENT)
        elif d.items is not None:
            parts.append(_in_kind_of(builder, d.items[i], item))
        else:
            taken = [d, constant(i)]
            part = builder.operation(operator.getitem, taken, certain=True).target  # projected
            part.fresh = False
            parts.append(_in_kind_of(builder, part, item))
    return structure(type(x.sample), parts)


def parts_of_rule(builder: Builder, both: Value, xs: list[Value], operands: list[Value]) -> Value:
    """Write the parts of the value of a rule that was called; return the structure of these.

    Arguments:
        builder: what writes the code.
        both: the value of the rule, and its pullback.
        xs: the operands of the call.
        operands: those that the rule was given, some of them copies.
    """
    whole = builder.operation(operator.getitem, [both, constant(0)]).target
    kind: Any = type(whole.sample)
    builder.demand(has_length, whole, constant(len(whole.sample)))
    pull = builder.operation(operator.getitem, [both, constant(1)], certain=True)
    cotangents: dict[int, Value] = {}

    def back(builder: Builder, _: Value | None) -> list[Contribution]:
        if not cotangents:
            return []
        given = [cotangents.pop(i, constant(None)) for i in range(len(whole.sample))]
        return CalledPullback(pull.target, xs).back(builder, structure(tuple, given))

    pull.required, pull.reverse_rule, pull.active_operands = True, Mirror(back), xs
    parts = [_kept_part(builder, whole, i, operands, cotangents) for i in range(len(whole.sample))]
    if hasattr(kind, "_fields"):
        return named_tuple(kind, parts)
    found = structure(kind, parts)
    if kind is list:
        builder.settle_home(found)
    return found


def _kept_part(
    builder: Builder, whole: Value, place: int, operands: list[Value], cotangents: dict[int, Value]
) -> Value:
    """Write a part, whose cotangent is kept for the pullback of all."""
    op: Op = builder.operation(operator.getitem, [whole, constant(place)])
    x = op.target
    if not (x.is_array or x.is_scalar):
        raise Unsound.NO_FLOAT("a differentiated value is not a float")
    op.check = not isinstance(x.fact, Scalar) or op.check
    x.fresh = x.made = False
    for y in operands:
        if y.is_array and x.is_array and shares_memory(x.sample, y.sample):
            if builder.storage(y).may_be_written:
                raise Unsound.SHARED_WRITE(
                    "a rule returns views of an array that may be written to"
                )
            x.base = builder.storage(y)
    if can_carry(x.fact):
        x.active = True
        op.active_operands, op.reverse_rule = [], KeptPart(place, cotangents)
    return x


class KeptPart:
    """Through a part: its cotangent waits for those of the others."""

    def __init__(self, place: int, cotangents: dict[int, Value]) -> None:
        self.place, self.cotangents = place, cotangents

    def back(self, builder: Builder, dy: Value) -> list[Contribution]:
        """Keep the cotangent."""
        self.cotangents[self.place] = dy
        return []
