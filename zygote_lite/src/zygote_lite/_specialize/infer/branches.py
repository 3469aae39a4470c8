"""Branches: each path is interpreted separately, then variables and attributes are joined.

Where the two cannot be joined, the code may follow one path only (`builder.guesses`): that of the
samples. It is left where another path is taken, which gets code of its own in time.
"""

from collections.abc import Callable
from typing import Any

from zygote_lite._ir import nodes as ir
from zygote_lite._specialize.infer.counters import leave_where
from zygote_lite._specialize.infer.forms import (
    Pairs,
    is_absent,
    joined_value,
    may_be_unset,
    moves_to,
    note_unset,
    variables_in,
)
from zygote_lite._specialize.infer.nothing import note_given
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.drafts import Env, Tables
from zygote_lite._specialize.typed.facts import TRUTHS, ListOf, Scalar
from zygote_lite._specialize.typed.naming import is_of_body
from zygote_lite._specialize.typed.nodes import Branch, add_at_ends
from zygote_lite._specialize.typed.reasons import NotSpecializable, NotSupported, Unsound
from zygote_lite._specialize.typed.runtime import UNSET
from zygote_lite._specialize.typed.stand_ins import LOST
from zygote_lite._specialize.typed.values import Value, constant

Path = Callable[[], Env | None]


def interpret_branch(
    builder: Builder, s: ir.If, test: Value, body: Any, orelse: Any, env: Env, after: set[str]
) -> Env | None:
    """Write an `if` statement; return the variables after it, or `None` if that is not reached."""
    test = truth_asked(builder, test)
    if test.is_constant:
        return builder.block(body if test.sample else orelse, env, after)

    def path(taken: bool) -> Env | None:
        note_given(builder, test, taken)
        return builder.block(body if taken else orelse, env, after)

    node = Branch(builder.origin, test, [], [])
    if not builder.guesses or builder.plain:  # a rule can be called as it is
        return join_paths(builder, node, env, after, lambda: path(True), lambda: path(False))
    return _both_or_one(builder, node, env, after, path)


def truth_asked(builder: Builder, test: Value) -> Value:
    """Write what finds the truth of a value, and return what has that truth: a number, as it is."""
    if test in builder.iterators:
        raise Unsound.ITERATOR("it tests the truth of an iterator")
    if test.is_object or test.has_no_axes or _may_change(test):
        test = builder.apply(bool, [test])
    if test.is_constant or test.items is not None:
        return constant(bool(test.sample))
    if test in builder.truths:
        return constant(builder.truths[test])
    if test.is_array:
        raise NotSupported.TRUTH("it tests the truth of an array: test a number, such as `x.any()`")
    return test


def _may_change(test: Value) -> bool:
    """Return whether a container may be empty here and not later, in the reverse pass."""
    return test.contents is not None or isinstance(test.fact, ListOf)


def _both_or_one(
    builder: Builder, node: Branch, env: Env, after: set[str], path: Callable[[bool], Env | None]
) -> Env | None:
    """Write both paths; where they cannot be, that which the samples take, or else the other."""
    state, failed = PathState(builder), set()

    def tried(taken: bool) -> Env | None:
        try:
            return path(taken)
        except NotSpecializable as reason:
            if reason.reason not in _OF_PATHS:  # it stands in the way of the path alone, too
                failed.add(taken)
            raise

    place = (*[frame.code for frame in builder.frames], node.origin)
    is_hopeless = builder.unjoined[place] >= _MOST_TRIALS
    if (not builder.inputs.is_long or builder.loop is not None) and not is_hopeless:
        try:
            return join_paths(builder, node, env, after, lambda: tried(True), lambda: tried(False))
        except NotSpecializable:
            if not builder.guesses:
                raise
        builder.unjoined[place] += 1  # what is around it may be written again, in another way
        builder.guesses -= 1
        state.restore()
    likely = bool(node.test.sample)
    choices = [taken for taken in (likely, not likely) if taken not in failed]
    for taken in choices:
        leave_where(builder, node.test, holds=not taken)
        try:
            return path(taken)
        except NotSpecializable:
            if taken is choices[-1]:
                raise
            state.restore()
    raise NotSupported.DEPENDS_ON_PATH("neither side of a branch can be transformed")


_MOST_TRIALS = 2  # to write both paths of one branch
_OF_PATHS = {
    NotSupported.DEPENDS_ON_PATH, NotSupported.TOO_LONG, Unsound.WRITES_ELSEWHERE, Unsound.UNSET,
    Unsound.SHARED_WRITE, Unsound.WRITES_TO_GIVEN, Unsound.IDENTITY, Unsound.ITERATOR,
}  # fmt: skip
"""Reasons that may hold of two paths, and not of one alone."""


class PathState:
    """Hold the state of inference before a branch or a loop, to begin it once more."""

    def __init__(self, builder: Builder) -> None:
        self.builder, self.attempt, self.tables = builder, builder.attempt(), builder.tables()
        self.grown, self.ends = (
            len(builder.grown),
            len(builder.breaks[-1][1]) if builder.breaks else 0,
        )
        self.settled = {x for x in builder.objects if x.moved}

    def restore(self) -> None:
        builder = self.builder
        builder.give_up(self.attempt)
        builder.go_back_to(self.tables)
        del builder.grown[self.grown :]
        if builder.breaks:
            del builder.breaks[-1][1][self.ends :]
        for x in builder.objects:
            x.moved = x in self.settled
        builder.unsettled = set()


def join_paths(
    builder: Builder, node: Branch, env: Env, after: set[str], body: Path, orelse: Path
) -> Env | None:
    """Write two paths into a node, and the node; return the variables after them.

    Both begin with the attributes of objects as they are now.
    """
    before, origin = builder.tables(), builder.origin
    node.body, first = builder.nested(body)
    one = builder.tables()
    builder.go_back_to(before)
    node.orelse, second = builder.nested(orelse)
    builder.origin = origin
    if second is None:
        builder.go_back_to(one)
    if first is None or second is None:
        builder.out.append(node)
        return second if first is None else first
    joined = dict(env)
    now = builder.tables()  # where paths assign to an object, it is not one and the same on both
    before = {x: fields for x, fields in before.items() if x in one and x in now}
    builder.unsettled = {x for x in before if one[x] is not now[x]}
    left: Pairs = []
    right: Pairs = []
    for name in sorted(after & (first.keys() | second.keys())):
        a, b = first.get(name), second.get(name)
        if a is b and a is not None:
            joined[name] = a
            continue
        other = builder.guesses and not (builder.plain or node.test.sample)
        pair = (b, a) if other else (a, b)  # the first gives the sample
        joined[name] = value = joined_value(builder, *pair, name)
        truth = _truth_in(node.test, a, True)
        if truth is not None and truth is _truth_in(node.test, b, False) and value not in (a, b):
            builder.truths[value] = truth
        unset = [x for x in (a, b) if may_be_unset(builder, x)]
        if any(x is not None or not builder.is_ours(name) for x in unset):
            note_unset(builder, name, value)
        if builder.is_ours(name) and any(is_absent(builder, x) for x in (a, b)):
            builder.absent.update(variables_in(value))
        for known, moves in ((a, left), (b, right)):
            moves += _moves_of(builder, name, value, known)
    join_attributes(builder, before, one, left, right)
    builder.unsettled = set()
    builder.out.append(node)  # after the containers that its paths take for other names
    node.joined = [value for value, _ in (*left, *right)]
    builder.note_moved([source for _, source in (*left, *right)])
    add_at_ends(node.body, builder.origin, left)
    add_at_ends(node.orelse, builder.origin, right)
    return joined


def _truth_in(test: Value, x: Value | None, taken: bool) -> bool | None:
    """Return the truth value that a variable has in each run that takes a path, if it is known.

    That of `test and False` is false on both paths.
    """
    if x is test and isinstance(x.fact, Scalar) and x.fact.classes <= TRUTHS:
        return taken
    return x.sample if x is not None and x.is_constant and type(x.sample) is bool else None


def _moves_of(builder: Builder, name: str, joined: Value, known: Value | None) -> Pairs:
    """Return what is assigned to a variable on a path, with the value that it has there."""
    if known is not None:
        return moves_to(joined, known)
    given = [(x, _no_value(builder, name, x)) for x in variables_in(joined)]
    return [(x, nothing) for x, nothing in given if nothing is not None]


def _no_value(builder: Builder, name: str, joined: Value) -> Value | None:
    """Return what is assigned on a path that leaves a variable without a value, if anything.

    It may seem to have one: in a function called in a loop, that of an earlier iteration; Numba
    takes zero. In a branch, another variable may take it after that.
    """
    if builder.is_ours(name):  # none of our own is read too early
        return constant(None)
    may_be_stale = (
        builder.compiled
        or builder.handlers
        or (builder.loop is not None and len(builder.frames) > 1)
        or builder.out is not builder.top
    )
    may_be_stale = may_be_stale or is_of_body(name)  # which Python looks for elsewhere
    return constant(UNSET) if may_be_stale or (joined.is_array and joined.active) else None


def join_attributes(
    builder: Builder, before: Tables, one: Tables, left: Pairs, right: Pairs
) -> None:
    """Join what two paths leave to the objects made before them.

    Arguments:
        builder: what writes the code.
        before: the attributes before the branch.
        one: those at the end of one path; the objects have those at the end of the other.
        left, right: the moves at the ends of the paths, to which those of attributes are added.
    """
    for x in before:
        fields, others = one[x], x.fields or {}
        if fields is others:
            continue
        if [n for n in fields if n in others] != [n for n in others if n in fields]:
            builder.unordered.add(x)
        x.fields = {}
        for name in {**fields, **others}:
            a, b = fields.get(name, LOST), others.get(name, LOST)
            x.fields[name] = value = a if a is b else _joined_attribute(builder, a, b, name)
            if value is LOST and builder.guesses:
                raise NotSupported.DEPENDS_ON_PATH(
                    f"the attribute {name} is different after two branches"
                )
            if value is LOST or a is b:
                continue
            left += moves_to(value, a)
            right += moves_to(value, b)


def _joined_attribute(builder: Builder, a: Value, b: Value, name: str) -> Value:
    """Return the value of an attribute after a branch: where no variable can be it, none."""
    mark = set(builder.used)
    try:
        return LOST if LOST in (a, b) else joined_value(builder, a, b, name)
    except NotSpecializable:
        builder.free_names(mark)
        return LOST
