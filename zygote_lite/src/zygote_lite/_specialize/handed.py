"""Transformed code for functions that a rule hands to the engine, with what they capture.

A rule for a solver or an integral asks for the derivative of one function hundreds of times. What
the function captures is differentiated, too: it becomes a function that takes it (lambda lifting).
"""

import ast
import copy
import itertools
import types
import weakref
from typing import Any

import numpy as np

from rulescore import Tangent, find_rule, rules_of
from zygote_lite._activity.walk import reaches_active
from zygote_lite._cotangents.kinds import INERT, TUPLE, VALUE, is_opaque, kind_of
from zygote_lite._cotangents.registry import BY_CODE
from zygote_lite._cotangents.run import state
from zygote_lite._ir.bytecode import without_type_parameters
from zygote_lite._ir.source import definition_of, remember
from zygote_lite._specialize.cache import specializations_of
from zygote_lite._specialize.callee import finite_cotangents, value_and_pullback
from zygote_lite._specialize.typed.derivatives import Verb, declare_verb
from zygote_lite._specialize.watch import AS_RULE
from zygote_lite._tape.handed_over import recorded_for_rule
from zygote_lite._tape.rules import handed_in
from zygote_lite.caches import cached
from zygote_lite.errors import DifferentiationError

_MOST_PLACES_OF_TUPLES = 1000
_BY_VALUE_ALONE = frozenset((int, float, np.float64, np.float32, np.ndarray))
_SUSPENDS = 0x20 | 0x80 | 0x200  # of generators and coroutines
_GATHERS = 0x04 | 0x08  # arguments in `*args` or `**options`
_OUTER, _INNER = "of_outer", "of_inner"


def answered(f: Any, xs: tuple[Any, ...]) -> tuple[Any, Any] | None:
    """Return the value and the pullback of a function by transformed code, if there is some."""
    if type(f) is not types.FunctionType or state.active is None:
        return None
    if state.outside and reaches_active(f):  # maybe by name
        return None
    at = _place_of_function(f, xs)
    inner = f if at is None else xs[at]
    try:
        captured = [cell.cell_contents for cell in inner.__closure__] if inner.__closure__ else ()
    except ValueError:  # one has no value yet
        return None
    operands = (*captured, *xs) if at is None else (*captured, *xs[:at], *xs[at + 1 :])
    plan = _plan_of(f, at, xs, operands)
    if plan is None:
        return None
    found, known = plan
    given = value_and_pullback(known, found, operands, f, xs)
    if given is None:
        return None
    y, back, _ = given
    return y, HandedPullback(inner, at, found, operands, y, back)


def _place_of_function(f: types.FunctionType, xs: tuple[Any, ...]) -> int | None:
    """Return which argument is a function with captured values; or `None`.

    What `f` captures itself, if anything, are functions that hold nothing.
    """
    if types.FunctionType not in map(type, xs):
        return None
    if f.__closure__ and not all(_holds_nothing_in(cell) for cell in f.__closure__):
        return None
    places = [i for i, x in enumerate(xs) if type(x) is types.FunctionType]
    return places[0] if len(places) == 1 else None


def _holds_nothing_in(cell: types.CellType) -> bool:
    """Return whether a cell has the engine, or a function that is its code alone."""
    try:
        f = cell.cell_contents
    except ValueError:  # it has no value yet
        return False
    if f is handed_in:
        return True
    return type(f) is types.FunctionType and not f.__closure__ and _is_code_alone(f)


def _plan_of(
    f: types.FunctionType, at: int | None, xs: tuple[Any, ...], operands: tuple[Any, ...]
) -> Any:
    """Return the function of all operands, and what is known of it; `None` to record it.

    Within a run that of the last function is at hand: a solver asks for one hundreds of times.
    """
    if _are_large(operands):
        return None
    which = f if f.__closure__ else f.__code__
    kinds = (*_forms(operands), *((which, at) if at is not None else ()))
    inner = f if at is None else xs[at]
    last = state.handed
    if last and last[0] is state.run and last[1]() is inner and last[2] == kinds:
        return last[3]
    if not (_is_code_alone(f) and _is_code_alone(inner)):
        return None
    found = _lifted(f.__code__, f) if at is None else _applied(f, at, inner, len(xs))
    if found is None:
        return None
    numbers = tuple([i for i, x in enumerate(operands) if _goes_whole(x)])
    others = [x for i, x in enumerate(operands) if i not in numbers and kind_of(x) != INERT]
    if not numbers or any(map(_has_no_mark, others)) or (others and reaches_active(*others)):
        return None
    known = specializations_of(found, len(operands), numbers, single=False, form=AS_RULE)
    if known is None or (f.__closure__ and find_rule(f, *xs, ad=handed_in) is not None):
        return None
    if state.run is not None and len(numbers) == len(operands):
        state.handed = state.run, weakref.ref(inner), kinds, (found, known)
    return found, known


def _are_large(operands: tuple[Any, ...]) -> bool:
    """Return whether tuples among values have very many places: one tuple may be at many."""
    count, found = 0, [x for x in operands if type(x) is tuple]
    while found and count <= _MOST_PLACES_OF_TUPLES:
        x = found.pop()
        count += len(x)
        found += [part for part in x if type(part) is tuple]
    return count > _MOST_PLACES_OF_TUPLES


def _forms(xs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the types of values; of a tuple, those of its entries."""
    found = tuple(map(type, xs))
    if tuple not in found:
        return found
    return tuple([_forms(x) if type(x) is tuple else type(x) for x in xs])


def _goes_whole(x: Any) -> bool:
    """Return whether a value is a number or an array, or a tuple of such, and of what is inert."""
    if type(x) is not tuple:
        return type(x) in _BY_VALUE_ALONE
    given = [part for part in x if kind_of(part) != INERT and not _is_empty(part)]
    return bool(given) and all(map(_goes_whole, given))


def _is_empty(x: Any) -> bool:
    return type(x) is tuple and not x


def _has_no_mark(x: Any) -> bool:
    """Return whether a value that goes by value has numbers: no mark tells if they are active."""
    kind = kind_of(x)
    if kind == TUPLE:
        return any(map(_has_no_mark, x))
    return kind == VALUE and not is_opaque(x) and not isinstance(x, np.integer)


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

    Arguments:
        inner: the function whose captured values are the first operands.
        at: which argument it is; `None` if it was handed over itself.
        found, operands: the function of all operands, and these.
        y, back: its value and its pullback.
    """

    __slots__ = ("at", "back", "found", "inner", "operands", "y")

    def __init__(
        self, inner: Any, at: int | None, found: Any, operands: tuple[Any, ...], y: Any, back: Any
    ) -> None:
        self.inner, self.at, self.found, self.operands = inner, at, found, operands
        self.y, self.back = y, back

    def __call__(self, dy: Any) -> tuple[Any, ...]:
        names, at = self.inner.__code__.co_freevars, self.at
        if dy is None:
            return (None,) * (1 + len(self.operands) - len(names) + (at is not None))
        found = finite_cotangents(self.back, self.y, dy)
        if found is None:
            found = recorded_for_rule(self.found, self.operands)[1](dy)
        if not names and at is None:
            return found
        held, xs = found[1 : 1 + len(names)], found[1 + len(names) :]
        d = None
        if any(part is not None for part in held):
            d = Tangent(types.FunctionType, **dict(zip(names, held, strict=True)))
        return (d, *xs) if at is None else (None, *xs[:at], d, *xs[at:])


declare_verb(handed_in, Verb.PULLBACK)  # where a rule takes a derivative of a derivative
_lifted_so_far = itertools.count()


@cached(1024)
def _of_code(code: types.CodeType, filename: str) -> types.CodeType | None:
    """Return the code of a function that takes what a function captures before its arguments."""
    node = _open_definition(code)
    if node is None or code.co_kwonlyargcount or code.co_flags & _GATHERS:
        return None
    body: list[ast.stmt] = (
        [ast.Return(node.body)] if isinstance(node, ast.Lambda) else list(node.body)
    )
    given = [*node.args.posonlyargs, *node.args.args]
    definition = _made_function([*code.co_freevars], code, node, body, given)
    remember(filename, definition)
    return _code_in(ast.Module([definition], []), filename)


def _open_definition(code: types.CodeType) -> Any:
    """Return the definition of a function whose captured values may be arguments, or `None`."""
    try:
        node = copy.deepcopy(definition_of(code))
    except DifferentiationError:
        return None
    rebinds = any(
        isinstance(n, ast.Nonlocal | ast.Global | ast.Yield | ast.YieldFrom | ast.Await)
        for n in ast.walk(node)
    )
    if rebinds or "__class__" in code.co_freevars:
        return None
    for argument in ast.walk(node.args):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    return node


def _made_function(
    names: list[str], code: types.CodeType, node: Any, body: list[ast.stmt], given: list[ast.arg]
) -> ast.FunctionDef:
    """Return a definition with a name of its own, at the place of `node`."""
    arguments = ast.arguments([], [*map(ast.arg, names), *given], None, [], [], None, [])
    name = f"{code.co_name.strip('<>')}_of_captured_{next(_lifted_so_far)}"
    definition = without_type_parameters(ast.FunctionDef(name, arguments, body, []))
    ast.copy_location(definition, node)
    ast.fix_missing_locations(definition)
    return definition


def _code_in(module: ast.Module, filename: str) -> types.CodeType:
    """Return the code of the one function that a module defines."""
    ast.fix_missing_locations(module)
    (made,) = [
        c for c in compile(module, filename, "exec").co_consts if isinstance(c, types.CodeType)
    ]
    return made


@cached(1024)
def _of_applied(
    outer: types.CodeType, at: int, count: int, code: types.CodeType, filename: str
) -> types.CodeType | None:
    """Return the code of a function of what `code` captures, and of what `outer` takes beside it.

    It defines the function, and calls the one in the variable `_OUTER` that it captures.
    """
    node, names = _open_definition(code), [*code.co_freevars]
    if node is None or {code.co_name, _OUTER, _INNER} & {*names}:
        return None
    others = [f"of_outer_{i}" for i in range(count - 1)]
    if isinstance(node, ast.Lambda):
        defined: ast.stmt = ast.Assign([ast.Name(_INNER, ast.Store())], node)
    else:
        node.name, node.decorator_list, node.returns = _INNER, [], None
        defined = without_type_parameters(node)
    arguments: list[ast.expr] = [ast.Name(name, ast.Load()) for name in others]
    arguments.insert(at, ast.Name(_INNER, ast.Load()))
    call = ast.Return(ast.Call(ast.Name(_OUTER, ast.Load()), arguments, []))
    definition = _made_function([*names, *others], code, node, [defined, call], [])
    remember(filename, definition)
    around = ast.arguments([], [ast.arg(_OUTER)], None, [], [], None, [])
    shell = without_type_parameters(ast.FunctionDef(_OUTER, around, [definition], []))
    made = _code_in(ast.Module([ast.copy_location(shell, definition)], []), filename)
    (found,) = [c for c in made.co_consts if isinstance(c, types.CodeType)]
    return found


def _applied(
    f: types.FunctionType, at: int, inner: types.FunctionType, count: int
) -> types.FunctionType | None:
    """Return a function of what `inner` captures, and of the arguments of `f` but this one."""
    if rules_of(inner):
        return None
    code = inner.__code__
    made = _of_applied(f.__code__, at, count, code, code.co_filename)
    if made is None:
        return None
    cells = (types.CellType(f),)
    return types.FunctionType(made, inner.__globals__, closure=cells)


def _lifted(code: types.CodeType, f: types.FunctionType) -> types.FunctionType | None:
    """Return a function of what `f` captures and takes: `f` itself, if it captures nothing."""
    if not f.__closure__:
        return f
    made = _of_code(code, code.co_filename)
    return None if made is None else types.FunctionType(made, f.__globals__)
