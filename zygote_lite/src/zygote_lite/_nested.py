"""Gradients of gradients: a tape whose every step is itself recorded on an outer tape.

Inside a function that is being differentiated, `gradient` and its kin run on a `NestedTape`: a
value has a number on each of the two tapes, a rule is applied by running its body on the outer
tape, and going back on the inner tape is going forward on the outer one: cotangents are boxed
together with their number there. The two levels cannot be confused, whatever is captured.
"""

import operator
from typing import Any

import numpy as np

from rulescore import Tangent, accumulate, project
from zygote_lite._activity import add_addresses
from zygote_lite._errors import DifferentiationError
from zygote_lite._intrinsics import build_list, build_tuple
from zygote_lite._pull import plan_rule
from zygote_lite._pullbacks import Flags, Pulled, inert
from zygote_lite._refusal import where
from zygote_lite._state import state, take
from zygote_lite._store import Boxed, Store
from zygote_lite._tables import Recorded, structural
from zygote_lite._tape import Tape
from zygote_lite._writes import add_at, write_array


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


class Box(Boxed):
    """A cotangent of the inner tape: a value, and its number on the outer one."""

    __slots__ = ("node", "tape", "value")

    def __init__(self, value: Any, node: Any, tape: Tape) -> None:
        self.value, self.node, self.tape = value, node, tape

    def __add__(self, other: Any) -> "Box":
        if not isinstance(other, Box):
            return NotImplemented
        nodes = (None, self.node, other.node)
        return Box(*self.tape.pull(nodes, accumulate, self.value, other.value), self.tape)

    def projected(self, x: Any) -> "Box | None":
        """Return the cotangent with the kind of its primal."""
        value, node = self.tape.pull((None, self.node, None), project, self.value, x)
        return None if value is None else Box(value, node, self.tape)

    def expanded(self, x: Any) -> "Box":
        """Return the cotangent repeated to the shape of `x`."""
        return Box(*self.tape.pull((None, self.node, None), expand, self.value, x), self.tape)


def box(value: Any, node: Any, tape: Tape) -> Any:
    """Return a cotangent with its numbers boxed, entry by entry."""
    if value is None:
        return None
    if isinstance(value, tuple | list):
        getitem = [
            tape.pull((None, node, None), operator.getitem, value, i) for i in range(len(value))
        ]
        entries = [box(*found, tape) for found in getitem]
        return entries if isinstance(value, list) else _like(value, entries)
    if isinstance(value, dict):
        return {
            k: box(*tape.pull((None, node, None), operator.getitem, value, k), tape) for k in value
        }
    if isinstance(value, Tangent):
        fields = {n: box(*tape.pull((None, node, None), field_of, value, n), tape) for n in value}
        return Tangent(value._primal, **fields)
    return Box(value, node, tape)


def _like(value: tuple[Any, ...], entries: list[Any]) -> Any:
    return type(value)(*entries) if hasattr(value, "_fields") else tuple(entries)


def unbox(d: Any, tape: Tape) -> Recorded:
    """Return a boxed cotangent as a value with one number on the outer tape."""
    if isinstance(d, Box):
        return d.value, d.node
    if isinstance(d, list | tuple):
        parts = [unbox(entry, tape) for entry in d]
        nodes = (None, *(node for _, node in parts))
        build = build_list if isinstance(d, list) else build_tuple
        return tape.pull(nodes, build, *(value for value, _ in parts))
    if isinstance(d, dict | Tangent):
        parts = [unbox(d[key], tape) for key in d]
        names = tuple(d)
        kind = d._primal if isinstance(d, Tangent) else dict
        nodes = (None, None, None, *(node for _, node in parts))
        return tape.pull(nodes, _make_fields, kind, names, *(value for value, _ in parts))
    return d, None


def _make_fields(kind: Any, names: tuple[Any, ...], *values: Any) -> Any:
    fields = dict(zip(names, values, strict=True))
    return fields if kind is dict else Tangent(kind, **fields)


@structural(_make_fields)
def _(flags: Flags, kind: Any, names: tuple[Any, ...], *values: Any) -> Pulled:
    if any(flags[3:]):
        raise DifferentiationError(
            f"{where()}: the gradient of an object or a dict cannot itself be differentiated; "
            "differentiate with respect to its fields"
        )
    return _make_fields(kind, names, *values), inert(len(flags))


def field_of(d: Tangent, name: str) -> Any:
    """Return one field of the cotangent of an object."""
    return d[name]


@structural(field_of)
def _(flags: Flags, d: Tangent, name: str) -> Pulled:
    raise DifferentiationError(
        f"{where()}: the cotangent of an object, which a rule returned, cannot itself be "
        "differentiated; differentiate the function that the rule is for from its source"
    )


@structural(accumulate)
def _(flags: Flags, a: Any, b: Any) -> Pulled:
    def accumulate_back(dy: Any) -> tuple[Any, ...]:
        return None, None if a is None else dy, None if b is None else dy

    return accumulate(a, b), accumulate_back


def expand(dy: Any, x: Any) -> Any:
    """Return `dy` repeated to the shape of `x`, in the kind of `x`: the adjoint of `project`."""
    kept = (1,) * (np.ndim(x) - np.ndim(dy)) + np.shape(dy)
    return project(np.broadcast_to(np.reshape(dy, kept), np.shape(x)), x)


@structural(project)
def _(flags: Flags, dx: Any, x: Any) -> Pulled:
    y = project(dx, x)

    def project_back(dy: Any) -> tuple[Any, ...]:
        if dy is None:
            return None, None, None
        return None, dy.expanded(dx) if isinstance(dy, Box) else expand(dy, dx), None

    return y, project_back if y is not None else inert(3)


@structural(expand)
def _(flags: Flags, dy: Any, x: Any) -> Pulled:
    def expand_back(d: Any) -> tuple[Any, ...]:
        if d is None:
            return None, None, None
        return None, d.projected(dy) if isinstance(d, Box) else project(d, dy), None

    return expand(dy, x), expand_back


def scaled(dy: Any, partial: Any) -> Any:
    """Return `dy * conj(partial)`, where a zero in `dy` wins over an infinite `partial`."""
    if np.iscomplexobj(partial):
        partial = np.conj(partial)
    if np.all(np.isfinite(partial)):
        return dy * partial
    return np.where(dy == 0, 0.0, dy * np.where(np.isfinite(partial), partial, 0.0))


class NestedTape(Tape):
    """A tape inside the differentiation of another tape."""

    __slots__ = ("outer",)

    def __init__(self, outer: Tape) -> None:
        super().__init__()
        self.outer = outer
        self.written = {}  # writes of rule bodies are the outer tape's

    def record(self, y: Any, back: Any, nodes: tuple[Any, ...], fresh: bool = False) -> Any:
        """Note a step of the engine's own on both tapes."""
        _, at = self.outer.record(y, back, _outer(nodes), fresh)
        _, here = super().record(y, back, _inner(nodes), fresh)
        return y, pair(here, at)

    def pull(self, nodes: tuple[Any, ...], f: Any, /, *xs: Any, **kws: Any) -> Any:
        """Run a call on both tapes, or on the outer one where the inner one has no part in it."""
        if f is write_array or f is add_at:
            raise DifferentiationError(
                f"{where()}: an array is written in place inside a gradient that is itself "
                "differentiated; make a new array instead"
            )
        return super().pull(nodes, f, *xs, **kws)

    def read(self, nodes: tuple[Any, ...], x: Any, index: Any) -> Any:
        """Read a part of an array, by the rule: a part is no value on the outer tape."""
        done = self.by_rule(nodes, operator.getitem, (x, index), {})
        return self.call(nodes, operator.getitem, (x, index), {}) if done is None else done

    def run_inactive(self, f: Any, xs: tuple[Any, ...], kws: dict[str, Any]) -> Any:
        """Run a call that has no part in either gradient."""
        before = state.writes
        y, node = self.outer.run_inactive(f, xs, kws)
        if state.writes != before:
            raise DifferentiationError(
                f"{where()}: something that was used before is changed in place inside a gradient "
                "that is itself differentiated; make a new one instead"
            )
        return y, pair(None, node)

    def by_rule(
        self, nodes: tuple[Any, ...], f: Any, xs: tuple[Any, ...], kws: dict[str, Any]
    ) -> Any:
        """Apply a rule by running its body on the outer tape."""
        plan = plan_rule(nodes, f, xs, kws)
        if plan is None:
            return None
        rule, arguments, options, moved = plan
        names = list(kws)
        by_name = dict(zip(names, nodes[1 + len(xs) :], strict=True))
        operands = (*nodes[1 : 1 + len(xs)], *(by_name.get(name) for name in moved))
        at = _outer(operands)
        if rule.kind == "constant":
            y, node = self.outer.pull(_outer(nodes), f, *xs, **kws)
            return y, pair(None, node)
        if rule.kind == "scalar":
            y, node = self.outer.pull((None, *at), f, *arguments)
            back = self._scalar_back(rule, arguments, at, y, node)
        else:
            given = (f, *arguments) if rule.kind == "instance" else arguments
            at_given = (nodes[0] and nodes[0].outer, *at) if rule.kind == "instance" else at
            flags = (None, *at_given, *(None for _ in options))
            result, both = self.outer.pull(flags, rule.body, *given, **options)
            y, node = self.outer.pull((None, both, None), operator.getitem, result, 0)
            pullback, at_back = self.outer.pull((None, both, None), operator.getitem, result, 1)
            implied = rule.kind == "general"
            back = self._general_back(pullback, at_back, y, arguments, implied)
        inner = (_inner(nodes)[0], *_inner(operands))
        Tape.record(self, y, back, inner)
        return y, pair(self.count, node)

    def _scalar_back(
        self, rule: Any, xs: tuple[Any, ...], at: tuple[Any, ...], y: Any, node: Any
    ) -> Any:
        outer = self.outer

        def scalar_back(dy: Any) -> tuple[Any, ...]:
            if dy is None:
                return (None,) * (len(xs) + 1)
            given = (*xs, y) if rule.takes_out else xs
            nodes = (None, *at, node) if rule.takes_out else (None, *at)
            with np.errstate(all="ignore"):
                partials, at_all = outer.pull(nodes, rule.body, *given)
                found: list[Any] = []
                for i, x in enumerate(xs):
                    p, at_p = partials, at_all
                    if len(xs) > 1:
                        p, at_p = outer.pull((None, at_all, None), operator.getitem, partials, i)
                    if p is None:
                        found.append(None)
                        continue
                    d = Box(*outer.pull((None, dy.node, at_p), scaled, dy.value, p), outer)
                    found.append(d.projected(x))
            return None, *found

        return scalar_back

    def _general_back(
        self, pullback: Any, at_back: Any, y: Any, xs: tuple[Any, ...], implied: bool
    ) -> Any:
        outer = self.outer

        def general_back(dy: Any) -> tuple[Any, ...]:
            dy = take(y, dy)
            if dy is None or pullback is None:
                return (None,) * (len(xs) + 1)
            value, node = unbox(dy, outer)
            cotangents, at = outer.pull((at_back, node), pullback, value)
            boxed = box(cotangents, at, outer)
            boxed = (None, *boxed) if implied else boxed
            store = state.store
            assert store is not None
            return boxed[0], *(store.add(x, d) for x, d in zip(xs, boxed[1:], strict=False))

        return general_back


class Differentiated:
    """A function run on a nested tape, and its way back."""

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
                pair(self.tape.input() if flag else None, node)
                for flag, node in zip(flags, nodes, strict=True)
            ]
        )
        self.y, at = self.tape.pull(self.nodes, f, *xs, **kws)
        self.inner = None if at is None else at.inner
        self.at_y = None if at is None else at.outer

    def back(self, dy: Any) -> list[Any]:
        """Return the boxed cotangents of the function and its arguments."""
        saved, state.store = state.store, Store()
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

    def value_with(self, cotangents: Any) -> Recorded:
        """Return cotangents as a value on the outer tape."""
        return unbox(cotangents, self.outer)


class NestedPullback:
    """What `pullback` returns inside a function that is differentiated."""

    def __init__(self, run: Differentiated) -> None:
        self.run = run
        self.__differentiates__ = (self, self.on_tape)

    def on_tape(
        self, tape: Tape, nodes: tuple[Any, ...], xs: tuple[Any, ...], kws: dict[str, Any]
    ) -> Recorded:
        """Pull a cotangent back, on the outer tape."""
        cotangents = self.run.back(box(xs[0], nodes[1], tape))
        return self.run.value_with(tuple(cotangents))

    def __call__(self, dy: Any) -> Any:
        raise DifferentiationError("a pullback outlived the gradient that it was made in")
