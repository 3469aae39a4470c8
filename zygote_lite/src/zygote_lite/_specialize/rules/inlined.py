"""An active call, written with its reverse: its rule is inlined, or called where it cannot be."""

import operator
from typing import Any

import numpy as np

from rulescore import rrule
from rulescore.faults import an
from zygote_lite._ir.traits import is_pure
from zygote_lite._specialize.rules.contributions import IndexRule
from zygote_lite._specialize.rules.pullback import (
    AdjointRule,
    CalledPullback,
    IndexRuleTwice,
    InlinedPullback,
    is_pullback,
    parts_of_rule,
)
from zygote_lite._specialize.rules.scalar import ScalarRule
from zygote_lite._specialize.typed.abstract_eval import mark_made, shares_memory
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.facts import Scalar, can_carry
from zygote_lite._specialize.typed.functions import Attribute
from zygote_lite._specialize.typed.nodes import Op, StoreItem, leaves
from zygote_lite._specialize.typed.plugins import is_of_plugin, is_of_program
from zygote_lite._specialize.typed.reasons import NotSpecializable, NotSupported, Unsound
from zygote_lite._specialize.typed.structures import structure
from zygote_lite._specialize.typed.values import Value, constant, shape_root


def active_call(
    builder: Builder, rule: Any, f: Any, xs: list[Value], kws: dict[str, Value], stem: str
) -> Value:
    """Write an active call, with its reverse; return its value."""
    is_part = f is operator.getitem and xs[0].is_array
    if is_part and any(leaf.active and can_carry(leaf.fact) for leaf in leaves(xs[1])):
        raise Unsound.LOST_GRADIENT("an index depends on a differentiated argument")
    if any(xs[position].active for position in rule.refuses):
        raise NotSupported.NO_RULE(f"the rule {rule.signature} refuses a derivative")
    if rule.kind == "scalar" and (kws or len(xs) != len(rule.types)):
        raise NotSupported.RULE_FORM(
            "an elementwise function gets options, such as `out` or `where`"
        )
    known = builder.reusable(f, xs, kws)
    if known is not None and known in builder.known and builder.known[known].active:
        return builder.known[known]
    if not (rule.kind == "scalar" or (is_part and not builder.twice)):
        return _by_rule(builder, rule, f, xs, kws, stem)
    kept = [snapshot(builder, x) for x in (xs[1:] if is_part else xs)]
    op = builder.operation(f, xs, kws, stem)
    if is_part:
        be_active(op, xs[:1])
        op.reverse_rule = IndexRule(kept[0])
    elif can_carry(op.target.fact) or not _has_no_partials(f, xs):
        be_active(op, xs)
        root = shape_root(op.target)
        alike = [x.is_array and shape_root(x) is root for x in xs]
        op.reverse_rule = ScalarRule(rule, kept, op.target, alike)
    if known is not None:
        builder.known[known] = op.target
    return op.target


def _by_rule(
    builder: Builder, rule: Any, f: Any, xs: list[Value], kws: dict[str, Value], stem: str
) -> Value:
    """Write a call by a general rule: inlined, or called where it cannot be.

    A second derivative goes through the body of the rule, as on the tape. Code has that of the rule
    twice, which is another one where a rule is not the derivative of its body; those of plugins,
    which are checked, are.
    """
    if rule.kind == "general" and (builder.twice or builder.inner) and is_of_program(rule):
        raise NotSupported.SECOND_ORDER(
            f"it takes a second derivative of the rule {rule.signature}, which no plugin has"
        )
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


def _has_no_partials(f: Any, xs: list[Value]) -> bool:
    """Return whether the rule of a function gives no cotangent, as that of `round(x)` does."""
    if not all(x.is_scalar for x in xs):
        return False
    applied = rrule(f, *[x.sample if x.is_constant else type(x.sample)(1.5) for x in xs])
    return applied is not None and {*applied[1](1.0)} == {None}


def be_active(op: Op, xs: list[Value]) -> None:
    if not can_carry(op.target.fact):
        raise Unsound.NO_FLOAT("a differentiated value is not a float")
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
        raise NotSupported.RULE_FORM(
            "a rule does not return a pair: return the value and its pullback"
        )
    y, pullback = found.items
    if not is_pullback(pullback) or y.items is not None:
        raise NotSupported.RULE_FORM(
            "a rule returns a tuple or list as its value, or a pullback that it does not define "
            "itself"
        )
    made = builder.out[start:]
    op = next((n for n in made if isinstance(n, Op) and n.target is y), None)
    if op is None or op.snapshot_of is not None or any(isinstance(n, StoreItem) for n in made):
        raise NotSupported.RULE_FORM("a rule does not compute its value by one call")
    if op.function is not f:  # a later call of what the body calls has a derivative of its own
        builder.known = {key: known for key, known in builder.known.items() if known is not y}
    op.function, op.arguments, op.keywords = f, xs, kws
    op.required = not plain
    if stem:
        y.name = builder.name(stem)
    be_active(op, xs)
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
        raise Unsound.EFFECTS(f"it calls {getattr(f, '__name__', f)}, which may have side effects")
    kept = [snapshot(builder, x) for x in xs]
    options = {name: snapshot(builder, x) for name, x in kws.items()}
    op = builder.operation(f, xs, kws, stem)
    be_active(op, xs)
    mark_made(f, op.target)
    operands = [x if x.active else k for x, k in zip(xs, kept, strict=True)]
    op.reverse_rule = AdjointRule(rule, operands, options)
    return op.target


def _opaque(
    builder: Builder, rule: Any, f: Any, xs: list[Value], kws: dict[str, Value], stem: str
) -> Value:
    """Write a call of a rule that is not inlined, for its value and its pullback."""
    if any(not (x.is_array or x.is_scalar or x.is_constant or x.is_known_by_rule) for x in xs):
        raise NotSupported.RULE_OPERAND(
            f"the rule {rule.signature} gets a tuple, list, dict or object"
        )
    if not is_of_plugin(rule.body.__globals__):
        raise Unsound.EFFECTS(f"the rule {rule.signature} may have side effects")
    f = f.descriptor if isinstance(f, Attribute) else f
    given = [constant(f), *(snapshot(builder, x) for x in xs)]
    kws = {name: snapshot(builder, x) for name, x in kws.items()}
    both = builder.operation(rule, given, kws).target
    if isinstance(both.sample[0], tuple | list):
        return parts_of_rule(builder, both, xs, given[1:])
    op = builder.operation(operator.getitem, [both, constant(0)], stem=stem)
    be_active(op, xs)
    op.check = not isinstance(op.target.fact, Scalar) or op.check
    op.target.fresh = op.target.made = False
    for x in given[1:]:
        if x.is_array and op.target.is_array and shares_memory(op.target.sample, x.sample):
            op.target.base = builder.storage(x)
    back = builder.operation(operator.getitem, [both, constant(1)], certain=True).target
    op.reverse_rule = CalledPullback(back, xs)
    return op.target


def value_of_pair(builder: Builder, both: Value, xs: list[Value], stem: str) -> Value:
    """Write what takes the value out of a pair; the other part is its pullback."""
    op = builder.operation(operator.getitem, [both, constant(0)], stem=stem)
    be_active(op, xs)
    op.check = True
    op.target.fresh = op.target.made = False
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
                f"it has {an(type(x.sample).__name__)} of arrays that it writes to: store copies"
            )
        return structure(type(x.sample), kept)
    if not x.may_be_written or not x.is_array:
        return x
    op = builder.operation(np.ndarray.copy, [x])
    op.target.active = x.active
    op.snapshot_of, op.required = x, False
    return op.target
