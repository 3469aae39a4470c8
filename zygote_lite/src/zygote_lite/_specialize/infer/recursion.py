"""Functions that call themselves: a function of the text for each, which returns a pullback, too.

What holds for its parameters is found as for the variables of a loop: from the first call, and
joined to what the calls inside are given until nothing is added. Its value is first known from the
paths without such a call.
"""

import operator
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from zygote_lite._specialize.infer.cells import contents, is_cell
from zygote_lite._specialize.infer.effects.attributes import refuse_adopted
from zygote_lite._specialize.infer.held.containers import hold, may_be_held, mirror
from zygote_lite._specialize.rules.contributions import Contribution
from zygote_lite._specialize.rules.inlined import be_active
from zygote_lite._specialize.typed.abstract_eval import Result
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.contents import contents_in, has_active, merge, state_of
from zygote_lite._specialize.typed.drafts import Env
from zygote_lite._specialize.typed.facts import FLOATS, Fact, Other, Scalar, join_facts
from zygote_lite._specialize.typed.functions import Recursive, Reverse
from zygote_lite._specialize.typed.nodes import Node, Op, walk
from zygote_lite._specialize.typed.reasons import NotSpecializable, NotSupported, Unreached
from zygote_lite._specialize.typed.stand_ins import Local, LocalCache, StandIn
from zygote_lite._specialize.typed.store_forwarding import value_key
from zygote_lite._specialize.typed.structures import (
    is_named,
    named_tuple,
    settled_instance,
    structure,
)
from zygote_lite._specialize.typed.values import Value, constant

_MOST_FUNCTIONS = 8


class Widened(Exception):  # noqa: N818 - no error: the function is written again
    """Tell that a call inside a function is given more than the function was written for."""


def recursive_call(builder: Builder, f: Any, code: Any, env: Env) -> Value:
    """Write the call of a function that calls itself; return its value."""
    if builder.settings or builder.lent:
        raise NotSupported.RECURSION(f"{code.co_name} calls itself, and a global is assigned")
    inputs = builder.inputs
    given = {id(value) for value, _ in inputs.given.values()}
    found: list[tuple[str, Value]] = []
    seen: dict[Any, int] = {}
    skeleton = tuple([
        (name, _skeleton_of(builder, env[name], name, found, given, seen)) for name in sorted(env)
    ])  # fmt: skip
    if any(x.is_array and x.may_be_written for _, x in found):
        raise NotSupported.RECURSION(
            f"{code.co_name} calls itself with an array that is written to: pass a copy"
        )
    if any(x in builder.nullable for _, x in found):
        raise NotSupported.RECURSION(f"{code.co_name} calls itself with a number that may be None")
    known = [r for r in inputs.functions if r.code is code and r.skeleton == skeleton]
    xs = [x for _, x in found]
    for r in known:
        for leaf, x in zip(r.leaves, xs, strict=True):
            if _are_of_one_kind(leaf, x):  # the function is for any such container
                merge(builder.changed, leaf.contents, x.contents)
    fitting = [r for r in known if all(map(_holds, r.leaves, xs)) and not has_changed(r)]
    if not fitting and any(not r.is_done for r in known):
        waiting = next(r for r in known if not r.is_done)
        pairs = zip(waiting.leaves, xs, strict=True)
        waiting.leaves = [_joined_leaf(builder, leaf, x) for leaf, x in pairs]
        raise Widened
    if not fitting:
        if len(inputs.functions) >= _MOST_FUNCTIONS or inputs.define is None:
            raise NotSupported.RECURSION(
                f"{code.co_name} calls itself with too many combinations of types"
            )
        stem = code.co_name.strip("<>")
        name, back = builder.name(f"{stem}_forward"), builder.name(f"{stem}_back")
        inputs.names |= {name, back}
        made = Recursive(name, Reverse(back), code, skeleton, [_leaf(x) for x in xs])
        inputs.functions.append(made)
        stems = [stem for stem, _ in found]
        try:
            inputs.define(
                builder, made, f, lambda leaves: _rebuilt(env, iter(leaves), given), stems
            )
        except NotSpecializable:  # the code may go on along another path
            inputs.functions.remove(made)
            raise
        fitting = [made]
    return _call_of(builder, fitting[0], xs)


def _call_of(builder: Builder, f: Recursive, xs: list[Value]) -> Value:
    """Write a call of a function of the text."""
    if f.result is None:
        raise Unreached
    given = [x for x, leaf in zip(xs, f.leaves, strict=True) if not leaf.is_constant]
    params = [leaf for leaf in f.leaves if not leaf.is_constant]
    whole = Result(Other(tuple), (f.result.sample, None))
    both = builder.write(whole, f, given, {}).target
    builder.resized += f.resized
    result = Result(f.result.fact, _sample_for(f, xs))
    op = builder.write(result, operator.getitem, [both, constant(0)], {})
    op.target.fresh = op.target.made = False
    if containers_of(f):
        kept = builder.write(Result(Other(tuple), ()), operator.getitem, [both, constant(1)], {})
        rule = RecursiveRule(f.back, kept.target, given, params, op.target, f)
        operands = [x for x in given if x.active]
        builder.definitions[both].required = True
        mirror(op, rule.back_always, operands)
        op.target.active = f.result.active and builder.follows
        return constant(None) if f.result.sample is None else op.target
    if f.result.active:
        kept = builder.write(Result(Other(tuple), ()), operator.getitem, [both, constant(1)], {})
        be_active(op, given)
        op.reverse_rule = RecursiveRule(f.back, kept.target, given, params)
    return op.target


def _sample_for(f: Recursive, xs: list[Value]) -> Any:
    """Return a sample of what a call gives: of the shape of the argument that has its shape."""
    assert f.result is not None
    sample = f.result.sample
    for x, leaf in zip(xs, f.leaves, strict=True):
        if x.is_array and np.shape(sample) == np.shape(leaf.sample) != np.shape(x.sample):
            return np.resize(sample, np.shape(x.sample))
    return sample


@dataclass(eq=False)
class RecursiveRule:
    """The reverse through the call of a function of the text."""

    function: Reverse
    kept: Value
    xs: list[Value]
    params: list[Value]
    result: Value | None = None
    of: Recursive | None = None

    def back_always(self, builder: Builder, dy: Value | None) -> list[Contribution]:
        """Write the reverse of a call that may change containers, whether it gives anything."""
        assert self.of is not None
        assert self.result is not None
        if dy is None and not any(x.active for x in self.params) and not _any_active(self.of):
            return []
        if dy is None and self.result.is_array:
            dy = builder.apply(np.zeros_like, [self.result])
        found = self.back(builder, constant(0.0) if dy is None else dy)
        return [d for x, d in zip(self.xs, found, strict=True) if x.active]

    def back(self, builder: Builder, dy: Value) -> list[Contribution]:
        """Write the call of the reverse, and return the cotangents."""
        if builder.recording:
            raise NotSupported.SECOND_ORDER(
                "it takes a second derivative of a function that calls itself"
            )
        whole = Result(Other(tuple), ())
        given = [self.kept, dy]
        if self.of is not None:
            assert builder.shadows is not None
            given.append(builder.shadows)
        op = builder.write(whole, self.function, given, {})
        op.required, every = self.of is not None, op.target
        found: list[Contribution] = []
        for i, (x, param) in enumerate(zip(self.xs, self.params, strict=True)):
            if not x.active:
                found.append(None)
                continue
            kind = type(param.sample) if type(param.sample) in FLOATS else float
            fact: Fact = x.fact if x.is_array else Scalar(frozenset((kind,)))
            taken = Result(fact, x.sample if x.is_array else kind(1.0))
            d = builder.write(taken, operator.getitem, [every, constant(i + 1)], {}).target
            d.fresh = False
            found.append(d)
        return found


def containers_of(f: Recursive) -> list[Value]:
    """Return the containers that a function is given."""
    return [leaf for leaf in f.leaves if leaf.contents is not None]


def states_now(f: Recursive) -> list[Any]:
    """Return what is known by now of the containers that a function is given."""
    return [state_of(leaf.contents) for leaf in containers_of(f)]


def has_changed(f: Recursive) -> bool:
    """Return whether more is known of these, or of what it calls, than when it was written."""
    more = any(g.result is not known for g, known in f.calls)
    return f.is_done and (more or f.states != states_now(f))


def calls_in(nodes: list[Node]) -> list[Recursive]:
    """Return the functions of the text that some code calls."""
    made = [node.function for node in walk(nodes) if isinstance(node, Op)]
    return list(dict.fromkeys(f for f in made if isinstance(f, Recursive)))


def refuse_changed_functions(nodes: list[Node]) -> None:
    """Refuse functions that were written for less than is known by now."""
    waiting, seen = calls_in(nodes), list[Recursive]()
    while waiting:
        f = waiting.pop()
        if has_changed(f):
            raise NotSupported.RECURSION(
                f"{f.name} calls itself with lists, dicts or objects that change later"
            )
        seen.append(f)
        waiting += [g for g, _ in f.calls if g not in seen]


def _any_active(f: Recursive) -> bool:
    return any(has_active(leaf.contents) for leaf in containers_of(f))


# -- the variables at its start --------------------------------------------------------------------


def _are_of_one_kind(a: Value, b: Value) -> bool:
    both = a.contents is not None and b.contents is not None
    return both and contents_in(a).kind is contents_in(b).kind


def _is_handed_on(x: Value) -> bool:
    return x.is_scalar or x.is_array or x.contents is not None


def _skeleton_of(
    builder: Builder,
    x: Value,
    stem: str,
    found: list[tuple[str, Value]],
    given: set[int],
    seen: dict[Any, int],
) -> Any:
    """Return the form of a value, and add the numbers and arrays that it consists of."""
    if x.read is not None or (x.active and id(x) in given):
        raise NotSupported.RECURSION(
            "a function that calls itself reads attributes of an argument: pass their values"
        )
    if id(x) in given or x.where is not None:
        return x.name or x.where
    if may_be_held(builder, x):
        hold(builder, x)
    if x.contents is not None and contents_in(x).given:
        raise NotSupported.RECURSION(
            "a function that calls itself changes a list, dict or set that is an argument"
        )
    if _is_handed_on(x):
        if (stem, x) not in seen:
            seen[stem, x] = len(seen)
            found.append((stem.strip(), x))
        return seen[stem, x]
    if is_cell(x):  # it is not assigned any more
        return _skeleton_of(builder, contents(x, stem), stem, found, given, seen)
    if isinstance(x.sample, Local):
        if x.sample in seen:
            return seen[x.sample]
        seen[x.sample] = len(seen)
    parts = _constituents(x)
    if parts is not None:
        kind = x.sample.code if isinstance(x.sample, Local | LocalCache) else type(x.sample)
        return kind, tuple([
            (n, _skeleton_of(builder, part, n, found, given, seen)) for n, part in parts.items()
        ])  # fmt: skip
    key = value_key(x) if x.is_constant and not isinstance(x.sample, StandIn) else None
    if key is None and x.is_constant and callable(x.sample) and not isinstance(x.sample, StandIn):
        key = ("function", id(x.sample))  # the value is held by whoever asks
    if key is None:
        raise NotSupported.RECURSION(
            f"a function that calls itself gets {stem}, which is not a number or an array"
        )
    return key


def _constituents(x: Value) -> dict[str, Value] | None:
    """Return the values that another one consists of, by name, in their order."""
    if isinstance(x.sample, Local):
        defaults = {f"{name} ": part for name, part in x.sample.defaults.items()}
        return dict(sorted({**x.sample.around, **defaults}.items()))
    if isinstance(x.sample, LocalCache):
        return {"function": x.sample.function}
    refuse_adopted(x, "given to a function that calls itself")
    if x.fields is not None:
        return dict(sorted(x.fields.items())) if not is_named(x) else dict(x.fields)
    if x.items is not None and type(x.sample) is tuple:
        return {f"_{i}": part for i, part in enumerate(x.items)}
    return None


def _rebuilt(env: Env, leaves: Iterator[Value], given: set[int]) -> Env:
    """Return variables with other numbers and arrays."""
    seen: dict[Any, Value] = {}

    def rebuilt(x: Value, stem: str) -> Value:
        if id(x) in given or x.where is not None:
            return x
        if _is_handed_on(x):
            if (stem, x) not in seen:
                seen[stem, x] = next(leaves)
            return seen[stem, x]
        if is_cell(x):
            return rebuilt(contents(x, stem), stem)
        old = x.sample
        parts = _constituents(x)
        if parts is None:
            return x
        if not isinstance(old, Local):
            given_parts = [rebuilt(part, n) for n, part in parts.items()]
            if isinstance(old, LocalCache):
                return constant(LocalCache(old.code, *given_parts))
            if x.items is not None:
                return structure(tuple, given_parts)
            kind = type(x.sample)
            if is_named(x):
                return named_tuple(kind, given_parts)
            return settled_instance(kind, dict(zip(parts, given_parts, strict=True)))
        if old not in seen:
            new = Local(old.code, old.globals, {}, {}, old.is_abstract)
            seen[old] = constant(new)
            for n, part in parts.items():
                into = new.defaults if n.endswith(" ") else new.around
                into[n.strip()] = rebuilt(part, n)
        return seen[old]

    return {name: rebuilt(env[name], name) for name in sorted(env)}


def _leaf(x: Value) -> Value:
    """Return what holds for a number or an array that a function is given."""
    if x.is_constant:
        return x
    leaf = Value(x.fact, x.sample)
    leaf.active, leaf.contents = x.active, x.contents
    return leaf


def _holds(leaf: Value, x: Value) -> bool:
    """Return whether what a function was written for holds for what it is given."""
    if leaf.is_constant:
        return x.is_constant and value_key(x) == value_key(leaf)
    if leaf.contents is not None or x.contents is not None:
        both = leaf.contents is not None and x.contents is not None
        return both and contents_in(leaf) is contents_in(x)
    same = leaf.is_array == x.is_array and join_facts(leaf.fact, x.fact) == leaf.fact
    return same and leaf.active >= x.active


def _joined_leaf(builder: Builder, leaf: Value, x: Value) -> Value:
    if _holds(leaf, x):
        return leaf
    if leaf.contents is not None and x.contents is not None:
        merge(builder.changed, leaf.contents, x.contents)
        return leaf
    if leaf.contents is not None or x.contents is not None:
        raise NotSupported.RECURSION(
            "a function that calls itself gets a list, dict or set in some calls only"
        )
    joined = Value(join_facts(leaf.fact, x.fact), leaf.sample)
    joined.active = leaf.active or x.active
    return joined
