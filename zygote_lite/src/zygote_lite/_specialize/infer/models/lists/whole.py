"""Lists that are read as a whole: repeated, joined, copied and summed.

Each gives a new value, and its cotangent goes back to the lists in one piece.
"""

import operator
from dataclasses import dataclass

from zygote_lite._specialize.infer.models.lists.items import settled
from zygote_lite._specialize.rules.contributions import (
    Contribution,
    Each,
    LinearRule,
    Scatter,
)
from zygote_lite._specialize.typed.abstract_eval import Result, result_of, run
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.facts import (
    DOUBLES,
    ArrayOf,
    ListOf,
    Scalar,
    can_carry,
    fact_of,
    join_facts,
    without_lengths,
)
from zygote_lite._specialize.typed.reasons import NotSupported, Unsound
from zygote_lite._specialize.typed.runtime import zeros
from zygote_lite._specialize.typed.structures import structure
from zygote_lite._specialize.typed.values import Value, constant, list_root


@dataclass(eq=False)
class RepeatRule:
    """Through `[a, b] * n`: the cotangent of an item is the sum of those of its copies."""

    items: list[Value]

    def back(self, builder: Builder, dy: Value) -> list[Contribution]:
        """Write the cotangents of the items."""
        found: list[Contribution] = []
        for i in range(len(self.items)):
            part = dy
            if len(self.items) > 1:
                every = structure(slice, [constant(i), constant(None), constant(len(self.items))])
                made = Result(dy.fact, dy.sample)
                part = builder.write(made, operator.getitem, [dy, every], {}).target
            total = builder.write(Result(Scalar(DOUBLES), 1.0), sum, [part, constant(0.0)], {})
            found.append(total.target)
        return [d if a.active else None for a, d in zip(self.items, found, strict=True)]


def repeated(builder: Builder, x: Value, count: Value) -> Value:
    """Write `[a] * n`."""
    if not x.items or any(not a.is_scalar for a in x.items):
        raise NotSupported.LIST_OPERATION("it repeats a list of something other than numbers")
    if any(a.active and join_facts(a.fact, Scalar(DOUBLES)) != Scalar(DOUBLES) for a in x.items):
        raise NotSupported.LIST_OPERATION("it repeats a list of numbers that are not float64")
    fact = x.items[0].fact
    for a in x.items[1:]:
        fact = join_facts(fact, a.fact)
    sample = run(operator.mul, [x.sample, count.sample], {})
    given = structure(list, [*x.items])
    op = builder.write(Result(ListOf(fact), sample), operator.mul, [given, count], {})
    op.target.made = True
    if any(a.active for a in x.items) and builder.follows:
        op.target.active = True
        op.reverse_rule, op.active_operands = RepeatRule(given.items or []), given.items or []
    return op.target


def joined_lists(builder: Builder, a: Value, b: Value) -> Value:
    """Write `a + b`, a new list."""
    facts = [settled(x).item for x in (a, b)]
    if any(not isinstance(fact, Scalar | ArrayOf) for fact in facts):
        raise NotSupported.LIST_OPERATION("it joins lists of other things than numbers")
    first, second = [fact for fact in facts if fact is not None]
    result = Result(ListOf(join_facts(first, second)), [*a.sample, *b.sample])
    op = builder.write(result, operator.add, [a, b], {})
    op.target.made = True
    if builder.follows and (list_root(a).active or list_root(b).active):
        length = builder.write(result_of(len, [a], {}), len, [a], {}).target
        ends = [(constant(None), length), (length, constant(None))]
        parts = [structure(slice, [*end, constant(None)]) for end in ends]
        op.target.active = True
        op.reverse_rule, op.active_operands = PartsRule([a, b], parts), [a, b]
    return op.target


@dataclass(eq=False)
class PartsRule:
    """Through `a + b` of lists: each takes its part of the cotangent."""

    lists: list[Value]
    parts: list[Value]

    def back(self, builder: Builder, dy: Value) -> list[Contribution]:
        """Write the cotangents of both."""
        found: list[Contribution] = []
        for x, part in zip(self.lists, self.parts, strict=True):
            result = Result(x.fact, zeros(x.sample))
            d = builder.write(result, operator.getitem, [dy, part], {}).target
            found.append(d if list_root(x).active else None)
        return found


def copied(builder: Builder, x: Value, part: Value | None = None) -> Value:
    """Write `list(x)` or `x[i:j]`, a new list."""
    fact = settled(x)
    rows = isinstance(fact.item, ListOf)
    if rows and x.made:
        raise Unsound.SHARED_WRITE("it copies a list of lists, whose rows the copy would share")
    if part is None:
        op = builder.write(Result(fact, [*x.sample]), list, [x], {})
    else:
        op = builder.write(Result(fact, x.sample[part.sample]), operator.getitem, [x, part], {})
    op.target.made = not rows
    if list_root(x).active and builder.follows:
        op.target.active = True
        op.reverse_rule, op.active_operands = (
            LinearRule(lambda dy: [dy if part is None else Scatter(part, dy)]),
            [x],
        )
    return op.target


def total(builder: Builder, xs: list[Value]) -> Value:
    """Write `sum(x)`."""
    fact = settled(xs[0])
    start = xs[1:]
    if any(not x.is_constant and x.fact != Scalar(frozenset((float,))) for x in start):
        raise NotSupported.LIST_OPERATION("it sums a list from a start that is not a constant")
    sample = run(sum, [x.sample for x in xs], {})
    if isinstance(fact.item, ArrayOf):
        result = Result(without_lengths(fact_of(sample)), sample, certain=False)
    elif not isinstance(fact.item, Scalar):
        raise NotSupported.LIST_OPERATION("it sums a list of something other than numbers")
    else:
        kinds = {type(run(operator.add, [kind(1), sample], {})) for kind in fact.item.classes}
        result = Result(Scalar(frozenset(kinds | {type(sample)})), sample, certain=False)
    op = builder.write(result, sum, xs, {})
    active = [list_root(xs[0]).active, *(x.active for x in start)]
    if any(active) and builder.follows and can_carry(result.fact):
        op.target.active = True
        op.active_operands = [x for x, flag in zip(xs, active, strict=True) if flag]
        op.reverse_rule = LinearRule(
            lambda dy: [Each(dy) if x is xs[0] else dy for x in op.active_operands]
        )
    return op.target
