"""Containers from outside that the code puts into: what it may ask them, and calls with them."""

import operator
import types
from collections import Counter, defaultdict, deque
from collections.abc import Callable
from typing import Any

from rulescore import why
from zygote_lite._specialize.infer.effects.collectors import (
    COLLECTING,
    collector,
    is_collector,
    key_in_collector,
    key_outside,
    known_or_any,
    may_be_one_of,
    put_entries,
    put_first,
    put_into_set,
    put_last,
    put_several,
    reads_what_is_active,
)
from zygote_lite._specialize.infer.effects.waiting import effects_of
from zygote_lite._specialize.infer.held.containers import ONE_INT, mirror
from zygote_lite._specialize.typed.abstract_eval import Result
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.effects import (
    entry_now,
    entry_or,
    has_entry_now,
    item_now,
    length_now,
)
from zygote_lite._specialize.typed.facts import Fact, Scalar, fact_of, join_facts
from zygote_lite._specialize.typed.nodes import leaves
from zygote_lite._specialize.typed.plugins import is_of_program
from zygote_lite._specialize.typed.stand_ins import Collector, StandIn
from zygote_lite._specialize.typed.values import Value, constant


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
    """Write `x[key]`, or `x.get(key, default)`: a number in a dict, or a container in it.

    Of a list, a number in it.
    """
    of: Collector = x.sample
    at, is_list = key_in_collector(of, key), type(of.source) is list
    found = _item_now(of.source, key.sample) if is_list else of.source.get(key.sample)
    if type(found) in COLLECTING and default is None and not is_list:
        return _container_in(builder, x, at, found)
    if may_be_one_of(at, of.active):
        raise reads_what_is_active(of)
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
        f = item_now if is_list else entry_now
        return _asked_outside(builder, x, f, Result(fact, sample, False), key)
    return _asked_outside(builder, x, entry_or, Result(fact, sample, False), key, default)


def _item_now(x: list[Any], index: int) -> Any:
    return x[index] if -len(x) <= index < len(x) else None


def _container_in(builder: Builder, x: Value, at: Any, found: Any) -> Value:
    """Return a container in a dict from outside, which is read at entry."""
    of: Collector = x.sample
    if type(at) not in (str, int) or may_be_one_of(at, {*of.put}):
        raise of.refused()
    of.parts.add(at)
    of.is_changed = True  # or rather what is in it, if anything
    get = builder.inputs.name_for(dict.get, "o")
    return collector(builder, found, f"{get}({of.where}, {at!r})", "part", of.refused())


def _container_or(builder: Builder, x: Value, key: Value, default: Value) -> Value:
    found = x.sample.source.get(key.sample) if key.is_constant else None
    if type(found) not in COLLECTING:
        raise x.sample.refused()
    return _container_in(builder, x, known_or_any(key_outside(key)), found)


def _entry_or_none(builder: Builder, x: Value, key: Value, default: Value | None = None) -> Value:
    return entry_outside(builder, x, key, constant(None) if default is None else default)


def _has_key_outside(builder: Builder, x: Value, key: Value) -> Value:
    if not issubclass(type(x.sample.source), dict):
        raise x.sample.refused()
    key_outside(key)
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
    (list, "append"): (put_last, (1,)), (list, "extend"): (put_several, (1,)),
    (deque, "append"): (put_last, (1,)), (deque, "extend"): (put_several, (1,)),
    (deque, "appendleft"): (put_first, (1,)),
    (set, "add"): (put_into_set, (1,)), (dict, "update"): (put_entries, (0, 1)),
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
            put_several(builder, x, xs[1])
            return x
        if f is operator.contains and not is_collector(xs[1]):
            return _has_key_outside(builder, x, xs[1])
        if f is isinstance and type(xs[1].sample) is type and xs[1].sample in COLLECTING:
            return constant(isinstance(x.sample.source, xs[1].sample))
    raise within[0].sample.refused()
