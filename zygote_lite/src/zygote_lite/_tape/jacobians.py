"""Jacobians: put together from the rows that a pullback gives, or the columns of a pushforward.

The value and the argument may be structures: lists, tuples, dicts and objects of numbers and
arrays. A Jacobian has the structure of the value, and at each of its leaves that of the argument.
"""

from collections.abc import Callable, Iterator, Sequence
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
    is_data,
    is_known_by_rule,
    kind_of,
    within,
)
from zygote_lite._cotangents.zeros import filled
from zygote_lite._ir.names import name_of
from zygote_lite._tape.refusals.advice import hint_on_library
from zygote_lite._tape.seeds import ActiveArguments, seed
from zygote_lite._tape.validate import describe, is_real_array
from zygote_lite.errors import Fault

Stack = Callable[[list[Any], tuple[int, ...]], Any]
_STRUCTURES = (TUPLE, LIST, DICT, OBJECT)
_MOST_DERIVATIVES = 1_000_000


def jacobian_by(
    f: Any, y: Any, back: Any, numbers: Sequence[int], is_single: bool, xs: tuple[Any, ...],
    forms: tuple[Any, ...], stack: Stack,
) -> Any:  # fmt: skip
    """Return a Jacobian by the value and the pullback, on any tape.

    Arguments:
        f: the function, for messages.
        y, back: its value and its pullback.
        numbers: the arguments that are differentiated.
        is_single: whether it is that by one argument, and no tuple.
        xs: the arguments, also those by keyword.
        forms: their forms before the call.
        stack: makes an array of a shape of rows.
    """
    for number in numbers:
        _refuse_others(f, y, xs[number], number)
        refuse_vast(f, forms[number], "an argument")

    def rows_of(leaf: Any, around: Callable[[Any], Any]) -> Any:
        rows = [back(around(dy)) for dy in units(f, leaf)]
        found = [by_argument(number, rows, np.shape(leaf)) for number in numbers]
        return found[0] if is_single else tuple(found)

    def by_argument(number: int, rows: list[Any], shape: tuple[int, ...]) -> Any:
        x = forms[number]
        return _stacked(x, [filled(row[1 + number], x) for row in rows], shape, stack, set())

    refuse_vast(f, y)
    return _each_leaf(y, rows_of, lambda dy: dy, set())


def jacobian_by_columns(
    f: Any, y: Any, push: Any, active: ActiveArguments, xs: list[Any]
) -> Any:  # fmt: skip
    """Return a Jacobian by the value and the pushforward.

    Arguments:
        f: the function, for messages.
        y, push: its value and its pushforward.
        active: the arguments that are differentiated.
        xs: zeros of the form of the arguments, also of those by keyword.
    """
    refuse_vast(f, y)
    columns: list[list[Any]] = []  # of each leaf of the arguments, in their order
    for number in active.numbers:
        _refuse_others(f, y, xs[number], number)
        refuse_vast(f, xs[number], "an argument")

        def at_leaf(x: Any, around: Callable[[Any], Any], number: int = number) -> None:
            given = [around(v) for v in units(f, x)]
            nothing: list[Any] = [None] * len(xs)
            rest = nothing[number + 1 :]
            columns.append([push(*nothing[:number], v, *rest) for v in given])

        _each_leaf(xs[number], at_leaf, lambda v: v, set())

    def of_value(y: Any, part_of: Callable[[Any], Any], seen: set[int]) -> Any:
        entries = _parts_of(y, seen)
        if entries is None:
            if not is_real_array(y):
                return None
            given = iter(columns)

            def of_leaf(x: Any, around: Any) -> Any:
                parts = [part_of(dy) for dy in next(given)]
                stacked = np.stack(parts, -1) if parts else np.zeros((*np.shape(y), 0))
                return np.reshape(stacked, np.shape(y) + np.shape(x))

            found = [_each_leaf(xs[n], of_leaf, None, set()) for n in active.numbers]  # type: ignore[arg-type]
            return found[0] if active.is_single else tuple(found)

        def within(key: Any) -> Callable[[Any], Any]:
            return lambda dy: part_of(dy)[key]

        return cotangent_like(
            y, {key: of_value(part, within(key), seen) for key, part in entries.items()}
        )

    return of_value(y, lambda dy: dy, set())


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


def refuse_vast(f: Any, x: Any, what: str = "the value") -> None:
    """Raise where tuples stand in so many places that nobody can go through them one by one."""
    if type(x) is tuple and _places_in(x, {}) > _MOST_DERIVATIVES:
        raise Fault.NOT_REAL(
            f"{what} of {name_of(f)} holds the same tuples again and again, in more than "
            f"{_MOST_DERIVATIVES:,} places, each of which has a derivative of its own: "
            "differentiate what these tuples are made of"
        )


def _places_in(x: Any, known: dict[int, int]) -> int:
    """Return how many numbers and other things stand in a tuple, wherever it is met."""
    if type(x) is not tuple:
        return 1
    if id(x) not in known:
        known[id(x)] = sum(_places_in(part, known) for part in x)
    return known[id(x)]


def _refuse_others(f: Any, y: Any, x: Any, number: int) -> None:
    """Raise where the value or the argument holds what has a gradient and is not real."""
    for whole in (y, x):
        hint = hint_on_library([whole], None) if kind_of(whole) == OBJECT else None
        if hint is not None:
            raise Fault.NOT_REAL(f"the Jacobian of {name_of(f)} meets {describe(whole)}: {hint}")
        for leaf in within(whole, with_data=False):
            is_leaf = kind_of(leaf) not in _STRUCTURES or isinstance(leaf, Number)
            is_known = is_known_by_rule(type(leaf))  # as a whole, which has no rows
            if not is_leaf or (is_real_array(leaf) and not is_known):
                continue
            if leaf is not whole and not is_known and not _may_have_gradient(leaf):
                continue
            inside = "" if leaf is whole else f"; inside is {describe(leaf)}"
            raise Fault.NOT_REAL(
                f"the Jacobian of {name_of(f)} needs real numbers or arrays, or structures of "
                f"them: its value is {describe(y)}, argument {number} is {describe(x)}{inside}; "
                + (hint_on_library([y, x], None) or "take that of a function of such to such")
            )


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
    if kind not in _STRUCTURES or isinstance(x, Number) or is_data(type(x)):
        return None
    if kind != TUPLE:
        address = address_of(x)
        if address in seen:
            return None
        seen.add(address)
    return {str(key) if kind == OBJECT else key: value for key, value in entries_of(x)}
