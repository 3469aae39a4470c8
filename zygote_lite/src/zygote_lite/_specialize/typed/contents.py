"""The contents of containers that the code makes and changes as it runs: slots and keys.

Such a list, dict, deque or tuple is an object of the code: any variable, and any other container,
may hold it. All containers that one variable may hold share their contents.
"""

from dataclasses import dataclass, field
from typing import Any

from zygote_lite._specialize.typed.facts import ArrayOf, Fact, Other, Scalar, can_carry, join_facts
from zygote_lite._specialize.typed.reasons import NotSupported
from zygote_lite._specialize.typed.stand_ins import Key
from zygote_lite._specialize.typed.values import Value

ANY = object()  # the key of what holds for all items of a list, or for all values of a dict


class LongTuple(tuple[Any, ...]):
    """The kind of a tuple of any length: as in a list, one slot stands for all of its items."""

    __slots__ = ()


LongTuple.__name__ = "tuple"


@dataclass(eq=False)
class Slot:
    """What holds for an item: a number, an array, a constant, or another container."""

    fact: Fact
    sample: Any
    active: bool
    contents: "Contents | None" = None


@dataclass(eq=False)
class Contents:
    """What containers hold that are one and the same to the code.

    Attributes:
        kind: their class.
        slots: what holds for their items, by position in a tuple, by key in a dict whose keys are
            constants, and for all of them in a list.
        key: what holds for the keys of a dict.
        owners: the values that are such containers.
        given: expressions for the arguments that they may be, or be parts of; an empty one for
            what is read from elsewhere.
        bounded: whether they may have a greatest length.
        factory: of a `defaultdict`, what makes its values, where that is a function.
        is_record: whether they are objects, and the slots their attributes.
        merged: the contents that stand for these, where they were merged.
    """

    kind: Any
    slots: dict[Any, Slot] = field(default_factory=dict)
    key: Slot | None = None
    owners: list[Value] = field(default_factory=list)
    given: frozenset[str] = frozenset()
    bounded: bool = False
    factory: Value | None = None
    is_record: bool = False
    merged: "Contents | None" = None


def contents_in(x: Value) -> Contents:
    """Return the contents of a container."""
    assert x.contents is not None
    return root_of(x.contents)


def root_of(contents: Contents) -> Contents:
    """Return the contents that stand for some that were merged."""
    while contents.merged is not None:
        contents = contents.merged
    return contents


def holds_active(contents: Contents) -> bool:
    """Return whether items carry gradients themselves, and not only in what they hold."""
    return any(slot.active for slot in root_of(contents).slots.values())


def is_record(x: Value) -> bool:
    """Return whether a value is an object that containers hold."""
    return x.contents is not None and contents_in(x).is_record


def holds_record(contents: Contents, seen: tuple[Contents, ...] = ()) -> bool:
    """Return whether some contents are those of an object, or have one inside."""
    contents = root_of(contents)
    inner = [slot.contents for slot in contents.slots.values() if slot.contents is not None]
    return contents not in seen and (
        contents.is_record or any(holds_record(c, (*seen, contents)) for c in inner)
    )


def has_active(contents: Contents, seen: tuple[Contents, ...] = ()) -> bool:
    """Return whether a gradient may pass through anything in a container, at any depth."""
    contents = root_of(contents)
    inner = [slot.contents for slot in contents.slots.values() if slot.contents is not None]
    return contents not in seen and (
        holds_active(contents) or any(has_active(c, (*seen, contents)) for c in inner)
    )


def holds_arrays(contents: Contents, seen: list[Contents]) -> bool:
    """Return whether some contents are arrays, or have arrays inside."""
    if contents in seen:
        return False
    seen.append(contents)
    return any(
        isinstance(slot.fact, ArrayOf)
        or (slot.contents is not None and holds_arrays(root_of(slot.contents), seen))
        for slot in contents.slots.values()
    )


def state_of(contents: Contents, seen: tuple[Contents, ...] = ()) -> Any:
    """Return what is known of contents by now, to be compared with what is known later."""
    contents = root_of(contents)
    if contents in seen:
        return seen.index(contents)

    def told(slot: Slot | None) -> Any:
        inner = slot.contents if slot is not None else None
        below = inner if inner is None else state_of(inner, (*seen, contents))
        return None if slot is None else (slot.fact, slot.active, below)

    slots = [(key, told(slot)) for key, slot in contents.slots.items()]
    return contents.kind, contents.bounded, slots, told(contents.key)


def slot_of(x: Value) -> Slot:
    """Return what holds for a value."""
    if x.contents is not None:
        return Slot(x.fact, x.sample, False, contents_in(x))
    return Slot(x.fact, x.sample, x.active and can_carry(x.fact))


def add_slot(changed: list[Value], contents: Contents, key: Any, slot: Slot) -> None:
    """Note what one more item is; those containers of which that is new are added to `changed`."""
    contents = root_of(contents)
    if key is ANY:
        spread(changed, contents)
    known = contents.slots.get(key)
    joined = slot if known is None else _joined_slot(changed, known, slot)
    if known is None or (known.fact, known.active) != (joined.fact, joined.active):
        contents.slots[key] = joined
        changed += contents.owners


def spread(changed: list[Value], contents: Contents) -> None:
    """Have one slot stand for all items: which of them is meant is not known any more."""
    contents = root_of(contents)
    if contents.slots and ANY not in contents.slots:
        slots, contents.slots = contents.slots, {}
        for slot in slots.values():
            known = contents.slots.get(ANY)
            contents.slots[ANY] = slot if known is None else _joined_slot(changed, known, slot)
        changed += contents.owners


def _joined_slot(changed: list[Value], a: Slot, b: Slot) -> Slot:
    if (a.contents is None) != (b.contents is None):
        raise NotSupported.CONTAINER("a list, dict or set holds lists or dicts beside other values")
    if a.contents is not None and b.contents is not None:
        merge(changed, a.contents, b.contents)
        return a
    return Slot(join_facts(a.fact, b.fact), a.sample, a.active or b.active)


def merge(changed: list[Value], a: Contents, b: Contents) -> None:
    """Have one of two contents stand for both: a variable may hold containers of either."""
    a, b = root_of(a), root_of(b)
    if a is b:
        return
    if a.kind is not b.kind or (a.kind is tuple and len(a.slots) != len(b.slots)):
        raise NotSupported.DEPENDS_ON_PATH(
            "a variable holds a list, dict or set of another type after some branch"
        )
    if a.is_record and a.slots.keys() != b.slots.keys():
        raise NotSupported.DEPENDS_ON_PATH(
            f"a variable holds another {a.kind.__name__}, with other keys, after some branch"
        )
    if a.factory is not b.factory:
        raise NotSupported.DEPENDS_ON_PATH(
            "a variable holds two defaultdicts with different factories"
        )
    if a.kind is not tuple and ANY in {*a.slots, *b.slots}:
        spread(changed, a)
        spread(changed, b)
    before = len(changed)
    other = a.bounded != b.bounded
    b.merged = a
    for key, slot in b.slots.items():
        add_slot(changed, a, key, slot)
    if b.key is not None:
        add_key(changed, a, b.key)
    if len(changed) > before or other or a.slots.keys() - b.slots.keys() or _says_more(a, b):
        changed += b.owners
    if other and b.bounded:
        changed += a.owners
    a.owners += b.owners
    a.given, a.bounded = a.given | b.given, a.bounded or b.bounded


def _says_more(a: Contents, b: Contents) -> bool:
    return any(
        (slot.fact, slot.active) != (a.slots[key].fact, a.slots[key].active)
        for key, slot in b.slots.items()
        if key in a.slots
    )


def add_key(changed: list[Value], contents: Contents, slot: Slot) -> None:
    """Note what one more key is."""
    contents = root_of(contents)
    known = contents.key
    contents.key = slot if known is None else _joined_key(changed, known, slot)
    if known is None or known.fact != contents.key.fact:
        changed += contents.owners


def _joined_key(changed: list[Value], a: Slot, b: Slot) -> Slot:
    """Return what holds for keys of both kinds."""
    plain = a.contents is None and b.contents is None
    numbers = isinstance(a.fact, Scalar) and isinstance(b.fact, Scalar)
    if plain and a.fact != b.fact and not numbers:
        return Slot(Other(object), Key(), False)
    return _joined_slot(changed, a, b)
