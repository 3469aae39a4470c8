"""Loops in typed code: the iterables, and the variables carried from iteration to iteration."""

import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from zygote_lite._ir import nodes as ir
from zygote_lite._specialize.infer.forms import (
    UNKNOWN_YET,
    Entry,
    Form,
    Parts,
    form_of,
    is_stable,
    join_forms,
    may_be_unset,
    moves_to,
    note_unset,
    settle_lists,
    variable_of,
    variables_in,
    with_entries,
    without_unchanged,
)
from zygote_lite._specialize.infer.models.items import Several, known_items
from zygote_lite._specialize.infer.normalize import (
    Walk,
    assigned,
    live_in_loop,
)
from zygote_lite._specialize.infer.tries import has
from zygote_lite._specialize.typed.builder import Builder, End, Env, Tables
from zygote_lite._specialize.typed.facts import ListOf, Other, Scalar
from zygote_lite._specialize.typed.naming import is_place, stem_of
from zygote_lite._specialize.typed.nodes import (
    Append,
    Branch,
    Loop,
    Moves,
    Node,
    Op,
    add_at_ends,
    inner_blocks,
    is_made_in,
    leaves,
)
from zygote_lite._specialize.typed.reasons import NotSpecializable, NotSupported, Unsound
from zygote_lite._specialize.typed.runtime import UNSET, abandon
from zygote_lite._specialize.typed.stand_ins import LOST
from zygote_lite._specialize.typed.structures import structure
from zygote_lite._specialize.typed.values import Value, constant

_Forms = dict[str, Form]
_MOST_SAMPLES = 100_000  # items of the sample of a list
_MOST_UNROLLED = 64  # iterations of a loop that is unrolled


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
            if builder.twice and len(iterable.sample) <= _MOST_UNROLLED:
                raise NotSupported.SECOND_ORDER("a loop that is differentiated twice")
            return _over(builder, s, target, iterable, body, env, after)
        except NotSpecializable:
            if len(iterable.sample) > _MOST_UNROLLED:
                raise
            builder.go_back_to(tables)
            items = [constant(i) for i in iterable.sample]
    if items is None:
        return _over(builder, s, target, iterable, body, env, after)
    if len(items) > _MOST_UNROLLED:
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
        unrolled = counter.iterable.is_constant and len(counter.iterable.sample) <= _MOST_UNROLLED
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


def repeat(
    builder: Builder, s: ir.Statement, counter: Any, body: Any, env: Env,
    after: set[str], start: Callable[[Env, Any], Env],
    assigned_more: frozenset[str] | set[str] = frozenset(),
) -> Env:  # fmt: skip
    """Write a loop. What it carries is found by writing it until nothing changes."""
    # What holds for a variable at the start of an iteration depends on its end, which depends on
    # its start: `s = 0` may become a float, or active, in the body. So the body is written from
    # what holds before the loop, what holds at its ends is joined to that, and it is written again
    # until nothing is added. Joins only lose knowledge, so this comes to an end; what was written
    # on wrong assumptions is thrown away, with its names, inputs and writes.
    head = live_in_loop(body, after)
    tables = builder.tables()
    env = {**env, **builder.places(tables)}  # attributes are carried that the loop changes
    carried = sorted((assigned(body) | assigned_more) & ((head - assigned_more) | after))
    origin = builder.origin
    forms = _joined_ends(builder, {}, [env], carried)
    # The engine's own variables (a result, and the flag that it is there) may have no value before
    # the loop, and be read in it behind the flag. A rehearsal writes the first iteration with the
    # values from before the loop: the flag is known, so the read is not reached, and the end of the
    # iteration tells what the variable is. The rehearsal itself is thrown away.
    is_first = any(name in head and name not in env and builder.is_ours(name) for name in carried)
    depth = len(builder.grown)
    builder.grown.append({})
    while True:
        used = set(builder.used)
        written, mark = dict(builder.written), len(builder.changed)
        loop, ends, phis = _turn(
            builder, counter, body, env, after, carried, forms, start, tables, is_first
        )
        more, lost = _attributes_carried(builder, env, ends, carried, forms)
        kept = {name: form for name, form in forms.items() if name not in lost}
        found = _joined_ends(builder, kept, ends, [name for name in carried if name not in lost])
        settled = all(is_stable(found[name], forms.get(name)) for name in found)
        unchanged = all(is_made_in(x, loop) for x in builder.changed[mark:])
        if settled and unchanged and not (more or lost or is_first):
            found = _without_unchanged(found, phis, env, ends)
            if all(is_stable(found[name], forms.get(name)) for name in found):
                break
        forms, is_first = found | _joined_ends(builder, {}, [env], [*more]), False
        carried = sorted({*carried} - lost | more)
        env |= dict.fromkeys(lost, LOST)
        builder.go_back_to(tables)
        builder.used = used
        builder.written = written
    for x, length in builder.grown[depth].items():
        _give_length(x, length + _appended(loop, x))
    del builder.grown[depth:]
    builder.note_moved([env[name] for name in carried if name in env])
    builder.out.append(Moves(origin, [
        pair for name in carried if name in env for pair in moves_to(phis[name], env[name])
    ]))  # fmt: skip
    builder.out.append(loop)
    for name in [name for name in carried if name not in env]:
        # none of our own is read too early
        nothing = constant(None if builder.is_ours(name) else UNSET)
        for phi in variables_in(phis[name]):
            builder.out.insert(-1, Moves(origin, [(phi, nothing)]))
    outs = {phi: _after(builder, phi) for phi in loop.phis}
    loop.outs += outs.values()
    env |= {name: with_entries(phi, outs) for name, phi in phis.items()}
    builder.put_in_places(tables, env)
    return _without_places(env)


def _attributes_carried(
    builder: Builder, env: Env, ends: list[Env], carried: list[str], forms: _Forms
) -> tuple[set[str], set[str]]:
    """Return the attributes that a loop has to carry, too, and those that no variable can be."""
    changed = {
        name for end in ends for name in end
        if is_place(name) and name not in carried and env.get(name) not in (LOST, end[name])
    }  # fmt: skip
    lost = set()
    for name in changed | {*filter(is_place, carried)}:
        if name not in env:  # it is first set in the loop
            lost.add(name)
            continue
        try:
            _joined_ends(builder, forms, [env, *ends], [name])
        except NotSpecializable:
            lost.add(name)
    return changed - lost, lost


def _without_places(env: Env) -> Env:
    return {name: x for name, x in env.items() if not is_place(name)}


def _appended(node: Node, x: Value) -> int:
    """Return how many items the code appends to a list, for the arguments of this call."""
    if isinstance(node, Append):
        return int(node.array is x)
    counts = [sum(_appended(inner, x) for inner in block) for block in inner_blocks(node)]
    if isinstance(node, Loop) and node.iterable is not None:
        return counts[0] * len(node.iterable.sample)
    return max(counts, default=0)


def _give_length(x: Value, length: int) -> None:
    """Give the sample of a list the length that it has after a loop, where that is not too long."""
    if 0 < length < _MOST_SAMPLES:
        del x.sample[length:]
        x.sample.extend(x.sample[-1:] * (length - len(x.sample)))


def _after(builder: Builder, phi: Value) -> Value:
    """Return a carried variable after the loop."""
    out = Value(phi.fact, phi.sample, phi.name)
    out.active, out.scope, out.reverse = phi.active, builder.loop, builder.reverse
    if phi in builder.uncertain:
        builder.uncertain.add(out)
    return out


def _joined_ends(
    builder: Builder, forms: _Forms, ends: list[Env], carried: list[str]
) -> _Forms:  # fmt: skip
    """Return what holds for the variables that a loop carries, at some ends of its body too."""
    found = dict(forms)
    for end in ends:
        if isinstance(end, End):
            builder.go_back_to(end.tables)
        for name in [name for name in carried if name in end]:
            settle_lists(builder, end[name])
            form = form_of(builder, end[name])
            found[name] = _joined_form(builder, found.get(name), form, name)
    return found


def _joined_form(builder: Builder, known: Form | None, form: Form, name: str) -> Form:
    return form if known is None else join_forms(builder, known, form, name, later=True)


def _without_unchanged(
    forms: _Forms, phis: Env, env: Env, ends: list[Env]
) -> _Forms:  # fmt: skip
    """Return what holds where entries of structures that do not change are not carried."""
    return {
        name: without_unchanged(form, phis[name], env[name], [end[name] for end in ends])
        if isinstance(form, Parts) and name in env and all(name in end for end in ends)
        else form
        for name, form in forms.items()
    }


def _turn(
    builder: Builder, counter: Any, body: Any, env: Env, after: set[str],
    carried: list[str], forms: _Forms, start: Callable[[Env, Any], Env], tables: Tables,
    is_first: bool = False,
) -> tuple[Loop, list[Env], Env]:  # fmt: skip
    """Write a loop, given what holds for the variables that it carries.

    In a rehearsal (`is_first`) they have the values from before the loop.
    """
    loop = Loop(builder.origin, None, None, [], [], [], builder.loop)
    if counter is not None:
        loop.iterable = counter.iterable
    turn = dict(env)
    ends: list[Env] = []
    builder.loop = loop
    if counter is not None:
        loop.target = counter.begin(builder)
    names: dict[str, Value] = {}

    def carry(entry: Entry, stem: str) -> Value:
        phi = builder.value(entry.fact, entry.sample, stem)
        phi.active = entry.active
        loop.phis.append(phi)
        return phi

    for name in carried:
        names[name] = phi = variable_of(forms.get(name, UNKNOWN_YET), carry, stem_of(name))
        if name in forms:
            turn[name] = env[name] if is_first else phi
        else:
            turn.pop(name, None)
        if not builder.is_ours(name) and may_be_unset(builder, env.get(name)):
            note_unset(builder, name, phi)
    builder.breaks.append((names, ends, tables))

    builder.put_in_places(tables, turn)
    turn = _without_places(turn)

    def work() -> Env | None:
        return builder.block(body, start(turn, loop.target), live_in_loop(body, after) | after)

    try:
        loop.body, end = builder.nested(work)
    finally:
        builder.breaks.pop()
        builder.loop = loop.outer
    if end is not None:
        end = End(end | builder.places(tables), builder.tables())
        ends.append(end)
        pairs = [pair for n in carried if n in end for pair in moves_to(names[n], end[n])]
        builder.note_moved([source for _, source in pairs])
        add_at_ends(loop.body, builder.origin, pairs, loop)
    return loop, ends, names


def is_left(body: list[ir.Statement]) -> bool:
    """Return whether a loop may be left by `break`."""
    return has(body, ir.Break)


# -- what is walked over -------------------------------------------------------------------------


@dataclass(eq=False)
class Counter:
    """The counter of a loop: a range, and the first index as its sample."""

    iterable: Value
    stem: str
    sample: int

    def begin(self, builder: Builder) -> Value:
        """Return the loop variable, a new one each time that the loop is written."""
        return builder.value(Scalar(frozenset((int,))), self.sample, self.stem)


def counted(builder: Builder, x: Value, stem: str) -> tuple[Counter, Callable[[Value], Value]]:
    """Return the counter of a loop, and the function that gives the element of an iteration."""
    if type(x.sample) is range:
        sample = x.sample[0] if len(x.sample) else x.sample.start
        return Counter(x, stem, sample), lambda i: i
    length, element = _elements(builder, x, stem)
    whole = builder.apply(range, [length])
    return Counter(whole, "i", 0), element


def _demand_equal(builder: Builder, n: Value, other: Value) -> None:
    """Leave the code if two lengths differ."""
    differ = builder.apply(operator.ne, [n, other])
    if differ.is_constant:
        if differ.sample:
            raise Unsound.RAISES("the arguments of a strict `zip` have different lengths")
        return
    leave_where(builder, differ)


def leave_where(builder: Builder, test: Value) -> None:
    """Leave the code where a test holds."""
    nothing = builder.value(Other(type(None)), None)
    leave = Op(builder.origin, nothing, abandon, [], required=True)
    builder.out.append(Branch(builder.origin, test, [leave], []))


def lists_of(x: Value) -> list[Value]:
    """Return the lists of unknown length that an iterable walks over."""
    if isinstance(x.sample, Several):
        return [y for part in x.sample.parts for y in lists_of(part)]
    return [x] if isinstance(x.fact, ListOf) else []


def _elements(builder: Builder, x: Value, stem: str = "") -> tuple[Value, Callable[[Value], Value]]:
    """Return the length of an iterable, and a function from an index to the element."""
    if x.is_array or isinstance(x.fact, ListOf):
        return builder.apply(len, [x]), lambda i: builder.item(x, i, stem)
    if isinstance(x.sample, Several):
        several = x.sample
        parts = [_elements(builder, part) for part in several.parts]
        if several.kind == "enumerate":
            return parts[0][0], lambda i: structure(tuple, [i, parts[0][1](i)])
        if several.kind in ("zip", "strict zip"):
            length = parts[0][0]
            if several.kind == "strict zip":
                for other, _ in parts[1:]:
                    _demand_equal(builder, length, other)
            elif parts[1:]:
                length = builder.apply(min, [n for n, _ in parts])
            return length, lambda i: structure(tuple, [at(i) for _, at in parts])
    raise NotSupported.ITERATION(f"it iterates over a {type(x.sample).__name__}")
