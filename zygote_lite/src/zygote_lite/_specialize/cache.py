"""The cache of specializations: entries with guards that are quick to test, and new code on a miss.

The tape answers if no specialization fits, or if one fails. If a gradient is not finite, other code
answers, in which a zero that meets an infinity stays a zero, as on the tape.
"""

import ast
import functools
import math
import operator
import sys
import threading
import types
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from rulescore import generation
from zygote_lite._cotangents.run import state
from zygote_lite._ir.source import TREES
from zygote_lite._specialize.assemble import Specialized
from zygote_lite._specialize.driver import specialize, specialize_twice
from zygote_lite._specialize.guards import (
    KINDS,
    checks_of,
    guards_of,
    is_finite,
    keys_in,
    lists_in,
)
from zygote_lite._specialize.infer.models.lists import fact_of_list
from zygote_lite._specialize.infer.models.objects import is_plain
from zygote_lite._specialize.numba.compile import (
    MISSING,
    call_of,
    compile_code,
    dtype_name,
    kind_name,
    range_tests,
)
from zygote_lite._specialize.typed.reasons import NotSpecializable, NotSupported, Unsound
from zygote_lite._specialize.typed.runtime import are_apart, are_distinct, are_keys, are_numbers
from zygote_lite._specialize.typed.values import ArrayOf, Other, fact_of
from zygote_lite._specialize.watch import GRADIENT, PRODUCT, PULLBACK, report, watch
from zygote_lite.errors import DifferentiationError
from zygote_lite.modes import RECORDED, InternalError, current, left, watching

Enter = Callable[..., Any]
INTERNAL = "internal error"
DOUBTFUL = Unsound.NOT_FINITE("a gradient is not finite")
NO_KEY = str(
    NotSupported.ARGUMENT_TYPE("an argument is no number, array, tuple, list or dict of those")
)
NO_FUNCTION = str(NotSupported.NO_PYTHON_FUNCTION("it is not a Python function"))
_NO_ORDER = str(NotSupported.ARGNUMS("argnums are not in their order"))
_MOST = 8  # specializations of one function
_FIRST = 2  # the call, with one choice of types, after which it is first tried
# The calls after which it is tried again. What stood in the way may have been the values of that
# call (a branch that was taken, an empty list), or a global that has changed since. An attempt
# costs as much as many recorded calls, so the distances grow: at powers of 8, attempts that fail
# for ever stay a vanishing part of the time that the recorded calls take.
_AGAIN = {8**n for n in range(1, 20)}
_LONG = 16  # items of a list: longer ones are told apart by what they hold, not by length


class Specializations:
    """The specializations of one function, for one choice of differentiated arguments.

    Attributes:
        made: the entries into the code, the newest first.
        enter: what a call goes through: these in turn, or `watch` while a mode is on. It gives
            what the code gives, or `None`.
    """

    def __init__(
        self, globals_: dict[str, Any], active: tuple[bool, ...], single: bool, compiled: bool,
        form: str,
    ) -> None:  # fmt: skip
        self.globals = globals_  # held, because they are known by their identity in `_known`
        self.active = active
        self.single = single
        self.compiled = compiled
        self.form = form
        self.made: tuple[Enter, ...] = ()
        self.enter: Enter = first_of(())
        self.calls: dict[Any, int] = {}
        self.reasons: dict[Any, str] = {}
        self.uncompiled: dict[Any, str] = {}
        self.lock = threading.RLock()  # a finalizer may differentiate while code is made
        self.generation = generation()
        self.publish()

    def publish(self) -> None:
        """Let calls go into the code itself, or through `watch` while a mode is on."""
        with watching.lock:
            self.enter = functools.partial(watch, self) if watching.count else first_of(self.made)

    def prepare(self, f: Any, xs: tuple[Any, ...]) -> str | None:
        """Make code for a call at once; return the reason where that cannot be done."""
        key = key_of(xs)
        if key is None:
            return NO_KEY
        with self.lock:
            if self.generation != generation():
                self.renew()
            if self.compiled and key not in self.uncompiled:
                reason = self.make(f, xs, key, compiled=True)
                if reason is None:
                    return None
                self.uncompiled[key] = reason
                warn_uncompiled(f, reason)
            return self.make(f, xs, key, compiled=False)

    def reason(self, xs: tuple[Any, ...]) -> str | None:
        """Return why there is no code for arguments of these types, if that is known."""
        key = key_of(xs)
        return NO_KEY if key is None else self.reasons.get(key)

    def note(self, f: Any, xs: tuple[Any, ...]) -> None:
        """Count a call that no specialization answered; make one when it is worth it."""
        if watching.count and current().tier == RECORDED:
            return
        key = key_of(xs)
        if self.generation != generation():
            self.renew()
        if key is None:
            if self.compiled:
                warn_uncompiled(f, NO_KEY)
            return
        if self.compiled and key not in self.uncompiled:
            reason = self.compile(f, xs, key)
            if reason is not None:
                warn_uncompiled(f, reason)
            return
        with self.lock:
            if self.due(key, _FIRST):
                self.make(f, xs, key, compiled=False)

    def renew(self) -> None:
        """Forget everything: rules have come or gone."""
        with self.lock:
            self.generation = generation()
            self.made = ()
            self.publish()
            for known in (self.calls, self.reasons, self.uncompiled):
                known.clear()

    def due(self, key: Any, first: int) -> bool:
        """Count a call with a choice of types; return whether to try now."""
        if len(self.calls) > 64 and key not in self.calls:
            self.calls.clear()
            self.reasons.clear()
        count = self.calls[key] = self.calls.get(key, 0) + 1
        return count == first or count in _AGAIN

    def make(self, f: Any, xs: tuple[Any, ...], key: Any, compiled: bool) -> str | None:
        """Make a specialization; return the reason where that cannot be done."""
        try:
            if self.form == PRODUCT:
                enter = entered_twice(f, xs, self.active)
            elif self.form == PULLBACK:
                enter = entered_pullback(f, xs, self.active)
            else:
                enter = entered(f, xs, self.active, self.single, compiled)
        except (NotSpecializable, DifferentiationError) as reason:
            self.reasons[key] = str(reason)
            return str(reason)
        except Exception as error:  # a defect here must not reach the user's program
            raise_if_strict(f, xs, error)
            self.reasons[key] = f"{INTERNAL}: {type(error).__name__}: {error}"
            return self.reasons[key]
        if not any(is_same(enter, known) for known in self.made):
            self.made = (enter, *self.made[: _MOST - 1])
            self.publish()
        return None

    def compile(self, f: Any, xs: tuple[Any, ...], key: Any) -> str | None:
        """Compile a specialization, at the first call; return the reason where it is not done."""
        with self.lock:
            if not self.due(key, 1):
                return None
            reason = self.make(f, xs, key, compiled=True)
            if reason is not None:
                if len(self.uncompiled) > 64:
                    self.uncompiled.clear()
                self.uncompiled[key] = reason
                self.calls.pop(key, None)
            return reason


def first_of(enters: tuple[Enter, ...]) -> Enter:
    """Return one entry for several: it gives the first answer. A single one stands for itself."""
    if not enters:
        return lambda f, *xs: None
    if len(enters) == 1:
        return enters[0]
    given = ", ".join(["f", *(f"x{i}" for i in range(enters[0].__code__.co_argcount - 1))])
    text = f"def enter({given}):\n"  # as text: a loop over them costs half as much as an entry
    for i in range(len(enters)):
        text += f"    found = enter{i}({given})\n    if found is not None:\n        return found\n"
    space: dict[str, Any] = {f"enter{i}": enter for i, enter in enumerate(enters)}
    exec(text, space)
    return space["enter"]  # type: ignore[no-any-return]


def is_same(a: Enter, b: Enter) -> bool:
    """Return whether two entries have the same guards, on the same objects, and the same code."""
    a_space, b_space = a.__globals__, b.__globals__
    if a_space["made_of"] != b_space["made_of"]:
        return False
    pairs = zip(a_space["named"], b_space["named"], strict=False)
    return len(a_space["named"]) == len(b_space["named"]) and all(x is y for x, y in pairs)


def raise_if_strict(f: Any, xs: tuple[Any, ...], error: Exception) -> None:
    """Raise an error that came up while code was generated, if the mode asks for it."""
    if current().strict:
        raise InternalError(
            report(f"making code raised {type(error).__name__}: {error}", f, xs, None)
        ) from error


_known: dict[Any, Specializations] = {}


def specializations_for(*functions: Any) -> list[Specializations]:
    """Return what is known of some Python functions, for all choices; of all, if none is named."""
    codes = {getattr(f, "__code__", None) for f in functions}
    return [found for key, found in [*_known.items()] if not functions or key[0] in codes]


def program_of(enter: Enter) -> str:
    """Return the text of the code behind an entry."""
    return str(enter.__globals__["made_of"][1])


def is_compiled(enter: Enter) -> bool:
    """Return whether Numba has compiled the code behind an entry."""
    return not isinstance(enter.__globals__["fast"], types.FunctionType)


def publish() -> None:
    """Let all calls go into the code itself, or through `watch` while a mode is on."""
    for known in specializations_for():
        known.publish()


watching.publish.append(publish)


def specializations_of(
    f: Any, count: int, numbers: tuple[int, ...], single: bool, compiled: bool = False,
    form: str = GRADIENT,
) -> Specializations | None:  # fmt: skip
    """Return the specializations of a Python function; of other callables there are none.

    Arguments:
        f: the function.
        count: how many arguments it is called with.
        numbers: which of them are differentiated; none, for the value alone.
        single: whether the gradient is that of one argument, and not a tuple.
        compiled: whether they are compiled, where they qualify.
        form: what they give: the value and the `GRADIENT`; the `PRODUCT` of the Hessian and a
            vector, which is a further argument; or the value, of any shape, and its `PULLBACK`.
    """
    if type(f) is not types.FunctionType:
        if compiled:
            warn_uncompiled(f, NO_FUNCTION)
        return None
    key = (f.__code__, id(f.__globals__), count, numbers, single, compiled, form)
    found = _known.get(key)
    if found is None:
        if len({*numbers}) != len(numbers) or [*numbers] != sorted(numbers):
            if compiled:
                warn_uncompiled(f, _NO_ORDER)
            return None
        active = tuple([i in numbers for i in range(count)])
        with watching.lock:  # a mode that comes now finds it
            found = _known.setdefault(
                key, Specializations(f.__globals__, active, single, compiled, form)
            )
    return found


_warned: set[Any] = set()


def forget_warnings() -> None:
    """Warn again of functions that run uncompiled."""
    _warned.clear()


def warn_uncompiled(f: Any, reason: str) -> None:
    """Warn, once for each function, that it is not compiled; that Numba is missing, once."""
    name = getattr(f, "__qualname__", repr(f))
    about = reason if reason == MISSING else getattr(f, "__code__", name)
    if about in _warned:
        return
    _warned.add(about)
    warnings.warn(f"{name} runs uncompiled: {reason}", RuntimeWarning, stacklevel=_outside())


def _outside() -> int:
    """Return how many frames up, from the caller, the first is that is not of this package."""
    frame, level = sys._getframe(2), 2
    while frame.f_back is not None and frame.f_globals["__name__"].startswith("zygote_lite."):
        frame, level = frame.f_back, level + 1
    return level


def key_of(xs: tuple[Any, ...]) -> Any:
    """Return the signature of arguments; `None` too for a list that holds itself."""
    try:
        return signature(xs)
    except RecursionError:
        return None


def signature(xs: tuple[Any, ...]) -> Any:
    """Return the key that tells specializations apart; `None` if there can be none."""
    parts: list[Any] = []
    for x in xs:
        if type(x) in (tuple, list):
            uniform = fact_of_list(x) if type(x) is list and len(x) > _LONG else None
            if uniform is not None:
                parts.append(uniform)
                continue
            inner = signature(tuple(x))
            if inner is None:
                return None
            parts.append((type(x), inner))
            continue
        if type(x) is dict:
            inner = signature(tuple(x.values()))
            if inner is None or not all(type(key) is str for key in x):
                return None
            parts.append((dict, tuple(x), inner))
            continue
        fact = fact_of(x)
        if isinstance(fact, Other) and not isinstance(x, str | bool | None):
            if not is_plain(x):
                return None
            parts.append(fact)
            continue
        parts.append(fact if not isinstance(fact, Other) else x)
    return tuple(parts)


def entered(
    f: Any, xs: tuple[Any, ...], active: tuple[bool, ...], single: bool, compiled: bool = False,
    strong: bool = False,
) -> Enter:  # fmt: skip
    """Return a function that tests the guards and runs the code of a new specialization."""
    made = specialize(f, xs, active, compiled=compiled, strong=strong)
    fast: Enter = compile_text(made, f)
    if compiled:
        fast = compile_code(fast, made)
    again = None if compiled or strong else WithStrongZeros(active, single)
    return _guarded(f, made, fast, active, single, compiled, again=again)


class WithStrongZeros:
    """The code that answers if a gradient is not finite: it is generated when that first happens.

    A product with a partial derivative costs more in it, for a zero that meets an infinity has
    to stay a zero. Most functions never need it.
    """

    def __init__(self, active: tuple[bool, ...], single: bool) -> None:
        self.active, self.single = active, single
        self.enter: Enter | None = None
        self.lock = threading.RLock()

    def __call__(self, f: Any, *xs: Any) -> Any:
        with self.lock:
            if self.enter is None:
                self.enter = self.made(f, xs)
        return self.enter(f, *xs)

    def made(self, f: Any, xs: tuple[Any, ...]) -> Enter:
        """Return an entry; if there is no such code, one that leaves every call to the tape."""
        try:
            return entered(f, xs, self.active, self.single, strong=True)
        except Exception as error:
            if not isinstance(error, NotSpecializable | DifferentiationError):
                raise_if_strict(f, xs, error)
            reason = error
            return lambda f, *xs: left(reason)


def entered_twice(f: Any, xs: tuple[Any, ...], active: tuple[bool, ...]) -> Enter:
    """Return a function that tests the guards and runs new code for the Hessian times a vector."""
    number = active.index(True)
    made = specialize_twice(f, xs[:-1], number, xs[-1])
    return _guarded(f, made, compile_text(made, f), (*active, False), True, False)


def entered_pullback(f: Any, xs: tuple[Any, ...], active: tuple[bool, ...]) -> Enter:
    """Return a function that tests the guards and runs new code for the value and its pullback."""
    made = specialize(f, xs, active, as_pullback=True)
    return _guarded(f, made, compile_text(made, f), active, False, False, is_pullback=True)


def compile_text(made: Specialized, f: Any) -> types.FunctionType:
    """Compile specialized code, with the user's file name and the user's lines."""
    with TREES:
        tree = ast.parse(str(made.text))
    for node in ast.walk(tree):
        if hasattr(node, "lineno"):
            origin = made.text.origins[min(node.lineno, len(made.text.origins)) - 1]
            line = getattr(origin, "lineno", f.__code__.co_firstlineno)
            node.lineno = node.end_lineno = line  # type: ignore[attr-defined]
            node.col_offset = node.end_col_offset = 0  # type: ignore[attr-defined]
    space = {"np": np, "math": math, **made.bound}
    with TREES:
        code = compile(tree, f.__code__.co_filename, "exec")
    exec(code, space)
    return space[made.name]  # type: ignore[no-any-return]


def _guarded(
    f: Any, made: Specialized, fast: Any, active: tuple[bool, ...], single: bool, compiled: bool,
    is_pullback: bool = False, again: WithStrongZeros | None = None,
) -> Enter:  # fmt: skip
    """Return the entry: `enter(f, *xs)` gives the value and the gradient, or `None`.

    Where nothing is differentiated it gives the value alone, in a tuple.
    """
    names = [f"x{i}" for i in range(len(made.arguments))]
    tests = ["f.__code__ is code", "state.active is None", f"generation() == {made.generation}"]
    for name, x in zip(names, made.arguments, strict=True):
        tests += guards_of(name, x)
    lists = [p for name, x in zip(names, made.arguments, strict=True) for p in lists_in(x, name)]
    if len(lists) > 1:  # a list or dict that is there twice has one gradient
        tests.append(f"are_distinct({', '.join(lists)})")
    tests += made.inputs.guards
    if lists and made.inputs.containers:  # what is differentiated may be read from outside too
        tests.append(f"are_apart(({', '.join(lists)},), {', '.join(made.inputs.containers)})")
    given = []
    for i, (outer, expression) in enumerate(made.inputs.given.values()):
        tests += guards_of(f"(e{i} := {expression})", outer, f"e{i}")
        given.append(f"e{i}")
    checks: list[str]
    if is_pullback:
        run, checks, value_text = f"y, back = fast({', '.join([*names, *given])})", [], "y"
        found = ["back"]
    elif compiled:
        tests += range_tests(made, given)
        run, checks, value_text, found = call_of(made, given, active)
    else:
        found = [f"d{i}" for i, flag in enumerate(active) if flag]
        value = [] if made.result is None else ["y"]
        run = f"{', '.join([*value, *found])} = fast({', '.join([*names, *given])})"
        checks, value_text = checks_of(made, active), "y"
    gradient = (
        found[0] if single or is_pullback else f"({', '.join(found)}{',' * (len(found) == 1)})"
    )
    answer = f"{value_text}, {gradient if any(active) else ''}"
    if made.result is None:  # the Hessian times a vector
        (differentiated,) = [name for name, flag in zip(names, active, strict=True) if flag]
        if isinstance(made.arguments[-1].fact, ArrayOf):
            tests.append(f"{names[-1]}.shape == {differentiated}.shape")
        answer = gradient
    other = "left(doubtful)" if again is None else f"again(f, {', '.join(names)})"
    # where warnings are errors, a zero that meets an infinity raises one
    warned = f"    except (FloatingPointError, RuntimeWarning):\n        return {other}\n"
    if again is None:
        warned = ""
    text = (
        f"def enter(f, {', '.join(names)}):\n"
        f"    try:\n"
        f"        if not ({' and '.join(tests)}):\n"
        f"            return None\n"
        f"    except Exception:\n"  # what is tested is gone
        f"        return None\n"
        f"    try:\n"
        f"        {run}\n"
        f"{warned}"
        f"    except Exception as error:\n"
        f"        return left(error)\n"
        f"    if {' and '.join(checks) or 'True'}:\n"
        f"        return {answer}\n"
        f"    return {other}\n"
    )
    keys: dict[str, tuple[str, ...]] = {}
    for name, x in zip(names, made.arguments, strict=True):
        keys |= keys_in(x, name)
    space = {
        "again": again, "code": f.__code__, "state": state, "generation": generation, "fast": fast,
        "left": left, "doubtful": DOUBTFUL,
        "ndarray": np.ndarray, "float64": np.float64, "isfinite": math.isfinite,
        "finite": is_finite, "vdot": np.vdot._implementation,  # type: ignore[attr-defined]
        "are_numbers": are_numbers,
        "are_distinct": are_distinct, "are_apart": are_apart, "are_keys": are_keys,
        "is_": operator.is_, **keys,
        **{dtype_name(d): d for d in map(np.dtype, "fdlqih?B")},
        **{kind_name(k): k for k in KINDS}, **made.inputs.bound,
        "made_of": (text, str(made.text), keys),
        "holders": {name: e for e, name in made.inputs.holders.items()},
        "outside": [expression for _, expression in made.inputs.given.values()],
        "named": [*made.inputs.bound.values(), *made.bound.values()],
    }  # fmt: skip
    exec(compile(text, "<guards>", "exec"), space)
    return space["enter"]  # type: ignore[no-any-return]
