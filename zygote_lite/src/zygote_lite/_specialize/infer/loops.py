"""Loops in typed code, and the variables carried from iteration to iteration."""

from collections.abc import Callable
from typing import Any

from zygote_lite._ir import nodes as ir
from zygote_lite._specialize.infer.forms import (
    UNKNOWN_YET,
    Entry,
    Form,
    Parts,
    entry_value,
    form_of,
    hold_all,
    is_absent,
    is_stable,
    join_forms,
    may_be_unset,
    moves_to,
    note_origin,
    note_unset,
    settle_lists,
    variable_of,
    variables_in,
    with_entries,
    without_unchanged,
)
from zygote_lite._specialize.infer.nothing import is_constant_none, may_be_nothing
from zygote_lite._specialize.normalize.blocks import has
from zygote_lite._specialize.normalize.exits import assigned, live_in_loop
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.drafts import End, Env, Tables
from zygote_lite._specialize.typed.naming import is_place, stem_of
from zygote_lite._specialize.typed.nodes import (
    Append,
    Loop,
    Moves,
    Node,
    Op,
    add_at_ends,
    inner_blocks,
    is_made_in,
)
from zygote_lite._specialize.typed.reasons import NotSpecializable, Unreached
from zygote_lite._specialize.typed.runtime import UNSET
from zygote_lite._specialize.typed.stand_ins import LOST
from zygote_lite._specialize.typed.values import Value, constant

_Forms = dict[str, Form]
_MOST_SAMPLES = 100_000  # items of the sample of a list


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
        builder.origin = origin
        used, met = set(builder.used), len(tables)
        written, mark = dict(builder.written), len(builder.changed)
        loop, ends, phis = _turn(
            builder, counter, body, env, after, carried, forms, start, tables, is_first
        )
        if len(tables) > met:  # objects from outside, of which attributes are to be carried, too
            builder.go_back_to(tables)
            env |= builder.places(tables)
            builder.free_names(used)
            builder.written = written
            continue
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
        builder.free_names(used)
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
    if isinstance(node, Op) and node.function is list.append:
        return int(node.arguments[0] is x)
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
    out.made, out.contents = phi.made, phi.contents
    for known in (builder.uncertain, builder.absent, builder.nullable):
        if phi in known:
            known.add(out)
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
        phi = entry_value(builder, entry, stem)
        loop.phis.append(phi)
        return phi

    for name in carried:
        count = len(loop.phis)
        names[name] = phi = variable_of(forms.get(name, UNKNOWN_YET), carry, stem_of(name))
        for x in loop.phis[count:]:
            note_origin(builder, x, (loop.origin, name))
        if name in forms:
            form = forms[name]  # what is `None` before the loop is so unless an end tells otherwise
            is_none = isinstance(form, Entry) and not form.nullable and is_constant_none(form.value)
            is_none &= may_be_nothing(builder)
            turn[name] = env[name] if is_first or is_none else phi
        else:
            turn.pop(name, None)
        if not builder.is_ours(name) and may_be_unset(builder, env.get(name)):
            note_unset(builder, name, phi)
        if builder.is_ours(name) and is_absent(builder, env.get(name)):
            builder.absent.update(variables_in(phi))
    builder.breaks.append((names, ends, tables))
    builder.lent_before.append(builder.lent)

    builder.put_in_places(tables, turn)
    turn = _without_places(turn)

    def work() -> Env | None:
        try:
            begun = start(turn, loop.target)
        except Unreached:  # there is nothing to walk over so far
            return None
        return builder.block(body, begun, live_in_loop(body, after) | after)

    try:
        loop.body, end = builder.nested(work)
    finally:
        builder.breaks.pop()
        builder.lent_before.pop()
        builder.loop = loop.outer
    if end is not None:
        end = End(end | builder.places(tables), builder.tables())
        own = [x for name, x in end.items() if name in carried]
        hold_all(builder, [*own, *builder.places_changed(tables).values()])
        ends.append(end)
        pairs = [pair for n in carried if n in end for pair in moves_to(names[n], end[n])]
        builder.note_moved([source for _, source in pairs])
        add_at_ends(loop.body, builder.origin, pairs, loop)
    loop.is_closed = True
    return loop, ends, names


def is_left(body: list[ir.Statement]) -> bool:
    """Return whether a loop may be left by `break`."""
    return has(body, ir.Break)
