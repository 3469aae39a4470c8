"""Recorded islands: calls inside transformed code that the tape answers.

A function that cannot be transformed is called as it is, `y, back = island(f, x)` in the text, and
its pullback is called in the reverse pass. So one odd statement costs its own function only.

Making code calls the function on samples, and code that is left is run again by the tape: so an
island must not do anything that can be seen from outside. It is given numbers and arrays alone, and
the arrays cannot be written to; what it reads from around it are functions, modules and constants;
and it calls nothing that may have effects. All of this is told from its source, before it is run.
"""

import ast
import builtins
import contextlib
import operator
import sys
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from rulescore import why
from rulescore.faults import an
from zygote_lite._cotangents.kinds import is_written_in_python
from zygote_lite._cotangents.zeros import filled
from zygote_lite._ir import nodes as ir
from zygote_lite._ir.lower.function import lower
from zygote_lite._ir.traits import is_pure
from zygote_lite._specialize.rules.inlined import be_active, snapshot
from zygote_lite._specialize.rules.pullback import CalledPullback
from zygote_lite._specialize.typed.abstract_eval import sealed
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.facts import Scalar, can_carry
from zygote_lite._specialize.typed.functions import is_hashable
from zygote_lite._specialize.typed.inputs import defaults_of
from zygote_lite._specialize.typed.plugins import is_of_plugin
from zygote_lite._specialize.typed.reasons import NotSpecializable, NotSupported, Unsound
from zygote_lite._specialize.typed.values import Value, constant
from zygote_lite._tape.run import Pullback, recorded_quietly
from zygote_lite.errors import DifferentiationError

_MOST_DEEP = 8  # functions that call each other
_WRITING = {"write_global", "write_cell", "setattr", "delattr", "enter_context", "note_class",
            "resume", "locals", "set_defaults"}  # fmt: skip
_OUTPUT = {"tofile", "dump"}  # methods of arrays
_UNSEALING = {"at", "setflags"}  # `np.add.at` writes to read-only arrays, too (NumPy 2.4)
_OF_MEMORY = {"base", "flags", "strides", "data", "ctypes", "__array_interface__"}
_ASK_FOR_MEMORY = {np.shares_memory, np.may_share_memory, np.isfortran}
_MOST_STEPS = 200_000  # of a call on samples
_MAKING = {list, dict, tuple, set, frozenset, float, int, bool, str, range, enumerate, zip,
           reversed, slice, complex, map, filter}  # fmt: skip
_PURE = {sorted, next, iter, isinstance, issubclass, callable, any, all, sum, min, max, len, abs,
         divmod, pow, round, repr, format, chr, ord}  # fmt: skip
_unknown = object()
_CONSTANTS = {int, float, complex, bool, str, bytes, type(None), types.EllipsisType}


# -- what code calls -----------------------------------------------------------------------------


def island(f: Any, *xs: Any, only: tuple[int, ...] | None = None) -> tuple[Any, "IslandPullback"]:
    """Return the value of a call and its pullback, by the tape.

    Arguments:
        f: the function.
        xs: its arguments.
        only: the numbers of those that are differentiated; without it, all.
    """
    flags = [True if only is None or i in only else None for i in range(len(xs))]
    y, back = recorded_quietly((None, *flags), f, tuple(map(sealed, xs)), {})
    return y, IslandPullback(back, xs, flags)


def unfollowed(f: Any, *xs: Any) -> Any:
    """Return the value of a call that no gradient passes through."""
    return f(*map(sealed, xs))


class IslandPullback:
    """Map the cotangent of the value of an island to those of its arguments.

    There is a zero where no gradient came to an argument that is differentiated.
    """

    __slots__ = ("back", "flags", "xs")

    def __init__(self, back: Pullback, xs: tuple[Any, ...], flags: list[Any]) -> None:
        self.back, self.xs, self.flags = back, xs, flags

    def __call__(self, dy: Any) -> tuple[Any, ...]:
        given = zip(self.back(dy)[1:], self.xs, self.flags, strict=True)
        return None, *[filled(d, x) if flag else None for d, x, flag in given]

    def only(self, needed: tuple[bool, ...]) -> "IslandPullback":
        """Return the pullback itself: which cotangents are needed was told to the tape."""
        return self


# -- writing them --------------------------------------------------------------------------------


def inlined_or_island(
    builder: Builder, f: Any, xs: list[Value], kws: dict[str, Value], stem: str
) -> Value:
    """Write the body of a function in the place of its call, or the call of an island.

    Raises `NotSpecializable`, with the reason of the body, where neither can be.
    """
    if not _may_be_island(builder, f, xs, kws):
        return builder.inline(f, xs, kws)
    state, written = builder.attempt(), dict(builder.written)
    try:
        return builder.inline(f, xs, kws)
    except NotSpecializable as reason:
        if reason.code is not None and reason.code not in builder.inputs.recursive:
            raise  # it becomes a function of its own
        given = {builder.storage(x) for x in xs if x.is_array}
        if any(builder.storage(x) in given for x in builder.written.keys() - written.keys()):
            raise  # the samples that it was given have been written to
        builder.give_up(state)
        try:
            effects = _Effects(builder)
            effects.look(f, 0)
            with _ending(effects.files):
                y = _island(builder, f, xs, stem)
        except (NotSpecializable, DifferentiationError):  # it has no source, or no IR
            builder.give_up(state)
            raise reason from None
        builder.inputs.islands[f.__name__] = str(reason)
    return y


def _may_be_island(builder: Builder, f: Any, xs: list[Value], kws: dict[str, Value]) -> bool:
    """Return whether the call of a function may be an island, as far as its operands tell."""
    return (
        builder.has_islands
        and not builder.settings  # which an island would not find
        and isinstance(f, types.FunctionType)
        and not kws
        and all(f.__code__ != frame.code for frame in builder.frames)
        and all(
            _is_known_constant(x.sample) if x.is_constant else x.is_array or x.is_scalar for x in xs
        )
        and all(can_carry(x.fact) for x in xs if x.active)
    )


def _island(builder: Builder, f: Any, xs: list[Value], stem: str) -> Value:
    if not any(x.active for x in xs):
        found = builder.operation(unfollowed, [constant(f), *xs], stem=stem, certain=False)
        _refuse_other_values(found.target)
        found.required = True
        return found.target
    given = [constant(f), *(snapshot(builder, x) for x in xs)]
    numbers = tuple([i for i, x in enumerate(xs) if x.active])
    only = {} if len(numbers) == len(xs) else {"only": constant(numbers)}
    both = builder.operation(island, given, only, certain=True).target
    op = builder.operation(operator.getitem, [both, constant(0)], stem=stem)
    be_active(op, xs)
    op.check = True
    op.target.fresh = op.target.made = False
    back = builder.operation(operator.getitem, [both, constant(1)], certain=True).target
    op.reverse_rule = CalledPullback(back, xs)
    return op.target


@contextlib.contextmanager
def _ending(files: set[str]) -> Iterator[None]:
    """Raise `NotSpecializable` where code of some files does not come to an end.

    Samples are not those of a call, on a path that is not taken now: a loop may never end there.
    """
    left, before = _MOST_STEPS, sys.gettrace()

    def step(frame: types.FrameType, event: str, _: Any) -> Any:
        nonlocal left
        left -= 1
        is_within = frame.f_code.co_filename in files
        if left < 0 and is_within:
            raise _EndlessError
        return step if is_within else None

    sys.settrace(step)
    try:
        yield
    except _EndlessError:
        raise NotSupported.TOO_LONG("a call takes too many steps") from None
    finally:
        sys.settrace(before)


class _EndlessError(BaseException):
    """Stop a call, whichever errors it handles itself."""


def _refuse_other_values(y: Value) -> None:
    if not (y.is_array or isinstance(y.fact, Scalar)):
        raise Unsound.NO_FLOAT(
            "a function that cannot be transformed returns something other than a number or an "
            "array"
        )


# -- what may be one -----------------------------------------------------------------------------


class _Effects:
    """Look for effects of a function, and of those that it calls. What may have any is refused.

    What is found out about is guarded: the functions that it calls, and the modules they are in.
    """

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.seen: set[types.FunctionType] = set()
        self.files: set[str] = set()

    def look(self, f: types.FunctionType, depth: int) -> None:
        if f in self.seen:
            return
        self.seen.add(f)
        self.files.add(f.__code__.co_filename)
        self.builder.inputs.guard_function(f)
        if depth > _MOST_DEEP or f.__closure__ or f.__dict__:
            raise Unsound.EFFECTS(
                f"{f.__name__} is a closure, has attributes, or is called very deep"
            )
        for name, x in defaults_of(f).items():
            self.guard(self.builder.inputs.default_of(f, name), x)
            self.value(x, f.__name__, depth)
        function = lower(f.__code__, f.__globals__)
        if function.is_generator or function.nonlocals:
            raise Unsound.EFFECTS(
                f"{f.__name__} is a generator, or assigns `nonlocal` or global variables"
            )
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

    def guard(self, expression: str, x: Any) -> None:
        """Demand that an expression gives the same object; of a constant, one of its type."""
        if _is_known_constant(x):
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

    def name(self, path: str, f: types.FunctionType, depth: int) -> None:
        """Look at a global that a function reads, and guard it."""
        head, *rest = path.split(".")
        x = f.__globals__.get(head, getattr(builtins, head, None))
        for part in rest:
            x = vars(x).get(part) if isinstance(x, types.ModuleType) else _unknown
        if _is_known_constant(x) and not rest and head in f.__globals__:
            self.guard(f"{self.builder.inputs.name_for(f.__globals__, 'g')}[{head!r}]", x)
        else:
            self.builder.global_value(f.__globals__, path)
        self.value(x, path, depth)

    def value(self, x: Any, name: str, depth: int) -> None:
        """Look at a value from around a function: it may be called, or be a constant."""
        if callable(x) and not all(_is_of_plugin(rule) for _, rule in why(x)):
            raise Unsound.EFFECTS(f"a rule of yours for {name} may have side effects")
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
        elif not (_is_known_constant(x) or (is_hashable(x) and _is_known(x))):
            raise Unsound.EFFECTS(f"it reads {name}, which may change or have side effects")


def _is_of_plugin(rule: Any) -> bool:
    written = rule.partials or (rule.body,)
    return all(is_of_plugin({"__name__": getattr(f, "__module__", None)}) for f in written)


def _is_known(f: Any) -> bool:
    return f in _PURE or (is_pure(f) and f not in _ASK_FOR_MEMORY)


def _is_known_constant(x: Any) -> bool:
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
