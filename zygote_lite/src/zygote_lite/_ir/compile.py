"""Recording code: the stages in their order, and a cache of the compiled functions.

    function --lower--> IR --record--> IR --emit--> Python --> code

It serves all types of arguments, and is compiled once for each code object. (The source transform,
`_specialize`, writes code for certain types.)
"""

import __future__

import ast
import inspect
import threading
import types
from typing import Any

from zygote_lite._ir import nodes as ir
from zygote_lite._ir.bytecode import without_type_parameters
from zygote_lite._ir.emit import Emitted, emit
from zygote_lite._ir.intrinsics import INTRINSICS
from zygote_lite._ir.lower.function import lower
from zygote_lite._ir.places import where
from zygote_lite._ir.recompile import TREES
from zygote_lite._ir.record import leading, record
from zygote_lite.caches import Cache
from zygote_lite.errors import NoSourceError

_recordings: Cache[tuple[types.FunctionType, bool]] = Cache(4096)
# by the identity of code, which is kept: what records what
_recorded_by: Cache[tuple[types.CodeType, types.CodeType | None]] = Cache(256)
_compile_lock = threading.RLock()


def run_as_called(
    run: Any, tape: Any, nodes: tuple[Any, ...], f: Any, xs: tuple[Any, ...], kws: dict[str, Any]
) -> Any:
    """Run recording code; arguments that do not fit raise what the user's function raises."""
    try:
        return run(tape, nodes, *xs, **kws)
    except TypeError as error:
        traceback = error.__traceback__
        if traceback is None or traceback.tb_next is not None:
            raise
        misfit = error
    f(*xs, **kws)
    raise misfit


def recording_of(f: Any) -> tuple[types.FunctionType, bool]:
    """Return the recording code of a function, with its cells, and whether it is a generator."""
    key = (f.__code__, id(f.__globals__))  # the code that is made holds the globals
    known = _recordings.get(key)
    if known is None:
        with _compile_lock:
            function = lowered(f)
            made = compile_emitted(recording(function), f)
            known = _recordings.keep(key, (made, function.is_generator))
    run, is_generator = known
    if f.__closure__ or f.__defaults__ or f.__kwdefaults__:
        cells = dict(zip(f.__code__.co_freevars, f.__closure__ or (), strict=True))
        own = zip(run.__code__.co_freevars, run.__closure__ or (), strict=True)
        closure = tuple([cells.get(name, cell) for name, cell in own])
        made = types.FunctionType(
            run.__code__, run.__globals__, run.__name__, f.__defaults__, closure
        )
        made.__kwdefaults__ = f.__kwdefaults__
        return made, is_generator
    return run, is_generator


def function_recorded_by(code: types.CodeType) -> types.CodeType | None:
    """Return the code of the user's function that recording code records, if it is such code."""
    known = _recorded_by.get(id(code))
    if known is None:
        made = _recordings.items()
        own = next((own for (own, _), (run, _) in made if run.__code__ is code), None)
        known = _recorded_by.keep(id(code), (code, own))
    return known[1]


def recording(function: ir.Function) -> Emitted:
    """Return the recording code of a lowered function."""
    before = leading(function)
    return emit(record(function), "_recorded", before)


def lowered(f: Any) -> ir.Function:
    """Return the IR of a Python function, anew: later stages take names in it."""
    try:
        return lower(f.__code__, f.__globals__)
    except NoSourceError as error:
        raise NoSourceError(f"{where()}: {error}") from None


def compile_emitted(emitted: Emitted, f: Any) -> types.FunctionType:
    """Compile emitted Python, with the file name, lines, globals and name of the user's function.

    Variables that `f` captures stay free variables of the compiled function.
    """
    free = f.__code__.co_freevars
    names = [*emitted.intrinsics, *free]
    parameters = ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [])
    tree = emitted.tree
    tree.lineno = f.__code__.co_firstlineno  # from which IPython counts the lines that it shows
    made_name = ast.Name(tree.name, ast.Load())
    give = ast.Return(made_name)
    factory = without_type_parameters(ast.FunctionDef("factory", parameters, [tree, give], []))
    for part in (factory, *parameters.args, give, made_name):
        ast.copy_location(part, tree)
    module = ast.Module([factory], [])
    scope: dict[str, Any] = {}
    flags = f.__code__.co_flags & __future__.annotations.compiler_flag
    with TREES:
        code = compile(module, f.__code__.co_filename, "exec", flags, dont_inherit=True)
    exec(code, f.__globals__, scope)
    values = [INTRINSICS[path] for path in emitted.intrinsics.values()]
    made: types.FunctionType = scope["factory"](*values, *(None for _ in free))
    made.__code__ = _as_the_users(made.__code__, tree.name, f.__code__)
    return made


def _as_the_users(code: types.CodeType, name: str, own: types.CodeType) -> types.CodeType:
    """Return emitted code under the user's names, and so all functions defined inside it."""
    old, new = f"factory.<locals>.{name}", own.co_qualname

    def renamed(c: types.CodeType) -> types.CodeType:
        consts = [renamed(k) if isinstance(k, types.CodeType) else k for k in c.co_consts]
        if not c.co_flags & inspect.CO_OPTIMIZED:  # of a class, whose name is a constant
            consts = [
                new + k[len(old) :] if isinstance(k, str) and f"{k}.".startswith(old + ".") else k
                for k in consts
            ]
        return c.replace(co_consts=tuple(consts), co_qualname=c.co_qualname.replace(old, new, 1))

    return renamed(code).replace(co_name=own.co_name)
