"""Inlined rules: the reverse of one operation, from the source of its rule."""

import operator
from dataclasses import dataclass
from typing import Any

import numpy as np

from zygote_lite._ir.traits import is_pure
from zygote_lite._specialize.rules.contributions import Contribution, IndexRule
from zygote_lite._specialize.rules.project import projected
from zygote_lite._specialize.typed.abstract_eval import mark_made, shares_memory
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.nodes import Op, StoreItem, leaves
from zygote_lite._specialize.typed.plugins import is_of_plugin
from zygote_lite._specialize.typed.reasons import NotSpecializable, NotSupported, Unsound
from zygote_lite._specialize.typed.runtime import (
    call_back,
    call_parts,
    chosen_product,
    strong_product,
)
from zygote_lite._specialize.typed.values import (
    ArrayOf,
    Attribute,
    Local,
    Scalar,
    Value,
    can_carry,
    constant,
    is_one,
    shape_root,
    shares_axes,
    structure,
)


@dataclass(eq=False)
class ScalarRule:
    """The reverse through an elementwise rule: the cotangent times the partial derivatives."""

    rule: Any
    xs: list[Value]
    out: Value
    alike: list[bool]  # whether the operand has the shape of the result

    def back(self, builder: Builder, dy: Value) -> list[Contribution]:
        """Write the cotangents of the operands that are active, and return them."""
        if builder.strong or (self.rule.poles and any(_warns(x) for x in self.xs)):
            builder.poles = True
        parts = self._partials(builder)
        found: list[Contribution] = []
        for x, partial, alike in zip(self.xs, parts, self.alike, strict=True):
            if not x.active or (partial.is_constant and partial.sample is None):
                found.append(None)
                continue
            product = _strong_times if builder.strong else times
            d = product(builder, dy, partial, self.out)
            if builder.strong and self.rule.chooses and d in builder.definitions:
                op = builder.definitions[d]
                op.function = chosen_product if op.function is strong_product else op.function
            if d in builder.definitions and not partial.is_constant:
                builder.definitions[d].suspect = True
            arrays = isinstance(d.fact, ArrayOf) and isinstance(x.fact, ArrayOf)
            if not (alike and arrays and d.sample.dtype == x.sample.dtype):
                d = projected(builder, d, x)
            found.append(d)
        return found

    def _partials(self, builder: Builder) -> list[Value]:
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
                f"the rule {self.rule.signature} gives another number of partial derivatives"
            )
        return parts


def _warns(x: Value) -> bool:
    """Return whether NumPy computes with a value, which warns of infinities."""
    return x.is_array or (isinstance(x.fact, Scalar) and not x.fact.classes <= {float, int, bool})


def times(builder: Builder, dy: Value, partial: Value, out: Value) -> Value:
    """Write the product of a cotangent and a partial derivative, in its simplest form."""
    if partial.is_constant and type(partial.sample) in (int, float):
        if partial.sample == 1:
            return dy
        if partial.sample == -1:
            return _operation(builder, operator.neg, dy)
    unit = dy.is_constant and type(dy.sample) is float and dy.sample in (1.0, -1.0)
    if unit and can_carry(partial.fact) and shares_axes(partial.fact, out.fact):
        return partial if dy.sample == 1 else _operation(builder, operator.neg, partial)
    if dy.spread is not None and shares_axes(partial.fact, out.fact):
        dy = dy.spread
    made = builder.definitions.get(partial)
    if made is not None and made.function is operator.truediv and is_one(made.arguments[0]):
        return _operation(builder, operator.truediv, dy, made.arguments[1])
    if made is not None and made.function is operator.neg:
        return _operation(builder, operator.neg, times(builder, dy, made.arguments[0], out))
    return _operation(builder, operator.mul, dy, partial)


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


@dataclass(eq=False)
class InlinedPullback:
    """The reverse through a general rule: the body of its pullback is inlined."""

    pullback: Value  # of a function, or of a tuple of functions
    xs: list[Value]

    def back(self, builder: Builder, dy: Value) -> list[Contribution]:
        """Write the cotangents of the operands, and return them."""
        if self.pullback.items is None:
            parts = _cotangents_of(builder, builder.body_of(self.pullback.sample, [dy]))
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
                _has_kind_of(d, x)
        return contributions


NO_COTANGENT = constant(None)


def _shared_and_parts(items: list[Value]) -> tuple[Value | None, list[Value]]:
    """Return what the parts of a pullback share, if they do, and the parts."""
    if len(items) == 2 and items[1].items is not None:
        return items[0], items[1].items
    return None, items


def _is_pullback(found: Value) -> bool:
    """Return whether a value is a function that is defined in a rule, or a tuple of such."""
    if found.items is None:
        return isinstance(found.sample, Local)
    shared, parts = _shared_and_parts(found.items)
    given = parts if shared is None else [shared, *parts]
    return all(isinstance(f.sample, Local) or f.sample is None for f in given)


def _cotangents_of(builder: Builder, found: Value) -> list[Value]:
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


def _has_kind_of(d: Value, x: Value) -> None:
    """Note that a cotangent has the shape of its primal, as rules promise."""
    if not (isinstance(d.fact, ArrayOf) and isinstance(x.fact, ArrayOf)):
        return
    if d.fact.dtype == x.fact.dtype and len(d.fact.axes) == len(x.fact.axes):
        d.fact = x.fact
        if shape_root(x) is not shape_root(d):
            shape_root(d).shaped = shape_root(x)


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
        parts = [found] if len(linear) == 1 else _cotangents_of(builder, found)
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
        _has_kind_of(d, x)
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


def active_call(
    builder: Builder, rule: Any, f: Any, xs: list[Value], kws: dict[str, Value], stem: str
) -> Value:
    """Write an active call, with its reverse; return its value."""
    is_part = f is operator.getitem and xs[0].is_array
    if is_part and any(leaf.active and can_carry(leaf.fact) for leaf in leaves(xs[1])):
        raise Unsound.LOST_GRADIENT("an index is not an integer")
    if rule.kind == "scalar" and (kws or len(xs) != len(rule.types)):
        raise NotSupported.RULE_FORM("an elementwise function is given options")
    known = builder.reusable(f, xs, kws)
    if known is not None and known in builder.known and builder.known[known].active:
        return builder.known[known]
    if not (rule.kind == "scalar" or (is_part and not builder.twice)):
        return _by_rule(builder, rule, f, xs, kws, stem)
    kept = [snapshot(builder, x) for x in (xs[1:] if is_part else xs)]
    op = builder.operation(f, xs, kws, stem)
    if is_part:
        _be_active(op, xs[:1])
        op.reverse_rule = IndexRule(kept[0])
    else:
        _be_active(op, xs)
        root = shape_root(op.target)
        alike = [x.is_array and shape_root(x) is root for x in xs]
        op.reverse_rule = ScalarRule(rule, kept, op.target, alike)
    if known is not None:
        builder.known[known] = op.target
    return op.target


def _by_rule(
    builder: Builder, rule: Any, f: Any, xs: list[Value], kws: dict[str, Value], stem: str
) -> Value:
    """Write a call by a general rule: inlined, or called where it cannot be."""
    mark = builder.mark()
    write = _linear if rule.kind == "linear" else _inlined
    try:
        y = write(builder, rule, f, xs, kws, stem)
    except NotSpecializable:
        builder.back_to(mark)
        y = _opaque(builder, rule, f, xs, kws, stem)
    if f is operator.getitem and xs[0].is_array:
        op = builder.definitions[y]
        op.reverse_rule = IndexRuleTwice(op.reverse_rule, IndexRule(snapshot(builder, xs[1])))
    return y


def _be_active(op: Op, xs: list[Value]) -> None:
    if not can_carry(op.target.fact):
        raise Unsound.NO_FLOAT("a value that depends on a differentiated argument is not a float")
    op.target.active = True
    op.active_operands = xs


def _inlined(
    builder: Builder, rule: Any, f: Any, xs: list[Value], kws: dict[str, Value], stem: str
) -> Value:
    """Write the forward part of a rule, whose pullback can be taken over."""
    start = len(builder.out)
    kept = [snapshot(builder, x) for x in xs]
    options = {name: snapshot(builder, x) for name, x in kws.items()}
    plain, recording = builder.plain, builder.recording
    builder.plain, builder.recording = True, False
    try:
        found = builder.body_of(rule.body, kept, options)
    finally:
        builder.plain, builder.recording = plain, recording
    if found.items is None or len(found.items) != 2:
        raise NotSupported.RULE_FORM("a rule that returns no pair")
    y, pullback = found.items
    if not _is_pullback(pullback) or y.items is not None:
        raise NotSupported.RULE_FORM(
            "the value of a rule is a structure, or its pullback is not defined inside"
        )
    made = builder.out[start:]
    op = next((n for n in made if isinstance(n, Op) and n.target is y), None)
    if op is None or op.snapshot_of is not None or any(isinstance(n, StoreItem) for n in made):
        raise NotSupported.RULE_FORM("the value of a rule is not computed by one call")
    op.function, op.arguments, op.keywords = f, xs, kws
    op.required = not plain
    if stem:
        y.name = builder.name(stem)
    _be_active(op, xs)
    mark_made(f, y)
    op.reverse_rule = InlinedPullback(
        pullback, [x if x.active else k for x, k in zip(xs, kept, strict=True)]
    )
    return y


def _linear(
    builder: Builder, rule: Any, f: Any, xs: list[Value], kws: dict[str, Value], stem: str
) -> Value:
    """Write a call of a linear function, whose adjoint is its reverse."""
    if not (is_pure(f) or is_of_plugin(rule.body.__globals__)):
        raise Unsound.EFFECTS(
            f"a call of {getattr(f, '__name__', f)} on samples might have effects"
        )
    kept = [snapshot(builder, x) for x in xs]
    options = {name: snapshot(builder, x) for name, x in kws.items()}
    op = builder.operation(f, xs, kws, stem)
    _be_active(op, xs)
    mark_made(f, op.target)
    operands = [x if x.active else k for x, k in zip(xs, kept, strict=True)]
    op.reverse_rule = AdjointRule(rule, operands, options)
    return op.target


def _opaque(
    builder: Builder, rule: Any, f: Any, xs: list[Value], kws: dict[str, Value], stem: str
) -> Value:
    """Write a call of a rule that is not inlined, for its value and its pullback."""
    if any(not x.is_array and not x.is_scalar and not x.is_constant for x in xs):
        raise NotSupported.RULE_OPERAND(f"the rule {rule.signature} is given a structure")
    if not is_of_plugin(rule.body.__globals__):
        raise Unsound.EFFECTS(f"a call of the rule {rule.signature} on samples might have effects")
    f = f.descriptor if isinstance(f, Attribute) else f
    given = [constant(f), *(snapshot(builder, x) for x in xs)]
    kws = {name: snapshot(builder, x) for name, x in kws.items()}
    both = builder.operation(rule, given, kws).target
    op = builder.operation(operator.getitem, [both, constant(0)], stem=stem)
    _be_active(op, xs)
    op.check = not isinstance(op.target.fact, Scalar) or op.check
    op.target.fresh = op.target.made = False
    for x in given[1:]:
        if x.is_array and op.target.is_array and shares_memory(op.target.sample, x.sample):
            op.target.base = builder.storage(x)
    back = builder.operation(operator.getitem, [both, constant(1)], certain=True).target
    op.reverse_rule = CalledPullback(back, xs)
    return op.target


def snapshot(builder: Builder, x: Value) -> Value:
    """Return an operand, or a copy if it may be overwritten before the reverse pass reads it."""
    if builder.plain or builder.twice:  # where it is differentiated twice, nothing is
        return x
    if x.items is not None:
        kept = [snapshot(builder, item) for item in x.items]
        if all(a is b for a, b in zip(kept, x.items, strict=True)):
            return x
        if type(x.sample) not in (tuple, list):
            raise Unsound.SHARED_WRITE(
                f"it has a {type(x.sample).__name__} of arrays that it writes to"
            )
        return structure(type(x.sample), kept)
    if not x.may_be_written or not x.is_array:
        return x
    op = builder.operation(np.ndarray.copy, [x])
    op.target.active = x.active
    op.snapshot_of, op.required = x, False
    return op.target
