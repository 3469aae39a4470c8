"""`heapq` and `bisect`, as Python equivalents: the steps of a heap are swaps in a list."""

import bisect
import heapq
from typing import Any

from zygote_lite._cotangents.pullbacks import no_pullback
from zygote_lite._cotangents.registry import Handlers

handlers = Handlers()

_NO_ITEM = object()


def rise(heap: Any, start: Any, place: Any) -> Any:
    """Move the entry at `place` up, towards `start`, past all that are larger."""
    item = heap[place]
    while place > start:
        parent = (place - 1) >> 1
        above = heap[parent]
        if not item < above:
            break
        heap[place] = above
        place = parent
    heap[place] = item


def sink(heap: Any, place: Any) -> Any:
    """Move the entry at `place` down to a leaf along the smaller children, and up again."""
    start, end = place, len(heap)
    item = heap[place]
    child = 2 * place + 1
    while child < end:
        other = child + 1
        if other < end and not heap[child] < heap[other]:
            child = other
        heap[place] = heap[child]
        place = child
        child = 2 * place + 1
    heap[place] = item
    rise(heap, start, place)


@handlers.in_python(heapq.heappush)
def _heappush(heap: Any, item: Any) -> Any:
    heap.append(item)
    rise(heap, 0, len(heap) - 1)


@handlers.in_python(heapq.heappop)
def _heappop(heap: Any) -> Any:
    last = heap.pop()
    return _heapreplace(heap, last) if heap else last


@handlers.in_python(heapq.heapreplace)
def _heapreplace(heap: Any, item: Any) -> Any:
    first = heap[0]
    heap[0] = item
    sink(heap, 0)
    return first


@handlers.in_python(heapq.heappushpop)
def _heappushpop(heap: Any, item: Any) -> Any:
    return _heapreplace(heap, item) if heap and heap[0] < item else item


@handlers.in_python(heapq.heapify)
def _heapify(heap: Any) -> Any:
    for place in reversed(range(len(heap) // 2)):
        sink(heap, place)


@handlers.in_python(heapq.nsmallest)
def _nsmallest(n: Any, iterable: Any, key: Any = None) -> Any:
    return sorted(iterable, key=key)[: max(n, 0)]


@handlers.in_python(heapq.nlargest)
def _nlargest(n: Any, iterable: Any, key: Any = None) -> Any:
    return sorted(iterable, key=key, reverse=True)[: max(n, 0)]


@handlers.in_python(heapq.merge)
def _merge(*iterables: Any, key: Any = None, reverse: Any = False) -> Any:
    iterators, heads, keys = [], [], []
    for iterable in iterables:
        it = iter(iterable)
        for y in it:
            iterators.append(it)
            heads.append(y)
            keys.append(y if key is None else key(y))
            break
    while heads:
        at = 0
        for i in range(1, len(heads)):
            if keys[at] < keys[i] if reverse else keys[i] < keys[at]:
                at = i
        yield heads[at]
        y = next(iterators[at], _NO_ITEM)
        if y is _NO_ITEM:
            del iterators[at], heads[at], keys[at]
        else:
            heads[at] = y
            keys[at] = y if key is None else key(y)


for _f in (bisect.bisect_left, bisect.bisect_right):
    handlers.structural(_f)(
        lambda flags, *xs, _f=_f, key=None, **kws: (
            (_f(*xs, **kws), no_pullback(len(flags))) if key is None else None
        )
    )


def place_between(a: Any, x: Any, lo: Any, hi: Any, key: Any, is_left: bool) -> Any:
    """Return where an element goes in a sorted sequence: before those equal to it, or behind."""
    hi = len(a) if hi is None else hi
    while lo < hi:
        middle = (lo + hi) // 2
        y = a[middle] if key is None else key(a[middle])
        if y < x if is_left else not x < y:
            lo = middle + 1
        else:
            hi = middle
    return lo


@handlers.in_python(bisect.bisect_left)
def _bisect_left(a: Any, x: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> Any:
    return place_between(a, x, lo, hi, key, True)


@handlers.in_python(bisect.bisect_right)
def _bisect_right(a: Any, x: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> Any:
    return place_between(a, x, lo, hi, key, False)


@handlers.in_python(bisect.insort_left)
def _insort_left(a: Any, x: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> Any:
    a.insert(bisect.bisect_left(a, x if key is None else key(x), lo, hi, key=key), x)


@handlers.in_python(bisect.insort_right)
def _insort_right(a: Any, x: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> Any:
    a.insert(bisect.bisect_right(a, x if key is None else key(x), lo, hi, key=key), x)
