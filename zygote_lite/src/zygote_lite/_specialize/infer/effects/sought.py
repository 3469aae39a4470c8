"""Effects that a function may have, looked for in its source before it is run.

A function that transformed code calls as it is must not do anything that can be seen from outside:
making code calls it on samples, and code that is left is run again by the tape.
"""

import ast
import builtins
import contextlib
import functools
import itertools
import sys
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from rulescore import why
from rulescore.faults import an
from zygote_lite._cotangents.kinds import is_written_in_python
from zygote_lite._cotangents.run import state
from zygote_lite._ir import nodes as ir
from zygote_lite._ir.lower.function import lower
from zygote_lite._ir.traits import is_pure
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.functions import is_hashable
from zygote_lite._specialize.typed.inputs import defaults_of
from zygote_lite._specialize.typed.notes import global_variable
from zygote_lite._specialize.typed.plugins import is_of_plugin, takes_engine
from zygote_lite._specialize.typed.reasons import NotSupported, Unsound
from zygote_lite._specialize.typed.values import Value

_MOST_DEEP = 8  # functions that call each other
_WRITING = {"write_global", "write_cell", "setattr", "delattr", "note_class",
            "resume", "locals", "set_defaults", "note_annotations"}  # fmt: skip
_OUTPUT = {"tofile", "dump"}  # methods of arrays
_ENTERING = {"__enter__", "__exit__"}
_UNSEALING = {"at", "setflags"}  # `np.add.at` writes to read-only arrays, too (NumPy 2.4)
_OF_MEMORY = {"base", "flags", "strides", "data", "ctypes", "__array_interface__"}
_ASK_FOR_MEMORY = {np.shares_memory, np.may_share_memory, np.isfortran}
_MOST_STEPS = 200_000  # of a call on samples
_MAKING = {list, dict, tuple, set, frozenset, float, int, bool, str, range, enumerate, zip,
           reversed, slice, complex, map, filter, np.errstate, np.exceptions.AxisError}  # fmt: skip
_PURE = {sorted, next, iter, isinstance, issubclass, callable, any, all, sum, min, max, len, abs,
         divmod, pow, round, repr, format, chr, ord}  # fmt: skip
_unknown = object()
_CONSTANTS = {int, float, complex, bool, str, bytes, type(None), types.EllipsisType}


class Search:
    """Look for effects of a function, and of those that it calls. What may have any is refused.

    What is found out about is guarded: the functions that it calls, and the modules they are in.

    Arguments:
        builder: what writes the code.
        with_rules: whether they are given to a rule: then they may read global arrays, and the
            steps of the rule itself are not counted.

    Attributes:
        arrays: those arrays.
        calls_itself: whether a function under `lru_cache` does.
    """

    calls_itself = False

    def __init__(self, builder: Builder, with_rules: bool = False) -> None:
        self.builder, self.with_rules = builder, with_rules
        self.seen: set[types.FunctionType] = set()
        self.files: set[str] = set()
        self.arrays: list[Value] = []

    def look(self, f: types.FunctionType, depth: int) -> None:
        if f in self.seen:
            return
        self.seen.add(f)
        self.builder.inputs.guard_function(f)
        if depth > _MOST_DEEP or f.__closure__ or f.__dict__:
            raise Unsound.EFFECTS(
                f"{f.__name__} is a closure, has attributes, or is called very deep"
            )
        for name, x in defaults_of(f).items():
            self.guard(self.builder.inputs.default_of(f, name), x)
            self.value(x, f.__name__, depth)
        self.body(f, depth)

    def body(self, f: types.FunctionType, depth: int) -> None:
        """Look at the code of a function, and not at what it captures."""
        self.files.add(f.__code__.co_filename)
        function = lower(f.__code__, f.__globals__)
        if function.is_generator or function.nonlocals:
            raise Unsound.EFFECTS(
                f"{f.__name__} is a generator, or assigns `nonlocal` or global variables"
            )
        self.managers(function.body, f)
        for s in ir.every(function.body):
            if isinstance(s, _NOT_ALLOWED):
                raise Unsound.EFFECTS(f"{f.__name__} has {an(type(s).__name__.lower())}")
            if isinstance(s, ir.Try):
                for handler in s.handlers:
                    self.kind(handler.kind, f)
            self.method(getattr(s, "name", ""), f)
            if getattr(s, "name", "") in _OF_MEMORY or _compares_objects(s):
                raise Unsound.IDENTITY(
                    f"{f.__name__} asks whether two values are the same object, or share memory"
                )
            for atom in ir.atoms_of(s):
                self.atom(atom, f, depth)

    @contextlib.contextmanager
    def ending(self) -> Iterator[None]:
        """Raise `NotSpecializable` where the code of these functions does not come to an end.

        On a path that is not taken now, samples are not those of a call: a loop may never end.
        """
        left, before = _MOST_STEPS, sys.gettrace()

        def step(frame: types.FrameType, event: str, _: Any) -> Any:
            nonlocal left
            is_within = frame.f_code.co_filename in self.files
            left -= is_within or not self.with_rules
            if left < 0 and is_within:
                raise _EndlessError
            return step if is_within else None

        outer, state.tries = state.tries, True
        sys.settrace(step)
        try:
            yield
        except _EndlessError:
            raise NotSupported.TOO_LONG("a call takes too many steps") from None
        finally:
            sys.settrace(before)
            state.tries = outer

    def managers(self, body: list[ir.Statement], f: types.FunctionType) -> None:
        """Look at what a function enters by `with`: `np.errstate` sets what it takes back."""
        made: dict[str, list[ir.Statement]] = {}
        for s in ir.every(body):
            made.setdefault(getattr(s, "target", ir.DISCARD), []).append(s)
        for s in itertools.chain(*made.values()):
            if isinstance(s, ir.Call) and s.function == ir.Intrinsic("enter_context"):
                self.manager(s.arguments[0], made, f)

    def manager(
        self, x: ir.Atom, made: dict[str, list[ir.Statement]], f: types.FunctionType
    ) -> None:
        """Look at a manager that a function enters, given what is assigned to its variables."""
        match made.get(x.id, []) if isinstance(x, ir.Name) else []:
            case [ir.Move(_, _, source)]:
                self.manager(source, made, f)
            case [ir.Call(_, _, ir.Global(path), [], keywords)] if self.found(
                path, f
            ) is np.errstate and all(
                name != "call" and isinstance(x, ir.Const) for name, x in keywords
            ):
                pass
            case _:
                raise Unsound.EFFECTS(f"{f.__name__} enters a manager other than `np.errstate`")

    def guard(self, expression: str, x: Any) -> None:
        """Demand that an expression gives the same object; of a constant, one of its type."""
        if is_known_constant(x):
            self.builder.inputs.guard_type(expression, x)
        else:
            self.builder.inputs.guard(expression, x)

    def kind(self, kind: Any, f: types.FunctionType) -> None:
        """Look at what an `except` names: it is evaluated as it stands."""
        if kind is not None and not all(
            isinstance(part, ast.Name | ast.Tuple | ast.Attribute | ast.expr_context)
            for part in ast.walk(kind)
        ):
            raise Unsound.EFFECTS(f"{f.__name__} computes which exceptions it catches")

    def method(self, name: str, f: types.FunctionType) -> None:
        """Look at the name of a method or attribute, or at a text that may be one."""
        if name in _OUTPUT:
            raise Unsound.EFFECTS(f"{f.__name__} writes to a file")
        if name in _ENTERING:
            raise Unsound.EFFECTS(f"{f.__name__} enters a manager by hand")
        if name in _UNSEALING:
            raise Unsound.EFFECTS(f"{f.__name__} uses `{name}`, which may write to its arguments")

    def atom(self, atom: ir.Atom, f: types.FunctionType, depth: int) -> None:
        if isinstance(atom, ir.Intrinsic):
            if atom.path.partition(".")[0] in _WRITING:
                raise Unsound.EFFECTS(f"{f.__name__} writes to a global variable")
        elif isinstance(atom, ir.Const):
            if isinstance(atom.value, str):  # `invoke(x, "dump", ...)`
                self.method(atom.value, f)
        elif isinstance(atom, ir.Global):
            self.method(atom.path.rpartition(".")[2], f)
            self.name(atom.path, f, depth)

    def found(self, path: str, f: types.FunctionType) -> Any:
        """Return what a global that a function reads is, or `_unknown`."""
        head, *rest = path.split(".")
        x = f.__globals__.get(head, getattr(builtins, head, None))
        for part in rest:
            x = vars(x).get(part) if isinstance(x, types.ModuleType) else _unknown
        return x

    def name(self, path: str, f: types.FunctionType, depth: int) -> None:
        """Look at a global that a function reads, and guard it."""
        head, *rest = path.split(".")
        if global_variable(f.__globals__, head) in self.builder.own:
            raise Unsound.EFFECTS(f"it reads {head}, which is assigned")
        x = self.found(path, f)
        if is_known_constant(x) and not rest and head in f.__globals__:
            self.guard(f"{self.builder.inputs.name_for(f.__globals__, 'g')}[{head!r}]", x)
        else:
            found = self.builder.global_value(f.__globals__, path)
            if self.with_rules and found.is_array:  # of a type that nobody has written methods for
                self.arrays += [found] * (found not in self.arrays)
                return
        self.value(x, path, depth)

    def value(self, x: Any, name: str, depth: int) -> None:
        """Look at a value from around a function: it may be called, or be a constant."""
        if callable(x) and not all(_is_of_plugin(rule) for _, rule in why(x)):
            raise Unsound.EFFECTS(f"a rule of yours for {name} may have side effects")
        if isinstance(x, types.FunctionType) and takes_engine(x):
            return  # what it calls is looked at where it is given
        cached = x if isinstance(x, functools._lru_cache_wrapper) else None
        if cached is not None and cached.__wrapped__ in self.seen:
            self.calls_itself = True
            return
        if isinstance(x, types.FunctionType) and not is_pure(x):
            self.look(x, depth + 1)
        elif isinstance(x, type):
            if x not in _MAKING and not (
                issubclass(x, BaseException) and not is_written_in_python(x)
            ):
                raise Unsound.EFFECTS(f"it makes objects of the class {x.__name__}")
        elif type(x) is tuple:
            for part in x:
                self.value(part, name, depth)
        elif not (is_known_constant(x) or (is_hashable(x) and _is_known(x))):
            raise Unsound.EFFECTS(f"it reads {name}, which may change or have side effects")


class _EndlessError(BaseException):
    """Stop a call, whichever errors it handles itself."""


def _is_of_plugin(rule: Any) -> bool:
    written = rule.partials or (rule.body,)
    if rule.kind == "constant":  # its body is the function itself, which is looked at
        return True
    return all(is_of_plugin({"__name__": getattr(f, "__module__", None)}) for f in written)


def _is_known(f: Any) -> bool:
    return f in _PURE or (is_pure(f) and f not in _ASK_FOR_MEMORY)


def is_known_constant(x: Any) -> bool:
    """Return whether a value is a constant whose operators and methods are Python's or NumPy's."""
    return type(x) in _CONSTANTS or (
        isinstance(x, np.generic | np.dtype) and type(x).__module__.partition(".")[0] == "numpy"
    )


def _compares_objects(s: ir.Statement) -> bool:
    """Return whether a statement asks whether two objects are one: an island is given views."""
    return (
        isinstance(s, ir.Call)
        and s.function in (ir.Intrinsic("operator.is_"), ir.Intrinsic("operator.is_not"))
        and not any(isinstance(x, ir.Const) for x in s.arguments)
    )


_NOT_ALLOWED = (ir.SetAttribute, ir.Closure, ir.Class, ir.Plain, ir.Yield)
