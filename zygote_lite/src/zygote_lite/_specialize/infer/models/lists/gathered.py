"""Lists of any length that NumPy is given: the array that it makes of their numbers or arrays.

`np.array(x)`, `np.stack(x)` and `np.concatenate(x)` are written as they stand. A function of arrays
is given `np.array(x)` for the list.
"""

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from zygote_lite._specialize.infer.iteration.known import as_they_are_now
from zygote_lite._specialize.infer.models.lists import items as _lists
from zygote_lite._specialize.rules.contributions import Contribution
from zygote_lite._specialize.typed.abstract_eval import Result, run
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.facts import (
    UNKNOWN,
    ArrayOf,
    Fact,
    ListOf,
    Other,
    Scalar,
    can_carry,
    fact_of,
)
from zygote_lite._specialize.typed.functions import is_hashable
from zygote_lite._specialize.typed.reasons import NotSupported
from zygote_lite._specialize.typed.runtime import pieces, zeros
from zygote_lite._specialize.typed.structures import structure
from zygote_lite._specialize.typed.values import Value, constant, list_root

_FLOAT64 = {float, np.float64}
_PLAIN_NUMBERS = _FLOAT64 | {int, bool, np.int64, np.bool_}
_MAKERS = (np.array, np.asarray, np.stack)
_JOINERS = (np.concatenate, np.hstack)
_REDUCTIONS = (
    np.sum, np.mean, np.prod, np.max, np.min, np.var, np.std, np.dot, np.cumsum, np.diff, np.median,
    np.average, np.argmax, np.argmin, np.linalg.norm, np.trapezoid, np.outer, np.inner, np.shape,
)  # fmt: skip


def of_lists(
    builder: Builder, f: Any, xs: list[Value], kws: dict[str, Value], stem: str
) -> Value | None:
    """Write a call of a NumPy function on lists; return `None` for other functions."""
    first = xs[0].fact if xs else None
    if not is_hashable(f):
        return None
    if len(xs) == 1 and not kws and f in _MAKERS and xs[0].items is not None:
        return _array_of_items(builder, f, xs[0], stem)
    if isinstance(first, ListOf) and len(xs) == 1:
        if f in _MAKERS and not kws:
            return _array_of(builder, np.array, xs[0], stem)
        if f is np.vstack and not kws and _rank(first.item) == 1:
            return _array_of(builder, np.array, xs[0], stem)
        if f in _JOINERS and not kws and (f is np.concatenate or _rank(first.item) == 1):
            return _concatenated(builder, xs[0], stem)
    takes_arrays = isinstance(f, np.ufunc) or f in _REDUCTIONS
    if f in _REDUCTIONS and xs and _holds_arrays(xs[0]):
        return builder.apply(f, [builder.apply(np.array, [xs[0]]), *xs[1:]], kws, stem)
    if takes_arrays and any(map(_is_list, xs)):
        given = [_array_of(builder, np.array, x) if _is_list(x) else x for x in xs]
        return builder.apply(f, given, kws, stem)
    return None


def _holds_arrays(x: Value) -> bool:
    """Return whether a value is a list of arrays that are known one by one."""
    return type(x.sample) is list and bool(x.items) and all(item.is_array for item in x.items or ())


def _is_list(x: Value) -> bool:
    return isinstance(x.fact, ListOf)


def _array_of_items(builder: Builder, f: Any, x: Value, stem: str) -> Value | None:
    """Write `np.array(x)` of a nest of lists whose items are known; `None` for other contents."""
    places = _places(x, ())
    kinds = [leaf.fact.classes if isinstance(leaf.fact, Scalar) else None for _, leaf in places]
    numbers = [kind for kind in kinds if kind is not None and kind <= _PLAIN_NUMBERS]
    if len(numbers) != len(kinds) or not any(kind <= _FLOAT64 for kind in numbers):
        return None
    given = as_they_are_now(x)
    sample = run(f, [given.sample], {})
    if len({len(place) for place, _ in places}) != 1 or sample.ndim != len(places[0][0]):
        return None
    op = builder.operation(f, [given], {}, stem, fact=fact_of(sample))
    op.target.made = True
    if builder.follows and any(leaf.active for _, leaf in places):
        op.target.active = True
        op.active_operands = [leaf for _, leaf in places if leaf.active]
        plain = all(leaf.fact == Scalar(frozenset((float,))) for leaf in op.active_operands)
        op.reverse_rule = ItemsRule([place for place, leaf in places if leaf.active], plain)
    return op.target


def _places(x: Value, at: tuple[int, ...]) -> list[tuple[tuple[int, ...], Value]]:
    """Return the leaves of a nest of lists and tuples, each with its place."""
    if x.items is None or type(x.sample) not in (list, tuple):
        return [(at, x)]
    return [found for i, item in enumerate(x.items) for found in _places(item, (*at, i))]


@dataclass(eq=False)
class ItemsRule:
    """Through an array made of numbers: each takes its entry of the cotangent.

    Attributes:
        places: those of the numbers.
        plain: whether they are Python's floats, with which cotangents are quicker, too.
    """

    places: list[tuple[int, ...]]
    plain: bool

    def back(self, builder: Builder, dy: Value) -> list[Contribution]:
        """Write the cotangents of the numbers."""
        if not self.plain or builder.recording or builder.inner:
            return [builder.item(dy, structure(tuple, [*map(constant, at)])) if len(at) > 1
                    else builder.item(dy, constant(at[0])) for at in self.places]  # fmt: skip
        whole = Result(Other(list), dy.sample.tolist())
        found: list[Contribution] = []
        nest = builder.write(whole, np.ndarray.tolist, [dy], {}).target
        for place in self.places:
            part = nest
            for i in place:
                sample = part.sample[i]
                fact: Fact = Other(list) if type(sample) is list else Scalar(frozenset((float,)))
                result = Result(fact, sample)
                part = builder.write(result, operator.getitem, [part, constant(i)], {}).target
            found.append(part)
        return found


def _rank(item: Fact | None) -> int | None:
    """Return how many axes the items of a list have, where they are numbers or arrays."""
    if isinstance(item, Scalar):
        return 0
    return len(item.axes) if isinstance(item, ArrayOf) else None


def _array_of(builder: Builder, f: Any, x: Value, stem: str = "") -> Value:
    """Write `np.array(x)` of a list."""
    item = _lists.settled(x).item
    if item is None or _rank(item) is None:
        raise NotSupported.LIST_OPERATION(
            "it makes an array of a list of something other than numbers and arrays"
        )
    back = np.ndarray.tolist if isinstance(item, Scalar) else list
    return _gathered(builder, f, x, lambda dy: (back, [dy]), stem)


def _concatenated(builder: Builder, x: Value, stem: str) -> Value:
    """Write `np.concatenate(x)` of a list of arrays."""
    if not isinstance(_lists.settled(x).item, ArrayOf):
        raise NotSupported.LIST_OPERATION("it joins a list of something other than arrays")
    return _gathered(builder, np.concatenate, x, lambda dy: (pieces, [dy, x]), stem)


@dataclass(eq=False)
class GatherRule:
    """Through an array made of a list: the list of the cotangents of its parts."""

    x: Value
    parts: Callable[[Value], tuple[Any, list[Value]]]

    def back(self, builder: Builder, dy: Value) -> list[Contribution]:
        """Write the cotangents of the parts, in a new list."""
        f, given = self.parts(dy)
        result = Result(self.x.fact, zeros(self.x.sample))
        d = builder.write(result, f, given, {}).target
        d.fresh = True
        builder.of_each_array.add(d)
        return [d]


def _gathered(
    builder: Builder, f: Any, x: Value, parts: Callable[[Value], Any], stem: str
) -> Value:  # fmt: skip
    if not x.sample:
        raise NotSupported.LIST_OPERATION("it makes an array of a list that may be empty")
    sample = run(f, [x.sample], {})
    fact = _lists.settled(x)
    made = ArrayOf(sample.dtype, (UNKNOWN,) * sample.ndim)
    plain = isinstance(fact.item, Scalar) and fact.item.classes <= {float, np.float64}
    op = builder.write(Result(made, sample, certain=plain), f, [x], {}, stem)
    op.target.made = True
    if list_root(x).active and builder.follows and can_carry(made):
        op.target.active = True
        op.reverse_rule, op.active_operands = GatherRule(x, parts), [x]
    return op.target
