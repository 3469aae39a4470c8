"""The driver of forward mode: from a function and its arguments to dual code."""

from typing import Any

import numpy as np

from rulescore import find_rule
from zygote_lite._specialize.assemble import Specialized, written
from zygote_lite._specialize.driver import interpreted, may_be_shared, plain_name
from zygote_lite._specialize.forward.dual import Dual
from zygote_lite._specialize.infer.held.changes import settle_changes
from zygote_lite._specialize.infer.memory import settled_memory
from zygote_lite._specialize.infer.signature import refuse_many_parts
from zygote_lite._specialize.reverse.backward import Backward
from zygote_lite._specialize.reverse.ends import float_checked, refuse_other_values
from zygote_lite._specialize.typed.facts import fact_of
from zygote_lite._specialize.typed.inputs import Inputs
from zygote_lite._specialize.typed.reasons import NotSupported, Unsound
from zygote_lite._specialize.typed.structures import structure
from zygote_lite._specialize.typed.values import Value, shape_root


def specialize_forward(
    f: Any, xs: tuple[Any, ...], active: tuple[bool, ...], dxs: tuple[Any, ...]
) -> Specialized:
    """Return the code for the value of a function and its tangent.

    Arguments:
        f: a Python function whose value is a float, an array of floats, or a tuple of them.
        xs: its arguments, which the code is tried out on.
        active: which of them move.
        dxs: the tangents of these.
    """
    if find_rule(f, *xs) is not None or hasattr(f, "__differentiates__"):
        raise Unsound.OWN_RULE("it has a rule of its own")
    refuse_many_parts(xs)
    own: set[Any] = set()
    inputs, distinct = Inputs(f), False
    while True:
        wanted: set[Any] = set()
        builder, arguments, names, result = interpreted(
            inputs, f, xs, active, distinct=distinct, own=frozenset(own), wanted=wanted
        )
        settle_changes(builder)
        value = float_checked(builder, result)
        memory = settled_memory(builder, builder.out)
        shared = not builder.distinct and may_be_shared(builder, result)
        if wanted <= own and not shared:
            break
        own, distinct, inputs = own | wanted, distinct or shared, Inputs(f)
    if builder.copies or inputs.changing or inputs.effects is not None or inputs.functions:
        raise NotSupported.FORWARD("it has effects, writes to an argument, or calls itself")
    refuse_other_values(value, as_pullback=True)
    dual, nodes = Dual(builder, builder.out), builder.out
    moving = [x for x, flag in zip(arguments, active, strict=True) if flag]
    tangents = [_tangent_parameter(dual, x, v) for x, v in zip(moving, dxs, strict=True)]
    builder.out = forward = dual.block(nodes)
    dual.tangents.update({value: dual.tangents[result]} if result in dual.tangents else {})
    found = dual.of_result(value if value.items is None else result)
    both = structure(tuple, [value, found])
    made = written(
        inputs, f, plain_name(f) + "_and_tangent", [*names, *(d.name for d in tangents)],
        [*arguments, *tangents], (False,) * (len(xs) + len(tangents)), forward,
        Backward(builder, memory=memory), both, {},
    )  # fmt: skip
    made.poles = builder.poles
    return made


def _tangent_parameter(dual: Dual, x: Value, v: Any) -> Value:
    """Return the parameter for the tangent of an argument, part by part of a tuple or list."""
    if x.items is not None and type(x.sample) in (tuple, list) and type(v) is type(x.sample):
        if len(x.items) != len(v):
            raise Unsound.COTANGENT_TYPE("a tangent has another length than its argument")
        parts = [_tangent_parameter(dual, part, d) for part, d in zip(x.items, v, strict=True)]
        found = structure(type(x.sample), parts)
        found.name = dual.builder.name("dx")
        return found
    if not (x.is_array or x.is_scalar):
        raise NotSupported.FORWARD("an argument that moves is no number or array, nor a tuple")
    if fact_of(v) != x.fact or np.shape(v) != np.shape(x.sample):
        raise Unsound.COTANGENT_TYPE("a tangent is not of the type and shape of its argument")
    found = Value(x.fact, v, dual.builder.name("d" + x.name))
    found.shaped = shape_root(x)
    dual.tangents[x] = found
    return found
