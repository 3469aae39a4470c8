"""Rules that a program declares: a call that changes its arguments is refused."""

import collections
import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np

from rulescore._errors import Fault

__all__ = ["contents", "have_changed", "refuse_change", "watched"]
_LEAST_LARGE, _MOST_SPARE = 1 << 14, 1 << 26  # bytes
_spare: collections.deque[Any] = collections.deque(maxlen=2)  # new memory costs more than a copy
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
    return not _is_same(xs, before, ())


def _contents(x: Any, above: tuple[int, ...]) -> Any:
    if isinstance(x, _UNCHANGEABLE) or id(x) in above:
        return x
    if type(x) in (list, tuple, dict):  # others may run code of their own
        inside = _inside(x)
        return inside, [_contents(item, (*above, id(x))) for item in inside]
    return _kept(x) if _is_large(x) else _memory(x)


def _is_same(x: Any, before: Any, above: tuple[int, ...]) -> bool:
    """Return whether `before` is what `_contents` returns of a value now, without making it."""
    if isinstance(x, _UNCHANGEABLE) or id(x) in above:
        return x is before
    if type(x) in (list, tuple, dict):
        items, held = before
        inside = _inside(x)
        return (
            len(items) == len(inside)
            and all(a is b for a, b in zip(items, inside, strict=True))
            and all(_is_same(a, b, (*above, id(x))) for a, b in zip(inside, held, strict=True))
        )
    if type(before) is np.ndarray:
        same = x.shape == before.shape and x.dtype == before.dtype and _are_same_bits(x, before)
        if before.nbytes <= _MOST_SPARE:
            _spare.append(before.base)
        return same
    now = _memory(x)
    return now is before or (type(now) is bytes and now == before)


def _inside(x: Any) -> list[Any]:
    return [*x.values(), *x] if type(x) is dict else [*x]


def _memory(x: Any) -> Any:
    """Return what an array of any kind or a buffer holds, as bytes; any other object itself."""
    if isinstance(x, np.ndarray):
        return x.tobytes()
    try:
        return memoryview(x).tobytes()
    except TypeError:
        return x


def _is_large(x: Any) -> bool:
    """Return whether an array is compared by integers of the size of its entries, without bytes."""
    kinds = type(x) is np.ndarray and x.nbytes > _LEAST_LARGE and x.dtype.kind in "biufcmM"
    return kinds and x.itemsize in (1, 2, 4, 8, 16)


def _kept(x: Any) -> Any:
    """Return a copy of an array, in the memory of the last one where that is enough."""
    memory = np.empty(0, np.uint8)
    with contextlib.suppress(IndexError):  # of another thread, which was quicker
        memory = _spare.pop()
    if memory.nbytes < x.nbytes:
        memory = np.empty(x.nbytes, np.uint8)
    kept = memory[: x.nbytes].view(x.dtype).reshape(x.shape)
    kept[...] = x
    return kept


def _are_same_bits(x: Any, before: Any) -> bool:
    if x.dtype.kind == "c":
        return _are_same_bits(x.real, before.real) and _are_same_bits(x.imag, before.imag)
    if x.itemsize == 16:  # a long double, with bits that mean nothing
        return bool(((x == before) | ((x != x) & (before != before))).all())
    bits = f"u{x.itemsize}"  # of -0.0 and 0.0, and of numbers that are none, too
    return bool((x.view(bits) == before.view(bits)).all())
