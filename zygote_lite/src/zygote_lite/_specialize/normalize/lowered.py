"""The body of a function, normalized, and what is known of its variables.

A method that gives one element at a call is written as the generator of all these elements:
`__next__` ends where it raises `StopIteration`, and `__getitem__`, which is called with 0, 1, 2 and
so on, where it raises `IndexError`.
"""

import ast
import operator
import types
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

from zygote_lite._ir import nodes as ir
from zygote_lite._ir.lower.function import lower
from zygote_lite._specialize.normalize.blocks import Block, has
from zygote_lite._specialize.normalize.class_bodies import with_blocks
from zygote_lite._specialize.normalize.exits import IS_LEFT, assignments, finishes, live, normalize
from zygote_lite._specialize.typed.reasons import NotSupported
from zygote_lite.caches import Cache

ENDS: dict[str, type[Exception]] = {"__next__": StopIteration, "__getitem__": IndexError}
"""The errors that end the elements which calls of a method give."""


def stepping(function: ir.Function, method: str) -> ir.Function:
    """Return a generator that yields what one call of a method after the other returns.

    Raises `NotSpecializable` where a call may see what an earlier one has left in a variable.
    """
    names = {getattr(s, "target", "") for s in ir.every(function.body)} & {*function.names}
    if function.is_generator or function.shared or function.nonlocals or names:
        raise NotSupported.ITERATION(
            f"a `{method}` is a generator, or assigns variables that a nested function reads"
        )
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
        match with_blocks(s, lambda block: _steps(block, ends)):
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


@dataclass(frozen=True)
class Lowered:
    """The normalized body of a function, and what is known of it.

    Attributes:
        body: its statements.
        result: the variable of its result.
        times: how often it assigns each variable.
        caught: the names of the classes of exceptions that it catches.
        cells: its variables that functions inside share, and that are given several values.
        nonlocals: the variables of enclosing functions that it assigns.
        finishes: whether it is a generator that comes to a `finally` where it is given up.
    """

    body: list[ir.Statement]
    result: str
    times: Counter[str]
    caught: set[str]
    cells: list[str]
    nonlocals: list[str]
    finishes: bool


_lowered: Cache[tuple[dict[str, Any], Lowered]] = Cache(4096)  # holds the globals


def lowered_code(
    code: types.CodeType, globals_: dict[str, Any], handlers: bool = False,
    may_be_left: bool = False, steps: str = "",
) -> Lowered:  # fmt: skip
    """Return the normalized body of a function, and what is known of it.

    That of a generator ends, where it `may_be_left`, when the loop over it was left. Of a method
    that gives one element at a call (`steps`), it is that of the generator of these.
    """
    key = (code, id(globals_), handlers, may_be_left, steps)
    known = _lowered.get(key)
    if known is None:
        function = lower(code, globals_, delegates=True)
        function = stepping(function, steps) if steps else function
        body, result, caught = normalize(function, handlers, may_be_left)
        if steps and not live(body, set(), set()) <= {*function.names, *function.captured, IS_LEFT}:
            raise NotSupported.ITERATION(
                f"a `{steps}` reads a variable that an earlier call may have assigned"
            )
        times = assignments(body)
        cells = [
            name for name in function.shared
            if times[name] + (name in function.names) > 1
            or name in _assigned_inside(function) | _captured_early(body, function.names)
        ]  # fmt: skip
        found = Lowered(body, result, times, caught, cells, function.nonlocals, finishes(function))
        known = _lowered.keep(key, (globals_, found))
    return known[1]


def _captured_early(body: list[ir.Statement], parameters: list[str]) -> set[str]:
    """Return the variables that functions defined inside capture before they are assigned."""
    known, found = {*parameters}, set()
    for s in ir.every(body):
        target = getattr(s, "target", "")
        if isinstance(s, ir.Closure):
            found |= {*s.captured} - known - {target}
        known.add(target)
    return found


def _assigned_inside(function: ir.Function) -> set[str]:
    """Return the variables that functions defined inside declare as `nonlocal`."""
    return {
        name
        for s in ir.every(function.body)
        if isinstance(s, ir.Closure)
        for node in ast.walk(s.definition)
        if isinstance(node, ast.Nonlocal)
        for name in node.names
    }
