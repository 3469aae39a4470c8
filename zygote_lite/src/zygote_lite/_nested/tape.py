"""Gradients of gradients: a tape whose every step is itself recorded on an outer tape.

Inside a function that is being differentiated, `gradient` and its kin run on a `NestedTape`. A
value has a node on each of the two tapes. A rule is applied by running its body on the outer tape.
The reverse pass of the inner tape is a forward pass of the outer one: cotangents are boxed together
with their nodes there. The two levels cannot be confused, whatever a closure has captured.
So are the shadows of arrays that are written in place: the outer tape writes them.
"""

import functools
import operator
import types
from typing import Any

import numpy as np

from rulescore import accumulate, find_rule, project
from rulescore.watching import contents, refuse_change
from zygote_lite._activity.activity import is_text, text_pullback
from zygote_lite._activity.classes import member_of
from zygote_lite._activity.constants import run_constant
from zygote_lite._activity.contents import contents_of, hold_the_same
from zygote_lite._activity.marks import mark_active
from zygote_lite._activity.saved import note_captured, write_again
from zygote_lite._activity.walk import captured_within
from zygote_lite._cotangents.kinds import VALUE, kind_of, owner_of
from zygote_lite._cotangents.registry import UndoOnly
from zygote_lite._cotangents.run import current_store, state
from zygote_lite._cotangents.store import Store
from zygote_lite._ir.intrinsics import build_tuple, join_tuple, unpack
from zygote_lite._ir.places import where
from zygote_lite._nested.cotangents import Box, Pair, TuplePair, inner_of, outer_of, pair
from zygote_lite._nested.pullbacks import back_of_general, back_of_linear, back_of_scalar
from zygote_lite._numpy.writes import (
    add_at,
    check_kinds,
    read_copy,
    refuse_overlap_at_mask,
    winning,
    write_array,
)
from zygote_lite._tape.functions import of_entries
from zygote_lite._tape.generators import values_of
from zygote_lite._tape.overwriting import overwritten, refuse_contents
from zygote_lite._tape.rules import (
    naming_line,
    needed_of,
    plan_rule,
    pull_text,
    raise_failure,
    raise_refusal,
)
from zygote_lite._tape.tape import Tape
from zygote_lite.errors import Fault


class NestedStore(Store):
    """A store whose shadows are arrays that are written on the outer tape."""

    def __init__(self, outer: Tape) -> None:
        super().__init__()
        self.outer = outer

    def add_to_shadow(self, x: Any, dx: Any) -> None:
        """Add to the cotangent of an array that is written in place."""
        view, index = self.shadow_view(x, make=True), Ellipsis
        if self.overlaps(x):
            view, index = self.places_in_shadow(x)
        self.outer.write((None, None, None, dx.node), add_at, view, index, dx.value)

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


class HeldByFunction:
    """What containers hold that a function reads, which is given to a rule.

    The pullback of the rule may run the function again. Going back, the containers hold what they
    held then, and the outer tape knows only what they hold at the end.
    """

    def __init__(self, operands: tuple[Any, ...]) -> None:
        self.operands = operands
        self.before = contents_of(operands)
        self.has_changed = False

    def compare(self) -> None:
        """Note whether the containers have changed since."""
        self.has_changed = not hold_the_same(self._containers(self.before), self._containers())

    def _containers(self, contents: Any = None) -> list[tuple[Any, Any]]:
        found = contents_of(self.operands) if contents is None else contents
        return [(x, held) for x, held in found if not isinstance(x, np.ndarray)]

    def guarding(self, back: Any) -> Any:
        """Return the pullback, which says whether the containers have changed as it runs."""

        def guarded(dy: Any) -> Any:
            was, state.stale = state.stale, self.has_changed
            try:
                return back(dy)
            finally:
                state.stale = was

        return guarded


_COMPUTED = (types.GetSetDescriptorType, types.MemberDescriptorType)


class NestedTape(Tape):
    """A tape inside the differentiation of another tape."""

    __slots__ = ("held", "outer")

    def __init__(self, outer: Tape) -> None:
        super().__init__()
        self.outer = outer
        self.written = {}  # writes of rule bodies are the outer tape's alone
        self.held: list[HeldByFunction] = []

    def back(self, cotangents: dict[Any, Any]) -> None:
        """Walk back, and note first what has changed since functions were given to rules."""
        for held in self.held:
            held.compare()
        super().back(cotangents)

    def defaults_of(self, f: Any) -> dict[str, Any]:
        """Return the nodes of a function's defaults, which may have been defined on either tape."""
        outer = {name: pair(None, node) for name, node in self.outer.defaults_of(f).items()}
        return {**outer, **super().defaults_of(f)}

    def node_of_entries(self, nodes: tuple[Any, ...]) -> Any:
        """Return the numbers of a tuple, which is one value on both tapes."""
        return self.with_parts(self.record(None, of_entries(len(nodes)), (None, *nodes))[1], nodes)

    def parts_of(self, node: Any) -> tuple[Any, ...] | None:
        """Return the numbers of what a tuple holds, where recorded code made it."""
        if isinstance(node, TuplePair):
            return node.parts
        if not isinstance(node, Pair) or node.inner is not None:
            return None
        outer = self.outer.parts_of(node.outer)
        return None if outer is None else tuple([pair(None, part) for part in outer])

    def with_parts(self, node: Any, parts: tuple[Any, ...]) -> Any:
        """Return the numbers of a tuple that was just made, with those of what it holds."""
        return node if node is None or state.has_texts else TuplePair(node, parts)

    def text_node(self) -> Any:
        """Return the numbers of a text that comes out of a container."""
        return pair(self.input(), self.outer.text_node())

    def record(self, y: Any, back: Any, nodes: tuple[Any, ...], fresh: bool = False) -> Any:
        """Note a step of the engine's own on both tapes."""
        _, at = self.outer.record(y, back, outer_of(nodes), fresh)
        _, here = super().record(y, back, inner_of(nodes), fresh)
        return y, pair(here, at)

    def call(self, nodes: tuple[Any, ...], f: Any, /, *xs: Any, **kws: Any) -> Any:
        """Run a call on both tapes, or on the outer one where the inner one has no part in it."""
        if f is write_array or f is write_again or f is add_at:
            self.write(nodes, f, *xs)
            return None, None
        if f is getattr and kind_of(xs[0]) == VALUE:
            member = member_of(type(xs[0]), xs[1])
            rule = find_rule(member, xs[0]) if isinstance(member, _COMPUTED) else None
            if rule is not None and rule.kind in ("general", "linear"):  # `x.T`, say
                return self.by_rule((None, nodes[1]), member, xs[:1], {})
        if (f is operator.getitem or f is unpack) and type(xs[0]) is tuple:
            known = self.parts_of(nodes[1])
            if known is not None and f is unpack and xs[1:] == (len(known), None):
                return xs[0], nodes[1]
            if known is not None and f is operator.getitem and type(xs[1]) is int:
                return xs[0][xs[1]], known[xs[1]]
        if f is join_tuple and not (self.written or self.outer.written):
            parts = self.joined_parts(nodes, xs)
        else:
            parts = self.numbered(nodes, xs)[1:] if f is build_tuple else None
        y, node = self.resolve(nodes, f, xs, kws)  # nothing at once: there are two tapes
        return y, node if parts is None else self.with_parts(node, parts)

    def joined_parts(self, nodes: tuple[Any, ...], xs: tuple[Any, ...]) -> Any:
        """Return the numbers of what tuples hold that are joined; `None` where they are not known.

        Arguments:
            nodes: the numbers of the function that joins them, and of the tuples.
            xs: the tuples, or other iterables.
        """
        if any(type(x) is not tuple for x in xs):
            return None
        joined: list[Any] = []
        for x, node in zip(xs, nodes[1:], strict=True):
            parts = (None,) * len(x) if node is None else self.parts_of(node)
            if parts is None:
                return None
            joined.extend(parts)
        return tuple(joined)

    def write(self, nodes: tuple[Any, ...], f: Any, x: Any, index: Any, value: Any) -> None:
        """Write into an array on the outer tape; going back, the write is undone there too."""
        outer = self.outer
        check_kinds(x, value, bool(nodes[3]))
        if f is not add_at:
            refuse_overlap_at_mask(x, index, value, nodes)
        winners = None if f is add_at else winning(x, index)
        x_at, value_at, value_here = outer_of(nodes)[1], outer_of(nodes)[3], inner_of(nodes)[3]
        old, at_old = outer.call((None, x_at, None), read_copy, x, index)
        outer.write((None, x_at, None, value_at), f, x, index, value)
        self.written[id(owner_of(x))] = owner_of(x)
        if nodes[1] or nodes[3]:  # on the inner tape alone, it may be
            mark_active(owner_of(x))

        def write_back(dy: Any) -> tuple[Any, ...]:
            store = current_store()
            assert isinstance(store, NestedStore)
            d = store.written_cotangent(x, index, forget=f is not add_at)
            if d is not None and value_here is not None:
                if winners is not None:
                    kept, at = outer.call((None, None, d.node, None), np.where, winners, d.value, 0)
                    d = Box(kept, at, outer)
                d = d.through(project, value)
            else:
                d = None
            now, at_now = outer.call((None, None, None), read_copy, x, index)
            outer.write((None, None, None, at_old), write_again, x, index, old)
            again = (None, None, None, at_now)
            store.redo.append(lambda: outer.write(again, write_again, x, index, now))
            return None, None, None, d

        nodes = self.numbered(nodes, (x, index, value))
        Tape.record(self, None, UndoOnly(write_back), inner_of(nodes))

    def numbered(self, nodes: tuple[Any, ...], xs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Give written arrays that came from inactive code numbers on both tapes."""
        inner = super().numbered(inner_of(nodes), xs)
        outer = self.outer.numbered(outer_of(nodes), xs)
        found = zip(nodes, inner, outer, strict=True)
        return tuple(
            [n if n and n.inner is a and n.outer is b else pair(a, b) for n, a, b in found]
        )

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
                raise Fault.NESTED(
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
                outer.write(nothing, write_again, x, Ellipsis, old)
                write = (nothing, write_again, x, Ellipsis, now)
                store.redo.append(functools.partial(outer.write, *write))
            return ()

        return undone_back

    def by_rule(
        self, nodes: tuple[Any, ...], f: Any, xs: tuple[Any, ...], kws: dict[str, Any]
    ) -> Any:
        """Apply a rule by running its body on the outer tape."""
        read: tuple[tuple[Any, ...], tuple[Any, ...]] = self.as_read_by_rules(nodes, f, xs, kws)
        nodes, xs = read
        plan = plan_rule(nodes, f, xs, kws)
        if plan is None:
            return None
        f, rule, arguments, options, moved = plan
        through_text = pull_text(nodes, f, xs, kws, rule)
        if through_text is not None:
            return self.record(*through_text, nodes)
        if rule.kind != "constant":
            note_captured(f, (*xs, *kws.values()))
        names = list(kws)
        by_name = dict(zip(names, nodes[1 + len(xs) :], strict=True))
        operands = (*nodes[1 : 1 + len(xs)], *(by_name.get(name) for name in moved))
        at = outer_of(operands)
        inner = (inner_of(nodes)[0], *inner_of(operands))
        needed = needed_of(inner, (f, *arguments), rule)
        before = contents(arguments) if rule.watches and rule.kind != "constant" else None
        if rule.kind == "constant":
            xs, kws = tuple(map(values_of, xs)), {name: values_of(x) for name, x in kws.items()}
            run = functools.partial(self.outer.call, outer_of(nodes), f, *xs, **kws)
            y, node = run_constant(
                rule, nodes, f, (*xs, *kws.values()), run, operator.itemgetter(0)
            )
            if not is_text(y):
                return y, pair(None, node)
            back: Any = None
        elif rule.kind == "scalar":
            y, node = self.outer.call(
                (None, *at, *(None for _ in options)), f, *arguments, **options
            )
            back = back_of_scalar(self.outer, rule, arguments, at, y, node, needed)
        elif rule.kind == "linear":
            flags = (None, *at, *(None for _ in options))
            run = f if any(at) else rule.primal  # which runs methods of foreign arrays, too
            y, node = self.outer.call(flags, run, *arguments, **options)
            back = back_of_linear(self.outer, rule, arguments, at, options, y)
        else:
            given = (f, *arguments) if rule.kind == "instance" else arguments
            at_given = (nodes[0] and nodes[0].outer, *at) if rule.kind == "instance" else at
            flags = (None, *at_given, *(None for _ in options))
            try:
                result, both = self.outer.call(flags, rule.body, *given, **options)
            except NotImplementedError as error:
                raise_refusal(error, rule, f, arguments, options)
            except np.linalg.LinAlgError as error:
                raise_failure(error, f)
                raise
            rule.answer(result, f, arguments)  # raises where it is no pair
            y, node = self.outer.call((None, both, None), operator.getitem, result, 0)
            pullback, at_back = self.outer.call((None, both, None), operator.getitem, result, 1)
            back = back_of_general(self.outer, rule, pullback, at_back, y, (f, *arguments), needed)
            if rule.needs_ad:
                self.held.append(HeldByFunction((f, *arguments)))
                back = self.held[-1].guarding(back)
        refuse_change(rule, arguments, before)
        if rule.may_raise and rule.kind != "constant":
            back = naming_line(f, back)
        if is_text(y):  # the outer tape may not know that it is active
            back = text_pullback(y, len(nodes))
        _, here = Tape.record(self, y, back, inner, fresh=True)
        for option, x in overwritten(f, xs, kws):
            refuse_contents(self, f, option, x)
        return y, pair(here, node)
