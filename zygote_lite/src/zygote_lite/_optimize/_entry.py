"""The way into specialized code: guards that are quick to test, and what is made after a miss.

The generic engine answers whenever no specialization fits, fails, or gives a gradient that is not
finite: in it, a zero that meets an infinity stays a zero.
"""

import ast
import math
import threading
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from rulescore import generation
from zygote_lite._errors import DifferentiationError
from zygote_lite._optimize._nodes import leaves
from zygote_lite._optimize._specialize import Specialized, specialize
from zygote_lite._optimize._values import (
    MANY,
    ONE,
    ArrayOf,
    Other,
    Scalar,
    Unfit,
    Value,
    fact_of,
)
from zygote_lite._state import state

Enter = Callable[..., Any]
INTERNAL = "internal error"
_MOST = 8  # specializations of one function
_SOON, _TRIES = 2, (2, 8, 64)  # calls with one choice of types before each try


class Entries:
    """The specializations of one function, for one choice of differentiated arguments."""

    def __init__(self, active: tuple[bool, ...], single: bool, compiled: bool = False) -> None:
        self.active = active
        self.single = single
        self.compiled = compiled
        self.enters: tuple[Enter, ...] = ()
        self.calls: dict[Any, int] = {}
        self.reasons: dict[Any, str] = {}
        self.lock = threading.Lock()

    def note(self, f: Any, xs: tuple[Any, ...]) -> None:
        """Count a call that no specialization answered; make one when it is worth it."""
        key = signature(xs)
        if key is None:
            return
        with self.lock:
            count = self.calls[key] = self.calls.get(key, 0) + 1
            if count not in (_TRIES if not self.compiled else (1, *_TRIES)):
                return
            if len(self.calls) > 64:
                self.calls.clear()
            try:
                enter = entered(f, xs, self.active, self.single, self.compiled)
            except Unfit as reason:
                self.reasons[key] = str(reason)
                return
            except (DifferentiationError, RecursionError) as reason:
                self.reasons[key] = str(reason)
                return
            self.enters = (enter, *self.enters[: _MOST - 1])


_known: dict[Any, Entries] = {}


def entries_of(f: Any, count: int, numbers: tuple[int, ...], single: bool) -> Entries | None:
    """Return the specializations of a Python function; of other callables there are none."""
    if type(f) is not types.FunctionType:
        return None
    key = (f.__code__, id(f.__globals__), count, numbers, single)
    found = _known.get(key)
    if found is None:
        if len({*numbers}) != len(numbers) or [*numbers] != sorted(numbers):
            return None
        active = tuple([i in numbers for i in range(count)])
        found = _known.setdefault(key, Entries(active, single))
    return found


def signature(xs: tuple[Any, ...]) -> Any:
    """Return what specializations are told apart by; `None` where none can be made."""
    parts = []
    for x in xs:
        if type(x) in (tuple, list):
            inner = signature(tuple(x))
            if inner is None:
                return None
            parts.append((type(x), inner))
            continue
        fact = fact_of(x)
        if isinstance(fact, Other) and not isinstance(x, str | bool | None):
            return None
        parts.append(fact if not isinstance(fact, Other) else x)
    return tuple(parts)


def entered(
    f: Any, xs: tuple[Any, ...], active: tuple[bool, ...], single: bool, compiled: bool = False
) -> Enter:
    """Return a function that tests the guards and runs the code of a new specialization."""
    made = specialize(f, xs, active, compiled=compiled)
    fast = compile_text(made, f)
    if compiled:
        fast = _jitted(fast, made, f, xs)
    return _guarded(f, made, fast, active, single)


def compile_text(made: Specialized, f: Any) -> types.FunctionType:
    """Compile specialized code, with the user's file name and the user's lines."""
    tree = ast.parse(str(made.text))
    for node in ast.walk(tree):
        if hasattr(node, "lineno"):
            origin = made.text.origins[min(node.lineno, len(made.text.origins)) - 1]
            line = getattr(origin, "lineno", f.__code__.co_firstlineno)
            node.lineno = node.end_lineno = line  # type: ignore[attr-defined]
            node.col_offset = node.end_col_offset = 0  # type: ignore[attr-defined]
    space = {"np": np, "math": math, **made.bound}
    exec(compile(tree, f.__code__.co_filename, "exec"), space)
    return space[made.name]  # type: ignore[no-any-return]


def _guarded(f: Any, made: Specialized, fast: Any, active: tuple[bool, ...], single: bool) -> Enter:
    """Return the entry: `enter(f, *xs)` gives the value and the gradient, or `None`."""
    names = [f"x{i}" for i in range(len(made.arguments))]
    tests = ["f.__code__ is code", "state.active is None", f"generation() == {made.generation}"]
    for name, x in zip(names, made.arguments, strict=True):
        tests += _tests(name, x)
    tests += made.inputs.guards
    given = []
    for i, (value, expression) in enumerate(made.inputs.given.values()):
        tests += _tests(f"(e{i} := {expression})", value, f"e{i}")
        given.append(f"e{i}")
    found = [f"d{i}" for i, x in enumerate(made.arguments) if active[i]]
    checks = _checks(made, active)
    gradient = found[0] if single else f"({', '.join(found)}{',' * (len(found) == 1)})"
    text = (
        f"def enter(f, {', '.join(names)}):\n"
        f"    if {' and '.join(tests)}:\n"
        f"        try:\n"
        f"            {', '.join(['y', *found])} = fast({', '.join([*names, *given])})\n"
        f"        except Exception:\n"
        f"            return None\n"
        f"        if {' and '.join(checks) or 'True'}:\n"
        f"            return y, {gradient}\n"
        f"    return None\n"
    )
    space = {
        "code": f.__code__, "state": state, "generation": generation, "fast": fast,
        "ndarray": np.ndarray, "float64": np.float64, "isfinite": math.isfinite, "finite": is_finite, "is_some": is_some,
        **{f"dtype_{d.char}": d for d in map(np.dtype, "fdlqih?B")},
        **{f"kind_{k.__name__}": k for k in _KINDS}, **made.inputs.bound,
    }  # fmt: skip
    exec(compile(text, "<guards>", "exec"), space)
    return space["enter"]  # type: ignore[no-any-return]


def is_finite(x: np.ndarray) -> bool:
    """Return whether all entries are finite."""
    if x.size < _MANY:
        return math.isfinite(np.vdot(x, x)) or bool(np.isfinite(x).all())
    return bool(np.isfinite(x).all())


def is_some(x: np.ndarray) -> bool:
    """Return whether an array has an entry that is not zero."""
    return bool(x.flat[:8].any() or x.any())


_MANY = 100_000  # above this, a dot product may start threads
_KINDS = (float, int, bool, str, tuple, list, np.float64, np.float32, np.int64, np.int32, np.bool_)


def _tests(name: str, x: Value, again: str = "") -> list[str]:
    """Return the tests that an argument must pass."""
    again = again or name
    if x.items is not None:
        kind = type(x.sample).__name__
        tests = [f"type({name}) is kind_{kind}", f"len({again}) == {len(x.items)}"]
        for i, item in enumerate(x.items):
            tests += _tests(f"{again}[{i}]", item)
        return tests
    if x.is_constant:
        return [f"type({name}) is type({x.sample!r})", f"{again} == {x.sample!r}"]
    if isinstance(x.fact, Scalar):
        (kind,) = x.fact.classes
        return [f"type({name}) is kind_{kind.__name__}"]
    assert isinstance(x.fact, ArrayOf)
    tests = [f"type({name}) is ndarray", f"{again}.dtype is dtype_{x.fact.dtype.char}"]
    axes = x.fact.axes
    if ONE not in axes:
        return [*tests, f"{again}.ndim == {len(axes)}", f"1 not in {again}.shape"]
    tests.append(f"{again}.ndim == {len(axes)}")
    return tests + [
        f"{again}.shape[{i}] {'==' if axis == ONE else '!='} 1"
        for i, axis in enumerate(axes)
        if axis in (ONE, MANY)
    ]


def _checks(made: Specialized, active: tuple[bool, ...]) -> list[str]:
    """Return the tests that the gradients must pass: finite, and not a zero that is none."""
    checks = []
    given = iter(zip(made.gradients, made.filled, strict=True))
    for i, (x, flag) in enumerate(zip(made.arguments, active, strict=True)):
        if not flag:
            continue
        for path, leaf in _paths(x, f"d{i}"):
            if not leaf.active:
                continue
            d, filled = next(given)
            if d is None:
                continue
            if isinstance(leaf.fact, ArrayOf):
                if d in made.telling:
                    checks.append(f"finite({path})")
                if filled:
                    checks.append(f"is_some({path})")
            else:
                checks.append(f"isfinite({path})")
                if filled:
                    checks.append(f"{path} != 0")
    return checks


def _paths(x: Value, path: str) -> list[tuple[str, Value]]:
    if x.items is None:
        return [(path, x)]
    return [p for i, item in enumerate(x.items) for p in _paths(item, f"{path}[{i}]")]


def _jitted(fast: Any, made: Specialized, f: Any, xs: tuple[Any, ...]) -> Any:
    raise Unfit("not compiled")


_ = (leaves, _SOON)
