"""Saved values: an inactive call is simply run, but changes of what pullbacks saved are logged."""

import array
import contextlib
import functools
import types
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from rulescore.faults import an
from zygote_lite._activity.wholes import arrays_inside
from zygote_lite._cotangents.kinds import (
    DICT,
    LIST,
    OBJECT,
    SET,
    TUPLE,
    buffer_of,
    dict_of,
    entries_of,
    is_known_by_rule,
    kind_of,
    owner_of,
    slot_names,
)
from zygote_lite._cotangents.registry import UndoOnly
from zygote_lite._cotangents.run import current_store, is_shared, state
from zygote_lite._ir.traits import BY_ID, NO_TRAITS
from zygote_lite.errors import Fault


def note_write(x: Any, recorded: bool = True) -> None:
    """Note that an array is written in place, by code that is recorded or simply run."""
    owner = owner_of(x)
    refusal, always = state.sealed.get(id(owner), (None, False))
    if refusal is not None and (always or not recorded):
        raise refusal()
    if id(owner) in state.lent:  # what this thread writes is logged
        del state.lent[id(owner)]
        lend(owner)
    if state.written is not None:
        state.written[id(owner)] = owner
    state.writes += 1
    state.last_writes[id(owner)] = state.writes


def let_nothing_write(owner: Any, refusal: Callable[[], Exception], recorded: bool) -> None:
    """Raise an error at each write to an array from now on, by code that is simply run.

    Arguments:
        owner: the array.
        refusal: gives the error.
        recorded: whether code that is recorded may not write to it, either.
    """
    _save(owner, owner.size)
    if recorded or id(owner) not in state.sealed:
        state.sealed[id(owner)] = refusal, recorded


def restore(x: Any, index: Any, old: Any) -> None:
    """Put back what a write overwrote, and note how to make the write again."""
    # What this write left is there, for later writes are undone by now: so the forward pass need
    # not save it.
    now = np.copy(x[index])
    write_again(x, index, old)
    current_store().redo.append(lambda: write_again(x, index, now))


def write_again(x: Any, index: Any, value: Any) -> None:
    """Write into an array that the function wrote to, and may have made read-only since."""
    locked, part = [], x
    while isinstance(part, np.ndarray):
        if not part.flags.writeable:
            locked.append(part)
        part = part.base
    for memory in reversed(locked):  # a view, after what it is a view of
        memory.flags.writeable = True
    try:
        x[index] = value
    finally:
        for memory in locked:
            memory.flags.writeable = False


_DEPTH = 3  # of lists in lists that rules are given: indices, axes, widths of a border


def note_captured(f: Any, xs: tuple[Any, ...], depth: int = _DEPTH) -> None:
    """Note what the pullback of a rule may have saved."""
    if state.captured is None:
        return
    for x in (f, *xs):
        kind = kind_of(x)
        held: Any = ((None, x),)
        if kind == OBJECT and not isinstance(x, np.ndarray):
            fields, held = dict_of(x), entries_of(x)
            if type(fields) is dict:
                _save(fields, len(fields))
            if slot_names(type(x)):
                _save(x, 1)
        elif kind in (LIST, DICT, TUPLE):
            held = entries_of(x)
            if kind != TUPLE:
                _save(x, len(x))
        elif type(x) in _IN_C:
            _save(x, len(x))
        for _, entry in held:
            if isinstance(entry, np.ndarray):
                owner = owner_of(entry)
                _save(owner, entry.size)
                buffer = buffer_of(owner)
                if _is_buffer(buffer):  # the memory of something else, which may be written
                    _save(buffer, entry.size)
            elif is_known_by_rule(type(entry)):
                for array in arrays_inside(entry):
                    _save(owner_of(array), array.size)
            elif entry is not x and depth and type(entry) in _NESTED:
                note_captured(entry, (), depth - 1)


def _is_buffer(x: Any) -> bool:
    """Return whether Python can read the memory of an object, as it cannot of a capsule."""
    if x is None:
        return False
    try:
        memoryview(x).release()
    except (TypeError, BufferError):
        return False
    return True


_NESTED = {list, tuple, dict}
_IN_C = {set, bytearray, array.array}


def _save(x: Any, size: int) -> None:
    captured = state.captured
    if captured is not None and id(x) not in captured:
        captured[id(x)] = x
        state.saved += size
        if is_shared(x):
            lend(x)


def lend(x: Any) -> None:
    """Note what a value holds that pullbacks have saved, and that another thread may write."""
    if id(x) not in state.lent:
        held = _contents(x)
        old = np.copy(held) if isinstance(held, np.ndarray) else held.copy()
        state.lent[id(x)] = x, held, old


def take_back(lent: Iterable[int]) -> UndoOnly | None:
    """Return how to undo what a thread wrote that is over, of what pullbacks have saved."""
    known = [state.lent.pop(identity) for identity in lent if identity in state.lent]
    return _undo_changes([(held, old) for _, held, old in known])


def refuse_written_by_threads(name: str) -> None:
    """Refuse a run in which another thread, not known to be over, wrote what pullbacks saved."""
    for x, held, old in state.lent.values():
        if not _is_unchanged(held, old):
            raise Fault.THREAD(
                f"{name} gives another thread {an(type(x).__name__)} that its gradient reads, and "
                "that has changed since, so that the pullback can no longer tell what it was: "
                "give the thread a copy, or join it"
            )


@contextlib.contextmanager
def saving_nothing() -> Iterator[None]:
    """Forget what pullbacks save that are made meanwhile: nobody keeps these."""
    before = state.captured
    state.captured = None if before is None else {**before}
    try:
        yield
    finally:
        state.captured = before


_WITHOUT_MEMORY = frozenset((float, int, np.float64))


def note_captured_deeply(given: tuple[Any, ...]) -> None:
    """Note what a pullback may have saved of arrays, in tuples, lists and dicts of them too."""
    if state.captured is None:
        return
    stack = [*given]
    while stack:
        x = stack.pop()
        if type(x) in _WITHOUT_MEMORY:
            continue
        if isinstance(x, np.ndarray):
            _save(x if x.base is None else owner_of(x), x.size)
        elif type(x) in (tuple, list, dict):
            if type(x) is not tuple:
                _save(x, len(x))
            stack += x.values() if type(x) is dict else x


def guarded(f: Any, xs: tuple[Any, ...], kws: dict[str, Any], held: list[Any]) -> tuple[Any, Any]:
    """Run an inactive call that can reach what pullbacks saved; log what it changed of that."""
    held = [_contents(x) for x in held]
    before = [np.copy(x) if isinstance(x, np.ndarray) else x.copy() for x in held]
    y = f(*xs, **kws)
    return y, _undo_changes(zip(held, before, strict=True))


def _undo_changes(held: Iterable[tuple[Any, Any]]) -> UndoOnly | None:
    """Log what has changed of values, each given with what it held."""
    changed = [(x, old) for x, old in held if not _is_unchanged(x, old)]
    if not changed:
        return None

    def guarded_back(dy: Any) -> tuple[Any, ...]:
        redo = current_store().redo
        for x, old in changed:
            if isinstance(x, np.ndarray):
                restore(x, Ellipsis, old)
            else:
                now = x.copy()
                _refill(x, old)
                redo.append(functools.partial(_refill, x, now))
        return ()

    for x, _ in changed:
        state.writes += 1
        if isinstance(x, np.ndarray):
            note_write(x, recorded=False)
    return UndoOnly(guarded_back)


def _contents(x: Any) -> Any:
    """Return the array, list, dict or set that a value is, or what has the fields of an object."""
    kind = kind_of(x)
    if isinstance(x, np.ndarray) or kind in (LIST, DICT, SET):
        return x
    if kind != OBJECT or any(base.__module__ == "_ctypes" for base in type(x).__mro__):
        return _Memory(x)
    return _Slots(x) if slot_names(type(x)) else dict_of(x)


class _Slots:
    """The fields of an object with slots, and in its `__dict__` if it has one."""

    __slots__ = ("of",)

    def __init__(self, of: Any) -> None:
        self.of = of

    def copy(self) -> dict[Any, Any]:
        """Return what the fields hold now."""
        return dict(entries_of(self.of))

    def refill(self, old: dict[Any, Any]) -> None:
        """Put back what the fields held."""
        for name in self.copy().keys() - old.keys():
            object.__delattr__(self.of, name)
        for name, value in old.items():
            object.__setattr__(self.of, name, value)


class _Memory:
    """The memory of an object written in C, which arrays may share."""

    __slots__ = ("of",)

    def __init__(self, of: Any) -> None:
        self.of = of

    def copy(self) -> bytes:
        """Return what the memory holds now."""
        return memoryview(self.of).tobytes()

    def refill(self, old: bytes) -> None:
        """Put back what the memory held."""
        if memoryview(self.of).nbytes != len(old):  # no array shares it: it may grow
            del self.of[:]
            self.of.extend(
                array.array(self.of.typecode, old) if hasattr(self.of, "typecode") else old
            )
        elif old:
            np.frombuffer(self.of, np.uint8)[:] = np.frombuffer(old, np.uint8)


def _is_unchanged(x: Any, old: Any) -> bool:
    if isinstance(x, np.ndarray):
        return bool(x.tobytes() == old.tobytes())
    x = x.copy() if isinstance(x, _Slots | _Memory) else x
    if isinstance(x, bytes | set):
        return bool(x == old)
    if isinstance(x, dict):
        return list(x) == list(old) and all(x[k] is old[k] for k in x)
    return len(x) == len(old) and all(a is b for a, b in zip(x, old, strict=True))


def _refill(x: Any, old: Any) -> None:
    if isinstance(x, _Slots | _Memory):
        x.refill(old)
        return
    x.clear()
    x.update(old) if isinstance(x, dict | set) else x.extend(old)


_versions: dict[int, tuple[Any, int]] = {}  # how many runs have written an array, by identity
Stamps = list[tuple[Any, int]]


def stamp(written: dict[int, Any]) -> Stamps:
    """Note that a run has written arrays; return them, each with the number of such runs."""
    stamps = []
    for key, owner in written.items():
        known = _versions.get(key)
        count = known[1] + 1 if known is not None and known[0]() is owner else 1
        gone = functools.partial(_forget_version, key)
        _versions[key] = weakref.ref(owner, gone), count
        stamps.append((owner, count))
    return stamps


def _forget_version(key: int, reference: Any) -> None:
    if key in _versions and _versions[key][0] is reference:
        del _versions[key]


def refuse_overwritten(stamps: Stamps, name: str) -> None:
    """Refuse to go back where a later run has written what this one wrote."""
    for owner, count in stamps:
        if _versions[id(owner)][1] != count:
            raise Fault.OVERWRITTEN(
                f"an array of shape {owner.shape} that {name} wrote in place has been written by a "
                "later run, so that its pullback can no longer tell what it was: call the pullback "
                "before the next run, or let the function write into an array of its own"
            )


def is_writer(f: Any, kws: dict[str, Any]) -> bool:
    """Return whether a function without Python source is known to write into its first argument."""
    return (
        BY_ID.get(id(f), NO_TRAITS).writes
        or kws.get("out") is not None
        or (
            isinstance(f, types.BuiltinFunctionType)
            and isinstance(f.__self__, np.ufunc)
            and f.__name__ == "at"
        )
    )
