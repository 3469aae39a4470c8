"""Forward mode by transposition: the tangent of a call is the transpose of its pullback.

The function is run once, on a nested tape. Its reverse pass, for a cotangent `u` of the value that
stands for any, is recorded on the outer tape: it is linear in `u`. The reverse pass of that, from
the tangents of the arguments, gives the tangent of the value: `<J^T u, v> = <u, J v>`. So forward
mode is right for whatever the tape can differentiate twice, without rules of its own.
"""

import contextlib
import itertools
import sys
from collections.abc import Iterator, Sequence
from numbers import Number
from typing import Any

import numpy as np

from rulescore import Array, Tangent, accumulate, flatten, project, zero
from rulescore.faults import an, counted
from zygote_lite._activity.activity import mark_arguments
from zygote_lite._activity.saved import refuse_overwritten, stamp
from zygote_lite._activity.walk import memory_reached
from zygote_lite._cotangents.kinds import (
    FUNCTION,
    INERT,
    SET,
    VALUE,
    cotangent_like,
    entries_of,
    held_by,
    is_known_by_rule,
    is_of_pandas,
    kind_of,
    owner_of,
    within,
)
from zygote_lite._cotangents.registry import Traced
from zygote_lite._cotangents.run import state
from zygote_lite._cotangents.store import Store
from zygote_lite._cotangents.zeros import zeros_to_read
from zygote_lite._ir.frames import keep_users_frames
from zygote_lite._ir.intrinsics import build_tuple
from zygote_lite._ir.names import name_of, shown_name
from zygote_lite._nested.cotangents import Box, box, inner_of, outer_of, pair, unbox
from zygote_lite._nested.run import NestedRun, parts_on
from zygote_lite._nested.tape import NestedStore, NestedTape
from zygote_lite._tape.generators import refuse_iterator
from zygote_lite._tape.jacobians import refuse_vast
from zygote_lite._tape.notebook import html_of_pushforward
from zygote_lite._tape.outermost import Run, deeper_recursion
from zygote_lite._tape.run import OfOneRun
from zygote_lite._tape.seeds import pair_of
from zygote_lite._tape.tape import Tape
from zygote_lite._tape.validate import (
    check_fit,
    describe,
    own_buffers,
    refuse_keywords,
    refuse_more,
    refuse_no_function,
)
from zygote_lite.errors import DifferentiationError, Fault

_STEP = 0.6180339887498949  # of a sequence in which no two numbers are alike


def refuse_named_tangents(push: OfOneRun, named: dict[str, Any]) -> None:
    """Refuse tangents that are given by the names of arguments."""
    if named:
        raise Fault.TANGENT(
            f"{push!r} is given {', '.join([f'`{name}`' for name in named])} by name: give the "
            "tangents by position, in the order of the arguments"
        )


class Pushforward(OfOneRun):
    """Map the tangents of a function's arguments to the tangent of its value.

    `push(*dxs)` takes one tangent for each argument, of the form of its gradient, then those of
    keyword arguments in their order; `None` is a zero. It may be called again and again.
    """

    def __init__(
        self, f: Any, flags: tuple[Any, ...], xs: tuple[Any, ...], kws: dict[str, Any],
        has_aux: bool = False, around: Tape | None = None, nodes: tuple[Any, ...] = (),
    ) -> None:  # fmt: skip
        self._f, self._operands = f, (f, *xs, *kws.values())
        self._is_inside = around is not None
        # of the form that the arguments have before the function changes them
        self._zeros = [zeros_to_read(x) for x in self._operands[1:]]
        with Run(self._operands, flags) as outermost, deeper_recursion():
            flags = mark_arguments(self._operands, flags)
            self._tape = Tape() if around is None else NestedTape(around)
            at = [pair(None, node) for node in nodes] or [None] * len(flags)
            run = NestedRun(self._tape, f, tuple(at), flags, xs, kws)
            if not self._is_inside:  # no gradient of what functions read is asked for
                run.tape.held.clear()
            self.y, self.at_y = run.y, outer_of((run.at_y,))[0] if self._is_inside else None
            outermost.value = self.y
            refuse_iterator(f, self.y)
            y = pair_of(f, self.y)[0] if has_aux else self.y
            refuse_vast(f, y)
            self._numbers = itertools.count(1)
            self._seed = self._sown(y)
            before, state.transposes = state.transposes, True
            try:
                self._found = run.back((self._seed, None) if has_aux else self._seed)
            finally:
                state.transposes = before
            written = state.written if outermost.is_outermost else None
            self._stamps = stamp(written) if written else []
            self._saved = [*(state.captured or {}).values()]
        self._kept: list[tuple[Any, Any]] = []

    def keep_what_it_read(self) -> None:
        """Keep what the arrays hold that were given or read: tangents are those at these values."""
        found = [x for x in within(*self._operands[1:]) if isinstance(x, np.ndarray)]
        saved = [x for x in self._saved if isinstance(x, np.ndarray)]
        outside = memory_reached(saved, self._f) if saved else set()
        found += [x for x in saved if id(owner_of(x)) in outside]
        self._saved = []
        self._kept = [(x, x.copy()) for x in found if x.dtype.kind in "biufc"]

    def _sown(self, y: Any) -> Any:
        """Return a cotangent of a value that stands for any: no entry is zero, or like another.

        So no zero of it wins over an infinity, but those of what the value does not depend on.
        """
        kind = kind_of(y)
        is_known = (
            kind == VALUE
            and is_known_by_rule(type(y))
            and not isinstance(y, Array)
            and not isinstance(zero(y), np.ndarray)  # as of an array of JAX
        )
        flat = flatten(y) if is_known else None
        if kind == VALUE and not (is_known and flat is None):
            d = zero(y)
            if d is None:
                if isinstance(y, np.flatiter):
                    raise self._without_form(y)
                return None
            if flat is None:
                d = self._of_any_entries(d)
            else:
                arrays, rebuild = flatten(d) or flat
                d = rebuild([*map(self._of_any_entries, arrays)])
            place: Any = self._tape.input(d)
            return Box(d, pair(place, None) if self._is_inside else place, self._tape)
        if kind == INERT or (kind == FUNCTION and not held_by(y)):
            return None
        if kind in (VALUE, FUNCTION, SET) or is_of_pandas(type(y)):
            raise self._without_form(y)
        return cotangent_like(y, {key: self._sown(entry) for key, entry in entries_of(y)})

    def _of_any_entries(self, d: Any) -> Any:
        """Return numbers that stand for any, of the form of a zero."""
        entries = [0.5 + _STEP * n % 1 for n in itertools.islice(self._numbers, np.size(d))]
        unit = 1 + 0.75j if np.iscomplexobj(d) else 1
        return project(np.reshape(unit * np.array(entries), np.shape(d)), d)

    def _without_form(self, y: Any) -> Exception:
        """Return the error for a value whose tangent nothing can hold."""
        return Fault.TANGENT(
            f"the value of {name_of(self._f)} holds {describe(y)}, whose tangent has no form: "
            "return numbers, arrays, or structures of them",
            DifferentiationError,
        )

    def __call__(self, *tangents: Any, **named: Any) -> Any:
        try:
            refuse_named_tangents(self, named)
            self.check(tangents)
            with _holding(self._kept):
                dy = self.push(tangents, Store())
            return own_buffers(dy, (tangents, self._operands, self.y))
        except BaseException as error:
            __tracebackhide__ = keep_users_frames(error)
            raise

    def check(self, tangents: tuple[Any, ...]) -> None:
        """Raise where tangents are not of the form of the arguments."""
        if len(tangents) != len(self._zeros):
            due = len(self._zeros)
            raise Fault.TANGENT(
                f"{self!r} is given {counted(len(tangents), 'tangent')}, and takes {due}: give one "
                "for each argument, `None` for no direction"
            )
        for v, x, of in zip(tangents, self._zeros, self._operands[1:], strict=True):
            if isinstance(x, Number) and not isinstance(of, Number | np.generic | Array):
                self._check_whole(v, of)
                continue
            check_fit(v, x, self, "tangent", "argument")
            _refuse_tangents_of_nothing(v, x)
        if self._stamps:
            refuse_overwritten(self._stamps, name_of(self._f))

    def _check_whole(self, v: Any, x: Any) -> None:
        """Refuse anything but a tangent for a value known by rule, such as a module."""
        if v is not None and not isinstance(v, Tangent):
            raise Fault.TANGENT(
                f"the tangent given to {self!r} is {describe(v)}, and the argument is "
                f"{an(type(x).__name__)}: give one of the form of its gradient"
            )

    def push(self, tangents: tuple[Any, ...], store: Store) -> Any:
        """Return the tangent of the value, for tangents that may be boxed."""
        cotangents: dict[Any, Any] = {}
        for d, v in zip(self._found[1:], tangents, strict=True):
            self._sow(cotangents, d, v)
        outer, state.store = state.store, store
        try:
            self._tape.back(cotangents)
        finally:
            store.restore()
            state.store = outer
        return self._reaped(self._seed, cotangents)

    def _sow(self, cotangents: dict[Any, Any], d: Any, v: Any) -> None:
        """Note a tangent as the cotangent of the cotangent `d` of the same value."""
        if v is None or d is None:
            return
        if isinstance(d, Box):
            place = self._place(d)
            v = v.through(project, d.value) if isinstance(v, Box) else _projected(v, d.value)
            if place is not None:
                cotangents[place] = accumulate(cotangents.get(place), v)
            return
        if isinstance(v, Number | np.generic | Array):  # of a part that is known by rule
            raise Fault.TANGENT(
                f"a tangent given to {self!r} is {describe(v)}, where the argument has "
                f"{an(type(d).__name__)} for its gradient: give one of that form"
            )
        given = dict(entries_of(d))
        for key, entry in entries_of(v):
            self._sow(cotangents, given.get(key), entry)

    def _place(self, d: Box) -> Any:
        """Return the number on the middle tape of a cotangent."""
        return inner_of((d.node,))[0] if self._is_inside else d.node

    def _reaped(self, seed: Any, cotangents: dict[Any, Any]) -> Any:
        """Return the tangent of a value: the cotangents of its seed."""
        if seed is None:
            return None
        if isinstance(seed, Box):
            d = cotangents.get(self._place(seed))
            if d is None:
                return zero(seed.value)
            is_boxed = isinstance(d, Box)
            return d.through(project, seed.value) if is_boxed else project(d, seed.value)
        found = {key: self._reaped(d, cotangents) for key, d in entries_of(seed)}
        return cotangent_like(seed, found)

    def __repr__(self) -> str:
        return f"pushforward of {shown_name(self._f)}"

    def _repr_html_(self) -> str:
        return html_of_pushforward(repr(self), self._f, self.y, self._operands[1:])


def _refuse_tangents_of_nothing(v: Any, x: Any, seen: set[tuple[int, int]] | None = None) -> None:
    """Refuse a tangent where there is no gradient."""
    seen = set() if seen is None else seen
    if v is None or (id(v), id(x)) in seen:  # a part that is shared is looked at once
        return
    if x is None:
        raise Fault.TANGENT(
            f"a tangent is {describe(v)} where there is no gradient, or where it is at another "
            "place of the same object: give None"
        )
    if kind_of(x) != VALUE:
        seen.add((id(v), id(x)))
        zeros = dict(entries_of(x))
        for key, entry in entries_of(v):
            _refuse_tangents_of_nothing(entry, zeros[key], seen)


def _projected(v: Any, d: Any) -> Any:
    """Return a tangent with the form of a gradient; refuse one that has more than that holds."""
    found = project(v, d)
    if is_known_by_rule(type(d)) and is_known_by_rule(type(v)):
        again, given = flatten(project(found, v)), flatten(v)
        if again and given and not all(map(np.array_equal, again[0], given[0])):
            raise Fault.TANGENT(
                f"a tangent is {describe(v)} with numbers where its argument stores none, or "
                "stores two: give one that stores numbers at the same places"
            )
    return found


def runs_alone() -> bool:
    """Return whether this process has no other thread that runs Python."""
    return len(sys._current_frames()) == 1


@contextlib.contextmanager
def _holding(kept: list[tuple[Any, Any]]) -> Iterator[None]:
    """Have arrays hold what was kept of them, and then what they hold now.

    Nobody sees that: where another thread runs, the call is refused.
    """
    changed = [(x, old, x.copy()) for x, old in kept if x.tobytes() != old.tobytes()]
    if not all(x.flags.writeable for x, _, _ in changed):
        raise Fault.TANGENT(
            "a read-only argument of `linearize` was written through another array: give a copy"
        )
    if changed and not runs_alone():
        raise Fault.TANGENT(
            "an array that `linearize` was given, or that the function reads, was changed since, "
            "and another thread runs, which may read it: give `linearize` a copy of the array, or "
            "call it again"
        )
    try:
        for x, old, _ in changed:
            x[...] = old
        yield
    finally:
        for x, _, now in changed:
            x[...] = now


def pushed_forward(
    f: Any, flags: tuple[Any, ...], xs: tuple[Any, ...], kws: dict[str, Any], has_aux: bool = False
) -> tuple[Any, Pushforward]:
    """Return the value of `f(*xs, **kws)` and the function that pushes tangents forward.

    With `has_aux` the tangent is that of the first of the pair that `f` returns.
    """
    refuse_no_function(f)
    push = Pushforward(f, flags, xs, kws, has_aux)
    return push.y, push


def refuse_no_tuples(primals: Any, tangents: Any) -> None:
    """Refuse what `jvp` cannot take as the arguments of a call, and a tangent for each."""
    if not all(isinstance(x, Sequence) and not isinstance(x, str) for x in (primals, tangents)):
        raise Fault.TANGENT(
            "jvp takes a tuple of arguments and one of tangents: write `jvp(f, (x,), (dx,))`"
        )
    if len(tangents) != len(primals):
        raise Fault.TANGENT(
            f"jvp is given {counted(len(tangents), 'tangent')} for "
            f"{counted(len(primals), 'argument')}: give one for each, `None` for no direction"
        )


def inside_jvp(
    tape: Tape, nodes: tuple[Any, ...], xs: tuple[Any, ...], kws: dict[str, Any]
) -> Traced:
    """Do what `jvp` does inside a function that is differentiated."""
    refuse_more("jvp", 3, xs[3:], ["has_aux"])
    has_aux = bool(kws.get("has_aux"))
    names = [*("f", "primals", "tangents")[: len(xs)], *kws]
    named = {name: pair for name, *pair in zip(names, (*xs, *kws.values()), nodes[1:], strict=True)}
    (f, at_f), (primals, at_primals), (tangents, at_tangents) = [
        named.pop(name) for name in ("f", "primals", "tangents")
    ]
    refuse_no_tuples(primals, tangents)
    refuse_keywords("jvp", f, named, has_aux=has_aux)
    read = parts_on(tape, primals, at_primals)
    given, at = tuple([x for x, _ in read]), tuple([node for _, node in read])
    flags = (None, *(True for _ in given))
    push = Pushforward(f, flags, given, {}, has_aux, tape, (at_f, *at))
    dy, at_dy = pushed_on(tape, push, tangents, at_tangents)
    if not has_aux:
        return tape.call((None, push.at_y, at_dy), build_tuple, push.y, dy)
    (y, at_y), (aux, at_aux) = parts_on(tape, push.y, push.at_y)
    return tape.call((None, at_y, at_dy, at_aux), build_tuple, y, dy, aux)


def pushed_on(tape: Tape, push: Pushforward, tangents: Any, node: Any) -> Traced:
    """Push a tuple of tangents forward, on the tape around a pushforward."""
    push.check(tuple(tangents))
    return unbox(push.push(tuple(box(tangents, node, tape)), NestedStore(tape)), tape)
