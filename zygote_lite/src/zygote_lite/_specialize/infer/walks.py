"""`for` loops: unrolled over known items, or written once, after a first iteration of its own."""

import contextlib
import itertools
import operator
from dataclasses import replace
from typing import Any

from zygote_lite._ir import nodes as ir
from zygote_lite._specialize.infer.branches import PathState
from zygote_lite._specialize.infer.counters import Counter, counted, leave_where, lists_of
from zygote_lite._specialize.infer.held.containers import is_held
from zygote_lite._specialize.infer.iteration.generators import MOST_UNROLLED, is_new
from zygote_lite._specialize.infer.iteration.iterators import (
    Items,
    end,
    is_iterator,
    lose,
    source_of_loop,
)
from zygote_lite._specialize.infer.iteration.known import Several, known_items, strict_zip
from zygote_lite._specialize.infer.iteration.own import is_own
from zygote_lite._specialize.infer.iteration.written import without_break, written_into
from zygote_lite._specialize.infer.loops import repeat
from zygote_lite._specialize.infer.models.arrays import one_by_one, parts_of_array, settled_length
from zygote_lite._specialize.infer.models.subclasses import plainly_held
from zygote_lite._specialize.infer.writes import UNROLLED
from zygote_lite._specialize.normalize.blocks import has
from zygote_lite._specialize.normalize.exits import Walk, live_in_loop
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.contents import contents_in, root_of
from zygote_lite._specialize.typed.drafts import Env
from zygote_lite._specialize.typed.naming import stem_of
from zygote_lite._specialize.typed.nodes import Node, StoreItem, leaves, walk
from zygote_lite._specialize.typed.reasons import NotSpecializable, NotSupported, Unsound
from zygote_lite._specialize.typed.runtime import has_length
from zygote_lite._specialize.typed.structures import structure
from zygote_lite._specialize.typed.values import Value, constant


def iterate(
    builder: Builder,
    s: Walk,
    target: str,
    iterable: Value,
    body: Any,
    env: Env,
    after: set[str],
) -> Env | None:
    """Write a `for` loop; return the variables after it, or `None` if that is not reached."""
    iterable = one_by_one(builder, plainly_held(builder, iterable))
    homes, tables = dict(builder.homes), builder.tables()
    if is_iterator(iterable):
        it = builder.iterator(iterable)
        return _of_iterator(builder, s, target, it, body, env, after)
    if type(iterable.sample) is range and iterable.is_constant:
        try:
            if builder.twice and len(iterable.sample) <= MOST_UNROLLED:
                raise NotSupported.SECOND_ORDER("it takes a second derivative of a loop")
            if (UNROLLED, builder.origin) in builder.own:
                raise Unsound.SHARED_WRITE(
                    "an array that it writes to has two names: write to a copy"
                )
            return _over(builder, s, target, iterable, body, env, after)
        except NotSpecializable:
            if len(iterable.sample) > MOST_UNROLLED:
                raise
            builder.go_back_to(tables)
            builder.homes = homes
    elif known_items(iterable) is None and not (iterable.is_object or is_own(iterable)):
        state = PathState(builder)
        try:
            return _over(builder, s, target, iterable, body, env, after)
        except NotSpecializable:
            if not builder.guesses or builder.plain or not _is_short(iterable):
                raise
        builder.guesses -= 1
        state.restore()
        arrays, block, start = _arrays_walked(iterable), builder.out, len(builder.out)
        iterable = _of_this_length(builder, iterable)
        done = iterate(builder, s, target, iterable, body, env, after)
        _refuse_written_while_walked(builder, arrays, block[start:])
        return done
    elif len(known_items(iterable) or ()) > MOST_UNROLLED:
        raise NotSupported.TOO_LONG("a loop iterates over a long tuple, list or dict: use an array")
    it = builder.iterator(iterable)
    if isinstance(it.sample, Items):
        return _unrolled(builder, s, target, it, body, env, after)
    return _of_iterator(builder, s, target, it, body, env, after)


def _arrays_walked(x: Value) -> list[Value]:
    """Return the arrays that a loop walks over."""
    if isinstance(x.sample, Several):
        return [array for part in x.sample.parts for array in _arrays_walked(part)]
    return [x] if x.is_array else []


def _refuse_written_while_walked(builder: Builder, arrays: list[Value], nodes: list[Node]) -> None:
    """Refuse a loop that writes to an array whose entries were read before its first iteration."""
    walked = {builder.storage(x) for x in arrays}
    written = {builder.storage(n.array) for n in walk(nodes) if isinstance(n, StoreItem)}
    if walked & written:
        raise Unsound.CHANGES_WHAT_IT_WALKS(
            "it writes to an array while it iterates over it: iterate over a copy"
        )


def _is_short(x: Value) -> bool:
    """Return whether few enough entries can be walked over one by one."""
    if isinstance(x.sample, Several):
        parts = [part for part in x.sample.parts if known_items(part) is None]
        return x.sample.kind in _TAKEN_APART and all(map(_is_short, parts))
    counted = type(x.sample) is range or (x.is_array and not x.has_no_axes)
    return counted and len(x.sample) <= MOST_UNROLLED


_TAKEN_APART = {"zip": zip, "strict zip": strict_zip, "enumerate": enumerate, "reversed": reversed}


def _of_iterator(
    builder: Builder, s: Walk, target: str, it: Value, body: Any, env: Env, after: set[str]
) -> Env | None:
    """Write a loop over an iterator, of which something may have been taken before."""
    if is_new(it):
        if not it.sample.steps:
            return written_into(builder, s, target, it, body, env, after)
        tables, state = builder.tables(), builder.attempt()
        try:
            return written_into(builder, s, target, it, body, env, after)
        except NotSpecializable as reason:
            builder.give_up(state)
            builder.go_back_to(tables)
            try:
                return _unrolled(builder, s, target, it, body, env, after)
            except NotSpecializable:
                raise reason from None
    source = source_of_loop(it)
    if source is None:
        return _unrolled(builder, s, target, it, body, env, after)
    lose(it)  # nobody else may ask it meanwhile
    done = iterate(builder, s, target, source, body, env, after)
    # a flag that nobody reads later is not carried: it is what it was before the loop
    if done is not None and (not s.left or (s.left in after and is_false(done.get(s.left)))):
        end(it)
    return done


def is_false(flag: Value | None) -> bool:
    """Return whether it is known that a loop was not left."""
    return flag is None or (flag.is_constant and not flag.sample)


def _unrolled(
    builder: Builder, s: Walk, target: str, it: Value, body: Any, env: Env, after: set[str]
) -> Env | None:
    """Write a loop once for each element that an iterator gives."""
    turn, place, walked = body, target, len(builder.walked)
    if s.left:
        place = s.item
        turn = [ir.If(s.origin, ir.Name(s.left), [], [
            ir.Move(s.origin, target, ir.Name(place)), *without_break(body)
        ])]  # fmt: skip
    needed = live_in_loop(turn, after) | after
    for count in itertools.count():
        left = env.get(s.left)
        if left is not None and left.is_constant and left.sample:
            return env
        if not is_false(left) and not isinstance(it.sample, Items):
            raise NotSupported.DEPENDS_ON_PATH(
                "how far an iterator has run is different after two branches"
            )
        item = builder.advance(it)
        if item is None:
            break
        if count >= MOST_UNROLLED:
            raise NotSupported.TOO_LONG("a loop iterates over too many elements of an iterator")
        builder.walked += [leaf for leaf in (*leaves(item), *leaves(it)) if leaf.is_array]
        try:
            done = builder.block(turn, {**env, place: item}, needed)
        finally:
            del builder.walked[walked:]
        if done is None:
            return None
        env = done
    if not is_false(env.get(s.left)):
        lose(it)
    return env


def loop_while(
    builder: Builder, s: ir.Statement, body: list[ir.Statement], env: Env, after: set[str]
) -> Env | None:
    """Write a `while` loop; unrolled where its tests are known, and it cannot be written once."""
    tables, state, depth = builder.tables(), builder.attempt(), len(builder.grown)
    settled = {x for x in builder.objects if x.moved}

    def give_up() -> None:
        lists = builder.inputs.lists
        builder.give_up(state)
        builder.inputs.lists = lists

    if builder.guesses and not isinstance(s, AfterFirst):  # or its first test would be guessed
        with contextlib.suppress(NotSpecializable):
            return _turn_by_turn(builder, s, body, dict(env), after)
        give_up()
        builder.go_back_to(tables)
    try:
        return repeat(builder, s, None, body, env, after, lambda turn, _: turn)
    except NotSpecializable as reason:
        give_up()
        builder.go_back_to(tables)
        del builder.grown[depth:]
        for x in builder.objects:
            x.moved = x in settled
        for write in () if isinstance(s, AfterFirst) else (_turn_by_turn, _after_the_first):
            if write is _after_the_first and reason.reason not in _KINDS_DIFFER:
                break
            try:
                return write(builder, s, body, dict(env), after)
            except NotSpecializable:
                give_up()
                builder.go_back_to(tables)
        raise


def _turn_by_turn(
    builder: Builder, s: ir.Statement, body: list[ir.Statement], env: Env, after: set[str]
) -> Env | None:
    """Write the iterations of a `while` loop one after another."""
    turn = [ir.Move(s.origin, _STAYS, ir.Const(True)), *_with_flag(body)]
    around, needed = env.get(_STAYS), live_in_loop(body, after) | after | {_STAYS}
    for _ in range(MOST_UNROLLED):
        done = builder.block(turn, env, needed)
        if done is None:
            return None
        env = done
        if not env[_STAYS].is_constant:
            break
        if not env[_STAYS].sample:
            return env if around is None else {**env, _STAYS: around}
    raise NotSupported.TOO_LONG(
        "a `while` loop has too many iterations, or its variables change their types"
    )


def _after_the_first(
    builder: Builder, s: ir.Statement, body: list[ir.Statement], env: Env, after: set[str]
) -> Env | None:
    """Write a `while` loop after a first iteration, which gives variables their kinds."""
    rest = AfterFirst(s.origin, [], ir.Const(True), body, [])
    first = _followed_by(body, rest)
    if has(first, ir.Break) or sum(x is rest for x in ir.every(first)) > _MOST_COPIES:
        raise NotSupported.STATEMENT("an iteration of a `while` loop has too many ends")
    return builder.block(first, env, after)


class AfterFirst(ir.While):
    """A `while` loop whose first iteration is written before it."""


_MOST_COPIES = 2


def _followed_by(body: list[ir.Statement], rest: ir.Statement) -> list[ir.Statement]:
    """Return an iteration of a `while` loop with the loop at its ends, where it is not left."""
    last = body[-1] if body else None
    if isinstance(last, ir.Break):
        return body[:-1]
    if isinstance(last, ir.If) and has([last], ir.Break):
        paths = [_followed_by(path, rest) for path in (last.body, last.orelse)]
        return [*body[:-1], replace(last, body=paths[0], orelse=paths[1])]
    return [*body, rest]


_STAYS = "@own_stays"  # whether a `while` loop goes on


def _with_flag(body: list[ir.Statement]) -> list[ir.Statement]:
    """Return an iteration of a `while` loop that tells by a flag that the loop is left."""
    return [
        replace(s, body=_with_flag(s.body), orelse=_with_flag(s.orelse))
        if isinstance(s, ir.If)
        else ir.Move(s.origin, _STAYS, ir.Const(False))
        if isinstance(s, ir.Break)
        else s
        for s in body
    ]


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
    sizes, resized = len(builder.sizes), len(builder.resized)
    builder.walked += lists_of(iterable)
    counter, element = counted(builder, iterable, stem_of(target))

    def start(turn: Env, place: Any) -> Env:
        turn[target] = element(place)
        return turn

    def checked(done: Env | None) -> Env | None:
        _refuse_resized(builder, builder.walked[walked:], resized)
        for x, size in builder.sizes[sizes:]:
            builder.demand(has_length, x, size)
        return done

    try:
        return checked(repeat(builder, s, counter, body, env, after, start, {target}))
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
        return checked(repeat(builder, s, following, body, one, after, start, {target}))
    finally:
        del builder.walked[walked:], builder.sizes[sizes:]


def _of_this_length(builder: Builder, x: Value) -> Value:
    """Return a range or an array as one of this length, and leave the code where it has another."""
    if x.is_array:
        return structure(tuple, parts_of_array(builder, x))
    if isinstance(x.sample, Several):
        parts = [p if known_items(p) else _of_this_length(builder, p) for p in x.sample.parts]
        return builder.apply(_TAKEN_APART[x.sample.kind], parts)
    if x.is_constant:
        return x
    made = builder.definitions.get(x)
    if made is None or made.function is not range:
        raise NotSupported.UNKNOWN_LENGTH(
            "it iterates over a range that it did not create: write `range(...)` in the loop"
        )
    return constant(range(*[settled_length(builder, n).sample for n in made.arguments]))


def _refuse_resized(builder: Builder, walked: list[Value], since: int) -> None:
    """Refuse a loop that gives another length to a container that it walks over."""
    now = {root_of(contents) for contents in builder.resized[since:]}
    if any(is_held(x) and contents_in(x) in now for x in walked):
        raise Unsound.CHANGES_WHAT_IT_WALKS(
            "it changes the length of a list or a dict while it iterates over it"
        )


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
