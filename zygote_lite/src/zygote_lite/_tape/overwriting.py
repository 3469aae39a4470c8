"""Options by which a function may overwrite what it is given: `overwrite_x`, `overwrite_a`.

A rule is never told of them, for its pullback may read its arguments. What the array holds after
the call is then another thing than without a gradient, so no gradient may pass through that.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from zygote_lite._activity.marks import mark_active
from zygote_lite._activity.saved import note_write
from zygote_lite._cotangents.kinds import owner_of
from zygote_lite._cotangents.registry import UndoOnly
from zygote_lite._cotangents.run import current_store
from zygote_lite._ir.names import name_of
from zygote_lite._ir.places import noted_place, told_place
from zygote_lite._tape.arguments import parameter_names
from zygote_lite._tape.entries import Entries
from zygote_lite.errors import Fault

_OPTION = "overwrite"


def may_overwrite(f: Any, xs: tuple[Any, ...], kws: dict[str, Any]) -> bool:
    """Return whether a call is told that it may overwrite what it is given."""
    if any(name.startswith(_OPTION) and _is_on(x) for name, x in kws.items()):
        return True
    return any(map(_is_on, xs)) and any(
        name.startswith(_OPTION) and _is_on(x)
        for name, x in zip(parameter_names(f), xs, strict=False)
    )


def _is_on(x: Any) -> bool:
    return x is True or (type(x) in (int, np.bool_) and bool(x))


def forbid_overwriting(names: tuple[str, ...], given: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return operands in which no option allows to overwrite another one."""
    kept = [
        False if name.startswith(_OPTION) and _is_on(x) else x
        for name, x in zip(names, given, strict=False)
    ]
    return (*kept, *given[len(kept) :])


def overwritten(f: Any, xs: tuple[Any, ...], kws: dict[str, Any]) -> list[tuple[str, Any]]:
    """Return the arrays that a call may overwrite, each with the option that says so."""
    given = {**dict(zip(parameter_names(f), xs, strict=False)), **kws}
    found = []
    for name, x in given.items():
        if name.startswith(_OPTION) and _is_on(x):
            array = given.get(name.removeprefix(_OPTION).removeprefix("_"), xs[0] if xs else None)
            if isinstance(array, np.ndarray) and array.dtype.kind in "fc":
                found.append((name, array))
    return found


def refuse_contents(tape: Any, f: Any, option: str, x: Any) -> Callable[[], None]:
    """Record that no gradient may pass through what an array holds from here on.

    Returns what is called when a reverse pass has come here, which outer tapes may record: from
    there on the array holds again what it held before.
    """
    around = getattr(tape, "outer", None)
    is_reached = None if around is None else refuse_contents(around, f, option, x)
    owner = owner_of(x)
    note_write(x)
    tape.written[id(owner)] = owner
    mark_active(owner)
    place = noted_place()
    later: list[Any] = []

    def refuse_back(dy: Any) -> tuple[Any, ...]:
        store = current_store()
        shadow = store.shadow_view(x)
        if shadow is not None and np.any(shadow):
            raise Fault.MEMORY(
                f"{told_place(place)}: {name_of(f)} may overwrite the array that it is given "
                f"(`{option}`), and a gradient would have to pass through what that holds "
                "afterwards; leave the option out, or give it a copy"
            )
        while later:
            store.add_to_shadow(x, later.pop())
        if is_reached is not None:
            is_reached()
        return ()

    def of_later_back(dy: Any) -> tuple[Any, ...]:
        d = current_store().take_shadow(x)
        if d is not None:
            later.append(d)
        return ()

    def reached() -> None:
        Entries.record(tape, None, UndoOnly(of_later_back), ())
        if is_reached is not None:
            is_reached()

    Entries.record(tape, None, UndoOnly(refuse_back), ())
    return reached
