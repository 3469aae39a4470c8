"""The state of a run, per thread: what pullbacks read and write besides `dy`.

In the forward pass it records what is active and what pullbacks have saved; in the reverse pass it
has the store of cotangents.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rulescore import accumulate
from zygote_lite._cotangents.kinds import LIST, TUPLE, address_of, kind_of, owner_of
from zygote_lite._cotangents.store import Store


@dataclass(eq=False, slots=True)
class FieldsView:
    """Mark an active `__dict__` that is read by attribute only: that of a class, for instance.

    The others are those of objects with slots, and of user classes of lists, dicts and sets.
    """

    fields: Any


class Runs:
    """How many threads record a run: while none does, nobody needs to look at the state."""

    __slots__ = ("count", "lock")

    def __init__(self) -> None:
        self.count, self.lock = 0, threading.Lock()


runs = Runs()


class State(threading.local):
    """The state of a thread: its forward run, and the store of its reverse pass."""

    active: dict[int, Any] | None = None  # containers that hold active values, by identity
    captured: dict[int, Any] | None = None  # arrays and containers that pullbacks have saved
    saved = 0  # how many entries these have, about
    written: dict[int, Any] | None = None  # arrays that were written in place
    given: tuple[Any, ...] = ()  # what the run was given: the function and its arguments
    held: dict[int, Any]  # holders of numbers that carry no gradient, within the arguments
    ended: dict[int, Any]  # iterators in C that were found to be over, and do not know it
    stepped: dict[int, Any]  # iterators in C that keep what they took last, with its node
    chooses = False  # whether an integer is a choice: nothing but floats is differentiated
    has_texts = False  # whether texts made of active values are among what is active
    store: Store | None = None
    clean: dict[int, Any]  # what was found to reach nothing active
    vast: dict[int, Any]  # what more can be reached from than walks may look at
    linked = False  # whether a call that was simply run may have linked what is clean to more
    outside = 0  # how often what is active may have come within the reach of code outside the run
    resolved = 0  # how many calls have been resolved, but for the plainest
    doubted = False  # whether a call was recorded that may reach nothing active
    walked = 0  # how many objects have been walked through, where recording is as good
    searched = 0  # how many objects have been walked through, where the answer may be an error
    looked = 0  # how many objects and items have been looked at for methods that may write
    private: dict[int, Any]  # containers that only the variables of the run hold
    made = 0  # how many private containers there have been
    holders: dict[int, list[Any]]  # by identity: what holds a private container
    reaching: dict[int, Any]  # private containers that hold what is active
    writes = 0  # into arrays, so far
    last_writes: dict[int, int]  # by the identity of an array: which write was its last
    tables: dict[int, Any]  # data of pandas that the run has made of what is differentiated
    wholes: dict[int, tuple[Any, int]]  # values known by rule, with the writes until each was made
    sealed: dict[int, tuple[Callable[[], Exception], bool]]  # arrays: the error for a write
    trace: list[tuple[Any, ...]] | None = None  # for `explain`: how each call was resolved
    shared: dict[int, dict[int, Any]]  # by identity: what a thread that was started may read
    lent: dict[int, tuple[Any, Any, Any]]  # what is saved and shared, its contents, and a copy
    bindings: dict[int, tuple[Any, Any]]  # context variables that hold what is active
    variables: dict[int, tuple[Any, set[Any]]]  # of modules, that hold active numbers, by name
    written_files: Any = None  # what the run has written that depends on what is differentiated
    opened: list[Any] | None = None  # names of the files that are opened, if that is asked for
    run: object = None  # the forward run, which differs from all others
    defaulted: dict[int, Any]  # by identity: functions with active defaults, and names of these
    handed: tuple[Any, ...] = ()  # the function that a rule handed over last, and what answers it
    transposes = False  # whether a reverse pass is run for its transpose, by forward mode
    stale = False  # whether a rule's function reads what was changed later, and is back as it was
    tries = False  # whether calls are made on samples alone: no code is made for them
    later: list[Callable[[], Any]]  # what is to be done when the run is over
    generators: list[Any]  # that are recorded, and have a `try` or a `with`
    refusal: Exception | None = None  # raised where Python ignores errors: as a loop is left

    def __init__(self) -> None:
        self.clean = {}
        self.vast = {}
        self.shared = {}
        self.lent = {}
        self.bindings = {}
        self.variables = {}
        self.private = {}
        self.holders = {}
        self.reaching = {}
        self.held = {}
        self.tables = {}
        self.ended = {}
        self.stepped = {}
        self.later = []
        self.generators = []
        self.last_writes = {}
        self.wholes = {}
        self.sealed = {}
        self.defaulted = {}


state = State()


def is_shared(x: Any) -> bool:
    """Return whether another thread has been given a value."""
    return bool(state.shared) and any(id(x) in held for held in state.shared.values())


def current_store() -> Store:
    """Return the store of the call of `back` that is running."""
    assert state.store is not None
    return state.store


def slots_of(x: Any) -> dict[Any, Any]:
    """Return the cotangents of the entries of a container."""
    return current_store().slots(x)


def give(slots: dict[Any, Any], key: Any, d: Any) -> None:
    """Add the cotangent `d` to that of one entry."""
    if d is not None:
        slots[key] = accumulate(slots.get(key), d)


@dataclass(eq=False, slots=True)
class EntryBack:
    """The pullback of reading an entry of a container: the store has its cotangent.

    Attributes:
        x: the container.
        key: the place of the entry.
    """

    x: Any
    key: Any

    def __call__(self, dy: Any) -> tuple[Any, ...]:
        if dy is not None:
            give(slots_of(self.x), self.key, dy)
        return ()


def take_slots(x: Any) -> dict[Any, Any]:
    """Return the cotangents of the entries of a container at its creation, and forget them."""
    entry = current_store().entries.pop(address_of(x), None)
    return {} if entry is None else entry[1]


def take(y: Any, dy: Any, xs: tuple[Any, ...] = ()) -> Any:
    """Return the whole cotangent of a value at its creation from `xs`, and forget it.

    What lives in the memory of an array among `xs` is not new: its cotangent stays where it is.
    """
    kind = kind_of(y)
    if kind < TUPLE:
        return dy
    store = current_store()
    before = store.taking, store.aliases
    store.taking = True
    held = [*xs, *(entry for x in xs if kind_of(x) in (LIST, TUPLE) for entry in x)]
    store.aliases = {id(owner_of(x)) for x in held if isinstance(x, np.ndarray)}
    try:
        dy = store.collect(y, dy)
    finally:
        store.taking, store.aliases = before
    store.entries.pop(address_of(y), None)
    return dy
