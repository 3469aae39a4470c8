"""Recorded islands: calls inside transformed code that the tape answers.

A function that cannot be transformed is called as it is, `y, back = island(f, x)` in the text, and
its pullback is called in the reverse pass. So one odd statement costs its own function only.

Making code calls the function on samples, and code that is left is run again by the tape: so an
island must not do anything that can be seen from outside. It is given numbers and arrays alone, and
the arrays cannot be written to; what it reads from around it are functions, modules and constants;
and it calls nothing that may have effects. All of this is told from its source, before it is run.
"""

import contextlib
import types
from typing import Any

import numpy as np

from zygote_lite._cotangents.zeros import filled
from zygote_lite._specialize.infer.effects.sought import Search, is_known_constant
from zygote_lite._specialize.infer.plain_calls import call_as_it_is, may_be_called
from zygote_lite._specialize.rules.inlined import snapshot, value_of_pair
from zygote_lite._specialize.typed.abstract_eval import sealed
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.facts import Scalar, can_carry
from zygote_lite._specialize.typed.reasons import NotSpecializable, Unsound
from zygote_lite._specialize.typed.values import Value, constant
from zygote_lite._tape.run import Pullback, recorded_quietly
from zygote_lite.errors import DifferentiationError

# -- what code calls -----------------------------------------------------------------------------


def island(f: Any, *xs: Any, only: tuple[int, ...] | None = None) -> tuple[Any, "IslandPullback"]:
    """Return the value of a call and its pullback, by the tape.

    Arguments:
        f: the function.
        xs: its arguments.
        only: the numbers of those that are differentiated; without it, all.
    """
    flags = [True if only is None or i in only else None for i in range(len(xs))]
    y, back = recorded_quietly((None, *flags), f, tuple(map(sealed, xs)), {})
    return apart(y, xs), IslandPullback(back, xs, flags)


def unfollowed(f: Any, *xs: Any) -> Any:
    """Return the value of a call that no gradient passes through."""
    return apart(f(*map(sealed, xs)), xs)


def apart(y: Any, xs: tuple[Any, ...]) -> Any:
    """Return the value of an island, which may not be an array that it was given, or a view of one.

    That may be written to later, or be a copy that was made for the reverse pass.
    """
    if isinstance(y, np.ndarray) and any(
        isinstance(x, np.ndarray) and np.may_share_memory(x, y) for x in xs
    ):
        raise Unsound.SHARED_WRITE(
            "a function that cannot be transformed returns an array that it is given, or a view of "
            "one: return a copy"
        )
    return y


class IslandPullback:
    """Map the cotangent of the value of an island to those of its arguments.

    There is a zero where no gradient came to an argument that is differentiated.
    """

    __slots__ = ("back", "flags", "xs")

    def __init__(self, back: Pullback, xs: tuple[Any, ...], flags: list[Any]) -> None:
        self.back, self.xs, self.flags = back, xs, flags

    def __call__(self, dy: Any) -> tuple[Any, ...]:
        given = zip(self.back(dy)[1:], self.xs, self.flags, strict=True)
        return None, *[filled(d, x) if flag else None for d, x, flag in given]

    def only(self, needed: tuple[bool, ...]) -> "IslandPullback":
        """Return the pullback itself: which cotangents are needed was told to the tape."""
        return self


# -- writing them --------------------------------------------------------------------------------


def inlined_or_island(
    builder: Builder, f: Any, xs: list[Value], kws: dict[str, Value], stem: str
) -> Value:
    """Write the body of a function in the place of its call, or the call of an island.

    Raises `NotSpecializable`, with the reason of the body, where neither can be.
    """
    ways = []
    if _may_be_island(builder, f, xs, kws):
        ways.append(_island)
    if may_be_called(builder, f, xs, kws):
        ways.append(call_as_it_is)
    if not ways:
        return builder.inline(f, xs, kws)
    state, written = builder.attempt(), dict(builder.written)
    try:
        return builder.inline(f, xs, kws)
    except NotSpecializable as reason:
        if reason.code is not None and reason.code not in builder.inputs.recursive:
            raise  # it becomes a function of its own
        given = {builder.storage(x) for x in xs if x.is_array}
        if any(builder.storage(x) in given for x in builder.written.keys() - written.keys()):
            raise  # the samples that it was given have been written to
        for write in ways:
            builder.give_up(state)
            with contextlib.suppress(NotSpecializable, DifferentiationError):  # it has no IR
                effects = Search(builder)
                effects.look(f, 0)
                with effects.ending():
                    y = write(builder, f, xs, kws, stem)
                told = builder.inputs.islands if write is _island else builder.inputs.as_they_are
                told[f.__name__] = str(reason)
                return y
        builder.give_up(state)
        raise


def _may_be_island(builder: Builder, f: Any, xs: list[Value], kws: dict[str, Value]) -> bool:
    """Return whether the call of a function may be an island, as far as its operands tell."""
    return (
        builder.has_islands
        and not builder.settings  # which an island would not find
        and isinstance(f, types.FunctionType)
        and not kws
        and all(f.__code__ != frame.code for frame in builder.frames)
        and all(
            is_known_constant(x.sample) if x.is_constant else x.is_array or x.is_scalar for x in xs
        )
        and all(can_carry(x.fact) for x in xs if x.active)
    )


def _island(
    builder: Builder, f: Any, xs: list[Value], kws: dict[str, Value], stem: str
) -> Value:  # fmt: skip
    if not any(x.active for x in xs):
        found = builder.operation(unfollowed, [constant(f), *xs], stem=stem, certain=False)
        _refuse_other_values(found.target)
        builder.searched.add(found)
        found.required = True
        return found.target
    given = [constant(f), *(snapshot(builder, x) for x in xs)]
    numbers = tuple([i for i, x in enumerate(xs) if x.active])
    only = {} if len(numbers) == len(xs) else {"only": constant(numbers)}
    called = builder.operation(island, given, only, certain=True)
    builder.searched.add(called)
    both = called.target
    return value_of_pair(builder, both, xs, stem)


def _refuse_other_values(y: Value) -> None:
    if not (y.is_array or isinstance(y.fact, Scalar)):
        raise Unsound.NO_FLOAT(
            "a function that cannot be transformed returns something other than a number or an "
            "array"
        )
