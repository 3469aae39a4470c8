"""The inner code: a function that is run on the values of the outer code, and its reverse pass.

Both are made as lowered code, which is interpreted on the values of the outer code.
"""

import types
from collections import Counter
from typing import Any

from zygote_lite._ir import nodes as ir
from zygote_lite._specialize.derived.entry import InnerInputs, refuse_reached_twice
from zygote_lite._specialize.derived.lowered import Lowering
from zygote_lite._specialize.infer.interpreter import Interpreter
from zygote_lite._specialize.infer.memory import settled_memory
from zygote_lite._specialize.infer.models.lists import items as _lists
from zygote_lite._specialize.normalize.exits import live
from zygote_lite._specialize.passes.dead_code import drop_dead
from zygote_lite._specialize.passes.finiteness import telling
from zygote_lite._specialize.passes.residuals import keep_records
from zygote_lite._specialize.passes.writes import leave_out_copies, settle_writes
from zygote_lite._specialize.reverse.backward import Backward
from zygote_lite._specialize.reverse.ends import gradients_of, refuse_other_values, seed_for
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.contexts import error_state
from zygote_lite._specialize.typed.derivatives import Adjoint
from zygote_lite._specialize.typed.drafts import Env, Frame
from zygote_lite._specialize.typed.nodes import Op, leaves, walk
from zygote_lite._specialize.typed.reasons import NotSupported, Unsound
from zygote_lite._specialize.typed.runtime import finite
from zygote_lite._specialize.typed.structures import structure
from zygote_lite._specialize.typed.values import Value, constant


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
        raise Unsound.RAISES("the function of a nested gradient always raises an error")
    return found


def _code_with(names: set[str]) -> types.CodeType:
    """Return code that has these variables."""
    code = (lambda: None).__code__
    return code.replace(co_varnames=tuple(sorted(names)), co_nlocals=len(names))


def differentiate(
    outer: Builder, f: Value, xs: list[Value], kws: dict[str, Value], numbers: list[int],
    *, as_pullback: bool,
) -> Adjoint:  # fmt: skip
    """Write the forward pass of a function that is differentiated inside; return its adjoint.

    Arguments:
        outer: what writes the outer code.
        f, xs, kws: the call.
        numbers: the arguments that are differentiated.
        as_pullback: whether the cotangent of the value is given later; else it is one.
    """
    if outer.held or outer.settings or outer.lent:
        raise NotSupported.SECOND_ORDER(
            "it takes a nested gradient and also changes lists, dicts, objects or globals"
        )
    inner = _inside(outer)
    entry = InnerInputs(outer, inner)
    shapes = {x: x.shaped for x, _ in outer.inputs.given.values()}
    arguments = [entry.argument(x, active=i in numbers) for i, x in enumerate(xs)]
    options = {name: entry.value(x) for name, x in kws.items()}
    result = inner.call(entry.value(f), arguments, options)
    if not outer.only_derives:  # or else the entry tests it
        refuse_reached_twice([xs[i] for i in numbers], entry.containers)
    refuse_other_values(result, as_pullback)
    forward = inner.out
    seed = seed_for(inner, result) if as_pullback else constant(1.0)
    memory = settled_memory(inner, forward, result)
    backward = Backward(inner, memory=memory)
    backward.run(forward, result, seed)
    gradients = gradients_of(backward, [x for i, x in enumerate(arguments) if i in numbers])
    reverse, found = backward.out, [d for d in gradients.values() if d is not None]
    settle_writes(forward, reverse, memory)
    drop_dead(forward, reverse, [result, *found])
    leave_out_copies(forward, reverse, [result, *found])
    keep_records(forward, reverse, inner.name, backward.silent)
    for x, _ in outer.inputs.given.values():
        x.shaped = shapes.get(x)
    lowering = Lowering(inner, forward, reverse)
    there = lowering.block(forward, reverse=False)
    back = lowering.block(reverse, reverse=True)
    ends = {leaf.name for d in found for leaf in leaves(d) if leaf.name}
    needed = live(back, ends, set()) - {leaf.name for leaf in leaves(seed)}
    names = {leaf.name for leaf in leaves(result) if leaf.name}
    env = {x.name: x for x, _ in outer.inputs.given.values()} | entry.variables
    own = {x.name for x in inner.uncertain}
    env = interpret(outer, there, env, needed | names, lowering.lists, own)
    doubtful = any(isinstance(node, Op) and node.suspect for node in walk(reverse))
    told = telling(reverse, found) if doubtful else set()

    def cotangents(dy: Value) -> list[Value | None]:
        """Write the reverse pass, and return the cotangents of the arguments."""
        given = dict(zip((x.name for x in leaves(seed)), leaves(dy), strict=True))
        context = outer.context
        if inner.poles:
            outer.context = (*context, error_state({"all": "ignore"}))
        try:
            after = interpret(outer, back, env | given, ends, [], own)
        finally:
            outer.context = context
        for d in found:
            if d in told and not d.is_constant:
                _demand_finite(outer, after[d.name])
        flagged = {i: x for i, x in enumerate(arguments) if i in numbers}
        return [_gradient_parts(flagged[i], gradients, after) for i in numbers]

    may_change = any(x.may_be_written for x in entry.variables.values())
    has_paths = any(backward.cotangents.get(x) in backward.partial for x in gradients)
    return Adjoint(_translated(result, env), seed, cotangents, may_change, has_paths)


def _inside(outer: Builder) -> Interpreter:
    """Return what writes the inner code."""
    if outer.compiled or outer.strong or outer.twice:
        raise NotSupported.SECOND_ORDER(
            "a nested gradient stands inside code that is differentiated again or compiled"
        )
    inner = Interpreter(outer.inputs)
    inner.frames, inner.used = [*outer.frames], {*outer.used}
    inner.uniform, inner.inner, inner.differentiate = outer.uniform, True, outer.differentiate
    inner.own, inner.wanted, inner.distinct = outer.own, outer.wanted, outer.distinct
    inner.origin, inner.rehearsed = outer.origin, outer.rehearsed
    return inner


def _demand_finite(outer: Builder, d: Value) -> None:
    """Leave the code where a gradient is not finite: once on each path."""
    if not d.is_constant and (finite, d) not in outer.known:
        outer.known[finite, d] = outer.demand(finite, d)


def _translated(x: Value, env: Env) -> Value:
    """Return what a value of the inner code is in the outer one."""
    if x.items is not None:
        return structure(type(x.sample), [_translated(part, env) for part in x.items])
    return x if x.is_constant else env[x.name]


def _gradient_parts(x: Value, gradients: dict[Value, Value | None], env: Env) -> Any:
    """Return the gradient of an argument in its form; `None` where none of its parts has one."""
    if x.read is not None:
        given = [x.read.get(name) for name in vars(x.sample)]
        return [None if part is None else _gradient_parts(part, gradients, env) for part in given]
    if x.items is not None or x.fields is not None:
        parts = x.items or [] if type(x.sample) is not dict else (x.items or [])[1::2]
        if x.fields is not None:
            parts = [*x.fields.values()]
        return [_gradient_parts(part, gradients, env) for part in parts]
    d = gradients.get(x)
    return None if d is None else _translated(d, env)
