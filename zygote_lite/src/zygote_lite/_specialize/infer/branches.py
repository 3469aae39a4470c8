"""Branches: each path is interpreted separately, then the variables are joined."""

from collections.abc import Callable
from typing import Any

from zygote_lite._ir import nodes as ir
from zygote_lite._specialize.typed.builder import Builder, Env
from zygote_lite._specialize.typed.nodes import Branch, Node, add_at_ends, leaves
from zygote_lite._specialize.typed.reasons import NotSupported, Unsound
from zygote_lite._specialize.typed.runtime import UNSET
from zygote_lite._specialize.typed.values import (
    ListOf,
    Local,
    Method,
    Other,
    Value,
    constant,
    join_facts,
    stem_of,
)


class Paths(Builder):
    """Write branches, and join what their paths leave."""

    def mark(self) -> Any:
        """Return what `back_to` needs to forget what is written from here on."""
        return len(self.out), set(self.used), dict(self.known), dict(self.shapes)

    def back_to(self, mark: Any) -> None:
        """Forget what was written since the mark was made."""
        length, self.used, self.known, self.shapes = mark
        del self.out[length:]

    # -- structure -----------------------------------------------------------------------------

    def nested(self, work: Callable[[], Any]) -> tuple[list[Node], Any]:
        """Write a block of its own, and return it with what `work` returned."""
        outer, self.out = self.out, []
        known, mark = dict(self.known), len(self.unified)
        try:
            return self.out, work()
        finally:
            self.out, self.known = outer, known
            while len(self.unified) > mark:  # known only where the block has been run
                self.unified.pop().shaped = None

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
        left, right = [], []
        for name in sorted(after & (first.keys() | second.keys())):
            a, b = first.get(name), second.get(name)
            if a is b and a is not None:
                joined[name] = a
            else:
                joined[name] = value = self.join(a, b, name)
                if {a, b} & self.uncertain or (None in (a, b) and not self.is_ours(name)):
                    self.uncertain.add(value)
                if value is not a and a is not None:
                    left.append((value, a))
                if value is not b and b is not None:
                    right.append((value, b))
                if a is None or b is None:
                    missing = left if a is None else right
                    if self.is_ours(name):  # none of our own is read too early
                        missing.append((value, constant(None)))
                    elif (value.is_array and value.active) or self.may_be_stale(name):
                        missing.append((value, constant(UNSET)))
        node.joined = [value for value, _ in (*left, *right)]
        self.note_moved([source for _, source in (*left, *right)])
        add_at_ends(then, self.origin, left)
        add_at_ends(other, self.origin, right)
        return joined

    def note_moved(self, values: list[Value]) -> None:
        """Note that another variable may hold what these variables hold."""
        self.moved.update(leaf for x in values for leaf in leaves(x) if leaf.is_array)

    def may_be_stale(self, name: str) -> bool:
        """Return whether a variable that a path leaves without a value may seem to have one.

        In a function called in a loop that is the value of an earlier iteration; Numba takes zero.
        """
        return not self.is_ours(name) and (
            self.compiled or (self.loop is not None and len(self.depth) > 1)
        )

    def is_ours(self, name: str) -> bool:
        """Return whether a variable of the function being written is the engine's own."""
        return name not in (*self.depth[-1].co_varnames, *self.depth[-1].co_cellvars)

    def join(self, a: Value | None, b: Value | None, name: str) -> Value:
        """Return the value of a variable that is one value on one path, another on the other."""
        if a is None or b is None:
            value = a if a is not None else b
            assert value is not None
            if value.items is not None or not value.name:
                raise Unsound.UNSET(f"`{name}` is assigned on one path only")
            a = b = value
        if a.items is not None or b.items is not None:
            if a.items is None or b.items is None or len(a.items) != len(b.items):
                raise NotSupported.DEPENDS_ON_PATH(
                    f"`{name}` is one structure on one path and another on the other"
                )
            raise NotSupported.DEPENDS_ON_PATH(f"`{name}` is a structure that depends on the path")
        if isinstance(a.sample, Local | Method) or isinstance(b.sample, Local | Method):
            raise NotSupported.DEPENDS_ON_PATH(f"`{name}` is a function that depends on the path")
        if a.where is not None or b.where is not None:
            raise NotSupported.DEPENDS_ON_PATH(f"`{name}` is an object that depends on the path")
        value = self.value(join_facts(a.fact, b.fact), a.sample, stem_of(name))
        if isinstance(value.fact, ListOf):
            raise NotSupported.DEPENDS_ON_PATH(f"`{name}` is a list that depends on the path")
        if isinstance(value.fact, Other) and (a.is_constant or b.is_constant):
            raise NotSupported.DEPENDS_ON_PATH(f"`{name}` depends on the path, and is not a number")
        value.active = a.active or b.active
        if a.spread is not None and a.spread is b.spread:
            value.spread = a.spread
        return value
