"""Entries: functions that test the guards and run specialized code."""

import cmath
import functools
import math
import sys
import threading
import types
import weakref
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from rulescore import generation, when_changed
from zygote_lite._activity.walk import reaches_active
from zygote_lite._cotangents.run import runs, state
from zygote_lite._ir.frames import GUARDS
from zygote_lite._specialize.assemble import Specialized
from zygote_lite._specialize.compiled_text import compile_text
from zygote_lite._specialize.driver import specialize
from zygote_lite._specialize.entry_text import entry_text
from zygote_lite._specialize.guards import (
    are_finite,
    dtype_name,
    is_finite,
)
from zygote_lite._specialize.numba.compile import compile_code
from zygote_lite._specialize.tangents import specialize_forward, specialize_product
from zygote_lite._specialize.trials import Trials, may_be_caught
from zygote_lite._specialize.typed.derivatives import TakenBy
from zygote_lite._specialize.typed.effects import Effects
from zygote_lite._specialize.typed.facts import DTYPES
from zygote_lite._specialize.typed.inputs import OutsidePlace
from zygote_lite._specialize.typed.reasons import LEFT, NotSpecializable, NotSupported, Unsound
from zygote_lite._specialize.typed.runtime import (
    are_apart,
    are_distinct,
    are_keys,
    are_numbers,
    is_writable,
)
from zygote_lite._specialize.watch import (
    AS_RULE,
    AUXILIARY,
    FORWARD,
    GRADIENT,
    OF_FIRST,
    PRODUCT,
    report,
)
from zygote_lite.errors import DifferentiationError
from zygote_lite.modes import InternalError, current, left

Enter = Callable[..., Any]
T = TypeVar("T")
INTERNAL = "internal error"
DOUBTFUL = Unsound.NOT_FINITE("a gradient is infinite or nan")
_RAISING = {"divide": "raise", "over": "raise", "invalid": "raise"}
_LARGE_SAMPLES = 10_000  # numbers that are not kept, to make further code with
_DTYPES_BY_NAME = {dtype_name(d): (d,) for d in (*DTYPES, *map(np.dtype, "lq"))}


class RulesInForce:
    """The rules of one generation, as long as nothing can have changed them.

    Each entry looks at `modules`; to ask for the generation takes several times as long.
    """

    __slots__ = ("__weakref__", "modules", "since")

    def __init__(self, since: int) -> None:
        self.since, self.modules = since, -1

    def hold(self) -> bool:
        """Return whether the rules in force are those of this generation, and note that."""
        self.modules = len(sys.modules)  # a section of a plugin may wait for one more
        if generation() == self.since:
            return True
        self.modules = -1
        return False


_in_force: weakref.WeakValueDictionary[int, RulesInForce] = weakref.WeakValueDictionary()
_naming = threading.Lock()


def rules_of_generation(since: int) -> RulesInForce:
    """Return the rules of a generation: one object, which all entries of that generation share."""
    with _naming:  # `setdefault` of weak values lets two threads make two
        return _in_force.setdefault(since, RulesInForce(since))


def _ask_again() -> None:
    """Have each entry ask for the generation: the rules have changed."""
    for rules in [*_in_force.values()]:
        rules.modules = -1


when_changed(_ask_again)


def entered(
    f: Any, xs: tuple[Any, ...], active: tuple[bool, ...], single: bool, form: str = GRADIENT,
    compiled: bool = False, strong: bool = False, handlers: bool = False,
    add: Callable[[Enter], None] | None = None, over: TakenBy | None = None,
    optional: bool = True, varying: frozenset[OutsidePlace] = frozenset(),
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
        optional: whether variables may be numbers or `None`.
        varying: the places of ints outside that dual code reads at entry.

    It returns `None` where the call is left to the tape. Where nothing is differentiated it
    returns the value alone, in a tuple.
    """
    since = generation()  # before the rules are read: another thread may change them meanwhile
    made, returned = _code_of_form(
        f, xs, active, single, form, compiled, strong, handlers, over, optional, varying
    )
    fast: Enter = compile_text(made, f)
    if compiled:
        fast = compile_code(fast, made)
    again = None
    if form in (GRADIENT, OF_FIRST) and not (compiled or strong):
        again = WithStrongZeros(active, single, handlers, form)
    is_handled = bool(made.inputs.caught) and add is not None
    text = entry_text(
        made, form, returned, single, compiled=compiled,
        moving=[i for i, flag in enumerate(active) if flag] if form in (FORWARD, PRODUCT) else [],
        is_made_again=again is not None,
        is_handled=is_handled and not (compiled or handlers or strong),
    )  # fmt: skip
    changes = made.changed or made.inputs.effects is not None
    space = {
        "again": again, "code": f.__code__, "state": state, "fast": fast,
        "runs": runs, "modules": sys.modules,
        "rules": rules_of_generation(since),
        "left": left, "doubtful": DOUBTFUL, "np": np, "math": math, "cmath": cmath,
        "is_finite": is_finite, "are_finite": are_finite,
        "are_numbers": are_numbers, "are_distinct": are_distinct, "are_apart": are_apart,
        "are_keys": are_keys, "Effects": Effects,
        "is_writable": is_writable, "reaches_active": reaches_active,
        **_DTYPES_BY_NAME, **made.inputs.bound, "raising": _RAISING,
        "made_of": (text, str(made.text)), "without_none": made.without_none,
        "caught": frozenset(made.inputs.caught), "changes": bool(changes),
        "guesses": made.inputs.guesses, "asks": made.inputs.asks,
        "tells_time": made.inputs.tells_time,
        "holders": {name: e for e, name in made.inputs.holders.items()},
        "classes": made.inputs.classes,
        "constants": made.inputs.constants, "facts": made.inputs.facts,
        "outside": [expression for _, expression in made.inputs.given.values()],
        "named": [*made.inputs.bound.values(), *made.bound.values()], "bound": made.inputs.bound,
    }  # fmt: skip
    exec(compile(text, GUARDS, "exec"), space)
    if made.inputs.caught and not compiled:
        Trials(space)
        if add is not None:
            make = functools.partial(
                entered, active=active, single=single, form=form, over=over, varying=varying
            )
            samples = xs if sum(map(_count_of, xs)) < _LARGE_SAMPLES else None
            space["handled"] = WithHandlers(make, add, made.inputs.caught, form, samples)
    enter: Enter = space["enter"]
    return enter


def _code_of_form(
    f: Any, xs: tuple[Any, ...], active: tuple[bool, ...], single: bool, form: str, compiled: bool,
    strong: bool, handlers: bool, over: TakenBy | None, optional: bool,
    varying: frozenset[OutsidePlace],
) -> tuple[Specialized, tuple[bool, ...]]:  # fmt: skip
    """Return the code of a form, and of which of its arguments it returns gradients.

    Tangents, and the vector of a product for each argument, are arguments of the code that come
    last.
    """
    count = len(active)
    if form == PRODUCT:
        made = specialize_product(f, xs[:count], active, xs[count:], single, handlers, varying)
        return made, (*active, *(False for _ in xs[count:]))
    if form == FORWARD:
        made = specialize_forward(
            f, xs[:count], active, xs[count:], over, handlers=handlers, optional=optional,
            varying=varying,
        )  # fmt: skip
        return made, (False,) * len(made.arguments)
    as_pullback = form not in (GRADIENT, OF_FIRST)
    made = specialize(
        f, xs, active, as_pullback=as_pullback, compiled=compiled, strong=strong,
        handlers=handlers, has_aux=form in (AUXILIARY, OF_FIRST), optional=optional,
    )  # fmt: skip
    return made, active


class WithStrongZeros:
    """The code that answers if a gradient is not finite: it is generated when that first happens.

    A product with a partial derivative costs more in it, for a zero that meets an infinity has
    to stay a zero. Most functions never need it.
    """

    def __init__(
        self, active: tuple[bool, ...], single: bool, handlers: bool, form: str
    ) -> None:  # fmt: skip
        self.active, self.single, self.handlers, self.form = active, single, handlers, form
        self.enter: Enter | None = None
        self.lock = threading.RLock()

    def __call__(self, f: Any, *xs: Any) -> Any:
        with self.lock:
            if self.enter is None:
                made = attempt(f, xs, lambda: entered(
                    f, xs, self.active, self.single, self.form, strong=True, handlers=self.handlers
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
    except RecursionError:
        return NotSupported.TOO_LONG("its branches are nested too deeply")
    except Exception as error:
        text = f"{type(error).__name__}: {error}"
        if current().strict:
            raise InternalError(report(f"making code raised {text}", f, xs, None)) from error
        return InternalError(f"{INTERNAL}: {text}")


def first_of(enters: Sequence[Enter]) -> Enter:
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


def of_tuples(enter: Enter, active: tuple[bool, ...]) -> Enter:
    """Return an entry into dual code that takes the arguments and the tangents as two tuples.

    Arguments:
        enter: the entry that takes them one by one.
        active: which arguments move; the tangents of the others are `None`.
    """
    text, _ = enter.__globals__["made_of"]
    count = len(active)
    names = enter.__code__.co_varnames[1 : enter.__code__.co_argcount]
    moving = iter(names[count:])
    tangents = [next(moving) if flag else f"still{i}" for i, flag in enumerate(active)]
    tests = ["type(primals) is tuple", "type(tangents) is tuple"]
    tests += [f"still{i} is None" for i, flag in enumerate(active) if not flag]
    head = f"def enter(f, {', '.join(names)}):\n    try:\n        if not ("
    assert text.startswith(head)
    text = (
        f"def enter_tuples(f, primals, tangents):\n"
        f"    try:\n"
        f"        {', '.join(names[:count])}, = primals\n"
        f"        {', '.join(tangents)}, = tangents\n"
        f"        if not ({' and '.join(tests)} and {text.removeprefix(head)}"
    )
    space = enter.__globals__  # which changes where the code is not worth entering
    exec(compile(text, GUARDS, "exec"), space)
    made: Enter = space.pop("enter_tuples")
    return made


def is_same(a: Enter, b: Enter) -> bool:
    """Return whether two entries have the same guards, on the same objects, and the same code."""
    one, other = a.__globals__, b.__globals__
    if one["made_of"] != other["made_of"] or one["rules"] is not other["rules"]:
        return False
    if len(one["named"]) != len(other["named"]):
        return False
    return all(x is y for x, y in zip(one["named"], other["named"], strict=True))


def program_of(enter: Enter) -> str:
    """Return the text of the code behind an entry."""
    return str(enter.__globals__["made_of"][1])


def is_compiled(enter: Enter) -> bool:
    """Return whether Numba has compiled the code behind an entry."""
    return not isinstance(enter.__globals__["fast"], types.FunctionType)
