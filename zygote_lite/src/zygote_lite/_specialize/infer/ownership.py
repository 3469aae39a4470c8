"""Which arrays the code may write to: those that it makes itself, and copies of its own.

What an operation gives may be needed as it was: by the reverse pass, or where equal arrays are
computed once. So where the program writes to such an array, the code is interpreted again, and now
it goes on with a copy from where the array is computed. The copy is left out in the end where
nobody reads the original (`passes.copies`).

Of an argument the copy is made at the start, and its contents are written back when the gradient
is known. Until then nothing has happened that can be seen from outside.
"""

from collections.abc import Hashable

import numpy as np

from zygote_lite._specialize.infer.forms import with_entries
from zygote_lite._specialize.rules.contributions import LinearRule
from zygote_lite._specialize.rules.inlined import be_active
from zygote_lite._specialize.typed.abstract_eval import mark_made
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.drafts import ONE_BY_ONE
from zygote_lite._specialize.typed.reasons import Unsound
from zygote_lite._specialize.typed.structures import paths_of
from zygote_lite._specialize.typed.values import Value

UNROLLED = "the iterations of a loop are written one by one"


def demand_own(builder: Builder, x: Value) -> None:
    """Have the code interpreted again, with an array of its own, where it may not write to one.

    Raises `NotSpecializable` where it cannot have one.
    """
    if x.may_be_written:
        return
    root = builder.storage(x)
    origin = _origin_of(builder, root) if builder.distinct else ONE_BY_ONE
    if origin is None or origin in builder.own or builder.compiled:
        raise Unsound.WRITES_TO_GIVEN("it writes to what it has not made itself")
    builder.wanted.add(origin)
    root.made = True  # for the rest of this attempt, which may want more


def _origin_of(builder: Builder, x: Value) -> Hashable:
    """Return what tells an array apart in another attempt: where it comes from."""
    made = builder.definitions.get(x)
    return made.origin if made is not None and x.fresh else builder.origins.get(x)


def own_result(builder: Builder, x: Value) -> Value:
    """Return the result of a call, or a copy that the code may write to."""
    made = builder.definitions.get(x)
    known = made is None or made.origin not in builder.own or x.made or not x.fresh
    return x if known or builder.plain or not x.is_array else _own_copy(builder, x)


def _own_copy(builder: Builder, x: Value) -> Value:
    op = builder.operation(np.copy, [x])
    if x.active:
        be_active(op, [x])
        op.reverse_rule = LinearRule(lambda dy: [dy])
    mark_made(np.copy, op.target)
    return op.target


def own_arguments(builder: Builder, arguments: list[Value]) -> list[Value]:
    """Return the arguments, with copies in the place of the arrays that are written."""
    copies: dict[Value, Value] = {}
    if any(x.is_object for x in arguments):  # which may hold the arrays, too
        return arguments
    for i, x in enumerate(arguments):
        for path, leaf in paths_of(x, f"x{i}"):
            builder.origins[leaf] = path
            if leaf.is_array and path in builder.own:
                copies[leaf] = builder.copies[path] = _own_copy(builder, leaf)
                copies[leaf].fresh = False  # it is known from outside, too
    return [with_entries(x, copies) for x in arguments] if copies else arguments
