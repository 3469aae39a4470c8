"""What code was made for, and has changed outside since."""

from collections.abc import Callable
from typing import Any

from zygote_lite._specialize.typed.facts import fact_of
from zygote_lite._specialize.typed.inputs import OutsidePlace, outside_place


def what_has_changed(
    enter: Callable[..., Any], f: Any, xs: tuple[Any, ...]
) -> set[OutsidePlace] | None:
    """Return the places of the ints that are other ints now; `None` where nothing has changed.

    What changes is a constant that the code was made with, or the type of a variable or object.

    Arguments:
        enter: the entry into the code.
        f, xs: a call that it does not answer.
    """
    space = enter.__globals__
    names = {"f": f, **{f"x{i}": x for i, x in enumerate(xs)}}
    changed, ints = False, set()
    for name, expression in space["holders"].items():
        x = _read_now(expression, space, names)
        if type(x) is not space["classes"][name]:  # reading its attributes may have effects
            changed = True
        else:
            names[name] = x
    for expression, x in space["constants"].items():
        now = _read_now(expression, space, names)
        if now is x:
            continue
        changed = True
        if type(x) is type(now) is int:
            ints.add(outside_place(expression, space["bound"], space["holders"]))
    changed = changed or any(
        fact_of(_read_now(expression, space, names)) != fact
        for expression, fact in space["facts"].items()
    )
    return ints if changed else None


def _read_now(expression: str, space: dict[str, Any], names: dict[str, Any]) -> Any:
    """Return what an expression of the guards reads now; `NotImplemented` where that is gone."""
    try:
        return eval(expression, space, names)
    except Exception:
        return NotImplemented
