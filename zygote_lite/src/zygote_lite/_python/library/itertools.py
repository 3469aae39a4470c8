"""The functions of `itertools`, as Python equivalents that are recorded."""

import itertools
import operator
from typing import Any

from zygote_lite._cotangents.registry import Handlers

handlers = Handlers()

_NO_ELEMENT = object()


@handlers.in_python(itertools.accumulate)
def _accumulate(iterable: Any, func: Any = operator.add, *, initial: Any = None) -> Any:
    total = initial
    found = initial is not None
    if found:
        yield total
    for y in iterable:
        total = func(total, y) if found else y
        found = True
        yield total


@handlers.in_python(itertools.chain)
def _chain(*xs: Any) -> Any:
    return _chain_from(xs)


@handlers.in_python(itertools.chain.from_iterable)
def _chain_from(xs: Any) -> Any:
    for x in xs:
        for y in x:
            yield y


@handlers.in_python(itertools.islice)
def _islice(iterable: Any, *xs: Any) -> Any:
    first, stop, step = (0, xs[0], 1) if len(xs) == 1 else (*xs, 1) if len(xs) == 2 else xs
    start, step = first or 0, step or 1
    end = None if stop is None else max(start, stop)
    it = iter(iterable)
    i = 0
    if end == 0:
        return
    for y in it:
        if i >= start and (i - start) % step == 0 and (end is None or i < stop):
            yield y
        i += 1
        if i == end:
            return


@handlers.in_python(itertools.product)
def _product(*xs: Any, repeat: Any = 1) -> Any:  # takes all elements when it is made
    if repeat < 0:
        raise ValueError("repeat argument cannot be negative")
    return _nested_rows([x if type(x) is range else tuple(x) for x in xs] * repeat)


def _nested_rows(pools: Any) -> Any:
    if len(pools) == 2:  # written as loops, of which transformed code makes loops
        for y in pools[0]:
            for z in pools[1]:
                yield y, z
        return
    if len(pools) == 3:
        for y in pools[0]:
            for z in pools[1]:
                for w in pools[2]:
                    yield y, z, w
        return
    rows: Any = [()]
    for pool in pools:
        rows = [(*row, y) for row in rows for y in pool]
    for row in rows:
        yield row


def native_rows(f: Any, n: Any, r: Any) -> list[tuple[int, ...]]:
    """Return the rows of positions that a combinatoric iterator gives."""
    return list(f(range(n), r))


def _choose(f: Any, pool: Any, r: Any) -> Any:
    for places in native_rows(f, len(pool), r):
        row: Any = ()
        for i in places:
            row = (*row, pool[i])
        yield row


@handlers.in_python(itertools.combinations)
def _combinations(iterable: Any, r: Any) -> Any:
    pool = tuple(iterable)
    return _pairs(pool) if operator.index(r) == 2 else _choose(itertools.combinations, pool, r)


def _pairs(pool: Any) -> Any:
    n = len(pool)
    for i in range(n):
        for j in range(i + 1, n):
            yield pool[i], pool[j]


@handlers.in_python(itertools.permutations)
def _permutations(iterable: Any, r: Any = None) -> Any:
    return _choose(itertools.permutations, tuple(iterable), r)


@handlers.in_python(itertools.combinations_with_replacement)
def _combinations_with_replacement(iterable: Any, r: Any) -> Any:
    return _choose(itertools.combinations_with_replacement, tuple(iterable), r)


@handlers.in_python(itertools.pairwise)
def _pairwise(iterable: Any) -> Any:
    found = False
    for y in iterable:
        if found:
            yield last, y  # type: ignore[has-type] # noqa: F821 - found: it has one
        last = y  # noqa: F841 - the next iteration reads it
        found = True


@handlers.in_python(itertools.repeat)
def _repeat(x: Any, times: Any = None) -> Any:
    for _ in itertools.count() if times is None else range(times):
        yield x


@handlers.in_python(itertools.cycle)
def _cycle(iterable: Any) -> Any:
    saved = []
    for y in iterable:
        yield y
        saved.append(y)
    while saved:
        for y in saved:
            yield y


@handlers.in_python(itertools.count)
def _count_from(start: Any = 0, step: Any = 1) -> Any:
    n = start
    while True:
        yield n
        n = n + step


@handlers.in_python(itertools.starmap)
def _starmap(f: Any, iterable: Any) -> Any:
    for arguments in iterable:
        yield f(*arguments)


@handlers.in_python(itertools.takewhile)
def _takewhile(predicate: Any, iterable: Any) -> Any:
    for y in iterable:
        if not predicate(y):
            return
        yield y


@handlers.in_python(itertools.dropwhile)
def _dropwhile(predicate: Any, iterable: Any) -> Any:
    dropping = True
    for y in iterable:
        if dropping and predicate(y):
            continue
        dropping = False
        yield y


@handlers.in_python(itertools.filterfalse)
def _filterfalse(predicate: Any, iterable: Any) -> Any:
    for y in iterable:
        if not (y if predicate is None else predicate(y)):
            yield y


@handlers.in_python(itertools.zip_longest)
def _zip_longest(*xs: Any, fillvalue: Any = None) -> Any:
    iterators: list[Any] = [iter(list(x) if isinstance(x, str | bytes) else x) for x in xs]
    left = len(iterators)
    while left:
        row: Any = ()
        for i, it in enumerate(iterators):
            y = _NO_ELEMENT if it is None else next(it, _NO_ELEMENT)
            if y is _NO_ELEMENT and it is not None:
                iterators[i] = None
                left -= 1
                if not left:
                    return
            row = (*row, fillvalue if y is _NO_ELEMENT else y)
        yield row


@handlers.in_python(itertools.compress)
def _compress(data: Any, selectors: Any) -> Any:
    for y, s in zip(data, selectors):
        if s:
            yield y


@handlers.in_python(itertools.tee)
def _tee(iterable: Any, n: Any = 2) -> Any:
    it = iter(iterable)
    seen: list[Any] = []
    return tuple([taken_from(it, seen) for _ in range(n)])


def taken_from(it: Any, seen: Any) -> Any:
    """Yield the elements of an iterator that others take from too; `seen` holds what came."""
    i = 0
    while True:
        if i == len(seen):
            try:
                seen.append(next(it))
            except StopIteration:
                return
        yield seen[i]
        i += 1


@handlers.in_python(itertools.groupby)
def _groupby(iterable: Any, key: Any = None) -> Any:
    it = iter(iterable)
    now: list[Any] = [_NO_ELEMENT, None, 0]  # the last key, its element, the number of the group
    wanted = _NO_ELEMENT
    while True:
        now[2] += 1
        while now[0] is wanted or now[0] == wanted:
            if not to_next(it, key, now):
                return
        wanted = now[0]
        yield wanted, group_of(it, key, now, wanted, now[2])


def to_next(it: Any, key: Any, now: Any) -> bool:
    """Take the next element, and its key; return whether there is one."""
    try:
        y = next(it)
    except StopIteration:
        return False
    now[1] = y
    now[0] = y if key is None else key(y)
    return True


def group_of(it: Any, key: Any, now: Any, wanted: Any, number: Any) -> Any:
    """Yield the elements of one group, which ends where the next one is asked for."""
    while now[2] == number and (now[0] is wanted or now[0] == wanted):
        yield now[1]
        if not to_next(it, key, now):
            return
