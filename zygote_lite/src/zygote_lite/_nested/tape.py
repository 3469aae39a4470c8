"""Gradients of gradients: a tape whose every step is itself recorded on an outer tape.

Inside a function that is being differentiated, `gradient` and its kin run on a `NestedTape`. A
value has a node on each of the two tapes. A rule is applied by running its body on the outer tape.
The reverse pass of the inner tape is a forward pass of the outer one: cotangents are boxed together
with their nodes there. The two levels cannot be confused, whatever a closure has captured.
"""

import functools
import operator
import types
from typing import Any

import numpy as np

from rulescore import accumulate, find_rule
from zygote_lite._activity.activity import add_addresses, captured_within
from zygote_lite._activity.classes import member_of
from zygote_lite._activity.saved import note_captured
from zygote_lite._cotangents.kinds import VALUE, kind_of, owner_of
from zygote_lite._cotangents.pullbacks import UndoOnly
from zygote_lite._cotangents.registry import Traced
from zygote_lite._cotangents.run import current_store, state, take
from zygote_lite._cotangents.store import Store
from zygote_lite._ir.places import where
from zygote_lite._nested.cotangents import Box, box, projected_entries, scaled, unbox
from zygote_lite._numpy.writes import add_at, read_copy, winning, write_array
from zygote_lite._tape.rules import needed_of, plan_rule, pull_text
from zygote_lite._tape.tape import Tape, handed_in
from zygote_lite.errors import DifferentiationError


class Pair:
    """The numbers of one value on the inner and on the outer tape."""

    __slots__ = ("inner", "outer")

    def __init__(self, inner: Any, outer: Any) -> None:
        self.inner = inner
        self.outer = outer


def pair(inner: Any, outer: Any) -> Pair | None:
    """Return both numbers of a value, or `None` where it has neither."""
    return None if inner is None and outer is None else Pair(inner, outer)


def _inner(nodes: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple([None if n is None else n.inner for n in nodes])


def _outer(nodes: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple([None if n is None else n.outer for n in nodes])


class NestedStore(Store):
    """A store whose shadows are arrays that are written on the outer tape."""

    def __init__(self, outer: Tape) -> None:
        super().__init__()
        self.outer = outer

    def add_to_shadow(self, x: Any, dx: Any) -> None:
        """Add to the cotangent of an array that is written in place."""
        if self.overlaps(x):
            raise DifferentiationError(
                f"{where()}: an array whose entries share memory (as after broadcasting) is read "
                "where it is written, inside a gradient that is itself differentiated; copy it"
            )
        view = self.shadow_view(x, make=True)
        self.outer.write((None, None, None, dx.node), add_at, view, Ellipsis, dx.value)

    def written_cotangent(self, x: Any, index: Any, forget: bool) -> Any:
        """Return the cotangent of a part of an array that is written in place."""
        view = self.shadow_view(x)
        if view is None:
            return None
        d = Box(*self.outer.call((None, None, None), read_copy, view, index), self.outer)
        if forget:
            self.outer.write((None,) * 4, write_array, view, index, 0.0)
        return d

    def take_shadow(self, x: Any) -> Any:
        """Return the cotangent of an array that is written in place at its creation."""
        return self.written_cotangent(x, Ellipsis, forget=True)

    def _with_shadow(self, x: Any, dx: Any) -> Any:
        owner = owner_of(x)
        if id(owner) not in self.shadows or id(owner) in self.aliases:
            return dx
        return accumulate(dx, self.written_cotangent(x, Ellipsis, forget=self.taking))


_COMPUTED = (types.GetSetDescriptorType, types.MemberDescriptorType)


class NestedTape(Tape):
    """A tape inside the differentiation of another tape."""

    __slots__ = ("outer",)

    def __init__(self, outer: Tape) -> None:
        super().__init__()
        self.outer = outer
        self.written = {}  # writes of rule bodies are the outer tape's alone

    def text_node(self) -> Any:
        """Return the numbers of a text that comes out of a container."""
        return pair(self.input(), self.outer.input())

    def record(self, y: Any, back: Any, nodes: tuple[Any, ...], fresh: bool = False) -> Any:
        """Note a step of the engine's own on both tapes."""
        _, at = self.outer.record(y, back, _outer(nodes), fresh)
        _, here = super().record(y, back, _inner(nodes), fresh)
        return y, pair(here, at)

    def call(self, nodes: tuple[Any, ...], f: Any, /, *xs: Any, **kws: Any) -> Any:
        """Run a call on both tapes, or on the outer one where the inner one has no part in it."""
        if f is write_array or f is add_at:
            self.write(nodes, f, *xs)
            return None, None
        if f is getattr and kind_of(xs[0]) == VALUE:
            member = member_of(type(xs[0]), xs[1])
            rule = find_rule(member, xs[0]) if isinstance(member, _COMPUTED) else None
            if rule is not None and rule.kind in ("general", "linear"):  # `x.T`, say
                return self.by_rule((None, nodes[1]), member, xs[:1], {})
        return super().call(nodes, f, *xs, **kws)

    def write(self, nodes: tuple[Any, ...], f: Any, x: Any, index: Any, value: Any) -> None:
        """Write into an array on the outer tape; going back, the write is undone there too."""
        outer = self.outer
        winners = winning(x, index) if f is write_array else None
        x_at, value_at, value_here = _outer(nodes)[1], _outer(nodes)[3], _inner(nodes)[3]
        old, at_old = outer.call((None, x_at, None), read_copy, x, index)
        outer.write((None, x_at, None, value_at), f, x, index, value)
        self.written[id(owner_of(x))] = owner_of(x)

        def write_back(dy: Any) -> tuple[Any, ...]:
            store = current_store()
            assert isinstance(store, NestedStore)
            d = store.written_cotangent(x, index, forget=f is write_array)
            if d is not None and value_here is not None:
                if winners is not None:
                    kept, at = outer.call((None, None, d.node, None), np.where, winners, d.value, 0)
                    d = Box(kept, at, outer)
                d = d.projected(value)
            else:
                d = None
            now, at_now = outer.call((None, None, None), read_copy, x, index)
            outer.write((None, None, None, at_old), write_array, x, index, old)
            again = (None, None, None, at_now)
            store.redo.append(lambda: outer.write(again, write_array, x, index, now))
            return None, None, None, d

        nodes = self.numbered(nodes, (x, index, value))
        Tape.record(self, None, UndoOnly(write_back), _inner(nodes))

    def numbered(self, nodes: tuple[Any, ...], xs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Give written arrays that came from inactive code numbers on both tapes."""
        inner = super().numbered(_inner(nodes), xs)
        outer = self.outer.numbered(_outer(nodes), xs)
        return tuple([pair(a, b) for a, b in zip(inner, outer, strict=True)])

    def read(self, nodes: tuple[Any, ...], x: Any, index: Any) -> Any:
        """Read a part of an array by its rule: an indexed cotangent cannot be on the outer tape."""
        done = self.by_rule(nodes, operator.getitem, (x, index), {})
        return self.by_callable(nodes, operator.getitem, (x, index), {}) if done is None else done

    def run_inactive(self, f: Any, xs: tuple[Any, ...], kws: dict[str, Any]) -> Any:
        """Run a call that has no part in either gradient."""
        generated = self.generator_of(f, xs, kws)
        if generated is not None:
            return generated
        before = state.writes
        held = captured_within(f, *xs, *kws.values()) if state.captured else []
        saved = [(x, np.copy(x)) for x in held if isinstance(x, np.ndarray)]
        y, node = self.outer.run_inactive(f, xs, kws)
        if state.writes != before:
            if len(saved) < len(held):
                raise DifferentiationError(
                    f"{where()}: something that was used before is changed in place inside a "
                    "gradient that is itself differentiated; make a new one instead"
                )
            Tape.record(self, None, UndoOnly(self.undone(saved)), ())
        return y, pair(None, node)

    def undone(self, saved: list[tuple[Any, Any]]) -> Any:
        """Return what puts back on the outer tape what inactive code has changed."""
        outer, nothing = self.outer, (None,) * 4

        def undone_back(dy: Any) -> tuple[Any, ...]:
            store = current_store()
            for x, old in saved:
                now = np.copy(x)
                outer.write(nothing, write_array, x, Ellipsis, old)
                write = (nothing, write_array, x, Ellipsis, now)
                store.redo.append(functools.partial(outer.write, *write))
            return ()

        return undone_back

    def by_rule(
        self, nodes: tuple[Any, ...], f: Any, xs: tuple[Any, ...], kws: dict[str, Any]
    ) -> Any:
        """Apply a rule by running its body on the outer tape."""
        plan = plan_rule(nodes, f, xs, kws, handed_in)
        if plan is None:
            return None
        rule, arguments, options, moved = plan
        through_text = pull_text(nodes, f, xs, kws, rule)
        if through_text is not None:
            return self.record(*through_text, nodes)
        if rule.kind != "constant":
            note_captured(f, xs)
        names = list(kws)
        by_name = dict(zip(names, nodes[1 + len(xs) :], strict=True))
        operands = (*nodes[1 : 1 + len(xs)], *(by_name.get(name) for name in moved))
        at = _outer(operands)
        inner = (_inner(nodes)[0], *_inner(operands))
        needed = needed_of(inner, (f, *arguments))
        if rule.kind == "constant":
            y, node = self.outer.call(_outer(nodes), f, *xs, **kws)
            return y, pair(None, node)
        if rule.kind == "scalar":
            y, node = self.outer.call((None, *at), f, *arguments)
            back = self._scalar_back(rule, arguments, at, y, node, needed)
        elif rule.kind == "linear":
            flags = (None, *at, *(None for _ in options))
            run = f if any(at) else rule.primal  # which runs methods of foreign arrays, too
            y, node = self.outer.call(flags, run, *arguments, **options)
            back = self._linear_back(rule, arguments, at, options, y)
        else:
            given = (f, *arguments) if rule.kind == "instance" else arguments
            at_given = (nodes[0] and nodes[0].outer, *at) if rule.kind == "instance" else at
            flags = (None, *at_given, *(None for _ in options))
            result, both = self.outer.call(flags, rule.body, *given, **options)
            y, node = self.outer.call((None, both, None), operator.getitem, result, 0)
            pullback, at_back = self.outer.call((None, both, None), operator.getitem, result, 1)
            if rule.kind == "general":
                needed = needed[1:]
            back = self._general_back(pullback, at_back, y, (f, *arguments), needed)
        _, here = Tape.record(self, y, back, inner, fresh=True)
        return y, pair(here, node)

    def _scalar_back(
        self, rule: Any, xs: tuple[Any, ...], at: tuple[Any, ...], y: Any, node: Any, needed: Any
    ) -> Any:
        outer = self.outer

        def scalar_back(dy: Any) -> tuple[Any, ...]:
            if dy is None:
                return (None,) * (len(xs) + 1)
            given = (*xs, y) if rule.takes_out else xs
            nodes = (None, *at, node) if rule.takes_out else (None, *at)
            with np.errstate(all="ignore"):
                if rule.partials is None:
                    partials, at_all = outer.call(nodes, rule.body, *given)
                found: list[Any] = []
                for i, x in enumerate(xs):
                    if not needed[i + 1]:
                        found.append(None)
                        continue
                    if rule.partials is not None:
                        p, at_p = outer.call(nodes, rule.partials[i], *given)
                    elif len(xs) == 1:
                        p, at_p = partials, at_all
                    else:
                        p, at_p = outer.call((None, at_all, None), operator.getitem, partials, i)
                    if p is None:
                        found.append(None)
                        continue
                    d = Box(*outer.call((None, dy.node, at_p), scaled, dy.value, p), outer)
                    found.append(d.projected(x))
            return None, *found

        return scalar_back

    def _linear_back(
        self, rule: Any, xs: tuple[Any, ...], at: tuple[Any, ...], options: dict[str, Any], y: Any
    ) -> Any:
        outer = self.outer
        # an adjoint depends on no number of the arguments in which a function is linear
        flags = [None if i in rule.linear else node for i, node in enumerate(at)]

        def linear_back(dy: Any) -> tuple[Any, ...]:
            dy = take(y, dy)
            found: list[Any] = [None] * (len(xs) + 1)
            if dy is None:
                return tuple(found)
            value, node = unbox(dy, outer)
            nodes = (None, node, *flags, *(None for _ in options))
            given = box(*outer.call(nodes, rule.body, value, *xs, **options), outer)
            store = state.store
            assert store is not None
            for i, d in zip(rule.linear, (given,) if len(rule.linear) == 1 else given, strict=True):
                found[i + 1] = store.add(xs[i], projected_entries(d, xs[i]))
            return tuple(found)

        return linear_back

    def _general_back(
        self, pullback: Any, at_back: Any, y: Any, operands: tuple[Any, ...],
        needed: tuple[bool, ...],
    ) -> Any:  # fmt: skip
        """Return the pullback of a rule with a body; `operands` are the function and arguments."""
        outer = self.outer

        def general_back(dy: Any) -> tuple[Any, ...]:
            dy = take(y, dy)
            if dy is None or pullback is None:
                return (None,) * len(operands)
            value, node = unbox(dy, outer)
            if type(pullback) is tuple:
                boxed = self._parts(pullback, at_back, needed, value, node)
            else:
                boxed = box(*outer.call((at_back, node), pullback, value), outer)
            boxed = boxed if len(needed) == len(operands) else (None, *boxed)
            store = state.store
            assert store is not None
            return tuple([store.add(x, d) for x, d in zip(operands, boxed, strict=False)])

        return general_back

    def _parts(
        self, parts: tuple[Any, ...], at: Any, needed: tuple[bool, ...], value: Any, node: Any
    ) -> tuple[Any, ...]:
        """Return the boxed cotangents that the parts of a pullback give, where they are needed."""
        outer = self.outer
        if len(parts) == 2 and type(parts[1]) is tuple:  # what the parts share comes first
            shared, at_shared = outer.call((None, at, None), operator.getitem, parts, 0)
            value, node = outer.call((at_shared, node), shared, value)
            parts, at = outer.call((None, at, None), operator.getitem, parts, 1)
        found: list[Any] = []
        for i, is_needed in zip(range(len(parts)), needed, strict=False):
            part, at_part = outer.call((None, at, None), operator.getitem, parts, i)
            if part is None or not is_needed:
                found.append(None)
            else:
                found.append(box(*outer.call((at_part, node), part, value), outer))
        return tuple(found)


class NestedRun:
    """A function run on a nested tape, and its reverse pass."""

    def __init__(
        self, outer: Tape, f: Any, nodes: tuple[Any, ...], flags: tuple[Any, ...], xs: Any, kws: Any
    ) -> None:
        self.outer, self.operands, self.flags = outer, (f, *xs, *kws.values()), flags
        self.tape = NestedTape(outer)
        for x, flag in zip(self.operands, flags, strict=True):
            if flag:
                add_addresses(x)
        self.nodes = tuple(
            [
                pair(self.tape.input(x) if flag else None, node)
                for x, flag, node in zip(self.operands, flags, nodes, strict=True)
            ]
        )
        self.y, at = self.tape.call(self.nodes, f, *xs, **kws)
        self.inner = None if at is None else at.inner
        self.at_y = None if at is None else at.outer

    def back(self, dy: Any) -> list[Any]:
        """Return the boxed cotangents of the function and its arguments."""
        saved, state.store = state.store, NestedStore(self.outer)
        store = state.store
        try:
            given = store.add(self.y, dy)
            cotangents = {} if self.inner is None or given is None else {self.inner: given}
            self.tape.back(cotangents)
            found = []
            for x, node, flag in zip(self.operands, self.nodes, self.flags, strict=True):
                d = cotangents.get(node.inner) if flag and node is not None else None
                found.append(store.collect(x, d) if flag else None)
            return found
        finally:
            store.restore()
            state.store = saved

    def value_with(self, cotangents: Any) -> Traced:
        """Return cotangents as a value on the outer tape."""
        return unbox(cotangents, self.outer)


class NestedPullback:
    """The pullback that `pullback` returns inside a function that is differentiated."""

    def __init__(self, run: NestedRun) -> None:
        self.run = run
        self.__differentiates__ = (self, self.on_tape)

    def on_tape(
        self, tape: Tape, nodes: tuple[Any, ...], xs: tuple[Any, ...], kws: dict[str, Any]
    ) -> Traced:
        """Pull a cotangent back, on the outer tape."""
        cotangents = self.run.back(box(xs[0], nodes[1], tape))
        return self.run.value_with(tuple(cotangents))

    def __call__(self, dy: Any) -> Any:
        raise DifferentiationError("a pullback outlived the gradient that it was made in")
