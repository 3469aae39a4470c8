"""The entries of a tape: the calls that recorded code ran, in order, and the walk backwards.

A value is known by the number of the entry that it came from. An entry is a tuple of that number,
the numbers of the operands and the pullback; that of an operation of numbers has partial
derivatives in the place of a pullback (`scalars`). What reads a number from a container, or writes
it there, has a small entry: `(node, node of the operand, number of the pullback among
SMALL_PULLBACKS, number of the container, what the pullback needs, ...)`. Python's garbage collector
does not visit entries that hold nothing but numbers and texts.
"""

import sys
import weakref
from typing import Any

import numpy as np

from rulescore import accumulate
from zygote_lite._activity.marks import note_reaching
from zygote_lite._cotangents.indexed import Part, add_part
from zygote_lite._cotangents.kinds import owner_of
from zygote_lite._cotangents.registry import (
    SMALL_PULLBACKS,
    NodeId,
    NoPullback,
    Traced,
    TupleNode,
    small_pullback,
)
from zygote_lite._cotangents.run import current_store, give, slots_of, state
from zygote_lite._cotangents.store import are_parts, refused_view
from zygote_lite._ir.places import where
from zygote_lite._tape.scalars import pull
from zygote_lite.errors import Fault


def is_like(d: Any, known: Any) -> bool:
    """Return whether a cotangent can be added in place to an array of NumPy."""
    return type(d) is np.ndarray and d.shape == known.shape and d.dtype == known.dtype


def hand_on(cotangents: dict[Any, Any], node: Any, d: Any, owned: set[Any]) -> None:
    """Add a cotangent to that of a value; that of a tuple, to those of what it holds.

    Arguments:
        cotangents: what there is, by the numbers of values.
        node: the number of the value.
        d: its cotangent.
        owned: the numbers of values whose cotangent is a buffer of our own.
    """
    known = None if type(node) is TupleNode else cotangents.get(node)
    if type(node) is TupleNode:
        for part, d_part in zip(node, d, strict=True):
            if part is not None and d_part is not None:
                hand_on(cotangents, part, d_part, owned)
    elif type(d) is Part:
        add_part(cotangents, owned, node, d)
    elif known is None:
        cotangents[node] = d
    elif type(d) is float and type(known) is float:
        cotangents[node] = known + d
    elif node in owned and is_like(d, known):
        known += d
    else:  # neither may be written to: a pullback may have given them to others too
        total = cotangents[node] = accumulate(known, d)
        if type(total) is np.ndarray:
            owned.add(node)


def _back_of_read(x: Any, entry: tuple[Any, ...], dy: Any) -> None:
    """Give an entry of a container the cotangent of what was read there."""
    if dy is not None:
        give(slots_of(x), entry[4], dy)


_OF_READ = small_pullback(_back_of_read)


class Entries:
    """Hold the calls that were run: the numbers of values and operands, and the pullbacks.

    Attributes:
        entries: the calls, in the order in which they were run.
        count: the last number that was given to a value.
        written: arrays that the run writes in place, by identity.
    """

    __slots__ = (
        "arrays",
        "containers",
        "count",
        "defaults",
        "entries",
        "memo",
        "numbers",
        "refusal",
        "seen",
        "written",
    )

    def __init__(self) -> None:
        self.entries: list[tuple[Any, ...]] = []
        self.count = 0
        self.containers: list[Any] = []  # that small entries read or write
        self.numbers: dict[int, int] = {}  # of these, by identity
        self.written = state.written if state.written is not None else {}
        self.arrays: dict[int, tuple[Any, bool]] = {}  # by number: the array, and if it was new
        self.defaults: dict[int, tuple[Any, dict[str, NodeId]]] = {}  # of functions defined inside
        self.memo: dict[int, Any] = {}  # of functions under `lru_cache`: what calls gave
        self.refusal: BaseException | None = None  # that a `finally` of user code may swallow
        self.seen: dict[int, Any] = {}  # arrays that own memory, by identity

    def note_refusal(self) -> None:
        """Note the refusal that is being handled, before a `finally` that may leave it behind."""
        self.refusal = sys.exception()

    def raise_refusal(self) -> None:
        """Raise a refusal that was noted."""
        refusal, self.refusal = self.refusal, None
        if refusal is not None:
            raise refusal

    def input(self, x: Any = None) -> NodeId:
        """Return the node of a new value that does not come from an entry of the tape."""
        self.count += 1
        if isinstance(x, np.ndarray):
            self.note_array(self.count, x, fresh=False)
        return self.count

    def note_array(self, node: int, x: Any, fresh: bool) -> None:
        """Note which memory a value lives in, should it be written in place."""
        owner = owner_of(x)
        known = self.seen.get(id(owner))
        if known is None or known() is not owner:
            self.seen[id(owner)] = weakref.ref(owner)
        else:
            fresh = False
        self.arrays[node] = (weakref.ref(x) if x is owner else x, fresh)

    def array_of(self, node: Any) -> tuple[Any, bool]:
        """Return the array of a node if it is written in place, and whether it was new."""
        found = self.arrays.get(node) if node is not None else None
        if found is None:
            return None, False
        x, fresh = found
        x = x() if isinstance(x, weakref.ref) else x
        if x is None or id(owner_of(x)) not in self.written:
            return None, False
        return x, fresh

    def record(self, y: Any, back: Any, nodes: tuple[NodeId, ...], fresh: bool = False) -> Traced:
        """Record that `y` was computed from the values `nodes`, and that `back` is its pullback."""
        if type(back) is NoPullback:
            if type(y) is list:
                note_reaching(y)
            return y, None
        if not back:
            self.entries.append((None, nodes, back))
            return y, None
        self.count = node = self.count + 1
        self.entries.append((node, nodes, back))
        if isinstance(y, np.ndarray):
            self.note_array(node, y, fresh)
        return y, node

    def record_read(self, y: Any, x: Any, key: Any) -> Traced:
        """Record that a number was read from a container."""
        self.count = node = self.count + 1
        self.entries.append((node, None, _OF_READ, self.number_of(x), key))
        return y, node

    def record_write(self, node: NodeId, pullback: int, x: Any, *about: Any) -> Traced:
        """Record that a number, of that node, was written into a container."""
        self.entries.append((None, node, pullback, self.number_of(x), *about))
        return None, None

    def number_of(self, x: Any) -> int:
        """Return the number of a container on this tape."""
        number = self.numbers.get(id(x))
        if number is None:
            number = self.numbers[id(x)] = len(self.containers)
            self.containers.append(x)
        return number

    def back_of_small(self, entry: tuple[Any, ...], dy: Any) -> Any:
        """Apply the pullback of a small entry: return the cotangent of its one operand."""
        return SMALL_PULLBACKS[entry[2]](self.containers[entry[3]], entry, dy)

    def back(self, cotangents: dict[Any, Any]) -> None:
        """Walk backwards: pull the cotangents of values back to the inputs, by their numbers."""
        if self.written:
            self.back_with_writes(cotangents)
            return
        owned: set[NodeId] = set()  # whose cotangent is a buffer of our own
        for entry in reversed(self.entries):
            dy = cotangents.pop(entry[0], None)
            if isinstance(entry[2], float):
                if dy is not None:
                    pull(cotangents, entry, dy)
                continue
            if type(entry[2]) is int:
                d = self.back_of_small(entry, dy)
                if d is not None and entry[1] is not None:
                    hand_on(cotangents, entry[1], d, owned)
                continue
            for operand, d in zip(entry[1], entry[2](dy), strict=False):
                if operand is not None and d is not None:
                    hand_on(cotangents, operand, d, owned)

    def back_with_writes(self, cotangents: dict[Any, Any]) -> None:
        """Walk backwards where arrays were written: their cotangents live in shadows."""
        store = current_store()
        store.written = self.written
        for node in list(cotangents):
            self.give(store, cotangents, node, cotangents.pop(node))
        for entry in reversed(self.entries):
            node = entry[0]
            dy = cotangents.pop(node, None)
            if isinstance(entry[2], float):
                if dy is not None:
                    pull(cotangents, entry, dy)
                continue
            if type(entry[2]) is int:
                d = self.back_of_small(entry, dy)
                if d is not None and entry[1] is not None:
                    self.give(store, cotangents, entry[1], d)
                continue
            y, fresh = self.array_of(node)
            if y is not None:
                dy = store.take_shadow(y) if fresh else None
            for operand, d in zip(entry[1], entry[2](dy), strict=False):
                if operand is not None and d is not None:
                    self.give(store, cotangents, operand, d)

    def give(self, store: Any, cotangents: dict[Any, Any], node: Any, d: Any) -> None:
        """Add a cotangent to that of a value: in its shadow, if it lives in written memory."""
        if type(node) is TupleNode:
            for part, d_part in zip(node, d, strict=True):
                if part is not None and d_part is not None:
                    self.give(store, cotangents, part, d_part)
            return
        x, _ = self.array_of(node)
        if type(d) is Part:
            if x is not None and not store.overlaps(x):
                d.add_to(store.shadow_view(x, make=True))
                return
            whole = d.zeros()
            d.add_to(whole)
            d = whole
        if x is not None:
            store.add_to_shadow(x, d)
            return
        hand_on(cotangents, node, d, set())

    def numbered(self, nodes: tuple[NodeId, ...], xs: tuple[Any, ...]) -> tuple[NodeId, ...]:
        """Give written arrays from inactive code a number, so that their cotangent is followed."""
        given = list(nodes)
        for i, x in enumerate(xs, 1):
            if given[i] is None and isinstance(x, np.ndarray) and id(owner_of(x)) in self.written:
                owner = owner_of(x)
                if x.dtype != owner.dtype and not are_parts(x, owner):
                    raise Fault.MEMORY(f"{where()}: {refused_view(x, owner)}")
                given[i] = self.input(x)
        return tuple(given)
