"""Containers from outside that the code puts into: a history, a log, a counter.

What is put waits until the call is answered, as output does, so nothing need be taken back. The
code knows nothing of what such a container holds, and does not copy it. It may ask for the length
of a list, and for a number in a list or a dict. Any other use of it is refused, and so is every
other name for it: the entry tests that nothing else that is read from outside may be the same
container.
"""

from collections import Counter, OrderedDict, defaultdict, deque
from typing import Any

import numpy as np

from rulescore.faults import an
from zygote_lite._specialize.infer.effects.output import written_text
from zygote_lite._specialize.infer.effects.waiting import effects_of
from zygote_lite._specialize.infer.held.containers import NO_RESULT, kept, mirror
from zygote_lite._specialize.infer.iteration.known import known_items
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.contents import contents_in, holds_arrays, holds_record
from zygote_lite._specialize.typed.effects import (
    add_at_the_end,
    append_at_the_end,
    append_left_at_the_end,
    extend_at_the_end,
    put_at_the_end,
    put_item_at_the_end,
)
from zygote_lite._specialize.typed.facts import Other
from zygote_lite._specialize.typed.nodes import leaves
from zygote_lite._specialize.typed.notes import ONE_BY_ONE, collected, puts_outside
from zygote_lite._specialize.typed.reasons import NotSpecializable, NotSupported, Unsound
from zygote_lite._specialize.typed.stand_ins import Collector, Message, Method
from zygote_lite._specialize.typed.structures import mapping, structure
from zygote_lite._specialize.typed.values import Value, constant

COLLECTING = (list, dict, set, deque, defaultdict, OrderedDict, Counter)
_KEYS_OUTSIDE = (str, int, bool, float, type(None))
_KEPT_AS_THEY_ARE = (str, bytes, int, float, bool, type(None))
SOME_KEY = object()


def may_collect(builder: Builder, x: Any) -> bool:
    """Return whether the code can put into a container from outside."""
    return type(x) in COLLECTING and not _is_busy(builder)


def _is_busy(builder: Builder) -> bool:
    return builder.plain or builder.inner or builder.twice or builder.compiled


def is_collected(builder: Builder, x: Any) -> bool:
    """Return whether it is known from an attempt before that the code puts into a container."""
    return type(x) in COLLECTING and collected(x) in builder.own


def refuse_to_collect(builder: Builder, stem: str) -> None:
    """Refuse a nested gradient that reads a container which the code around it puts into."""
    if _is_busy(builder):
        raise NotSupported.SECOND_ORDER(
            f"it puts something into {stem}, and reads it in a nested gradient"
        )


def may_be_put_outside(builder: Builder, x: Value) -> bool:
    """Return whether an array may be one that something from outside holds by then.

    The code may put it there later: a loop comes to an earlier statement again.
    """
    return x.is_array and puts_outside(builder.own)


def demand_collector(builder: Builder, x: Value) -> None:
    """Have the code interpreted again where it changes a container from outside."""
    source = builder.inputs.outside.get(x)
    if source is not None and may_collect(builder, source):
        builder.wanted.add(collected(source))


def collector(
    builder: Builder, x: Any, expression: str, stem: str, reason: NotSpecializable | None = None
) -> Value:
    """Return a container from outside that the code puts into.

    Where there is a `reason` why it cannot be read, that is told where it is read after all.
    """
    inputs = builder.inputs
    held = inputs.holder(type(x), expression)
    for known in inputs.collectors.values():
        if known.sample.source is x:
            if known.sample.where != held:
                inputs.guards[f"{held} is {known.sample.where}"] = None
            return known
    given = inputs.give(Value(Other(type(x)), x, builder.name(stem)), held)
    found = constant(Collector(x, held, given, reason))
    inputs.collectors[held] = found
    return found


def attribute_of_collector(x: Value, name: str) -> Value:
    """Return a method of a container from outside, which was looked up."""
    if name.startswith("__") or not callable(getattr(type(x.sample.source), name, None)):
        raise x.sample.refused()
    return constant(Method(x, name))


def is_collector(x: Value) -> bool:
    """Return whether a value is a container from outside that the code puts into."""
    return isinstance(x.sample, Collector)


# -- putting -------------------------------------------------------------------------------------


def _put_at_end(builder: Builder, x: Value, f: Any, *xs: Value) -> Value:
    effects = effects_of(builder, "a change of a list, dict or set that it did not create")
    x.sample.is_changed = True
    if collected(x.sample.source) not in builder.own:
        builder.wanted.add(collected(x.sample.source))
    op = builder.write(NO_RESULT, f, [effects, x.sample.value, *xs], {})
    mirror(op, lambda builder, _: [], [])
    return constant(None)


def put_last(builder: Builder, x: Value, value: Value) -> Value:
    """Write `x.append(value)`."""
    _note_put(x.sample, SOME_KEY, value)
    return _put_at_end(builder, x, append_at_the_end, _as_put(builder, value))


def put_first(builder: Builder, x: Value, value: Value) -> Value:
    """Write `x.appendleft(value)`."""
    return _put_at_end(builder, x, append_left_at_the_end, _as_put(builder, value))


def put_several(builder: Builder, x: Value, more: Value) -> Value:
    """Write `x.extend(more)`."""
    items = known_items(more)
    if items is None or type(more.sample) not in (tuple, list):
        raise NotSupported.UNKNOWN_LENGTH("it extends a list by something of no fixed length")
    for item in items:
        _note_put(x.sample, SOME_KEY, item)
    parts = structure(tuple, [_as_put(builder, item) for item in items])
    return _put_at_end(builder, x, extend_at_the_end, parts)


def put_into_set(builder: Builder, x: Value, value: Value) -> Value:
    """Write `x.add(value)`."""
    return _put_at_end(builder, x, add_at_the_end, key_outside(value))


def put_outside(builder: Builder, x: Value, key: Value, value: Value) -> None:
    """Write `x[key] = value`, of a dict or a list from outside."""
    of: Collector = x.sample
    at = key_in_collector(of, key)
    given = _as_put(builder, value)
    if may_be_one_of(at, of.parts):
        raise Unsound.WRITES_TO_GIVEN(
            "it replaces a list or dict that it did not create, and changes that, too"
        )
    _note_put(of, at, given)
    f = put_item_at_the_end if type(of.source) is list else put_at_the_end
    _put_at_end(builder, x, f, key, given)


def _note_put(of: Collector, at: Any, value: Value) -> None:
    """Note what is put at a key, or an index: it may be read there."""
    is_active = any(leaf.active for leaf in leaves(value))
    if is_active and may_be_one_of(at, of.read_again):
        raise reads_what_is_active(of)
    of.put[at] = value
    if is_active:
        of.active.add(at)


def reads_what_is_active(of: Collector) -> NotSpecializable:
    """Return the reason why a container that is put into is left to the tape where it is read."""
    return Unsound.LOST_GRADIENT(
        f"it reads {an(type(of.source).__name__)} that it did not create, and puts into it what "
        "depends on a differentiated argument"
    )


def put_entries(builder: Builder, x: Value, /, *xs: Value, **kws: Value) -> Value:
    """Write `x.update(...)`."""
    for y in xs:
        if y.items is None or type(y.sample) is not dict:
            raise x.sample.refused()
        for key, value in zip(y.items[::2], y.items[1::2], strict=True):
            put_outside(builder, x, key, value)
    for name, value in kws.items():
        put_outside(builder, x, constant(name), value)
    return constant(None)


def key_in_collector(of: Collector, key: Value) -> Any:
    """Return a key of a dict or an index of a list; what stands for any where it is not known."""
    if issubclass(type(of.source), dict):
        return known_or_any(key_outside(key))
    is_index = key.is_scalar and isinstance(key.sample, int | np.integer)
    if type(of.source) is not list or key.active or not (is_index or type(key.sample) is int):
        raise of.refused()
    is_known = key.is_constant and 0 <= key.sample < len(of.source)
    return key.sample if is_known else SOME_KEY  # which may be appended, or counted from the end


def known_or_any(key: Value) -> Any:
    """Return a key, or what stands for any where it is not known."""
    return key.sample if key.is_constant else SOME_KEY


def may_be_one_of(key: Any, keys: set[Any]) -> bool:
    """Return whether a key may be one of some, of which any may not be known."""
    return bool(keys) and (key is SOME_KEY or SOME_KEY in keys or key in keys)


def key_outside(key: Value) -> Value:
    """Return a key: a number or a text, or a tuple of those, through which no gradient passes."""
    for part in leaves(key):
        plain = part.is_scalar or (part.is_constant and type(part.sample) in _KEYS_OUTSIDE)
        is_shape = type(part.sample) is tuple and part.lengths is not None
        fixed = part.is_constant and type(part.sample) is tuple and all(
            type(y) in _KEYS_OUTSIDE for y in part.sample
        )  # fmt: skip
        if part.active or not (plain or is_shape or fixed or type(part.sample) is str):
            raise Unsound.KEY(
                "a key of a dict that it did not create is neither a number nor a text"
            )
    if key.items is not None and type(key.sample) is not tuple:
        raise Unsound.KEY("a key of a dict that it did not create is neither a number nor a text")
    return key


def _as_put(builder: Builder, x: Value) -> Value:
    """Return a value as a container from outside can keep it."""
    if isinstance(x.sample, Message):
        return written_text(builder, x)
    if x in builder.iterators or x in builder.uncertain or x.is_object:
        raise _not_kept(x)
    if x.contents is not None:
        if holds_record(contents_in(x)):
            raise _not_kept(x)
        _demand_one_by_one(builder, holds_arrays(contents_in(x), []))
        return x
    if x.is_array:
        _demand_one_by_one(builder, True)
        return x
    parts = x.sample if type(x.sample) is tuple else (x.sample,)
    if x.is_scalar or (x.is_constant and {*map(type, parts)} <= {*_KEPT_AS_THEY_ARE}):
        return x
    if type(x.fact) is Other and (type(x.sample) is str or x.lengths is not None):
        return x
    if x.items is not None and type(x.sample) is tuple:
        return structure(tuple, [_as_put(builder, item) for item in x.items])
    if x.items is not None and type(x.sample) in (list, dict) and x in builder.homes:
        return _given_away(builder, x)
    raise _not_kept(x)


def _given_away(builder: Builder, x: Value) -> Value:
    """Return a new list or dict that is put, and that nobody changes from then on."""
    if builder.held:
        made = kept(builder, x)
        return _as_put(builder, made)
    if builder.homes[x] is not builder.out or x in builder.given_away:
        raise _not_kept(x)
    builder.given_away.add(x)
    items = x.items or []
    if type(x.sample) is list:
        return structure(list, [_as_put(builder, item) for item in items])
    pairs = zip(items[::2], items[1::2], strict=True)
    return mapping({key.sample: _as_put(builder, item) for key, item in pairs})


def _demand_one_by_one(builder: Builder, has_arrays: bool) -> None:
    """Have equal arrays made one by one: what is put is the program's from then on."""
    if not has_arrays:
        return
    builder.inputs.puts_arrays = True
    if not builder.distinct:
        builder.wanted.add(ONE_BY_ONE)


def _not_kept(x: Value) -> NotSpecializable:
    return NotSupported.STORED(
        f"it puts {an(type(x.sample).__name__)} into a list, dict or set that it did not create"
    )


# -- returning -----------------------------------------------------------------------------------


def as_returned(x: Value) -> Value:
    """Return what a call returns beside its value: of a container from outside, that itself."""
    if is_collector(x):
        found: Value = x.sample.value
        return found
    if x.items is not None and type(x.sample) is tuple and not x.is_object:
        return structure(tuple, [as_returned(item) for item in x.items])
    return x


# -- at the end ----------------------------------------------------------------------------------


def settle_collectors(builder: Builder) -> None:
    """Refuse code in which something else may read what it puts into containers from outside."""
    inputs = builder.inputs
    if not inputs.collectors:
        return
    for x in inputs.collectors.values():
        if not x.sample.is_changed:
            raise x.sample.refused()
    if inputs.puts_arrays and builder.copies:
        raise Unsound.WRITES_TO_GIVEN(
            "it puts arrays into a list that it did not create, and writes to its arguments"
        )
    if inputs.mutable_rows:
        raise Unsound.SHARED_WRITE("it changes a list or a dict that rows of data may hold")
    builder.refuse_all_readers()  # they would read it too early
