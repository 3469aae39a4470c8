"""Built-in functions that fold or sort many values, as Python equivalents."""

import builtins
import collections
import functools
import math
import operator
import types
from typing import Any

import numpy as np

from zygote_lite._cotangents.kinds import VALUE, kind_of
from zygote_lite._cotangents.registry import Handlers, no_pullback
from zygote_lite._ir.traits import declare
from zygote_lite._python.library.builtins import _NO_DEFAULT, _list
from zygote_lite._python.operators import number_asked

handlers = Handlers()


@handlers.in_python(builtins.sum)
def _sum(x: Any, /, start: Any = 0) -> Any:
    if not isinstance(x, list):
        items = _list(x if isinstance(x, tuple | np.ndarray) else iter(x))  # asks for no length
        if are_exact_numbers(items, start):
            return sum(items, start)  # which rounds in its own way since Python 3.12
        x = items
    return folded(operator.add, x, start)


@handlers.desugared(builtins.sum)
def _(tape: Any, nodes: Any, x: Any, /, *start: Any, **kws: Any) -> Any:
    """Add user objects, and lists, by their own `+`."""
    for y in (*start, *kws.values()):
        if isinstance(y, str | bytes | bytearray):
            sum((), y)  # raises what Python raises
    items = [*x, *start, *kws.values()] if type(x) in (list, tuple) else []
    if all(kind_of(y) == VALUE or isinstance(y, bool | np.bool_) for y in items):
        return None
    return tape.call(nodes, _sum, x, *start, *kws.values())


def _with_lists(tape: Any, nodes: Any, f: Any, xs: Any, kws: Any, are_taken: Any) -> Any:
    """Call a function with lists in the place of other iterables, which no rule takes."""
    operands = list(zip(xs, nodes[1:], strict=False))
    if all(are_taken(x) for x in xs):
        return None
    operands = [(x, n) if are_taken(x) else tape.call((None, n), list, x) for x, n in operands]
    items, at = zip(*operands, strict=True)
    return tape.call((None, *at, *nodes[1 + len(xs) :]), f, *items, **kws)


_TAKEN_BY_RULES = (list, tuple, np.ndarray)


@handlers.desugared(math.prod)
def _(tape: Any, nodes: Any, x: Any, /, *, start: Any = 1) -> Any:
    """Multiply what any iterable gives, arrays and objects too; the rule takes lists of numbers."""
    of_numbers = isinstance(x, list | tuple) and all(isinstance(y, _OF_NUMBERS) for y in x)
    if not of_numbers or (len(nodes) > 2 and nodes[2] is not None):
        return tape.call((*nodes, None)[:3], _prod, x, start)
    return None


_OF_NUMBERS = (int, float, complex, np.number, np.bool_)


def _prod(x: Any, start: Any) -> Any:
    items = [start, *x]
    if are_exact_numbers(items, start):
        return math.prod(items)
    return folded(operator.mul, items[1:], start)


def _stands_for_a_number(kind: type) -> bool:
    return number_asked(kind, complex_too=False) is not None


def _as_floats(xs: Any) -> Any:
    """Return a list, with the numbers that objects in it say that they are."""
    return [float(x) if _stands_for_a_number(type(x)) else x for x in xs]


_FOLDS_OF_ANY = [f for f in (math.fsum, math.dist, getattr(math, "sumprod", None)) if f]


@handlers.desugared(*_FOLDS_OF_ANY, given=True)
def _(f: Any, tape: Any, nodes: Any, *xs: Any) -> Any:
    """Take what any iterables give; rules take sequences, and two of the same kind."""
    if any(
        type(x) in (list, tuple) and any(map(_stands_for_a_number, {*map(type, x)})) for x in xs
    ):
        found = [tape.call((None, n), _as_floats, x) for x, n in zip(xs, nodes[1:], strict=True)]
        return tape.call((None, *(node for _, node in found)), f, *(y for y, _ in found))
    kinds = (list, tuple) if len({*map(type, xs)}) > 1 else _TAKEN_BY_RULES
    return _with_lists(tape, nodes, f, xs, {}, lambda x: isinstance(x, kinds))


def _is_iterable_only(kind: type) -> bool:
    """Return whether objects of a class are iterated over, and are no sequences."""
    return hasattr(kind, "__next__") or kind in (collections.deque, _Values, _Keys)


_Values: Any = type({}.values())
_Keys: Any = type({}.keys())


@handlers.callables(types.FunctionType, of=_is_iterable_only)
def _(tape: Any, nodes: Any, f: Any, xs: Any, kws: Any) -> Any:
    """Take what an iterable gives in `statistics`, whose rules take sequences."""
    if f.__module__ != "statistics" or f.__name__.startswith("_"):
        return None
    return _with_lists(tape, nodes, f, xs, kws, lambda x: not _is_iterable_only(type(x)))


@handlers.in_python(builtins.max)
def _max(*xs: Any, key: Any = None, default: Any = _NO_DEFAULT) -> Any:
    return _extreme(operator.gt, "max", xs, key, default)


@handlers.in_python(builtins.min)
def _min(*xs: Any, key: Any = None, default: Any = _NO_DEFAULT) -> Any:
    return _extreme(operator.lt, "min", xs, key, default)


def _extreme(better: Any, name: Any, xs: Any, key: Any, default: Any) -> Any:
    """Return the first item that no other is better than, or else the default."""
    items = xs[0] if len(xs) == 1 else xs
    found = False
    if key is None:
        for y in items:
            if found:
                is_better = better(y, best)  # type: ignore[has-type] # noqa: F821 - it has one
            else:
                is_better = True
            if is_better:
                best = y
            found = True
    else:
        for y in items:
            k = key(y)
            if found:
                is_better = better(k, best_key)  # type: ignore[has-type] # noqa: F821 - it has one
            else:
                is_better = True
            if is_better:
                best = y
                best_key = k  # noqa: F841 - the next iteration reads it
            found = True
    if found:
        return best
    if default is _NO_DEFAULT:
        raise ValueError(f"{name}() iterable argument is empty")
    return default


@handlers.in_python(builtins.any)
def _any(items: Any) -> Any:
    found = False
    for item in items:
        if item:
            found = True
            break
    return found


@handlers.in_python(builtins.all)
def _all(items: Any) -> Any:
    found = True
    for item in items:
        if not item:
            found = False
            break
    return found


@handlers.in_python(builtins.sorted)
def _sorted(x: Any, /, *, key: Any = None, reverse: Any = False) -> Any:
    items = _list(x)
    keys = []
    for y in items:
        keys.append(y if key is None else key(y))
    return [items[i] for i in order_of(keys, reverse)]


@handlers.in_python(functools.reduce)
def _reduce(f: Any, x: Any, initial: Any = _NO_DEFAULT) -> Any:
    if initial is not _NO_DEFAULT:
        return folded(f, x, initial)
    found = False
    for item in x:
        if found:
            total = f(total, item)  # type: ignore[has-type] # noqa: F821 - it has one
        else:
            total = item
        found = True
    if not found:
        raise TypeError("reduce() of empty iterable with no initial value")
    return total


def folded(f: Any, items: Any, total: Any) -> Any:
    """Join all items to a start, one by one, and return the result."""
    for item in items:
        total = f(total, item)
    return total


def order_of(keys: Any, reverse: bool) -> list[int]:
    """Return the positions of `keys` in their sorted order."""
    return sorted(range(len(keys)), key=keys.__getitem__, reverse=reverse)


def are_exact_numbers(items: list[Any], start: Any) -> bool:
    """Return whether there are numbers only."""
    return all(isinstance(x, int | float | complex) for x in (*items, start))


handlers.structural(order_of)(lambda flags, *xs: (order_of(*xs), no_pullback(len(flags))))
handlers.structural(are_exact_numbers)(lambda flags, *xs: (are_exact_numbers(*xs), no_pullback(3)))
declare(order_of, calls=frozenset(("__lt__",)), calls_within=True)


@handlers.desugared(list.sort)
def _(tape: Any, nodes: Any, x: Any, **kws: Any) -> Any:
    key, at = kws.get("key"), dict(zip(kws, nodes[2:], strict=True))
    if key is None:
        return None
    flags = (None, nodes[1], at["key"], None)
    return tape.call(flags, _sort, x, key, kws.get("reverse", False))


def _sort(x: Any, key: Any, reverse: Any) -> Any:
    """Sort a list as Python does: it is empty for whoever looks at it meanwhile."""
    items, order = x[:], None
    list.clear(x)
    try:
        keys = []
        for y in items:
            keys.append(key(y))
        order = order_of(keys, reverse)
    finally:
        is_changed = list.__len__(x) > 0
        x[:] = items if order is None else [items[i] for i in order]
    if is_changed:
        raise ValueError("list modified during sort")
