"""`for` loops: unrolled over known items, or written once, after a first iteration of its own."""

import operator
from dataclasses import replace
from typing import Any

from zygote_lite._ir import nodes as ir
from zygote_lite._specialize.infer.counters import Counter, counted, leave_where, lists_of
from zygote_lite._specialize.infer.loops import repeat
from zygote_lite._specialize.infer.models.items import known_items
from zygote_lite._specialize.infer.normalize import Walk, live_in_loop
from zygote_lite._specialize.infer.ownership import UNROLLED
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.drafts import Env
from zygote_lite._specialize.typed.naming import stem_of
from zygote_lite._specialize.typed.nodes import leaves
from zygote_lite._specialize.typed.reasons import NotSpecializable, NotSupported, Unsound
from zygote_lite._specialize.typed.values import Value, constant

MOST_UNROLLED = 64  # iterations of a loop that is unrolled


def iterate(
    builder: Builder,
    s: Walk,
    target: str,
    iterable: Value,
    body: Any,
    env: Env,
    after: set[str],
) -> Env | None:
    items, tables = known_items(iterable), builder.tables()
    if items is None and type(iterable.sample) is range and iterable.is_constant:
        try:
            if builder.twice and len(iterable.sample) <= MOST_UNROLLED:
                raise NotSupported.SECOND_ORDER("a loop that is differentiated twice")
            if (UNROLLED, builder.origin) in builder.own:
                raise Unsound.SHARED_WRITE("an array that it writes to has two names")
            return _over(builder, s, target, iterable, body, env, after)
        except NotSpecializable:
            if len(iterable.sample) > MOST_UNROLLED:
                raise
            builder.go_back_to(tables)
            items = [constant(i) for i in iterable.sample]
    if items is None:
        return _over(builder, s, target, iterable, body, env, after)
    if len(items) > MOST_UNROLLED:
        raise NotSupported.TOO_LONG("a loop walks over a long structure")
    walked = len(builder.walked)
    builder.walked += builder.iterators.get(iterable, [])
    if type(iterable.sample) in (dict, list):  # Python looks at what it holds by then
        builder.walked.append(iterable)
    builder.walked += [leaf for item in items for leaf in leaves(item) if leaf.is_array]
    turn, place = body, target
    if s.left:
        place = s.item
        turn = [ir.If(s.origin, ir.Name(s.left), [], [
            ir.Move(s.origin, target, ir.Name(place)), *_without_break(body)
        ])]  # fmt: skip
    try:
        for item in items:
            env[place] = item
            done = builder.block(turn, env, live_in_loop(turn, after) | after)
            if done is None:
                return None
            env = done
    finally:
        del builder.walked[walked:]
    return env


def _without_break(body: list[ir.Statement]) -> list[ir.Statement]:
    """Return an iteration of an unrolled loop: a flag tells that it was left."""
    turn: list[ir.Statement] = []
    for s in body:
        if isinstance(s, ir.If):
            then, orelse = map(_without_break, (s.body, s.orelse))
            turn.append(replace(s, body=then, orelse=orelse))
        elif not isinstance(s, ir.Break):
            turn.append(s)
    return turn


def _over(
    builder: Builder,
    s: Walk,
    target: str,
    iterable: Value,
    body: Any,
    env: Env,
    after: set[str],
) -> Env | None:
    walked, tables = len(builder.walked), builder.tables()
    builder.walked += lists_of(iterable)
    counter, element = counted(builder, iterable, stem_of(target))

    def start(turn: Env, place: Any) -> Env:
        turn[target] = element(place)
        return turn

    try:
        return repeat(builder, s, counter, body, env, after, start, assigned_more={target})
    except NotSpecializable as reason:
        unrolled = counter.iterable.is_constant and len(counter.iterable.sample) <= MOST_UNROLLED
        if reason.reason not in _KINDS_DIFFER or s.left or unrolled:
            raise
        builder.go_back_to(tables)
        parts = _first_and_rest(builder, counter.iterable)
        if parts is None:
            raise
        # `total = 0` or `last = None` is of its kind from the first iteration on
        first, rest = parts
        one = builder.block(body, start(dict(env), first), live_in_loop(body, after) | after)
        if one is None:
            raise
        following = Counter(rest, counter.stem, first.sample + 1)
        return repeat(builder, s, following, body, one, after, start, assigned_more={target})
    finally:
        del builder.walked[walked:]


_KINDS_DIFFER = (NotSupported.DEPENDS_ON_PATH, Unsound.IDENTITY)


def _first_and_rest(builder: Builder, x: Value) -> tuple[Value, Value] | None:
    """Return the first number of a range, and the range of the others; leave where it is empty."""
    if x.is_constant:
        return (constant(x.sample[0]), constant(x.sample[1:])) if x.sample else None
    made = builder.definitions.get(x)
    if made is None or made.function is not range or len(made.arguments) > 2 or not x.sample:
        return None
    start, stop = made.arguments if len(made.arguments) == 2 else (constant(0), *made.arguments)
    leave_where(builder, builder.apply(operator.le, [stop, start]))
    return start, builder.apply(range, [builder.apply(operator.add, [start, constant(1)]), stop])
