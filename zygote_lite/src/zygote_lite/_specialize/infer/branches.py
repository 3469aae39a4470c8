"""Branches: each path is interpreted separately, then the variables are joined."""

from typing import Any

from zygote_lite._ir import nodes as ir
from zygote_lite._specialize.typed.builder import Builder, Env
from zygote_lite._specialize.typed.nodes import Branch, add_at_ends
from zygote_lite._specialize.typed.reasons import NotSupported, Unsound
from zygote_lite._specialize.typed.runtime import UNSET
from zygote_lite._specialize.typed.values import (
    Other,
    Value,
    composition_of,
    constant,
    join_facts,
    stem_of,
)


class Paths(Builder):
    """Write branches, and join what their paths leave."""

    def branch(
        self, s: ir.If, test: Value, body: Any, orelse: Any, env: Env, after: set[str]
    ) -> Env | None:
        if test in self.iterators:
            raise Unsound.ITERATOR("it asks for the truth of an iterator")
        if test.where is not None:
            raise NotSupported.TRUTH("it asks for the truth of an object")
        if test.is_constant or test.items is not None:
            return self.block(body if test.sample else orelse, env, after)
        if test.is_array:
            raise NotSupported.TRUTH("it asks for the truth of an array")
        first: Env | None
        second: Env | None
        then, first = self.nested(lambda: self.block(body, env, after))
        other, second = self.nested(lambda: self.block(orelse, env, after))
        node = Branch(self.origin, test, then, other)
        self.out.append(node)
        if first is None or second is None:
            return second if first is None else first
        joined = dict(env)
        left: list[tuple[Value, Value]] = []
        right: list[tuple[Value, Value]] = []
        for name in sorted(after & (first.keys() | second.keys())):
            a, b = first.get(name), second.get(name)
            if a is b and a is not None:
                joined[name] = a
                continue
            joined[name] = value = self.join(a, b, name)
            if {a, b} & self.uncertain or (None in (a, b) and not self.is_ours(name)):
                self.uncertain.add(value)
            for known, moves in ((a, left), (b, right)):
                source = self.no_value(name, value) if known is None else known
                if source is not None:
                    moves.append((value, source))
        node.joined = [value for value, _ in (*left, *right)]
        self.note_moved([source for _, source in (*left, *right)])
        add_at_ends(then, self.origin, left)
        add_at_ends(other, self.origin, right)
        return joined

    def no_value(self, name: str, joined: Value) -> Value | None:
        """Return what is assigned on a path that leaves a variable without a value, if anything.

        It may seem to have one: in a function called in a loop, that of an earlier iteration; Numba
        takes zero.
        """
        if self.is_ours(name):  # none of our own is read too early
            return constant(None)
        may_be_stale = self.compiled or (self.loop is not None and len(self.frames) > 1)
        return constant(UNSET) if may_be_stale or (joined.is_array and joined.active) else None

    def join(self, a: Value | None, b: Value | None, name: str) -> Value:
        """Return the value of a variable that is one value on one path, another on the other."""
        if a is None or b is None:
            value = a if a is not None else b
            assert value is not None
            if value.items is not None or not value.name:
                raise Unsound.UNSET(f"`{name}` is assigned on one path only")
            a = b = value
        for x in (a, b):
            if kind := composition_of(x):
                raise NotSupported.DEPENDS_ON_PATH(f"`{name}` is a {kind} that depends on the path")
        value = self.value(join_facts(a.fact, b.fact), a.sample, stem_of(name))
        if isinstance(value.fact, Other) and (a.is_constant or b.is_constant):
            raise NotSupported.DEPENDS_ON_PATH(f"`{name}` depends on the path, and is not a number")
        value.active = a.active or b.active
        if a.spread is not None and a.spread is b.spread:
            value.spread = a.spread
        return value
