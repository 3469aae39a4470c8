"""Caches of what is known of functions and classes: bounded, and emptied of what is gone.

What is made for a function holds its globals, and so the function itself, as a rule: a weak key
would never let go of it. So a cache has two halves. What is used stands in the younger one. When
Python collects all its garbage, and there is much that is new, the younger half becomes the older
one, and what was in that one is forgotten: nobody has used it between two such collections.
"""

import functools
import gc
import threading
from collections.abc import Callable, Iterator
from typing import Any, Generic, ParamSpec, TypeVar, cast

Kept = TypeVar("Kept")
Parameters = ParamSpec("Parameters")
_FEW = 64  # new entries, for which nothing is forgotten
_NOTHING_KEPT: Any = object()
_caches: list["Cache[Any]"] = []
_tables: list[tuple[Callable[[], int], Callable[[], Any]]] = []


class Cache(Generic[Kept]):
    """What was made, by its key: what is not used is forgotten.

    Threads may share it. What one of them makes may be forgotten at once, and is made again.
    """

    def __init__(self, most: int) -> None:
        self.most = most  # in each half
        self.young: dict[Any, Kept] = {}
        self.old: dict[Any, Kept] = {}
        self.new = 0  # entries, since the halves were exchanged
        self.used = 0  # entries that had been used when they were
        self.lock = threading.RLock()  # memory may be collected while it is held
        _caches.append(self)

    def __len__(self) -> int:
        return len(self.young) + len(self.old)

    def get(self, key: Any) -> Kept | None:
        """Return what is kept under a key, if anything."""
        found: Kept | None = self.find(key, None)
        return found

    def find(self, key: Any, otherwise: Any) -> Any:
        """Return what is kept under a key, or else something else."""
        found = self.young.get(key, _NOTHING_KEPT)
        if found is _NOTHING_KEPT:
            found = self.old.get(key, _NOTHING_KEPT)
            if found is _NOTHING_KEPT:
                return otherwise
            self.young[key] = found
        return found

    def keep(self, key: Any, value: Kept) -> Kept:
        """Keep a value, and return it: the one that another thread has kept, if there is one."""
        if len(self.young) >= self.most:
            self.turn()
        with self.lock:
            self.new += 1
            return self.young.setdefault(key, value)

    def items(self) -> Iterator[tuple[Any, Kept]]:
        """Yield the keys and the values."""
        return iter([*{**self.old, **self.young}.items()])

    def clear(self) -> None:
        """Forget all."""
        self.young, self.old = {}, {}

    def turn(self) -> None:
        """Forget what was not used since this was called last."""
        if not self.lock.acquire(blocking=False):
            return  # another thread keeps something
        try:
            forgotten = self.old  # whose finalizers run without the lock
            self.used = len(self.young) - self.new
            self.new = 0
            self.young, self.old = {}, self.young
        finally:
            self.lock.release()
        del forgotten

    def is_due(self) -> bool:
        """Return whether there is much that is new, beside what is used again and again."""
        return self.new > _FEW + self.used


def cached(most: int) -> Callable[[Callable[Parameters, Kept]], Callable[Parameters, Kept]]:
    """Decorate a function of code: what it returned is kept, unless it is not used."""

    def decorate(f: Callable[Parameters, Kept]) -> Callable[Parameters, Kept]:
        known: Cache[Kept] = Cache(most)

        def look_up(*xs: Any) -> Kept:  # by position: they are the key
            found: Kept = known.find(xs, _NOTHING_KEPT)
            return known.keep(xs, ask(*xs)) if found is _NOTHING_KEPT else found

        ask: Callable[..., Kept] = f
        made: Any = functools.wraps(f)(look_up)
        made.cache_clear = known.clear  # as `lru_cache` has it
        return cast(Callable[Parameters, Kept], made)

    return decorate


def cached_by_kind(most: int) -> Callable[[Callable[Parameters, Kept]], Callable[Parameters, Kept]]:
    """Decorate a function of classes, or of functions, that is quick: `lru_cache`, and emptied."""

    def decorate(f: Callable[Parameters, Kept]) -> Callable[Parameters, Kept]:
        look_up: Any = functools.lru_cache(maxsize=most)(f)
        _tables.append((lambda: look_up.cache_info().currsize, look_up.cache_clear))
        return cast(Callable[Parameters, Kept], look_up)

    return decorate


def empty_with_garbage(known: dict[Any, Any]) -> None:
    """Have a table of what is found out quickly emptied when Python collects its garbage."""
    _tables.append((known.__len__, known.clear))


def _forget_unused(phase: str, info: dict[str, int]) -> None:
    if phase == "start" and info["generation"] == 2:
        for cache in _caches:
            if cache.is_due():
                cache.turn()
        for count, clear in _tables:
            if count() > _FEW:
                clear()


gc.callbacks.append(_forget_unused)
