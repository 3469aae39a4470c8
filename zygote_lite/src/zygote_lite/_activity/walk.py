"""What can be reached from the operands of a call: what is asked of the walk through the heap.

Where only what the run has made can be active (`marks`), the operands themselves tell. Otherwise
all that they reach is walked. What was found to reach nothing active is remembered until it may.
"""

import functools
import types
from collections.abc import Iterator
from numbers import Number
from typing import Any

import numpy as np

from rulescore.faults import an
from zygote_lite._activity.heap import HOLDING_NOTHING, LIMIT, VAST, Vast, walk_heap
from zygote_lite._activity.marks import is_namespace, is_users_object, stays_clean
from zygote_lite._activity.reachability import held_and_named, referents
from zygote_lite._cotangents.kinds import (
    FUNCTION,
    OBJECT,
    TUPLE,
    VALUE,
    dict_of,
    entries_of,
    kind_of,
    owner_of,
)
from zygote_lite._cotangents.run import state
from zygote_lite._cotangents.store import Store
from zygote_lite._ir.intrinsics import note_class
from zygote_lite.modes import CHECKED, InternalError

FOR_LONG_CALLS = 20_000  # objects that a run may walk through to tell that a loop is simply run
FOR_ERRORS = 50_000  # objects that a run may look at to tell what would be an error
_GIVEN, _EARNED = 200, 2  # objects that a run may walk through, and how many more for each call


def reaches_active(*roots: Any) -> bool:
    """Return whether something active can be reached from `roots`.

    After `LIMIT` objects the search gives up and says yes: that costs time, but no gradient. Where
    a run has looked at many objects, it gives up earlier.
    """
    active = state.active
    if not active:
        return False
    found = _is_found_active(active, roots)
    if CHECKED and not found:
        _check_marks(active, roots)
    return found


def reaches_active_at_all(*roots: Any) -> bool:
    """Return whether something active can be reached from `roots`; yes where that stays open.

    Where the answer may be an error. All such walks of a run together may look at `FOR_ERRORS`
    objects, and each of them at `LIMIT`.
    """
    active = state.active
    if not active or not state.outside:
        return reaches_active(*roots)
    found = _searched(active, roots, room())
    if CHECKED and not found:
        _check_marks(active, roots)
    return found


def reaches_active_by_name(*roots: Any) -> bool:
    """Return whether the code in `roots` names a variable from which something active is reached.

    What `roots` hold themselves does not count. Where the search gives up, it says yes.
    """
    active = state.active
    if not active or not state.outside:
        return False
    seen: dict[int, Any] = {}
    by_name: list[Any] = []
    found = any(x is VAST for x in walk_heap(active, [*roots], seen, by_name, room()))
    state.searched += len(seen)
    named = [x for x in by_name if kind_of(x) or isinstance(x, type)]
    return found or any(_searched(active, (x,), room()) for x in named)


def may_reach_active(*roots: Any, given: int = 0) -> bool:
    """Return whether something active may be reached; yes where the walk takes more than is earned.

    Each call that the run resolves earns some objects. So all such walks together are bounded by
    what the run does, whatever the heap looks like, but for what is `given` beyond.
    """
    active = state.active
    if not active or not state.outside:
        return reaches_active(*roots)
    left = max(_GIVEN, given) + _EARNED * state.resolved - state.walked
    seen: dict[int, Any] = {}
    stack = [*roots]
    found = next(walk_heap(active, stack, seen, stack, left), None) if left > 0 else VAST
    state.walked += len(seen)
    if found is VAST:
        state.doubted = True
    elif found is None:
        _note_clean(seen)
        if CHECKED:
            _check_marks(active, roots)
    return found is not None


def room() -> int:
    """Return how many objects a walk may look at where its answer may be an error."""
    return max(LIMIT, _left())


def room_for_hooks() -> int:
    """Return how many objects and items a comparison may look at for methods that may write."""
    return max(LIMIT, FOR_ERRORS + _EARNED * state.resolved - state.looked)


def _left() -> int:
    return FOR_ERRORS + _EARNED * state.resolved - state.searched


def _is_found_active(active: dict[int, Any], roots: tuple[Any, ...]) -> bool:
    """Return whether something active can be reached, by the marks and what was walked before."""
    if not state.outside:
        return any(map(_holds_active, roots))
    return _searched(active, roots, min(LIMIT, max(_GIVEN, _left())))


def _searched(active: dict[int, Any], roots: tuple[Any, ...], limit: int) -> bool:
    """Return whether something active is reached, or the walk from one of some objects given up.

    What is found to reach nothing active is remembered, and so is what a walk was given up from.
    """
    seen: dict[int, Any] = {}
    for root in reversed(roots):
        before, stack = len(seen), [root]
        found = next(walk_heap(active, stack, seen, stack, limit), None)
        state.searched += len(seen) - before
        if found is VAST:
            state.vast[id(root)] = Vast(root, limit)
        if found is not None:
            return True
    _note_clean(seen)
    return False


def _check_marks(active: dict[int, Any], roots: tuple[Any, ...]) -> None:
    """Raise an error where a walk that knows of no marks finds what the marks do not tell."""
    if not roots or roots[0] is note_class:  # which marks what its class holds afterwards
        return
    if any(isinstance(x, Store) for x in roots):  # a pullback of the engine's own, on another tape
        return
    known, state.clean, state.vast = (state.clean, state.vast), {}, {}
    found = next(_all_within(active, roots, LIMIT), None)
    state.clean, state.vast = known
    if found is not None and found is not VAST:
        names = ", ".join(getattr(x, "__qualname__", type(x).__qualname__) for x in roots)
        kind = type(found).__qualname__
        raise InternalError(f"{an(kind)} that is active is reached from {names}, without a mark")


def surely_reaches_active(*roots: Any) -> bool:
    """Return whether something active can be reached from `roots`, but not by a name alone."""
    if not state.outside:
        return reaches_active(*roots)
    seen: dict[int, Any] = {}
    by_name: list[Any] = []
    found = next(walk_heap(state.active or {}, [*roots], seen, by_name, room()), None)
    state.searched += len(seen)
    if found is None and not by_name:
        _note_clean(seen)
    return found is not None


def finds_active(*roots: Any) -> bool:
    """Return whether something active is found from `roots`; no where the search gives up."""
    active = state.active
    if not active or not state.outside:
        return reaches_active(*roots)
    seen: dict[int, Any] = {}
    stack = [*roots]
    found = next(walk_heap(active, stack, seen, stack, room()), None)
    state.searched += len(seen)
    return found is not None and found is not VAST


def _holds_active(x: Any) -> bool:
    """Return whether a value is active or holds something active, as the marks tell.

    Nothing outside the run reaches what is active, so that a container that is not marked holds
    nothing active. What is written in C, as iterators are, and what goes by value has no marks.
    """
    active: Any = state.active
    reaching, seen, stack = state.reaching, set[int](), [x]
    while stack:
        x = stack.pop()
        if type(x) in HOLDING_NOTHING or id(x) in seen:
            continue
        kind = kind_of(x)
        if id(x) in active or id(x) in reaching or (kind >= TUPLE and id(dict_of(x)) in active):
            return True
        seen.add(id(x))
        if issubclass(type(x), np.ndarray):
            if id(owner_of(x)) in active:
                return True
            if isinstance(owner_of(x).base, np.nditer):
                stack += owner_of(x).base.operands
        elif kind == VALUE and not issubclass(type(x), np.generic | Number):
            stack += referents(x)
        elif kind == FUNCTION:
            for part in held_and_named(x, by_name=False)[0]:
                stack.append(part)  # which may be the dict that a method is bound to
                stack += part.values() if type(part) is dict else []  # of attributes
        elif kind == TUPLE or (kind == OBJECT and not is_users_object(x)):
            stack += _entries_in(x)
    return False


def _note_clean(seen: dict[int, Any]) -> None:
    """Note that what was walked holds active values only after something of it is marked."""
    clean = state.clean
    for key, x in seen.items():
        if stays_clean(x):
            clean[key] = x
            kind = kind_of(x)
            if kind >= TUPLE:  # its attributes can be written as a dict, too
                fields = dict_of(x)
                if type(fields) is dict:
                    clean[id(fields)] = fields
            elif type(x) is types.FunctionType and not is_namespace(x.__globals__):
                state.linked = True  # nobody can tell that something is written into those


def _entries_in(x: Any) -> list[Any]:
    """Return the entries of a container; of a function under `lru_cache`, what is in its cache."""
    if isinstance(x, functools._lru_cache_wrapper):
        return referents(x)
    return [value for _, value in entries_of(x)]


def captured_within(*roots: Any) -> list[Any]:
    """Return what pullbacks have saved and can be reached from `roots` (all of it, if in doubt)."""
    captured = state.captured or {}
    limit = min(LIMIT, 20 + len(captured) + state.saved // 1000)  # soon it is cheaper to guard all
    found = {id(x): x for x in _all_within(captured, roots, limit)} if captured else {}
    return list((captured if id(VAST) in found else found).values())


def is_reached(x: Any, roots: Any) -> bool:
    """Return whether an object can be reached from `roots` (no, if in doubt)."""
    return any(y is x for y in _all_within({id(x): x}, roots, LIMIT))


def memory_reached(arrays: list[Any], *roots: Any) -> set[int]:
    """Return the identities of what has the memory of arrays and is reached; all, if in doubt."""
    owners = {id(owner): owner for owner in map(owner_of, arrays)}
    found = {id(x) for x in _all_within(owners, roots, FOR_ERRORS)}
    return {*owners} if id(VAST) in found else found


def _all_within(active: dict[int, Any], roots: Any, limit: int) -> Iterator[Any]:
    """Yield what of some objects can be reached, by the names of globals too."""
    seen: dict[int, Any] = {}
    by_name: list[Any] = []
    for stack in ([*roots], by_name):
        yield from walk_heap(active, stack, seen, by_name, limit)
