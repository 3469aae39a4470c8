"""Linear rules: the adjoint is inlined, and projected to the operands."""

import operator
from dataclasses import dataclass
from typing import Any

from zygote_lite._specialize.rules.contributions import Contribution
from zygote_lite._specialize.rules.project import projected
from zygote_lite._specialize.rules.pullback import NO_COTANGENT, cotangents_of, has_kind_of
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.reasons import NotSupported
from zygote_lite._specialize.typed.structures import structure
from zygote_lite._specialize.typed.values import Value, constant


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
        raise NotSupported.RULE_FORM("an adjoint gives another number of parts")
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
