"""What the functions mean that use up an iterable and keep one value, in Python.

Recording runs these bodies in the place of the functions in C. Where such a function uses up a
comprehension or `map`, lowering for transformed code writes its body there, with the loops of the
comprehension in the place of `for item in items`: so each body has one such loop, which ends in
what it returns, and asks for no names but its own.
"""

from collections.abc import Callable, Iterable
from typing import Any


def folded(f: Callable[[Any, Any], Any], items: Iterable[Any], total: Any) -> Any:
    """Join all items to a start, one by one, and return the result."""
    for item in items:
        total = f(total, item)
    return total


def folded_from_first(f: Callable[[Any, Any], Any], items: Iterable[Any]) -> Any:
    """Join all items to the first, one by one, and return the result."""
    found = False
    for item in items:
        if found:
            total = f(total, item)  # type: ignore[has-type] # noqa: F821 - found: it has one
        else:
            total = item
        found = True
    if not found:
        raise TypeError("reduce() of empty iterable with no initial value")
    return total


def extreme(
    better: Callable[[Any, Any], Any],
    name: str,
    may_be_empty: bool,
    items: Iterable[Any],
    best: Any = None,
) -> Any:
    """Return the first item that no other is better than, or else the default `best`."""
    found = False
    for item in items:
        if found:
            is_better = better(item, best)
        else:
            is_better = True
        if is_better:
            best = item
        found = True
    if not (may_be_empty or found):
        raise ValueError(f"{name}() iterable argument is empty")
    return best


def any_of(items: Iterable[Any]) -> bool:
    """Return whether an item is true; those behind it are not asked for."""
    found = False
    for item in items:
        if item:
            found = True
            break
    return found


def all_of(items: Iterable[Any]) -> bool:
    """Return whether all items are true; those behind one that is not are not asked for."""
    found = False
    for item in items:
        if item:
            continue
        found = True
        break
    return not found
