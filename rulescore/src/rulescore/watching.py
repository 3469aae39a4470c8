"""Rules that a program declares: a call that changes its arguments is refused."""

from collections.abc import Callable
from typing import Any

import numpy as np

from rulescore._errors import Fault

__all__ = ["contents", "have_changed", "refuse_change", "watched"]
_UNCHANGEABLE = float, int, complex, str, bytes, np.generic, type(None)


def watched(rule: Any, body: Callable[..., Any], xs: tuple[Any, ...], options: Any) -> Any:
    """Return what a call returns by a rule; raise `RuleError` if it changed an argument."""
    given = (*xs, *options.values())
    before = contents(given) if rule.watches else None
    found = body(*xs, **options)
    refuse_change(rule, given, before)
    return found


def refuse_change(rule: Any, given: tuple[Any, ...], before: Any) -> None:
    """Raise `RuleError` if a call by a rule changed its arguments.

    Arguments:
        rule: the rule.
        given: the arguments.
        before: their `contents` before the call; `None` where the rule is not watched.
    """
    if before is not None and have_changed(given, before):
        raise Fault.IN_PLACE(
            f"{rule.signature} ({rule.place}): a call by the rule changes its arguments, and a "
            "rule has gradients for what a function returns alone: write a function that gives it "
            "a copy and returns what is new, and declare the rule for that function"
        )


def contents(xs: tuple[Any, ...]) -> Any:
    """Return what values hold, to be compared by `have_changed`.

    It is that of arrays, buffers, lists, tuples and dicts: other objects may keep notes.
    """
    return _contents(xs, ())


def have_changed(xs: tuple[Any, ...], before: Any) -> bool:
    """Return whether values hold something else than before."""
    return not _are_same(before, _contents(xs, ()))


def _contents(x: Any, above: tuple[int, ...]) -> Any:
    if isinstance(x, np.ndarray):
        return x.tobytes()
    if isinstance(x, _UNCHANGEABLE) or id(x) in above:
        return x
    if type(x) in (list, tuple, dict):  # others may run code of their own
        inside = [*x.values(), *x] if type(x) is dict else [*x]
        return inside, [_contents(item, (*above, id(x))) for item in inside]
    try:
        return memoryview(x).tobytes()
    except TypeError:
        return x


def _are_same(a: Any, b: Any) -> bool:
    if type(a) is not type(b):
        return False
    if type(a) in (list, tuple):
        return len(a) == len(b) and all(map(_are_same, a, b))
    return a is b or (type(a) is bytes and a == b)
