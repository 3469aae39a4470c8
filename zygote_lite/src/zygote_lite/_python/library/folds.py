"""Built-in functions that fold or sort many values, as Python equivalents."""

import builtins
import functools
import operator
from typing import Any

import numpy as np

from zygote_lite._cotangents.kinds import VALUE, kind_of
from zygote_lite._cotangents.pullbacks import no_pullback
from zygote_lite._cotangents.registry import Handlers
from zygote_lite._python.library.builtins import _NO_DEFAULT, _list

handlers = Handlers()


@handlers.in_python(builtins.sum)
def _sum(x: Any, /, start: Any = 0) -> Any:
    if not isinstance(x, list):
        items = _list(x)
        if are_exact_numbers(items, start):
            return sum(items, start)  # which rounds in its own way since Python 3.12
        x = items
    for y in x:
        start = start + y
    return start


@handlers.desugared(builtins.sum)
def _(tape: Any, nodes: Any, x: Any, /, *start: Any, **kws: Any) -> Any:
    """Add user objects, and lists, by their own `+`."""
    items = [*x, *start, *kws.values()] if type(x) in (list, tuple) else []
    if all(kind_of(y) == VALUE or isinstance(y, bool | np.bool_) for y in items):
        return None
    return tape.call(nodes, _sum, x, *start, *kws.values())


@handlers.in_python(builtins.max)
def _max(*xs: Any, key: Any = None, default: Any = _NO_DEFAULT) -> Any:
    return extreme(operator.gt, "max", xs, key, default)


@handlers.in_python(builtins.min)
def _min(*xs: Any, key: Any = None, default: Any = _NO_DEFAULT) -> Any:
    return extreme(operator.lt, "min", xs, key, default)


def extreme(better: Any, name: Any, xs: Any, key: Any, default: Any) -> Any:
    """Return the first element whose key no other is better than."""
    items = xs[0] if len(xs) == 1 else xs
    best = best_key = _NO_DEFAULT
    for y in items:
        k = y if key is None else key(y)
        if best is _NO_DEFAULT or better(k, best_key):
            best = y
            best_key = k
    if best is _NO_DEFAULT:
        if default is _NO_DEFAULT:
            raise ValueError(f"{name}() iterable argument is empty")
        return default
    return best


@handlers.in_python(builtins.any)
def _any(x: Any) -> Any:
    for y in x:
        if y:
            return True
    return False


@handlers.in_python(builtins.all)
def _all(x: Any) -> Any:
    for y in x:
        if not y:
            return False
    return True


@handlers.in_python(builtins.sorted)
def _sorted(x: Any, /, *, key: Any = None, reverse: Any = False) -> Any:
    items = _list(x)
    keys = []
    for y in items:
        keys.append(y if key is None else key(y))
    return [items[i] for i in order_of(keys, reverse)]


@handlers.in_python(functools.reduce)
def _reduce(f: Any, x: Any, initial: Any = _NO_DEFAULT) -> Any:
    it = iter(x)
    if initial is _NO_DEFAULT:
        try:
            value = next(it)
        except StopIteration:
            raise TypeError("reduce() of empty iterable with no initial value") from None
    else:
        value = initial
    for y in it:
        value = f(value, y)
    return value


def order_of(keys: Any, reverse: bool) -> list[int]:
    """Return the positions of `keys` in their sorted order."""
    return sorted(range(len(keys)), key=keys.__getitem__, reverse=reverse)


def are_exact_numbers(items: list[Any], start: Any) -> bool:
    """Return whether there are numbers only."""
    return all(isinstance(x, int | float | complex) for x in (*items, start))


handlers.structural(order_of)(lambda flags, *xs: (order_of(*xs), no_pullback(len(flags))))
handlers.structural(are_exact_numbers)(lambda flags, *xs: (are_exact_numbers(*xs), no_pullback(3)))
