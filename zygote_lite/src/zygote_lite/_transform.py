"""The stages in their order, and the functions that came out of them.

    function --lower--> IR --instrument--> IR --primal, reverse--> IR --emit--> Python --> code

What was transformed is kept per code object and per set of active parameters.
"""

import ast
import threading
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rulescore import Tangent

from zygote_lite import _ir as ir
from zygote_lite._emit import Emitted, emit
from zygote_lite._instrument import instrument
from zygote_lite._lower import lower
from zygote_lite._primal import forward, primal
from zygote_lite._pull import Effect, Flags, Pulled
from zygote_lite._reverse import reverse
from zygote_lite._structural import INTRINSICS

VARARGS, VARKEYWORDS = 0x04, 0x08


@dataclass
class Shape:
    """How the operands of one shape of call meet the parameters of one function.

    Attributes:
        adjoint: the emitted function, without the function's own defaults.
        gather: from the cotangents of captured variables and parameters to those of the
            arguments and keywords, in order.
    """

    adjoint: types.FunctionType
    gather: Callable[[tuple[Any, ...]], tuple[Any, ...]]


_lowered: dict[Any, tuple[Any, ir.Function]] = {}
_shapes: dict[Any, Shape] = {}
_compiled: dict[Any, types.FunctionType] = {}
_lock = threading.RLock()


def transformed(flags: Flags, f: Any, xs: tuple[Any, ...], kws: dict[str, Any]) -> Pulled:
    """Run the adjoint of a Python function: return its value and its pullback."""
    key = (f.__code__, id(f.__globals__), tuple([bool(flag) for flag in flags]), *kws)
    shape = _shapes.get(key)
    if shape is None:
        shape = _shapes[key] = _shape(f, flags, len(xs), tuple(kws))
    run = shape.adjoint
    if f.__defaults__ or f.__kwdefaults__:
        run = types.FunctionType(
            run.__code__, run.__globals__, run.__name__, f.__defaults__, run.__closure__
        )
        run.__kwdefaults__ = f.__kwdefaults__
    captured = f.__code__.co_freevars
    cells = [cell.cell_contents for cell in f.__closure__ or ()]
    y, back, flag = run(*cells, *xs, **kws)
    gather = shape.gather

    def transformed_back(dy: Any) -> tuple[Any, ...]:
        cotangents = back(dy)
        return _closure_cotangent(f, captured, cotangents), *gather(cotangents)

    return y, transformed_back if flag else Effect(transformed_back)


def _closure_cotangent(f: Any, captured: tuple[str, ...], cotangents: tuple[Any, ...]) -> Any:
    fields = dict(zip(captured, cotangents, strict=False))
    if all(d is None for d in fields.values()):
        return None
    return Tangent(type(f), **fields)


def _shape(f: Any, flags: Flags, count: int, keywords: tuple[str, ...]) -> Shape:
    code = f.__code__
    names, positional, varargs, varkeywords = _parameters(code)
    start = len(code.co_freevars)
    active = set(code.co_freevars) if flags[0] else set()
    places: list[tuple[int, Any]] = []
    for i, flag in enumerate(flags[1:]):
        if i < count:
            place = (i, None) if i < positional else (names.index(varargs), i - positional)
            if i >= positional and varargs is None:
                break  # too many arguments: calling it says so, as Python does
        else:
            name = keywords[i - count]
            if name in names and name not in (varargs, varkeywords):
                place = (names.index(name), None)
            elif varkeywords is None:
                break
            else:
                place = (names.index(varkeywords), name)
        places.append((start + place[0], place[1]))
        if flag:
            active.add(names[place[0]])

    def gather(cotangents: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple([_entry(cotangents[i], key) for i, key in places])

    return Shape(adjoint_of(f, frozenset(active)), gather)


def _entry(d: Any, key: Any) -> Any:
    return d if key is None or d is None else d[key]


def _parameters(code: types.CodeType) -> tuple[list[str], int, Any, Any]:
    """Return the parameters as in `ir.Function.names`, and how many are positional."""
    n, m = code.co_argcount, code.co_kwonlyargcount
    rest = list(code.co_varnames[n + m :])
    varargs = rest.pop(0) if code.co_flags & VARARGS else None
    varkeywords = rest.pop(0) if code.co_flags & VARKEYWORDS else None
    names = [*code.co_varnames[:n], varargs, *code.co_varnames[n : n + m], varkeywords]
    return [name for name in names if name is not None], n, varargs, varkeywords


def adjoint_of(f: Any, active: frozenset[str]) -> types.FunctionType:
    """Return the compiled adjoint of a function, for a set of active parameters."""
    key = (f.__code__, id(f.__globals__), active)
    found = _compiled.get(key)
    if found is None:
        with _lock:
            found = _compiled.get(key)
            if found is None:
                emitted = emit(reverse(primal(lowered(f), active)), "_pullback")
                found = _compiled[key] = compile_emitted(emitted, f)
    return found


def lowered(f: Any) -> ir.Function:
    """Return the instrumented IR of a Python function, anew: later stages take names in it."""
    return instrument(lower(f.__code__, f.__globals__))


def compile_emitted(emitted: Emitted, f: Any) -> types.FunctionType:
    """Compile emitted Python, with the user's file name, lines, globals and function name."""
    parameters = ast.arguments(
        [], [ast.arg(alias) for alias in emitted.intrinsics], None, [], [], None, []
    )
    tree = emitted.tree
    give = ast.Return(ast.Name(tree.name, ast.Load()))
    factory = ast.FunctionDef("factory", parameters, [tree, give], [])
    if "type_params" in factory._fields:
        factory.type_params = []  # type: ignore[attr-defined]
    ast.copy_location(factory, tree)
    module = ast.fix_missing_locations(ast.Module([factory], []))
    scope: dict[str, Any] = {}
    exec(compile(module, f.__code__.co_filename, "exec"), f.__globals__, scope)
    made: types.FunctionType = scope["factory"](
        *(resolve(path) for path in emitted.intrinsics.values())
    )
    made.__code__ = made.__code__.replace(
        co_name=f.__code__.co_name, co_qualname=f.__code__.co_qualname
    )
    return made


def resolve(path: str) -> Any:
    """Return the intrinsic of that name."""
    return INTRINSICS[path]
