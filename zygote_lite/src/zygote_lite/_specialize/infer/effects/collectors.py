"""Containers from outside that the code puts into: a history, a log, a counter.

What is put waits until the call is answered, as output does, so nothing need be taken back. The
code knows nothing of what such a container holds, and does not copy it. It may ask for the length
of a list, and for a number in a dict. Any other use of it is refused, and so is every other name
for it: the entry tests that nothing else that is read from outside may be the same container.
"""

import operator
import types
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from typing import Any

from rulescore import why
from rulescore.faults import an
from zygote_lite._specialize.infer.effects.output import written_text
from zygote_lite._specialize.infer.effects.waiting import effects_of
from zygote_lite._specialize.infer.held.containers import NO_RESULT, ONE_INT, kept, mirror
from zygote_lite._specialize.infer.iteration.known import known_items
from zygote_lite._specialize.typed.abstract_eval import Result
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.contents import contents_in, holds_arrays, holds_record
from zygote_lite._specialize.typed.drafts import ONE_BY_ONE, collected, puts_outside
from zygote_lite._specialize.typed.effects import (
    add_at_the_end,
    append_at_the_end,
    append_left_at_the_end,
    entry_now,
    entry_or,
    extend_at_the_end,
    has_entry_now,
    length_now,
    put_at_the_end,
)
from zygote_lite._specialize.typed.facts import Fact, Other, Scalar, fact_of, join_facts
from zygote_lite._specialize.typed.nodes import leaves
from zygote_lite._specialize.typed.plugins import is_of_program
from zygote_lite._specialize.typed.reasons import NotSpecializable, NotSupported, Unsound
from zygote_lite._specialize.typed.stand_ins import Collector, Message, Method, StandIn
from zygote_lite._specialize.typed.structures import mapping, structure
from zygote_lite._specialize.typed.values import Value, constant

COLLECTING = (list, dict, set, deque, defaultdict, OrderedDict, Counter)
_KEYS_OUTSIDE = (str, int, bool, float, type(None))
_KEPT_AS_THEY_ARE = (str, bytes, int, float, bool, type(None))
_SOME_KEY = object()


def may_collect(builder: Builder, x: Any) -> bool:
    """Return whether the code can put into a container from outside."""
    busy = builder.plain or builder.inner or builder.twice or builder.compiled
    return type(x) in COLLECTING and not busy


def is_collected(builder: Builder, x: Any) -> bool:
    """Return whether it is known from an attempt before that the code puts into a container."""
    return collected(x) in builder.own and may_collect(builder, x)


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


def _put_last(builder: Builder, x: Value, value: Value) -> Value:
    return _put_at_end(builder, x, append_at_the_end, _as_put(builder, value))


def _put_first(builder: Builder, x: Value, value: Value) -> Value:
    return _put_at_end(builder, x, append_left_at_the_end, _as_put(builder, value))


def _put_several(builder: Builder, x: Value, more: Value) -> Value:
    items = known_items(more)
    if items is None or type(more.sample) not in (tuple, list):
        raise NotSupported.UNKNOWN_LENGTH("it extends a list by something of no fixed length")
    parts = structure(tuple, [_as_put(builder, item) for item in items])
    return _put_at_end(builder, x, extend_at_the_end, parts)


def _put_into_set(builder: Builder, x: Value, value: Value) -> Value:
    return _put_at_end(builder, x, add_at_the_end, _key_outside(value))


def put_outside(builder: Builder, x: Value, key: Value, value: Value) -> None:
    """Write `x[key] = value`, of a dict from outside."""
    of: Collector = x.sample
    if not issubclass(type(of.source), dict):
        raise of.refused()
    at = _known_or_any(_key_outside(key))
    given = _as_put(builder, value)
    is_active = any(leaf.active for leaf in leaves(value))
    if is_active and _may_be_one_of(at, of.read_again):
        raise _reads_active(of)
    if _may_be_one_of(at, of.parts):
        raise Unsound.WRITES_TO_GIVEN(
            "it replaces a list or dict that it did not create, and changes that, too"
        )
    of.put[at] = given
    if is_active:
        of.active.add(at)
    _put_at_end(builder, x, put_at_the_end, key, given)


def _put_entries(builder: Builder, x: Value, /, *xs: Value, **kws: Value) -> Value:
    for y in xs:
        if y.items is None or type(y.sample) is not dict:
            raise x.sample.refused()
        for key, value in zip(y.items[::2], y.items[1::2], strict=True):
            put_outside(builder, x, key, value)
    for name, value in kws.items():
        put_outside(builder, x, constant(name), value)
    return constant(None)


def _known_or_any(key: Value) -> Any:
    return key.sample if key.is_constant else _SOME_KEY


def _may_be_one_of(key: Any, keys: set[Any]) -> bool:
    """Return whether a key may be one of some, of which any may not be known."""
    return bool(keys) and (key is _SOME_KEY or _SOME_KEY in keys or key in keys)


def _key_outside(key: Value) -> Value:
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


# -- reading -------------------------------------------------------------------------------------


def _asked_outside(builder: Builder, x: Value, f: Any, result: Result, *xs: Value) -> Value:
    effects = effects_of(builder, "a change of a list, dict or set that it did not create")
    op = builder.write(result, f, [effects, x.sample.value, *xs], {})
    mirror(op, lambda builder, _: [], [])
    return op.target


def _length_outside(builder: Builder, x: Value) -> Value:
    if type(x.sample.source) is not list:
        raise x.sample.refused()
    return _asked_outside(builder, x, length_now, Result(ONE_INT.fact, len(x.sample.source)))


def entry_outside(builder: Builder, x: Value, key: Value, default: Value | None = None) -> Value:
    """Write `x[key]`, or `x.get(key, default)`: a number in a dict, or a container in it."""
    of: Collector = x.sample
    if not issubclass(type(of.source), dict):
        raise of.refused()
    at = _known_or_any(_key_outside(key))
    found = of.source.get(key.sample)
    if type(found) in COLLECTING and default is None:
        return _container_in(builder, x, at, found)
    if _may_be_one_of(at, of.active):
        raise _reads_active(of)
    if builder.loop is not None or builder.inputs.recursive:
        of.read_again.add(at)
    known = of.put.get(at)
    sample = known.sample if known is not None else found
    if sample is None and default is not None:
        sample = default.sample
    if sample is None and type(of.source) is Counter:
        sample = 0
    if sample is None and type(of.source) is defaultdict and of.source.default_factory in (
        int, float
    ):  # fmt: skip
        sample = of.source.default_factory()
    fact: Fact = fact_of(sample)
    if default is not None:
        if default.active or not default.is_scalar:
            raise of.refused()
        fact = join_facts(fact, default.fact)
    if not isinstance(fact, Scalar) or type(sample) is complex:
        raise of.refused()
    if default is None:
        return _asked_outside(builder, x, entry_now, Result(fact, sample, False), key)
    return _asked_outside(builder, x, entry_or, Result(fact, sample, False), key, default)


def _container_in(builder: Builder, x: Value, at: Any, found: Any) -> Value:
    """Return a container in a dict from outside, which is read at entry."""
    of: Collector = x.sample
    if type(at) not in (str, int) or _may_be_one_of(at, {*of.put}):
        raise of.refused()
    of.parts.add(at)
    of.is_changed = True  # or rather what is in it, if anything
    get = builder.inputs.name_for(dict.get, "o")
    return collector(builder, found, f"{get}({of.where}, {at!r})", "part", of.refused())


def _container_or(builder: Builder, x: Value, key: Value, default: Value) -> Value:
    found = x.sample.source.get(key.sample) if key.is_constant else None
    if type(found) not in COLLECTING:
        raise x.sample.refused()
    return _container_in(builder, x, _known_or_any(_key_outside(key)), found)


def _entry_or_none(builder: Builder, x: Value, key: Value, default: Value | None = None) -> Value:
    return entry_outside(builder, x, key, constant(None) if default is None else default)


def _reads_active(of: Collector) -> NotSpecializable:
    return Unsound.LOST_GRADIENT(
        f"it reads {an(type(of.source).__name__)} that it did not create, and puts into it what "
        "depends on a differentiated argument"
    )


def _has_key_outside(builder: Builder, x: Value, key: Value) -> Value:
    if not issubclass(type(x.sample.source), dict):
        raise x.sample.refused()
    _key_outside(key)
    result = Result(Scalar(frozenset((bool,))), key.sample in x.sample.source)
    return _asked_outside(builder, x, has_entry_now, result, key)


# -- calls ---------------------------------------------------------------------------------------


def method_of_collector(
    builder: Builder, x: Value, name: str, xs: list[Value], kws: dict[str, Value]
) -> Value:
    """Write the call of a method of a container from outside."""
    kind = type(x.sample.source)
    of = _METHODS_OUTSIDE.get((dict if issubclass(kind, dict) else kind, name))
    if of is None or (kws and name != "update") or (kind is Counter and name == "update"):
        raise x.sample.refused()
    f, counts = of
    if len(xs) not in counts:
        raise x.sample.refused()
    return f(builder, x, *xs, **kws)


_METHODS_OUTSIDE: dict[tuple[type, str], tuple[Callable[..., Value], tuple[int, ...]]] = {
    (list, "append"): (_put_last, (1,)), (list, "extend"): (_put_several, (1,)),
    (deque, "append"): (_put_last, (1,)), (deque, "extend"): (_put_several, (1,)),
    (deque, "appendleft"): (_put_first, (1,)),
    (set, "add"): (_put_into_set, (1,)), (dict, "update"): (_put_entries, (0, 1)),
    (dict, "get"): (_entry_or_none, (1, 2)), (dict, "setdefault"): (_container_or, (2,)),
}  # fmt: skip


def of_collectors(
    builder: Builder, f: Any, xs: list[Value], kws: dict[str, Value], stem: str
) -> Value | None:
    """Answer for a call that is given a container from outside that the code puts into."""
    if not builder.inputs.collectors:
        return None
    given = [*xs, *kws.values()]
    within = [leaf for x in given for leaf in leaves(x) if is_collector(leaf)]
    is_followed = isinstance(f, types.FunctionType) and is_of_program(f)
    if not within or isinstance(f, StandIn):
        return None
    if is_followed and not why(f):  # a rule is for what the container is
        return None
    x = xs[0] if xs and is_collector(xs[0]) else None
    is_identity = f is operator.is_ or f is operator.is_not
    if is_identity and any(y.is_constant and y.sample is None for y in xs):
        return constant(f is operator.is_not)
    if x is not None and not kws:
        if f is len:
            return _length_outside(builder, x)
        if f is operator.iadd and type(x.sample.source) is list and not is_collector(xs[1]):
            _put_several(builder, x, xs[1])
            return x
        if f is operator.contains and not is_collector(xs[1]):
            return _has_key_outside(builder, x, xs[1])
        if f is isinstance and type(xs[1].sample) is type and xs[1].sample in COLLECTING:
            return constant(isinstance(x.sample.source, xs[1].sample))
    raise within[0].sample.refused()


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
