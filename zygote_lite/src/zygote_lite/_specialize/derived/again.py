"""Interpreting lowered code that the engine has made itself, on values of the outer code."""

import types
from collections import Counter

from zygote_lite._ir import nodes as ir
from zygote_lite._specialize.infer.models import lists as _lists
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.drafts import Env, Frame
from zygote_lite._specialize.typed.nodes import leaves
from zygote_lite._specialize.typed.reasons import Unsound


def interpret(
    builder: Builder, body: list[ir.Statement], env: Env, after: set[str], lists: list[str],
    own: set[str],
) -> Env:  # fmt: skip
    """Interpret lowered code; return the variables at its end.

    Arguments:
        builder: what writes the outer code.
        body: the code.
        env: the variables at its start.
        after: those that may be read at its end.
        lists: those that begin as empty lists.
        own: those that are the user's, and may have no value.
    """
    env = env | {name: _lists.new_list(builder, name) for name in lists}
    given = {id(leaf) for x in env.values() for leaf in leaves(x)}
    frame = Frame(_code_with(own), {"__builtins__": {}}, Counter(), {*env}, given)
    origin = builder.origin
    builder.frames.append(frame)
    try:
        found = builder.block(body, env, after)
    finally:
        builder.frames.pop()
        builder.origin = origin
    if found is None:
        raise Unsound.RAISES("a gradient inside always raises")
    return found


def _code_with(names: set[str]) -> types.CodeType:
    """Return code that has these variables."""
    code = (lambda: None).__code__
    return code.replace(co_varnames=tuple(sorted(names)), co_nlocals=len(names))
