"""Iterators: objects that are never made, whose attributes tell what they give next.

A generator has the variables of its function as attributes, and where it waits; what walks over a
sequence has the sequence, and the place of the next element. So loops and branches carry and join
them as they do other objects: an iterator of which more is taken on one path than on another
cannot be used after them.
"""

import operator
from dataclasses import dataclass
from typing import Any

from rulescore.faults import an
from zygote_lite._specialize.infer.counters import leave_where
from zygote_lite._specialize.infer.iteration.known import Several, known_items
from zygote_lite._specialize.infer.models import dicts as _dicts
from zygote_lite._specialize.infer.models.fields import as_dict, entries_now, names_of_attributes
from zygote_lite._specialize.infer.models.sets import is_set
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.drafts import Env
from zygote_lite._specialize.typed.facts import ListOf, Other
from zygote_lite._specialize.typed.reasons import NotSupported, Unsound
from zygote_lite._specialize.typed.stand_ins import LOST, SOURCE, Fields, Iterator, StandIn, View
from zygote_lite._specialize.typed.structures import structure
from zygote_lite._specialize.typed.values import Value, constant

STATE, RESULT = "@state", "@result"


@dataclass(eq=False)
class Items(Iterator):
    """What walks over a sequence, a dict, or a view of one.

    Attributes:
        size: of a dict, how many entries it had.
        view: of a view of a dict, the method that makes it.
        stays: lists and dicts that are seen through another object, and what they held.
        backwards: whether it walks backwards.
    """

    size: int | None
    view: str
    stays: list[tuple[Value, list[Any]]]
    backwards: bool = False


@dataclass(eq=False)
class Together(Iterator):
    """What walks over several iterators, its attributes, at the same time.

    Attributes:
        strict: whether they have to have the same length.
    """

    strict: bool


@dataclass(eq=False)
class Generator(Iterator):
    """A generator.

    Attributes:
        code: of its function, or of the method whose calls give its elements.
        globals: of that.
        steps: the name of the method.
    """

    code: Any
    globals: dict[str, Any]
    steps: str = ""


@dataclass(eq=False)
class Waiting(StandIn):
    """Where a generator waits: the blocks that it is in, from the outermost to the innermost."""

    stack: list[Any]
    is_new: bool = False


class Ended(StandIn):
    """The state of an iterator that gives nothing more."""


ENDED = constant(Ended())


def is_iterator(x: Value) -> bool:
    """Return whether a value is an iterator that is an object of its own."""
    return isinstance(x.sample, Iterator)


def new_iterator(builder: Builder, kind: Iterator, fields: Env) -> Value:
    """Return a new iterator."""
    x = Value(Other(type(kind)), kind)
    x.fields, x.scope = fields, builder.loop
    builder.objects.append(x)
    return x


def iterator_over(builder: Builder, x: Value) -> Value:
    """Return `iter(x)` of anything but an object of a user class."""
    view = ""
    if isinstance(x.sample, View):
        view, x = x.sample.name, (x.fields or {})[SOURCE]
    if is_iterator(x):
        return x
    if x.is_scalar or (x.is_constant and x.sample is None):
        raise Unsound.RAISES("it iterates over a number").always(TypeError)
    if x.is_object and known_items(x) is None and not isinstance(x.sample, Fields):
        raise NotSupported.ITERATION(f"it iterates over {an(type(x.sample).__name__)}")
    names = names_of_attributes(builder, x)
    if names is not None:
        if view not in ("", "keys"):
            raise NotSupported.ATTRIBUTE(
                "it iterates over values of the `__dict__` of an object that it did not create"
            )
        x, view = structure(tuple, names), ""
    held = as_dict(builder, x)
    size = len(held.sample) if _dicts.is_dict(held) or is_set(held) else None
    stays = [(y, items_held(y)) for y in builder.iterators.get(x, [])]
    return new_iterator(builder, Items(size, view, stays), {SOURCE: x, STATE: constant(0)})


def backwards_over(builder: Builder, x: Value) -> Value:
    """Return `reversed(x)`."""
    it = iterator_over(builder, x)
    assert it.fields is not None
    last = len(_now(it)) - 1
    it.sample.backwards = True
    it.fields = {**it.fields, STATE: constant(last)}
    return it


def iterators_together(builder: Builder, xs: list[Value], strict: bool) -> Value:
    """Return `zip(*xs)`."""
    parts = {f"@{i}": builder.iterator(x) for i, x in enumerate(xs)}
    return new_iterator(builder, Together(strict), {**parts, STATE: constant(0)})


def items_held(x: Value) -> list[Any]:
    """Return what a sequence holds by now, of a list of any length what is known of it."""
    return [*(x.items or [])]


def place_of_next(it: Value) -> int:
    """Return the place of the next element of a sequence."""
    state = (it.fields or {})[STATE]
    if state is LOST or not state.is_constant:
        raise NotSupported.DEPENDS_ON_PATH(
            "how far an iterator has run is different after two branches"
        )
    return int(state.sample)


def is_over(it: Value) -> bool:
    """Return whether an iterator gives nothing more."""
    return (it.fields or {}).get(STATE) is ENDED  # a view has no state


def refuse_changed(it: Value) -> None:
    """Refuse to go on with what was changed behind the back of an iterator."""
    if any(items_held(x) != [*before] for x, before in it.sample.stays):
        raise Unsound.CHANGES_WHAT_IT_WALKS(
            "it changes a list or a dict while an iterator is over it"
        )


def end(it: Value) -> None:
    """Note that an iterator gives nothing more."""
    it.fields = {**(it.fields or {}), STATE: ENDED}


def lose(it: Value) -> None:
    """Note that it is not known what is left of an iterator."""
    it.fields = {**(it.fields or {}), STATE: LOST}


def source_of_loop(it: Value) -> Value | None:
    """Return the rest of the iterable of an iterator, if a loop over that is written.

    That is what has an unknown length, and a range that is new.
    """
    if not isinstance(it.sample, Items) or it.sample.view or is_over(it):
        return None
    at = place_of_next(it)
    refuse_changed(it)
    source = (it.fields or {})[SOURCE]
    if known_items(source) is not None or (at and not has_places(source)):
        return None
    return constant(Several("from", [source, constant(at)])) if at else source


def unwrapped(builder: Builder, it: Value) -> Value:
    """Return what a new iterator walks over, as `zip` may walk over it; or what is given."""
    if not isinstance(it.sample, Items | Together) or is_over(it):
        return it
    if isinstance(it.sample, Together):
        parts = [part for name, part in (it.fields or {}).items() if name != STATE]
        found = [unwrapped(builder, part) for part in parts]
        if any(map(is_iterator, found)):
            return it
        lose(it)
        return _walked_together(builder, "strict zip" if it.sample.strict else "zip", found)
    if it.sample.view or it.sample.size is not None:
        return it
    source = (it.fields or {})[SOURCE]
    if type(source.sample) is range or known_items(source) is None:
        return it
    if place_of_next(it) != (len(_now(it)) - 1 if it.sample.backwards else 0):
        return it
    lose(it)  # nobody else may ask it from now on
    return _walked_together(builder, "reversed", [source]) if it.sample.backwards else source


def _walked_together(builder: Builder, kind: str, parts: list[Value]) -> Value:
    found = constant(Several(kind, parts))
    builder.iterators[found] = [y for x in parts for y in builder.iterators.get(x, [x])]
    return found


def has_places(x: Value) -> bool:
    """Return whether something of unknown length is read item by item."""
    return x.is_array or isinstance(x.fact, ListOf)


def next_item(it: Value) -> Value | None:
    """Return the next element of a sequence as it is now; `None` at its end."""
    assert it.fields is not None
    at = place_of_next(it)
    found = _now(it, at)
    if it.sample.size is not None and len(found) != it.sample.size:
        raise Unsound.CHANGES_WHAT_IT_WALKS(
            "it adds entries to a dict while it iterates over it"
        ).always(RuntimeError)
    if not 0 <= at < len(found):
        end(it)
        return None
    it.fields = {**it.fields, STATE: constant(at - 1 if it.sample.backwards else at + 1)}
    return found[at]


def _now(it: Value, at: int = 0) -> list[Value]:
    """Return the elements of a sequence as they are now, of a range those up to a place."""
    refuse_changed(it)
    x = (it.fields or {})[SOURCE]
    if x.is_constant and type(x.sample) is range:
        return [constant(i) for i in x.sample[: at + 1]]
    x = entries_now(x)
    found = known_items(x)
    if _dicts.is_dict(x):
        pairs = _dicts.pairs_of(x)
        by_view = {
            "values": [v for _, v in pairs],
            "items": [structure(tuple, [*p]) for p in pairs],
        }
        found = by_view.get(it.sample.view, [key for key, _ in pairs])
    if found is None:
        raise NotSupported.UNKNOWN_LENGTH("an iterator is over something whose length is not fixed")
    return found


def next_by_place(builder: Builder, it: Value) -> Value | None:
    """Write what gives the next item of an array or a list, and leaves where there is none."""
    if not isinstance(it.sample, Items) or is_over(it):
        return None
    source, at = (it.fields or {})[SOURCE], place_of_next(it)
    if not has_places(source):
        return None
    length = builder.apply(len, [source])
    leave_where(builder, builder.apply(operator.le, [length, constant(at)]))
    it.fields = {**(it.fields or {}), STATE: constant(at + 1)}
    return builder.item(source, constant(at))


def next_of_all(builder: Builder, it: Value) -> Value | None:
    """Return the next elements of several iterators; `None` where the first of them ends."""
    place_of_next(it)
    row: list[Value] = []
    for name, part in [*(it.fields or {}).items()]:
        if name == STATE:
            continue
        item = builder.advance(part)
        if item is None:
            if it.sample.strict:
                _refuse_longer(builder, it, name)
            return None
        row.append(item)
    if not row:
        return None
    return structure(tuple, row)


def _refuse_longer(builder: Builder, it: Value, ended: str) -> None:
    """Refuse where iterators that have to have one length do not, as the first of them ends."""
    parts = [part for name, part in (it.fields or {}).items() if name != STATE]
    if ended != "@0" or any(builder.advance(part) is not None for part in parts[1:]):
        raise Unsound.RAISES("the arguments of a strict `zip` have different lengths")
