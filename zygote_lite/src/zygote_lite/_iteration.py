"""Iteration: built-in functions that are written in C, in Python that means the same.

They are transformed like any function of the user's, so that what they call is differentiated.
"""

# ruff: noqa: D103, A001, A002 - each function is the one that it is declared for

import builtins
import functools
import itertools
import operator
from typing import Any

import numpy as np

from zygote_lite._pull import inert, no_rule, structural
from zygote_lite._store import forget, give, mark_active, slots_of
from zygote_lite._tape import equivalent

_MISSING = object()


def iterate_sequence(x):
    i = 0
    while i < len(x):
        yield x[i]
        i += 1


@equivalent(iter)
def _iter(x, sentinel=_MISSING):
    if sentinel is not _MISSING:
        return iterate_calls(x, sentinel)
    if isinstance(x, list | tuple) or (isinstance(x, np.ndarray) and x.ndim):
        return iterate_sequence(x)
    if isinstance(x, dict):
        return iterate_keys(x)
    if not hasattr(type(x), "__iter__") and not hasattr(type(x), "__getitem__"):
        raise TypeError(f"'{type(x).__name__}' object is not iterable")
    return iterate_elements(x)


def iterate_calls(f, sentinel):
    while True:
        y = f()
        if y == sentinel:
            return
        yield y


def iterate_keys(x):
    size = len(x)
    for key in list(dict.keys(x)):
        if len(x) != size:
            raise RuntimeError("dictionary changed size during iteration")
        yield key


def iterate_elements(x):
    if isinstance(x, set | frozenset):
        for y in elements_of_set(x):
            yield y
    elif hasattr(type(x), "__iter__"):
        for y in native_iterator(x):
            yield y
    else:
        i = 0
        while True:
            try:
                y = x[i]
            except IndexError:
                return
            yield y
            i += 1


@equivalent(list)
def _list(x=()):
    out = []
    for y in x:
        out.append(y)
    return out


@equivalent(tuple)
def _tuple(x=()):
    return tuple(_list(x))


@equivalent(set)
def _set(x=()):
    out = set()
    for y in x:
        out.add(y)
    return out


@equivalent(dict)
def _dict(x=(), /, **kws):
    out = {}
    if hasattr(x, "keys"):
        for key in x:
            out[key] = x[key]
    else:
        for key, value in x:
            out[key] = value
    for key in kws:
        out[key] = kws[key]
    return out


@equivalent(builtins.map)
def _map(f, *xs):
    if len(xs) == 1:
        for x in xs[0]:
            yield f(x)
    else:
        for arguments in zip(*xs):
            yield f(*arguments)


@equivalent(builtins.filter)
def _filter(f, x):
    for y in x:
        if y if f is None else f(y):
            yield y


@equivalent(builtins.enumerate)
def _enumerate(iterable, start=0):
    n = start
    for y in iterable:
        yield n, y
        n += 1


@equivalent(builtins.zip)
def _zip(*xs, strict=False):
    if not xs:
        return
    iterators = []
    for x in xs:
        iterators.append(iter(x))
    while True:
        row = ()
        for i, it in enumerate(iterators):
            try:
                y = next(it)
            except StopIteration:
                if strict:
                    check_strict(iterators, i)
                return
            row = (*row, y)
        yield row


def check_strict(iterators, i):
    if i:
        plural = " " if i == 1 else "s 1-"
        raise ValueError(f"zip() argument {i + 1} is shorter than argument{plural}{i}")
    for k in range(1, len(iterators)):
        try:
            next(iterators[k])
        except StopIteration:
            continue
        plural = " " if k == 1 else "s 1-"
        raise ValueError(f"zip() argument {k + 1} is longer than argument{plural}{k}")


@equivalent(builtins.reversed)
def _reversed(x):
    method = getattr(type(x), "__reversed__", None)
    if method is not None and not isinstance(x, list | tuple | dict | range):
        return method(x)
    return iterate_backwards(x)


def iterate_backwards(x):
    if isinstance(x, dict):
        x = list(x)
    i = len(x) - 1
    while i >= 0:
        yield x[i]
        i -= 1


@equivalent(builtins.sum)
def _sum(x, /, start=0):
    for y in x:
        start = start + y
    return start


@equivalent(builtins.max)
def _max(*xs, key=None, default=_MISSING):
    return extreme(operator.gt, "max", xs, key, default)


@equivalent(builtins.min)
def _min(*xs, key=None, default=_MISSING):
    return extreme(operator.lt, "min", xs, key, default)


def extreme(better, name, xs, key, default):
    items = xs[0] if len(xs) == 1 else xs
    best = best_key = _MISSING
    for y in items:
        k = y if key is None else key(y)
        if best is _MISSING or better(k, best_key):
            best = y
            best_key = k
    if best is _MISSING:
        if default is _MISSING:
            raise ValueError(f"{name}() iterable argument is empty")
        return default
    return best


@equivalent(builtins.any)
def _any(x):
    for y in x:
        if y:
            return True
    return False


@equivalent(builtins.all)
def _all(x):
    for y in x:
        if not y:
            return False
    return True


@equivalent(builtins.sorted)
def _sorted(x, /, *, key=None, reverse=False):
    items = _list(x)
    keys = []
    for y in items:
        keys.append(y if key is None else key(y))
    return [items[i] for i in order_of(keys, reverse)]


@equivalent(functools.reduce)
def _reduce(f, x, initial=_MISSING):
    it = iter(x)
    if initial is _MISSING:
        try:
            value = next(it)
        except StopIteration:
            raise TypeError("reduce() of empty iterable with no initial value") from None
    else:
        value = initial
    for y in it:
        value = f(value, y)
    return value


@equivalent(itertools.accumulate)
def _accumulate(iterable, func=operator.add, *, initial=None):
    it = iter(iterable)
    total = initial
    if initial is None:
        try:
            total = next(it)
        except StopIteration:
            return
    yield total
    for y in it:
        total = func(total, y)
        yield total


@equivalent(itertools.chain)
def _chain(*xs):
    for x in xs:
        for y in x:
            yield y


@equivalent(itertools.chain.from_iterable)
def _chain_from(xs):
    for x in xs:
        for y in x:
            yield y


@equivalent(itertools.islice)
def _islice(iterable, *xs):
    s = slice(*xs)
    start, step = s.start or 0, s.step or 1
    stop = s.stop
    i = 0
    goal = start
    if stop is not None and stop <= start and stop == 0:
        return
    for y in iterable if stop is None else bounded(iterable, max(start, stop)):
        if i == goal and (stop is None or i < stop):
            yield y
            goal += step
        i += 1


def bounded(iterable, count):
    it = iter(iterable)
    for _ in range(count):
        try:
            y = next(it)
        except StopIteration:
            return
        yield y


@equivalent(itertools.product)
def _product(*xs, repeat=1):
    pools = [tuple(x) for x in xs] * repeat
    rows = [()]
    for pool in pools:
        rows = [(*row, y) for row in rows for y in pool]
    for row in rows:
        yield row


def _choose(x, rows):
    pool = tuple(x)
    for row in rows(range(len(pool))):
        yield tuple([pool[i] for i in row])


@equivalent(itertools.combinations)
def _combinations(iterable, r):
    for y in _choose(iterable, lambda n: native_rows(itertools.combinations, n, r)):
        yield y


@equivalent(itertools.permutations)
def _permutations(iterable, r=None):
    for y in _choose(iterable, lambda n: native_rows(itertools.permutations, n, r)):
        yield y


@equivalent(itertools.combinations_with_replacement)
def _combinations_with_replacement(iterable, r):
    rows = itertools.combinations_with_replacement
    for y in _choose(iterable, lambda n: native_rows(rows, n, r)):
        yield y


@equivalent(itertools.pairwise)
def _pairwise(iterable):
    it = iter(iterable)
    try:
        a = next(it)
    except StopIteration:
        return
    for b in it:
        yield a, b
        a = b


@equivalent(itertools.repeat)
def _repeat(x, times=None):
    if times is None:
        while True:
            yield x
    else:
        for _ in range(times):
            yield x


@equivalent(itertools.cycle)
def _cycle(iterable):
    saved = []
    for y in iterable:
        yield y
        saved.append(y)
    while saved:
        for y in saved:
            yield y


@equivalent(itertools.count)
def _count(start=0, step=1):
    n = start
    while True:
        yield n
        n = n + step


@equivalent(itertools.starmap)
def _starmap(f, iterable):
    for arguments in iterable:
        yield f(*arguments)


@equivalent(itertools.takewhile)
def _takewhile(predicate, iterable):
    for y in iterable:
        if not predicate(y):
            return
        yield y


@equivalent(itertools.dropwhile)
def _dropwhile(predicate, iterable):
    dropping = True
    for y in iterable:
        if dropping and predicate(y):
            continue
        dropping = False
        yield y


@equivalent(itertools.zip_longest)
def _zip_longest(*xs, fillvalue=None):
    lists = [list(x) for x in xs]
    size = 0
    for x in lists:
        size = len(x) if len(x) > size else size
    for i in range(size):
        row = ()
        for x in lists:
            row = (*row, x[i] if i < len(x) else fillvalue)
        yield row


@equivalent(itertools.compress)
def _compress(data, selectors):
    for y, s in zip(data, selectors):
        if s:
            yield y


def order_of(keys: Any, reverse: bool) -> list[int]:
    """Return the positions of `keys` in their sorted order."""
    return sorted(range(len(keys)), key=keys.__getitem__, reverse=reverse)


def native_rows(f: Any, n: Any, r: Any) -> list[tuple[int, ...]]:
    """Return the rows of positions that a combinatoric iterator gives."""
    return list(f(n, r))


structural(order_of)(lambda flags, *xs: (order_of(*xs), inert(len(flags))))


def elements_of_set(x: Any) -> list[Any]:
    """Return the elements of a set, in its order."""
    return list(x)


@structural(elements_of_set)
def _(flags: Any, x: Any) -> Any:
    y = list(x)
    mark_active(y)

    def elements_back(dy: Any) -> tuple[Any, ...]:
        slots = slots_of(x)
        for i, d in forget(y).items():
            give(slots, y[i], d)
        return None, None

    return y, elements_back


def native_iterator(x: Any) -> Any:
    """Return an iterator written in C over something that holds nothing active."""
    return builtins.iter(x)


@structural(native_iterator)
def _(flags: Any, x: Any) -> Any:
    return no_rule((None, flags[1]), builtins.iter, (x,), {})[0], inert(2)
