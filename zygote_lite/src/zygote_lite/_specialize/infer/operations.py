"""A call that is one operation: of a rule, where a gradient passes, or of a pure function."""

import inspect
import operator
from collections import OrderedDict, defaultdict, deque
from typing import Any

import numpy as np

from rulescore import accumulate, find_rule, rrule, rules_of, stop_gradient
from rulescore.faults import an
from zygote_lite._ir.names import name_of
from zygote_lite._ir.traits import is_pure
from zygote_lite._specialize.infer.held import containers as _held
from zygote_lite._specialize.infer.islands import inlined_or_island
from zygote_lite._specialize.infer.iteration.known import Several, as_they_are_now
from zygote_lite._specialize.infer.models import operators as _operators
from zygote_lite._specialize.rules.inlined import active_call
from zygote_lite._specialize.typed.abstract_eval import (
    mark_made,
    refuse_types,
    run,
)
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.facts import COMPLEXES, FLOATS, Scalar, can_carry
from zygote_lite._specialize.typed.functions import Attribute, is_hashable
from zygote_lite._specialize.typed.nodes import leaves
from zygote_lite._specialize.typed.plugins import is_of_plugin
from zygote_lite._specialize.typed.reasons import NotSpecializable, NotSupported, Unsound
from zygote_lite._specialize.typed.stand_ins import (
    StandIn,
    Unfollowed,
)
from zygote_lite._specialize.typed.structures import structure
from zygote_lite._specialize.typed.values import FOLDED, Value, constant, is_one
from zygote_lite._tape.arguments import moved, positional_run
from zygote_lite._tape.rules import handed_in
from zygote_lite.caches import cached

_GIVING_VIEWS = (np.split, np.array_split, np.hsplit, np.vsplit, np.dsplit)
"""Functions whose source tells which parts of an array they give."""


def active(builder: Builder, f: Any, xs: list[Value], kws: dict[str, Value], stem: str) -> Value:
    rule = rule_of(f, xs, kws)
    if rule is None and kws:
        rule, xs, kws = _given_by_position(f, xs, kws)
    if rule is None:
        _refuse_operands_by_name(f, kws)
    if rule is not None and any(map(_operators.holds_object, xs)):
        raise NotSupported.RULE_OPERAND(
            f"it passes an object to a function with the rule {rule.signature}"
        )
    if rule is not None and any(map(_holds_set, xs)):
        raise NotSupported.RULE_OPERAND(
            f"it passes a set to a function with the rule {rule.signature}"
        )
    if getattr(f, "__name__", None) in _IN_ORDER and any(map(_is_of_memory, (*xs, *kws.values()))):
        raise NotSupported.RULE_OPERAND(
            "the order of entries depends on how an array lies in memory"
        )
    inner = getattr(f, "_implementation", None)
    if rule is not None and _would_lose_gradient(rule, xs):
        if inner is None:
            raise Unsound.LOST_GRADIENT("an option depends on a differentiated argument")
        rule = None  # its source tells more
    if rule is None or (f in _GIVING_VIEWS and any(x.may_be_written for x in xs)):
        f = f if inner is None else inner
        if hasattr(f, "__code__"):
            return inlined_or_island(builder, f, xs, kws, stem)
        if is_pure(f) and not kws:
            refuse_types(f, xs)
        raise NotSupported.NO_RULE(
            f"there is no rule for {getattr(f, '__name__', f)} of these types"
        )
    if any(leaf.active and isinstance(leaf.sample, str) for x in xs for leaf in leaves(x)) and (
        rule.kind != "constant"
        or (isinstance(f, type) and issubclass(f, int | float | complex | np.number))
    ):
        raise Unsound.NO_FLOAT("it makes a number of the text of a differentiated value")
    _held.refuse_inside(xs)
    _refuse_overwriting(f, xs, kws)
    xs = [as_they_are_now(x) for x in xs]
    if any(leaf.active for x in kws.values() for leaf in leaves(x)):
        raise Unsound.LOST_GRADIENT("an option depends on a differentiated argument")
    if rule.kind == "constant":
        with_source = hasattr(f, "__code__") and not is_pure(f)
        found = (_cut_off if with_source else inactive)(builder, f, xs, kws, stem)
        if isinstance(found.sample, bytes):  # numbers may be made of it, whose gradient is refused
            raise Unsound.NO_FLOAT("it makes bytes of a differentiated value")
        if isinstance(found.sample, str):
            found.active = True  # so that numbers that are made of it are refused
        return found
    if rule.kind == "instance" or rule.needs_ad:
        raise asks_for_more(rule)
    return active_call(builder, rule, f, xs, kws, stem)


def _given_by_position(
    f: Any, xs: list[Value], kws: dict[str, Value]
) -> tuple[Any, list[Value], dict[str, Value]]:
    """Return the rule for a call whose arguments by name are given by position, and that call.

    The order is that of the tape.
    """
    flags = [any(leaf.active for leaf in leaves(x)) for x in kws.values()]
    moving = moved(f, tuple(xs), kws, (None,) * (1 + len(xs)) + tuple(flags))
    named = {name: x if isinstance(x, Value) else constant(x) for name, x in moving.items()}
    run = positional_run(f, tuple(xs), kws, named)
    for end in range(len(run) + 1):
        first = {**named, **{name: kws[name] for name in run[:end]}}
        rest = {name: x for name, x in kws.items() if name not in first}
        given = [*xs, *first.values()]
        rule = rule_of(f, given, rest)
        if rule is None:
            continue
        options = [] if rule.varargs is not None else given[len(rule.types) :]
        if any(leaf.active for x in options for leaf in leaves(x)):
            break  # an integer, too: the tape may know another rule, which differentiates it
        return rule, given, rest
    return None, xs, kws


def _would_lose_gradient(rule: Any, xs: list[Value]) -> bool:
    """Return whether an operand depends on a differentiated argument that a rule has as an option.

    An integer is a choice, such as an axis.
    """
    if rule.varargs is not None or rule.kind not in ("general", "linear"):
        return False
    options = [leaf for x in xs[len(rule.types) :] for leaf in leaves(x)]
    return any(leaf.active and can_carry(leaf.fact) for leaf in options)


def _refuse_overwriting(f: Any, xs: list[Value], kws: dict[str, Value]) -> None:
    """Leave it to the rule that a function of a library may write to its operands."""
    names = _names_of_operands(f) if is_hashable(f) else ()
    for name, x in (*zip(names, xs, strict=False), *kws.items()):
        if name.startswith("overwrite_") and not (x.is_constant and not x.sample):
            raise Unsound.WRITES_TO_GIVEN(
                f"it calls {name_of(f)} with `{name}`: leave the option out"
            )


@cached(1024)
def _names_of_operands(f: Any) -> tuple[str, ...]:
    try:
        return tuple(inspect.signature(f).parameters)
    except (TypeError, ValueError):  # of a builtin
        return ()


_IN_ORDER = ("ravel", "flatten", "reshape")


def _is_of_memory(x: Value) -> bool:
    """Return whether an option names an order that the memory of an array decides on."""
    return x.is_constant and isinstance(x.sample, str) and x.sample.upper() in ("A", "K")


def _holds_set(x: Value) -> bool:
    """Return whether a value is a set, or a structure with one: the code never makes one."""
    return isinstance(x.sample, set | frozenset) or any(map(_holds_set, x.items or ()))


def _cut_off(
    builder: Builder, f: Any, xs: list[Value], kws: dict[str, Value], stem: str
) -> Value:  # fmt: skip
    """Write the body of a function whose rule says that no gradient passes, on copies."""
    given = [_without_gradient(builder, x) for x in xs]
    kws = {name: _without_gradient(builder, x) for name, x in kws.items()}
    operands = [*given, *kws.values()]
    if f is stop_gradient:
        return operands[0]
    before = {id(leaf) for x in xs for leaf in leaves(x)}
    copies = [x for new in operands for x in leaves(new) if x.is_array and id(x) not in before]
    outer = builder.unwritten
    builder.unwritten = outer | {builder.storage(x) for new in operands for x in leaves(new)}
    try:
        y = inlined_or_island(builder, f, given, kws, stem)
    finally:
        builder.unwritten = outer
    known = {id(builder.storage(x)) for x in leaves(y)}
    holds_others = any(not (x.is_array or x.is_scalar or x.is_constant) for x in leaves(y))
    if any(leaf.active for leaf in leaves(y)) or (
        copies and (holds_others or not known.isdisjoint(map(id, copies)))
    ):
        raise Unsound.SHARED_WRITE(
            f"{f.__name__}, which has no gradient, returns one of its arguments"
        )
    return y


def _without_gradient(builder: Builder, x: Value) -> Value:
    """Return a copy of a number or an array through which no gradient passes.

    In the code of a gradient inside, the outer gradient may pass through what is inactive there.
    """
    if type(x.sample) is tuple and x.items is not None:
        return structure(tuple, [_without_gradient(builder, part) for part in x.items])
    if not any(leaf.active or (builder.inner and _may_carry_outside(leaf)) for leaf in leaves(x)):
        return x
    if not (x.is_array or x.is_scalar):
        raise NotSupported.RULE_OPERAND(
            "a function without gradient gets a list, dict or object: pass numbers and arrays"
        )
    copy = inactive(builder, operator.pos, [x], {})
    copy.made = x.is_array  # so that a write is one to this array, and no other copy
    builder.severed.add(copy)
    return copy


def _rule_of_outer_gradient(f: Any, xs: list[Value], kws: dict[str, Value]) -> Any:
    """Return the rule of a function by which the outer gradient passes, not by its source."""
    if not any(_may_carry_outside(leaf) for x in (*xs, *kws.values()) for leaf in leaves(x)):
        return None
    rule = rule_of(f, xs, kws)
    if rule is None:
        _refuse_operands_by_name(f, kws)
    return rule


def _refuse_operands_by_name(f: Any, kws: dict[str, Value]) -> None:
    """Leave it to the tape which operands of a rule a call gives by name."""
    if kws and hasattr(f, "__code__") and rules_of(f):
        raise NotSupported.RULE_FORM(
            f"it passes arguments by name to {name_of(f)}, which has a rule: pass them by position"
        )


def _may_carry_outside(x: Value) -> bool:
    return not x.is_constant and (can_carry(x.fact) or not (x.is_array or x.is_scalar))


def asks_for_more(rule: Any) -> NotSpecializable:
    return NotSupported.RULE_FORM(
        f"the rule {rule.signature} takes the engine, or calls another function"
    )


def refuse_rule(f: Any, xs: list[Value], kws: dict[str, Value]) -> None:
    """Leave a call to the tape where a rule answers.

    The rule counts, and not the source of the function, which would be written in its place.
    """
    rule = rule_of(f, xs, kws)
    if rule is not None and rule.needs_ad:
        raise asks_for_more(rule)
    if rule is not None and hasattr(f, "__code__") and not is_pure(f):
        raise NotSupported.RULE_OPERAND(
            "it passes a function, an object or a list that changes to a function with the rule "
            f"{rule.signature}"
        )


def rule_of(f: Any, xs: list[Value], kws: dict[str, Value]) -> Any:
    """Return the one rule that answers for all types that the arguments may have."""
    f = f.descriptor if isinstance(f, Attribute) else f
    given = [x.sample for x in xs]
    options = {name: x.sample for name, x in kws.items()}
    rule = find_rule(f, *given, ad=handed_in, **options)
    for i, x in enumerate(xs):
        if isinstance(x.fact, Scalar) and len(x.fact.classes) > 1:
            for kind in x.fact.classes:
                other = [*given[:i], kind(1), *given[i + 1 :]]
                found = find_rule(f, *other, ad=handed_in, **options)
                if found is not rule and not _is_integer_among_complex(x, kind, rule):
                    raise Unsound.AMBIGUOUS_RULE(
                        "a number may be of several types, which have different rules"
                    )
    return rule


def _is_integer_among_complex(x: Value, kind: type, rule: Any) -> bool:
    """Return whether a class is that of a whole number in the place of complex ones, as at `z = 0`.

    There the partial derivatives for complex numbers are right, too.
    """
    assert isinstance(x.fact, Scalar)
    others = x.fact.classes - COMPLEXES
    return kind is int and others == {int} and getattr(rule, "kind", "") == "scalar"


def inactive(
    builder: Builder, f: Any, xs: list[Value], kws: dict[str, Value], stem: str = ""
) -> Value:
    """Write a call that no gradient passes through; return its value."""
    if f is accumulate and builder.plain:
        raise NotSupported.RULE_FORM("a rule calls `accumulate`")
    of_whole = any(x.is_known_by_rule for x in xs) and rule_of(f, xs, kws) is not None
    as_it_is = is_pure(f) and all(map(_is_operand, (*xs, *kws.values())))
    if hasattr(f, "__code__") and not as_it_is and not of_whole:
        if builder.inner:
            rule = _rule_of_outer_gradient(f, xs, kws)
            if rule is not None and rule.kind == "constant":
                return _cut_off(builder, f, xs, kws, stem)
            if rule is not None:
                raise NotSupported.SECOND_ORDER(
                    f"a nested gradient calls a function with the rule {rule.signature}"
                )
        return _python(builder, f, xs, kws, stem)
    _held.refuse_inside([*xs, *kws.values()])
    if isinstance(f, type) and f in (deque, defaultdict, OrderedDict):
        reason = NotSupported.CONTAINER(f"it makes {an(f.__name__)}")
        reason.unless_held = True
        raise reason
    if not (is_pure(f) or of_whole):
        raise Unsound.EFFECTS(f"it calls {getattr(f, '__name__', f)}, which may have side effects")
    if any(not _is_operand(x) for x in (*xs, *kws.values())):
        raise NotSupported.RULE_OPERAND(
            f"it passes an object, a list or a dict to {getattr(f, '__name__', f)}"
        )
    if "out" in kws and kws["out"].sample is not None:
        raise Unsound.WRITES_A_RESULT(
            "it writes a result into an array by `out=`: assign the result"
        )
    xs = [as_they_are_now(x) for x in xs]
    known = builder.reusable(f, xs, kws)
    if known is not None and known in builder.known:
        return builder.known[known]
    try:
        target = builder.operation(f, xs, kws, stem).target
    except NotSpecializable as reason:
        is_known = all(leaf.is_constant for x in (*xs, *kws.values()) for leaf in leaves(x))
        if reason.reason is not NotSupported.VALUE_TYPE or builder.plain or not is_known:
            raise
        return constant(Unfollowed(reason.details))
    mark_made(f, target)
    if known is not None:
        builder.known[known] = target
    return target


def _python(builder: Builder, f: Any, xs: list[Value], kws: dict[str, Value], stem: str) -> Value:
    """Write a call of a Python function: its body, or in a rule, where that fails, the call."""
    if not builder.plain:
        return inlined_or_island(builder, f, xs, kws, stem)
    operands = [*xs, *kws.values()]
    is_known = is_of_plugin(f.__globals__)  # others may have effects
    if is_known and operands and all(is_plain_constant(x) for x in operands):
        answer = run(f, [x.sample for x in xs], {n: x.sample for n, x in kws.items()})
        if isinstance(answer, FOLDED) or (type(answer) is dict and not answer):
            return constant(answer)
    mark = builder.mark()
    try:
        return builder.inline(f, xs, kws)
    except NotSpecializable:
        builder.back_to(mark)
    if not is_known:
        raise Unsound.EFFECTS(f"a rule calls {f.__name__}, which may have side effects")
    if any(not _is_operand(x) for x in (*xs, *kws.values())):
        raise NotSupported.RULE_OPERAND(
            "a rule passes an object, a list or a dict to another function"
        )
    return builder.operation(f, xs, kws, stem).target


def simplified(f: Any, xs: list[Value]) -> Value | None:
    """Return the operand that a call returns unchanged: `x * 1`, `x ** 1`, `x + 0.0`."""
    if len(xs) != 2:
        return None
    x, y = xs
    kept = None
    if f is operator.mul:
        kept = y if is_one(x) and _stays(y) else x if is_one(y) and _stays(x) else None
    elif f in (operator.truediv, operator.pow) and is_one(y) and _stays(x):
        kept = x
    return kept if kept is None or not kept.active or _is_passed_on(f, xs, kept) else None


def _is_passed_on(f: Any, xs: list[Value], kept: Value) -> bool:
    """Return whether the rule in force says so, too: a program may override that of an operator."""
    two = np.full(1, 2.0) if kept.is_array else 2.0
    applied = rrule(f, *(two if x is kept else x.sample for x in xs))
    return applied is not None and bool(applied[1](two)[1 + (xs[1] is kept)] == two)


def _stays(x: Value) -> bool:
    """Return whether a value times one is that value, and stays so: nothing is written to it."""
    if isinstance(x.fact, Scalar):
        return x.fact.classes <= FLOATS
    return x.is_array and can_carry(x.fact) and not (x.may_be_written or x.has_no_axes)


def is_plain_constant(x: Value) -> bool:
    return x.is_constant and not isinstance(x.sample, StandIn | Several)


def _is_operand(x: Value) -> bool:
    """Return whether a value can be written as an operand."""
    if x.items is not None:
        return type(x.sample) in (tuple, list, slice) and all(_is_operand(i) for i in x.items)
    return not x.is_object and not isinstance(x.sample, StandIn | Several)
