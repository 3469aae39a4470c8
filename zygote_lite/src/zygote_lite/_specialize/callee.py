"""Calls inside recorded code that transformed code answers, as a rule for the function would.

The tape asks here before it records the call of a Python function. The value and the pullback of
transformed code become one entry of the tape. Where there is no code for the call it is recorded;
a function that comes up in several runs is then transformed, when the run is over: what is read
from around it is not part of a gradient by then.
"""

import math
import operator
import types
from typing import Any

import numpy as np

from zygote_lite._activity.activity import holds_text
from zygote_lite._activity.doubts import GENERATES
from zygote_lite._activity.saved import note_captured_deeply
from zygote_lite._activity.walk import FOR_LONG_CALLS, may_reach_active
from zygote_lite._cotangents.kinds import INERT, kind_of
from zygote_lite._cotangents.registry import BY_CODE, Handlers, NodeId, Nodes, Traced
from zygote_lite._cotangents.run import current_store, state, take
from zygote_lite._cotangents.zeros import filled
from zygote_lite._ir.names import name_of
from zygote_lite._ir.places import place_of, where
from zygote_lite._nested.gradients import inside_run
from zygote_lite._specialize.cache import Specializations, specializations_of
from zygote_lite._specialize.compare import is_finite_answer
from zygote_lite._specialize.guards import LARGE_PRODUCT, is_finite, vdot
from zygote_lite._specialize.typed.facts import FLOATS
from zygote_lite._specialize.watch import AS_RULE, WatchedPullback, answer_of
from zygote_lite._tape.handed_over import recorded_for_rule
from zygote_lite._tape.refusals.refusal import note_resolution
from zygote_lite._tape.tape import Tape
from zygote_lite.errors import Fault
from zygote_lite.modes import InternalError, TierMismatch, current, watching

handlers = Handlers()

_BY_VALUE = frozenset((int, float, np.float64, np.float32, np.ndarray))
_OF_PARTS = frozenset((tuple, list, dict))


@handlers.callables(types.FunctionType, of=lambda t: True)  # before it is recorded, for all
def _(tape: Tape, nodes: Nodes, f: Any, xs: tuple[Any, ...], kws: dict[str, Any]) -> Traced | None:
    """Answer the call of a Python function by transformed code, if there is some for its types."""
    captures = nodes[0] is not None and f.__closure__  # what is differentiated
    if captures or type(tape) is not Tape or not _may_be_transformed(tape, f):
        return None
    if kws:
        nodes, xs = _by_position(nodes, f, xs, kws)
    numbers = _differentiated(nodes, xs)
    if not numbers:
        return None
    known = specializations_of(f, len(xs), numbers, single=False, form=AS_RULE)
    if known is None:
        return None
    found = value_and_pullback(known, f, xs, f, xs)
    if found is None:
        return None
    y, back, outside = found
    return tape.record(y, CalleePullback(known, f, xs, outside, y, back), nodes, fresh=True)


def _may_be_transformed(tape: Tape, f: types.FunctionType) -> bool:
    """Return whether transformed code may answer calls of a function."""
    code = f.__code__
    return not (
        code.co_flags & GENERATES
        or (state.given and f is state.given[0])  # it has been tried as a whole
        or id(f) in tape.defaults  # which may be active
        or code in BY_CODE
    )


def _by_position(
    nodes: Nodes, f: types.FunctionType, xs: tuple[Any, ...], kws: dict[str, Any]
) -> tuple[Nodes, tuple[Any, ...]]:
    """Return the nodes and the arguments of a call by keyword as of one by position.

    There are none where it cannot be written so.
    """
    code = f.__code__
    left = code.co_varnames[len(xs) : code.co_argcount][: len(kws)]
    by_position_only = code.co_posonlyargcount > len(xs)  # one is left out: it has its default
    if by_position_only or {*left} != {*kws}:  # others in between, or what is given by name only
        return nodes[:1], ()
    by_name = dict(zip(kws, nodes[1 + len(xs) :], strict=True))
    return (*nodes[: 1 + len(xs)], *map(by_name.get, left)), (*xs, *map(kws.get, left))


def _differentiated(nodes: Nodes, xs: tuple[Any, ...]) -> tuple[int, ...]:
    """Return which arguments are differentiated; none where one is not followed by the code."""
    if state.has_texts and any(map(_holds_text, xs, nodes[1:])):
        return ()  # the tape refuses to make numbers of them
    numbers = []
    for i, x in enumerate(xs):
        by_address = type(x) not in _BY_VALUE and kind_of(x) != INERT
        reaches, in_doubt = _reaches(x) if by_address else (False, False)
        if nodes[i + 1] is not None or reaches:
            if by_address and (type(x) not in _OF_PARTS or in_doubt):
                return ()
            numbers.append(i)
    return tuple(numbers)


def _reaches(x: Any) -> tuple[bool, bool]:
    """Return whether something active may be reached from an argument, and whether that is open."""
    known, state.doubted = state.doubted, False
    found = may_reach_active(x, given=FOR_LONG_CALLS if type(x) in _OF_PARTS else 0)
    in_doubt, state.doubted = state.doubted, known or state.doubted
    return found, in_doubt


def _holds_text(x: Any, node: NodeId) -> bool:
    """Return whether a text that was made of active values is an argument, or in one."""
    if type(x) in _OF_PARTS:
        return any(_holds_text(part, None) for part in (x.values() if type(x) is dict else x))
    return holds_text(x, node is not None)


def value_and_pullback(
    known: Specializations, f: Any, xs: tuple[Any, ...], called: Any, given: tuple[Any, ...]
) -> tuple[Any, Any, tuple[Any, ...]] | None:
    """Return the value, the pullback, and what was read from outside; `None` to record the call.

    Arguments:
        known, f, xs: the code, the function that it was made of, and its operands.
        called, given: the function that the user has called, and its arguments.
    """
    found, enter = _answer(known, f, xs)
    if found is None:
        known.make_later(f, xs)
        return None
    y, back, outside = found
    note_captured_deeply((*xs, *outside))
    note_resolution(called, given, f"transformed; {place_of(called)}")
    if watching.count and current().compared:
        back = WatchedPullback(known, f, xs, enter, (y, back))
    return y, back, outside


def _answer(known: Specializations, f: Any, xs: tuple[Any, ...]) -> tuple[Any, Any]:
    """Return the value, the pullback, and what was read from outside; and what gave them."""
    if watching.count:
        return answer_of(known, f, xs)
    return known.enter(f, *xs), None


class CalleePullback:
    """The pullback of a call that transformed code has answered.

    Where a cotangent is not finite, which zero meets an infinity and wins is for the tape to say:
    it runs the call again. Transformed code has no effects, so neither has that.
    """

    __slots__ = ("back", "f", "is_plain", "known", "nothing", "outside", "xs", "y")

    def __init__(
        self, known: Specializations, f: Any, xs: tuple[Any, ...], outside: tuple[Any, ...],
        y: Any, back: Any,
    ) -> None:  # fmt: skip
        self.known, self.f, self.xs, self.outside = known, f, xs, outside
        self.y, self.back = y, back
        self.nothing = (None,) * (1 + len(xs))
        self.is_plain = all(type(x) in _BY_VALUE for x in (y, *xs))

    def __call__(self, dy: Any) -> tuple[Any, ...]:
        if self.is_plain:
            return self.nothing if dy is None else self.cotangents(dy)
        dy = take(self.y, dy, self.xs)
        if dy is None:
            return self.nothing
        store, (_, *found) = current_store(), self.cotangents(filled(dy, self.y))
        return None, *[store.add(x, d) for x, d in zip(self.xs, found, strict=True)]

    def cotangents(self, dy: Any) -> tuple[Any, ...]:
        """Return the cotangents of the function and its arguments, each as a whole."""
        found = finite_cotangents(self.back, self.y, dy)
        return self.recorded(dy) if found is None else found

    def recorded(self, dy: Any) -> tuple[Any, ...]:
        """Return the cotangents by the tape."""
        now, _ = _answer(self.known, self.f, self.xs)
        if now is None or not self.is_by_the_same_code(*now):
            raise Fault.OVERWRITTEN(
                f"{where()}: {name_of(self.f)} has a gradient that is not finite, and what it "
                "reads from around it has changed since it was called: pass that as an argument"
            )
        _, back = recorded_for_rule(self.f, self.xs)
        given = (False, *self.known.active)
        return tuple([d if flag else None for d, flag in zip(back(dy), given, strict=True)])

    def is_by_the_same_code(self, y: Any, back: Any, outside: tuple[Any, ...]) -> bool:
        """Return whether another answer is of the code that gave this one, with the same inputs."""
        known = self.back.back if isinstance(self.back, WatchedPullback) else self.back
        return back.__code__ is known.__code__ and all(map(operator.is_, outside, self.outside))


def finite_cotangents(back: Any, y: Any, dy: Any) -> tuple[Any, ...] | None:
    """Return what a pullback of transformed code gives; `None` where the tape has to answer."""
    if not _fits(dy, y):
        return None
    dy = _of_the_types(dy, y)
    try:
        found: tuple[Any, ...] = back(dy)
    except (InternalError, TierMismatch):
        raise
    except Exception:
        return None
    return found if _are_finite(found) else None


@inside_run  # a tape around, which records this code, need not record the test
def _are_finite(found: tuple[Any, ...]) -> bool:
    """Return whether all cotangents are finite: their sizes together are, if nothing overflows."""
    size = 0.0
    for d in found:
        if type(d) is np.ndarray and d.size < LARGE_PRODUCT:
            size += float(abs(vdot(d, d)))
        elif type(d) in FLOATS:
            size += float(abs(d))
        elif d is not None and not _is_finite(d):
            return False
    return math.isfinite(size) or all(map(_is_finite, found))


def _fits(dy: Any, y: Any) -> bool:
    """Return whether a cotangent is of the type that the code was made for."""
    if type(y) is np.ndarray:
        return type(dy) is np.ndarray and dy.shape == y.shape and dy.dtype == y.dtype
    if type(y) is tuple:
        return type(dy) is tuple and all(map(_fits, dy, y))
    return type(y) not in FLOATS or type(dy) in FLOATS


def _of_the_types(dy: Any, y: Any) -> Any:
    """Return a cotangent whose numbers have the types of those of the value."""
    if type(y) is tuple:
        return tuple(map(_of_the_types, dy, y))
    return dy if type(dy) is type(y) or type(y) not in FLOATS else type(y)(dy)


def _is_finite(d: Any) -> bool:
    if type(d) in FLOATS:
        return math.isfinite(d)
    if type(d) is np.ndarray:
        return is_finite(d)
    if type(d) in _OF_PARTS:
        return all(map(_is_finite, d.values() if type(d) is dict else d))
    return d is None or is_finite_answer(d)
