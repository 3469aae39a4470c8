"""Functions that specialized code calls at run time, besides NumPy, `math` and rules."""

import math
from typing import Any

import numpy as np

from rulescore import Tangent, frule, project
from zygote_lite._ir.traits import declare
from zygote_lite._numpy.writes import winning
from zygote_lite._specialize.typed.reasons import NotSupported, Unsound

# -- leaving for the tape ------------------------------------------------------------------------


class Unset:
    """Stand for a variable without a value: whoever reads it meets an error."""

    __name__ = "unset"

    def _refuse(self, *_: Any) -> Any:
        raise UnboundLocalError("a variable is read that has no value")

    __bool__ = __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __hash__ = object.__hash__


UNSET = Unset()


def same_shape(x: Any, y: Any) -> None:
    """Leave the code unless two arrays have one shape."""
    if x.shape != y.shape:
        raise Unsound.COTANGENT_TYPE("two arrays have different shapes")


def has_length(x: Any, count: int) -> None:
    """Leave the code unless an array has so many entries along its first axis."""
    if len(x) != count:
        raise Unsound.RAISES("an array has another length")


def has_parts(x: Any, kind: type, keys: tuple[Any, ...]) -> None:
    """Leave the code unless a tangent is a tuple, list or dict with these indices or keys."""
    is_of_kind = type(x) is kind
    if not is_of_kind or keys != tuple(x if kind is dict else range(len(x))):
        raise Unsound.COTANGENT_TYPE("a tangent has other items than its argument")


def is_tangent_of(x: Any, kind: type, names: tuple[str, ...]) -> None:
    """Leave the code unless a tangent is that of an object of a class, with these attributes."""
    if type(x) is not Tangent or x._primal is not kind or tuple(x) != names:
        raise Unsound.COTANGENT_TYPE("a tangent is not that of its object")


def has_room(x: Any, size: int) -> None:
    """Leave the code unless a cache can keep one more."""
    if len(x) >= size:
        raise Unsound.RAISES("an `lru_cache` is full")


def has_items(x: Any) -> None:
    """Leave the code where a list is empty."""
    if not x:
        raise Unsound.RAISES("a list is empty")


def has_key(x: Any, key: Any) -> None:
    """Leave the code unless a dict has a key."""
    if key not in x:
        raise Unsound.RAISES("a dict does not have the key")


def is_view(x: Any, y: Any) -> None:
    """Leave the code unless one array is a view of another."""
    if not np.may_share_memory(x, y):
        raise Unsound.SHARED_WRITE("an array is a copy where a view was expected")


def pushed_tangent(f: Any, xs: Any, dxs: Any, **options: Any) -> Any:
    """Return the tangent of a call, by its forward rule; leave the code where there is none."""
    found = frule((None, *map(real_where_due, dxs, xs)), f, *xs, **options)
    if found is None or found[1] is None:
        raise NotSupported.FORWARD("a call has no tangent")
    return found[1]


def real_where_due(d: Any, x: Any) -> Any:
    """Return the tangent of a number: of one that is complex only in later iterations, a real."""
    is_late = isinstance(d, complex) and not isinstance(x, complex)
    return d.real if is_late and not d.imag else d


def as_number_like(d: Any, x: Any) -> Any:
    """Return the tangent of a number as one of its class."""
    return type(x)(d)


def finite(x: Any) -> None:
    """Leave the code unless a gradient that is taken inside is finite."""
    if not np.isfinite(x).all():
        raise Unsound.NOT_FINITE("a gradient is infinite or nan")


def added_at(x: Any, index: Any, value: Any) -> Any:
    """Return a copy of an array to some entries of which values are added, repeatedly."""
    total = np.copy(x)
    np.add.at(total, index, value)
    return total


def stayed(d: Any, x: Any, index: Any) -> Any:
    """Return the cotangent of what was stored, without what the same store wrote over."""
    winners = winning(x, index)
    return d if winners is None else np.where(winners, d, 0)


def has_value(x: Any) -> None:
    """Leave the code where a variable has no value."""
    if x is UNSET:
        raise Unsound.UNSET("a variable has no value")


def is_given(x: Any) -> None:
    """Leave the code where a variable that is read as a number is `None`."""
    if x is None:
        raise Unsound.UNSET("a number is None")


def is_bound(x: Any) -> None:
    """Raise the error of the program that reads a variable without a value."""
    if x is UNSET:
        raise UnboundLocalError("a variable is read that has no value")


CONDITIONS = frozenset((same_shape, has_key, has_length, finite, is_view))


def zeros_if_set(x: Any) -> Any:
    """Return the cotangent of an array that no gradient has reached; a variable may have none.

    The cotangent of a variable without a value goes nowhere: it may be any zero.
    """
    return np.zeros_like(x) if isinstance(x, np.ndarray) else 0.0


def strong_product(dy: Any, partial: Any) -> Any:
    """Return a cotangent times a partial derivative, and 0 where the cotangent is 0.

    A zero cotangent is a strong zero: it wins over an infinite or undefined partial derivative,
    so that what does not matter cannot spoil a gradient.
    """
    if isinstance(dy, np.ndarray) or isinstance(partial, np.ndarray):
        return np.where(dy == 0, dy, dy * partial)
    d = dy * partial
    return d if dy else type(d)(0)


def chosen_product(dy: Any, partial: Any) -> Any:
    """Return the same for a function that chooses, where a partial derivative of 0 wins too."""
    if isinstance(dy, np.ndarray) or isinstance(partial, np.ndarray):
        return np.where(np.equal(dy, 0) | np.equal(partial, 0), 0.0, dy * partial)
    d = dy * partial
    return d if dy and partial else type(d)(0)


declare(strong_product, chosen_product, elementwise=True)


def as_it_is(x: Any) -> Any:
    """Return the argument unchanged; the caller tests its type."""
    return x


def abandon() -> None:
    """Leave the code: the tape takes over."""
    raise Unsound.RAISES("the program raises an error here")


def throw(error: Any) -> None:
    """Raise an error of the program, or a new one of a class, that a handler around it catches."""
    raise Unsound.RAISES("the program raises an error here")


def exactly(x: Any, count: int) -> Any:
    """Return a sequence of exactly `count` elements."""
    if len(x) != count:
        raise ValueError(f"{count} values were to be unpacked, and there are {len(x)}")
    return x


def call_back(back: Any, dy: Any) -> Any:
    """Call a pullback."""
    return back(dy)


def call_parts(back: Any, needed: tuple[Any, ...], dy: Any) -> Any:
    """Call a pullback for the cotangents that are needed."""
    return back.only(needed)(dy)


# -- cotangents of lists -------------------------------------------------------------------------

# That of a number is a number. That of an array is an array that is never written to, or `None`
# where no gradient has reached it.


def zeros(x: list[Any] | None) -> list[Any]:
    """Return the cotangent of a list that no gradient has reached; there may be no list."""
    return [_zero_of(item) for item in x or ()]


def _zero_of(item: Any) -> Any:
    if type(item) is list:
        return zeros(item)
    return None if isinstance(item, np.ndarray) else 0.0


def zero_tangents(x: list[Any]) -> list[Any]:
    """Return the tangents of the items of a list that do not move."""
    return [_zero_tangent(item) for item in x]


def _zero_tangent(item: Any) -> Any:
    if type(item) is list:
        return zero_tangents(item)
    return np.zeros_like(item) if isinstance(item, np.ndarray) else 0.0


def projected_if_set(d: Any, x: Any) -> Any:
    """Return the cotangent of an array that was appended; a variable may have none."""
    return zeros_if_set(x) if d is None or not isinstance(x, np.ndarray) else project(d, x)


def zeros_or(d: Any, x: Any) -> Any:
    """Return the cotangent of an array: zeros where no gradient has reached it."""
    return np.zeros_like(x) if d is None else d


def pieces(dy: Any, xs: list[Any]) -> list[Any]:
    """Return the parts of a cotangent that belong to arrays that were put one after the other."""
    found, start = [], 0
    for x in xs:
        found.append(dy[start : start + len(x)])
        start += len(x)
    return found


def add_item(total: list[Any], place: int, d: Any) -> None:
    """Add the cotangent of an array to those of a list."""
    known = total[place]
    total[place] = d if known is None else known + d


def add_to_each(total: list[Any], d: Any) -> None:
    """Add a cotangent to that of each item of a list."""
    for i in range(len(total)):
        add_item(total, i, d)


def duplicate(d: list[Any]) -> list[Any]:
    """Return a cotangent that may be written to."""
    return [duplicate(item) if type(item) is list else 0.0 if item is None else item for item in d]


def add_lists(total: list[Any], d: Any) -> None:
    """Add the cotangent of a list to another, in place."""
    if d is not None:
        add_to_part(total, slice(None), d)


def add_to_part(total: list[Any], part: slice, d: list[Any]) -> None:
    """Add the cotangent of a part of a list to that of the list, in place."""
    for i, item in zip(range(*part.indices(len(total))), d, strict=True):
        if type(item) is list:
            add_lists(total[i], item)
        elif item is not None:
            add_item(total, i, item)


def list_cotangent(d: list[Any]) -> list[Any]:
    """Return the gradient of a list: of each number, a float."""
    found: list[Any] = []
    for item in d:
        if type(item) is list:
            found.append(list_cotangent(item))
        elif item is None:
            found.append(0.0)
        elif math.isfinite(item):
            found.append(float(item))
        else:
            raise FloatingPointError("a gradient that is not finite needs zygote_lite")
    return found


def are_numbers(x: list[Any], kind: type, rows: bool) -> bool:
    """Return whether a list holds numbers of one class only, or different lists of those."""
    if not rows:
        return {*map(type, x)} == {kind}
    return (
        {*map(type, x)} == {list}
        and len({*map(id, x)}) == len(x)
        and all({*map(type, row)} == {kind} for row in x)
    )


def are_keys(x: dict[Any, Any], keys: tuple[str, ...]) -> bool:
    """Return whether the keys of a dict are these, in this order."""
    return tuple(x) == keys and {*map(type, x)} <= {str}


def are_apart(xs: tuple[Any, ...], *others: Any) -> bool:
    """Return whether no list or dict of one group is in the other group."""
    return {*map(id, xs)}.isdisjoint(map(id, others))


def is_writable(x: np.ndarray, *others: np.ndarray) -> bool:
    """Return whether an array may be written to, each entry once, and shares nothing with others.

    Those of one array share it, though they may have no entry in common: the tape refuses that.
    """
    flags = x.flags
    shared = any(
        np.may_share_memory(x, y) or (x.base is not None and x.base is y.base) for y in others
    )
    return flags.writeable and flags.forc and not shared


def are_distinct(*xs: Any) -> bool:
    """Return whether all lists and dicts are different objects."""
    return len({*map(id, xs)}) == len(xs)
