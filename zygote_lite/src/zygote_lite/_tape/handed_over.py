"""Functions that are handed to a rule, as an integrand is: each is recorded on its own tape."""

import contextlib
from collections.abc import Iterator
from typing import Any

from rulescore.faults import an
from zygote_lite._activity.activity import mark_arguments
from zygote_lite._activity.contents import contents_of, hold_the_same
from zygote_lite._cotangents.registry import ValueAndPullback
from zygote_lite._cotangents.run import state
from zygote_lite._cotangents.store import Store
from zygote_lite._ir.names import name_of
from zygote_lite._ir.places import where
from zygote_lite._tape.outermost import Run, deeper_recursion
from zygote_lite._tape.tape import via_tape
from zygote_lite.errors import Fault


def recorded_for_rule(f: Any, xs: tuple[Any, ...]) -> ValueAndPullback:
    """Record a function that a rule hands over."""
    operands = (f, *xs)
    outside = {*(state.active or ())} if state.outside else ()
    with Run(operands) as run, deeper_recursion():  # of its own where the rule asks in its pullback
        flags = mark_arguments(operands, (True,) * len(operands))
        with unchanged(f, operands):
            y, back = via_tape(flags, f, xs, {})
        run.value = y

    def whole_back(dy: Any) -> tuple[Any, ...]:
        outer, state.store = state.store, Store()
        store = state.store
        store.taking = True  # what two operands share goes to the first
        try:
            by_value = back(store.add(y, dy))
            whole = [store.collect(x, d) for x, d in zip(operands, by_value, strict=True)]
            for address, (x, slots) in store.entries.items():
                if address in outside and any(d is not None for d in slots.values()):
                    raise Fault.HANDED_TO_RULE(
                        f"{where()}: {name_of(f)} is given to a rule, and reads "
                        f"{an(type(x).__name__)} that was given what depends on what is "
                        "differentiated: pass what it reads as an argument"
                    )
            return tuple(whole)
        finally:
            store.restore()
            state.store = outer

    return y, whole_back


@contextlib.contextmanager
def unchanged(f: Any, operands: tuple[Any, ...]) -> Iterator[None]:
    """Refuse a function that a rule hands over if it changes state."""
    before = contents_of(operands)
    yield
    if not hold_the_same(before, contents_of(operands)):
        raise Fault.HANDED_TO_RULE(
            f"{where()}: {name_of(f)} changes what it captured or was given, and a rule "
            "differentiates it: return the new state, and take it as an argument"
        )
