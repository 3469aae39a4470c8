"""Caches of what is known of functions and classes: bounded, and emptied of what is gone.

What is made for a function holds its globals, and so the function itself, as a rule: a weak key
would never let go of it. So a cache has two halves. What is used stands in the younger one. When
Python collects all its garbage, and there is much that is new, the younger half becomes the older
one, and what was in that one is forgotten: nobody has used it between two such collections.
"""

import functools
import gc
import itertools
import operator
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
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


@dataclass(slots=True)
class _OfClass:
    """What was found out about a class, with what it and its bases defined then.

    Attributes:
        epoch: when the class was last compared with that.
        order: its bases, and those of its metaclass.
        members: what each of these that can be changed defined.
        found: the answers, by the function and what it was asked beside.
    """

    epoch: int
    order: tuple[type, ...]
    members: list[dict[str, Any]]
    found: dict[Any, Any]


_CHANGEABLE, _FIXED_IN_C = 1 << 9, 1 << 8  # of `Py_TPFLAGS`: heap types, and those in C among them
_MOST_CLASSES, _MOST_ANSWERS = 4096, 1024
_of_classes: dict[type, _OfClass] = {}
_epochs = itertools.count(1)
_epoch = [0]


def classes_may_have_changed() -> None:
    """Note that code has run which may have changed a class: what is known of it is compared."""
    _epoch[0] = next(_epochs)


def cached_by_class(f: Callable[Parameters, Kept]) -> Callable[Parameters, Kept]:
    """Decorate a function of a class that is quick: it is asked again when the class has changed.

    Python tells nobody that a method was replaced. So what a class defines is compared with what
    it defined, once after each time that code has run which may have changed it.
    """

    ask: Callable[..., Kept] = f

    def look_up(kind: type, *xs: Any) -> Kept:
        known = _of_classes.get(kind)
        if known is None or known.epoch != _epoch[0]:
            known = _brought_up_to_date(kind, known)
        key = f, *xs
        found = known.found.get(key, _NOTHING_KEPT)
        if found is _NOTHING_KEPT:
            if len(known.found) >= _MOST_ANSWERS:
                known.found.clear()
            found = known.found[key] = ask(kind, *xs)
        return cast(Kept, found)

    return cast(Callable[Parameters, Kept], functools.wraps(f)(look_up))


def _brought_up_to_date(kind: type, known: _OfClass | None) -> _OfClass:
    """Return what is known of a class, without answers where it has changed."""
    epoch = _epoch[0]
    meta: Any = type(kind)
    order = kind.__mro__ if meta is type else kind.__mro__ + meta.__mro__
    kinds = _CHANGEABLE | _FIXED_IN_C
    members = [dict(vars(base)) for base in order if base.__flags__ & kinds == _CHANGEABLE]
    if known is not None and _defines_the_same(known, order, members):
        known.epoch = epoch
        return known
    if len(_of_classes) >= _MOST_CLASSES:
        _of_classes.clear()
    known = _of_classes[kind] = _OfClass(epoch, order, members, {})
    return known


def _defines_the_same(
    known: _OfClass, order: tuple[type, ...], members: list[dict[str, Any]]
) -> bool:
    return (
        len(known.order) == len(order)
        and all(map(operator.is_, known.order, order))
        and all(map(_are_the_same, members, known.members))
    )


def _are_the_same(members: dict[str, Any], before: dict[str, Any]) -> bool:
    """Return whether a class defines the same objects, by the same names, as before."""
    found = map(before.get, members, itertools.repeat(_NOTHING_KEPT))
    return len(members) == len(before) and all(map(operator.is_, found, members.values()))


def empty_with_garbage(known: dict[Any, Any]) -> None:
    """Have a table of what is found out quickly emptied when Python collects its garbage."""
    _tables.append((known.__len__, known.clear))


empty_with_garbage(_of_classes)


def _forget_unused(phase: str, info: dict[str, int]) -> None:
    if phase == "start" and info["generation"] == 2:
        for cache in _caches:
            if cache.is_due():
                cache.turn()
        for count, clear in _tables:
            if count() > _FEW:
                clear()


gc.callbacks.append(_forget_unused)
