"""The tangent of one operation: by its scalar or linear rule, or by its forward rule."""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from rulescore import find_frule, frule
from rulescore.scaling import scales
from zygote_lite._specialize.forward.lists import fact_of_tangent, zero_list
from zygote_lite._specialize.forward.transposed import island_jvp, transposed_tangent
from zygote_lite._specialize.infer.islands import island
from zygote_lite._specialize.infer.models.lists.gathered import GatherRule, ItemsRule
from zygote_lite._specialize.infer.models.writing import AddedRule
from zygote_lite._specialize.infer.recursion import RecursiveRule
from zygote_lite._specialize.rules.contributions import IndexRule, LinearRule, ProjectedRule
from zygote_lite._specialize.rules.pullback import (
    AdjointRule,
    CalledPullback,
    IndexRuleTwice,
    InlinedPullback,
    KeptPart,
)
from zygote_lite._specialize.rules.scalar import (
    ScalarRule,
    over_one_divisor,
    times,
    warns_of_poles,
)
from zygote_lite._specialize.typed.abstract_eval import Result
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.facts import ArrayOf, ListOf, Scalar, may_be_complex, shares_axes
from zygote_lite._specialize.typed.functions import Attribute, Recursive
from zygote_lite._specialize.typed.nodes import Op
from zygote_lite._specialize.typed.reasons import NotSpecializable, NotSupported
from zygote_lite._specialize.typed.runtime import added_at, pushed_tangent, same_shape
from zygote_lite._specialize.typed.stand_ins import Local
from zygote_lite._specialize.typed.structures import mapping, structure
from zygote_lite._specialize.typed.values import Value, constant, list_root, shape_root

_WRITTEN_FORWARD = (
    ScalarRule,
    IndexRule,
    AdjointRule,
    InlinedPullback,
    LinearRule,
    ProjectedRule,
    ItemsRule,
    GatherRule,
    AddedRule,
)
_COPIES = (np.copy, np.ndarray.copy)


class OperationRules:
    """Write the tangents of operations.

    Attributes:
        builder: what writes them.
        tangents: of the values that move.
        still: values that a gradient may pass through, and that are known not to move.
        pushed: what the forward rules of calls with several results have given.
        islands: what gives the values and tangents of islands, by what gives their pullbacks.
        beside: operations on containers of tangents, each beside that on the values.
        originals: of copies that are made for a reverse pass, what they are copies of.
    """

    def __init__(self, builder: Builder, originals: dict[Value, Value]) -> None:
        self.builder, self.originals = builder, originals
        self.tangents: dict[Value, Value] = {}
        self.still: set[Value] = set()
        self.pushed: dict[Op, Value | None] = {}
        self.islands: dict[Value, Value] = {}
        self.beside: set[Any] = set()

    def of(self, x: Value) -> Value | None:
        """Return the tangent of a value, or `None` where it does not move.

        None is ever taken for zero because nobody wrote it.
        """
        x = self.originals.get(x, x)
        found = self.tangents.get(x)
        if found is None and list_root(x).active and x not in self.still:
            raise NotSupported.FORWARD(
                "a value may depend on a differentiated argument, and forward mode has no tangent "
                "for it"
            )
        return found

    def whole(self, x: Value) -> Value:
        """Return the tangent of a value with zeros where it does not move."""
        if x.items is not None:
            if type(x.sample) not in (tuple, list):
                raise NotSupported.FORWARD(
                    "forward mode needs the tangent of an object or a dict as a whole"
                )
            return structure(type(x.sample), [self.whole(item) for item in x.items])
        found = self.of(x)
        return self.zero(x) if found is None else found

    def some(self, x: Value) -> Value:
        """Return the tangent of a value with `None` where it does not move."""
        if x.items is None:
            return self.of(x) or constant(None)
        if not self.moves(x.items):
            return constant(None)
        if type(x.sample) is dict:
            keys, entries = [key.sample for key in x.items[::2]], [*map(self.some, x.items[1::2])]
            return mapping(dict(zip(keys, entries, strict=True)))
        if type(x.sample) not in (tuple, list):
            raise NotSupported.FORWARD("forward mode does not support what holds a value here")
        return structure(type(x.sample), [*map(self.some, x.items)])

    def zero(self, x: Value) -> Value:
        """Write a zero tangent."""
        if x.is_scalar:
            return constant(0.0)
        if isinstance(x.fact, ListOf):
            return zero_list(self.builder, x)
        if isinstance(x.fact, ArrayOf) and x.fact.dtype.kind in "fc":
            return self.builder.operation(np.zeros_like, [x]).target
        raise NotSupported.FORWARD(
            "a value that needs a tangent is not a float or an array of floats"
        )

    def moves(self, xs: list[Value]) -> bool:
        """Return whether any of some values, or a part of them, has a tangent."""
        return any(
            self.moves(x.items) if x.items is not None else self.of(x) is not None for x in xs
        )

    def tangent(self, node: Op) -> Value | None:
        """Write the tangent of the result of an operation."""
        rule = node.reverse_rule
        if isinstance(rule, IndexRuleTwice):
            rule = rule.last
        if isinstance(rule, CalledPullback | KeptPart):
            return self.by_called_rule(node, rule)
        if isinstance(rule, RecursiveRule):
            return self.by_recursion(node)
        if not isinstance(rule, _WRITTEN_FORWARD):
            raise NotSupported.FORWARD(f"forward mode does not support the rule {rule.signature}")
        if not self.moves([*node.arguments, *node.keywords.values()]):
            return None
        if isinstance(rule, ScalarRule):
            d = self.by_partials(rule)
        elif isinstance(rule, IndexRule):
            if node.function is not operator.getitem:
                raise NotSupported.FORWARD("forward mode does not support this operation on a list")
            d = self.builder.item(self.whole(node.arguments[0]), node.arguments[1])
            if isinstance(node.arguments[0].fact, ListOf):  # as its tangent was appended
                d.shaped = shape_root(node.target)  # it may be `None`, on paths that read neither
        elif isinstance(rule, InlinedPullback) or (
            isinstance(rule, AdjointRule) and _forward_rule_by_hand(node) is not None
        ):
            d = self.by_forward_rule(node)
        elif isinstance(rule, AdjointRule):
            d = self.by_function(node, rule.rule.linear, rule.rule.shifts)
        elif isinstance(rule, ProjectedRule):
            return self.builder.operation(
                node.function, [self.whole(rule.d), node.arguments[1]], fact=node.target.fact
            ).target
        elif node.function in _COPIES or isinstance(rule, ItemsRule | GatherRule):
            d = self.by_function(node, (0,), frozenset())
        elif node.function is added_at:
            d = self.by_function(node, (0, 2), frozenset())
        elif node.function is sum:
            d = self.builder.apply(sum, [self.whole(x) for x in node.arguments])
        else:
            raise NotSupported.FORWARD("forward mode does not support this way of summing a list")
        return None if d is None else self.like(d, node.target)

    def by_partials(self, known: ScalarRule) -> Value | None:
        """Write the partial derivatives times the tangents, added up."""
        xs = [self.originals.get(x, x) for x in known.xs]
        rule = ScalarRule(known.rule, xs, known.out, known.alike)
        moving: list[Value] = []
        partials: list[Value] = []
        for x, partial in zip(xs, rule.partial_derivatives(self.builder), strict=True):
            dx = self.of(x)
            if dx is not None and not (partial.is_constant and partial.sample is None):
                moving.append(dx)
                partials.append(partial)
        over, partials = over_one_divisor(self.builder, partials)
        total: Value | None = None
        for dx, partial in zip(moving, partials, strict=True):
            total = self.sum(total, times(self.builder, dx, partial, known.out))
        if over is not None and total is not None:
            total = self.builder.apply(operator.truediv, [total, over])
        if known.rule.poles and any(map(warns_of_poles, xs)):
            self.builder.poles = True
        return total

    def sum(self, total: Value | None, d: Value) -> Value:
        return d if total is None else self.builder.apply(operator.add, [total, d])

    def by_function(
        self, node: Op, linear: tuple[int, ...], shifts: frozenset[str]
    ) -> Value | None:  # fmt: skip
        """Write the function itself, of the tangents of the arguments in which it is linear."""
        if not self.moves([node.arguments[i] for i in linear]):
            return None
        given = [self.whole(x) if i in linear else x for i, x in enumerate(node.arguments)]
        options = {name: x for name, x in node.keywords.items() if name not in shifts}
        return self.builder.operation(node.function, given, options).target

    def is_kept(self, node: Op) -> bool:
        """Return whether an operation takes what a function of the text keeps for its reverse."""
        return self.is_of_recursion(node) and node.arguments[1].sample == 1

    def is_of_recursion(self, node: Op) -> bool:
        """Return whether an operation takes a part of what a function of the text gives."""
        if node.function is not operator.getitem or not node.arguments[1].is_constant:
            return False
        source = self.builder.definitions.get(node.arguments[0])
        return source is not None and isinstance(source.function, Recursive)

    def by_recursion(self, node: Op) -> Value:
        """Write what takes the tangent of the value of a function of the text."""
        y = node.target
        result = Result(fact_of_tangent(y.fact), y.sample)
        taken = [node.arguments[0], constant(1)]
        d = self.builder.write(result, operator.getitem, taken, {}).target
        d.fresh = False
        return self.like(d, y)

    def by_called_rule(self, node: Op, rule: CalledPullback | KeptPart) -> Value | None:
        """Write the tangent of the value of a rule that is called, or of a part of it."""
        source = self.builder.definitions.get(node.arguments[0])
        if isinstance(rule, KeptPart) and source is not None:
            source = self.builder.definitions.get(source.arguments[0])
        if source is not None and source.function is island_jvp:
            taken = [source.target, constant(1)]
            own = self.builder.operation(operator.getitem, taken, certain=False).target
            own.shaped = shape_root(node.target)  # the tape gives it the shape of the value
            return self.like(own, node.target)
        if source is None or not (_is_rule(source.function) or source.function is island):
            raise NotSupported.FORWARD("it calls a function that cannot be transformed")
        if source not in self.pushed:
            f, *xs = source.arguments
            call = Op(source.origin, source.target, f.sample, xs, source.keywords)
            self.pushed[source] = self.by_forward_rule(call) if self.moves(xs) else None
        d = self.pushed[source]
        if isinstance(rule, KeptPart) and d is not None:
            if d.items is None:
                taken = [d, constant(rule.place)]
                d = self.builder.operation(operator.getitem, taken, certain=False).target
            else:
                d = d.items[rule.place]
        return (
            None if d is None or (d.is_constant and d.sample is None) else self.like(d, node.target)
        )

    def island(self, node: Op) -> None:
        """Write the call of an island whose operands move: it gives its value and the tangent."""
        f, *xs = node.arguments
        given = [f, structure(tuple, xs), structure(tuple, [*map(self.some, xs)])]
        self.islands[node.target] = self.builder.operation(island_jvp, given, certain=True).target

    def of_island(self, node: Op) -> Value | None:
        """Return what gives the value of an island and the tangent, where a node reads its own."""
        reads = node.function is operator.getitem
        return self.islands.get(node.arguments[0]) if reads else None

    def by_forward_rule(self, node: Op) -> Value | None:
        """Write the tangent by a rule that is declared by hand: inlined, or called."""
        f, xs, options = _callee_of(node), node.arguments, node.keywords
        if f is np.ndarray.real or f is np.ndarray.imag:  # of an array or a number
            return self.builder.operation(Attribute(f.__name__), [self.whole(xs[0])]).target
        rule = _forward_rule_by_hand(node)
        if rule is None:
            moving = [constant(f), structure(tuple, [*xs]), structure(tuple, [*map(self.some, xs)])]
            return self.builder.operation(transposed_tangent, moving, options).target
        given = [self.of(x) if x.items is None else self.whole(x) for x in xs]
        dxs = [constant(None) if d is None else d for d in given]
        if not rule.of_plugin and not _is_linear_at(f, xs, options, dxs):
            raise NotSupported.FORWARD("a pushforward is not linear")
        pushed = [constant(f), structure(tuple, [*xs]), structure(tuple, dxs)]
        mark, self.builder.poles = self.builder.mark(), True
        try:
            return self.inlined(rule.body, xs, options, dxs)
        except NotSpecializable:
            self.builder.back_to(mark)
        return self.builder.operation(pushed_tangent, pushed, options).target

    def inlined(
        self, body: Any, xs: list[Value], options: dict[str, Value], dxs: list[Value]
    ) -> Value | None:  # fmt: skip
        """Write the pushforward of a rule in its place."""
        pair = self.builder.body_of(body, xs, options).items
        if pair is None or len(pair) != 2:
            raise NotSupported.RULE_FORM(
                "a forward rule does not return a pair: return the value and its tangent"
            )
        pushforward, shared = pair[1], None
        if pushforward.items is None:
            return _something(self.builder.body_of(_pushforward_function(pushforward), dxs))
        parts = pushforward.items
        if len(parts) == 2 and parts[0].items is not None:
            parts, shared = parts[0].items, parts[1]
        total: Value | None = None
        for part, dx in zip(parts, dxs, strict=False):
            if part.sample is not None and not (dx.is_constant and dx.sample is None):
                total = self.sum(total, self.builder.body_of(_pushforward_function(part), [dx]))
        if shared is None or total is None:
            return total
        return self.builder.body_of(_pushforward_function(shared), [total])

    def like(self, d: Value, y: Value) -> Value:
        """Write what gives a tangent the kind and the shape of its primal."""
        if may_be_complex(d.fact) and not may_be_complex(y.fact):
            d = self.builder.apply(np.real, [d])
        elif may_be_complex(y.fact) and not may_be_complex(d.fact):
            d = self.builder.apply(operator.add, [d, constant(0j)])
        if isinstance(y.fact, Scalar):
            if d.has_no_axes:
                d = self.builder.apply(operator.getitem, [d, constant(())])
            if not isinstance(d.fact, Scalar):
                raise NotSupported.FORWARD("a rule returns no tangent for a number")
            return d
        if not isinstance(y.fact, ArrayOf):
            raise NotSupported.FORWARD("a value that needs a tangent is not a number or an array")
        if d.is_scalar or np.shape(d.sample) != np.shape(y.sample):
            d = self.builder.apply(np.broadcast_to, [d, self.builder.attribute(y, "shape")])
            d.fresh = False
        if not isinstance(d.fact, ArrayOf) or d.fact.dtype != y.fact.dtype:
            raise NotSupported.FORWARD("a tangent has another precision than its value")
        if shape_root(d) is not shape_root(y) and not shares_axes(d.fact, y.fact):
            self.builder.demand(same_shape, d, y)
        return d


def _pushforward_function(x: Value) -> Callable[..., Any]:
    if not isinstance(x.sample, Local):
        raise NotSupported.RULE_FORM(
            "a forward rule returns a pushforward that it does not define itself: define it "
            "inside the rule"
        )
    found: Any = x.sample
    return found  # type: ignore[no-any-return]


def _something(d: Value) -> Value | None:
    return None if d.is_constant and d.sample is None else d


def is_pullback_of_rule(builder: Builder, node: Op) -> bool:
    """Return whether an operation takes the pullback of what a rule has given."""
    source = builder.definitions.get(node.arguments[0]) if node.arguments else None
    return source is not None and _is_rule(source.function)


def _callee_of(node: Op) -> Any:
    f: Any = node.function
    return f.descriptor if isinstance(f, Attribute) else f


def _forward_rule_by_hand(node: Op) -> Any:
    """Return the forward rule of a call that is declared by hand, or `None`."""
    samples = {name: x.sample for name, x in node.keywords.items()}
    rule = find_frule(_callee_of(node), *[x.sample for x in node.arguments], **samples)
    return rule if rule is not None and rule.kind == "forward" else None


def _is_linear_at(f: Any, xs: list[Value], options: dict[str, Value], dxs: list[Value]) -> bool:
    """Return whether a forward rule is linear, as far as the samples of its arguments tell."""
    given, named = [x.sample for x in xs], {name: x.sample for name, x in options.items()}

    def push(*tangents: Any) -> Any:
        found = frule((None, *tangents), f, *given, **named)
        return None if found is None else found[1]

    tangents = tuple([d.sample for d in dxs])
    try:
        with np.errstate(all="ignore"):
            return scales(push, tangents, push(*tangents))
    except Exception:  # of a sample, which is no argument
        return True


def _is_rule(f: Any) -> bool:
    return getattr(f, "kind", None) in ("general", "instance")
