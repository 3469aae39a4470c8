"""Methods that give one element at a call, written as the generator of all these elements.

`__next__` ends where it raises `StopIteration`, and `__getitem__`, which is called with 0, 1, 2 and
so on, where it raises `IndexError`.
"""

import operator
from dataclasses import replace
from typing import Any

from zygote_lite._ir import nodes as ir
from zygote_lite._specialize.normalize.tries import Block, has
from zygote_lite._specialize.typed.reasons import NotSupported

ENDS: dict[str, type[Exception]] = {"__next__": StopIteration, "__getitem__": IndexError}
"""The errors that end the elements which calls of a method give."""


def stepping(function: ir.Function, method: str) -> ir.Function:
    """Return a generator that yields what one call of a method after the other returns.

    Raises `NotSpecializable` where a call may see what an earlier one has left in a variable.
    """
    names = {getattr(s, "target", "") for s in ir.every(function.body)} & {*function.names}
    if function.is_generator or function.shared or function.nonlocals or names:
        raise NotSupported.ITERATION(f"a `{method}` that yields, or whose parameters change")
    for s in ir.every(function.body):
        loops = isinstance(s, ir.For | ir.While) and has([s], ir.Return)
        if loops or (isinstance(s, ir.Try) and _is_left_inside(s)):
            raise NotSupported.ITERATION(f"a `{method}` returns inside a loop or a `try`")
    first = function.body[0].origin
    turn = [*_steps(function.body, ENDS[method].__name__), ir.Yield(first, ir.DISCARD, _NONE)]
    before: Block = []
    if method == "__getitem__":
        place = function.fresh("place")
        before = [ir.Move(first, place, ir.Const(0))]
        add = ir.Call(first, place, ir.Const(operator.add), [ir.Name(place), ir.Const(1)])
        turn = [ir.Move(first, function.names[1], ir.Name(place)), add, *turn]
    loop = ir.While(first, [], ir.Const(True), turn, [])
    return replace(function, body=[*before, loop], is_generator=True)


_NONE = ir.Const(None)


def _is_left_inside(s: ir.Statement) -> bool:
    return any(isinstance(inner, ir.Return | ir.Raise) for inner in ir.every([s]))


def _steps(body: Block, ends: str) -> Block:
    """Return a block that yields instead of returning, and returns instead of raising an error."""
    out: Block = []
    made = {s.target for s in body if isinstance(s, ir.Call) and s.function == ir.Global(ends)}
    for s in body:
        inner: Any = {
            name: _steps(block, ends)
            for name, block in vars(s).items()
            if isinstance(block, list) and block and isinstance(block[0], ir.Statement)
        }
        match replace(s, **inner):
            case ir.Return(origin, value):
                out += [ir.Yield(origin, ir.DISCARD, value), ir.Continue(origin)]
            case ir.Raise(origin, ir.Global(path)) if path == ends:
                out.append(ir.Return(origin, _NONE))
            case ir.Raise(origin, ir.Name(name)) if name in made:
                out = [x for x in out if getattr(x, "target", "") != name]
                out.append(ir.Return(origin, _NONE))
            case other:
                out.append(other)
    return out
