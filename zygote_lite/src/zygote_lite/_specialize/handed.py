"""Transformed code for functions that a rule hands to the engine, with what they capture.

A rule for a solver or an integral asks for the derivative of one function hundreds of times. What
the function captures is differentiated, too: it becomes a function that takes it (lambda lifting).
"""

import ast
import copy
import itertools
import types
import weakref
from functools import lru_cache
from typing import Any

import numpy as np

from rulescore import Tangent, find_rule
from zygote_lite._activity.saved import note_captured_deeply
from zygote_lite._activity.walk import reaches_active
from zygote_lite._cotangents.kinds import INERT, kind_of
from zygote_lite._cotangents.registry import BY_CODE
from zygote_lite._cotangents.run import state
from zygote_lite._ir.bytecode import without_type_parameters
from zygote_lite._ir.places import place_of
from zygote_lite._ir.source import definition_of, remember
from zygote_lite._specialize.cache import specializations_of
from zygote_lite._specialize.callee import finite_cotangents
from zygote_lite._specialize.watch import AS_RULE, WatchedPullback, answer_of
from zygote_lite._tape.refusal import note_resolution
from zygote_lite._tape.tape import handed_in, recorded_for_rule
from zygote_lite.errors import DifferentiationError
from zygote_lite.modes import current, watching

_BY_VALUE_ALONE = frozenset((int, float, np.float64, np.float32, np.ndarray))
_SUSPENDS = 0x20 | 0x80 | 0x200  # of generators and coroutines


def answered(f: Any, xs: tuple[Any, ...]) -> tuple[Any, Any] | None:
    """Return the value and the pullback of a function by transformed code, if there is some."""
    if type(f) is not types.FunctionType or state.active is None:
        return None
    try:
        captured = [cell.cell_contents for cell in f.__closure__] if f.__closure__ else ()
    except ValueError:  # one has no value yet
        return None
    operands = (*captured, *xs)
    plan = _plan_of(f, xs, operands)
    if plan is None:
        return None
    found, known = plan
    given, enter = (
        answer_of(known, found, operands)
        if watching.count
        else (known.enter(found, *operands), None)
    )
    if given is None:
        known.make_later(found, operands)
        return None
    y, back, outside = given
    note_captured_deeply((*operands, *outside))
    note_resolution(f, xs, f"transformed; {place_of(f)}")
    if watching.count and current().compared:
        back = WatchedPullback(known, found, operands, enter, (y, back))
    return y, HandedPullback(f, found, operands, y, back)


def _plan_of(f: types.FunctionType, xs: tuple[Any, ...], operands: tuple[Any, ...]) -> Any:
    """Return the function of all operands, and what is known of it; `None` to record it.

    Within a run that of the last function is at hand: a solver asks for one hundreds of times.
    """
    kinds = tuple(map(type, operands))
    last = state.handed
    if last and last[0] is state.run and last[1]() is f and last[2] == kinds:
        return last[3]
    found = _lifted(f.__code__, f) if _is_code_alone(f) else None
    if found is None:
        return None
    numbers = tuple([i for i, kind in enumerate(kinds) if kind in _BY_VALUE_ALONE])
    others = [x for x in operands if type(x) not in _BY_VALUE_ALONE and kind_of(x) != INERT]
    if not numbers or (others and reaches_active(*others)):
        return None
    known = specializations_of(found, len(operands), numbers, single=False, form=AS_RULE)
    if known is None or (f.__closure__ and find_rule(f, *xs, ad=handed_in) is not None):
        return None
    if state.run is not None and len(numbers) == len(operands):
        state.handed = state.run, weakref.ref(f), kinds, (found, known)
    return found, known


def _is_code_alone(f: types.FunctionType) -> bool:
    """Return whether the code of a function and its cells are all that it is."""
    code = f.__code__
    return not (
        code.co_flags & _SUSPENDS
        or f.__defaults__
        or f.__kwdefaults__
        or f.__dict__
        or code in BY_CODE
        or (state.given and f is state.given[0])
    )


class HandedPullback:
    """The pullback of a function that transformed code has answered.

    Where a cotangent is not finite, which zero meets an infinity and wins is for the tape to say.
    """

    __slots__ = ("back", "f", "found", "operands", "y")

    def __init__(self, f: Any, found: Any, operands: tuple[Any, ...], y: Any, back: Any) -> None:
        self.f, self.found, self.operands, self.y, self.back = f, found, operands, y, back

    def __call__(self, dy: Any) -> tuple[Any, ...]:
        names = self.f.__code__.co_freevars
        if dy is None:
            return (None,) * (1 + len(self.operands) - len(names))
        found = finite_cotangents(self.back, self.y, dy)
        if found is None:
            found = recorded_for_rule(self.found, self.operands)[1](dy)
        if not names:
            return found
        held, xs = found[1 : 1 + len(names)], found[1 + len(names) :]
        for d in held:
            if d is not None:
                return Tangent(types.FunctionType, **dict(zip(names, held, strict=True))), *xs
        return None, *xs


_lifted_so_far = itertools.count()


@lru_cache(maxsize=1024)
def _of_code(code: types.CodeType, filename: str) -> types.CodeType | None:
    """Return the code of a function that takes what a function captures before its arguments."""
    try:
        node = copy.deepcopy(definition_of(code))
    except DifferentiationError:
        return None
    names = code.co_freevars
    rebinds = any(
        isinstance(n, ast.Nonlocal | ast.Global | ast.Yield | ast.YieldFrom | ast.Await)
        for n in ast.walk(node)
    )
    if rebinds or "__class__" in names or code.co_kwonlyargcount or code.co_flags & 0x0C:
        return None
    body: list[ast.stmt] = (
        [ast.Return(node.body)] if isinstance(node, ast.Lambda) else list(node.body)
    )
    given = [*node.args.posonlyargs, *node.args.args]
    for argument in given:
        argument.annotation = None
    arguments = ast.arguments([], [*map(ast.arg, names), *given], None, [], [], None, [])
    name = f"{code.co_name.strip('<>')}_of_captured_{next(_lifted_so_far)}"
    definition = without_type_parameters(ast.FunctionDef(name, arguments, body, []))
    ast.copy_location(definition, node)
    ast.fix_missing_locations(definition)
    remember(filename, definition)
    module = compile(ast.Module([definition], []), filename, "exec")
    (made,) = [c for c in module.co_consts if isinstance(c, types.CodeType)]
    return made


def _lifted(code: types.CodeType, f: types.FunctionType) -> types.FunctionType | None:
    """Return a function of what `f` captures and takes: `f` itself, if it captures nothing."""
    if not f.__closure__:
        return f
    made = _of_code(code, code.co_filename)
    return None if made is None else types.FunctionType(made, f.__globals__)
