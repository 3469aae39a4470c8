"""Functions of the text that call themselves: both passes of one, written in one function."""

import copy
from collections import deque
from collections.abc import Callable
from typing import Any

from zygote_lite._specialize.assemble import Specialized, written
from zygote_lite._specialize.infer.interpreter import Interpreter
from zygote_lite._specialize.infer.memory import settled_memory
from zygote_lite._specialize.infer.recursion import Widened, calls_in, containers_of, states_now
from zygote_lite._specialize.reverse.backward import Backward
from zygote_lite._specialize.reverse.ends import gradients_of
from zygote_lite._specialize.typed.contents import has_active, root_of
from zygote_lite._specialize.typed.drafts import Env
from zygote_lite._specialize.typed.facts import FLOATS, ArrayOf, Other, join_facts, may_be_complex
from zygote_lite._specialize.typed.functions import Recursive
from zygote_lite._specialize.typed.reasons import NotSupported, Unreached
from zygote_lite._specialize.typed.stand_ins import Local
from zygote_lite._specialize.typed.values import Value

_MOST_TURNS = 12
_ALIKE = (
    "twice",
    "uniform",
    "compiled",
    "strong",
    "has_islands",
    "distinct",
    "handlers",
    "own",
    "wanted",
    "differentiate",
    "held",
)


def define_recursive(
    outer: Interpreter, f: Recursive, called: Any, start: Callable[[list[Value]], Env],
    stems: list[str], write: Callable[..., Any] | None = None,
) -> None:  # fmt: skip
    """Write a function of the text.

    Arguments:
        outer: what writes the code that it is called in.
        f: the function.
        called: the user's function.
        start: gives the variables at its start from the numbers and arrays among them.
        stems: the names of these.
        write: writes its text, where that is not both passes.
    """
    if outer.compiled or outer.twice:
        raise NotSupported.RECURSION(
            "a function calls itself in compiled code, or in a second derivative"
        )
    code = called.code if isinstance(called, Local) else called.__code__
    globals_ = called.globals if isinstance(called, Local) else called.__globals__
    for _ in range(_MOST_TURNS):
        builder = Interpreter(outer.inputs)
        for name in _ALIKE:
            setattr(builder, name, getattr(outer, name))
        builder.distinct = True  # who calls it may write to what it gives
        builder.used, builder.rehearsed = set(outer.used), f.result is None
        leaves = [_parameter(builder, x, s) for x, s in zip(f.leaves, stems, strict=True)]
        before = states_now(f)
        try:
            result = builder.function(code, globals_, start(leaves))
        except Widened:
            continue
        except Unreached:
            if states_now(f) == before:
                break
            continue
        finally:
            outer.changed += builder.changed
        called_inside = calls_in(builder.out)
        f.resized = [*map(root_of, builder.resized)]
        if states_now(f) != before:
            f.result = _joined_result(f.result, result) if _may_be_given(result) else f.result
            continue
        if builder.inputs.collectors:
            builder.refuse_all_readers()
        if builder.adopted:  # each call would begin with what these have when the code is entered
            raise NotSupported.RECURSION(
                f"{f.name} calls itself and uses an object whose attributes are assigned"
            )
        if not _may_be_given(result):
            break
        if f.result is not None and _is_covered(f.result, result):
            params = [x for x in leaves if not x.is_constant]
            made = (write or _write)(outer, builder, f, called, params, result)
            while builder.unified:
                builder.unified.pop().shaped = None
            outer.used |= {*made.bound, *outer.inputs.names}
            outer.inputs.named |= made.bound
            f.text, f.is_done, f.states = made.text, True, states_now(f)
            f.calls = [(g, g.result) for g in called_inside]
            return
        f.result = _joined_result(f.result, result)
    raise NotSupported.RECURSION(
        f"{f.name} calls itself and returns values of a type that is known only as it runs"
    )


def _may_be_given(result: Value) -> bool:
    """Return whether a function that calls itself may have a value."""
    if result.is_constant and result.sample is None:
        return True
    is_array = isinstance(result.fact, ArrayOf) and result.fact.dtype.kind in "fc"
    return is_array or (result.is_scalar and not may_be_complex(result.fact))


def _parameter(builder: Interpreter, leaf: Value, stem: str) -> Value:
    if leaf.is_constant:
        return leaf
    if leaf.active and leaf.is_scalar and may_be_complex(leaf.fact):
        raise NotSupported.RECURSION("a function that calls itself gets a complex number")
    x = Value(leaf.fact, leaf.sample, builder.name(stem))
    x.active = leaf.active
    if leaf.contents is not None:
        x.contents, x.made = root_of(leaf.contents), True
        x.contents.owners.append(x)
        x.sample = copy.copy(x.sample) if isinstance(x.sample, list | deque) else x.sample
    return x


def _is_covered(known: Value, result: Value) -> bool:
    same = known.is_array == result.is_array
    return (
        same and join_facts(known.fact, result.fact) == known.fact and known.active >= result.active
    )


def _joined_result(known: Value | None, result: Value) -> Value:
    """Return the fact of a value that is not a constant."""
    fact = result.fact if known is None else join_facts(known.fact, result.fact)
    is_float = known is not None and type(known.sample) in FLOATS
    joined = Value(fact, known.sample if known is not None and is_float else result.sample)
    joined.active = result.active or (known is not None and known.active)
    return joined


def _write(
    outer: Interpreter, builder: Interpreter, f: Recursive, called: Any, params: list[Value],
    result: Value,
) -> Specialized:  # fmt: skip
    forward = builder.out
    seed = Value(result.fact, result.sample, builder.name("d" + (result.name or "y")))
    seed.reverse = True
    given = containers_of(f)
    if given:
        builder.shadows = Value(Other(dict), {}, builder.name("shadows"), reverse=True)
    backward = Backward(builder, memory=settled_memory(builder, forward, result))
    backward.run(forward, result, seed, always=any(has_active(x.contents) for x in given))
    gradients = gradients_of(backward, params)
    for x, d in gradients.items():
        gradients[x] = backward.zero(x) if d is None else d
    active = tuple([x.active for x in params])
    return written(
        outer.inputs, called, f.name, [x.name for x in params], params, active, forward, backward,
        result, gradients, seed, inner=f.back.name,
    )  # fmt: skip
