"""Jacobians: the rows that a pullback gives for each entry of the value, put together.

The value and the argument may be structures: lists, tuples, dicts and objects of numbers and
arrays. The Jacobian has the structure of the value, and at each of its leaves that of the argument.
"""

from collections.abc import Callable, Iterator
from numbers import Number
from typing import Any

import numpy as np

from zygote_lite._cotangents.kinds import (
    DICT,
    FUNCTION,
    INERT,
    LIST,
    OBJECT,
    TUPLE,
    address_of,
    cotangent_like,
    entries_of,
    held_by,
    kind_of,
)
from zygote_lite._cotangents.zeros import filled
from zygote_lite._ir.places import name_of
from zygote_lite._tape.seeds import seed
from zygote_lite._tape.validate import describe, is_real_array

Stack = Callable[[list[Any], tuple[int, ...]], Any]
_STRUCTURES = (TUPLE, LIST, DICT, OBJECT)


def jacobian_by(f: Any, y: Any, back: Any, number: int, x: Any, stack: Stack) -> Any:
    """Return a Jacobian by the value and the pullback, on any tape.

    Arguments:
        f: the function, for messages.
        y, back: its value and its pullback.
        number: the argument that is differentiated.
        x: this argument.
        stack: makes an array of a shape of rows.
    """
    _refuse_others(f, y, x, number)

    def rows_of(leaf: Any, around: Callable[[Any], Any]) -> Any:
        shape = np.shape(leaf)
        rows = [filled(back(around(dy))[1 + number], x) for dy in units(f, leaf)]
        return _stacked(x, rows, shape, stack, set())

    return _each_leaf(y, rows_of, lambda dy: dy, set())


def stack_rows(rows: list[Any], shape: tuple[int, ...]) -> Any:
    """Return an array of rows."""
    return np.reshape(np.array(rows), shape)


def units(f: Any, y: Any) -> Iterator[Any]:
    """Yield the cotangents of a real number or array that pick out one of its entries each."""
    if np.ndim(y) == 0:
        yield seed(f, y)
        return
    for i in range(np.size(y)):
        dy = np.zeros(np.shape(y), y.dtype if y.dtype.kind == "f" else float)
        dy.flat[i] = 1
        yield dy


def _refuse_others(f: Any, y: Any, x: Any, number: int) -> None:
    """Raise where the value or the argument holds what has a gradient and is not real."""
    for whole in (y, x):
        for leaf in _leaves_of(whole, set()):
            if is_real_array(leaf) or not (leaf is whole or _may_have_gradient(leaf)):
                continue
            inside = "" if leaf is whole else f"; inside is {describe(leaf)}"
            raise TypeError(
                f"the Jacobian of {name_of(f)} needs real numbers or arrays, or structures of "
                f"them: its value is {describe(y)}, its argument {number} is {describe(x)}{inside}"
            )


def _leaves_of(x: Any, seen: set[int]) -> Iterator[Any]:
    entries = _parts_of(x, seen)
    if entries is None:
        if kind_of(x) not in _STRUCTURES or isinstance(x, Number):
            yield x
        return
    for value in entries.values():
        yield from _leaves_of(value, seen)


def _may_have_gradient(leaf: Any) -> bool:
    kind = kind_of(leaf)
    if kind == FUNCTION:
        return bool(held_by(leaf))
    return kind != INERT and getattr(getattr(leaf, "dtype", None), "kind", "c") == "c"


def _each_leaf(y: Any, at_leaf: Any, around: Callable[[Any], Any], seen: set[int]) -> Any:
    """Return a structure like `y` with what `at_leaf(leaf, around)` gives for its leaves.

    `around` puts the cotangent of a leaf where it belongs in that of the whole.
    """
    entries = _parts_of(y, seen)
    if entries is None:
        return at_leaf(y, around) if is_real_array(y) else None

    def within(key: Any) -> Callable[[Any], Any]:
        return lambda d: around(cotangent_like(y, {**dict.fromkeys(entries), key: d}))

    found = {key: _each_leaf(value, at_leaf, within(key), seen) for key, value in entries.items()}
    return cotangent_like(y, found)


def _stacked(x: Any, rows: list[Any], shape: tuple[int, ...], stack: Stack, seen: set[int]) -> Any:
    """Return a structure like `x` whose leaves are the rows' entries, as one array each."""
    entries = _parts_of(x, seen)
    if entries is None:
        return stack(rows, shape + np.shape(x)) if is_real_array(x) else None
    found = {
        key: _stacked(value, [row[key] for row in rows], shape, stack, seen)
        for key, value in entries.items()
    }
    return cotangent_like(x, found)


def _parts_of(x: Any, seen: set[int]) -> dict[Any, Any] | None:
    """Return the entries of a structure by their keys in its cotangent; `None` for a leaf.

    What is met a second time has none: its cotangent is at the first place.
    """
    kind = kind_of(x)
    if kind not in _STRUCTURES or isinstance(x, Number):
        return None
    if kind != TUPLE:
        address = address_of(x)
        if address in seen:
            return None
        seen.add(address)
    return {str(key) if kind == OBJECT else key: value for key, value in entries_of(x)}
