"""Functions that a program declares to have no gradient: they are run, and watched.

A call that changes what a gradient passes through, or what a pullback has saved, is refused. What
it returns counts as a constant: it may be a view of what it was given, which nothing may write to.
"""

import functools
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np

from rulescore import stop_gradient
from rulescore.faults import an
from rulescore.watching import contents, have_changed
from zygote_lite._activity.activity import is_integer
from zygote_lite._activity.reachability import held_and_named
from zygote_lite._activity.saved import let_nothing_write
from zygote_lite._cotangents.kinds import (
    FUNCTION,
    INERT,
    LIST,
    SET,
    TUPLE,
    dict_of,
    entries_of,
    held_by,
    kind_of,
    own_fields,
    owner_of,
    within,
)
from zygote_lite._cotangents.registry import Flags
from zygote_lite._cotangents.run import state
from zygote_lite._ir.names import name_of
from zygote_lite._ir.places import where
from zygote_lite.errors import Fault

Ran = TypeVar("Ran")


def run_constant(
    rule: Any,
    flags: Flags,
    f: Any,
    given: tuple[Any, ...],
    run: Callable[[], Ran],
    value: Callable[[Ran], Any],
) -> Ran:
    """Return what `run` returns, the call of a function that a rule declares to be constant.

    Arguments:
        rule, f: the rule, and the function.
        flags: the nodes of the function and of all that it is given.
        given: what it is given.
        run: the call.
        value: gives the value of the function, of what `run` returns.
    """
    if not rule.watches or f is stop_gradient:
        return run()
    call = _ConstantCall(rule, flags, f, given)
    try:
        found = run()
    finally:
        call.refuse_changes()
    call.refuse_later_writes(value(found))
    return found


class _ConstantCall:
    """What a call is given that is differentiated or saved, and what that holds before the call.

    What the function reads by the names of global variables counts as given.

    Arguments:
        rule, flags, f, given: as for `run_constant`.
    """

    __slots__ = ("arrays", "containers", "f", "rule")

    def __init__(self, rule: Any, flags: Flags, f: Any, given: tuple[Any, ...]) -> None:
        self.rule, self.f = rule, f
        named = held_and_named(f)[1] if state.outside else []  # else nothing active is found there
        followed = [*_followed((f, *given, *named), (*flags, *(None for _ in named)))]
        self.arrays = [(x, on, contents((x,))) for x, on in followed if isinstance(x, np.ndarray)]
        self.containers = [(x, on, _held(x)) for x, on in followed if not isinstance(x, np.ndarray)]

    def refuse_changes(self) -> None:
        """Raise an error if the call has changed something of that."""
        changed = [x for x, _, before in self.arrays if have_changed((x,), before)]
        changed += [x for x, _, before in self.containers if _has_changed(x, before)]
        if changed:
            raise self._refusal(
                f"changes {an(type(changed[0]).__name__)} that it is given and that a gradient "
                "passes through, or reads: let it change a copy, or return what is new"
            )

    def refuse_later_writes(self, y: Any) -> None:
        """Let nothing write to memory that a value shares with what the call was given.

        The function may have kept it elsewhere, too: then code that is simply run may not write to
        it. Raises an error where a gradient would pass through the value all the same.
        """
        owners = {id(owner_of(x)): owner_of(x) for x, active, _ in self.arrays if active}
        known = {id(x) for x, active, _ in self.containers if active}
        place = where()
        for owner in owners.values():
            kept = f"was given an array at {place}, and what it has kept of that is written to"
            let_nothing_write(
                owner,
                functools.partial(self._refusal, f"{kept}: let it keep a copy"),
                recorded=False,
            )
        for x in within(y) if owners or known else ():
            owner = owner_of(x) if isinstance(x, np.ndarray) else None
            if id(x) in known or (id(owner) in owners and id(owner) in (state.written or ())):
                raise self._refusal(
                    f"returns {an(type(x).__name__)} that it is given and that a gradient passes "
                    "through: let it return a copy"
                )
            if id(owner) in owners:
                shares = f"returned at {place} what shares memory with an array that it was given"
                told = f"{shares}, and that is written to: let it return a copy"
                let_nothing_write(owner, functools.partial(self._refusal, told), recorded=True)

    def _refusal(self, told: str) -> Exception:
        return Fault.MEMORY(
            f"{where()}: {name_of(self.f)} is declared to have no gradient ({self.rule.place}), "
            f"and {told}"
        )


def _followed(operands: tuple[Any, ...], flags: Flags) -> Iterator[tuple[Any, bool]]:
    """Yield the arrays and containers among operands that are active, or that pullbacks saved.

    Each comes with whether it is active. An array within a container is where that is.
    """
    active, captured = state.active or {}, state.captured or {}
    stack = [(x, flag is not None) for x, flag in zip(operands, flags, strict=True)]
    seen = set()
    while stack:
        x, is_active = stack.pop()
        kind = kind_of(x)
        if isinstance(x, np.ndarray):
            owner = owner_of(x)
            is_active = (is_active or id(owner) in active) and not _carries_nothing(x)
            if is_active or id(owner) in captured:
                yield x, is_active
        elif kind >= FUNCTION and (id(x), is_active) not in seen:
            seen.add((id(x), is_active))
            if kind == FUNCTION:
                stack += [(part, False) for part in held_by(x)]
                continue
            if kind != TUPLE:
                fields = id(dict_of(x))
                is_active = id(x) in active or fields in active
                if is_active or id(x) in captured or fields in captured:
                    yield x, is_active
            stack += [(part, is_active) for _, part in _held(x)]
            if kind <= SET and own_fields(x):
                stack.append((own_fields(x), False))


def _held(x: Any) -> list[tuple[Any, Any]]:
    return [(part, part) for part in x] if kind_of(x) == SET else [*entries_of(x)]


def _has_changed(x: Any, before: list[tuple[Any, Any]]) -> bool:
    """Return whether a container holds something else, but for what has no gradient."""
    now = _held(x)
    if len(now) == len(before) and all(a is b for (_, a), (_, b) in zip(now, before, strict=True)):
        return False
    if kind_of(x) == LIST and len(now) != len(before):
        return True
    old, new = dict(before), dict(now)
    pairs = [(old.get(key), new.get(key)) for key in {**old, **new}]
    return any(a is not b and not (_carries_nothing(a) and _carries_nothing(b)) for a, b in pairs)


def _carries_nothing(x: Any) -> bool:
    """Return whether a value has no gradient: a text, say, or an integer where it is a choice."""
    if isinstance(x, np.ndarray) and x.dtype.kind in "bSUMm":
        return True
    return kind_of(x) == INERT or (state.chooses and is_integer(x))
