"""The body of a function, normalized, and what is known of its variables."""

import ast
import types
from collections import Counter
from dataclasses import dataclass
from typing import Any

from zygote_lite._ir import nodes as ir
from zygote_lite._ir.lower.function import lower
from zygote_lite._specialize.normalize.exits import IS_LEFT, assignments, live, normalize
from zygote_lite._specialize.normalize.steps import stepping
from zygote_lite._specialize.typed.reasons import NotSupported


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
    """

    body: list[ir.Statement]
    result: str
    times: Counter[str]
    caught: set[str]
    cells: list[str]
    nonlocals: list[str]


_lowered: dict[Any, tuple[dict[str, Any], Lowered]] = {}  # holds the globals
_MOST_LOWERED = 4096


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
        if len(_lowered) >= _MOST_LOWERED:
            _lowered.clear()
        function = lower(code, globals_, delegates=True)
        function = stepping(function, steps) if steps else function
        body, result, caught = normalize(function, handlers, may_be_left)
        if steps and not live(body, set(), set()) <= {*function.names, *function.captured, IS_LEFT}:
            raise NotSupported.ITERATION(f"a `{steps}` reads what an earlier call may have left")
        times = assignments(body)
        cells = [
            name for name in function.shared
            if times[name] + (name in function.names) > 1
            or name in _assigned_inside(function) | _captured_early(body, function.names)
        ]  # fmt: skip
        found = Lowered(body, result, times, caught, cells, function.nonlocals)
        known = _lowered[key] = globals_, found
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
