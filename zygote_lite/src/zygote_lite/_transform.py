"""The stages in their order, and the functions that came out of them.

    function --lower--> IR --instrument--> IR --primal, reverse--> IR --emit--> Python --> code
                                           IR --record-----------> IR --emit--> Python --> code

Pure straight code goes the upper way: its adjoint is emitted. All other code goes the lower way:
it records what it runs. What came out is kept per code object (and set of active parameters).
"""

import __future__

import ast
import inspect
import threading
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from rulescore import Tangent, generation, plugins
from zygote_lite import (  # noqa: F401 - declare
    _array_calls,
    _classes,
    _composite,
    _construct,
    _copying,
    _deques,
    _heaps,
    _iteration,
    _itertools,
    _lookup,
    _memo,
    _nditer,
    _proxies,
    _subscripts,
    _unasked,
)
from zygote_lite import _ir as ir
from zygote_lite._arguments import out_position, place_arguments
from zygote_lite._emit import Emitted, emit
from zygote_lite._errors import DifferentiationError
from zygote_lite._guard import is_writer
from zygote_lite._instrument import instrument
from zygote_lite._intrinsics import INTRINSICS
from zygote_lite._lower import lower
from zygote_lite._primal import primal
from zygote_lite._pull import pull
from zygote_lite._pullbacks import Effect, Flags, Pulled
from zygote_lite._record import leading, record
from zygote_lite._refusal import note_resolution, where
from zygote_lite._reverse import reverse
from zygote_lite._source import TREES, NoSourceError, place_of

Gather = Callable[[tuple[Any, ...]], tuple[Any, ...]]

_adjoints: dict[Any, types.FunctionType] = {}
_recordings: dict[Any, tuple[types.FunctionType, bool]] = {}
_gathers: dict[Any, tuple[types.FunctionType, Gather]] = {}
_pure: dict[Any, tuple[int, bool]] = {}
_lock = threading.RLock()


# -- straight code -----------------------------------------------------------------------------


def transformed(flags: Flags, f: Any, xs: tuple[Any, ...], kws: dict[str, Any]) -> Pulled:
    """Run the adjoint of a pure straight function: return its value and its pullback."""
    key = (f.__code__, id(f.__globals__), tuple([bool(flag) for flag in flags]), *kws)
    known = _gathers.get(key)
    if known is None:
        known = _gathers[key] = _gather(f, flags, len(xs), tuple(kws))
    run, gather = known
    if f.__defaults__ or f.__kwdefaults__:
        run = _with_defaults(run, f, run.__closure__)
    note_resolution(f, xs, f"transformed, its adjoint emitted; {place_of(f)}")
    cells = [cell.cell_contents for cell in f.__closure__ or ()]
    y, back, flag = run_as_called(run, tuple(cells), f, xs, kws)
    captured = f.__code__.co_freevars

    def transformed_back(dy: Any) -> tuple[Any, ...]:
        cotangents = back(dy)
        fields = dict(zip(captured, cotangents, strict=False))
        d_f = None
        if any(d is not None for d in fields.values()):
            d_f = Tangent(type(f), **fields)
        return d_f, *gather(cotangents)

    return y, transformed_back if flag else Effect(transformed_back)


def run_as_called(
    run: Any, before: tuple[Any, ...], f: Any, xs: tuple[Any, ...], kws: dict[str, Any]
) -> Any:
    """Run an emitted function; arguments that do not fit raise what the user's function raises."""
    try:
        return run(*before, *xs, **kws)
    except TypeError as error:
        traceback = error.__traceback__
        if traceback is not None and traceback.tb_next is None:
            f(*xs, **kws)
        raise


def _gather(
    f: Any, flags: Flags, count: int, keywords: tuple[str, ...]
) -> tuple[types.FunctionType, Gather]:
    """Return the adjoint for these flags, and how its cotangents become those of the operands."""
    code = f.__code__
    names, places = place_arguments(code, count, keywords)
    active = set(code.co_freevars) if flags[0] else set()
    active |= {names[i] for (i, _), flag in zip(places, flags[1:], strict=False) if flag}
    start = len(code.co_freevars)
    found = [(start + i, key) for i, key in places]

    def gather(cotangents: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple([_entry(cotangents[i], key) for i, key in found])

    return adjoint_of(f, frozenset(active)), gather


def _entry(d: Any, key: Any) -> Any:
    return d if key is None or d is None else d[key]


def adjoint_of(f: Any, active: frozenset[str]) -> types.FunctionType:
    """Return the compiled adjoint of a straight function, for a set of active parameters."""
    key = (f.__code__, id(f.__globals__), active)
    with _lock:
        if key not in _adjoints:
            emitted = emit(reverse(primal(lowered(f), active)), "_pullback")
            _adjoints[key] = compile_emitted(emitted, f)
        return _adjoints[key]


_WRITING = ("setattr", "delattr", "operator.setitem", "operator.delitem", "operator.i", "invoke",
            "apply", "enter_context", "exit_context", "super")  # fmt: skip


def is_pure(f: Any) -> bool:
    """Return whether a function is straight code that calls only rules and the like of itself.

    Such a function writes nothing, so that cotangents may go from call to call by value.
    """
    key = (f.__code__, id(f.__globals__))
    known = _pure.get(key)
    if known is None or known[0] != generation():
        _pure[key] = (generation(), False)  # while it is looked at: recursion is not straight
        _pure[key] = (generation(), _is_pure(f))
    return _pure[key][1]


def _is_pure(f: Any) -> bool:
    try:
        function = lowered(f)
    except DifferentiationError:
        return False
    if function.is_generator or function.nonlocals or function.parameters.kwarg:
        return False
    targets: list[str] = []
    for s in function.body[:-1]:
        if not isinstance(s, ir.Call | ir.Move):
            return False
        targets.append(s.target)
        if isinstance(s, ir.Call) and not _is_pure_call(s, f):
            return False
    rebound = {*function.captured} & {*targets}
    return isinstance(function.body[-1], ir.Return) and not rebound


def _is_pure_call(call: ir.Call, f: Any) -> bool:
    function = call.function
    if any(name == "out" for name, _ in call.keywords):
        return False
    if isinstance(function, ir.Intrinsic):
        return not function.path.startswith(_WRITING) and function.path not in ("iter", "next")
    if not isinstance(function, ir.Global):
        return False
    head, *rest = function.path.split(".")
    builtins = f.__builtins__
    value = f.__globals__.get(head, builtins.get(head))
    for name in rest:
        value = getattr(value, name, None)
    if isinstance(value, np.ufunc) and len(call.arguments) > value.nin:
        return False  # the array after the operands is written
    if is_writer(value, {}) or out_position(value, len(call.arguments)) is not None:
        return False
    if isinstance(value, types.FunctionType) and not has_rule(value):
        return not value.__closure__ and is_pure(value)
    return has_rule(value)


_known_functions: tuple[int, set[int]] = (-1, set())


def has_rule(f: Any) -> bool:
    """Return whether some plugin has a rule for `f`, whatever the types of its arguments."""
    global _known_functions
    if _known_functions[0] != generation():
        rules = [r for plugin in plugins() for ruleset in plugin.rulesets for r in ruleset.rules]
        _known_functions = (generation(), {id(rule.function) for rule in rules})
    return id(f) in _known_functions[1]


# -- recorded code -----------------------------------------------------------------------------


def recording_of(f: Any) -> tuple[types.FunctionType, bool]:
    """Return the recording code of a function, with its cells, and whether it is a generator."""
    key = (f.__code__, id(f.__globals__))
    known = _recordings.get(key)
    if known is None:
        with _lock:
            function = lowered(f)
            before = leading(function)
            emitted = emit(record(function), "_recorded", before)
            made = compile_emitted(emitted, f, f.__code__.co_freevars)
            known = _recordings[key] = (made, function.is_generator)
    run, is_generator = known
    if f.__closure__ or f.__defaults__ or f.__kwdefaults__:
        cells = dict(zip(f.__code__.co_freevars, f.__closure__ or (), strict=True))
        own = zip(run.__code__.co_freevars, run.__closure__ or (), strict=True)
        closure = tuple([cells.get(name, cell) for name, cell in own])
        run = _with_defaults(run, f, closure)
    return run, is_generator


# -- both --------------------------------------------------------------------------------------


def lowered(f: Any) -> ir.Function:
    """Return the instrumented IR of a Python function, anew: later stages take names in it."""
    try:
        return instrument(lower(f.__code__, f.__globals__))
    except NoSourceError as error:
        raise NoSourceError(f"{where()}: {error}") from None


def _with_defaults(run: types.FunctionType, f: Any, closure: Any) -> types.FunctionType:
    made = types.FunctionType(run.__code__, run.__globals__, run.__name__, f.__defaults__, closure)
    made.__kwdefaults__ = f.__kwdefaults__
    return made


def compile_emitted(emitted: Emitted, f: Any, free: tuple[str, ...] = ()) -> types.FunctionType:
    """Compile emitted Python, with the user's file name, lines, globals and function name.

    Arguments:
        emitted: what to compile.
        f: the user's function.
        free: captured variables, which stay free variables of the compiled function.
    """
    names = [*emitted.intrinsics, *free]
    parameters = ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [])
    tree = emitted.tree
    give = ast.Return(ast.Name(tree.name, ast.Load()))
    factory = ast.FunctionDef("factory", parameters, [tree, give], [])
    if "type_params" in factory._fields:
        factory.type_params = []  # type: ignore[attr-defined]
    ast.copy_location(factory, tree)
    module = ast.fix_missing_locations(ast.Module([factory], []))
    scope: dict[str, Any] = {}
    flags = f.__code__.co_flags & __future__.annotations.compiler_flag
    with TREES:
        code = compile(module, f.__code__.co_filename, "exec", flags, dont_inherit=True)
    exec(code, f.__globals__, scope)
    known = INTRINSICS | {"pull": pull}
    values = [known[path] for path in emitted.intrinsics.values()]
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
