"""Entries: functions that test the guards and run specialized code."""

import ast
import functools
import math
import textwrap
import threading
import types
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from rulescore import generation
from zygote_lite._activity.walk import reaches_active
from zygote_lite._cotangents.run import state
from zygote_lite._ir.frames import GUARDS
from zygote_lite._ir.recompile import TREES
from zygote_lite._specialize.assemble import Specialized
from zygote_lite._specialize.driver import specialize
from zygote_lite._specialize.guards import (
    are_finite,
    checks_of,
    dtype_name,
    finite_checks,
    guards_of,
    is_finite,
    lists_in,
)
from zygote_lite._specialize.numba.compile import call_of, compile_code, range_tests
from zygote_lite._specialize.quiet import QUIET, context_of, manager
from zygote_lite._specialize.tangents import specialize_forward, specialize_product
from zygote_lite._specialize.trials import Trials, may_be_caught
from zygote_lite._specialize.typed.derivatives import TakenBy
from zygote_lite._specialize.typed.effects import Effects
from zygote_lite._specialize.typed.facts import DTYPES, ListOf, Other
from zygote_lite._specialize.typed.reasons import LEFT, NotSpecializable, Unsound
from zygote_lite._specialize.typed.runtime import (
    are_apart,
    are_distinct,
    are_keys,
    are_numbers,
    is_writable,
)
from zygote_lite._specialize.typed.structures import paths_of
from zygote_lite._specialize.watch import (
    AS_RULE,
    AUXILIARY,
    FORWARD,
    GRADIENT,
    PRODUCT,
    PULLBACK,
    report,
)
from zygote_lite.errors import DifferentiationError
from zygote_lite.modes import InternalError, current, left

Enter = Callable[..., Any]
T = TypeVar("T")
INTERNAL = "internal error"
DOUBTFUL = Unsound.NOT_FINITE("a gradient is not finite")
_RAISING = {"divide": "raise", "over": "raise", "invalid": "raise"}
_LARGE_SAMPLES = 10_000  # numbers that are not kept, to make further code with
_DTYPES_BY_NAME = {dtype_name(d): d for d in (*DTYPES, *map(np.dtype, "lq"))}


def entered(
    f: Any, xs: tuple[Any, ...], active: tuple[bool, ...], single: bool, form: str = GRADIENT,
    compiled: bool = False, strong: bool = False, handlers: bool = False,
    add: Callable[[Enter], None] | None = None, over: TakenBy | None = None,
) -> Enter:  # fmt: skip
    """Return a function that tests the guards and runs the code of a new specialization.

    Arguments:
        f: a Python function.
        xs: its arguments, which the code is tried out on.
        active: which of them are differentiated.
        single: whether the gradient is that of one argument, and not a tuple.
        form: what it returns: see `cache.specializations_of`.
        compiled: whether Numba compiles the code.
        strong: whether a zero cotangent stays a zero where it meets an infinity, as on the tape.
        handlers: whether errors reach the handlers of the program.
        add: has further code entered before this one.
        over: a derivative of the function that forward mode goes over.

    It returns `None` where the call is left to the tape. Where nothing is differentiated it
    returns the value alone, in a tuple.
    """
    made_at = generation()  # before the rules are read: another thread may change them meanwhile
    asked = active
    if form == PRODUCT:
        made = specialize_product(f, xs[:-1], active, xs[-1], handlers)
        count, moving = len(active), [active.index(True)]
        active = (*active, False)
    elif form == FORWARD:
        count, moving = len(active), [i for i, flag in enumerate(active) if flag]
        made = specialize_forward(f, xs[:count], active, xs[count:], over, handlers=handlers)
        active = (False,) * len(made.arguments)
    else:
        made = specialize(
            f, xs, active, as_pullback=form != GRADIENT, compiled=compiled, strong=strong,
            handlers=handlers, has_aux=form == AUXILIARY,
        )  # fmt: skip
    fast: Enter = compile_text(made, f)
    if compiled:
        fast = compile_code(fast, made)
    names = [f"x{i}" for i in range(len(made.arguments))]
    tests, given = _tests_at_entry(made, names, form)
    tests.append(f"generation() == {made_at}")
    results = [f"d{i}" for i, flag in enumerate(active) if flag]
    value, found = "y", results
    contents = [f"c{i}" for i in range(len(made.changed))]
    changes = [f"        {x}[...] = {c}\n" for x, c in zip(made.changed, contents, strict=True)]
    checks = [] if made.exact else [*map(str, checks_of(made, active, results))]
    begin, undo, perform = "", "", ""
    if made.inputs.effects is not None:
        begin = f"    effects = Effects({', '.join([*made.inputs.drawn, *made.inputs.changing])})\n"
        undo, perform = "        effects.take_back()\n", "        effects.perform()\n"
    call = f"fast({', '.join([*names, *given, *(['effects'] if begin else [])])})"
    if compiled:
        tests += range_tests(made, given)
        run, checks, value, found = call_of(made, given, active)
    elif form in (PULLBACK, AS_RULE, AUXILIARY):
        run, checks = f"y, back = {call}", []
    else:
        targets = [*([] if made.result is None else ["y"]), *results, *contents]
        run = f"{', '.join(targets)} = {call}"
    gradient = found[0] if single else f"({', '.join(found)}{',' * (len(found) == 1)})"
    answer = f"{value}, {gradient if any(active) else ''}"
    if form in (PULLBACK, AUXILIARY):
        answer = "y, back"
    elif form == AS_RULE:
        answer = f"y, back, ({''.join(f'{e}, ' for e in given)})"
    elif form in (FORWARD, PRODUCT):
        tests += _tests_of_tangents(made, names, count, moving)
        answer = gradient if made.result is None else "y"
    if form in (FORWARD, PRODUCT) and made.result is not None:
        run, tangent = f"y = {call}", "y" if form == PRODUCT else "y[1]"
        checks = finite_checks(tangent, tangent_of(made, form))
        if made.poles:  # of which NumPy would warn: the tape knows which zero wins
            run = f"with np.errstate(**raising):\n            {run}"
    again, other, warned = None, "left(doubtful)", ""
    if form == GRADIENT and not compiled and not strong:
        again, other = WithStrongZeros(active, single, handlers), f"again(f, {', '.join(names)})"
        # where warnings are errors, a zero that meets an infinity raises one
        warned = f"    except (FloatingPointError, RuntimeWarning):\n{undo}        return {other}\n"
    ends = "left(error)"
    if made.inputs.caught and add is not None and not (compiled or handlers or strong):
        ends = f"left(error) or handled(error, f, {', '.join(names)})"
    text = (
        f"def enter(f, {', '.join(names)}):\n"
        f"    try:\n"
        f"        if not ({' and '.join(tests)}):\n"
        f"            return None\n"
        f"    except Exception:\n"  # what is tested is gone
        f"        return None\n"
        f"{begin}"
        f"    try:\n"
        f"        {run}\n"
        f"{warned}"
        f"    except Exception as error:\n"
        f"{undo}"
        f"        return {ends}\n"
        f"    if {' and '.join(checks) or 'True'}:\n"
        f"{''.join(changes)}{perform}"
        f"        return {answer}\n"
        f"{textwrap.indent(textwrap.dedent(undo), '    ')}"
        f"    return {other}\n"
    )
    space = {
        "again": again, "code": f.__code__, "state": state, "generation": generation, "fast": fast,
        "left": left, "doubtful": DOUBTFUL, "np": np, "math": math,
        "is_finite": is_finite, "are_finite": are_finite,
        "are_numbers": are_numbers, "are_distinct": are_distinct, "are_apart": are_apart,
        "are_keys": are_keys, "Effects": Effects,
        "is_writable": is_writable, "reaches_active": reaches_active,
        **_DTYPES_BY_NAME, **made.inputs.bound, "raising": _RAISING,
        "made_of": (text, str(made.text)), "whole": made.whole,
        "caught": frozenset(made.inputs.caught), "changes": bool(changes or begin),
        "guesses": made.inputs.guesses,
        "holders": {name: e for e, name in made.inputs.holders.items()},
        "outside": [expression for _, expression in made.inputs.given.values()],
        "named": [*made.inputs.bound.values(), *made.bound.values()],
    }  # fmt: skip
    exec(compile(text, GUARDS, "exec"), space)
    if made.inputs.caught and not compiled:
        Trials(space)
        if add is not None:
            make = functools.partial(entered, active=asked, single=single, form=form, over=over)
            samples = xs if sum(map(_count_of, xs)) < _LARGE_SAMPLES else None
            space["handled"] = WithHandlers(make, add, made.inputs.caught, form, samples)
    enter: Enter = space["enter"]
    return enter


def tangent_of(made: Specialized, form: str) -> Any:
    """Return what is known of the tangent that dual code gives, with the value or alone."""
    assert made.result is not None
    if form == PRODUCT:
        return made.result
    assert made.result.items is not None
    return made.result.items[1]


def _tests_of_tangents(
    made: Specialized, names: list[str], count: int, moving: list[int]
) -> list[str]:
    """Return the tests that tangents, which come after the arguments, have their lengths."""
    tests = []
    for i, name, dx in zip(moving, names[count:], made.arguments[count:], strict=True):
        if isinstance(dx.fact, Other) and dx.items is None:  # whose parts the code looks at
            continue
        both = zip(paths_of(made.arguments[i], names[i]), paths_of(dx, name), strict=True)
        for (a, x), (b, _) in both:
            tests += [f"{b}.shape == {a}.shape"] * x.is_array
            tests += [f"len({b}) == len({a})"] * isinstance(x.fact, ListOf)
    return tests


def _tests_at_entry(made: Specialized, names: list[str], form: str) -> tuple[list[str], list[str]]:
    """Return the tests at entry, and the variables that they assign what is read from outside."""
    tests = ["f.__code__ is code"]
    if form != AS_RULE:
        tests.append("state.active is None")
    elif made.inputs.given or made.inputs.has_numbers:  # they may be active on the tape
        tests.append("not reaches_active(f)")
    lists = []
    for name, x in zip(names, made.arguments, strict=True):
        tests += map(str, guards_of(name, x))
        lists += lists_in(x, name)
    if len(lists) > 1:  # a list or dict that is there twice has one gradient
        tests.append(f"are_distinct({', '.join(lists)})")
    tests += made.inputs.guards
    inside, others = made.inputs.differentiated, [*made.inputs.containers]
    if inside:  # it may be an entry of two, or be read from outside too
        others += [f"{name}.__dict__" for name in made.inputs.objects]
        lists += inside
        tests += [f"are_distinct({', '.join(lists)})"] if len(lists) > 1 else []
    if lists and others:  # what is differentiated may be read from outside too
        tests.append(f"are_apart(({', '.join(lists)},), {', '.join(others)})")
    for name in made.inputs.assigned:  # each object has one variable
        known = [other for other in made.inputs.objects if other != name]
        known += [other for other in inside if other != f"{name}.__dict__"]
        tests += [f"are_apart(({name}, {name}.__dict__), {', '.join(known)})"] if known else []
    given = [f"e{i}" for i in range(len(made.inputs.given))]
    for name, (outer, expression) in zip(given, made.inputs.given.values(), strict=True):
        tests += map(str, guards_of(expression, outer, name))
    outside = zip(given, (x for x, _ in made.inputs.given.values()), strict=True)
    return tests + _tests_of_changed(made, [name for name, x in outside if x.is_array]), given


def _tests_of_changed(made: Specialized, outside: list[str]) -> list[str]:
    """Return the tests that arrays may be written to, and share no memory with others."""
    inside = [path for i, x in enumerate(made.arguments) for path, leaf in paths_of(x, f"x{i}")
              if leaf.is_array]  # fmt: skip
    tests = []
    for i, x in enumerate(made.changed):
        others = [other for other in inside if other not in made.changed[: i + 1]] + outside
        tests.append(f"is_writable({', '.join([x, *others])})")
    return tests


def compile_text(made: Specialized, f: Any) -> types.FunctionType:
    """Compile specialized code, with the user's file name and the user's lines."""
    with TREES:
        tree = ast.parse(str(made.text))
    node: Any  # only some have a place
    for node in ast.walk(tree):
        if isinstance(node, ast.withitem):
            node.context_expr = context_of(node.context_expr)
        if hasattr(node, "lineno"):
            origin = made.text.origins[min(node.lineno, len(made.text.origins)) - 1]
            line = getattr(origin, "lineno", f.__code__.co_firstlineno)
            node.lineno = node.end_lineno = line
            node.col_offset = node.end_col_offset = 0
    space = {"np": np, "math": math, QUIET: manager, **made.bound}
    with TREES:
        code = compile(tree, f.__code__.co_filename, "exec")
    exec(code, space)
    function: types.FunctionType = space[made.name]
    return function


class WithStrongZeros:
    """The code that answers if a gradient is not finite: it is generated when that first happens.

    A product with a partial derivative costs more in it, for a zero that meets an infinity has
    to stay a zero. Most functions never need it.
    """

    def __init__(self, active: tuple[bool, ...], single: bool, handlers: bool) -> None:
        self.active, self.single, self.handlers = active, single, handlers
        self.enter: Enter | None = None
        self.lock = threading.RLock()

    def __call__(self, f: Any, *xs: Any) -> Any:
        with self.lock:
            if self.enter is None:
                made = attempt(f, xs, lambda: entered(
                    f, xs, self.active, self.single, strong=True, handlers=self.handlers
                ))  # fmt: skip
                self.enter = (lambda *_: left(made)) if isinstance(made, Exception) else made
        return self.enter(f, *xs)


class WithHandlers:
    """The code in which errors reach the handlers of the program: it is made at the first error.

    From then on it is entered first. Code without handlers is shorter, and most programs that
    could catch something never do.

    Attributes:
        make: makes it.
        add: has it entered before the code without handlers.
        caught: the names of the classes of errors that the program catches.
        form: what it returns: see `cache.specializations_of`.
        samples: arguments to try it out on which raise nothing, if they are not large.
    """

    def __init__(
        self, make: Callable[..., Enter], add: Callable[[Enter], None], caught: set[str], form: str,
        samples: tuple[Any, ...] | None,
    ) -> None:  # fmt: skip
        self.make, self.add, self.caught, self.form = make, add, caught, form
        self.samples = samples
        self.is_made = False
        self.lock = threading.RLock()

    def __call__(self, error: Exception, f: Any, *xs: Any) -> Any:
        """Return the answer to a call that an error has ended; `None` where it is the tape's."""
        if self.is_made or not (may_be_caught(error, self.caught) or str(error) == LEFT):
            return None
        if self.form == AS_RULE:  # what is read from around it is part of a gradient now
            return None
        with self.lock:
            if self.is_made:
                return None
            self.is_made = True
            samples, self.samples = self.samples or xs, None
            made = attempt(f, xs, lambda: self.make(f, samples, handlers=True))
        if isinstance(made, Exception):
            return None
        self.add(made)
        return made(f, *xs)


def _count_of(x: Any) -> int:
    """Return how many numbers an argument holds, at least."""
    return x.size if isinstance(x, np.ndarray) else len(x) if isinstance(x, list | dict) else 1


def attempt(f: Any, xs: tuple[Any, ...], make: Callable[[], T]) -> T | Exception:
    """Return the code that `make` makes for a call; where there is none, the error that it raises.

    A defect must not reach the user's program. Raises `InternalError` if the mode asks for it.
    """
    try:
        return make()
    except (NotSpecializable, DifferentiationError) as reason:
        return reason
    except Exception as error:
        text = f"{type(error).__name__}: {error}"
        if current().strict:
            raise InternalError(report(f"making code raised {text}", f, xs, None)) from error
        return InternalError(f"{INTERNAL}: {text}")


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
    exec(compile(text, GUARDS, "exec"), space)
    enter: Enter = space["enter"]
    return enter


def is_same(a: Enter, b: Enter) -> bool:
    """Return whether two entries have the same guards, on the same objects, and the same code."""
    one, other = a.__globals__, b.__globals__
    if one["made_of"] != other["made_of"] or len(one["named"]) != len(other["named"]):
        return False
    return all(x is y for x, y in zip(one["named"], other["named"], strict=True))


def program_of(enter: Enter) -> str:
    """Return the text of the code behind an entry."""
    return str(enter.__globals__["made_of"][1])


def is_compiled(enter: Enter) -> bool:
    """Return whether Numba has compiled the code behind an entry."""
    return not isinstance(enter.__globals__["fast"], types.FunctionType)
