"""The reverse pass of typed code, derived from its structure, backwards."""

import operator
from collections.abc import Iterable
from typing import Any

import numpy as np

from zygote_lite._optimize import _calls, _lists
from zygote_lite._optimize._interpret import Interpreter
from zygote_lite._optimize._nodes import (
    AddInto,
    Append,
    Backwards,
    Branch,
    Loop,
    Moves,
    Node,
    Op,
    Stop,
    Store,
    blocks_of,
    is_made_in,
    walk,
)
from zygote_lite._optimize._projection import projected
from zygote_lite._optimize._pulls import Contribution, Each, Scatter
from zygote_lite._optimize._runtime import ZERO, duplicate, zeros
from zygote_lite._optimize._transfer import Result, result_of
from zygote_lite._optimize._values import (
    FLOATS,
    MANY,
    ArrayOf,
    ListOf,
    Scalar,
    Unfit,
    Value,
    constant,
    list_root,
    shape_root,
    shares_axes,
    structure,
)

Cotangents = dict[Value, Value]


class Backward:
    """Write the reverse pass.

    Attributes:
        again: whether the pass will be run backwards in its turn: then it writes nothing in place.
        cotangents: of each value, at the point that the pass has come to.
        owned: the cotangents that nothing else shares, so that they may be added to in place.
        filled: the values whose cotangent may be a zero that no path has given.
    """

    def __init__(self, interpreter: Interpreter, again: bool = False) -> None:
        self.interpreter = interpreter
        self.cotangents: Cotangents = {}
        self.owned: set[Value] = set()
        self.given: set[Value] = set()
        self.filled: set[Value] = set()
        self.silent: set[Branch] = set()
        self.again = again
        interpreter.reverse = not again
        interpreter.recording = again
        interpreter.plain = True
        interpreter.out = []
        interpreter.loop = None

    @property
    def out(self) -> list[Node]:
        return self.interpreter.out

    def block(self, nodes: Iterable[Node]) -> None:
        """Write the reverse of a block."""
        for node in reversed([*nodes]):
            self.interpreter.origin = node.origin
            match node:
                case Op():
                    self.op(node)
                case Store() | Append() | Branch() | Loop() if self.again:
                    raise Unfit("a structure that is differentiated twice")
                case Store():
                    self.store(node)
                case Append():
                    self.append(node)
                case Moves():
                    self.moves(node)
                case Branch():
                    self.branch(node)
                case Loop():
                    self.loop(node)

    # -- single operations ---------------------------------------------------------------------

    def op(self, node: Op) -> None:
        dy = self.cotangents.pop(node.target, None)
        if dy is None or node.pull is None:
            return
        contributions = node.pull.back(self.interpreter, dy)
        given = [
            d.value if isinstance(d, Scatter | Each) else d for d in contributions if d is not None
        ]
        if sum(d is dy for d in given) != 1 or any(d.is_array and not d.fresh for d in given):
            self.owned.discard(dy)  # what still reads it must not see it change
        for x, d in zip(node.active_operands, contributions, strict=False):
            self.distribute(x, d)

    def distribute(self, x: Value, d: Contribution) -> None:
        """Add the cotangent of a structure to those of its parts."""
        if x.items is None or d is None or isinstance(d, Scatter | Each):
            self.add(x, d)
            return
        if self.again:
            raise Unfit("the cotangent of a structure is differentiated in its turn")
        if type(x.sample) not in (tuple, list) or (d.is_constant and d.items is None):
            raise Unfit("the cotangent of a structure is not told part by part")
        for i, item in enumerate(x.items):
            if d.items is not None:
                if len(d.items) != len(x.items):
                    raise Unfit("the cotangent of a structure has other parts")
                self.distribute(item, None if d.items[i].sample is None else d.items[i])
                continue
            part = result_of(operator.getitem, [d, constant(i)], {})
            if item.active and part.sample is not None:
                part.fact, part.certain = item.fact, True
                taken = self.interpreter.write(part, operator.getitem, [d, constant(i)], {}).target
                taken.fresh = False
                self.distribute(item, taken)

    def add(self, x: Value, d: Contribution) -> None:
        """Add to the cotangent of a value; the first one is an assignment."""
        if isinstance(x.fact, ListOf):
            self.add_to_list(x, d)
            return
        if d is None or not x.active or x.is_constant:
            return
        if x.items is not None:
            raise Unfit("the cotangent of a structure")
        if isinstance(d, Scatter | Each):
            assert isinstance(d, Scatter)
            self.scatter(x, d)
            return
        known = self.cotangents.get(x)
        if known is None:
            self.cotangents[x] = d
            if self.is_new(d):
                self.owned.add(d)
                if x.name:
                    d.name = self.interpreter.name("d" + x.name)
            self.given.add(d)
        elif known in self.owned and known.is_array == d.is_array:
            made = self.interpreter.definitions.get(d)
            if made is not None and made.function is operator.neg and d not in self.given:
                self.write(AddInto(self.origin, known, made.arguments[0], sign="-"))
            else:
                self.write(AddInto(self.origin, known, d))
        else:
            made = self.interpreter.definitions.get(d)
            if made is not None and made.function is operator.neg and d not in self.given:
                total = self.call(operator.sub, known, made.arguments[0])
            else:
                total = self.call(operator.add, known, d)
            self.cotangents[x] = total
            if self.is_new(total):  # and not a sum that the program has computed itself
                self.owned.add(total)
                if x.name:
                    total.name = self.interpreter.name("d" + x.name)
            self.given.add(total)

    def is_new(self, d: Value) -> bool:
        """Return whether a cotangent was computed just now, for one value alone."""
        if self.again or not d.reverse or d in self.given or d.spread is not None or d.is_constant:
            return False
        if d not in self.interpreter.definitions or d in self.interpreter.known.values():
            return False
        return d.is_scalar or d.fresh

    def add_to_list(self, x: Value, d: Contribution) -> None:
        """Add to the cotangent of a list, or of an item, of each item, or of a row."""
        root = list_root(x)
        if d is None or not root.active:
            return
        if isinstance(d, Value) and root is x and d in self.owned and x not in self.cotangents:
            self.cotangents[x] = d
            return
        buffer = self.buffer(root)
        if isinstance(d, Scatter):
            path = _lists.path_of(x, d.index)[1]
        else:
            path = [] if x.row_of is None else _lists.path_of(*x.row_of)[1]
        value = d if isinstance(d, Value) else d.value
        index = structure(tuple, path) if path else None
        node = AddInto(self.origin, buffer, value, index, each=isinstance(d, Each))
        if value.is_constant and value.sample is ZERO:
            return
        joined = value not in self.interpreter.definitions and not value.is_constant
        node.unless_none = joined and value.is_scalar
        self.write(node)

    def append(self, node: Append) -> None:
        """Take the last item from the cotangent of a list."""
        if not node.array.active:
            return
        buffer = self.buffer(node.array)
        result = Result(node.value.fact, node.value.sample)
        if node.value.is_scalar:
            result.fact = Scalar(FLOATS)
            result.sample = 1.0
        op = self.interpreter.write(result, list.pop, [buffer], {})
        op.required, op.target.reverse = True, True
        d = op.target
        if isinstance(node.value.fact, ListOf):
            self.cotangents[node.value] = d
            self.owned.add(d)
        elif node.value.active:
            self.add(node.value, projected(self.interpreter, d, node.value))

    def scatter(self, x: Value, d: Scatter) -> None:
        first = self.cotangents.get(x) is None
        buffer = self.buffer(x)
        repeats = self.may_repeat(d.index)
        value = d.value
        if value.spread is not None and value.spread.is_scalar:
            value = value.spread
        node = AddInto(self.origin, buffer, value, d.index, repeats=repeats)
        node.first = first and not repeats
        self.write(node)

    def may_repeat(self, index: Value) -> bool:
        """Return whether an index may name an entry more than once."""
        if index.items is not None and type(index.sample) is tuple:
            if any(map(self.counts, index.items)) and all(map(_is_row, index.items)):
                return False  # each row, or each column, is named once
            sequences = any(isinstance(part.sample, list | tuple) for part in index.items)
            return sequences or any(self.may_repeat(part) for part in index.items)
        if isinstance(index.fact, ArrayOf):
            return index.fact.dtype.kind != "b"
        return isinstance(index.sample, list | tuple | np.ndarray)

    def counts(self, x: Value) -> bool:
        """Return whether an index is `np.arange(n)`, and `n` is not one."""
        made = self.interpreter.definitions.get(x)
        if made is not None and made.snapshot_of is not None:
            made = self.interpreter.definitions.get(made.snapshot_of)
        if made is None or made.function is not np.arange or len(made.arguments) != 1:
            return False
        if made.target in self.interpreter.written:
            return False
        return made.target.fact == ArrayOf(np.dtype(np.intp), (MANY,))

    def buffer(self, x: Value) -> Value:
        """Return the cotangent of an array as an array that may be written to."""
        known = self.cotangents.get(x)
        if known is None:
            known = self.zero(x)
        elif known not in self.owned:
            known = self.copy(known, x)
        self.cotangents[x] = known
        self.owned.add(known)
        self.given.add(known)
        return known

    def zero(self, x: Value) -> Value:
        """Return a cotangent of nothing."""
        if x.is_scalar:
            return constant(ZERO if self.interpreter.uniform else 0.0)
        fact = x.fact
        if isinstance(fact, ListOf):
            result = Result(fact, zeros(x.sample))
            return self.interpreter.write(result, zeros, [x], {}, "d" + x.name).target
        if isinstance(fact, ArrayOf) and fact.dtype == np.float64:
            shape = _calls.array_attribute(self.interpreter, x, "shape")
            result = result_of(np.zeros, [shape], {})
            result.fact, result.certain = fact, True
            made = self.interpreter.write(result, np.zeros, [shape], {}).target
            made.shaped = shape_root(x)
            return made
        return self.call(np.zeros_like, x)

    def zero_in(self, block: list[Node], x: Value) -> Value:
        """Return a cotangent of nothing, made at the end of a block of its own."""
        outer, known = self.interpreter.out, dict(self.interpreter.known)
        self.interpreter.out = block
        d = self.zero(x)
        self.interpreter.out, self.interpreter.known = outer, known
        return d

    def copy(self, d: Value, x: Value) -> Value:
        if isinstance(x.fact, ListOf):
            result = Result(x.fact, zeros(x.sample))
            return self.interpreter.write(result, duplicate, [d], {}).target
        if d.spread is not None or not shares_axes(d.fact, x.fact):
            total = self.zero(x)
            self.write(AddInto(self.origin, total, d))
            return total
        return self.call(np.ndarray.copy, d)

    def store_in_list(self, node: Store) -> None:
        root, path = _lists.path_of(node.array, node.index)
        if self.cotangents.get(root) is None:
            return
        at = self.buffer(root)
        for index in path[:-1]:
            part = Result(ListOf(None), at.sample[0])
            row = self.interpreter.write(part, operator.getitem, [at, index], {}).target
            row.row_of = at, index
            at = row
        if node.value.active:
            part = Result(Scalar(FLOATS), 1.0)
            d = self.interpreter.write(part, operator.getitem, [at, path[-1]], {}).target
            self.write(Store(self.origin, at, path[-1], constant(ZERO)))
            self.add(node.value, projected(self.interpreter, d, node.value))
        else:
            self.write(Store(self.origin, at, path[-1], constant(ZERO)))

    def store(self, node: Store) -> None:
        if isinstance(node.array.fact, ListOf):
            self.store_in_list(node)
            return
        if self.cotangents.get(node.array) is None:
            return
        buffer = self.buffer(node.array)
        if node.value.active:
            if self.may_repeat(node.index):
                raise Unfit("entries that may repeat are assigned")
            d = _calls.item(self.interpreter, buffer, node.index)
            if d.is_array:
                d = self.call(np.ndarray.copy, d)
            if not (node.alike and d.is_array):
                d = projected(self.interpreter, d, node.value)
            self.write(Store(self.origin, buffer, node.index, constant(0.0)))
            self.add(node.value, d)
        else:
            self.write(Store(self.origin, buffer, node.index, constant(0.0)))

    def moves(self, node: Moves) -> None:
        taken = [(source, self.cotangents.pop(target, None)) for target, source in node.pairs]
        for source, d in taken:
            if d is not None:
                for x, part in _parts(source, d):
                    self.add(x, part)

    # -- structure -----------------------------------------------------------------------------

    def branch(self, node: Branch) -> None:
        if node in self.silent:  # the turn that ends the loop has nothing to go back through
            self.block(node.orelse if _stops(node.body) else node.body)
            return
        before = dict(self.cotangents)
        then, first = self.nested(node.body, dict(before))
        other, second = self.nested(node.orelse, dict(before))
        for target in node.joined:
            first.pop(target, None)
            second.pop(target, None)
        self.cotangents = {}
        left: list[tuple[Value, Value]] = []
        right: list[tuple[Value, Value]] = []
        for x in {**first, **second}:
            a, b = first.get(x), second.get(x)
            if a is b and a is not None:
                self.cotangents[x] = a
                continue
            joined = self.named(x, a if a is not None else b)
            if a is None or b is None:
                self.filled.add(x)
            owned = True
            for d, pairs, nodes in ((a, left, then), (b, right, other)):
                if d is None:
                    d = self.zero_in(nodes, x)
                elif d not in self.owned:
                    owned = False
                pairs.append((joined, d))
            if owned:
                self.owned.add(joined)
            self.given.add(joined)
            self.cotangents[x] = joined
        then.append(Moves(self.origin, left))
        other.append(Moves(self.origin, right))
        if any(_does_something(block) for block in (then, other)):
            self.write(Branch(node.origin, node.test, then, other))

    def nested(self, nodes: list[Node], cotangents: Cotangents) -> tuple[list[Node], Cotangents]:
        """Write the reverse of a block of its own; return it, with the cotangents at its end."""
        outer, self.cotangents = self.cotangents, cotangents

        def work() -> Cotangents:
            self.block(nodes)
            return self.cotangents

        block, found = self.interpreter.nested(work)
        self.cotangents = outer
        return block, found

    def named(self, x: Value, like: Value | None) -> Value:
        """Return a new variable for the cotangent of a value."""
        fact, sample = x.fact, x.sample
        if like is not None and isinstance(like.fact, ArrayOf) == isinstance(fact, ArrayOf):
            sample = like.sample
        if isinstance(fact, Scalar):
            fact = Scalar(fact.classes | {float})
        value = self.interpreter.value(fact, sample, "d" + x.name)
        value.shaped = shape_root(x)
        return value

    def loop(self, node: Loop) -> None:
        for inner in node.body:
            if isinstance(inner, Branch):
                stopping = [b for b in (inner.body, inner.orelse) if _stops(b)]
                if len(stopping) == 1 and _is_silent(stopping[0]):
                    self.silent.add(inner)
                break
            if not isinstance(inner, Op):
                break
        after = self.cotangents
        carried = {
            phi for phi, out in zip(node.phis, node.outs, strict=True) if after.get(out) is not None
        }
        written = [inner for inner in walk(node.body) if isinstance(inner, Store | Append)]
        stored = {list_root(inner.array) for inner in written}
        outer = {x for x in stored if after.get(x) is not None}
        outer |= {n.array for n in written if isinstance(n, Append) and n.array.active}
        outer -= {x for x in outer if is_made_in(x, node)}
        while True:
            state = self.state()
            _, found, _ = self.turn(node, carried, outer)
            grown = {p for p in node.phis if found.get(p) is not None} | carried
            inside = {*node.phis}
            more = {x for x in found if x not in inside and not is_made_in(x, node)} | outer
            if grown == carried and more == outer:
                break
            carried, outer = grown, more
            self.restore(state)
        self.restore(state)
        self.write_loop(node, after, carried, outer)

    def write_loop(
        self, node: Loop, after: Cotangents, carried: set[Value], outer: set[Value]
    ) -> None:
        start: list[tuple[Value, Value]] = []
        accumulators: dict[Value, Value] = {}
        for x in sorted(outer, key=lambda x: x.name):
            d = after.get(x)
            if d is not None and d in self.owned and not d.is_constant:
                accumulators[x] = d
                continue
            if d is None:
                self.filled.add(x)
            if x.is_scalar:
                named = self.named(x, d)
                start.append((named, constant(0.0) if d is None else d))
            else:
                named = self.zero(x) if d is None else self.copy(d, x)
            accumulators[x] = named
        variables: dict[Value, Value] = {}
        for phi, out in zip(node.phis, node.outs, strict=True):
            d = after.pop(out, None)
            if phi in carried:
                variables[phi] = self.named(phi, d)
                if d is None:
                    self.filled.add(phi)
                start.append((variables[phi], self.zero(phi) if d is None else d))
        self.write(Moves(self.origin, start))
        rest = {x: d for x, d in after.items() if x not in outer}
        body, _, _ = self.turn(node, carried, outer, accumulators, variables)
        self.interpreter.out.append(Backwards(node.origin, node, body))
        self.cotangents = rest
        for x, d in accumulators.items():
            self.cotangents[x] = d
            self.owned.add(d)
            self.given.add(d)
        for phi in carried:
            self.cotangents[phi] = variables[phi]
            self.given.add(variables[phi])
            self.owned.discard(variables[phi])

    def turn(
        self, node: Loop, carried: set[Value], outer: set[Value],
        accumulators: dict[Value, Value] | None = None,
        variables: dict[Value, Value] | None = None,
    ) -> tuple[list[Node], Cotangents, dict[Value, Value]]:  # fmt: skip
        """Write the reverse of one turn."""
        if accumulators is None:
            accumulators = {x: self.named(x, None) for x in outer}
        if variables is None:
            variables = {x: self.named(x, None) for x in carried}
        cotangents: Cotangents = {**accumulators, **variables}
        for d in accumulators.values():
            self.owned.add(d)
        self.given |= {*cotangents.values()}
        body, found = self.nested(node.body, cotangents)
        pairs = []
        for phi in node.phis:
            if phi in carried:
                if found.get(phi) is None:
                    self.filled.add(phi)
                d = found.get(phi) or self.zero_in(body, phi)
                if d is not variables[phi]:
                    pairs.append((variables[phi], d))
        for x, d in accumulators.items():
            if found.get(x) is not d:
                raise Unfit("the cotangent of an array is replaced inside a loop")
        body.append(Moves(self.origin, pairs))
        return body, found, variables

    def state(self) -> Any:
        return (
            dict(self.cotangents), set(self.owned), set(self.given), set(self.filled),
            set(self.interpreter.used), dict(self.interpreter.definitions),
            len(self.interpreter.out),
        )  # fmt: skip

    def restore(self, state: Any) -> None:
        cotangents, owned, given, filled, used, definitions, length = state
        self.cotangents, self.owned, self.given = dict(cotangents), set(owned), set(given)
        self.filled = set(filled)
        self.interpreter.used = set(used)
        self.interpreter.definitions = dict(definitions)
        del self.interpreter.out[length:]

    # -- writing -------------------------------------------------------------------------------

    @property
    def origin(self) -> Any:
        return self.interpreter.origin

    def write(self, node: Node) -> None:
        self.interpreter.out.append(node)

    def call(self, f: Any, *xs: Value) -> Value:
        if f in (np.zeros_like, np.ndarray.copy):
            return self.interpreter.write(result_of(f, [*xs], {}), f, [*xs], {}).target
        return _calls.call(self.interpreter, f, [*xs], {}, "")


def _parts(x: Value, d: Value) -> list[tuple[Value, Value]]:
    if x.items is not None:
        raise Unfit("a structure is moved")
    return [(x, d)]


def _is_row(x: Value) -> bool:
    """Return whether a part of an index is a number, or an array of one axis."""
    if isinstance(x.fact, ArrayOf):
        return len(x.fact.axes) == 1 and x.fact.dtype.kind in "iu"
    return isinstance(x.fact, Scalar)


def _stops(block: list[Node]) -> bool:
    return bool(block) and isinstance(block[-1], Stop)


def _is_silent(block: list[Node]) -> bool:
    """Return whether no gradient comes into a block that leaves its loop."""
    for node in block:
        if isinstance(node, Store | Append) and list_root(node.array).active:
            return False
        if isinstance(node, Moves) and any(target.active for target, _ in node.pairs):
            return False
        if isinstance(node, Loop) or not all(map(_is_silent, blocks_of(node))):
            return False
    return True


def _does_something(block: list[Node]) -> bool:
    return any(not isinstance(node, Moves) or node.pairs for node in block)
