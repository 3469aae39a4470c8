"""General rules: the body of the pullback is inlined, or the pullback is called if it cannot be."""

import operator
from dataclasses import dataclass
from typing import Any

import numpy as np

from zygote_lite._specialize.rules.contributions import Contribution, IndexRule
from zygote_lite._specialize.rules.project import SINGLE, projected
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.facts import ArrayOf, dtypes_of, may_be_complex
from zygote_lite._specialize.typed.reasons import NotSupported
from zygote_lite._specialize.typed.runtime import call_back, call_parts
from zygote_lite._specialize.typed.stand_ins import Local
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
        return isinstance(found.sample, Local)
    shared, parts = _shared_and_parts(found.items)
    given = parts if shared is None else [shared, *parts]
    return all(isinstance(f.sample, Local) or f.sample is None for f in given)


def cotangents_of(builder: Builder, found: Value) -> list[Value]:
    """Return the items of the tuple that a pullback returns."""
    if found.items is not None:
        return found.items
    if not isinstance(found.sample, tuple):
        raise NotSupported.RULE_FORM("a rule does not give its cotangents one by one")
    if found.is_constant:
        return [constant(d) for d in found.sample]
    parts = []
    for i in range(len(found.sample)):
        # in another run it may be another kind of cotangent
        op = builder.operation(operator.getitem, [found, constant(i)], certain=False)
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
                "it calls a pullback that is not inlined, and differentiates it again"
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
                raise NotSupported.RULE_FORM("a rule gives a cotangent of another kind")
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
