"""The entry into transformed code while a mode is on: answers are noted, or compared.

For a comparison the tape runs the function once more. The side effects of the function still happen
once: transformed code writes only to its own values and to arguments, of which the tape is then
given copies; all else the tape does as the user wrote it.
"""

import os
import reprlib
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

import numpy as np

from zygote_lite._cotangents.run import state
from zygote_lite._ir.names import name_of
from zygote_lite._nested.gradients import inside, inside_gradient, inside_jacobian, inside_run
from zygote_lite._nested.tangents import pushed_forward
from zygote_lite._specialize.compare import difference, is_finite_answer
from zygote_lite._specialize.differences import contradicted, unchecked
from zygote_lite._specialize.trials import may_be_caught
from zygote_lite._specialize.typed.derivatives import TakenBy, Verb
from zygote_lite._specialize.typed.reasons import LEFT, NotSpecializable
from zygote_lite._tape.run import recorded
from zygote_lite._tape.seeds import ActiveArguments, gradient_by, of_first, pair_of
from zygote_lite.errors import Fault
from zygote_lite.modes import (
    RECORDED,
    TRANSFORMED,
    Answer,
    InternalError,
    Mode,
    NotTransformed,
    TierMismatch,
    current,
    leaving,
    switched,
)

GRADIENT, PRODUCT, PULLBACK, AS_RULE = "gradient", "product", "pullback", "as a rule"
FORWARD = "forward"
AUXILIARY = "pullback of the first of a pair"
OF_FIRST = "gradient of the first of a pair"
_GUARDS = "no code that was made holds for these arguments and what it read from around it"
_abbreviated = reprlib.Repr()
_abbreviated.maxother = _abbreviated.maxstring = _abbreviated.maxlong = 300
_abbreviated.maxlist = _abbreviated.maxtuple = _abbreviated.maxdict = 12


class Known(Protocol):
    """The specializations of one function, as far as they are watched."""

    active: tuple[bool, ...]
    single: bool
    compiled: bool
    form: str
    over: TakenBy | None
    made: tuple[Callable[..., Any], ...]

    def prepare(self, f: Any, xs: tuple[Any, ...]) -> str | None:
        """Make code for a call; return the reason where that cannot be done."""

    def reason(self, xs: tuple[Any, ...]) -> str | None:
        """Return why there is no code for arguments of these types, where it is known."""

    def has_effects(self) -> bool:
        """Return whether a call of the code may have effects that can be seen from outside."""


def watch(known: Known, f: Any, *xs: Any, quiet: bool = False) -> Any:
    """Enter transformed code as the mode asks for; return its answer, or `None`.

    Arguments:
        known: the code.
        f, xs: the call.
        quiet: whether code that has effects may not answer, as none does that is made for it.
    """
    leaving.reason = leaving.suspected = None
    mode = current()
    if state.active is not None:  # the tape is running
        return None
    if mode.tier == RECORDED:
        leaving.reason = "only the tape is asked" if any(known.active) else None
        return None
    before = _copied(xs) if mode.compared else xs
    found, enter, failure = _entered(known, f, xs, mode)
    reason = None
    if found is None and failure is None:
        if mode.is_eager and (mode.tier == TRANSFORMED or known.reason(xs) is None):
            reason = known.prepare(f, xs)
            if quiet and known.has_effects():
                return None
            if reason is None:
                found, enter, failure = _entered(known, f, xs, mode)
        else:
            reason = known.reason(xs)
    if found is None:
        if failure is not None:
            reason = f"it was left: {failure}"
        elif reason is None:
            reason = _GUARDS if known.made else "code is made at the second call with such types"
        if any(known.active):
            if mode.tier == TRANSFORMED:
                raise NotTransformed(described(f), reason)
            leaving.reason = reason
        return None
    if known.form in (PULLBACK, AUXILIARY):
        found = found[0], WatchedPullback(known, f, xs, enter, found)
    elif mode.compared and leaving.effects is not None:
        compare_effects(known, f, xs, before, enter, found)
    elif mode.compared:
        changes = enter.__globals__["changes"]
        compare(known, f, before if changes else xs, enter, found)
        if changes and (wrong := difference(xs, before)) is not None:
            mismatch(f"an argument after the call, {wrong}", f, xs, enter, xs, before)
    if mode.answers is not None and any(known.active):
        mode.answers.append(Answer(name_of(f), TRANSFORMED))
    return found


def answer_of(known: Known, f: Any, xs: tuple[Any, ...]) -> tuple[Any, Any]:
    """Return the answer of transformed code inside a run of the tape, and what gave it."""
    mode = current()
    if mode.tier == RECORDED:
        return None, None
    return _entered(known, f, xs, mode)[:2]


def _entered(
    known: Known, f: Any, xs: tuple[Any, ...], mode: Mode
) -> tuple[Any, Any, Exception | None]:
    """Return the first answer of transformed code, what gave it, and the error that ended it."""
    failure: Exception | None = None
    for enter in known.made:
        leaving.error = None
        found = enter(f, *xs)
        error, leaving.error = leaving.error, None
        if found is not None:
            return found, enter, None
        if error is not None:
            failure = error
            caught = may_be_caught(error, enter.__globals__["caught"])
            if mode.strict and not caught and not is_deliberate(error):
                if enter.__globals__["changes"]:  # which the tape would do once more
                    leaving.suspected = _internal(f, xs, enter, error)
                    continue
                refuse_internal(
                    known, f, xs, enter, error, lambda: reference(known, f, _copied(xs))
                )
    return None, None, failure


def is_deliberate(error: Exception) -> bool:
    """Return whether transformed code was left on purpose, at a pole, or for want of room.

    At a pole Python's numbers raise where NumPy's are infinite: the tape tells which zero meets it.
    """
    return isinstance(error, NotSpecializable | ArithmeticError | RecursionError | MemoryError) or (
        isinstance(error, RuntimeError) and str(error) == LEFT
    )


def refuse_internal(
    known: Known, f: Any, xs: Any, enter: Any, error: Exception, answer: Callable[[], Any]
) -> None:
    """Raise an internal error, unless the tape fails too: then the error is the program's own."""
    try:
        answer()
    except Exception:
        return
    raise _internal(f, xs, enter, error) from error


def _internal(f: Any, xs: Any, enter: Any, error: Exception) -> InternalError:
    text = f"transformed code raised {type(error).__name__}: {error}"
    return InternalError(report(text, f, xs, enter))


class WatchedPullback:
    """A pullback of transformed code that is held to the tape's."""

    def __init__(self, known: Known, f: Any, xs: Any, enter: Any, found: Any) -> None:
        self.known, self.f, self.xs, self.enter = known, f, xs, enter
        y, self.back = found
        self.reference: Any = None
        self.is_refused = False  # by the tape, which should have been compared with
        if current().compared:
            expected, self.reference = self.recorded(y)
            wrong = difference(y, expected, xs, current().tolerance)
            if wrong is not None:
                self.refuse(wrong, y, expected)

    def recorded(self, y: Any) -> Any:
        """Return the value and the pullback of the tape. Raises `TierMismatch` where it fails."""
        try:
            return reference(self.known, self.f, self.xs)
        except Exception as error:
            self.is_refused = _is_refused_iterator(error)
            if not self.is_refused:
                self.refuse("an error of the tape alone", "a value", error)
            return y, None

    def refuse(self, wrong: str, got: Any, want: Any) -> None:
        """Raise the error for a difference, if it is one."""
        mismatch(wrong, self.f, self.xs, self.enter, got, want)

    def __call__(self, dy: Any) -> Any:
        mode = current()
        try:
            found = self.back(dy)
        except Exception as error:
            if mode.strict and not is_deliberate(error):

                def again() -> Any:
                    return reference(self.known, self.f, self.xs)[1](dy)

                refuse_internal(self.known, self.f, self.xs, self.enter, error, again)
            raise
        _hold_to_tape(self, dy, found)
        return found


@inside_run  # a tape around, which records this code, need not record the test
def _hold_to_tape(watched: WatchedPullback, dy: Any, found: Any) -> None:
    """Raise where the pullback of the tape gives something else."""
    if not is_finite_answer(found):  # it is left to the tape
        return
    if watched.is_refused:
        compare_differences(watched.known, watched.f, watched.xs, watched.enter, found, dy)
    if watched.reference is None:
        return
    try:
        expected = watched.reference(dy)
    except Exception as error:
        watched.refuse("an error of the tape alone", found, error)
        return
    wrong = difference(found, expected, (watched.xs, dy), current().tolerance)
    if wrong is not None:
        watched.refuse(wrong, found, expected)


def _is_refused_iterator(error: Exception) -> bool:
    """Return whether the tape has run an iterator in C whose source came to be active later.

    Transformed code has a generator in its place, and follows it.
    """
    return getattr(error, "code", None) == Fault.ITERATOR.code


def compare(known: Known, f: Any, xs: tuple[Any, ...], enter: Any, found: Any) -> None:
    """Raise `TierMismatch` where the tape answers a call differently."""
    try:
        expected = reference(known, f, xs)
    except Exception as error:
        if _is_refused_iterator(error):
            compare_differences(known, f, xs, enter, found)
        else:
            mismatch("an error of the tape alone", f, xs, enter, found, error)
        return
    wrong = difference(found, expected, xs, current().tolerance, as_numpy=known.compiled)
    if wrong is not None:
        mismatch(wrong, f, xs, enter, found, expected)


def compare_differences(
    known: Known, f: Any, xs: tuple[Any, ...], enter: Any, found: Any, dy: Any = 1.0
) -> None:
    """Raise `TierMismatch` where finite differences, in the place of the tape, tell another slope.

    Where the function may do more than return a value, it is not called again.
    """
    active = [i for i, flag in enumerate(known.active) if flag]
    is_plain = known.form in (GRADIENT, PULLBACK) and not enter.__globals__["changes"]
    if not is_plain or known.over is not None or leaving.effects is not None or not active:
        unchecked(f)
        return
    if known.form == PULLBACK:  # of the function itself, and of each argument
        given = [found[1 + i] for i in active]
    else:
        given = [found[1]] if known.single else found[1]
    wrong = contradicted(f, xs, active, given, dy)
    if known.form == GRADIENT:
        wrong = wrong or difference(found[0], f(*xs), xs, current().tolerance)
    if wrong is not None:
        mismatch(wrong, f, xs, enter, found, "refused")


def compare_effects(known: Known, f: Any, xs: Any, before: Any, enter: Any, found: Any) -> None:
    """Have the tape run the function with all of its effects, and compare the two."""
    effects, leaving.effects = leaving.effects, None
    after = _copied(xs)
    effects.take_back()
    _give_back(xs, before)
    compare(known, f, xs, enter, found)
    for x, contents in effects.contents:
        if (wrong := difference(contents, x)) is not None:
            mismatch(f"an array outside after the call, {wrong}", f, xs, enter, contents, x)
    if (wrong := difference(after, xs)) is not None:
        mismatch(f"an argument after the call, {wrong}", f, xs, enter, after, xs)


def _give_back(x: Any, before: Any) -> None:
    """Give arrays among the arguments the contents back that they had."""
    if type(x) is np.ndarray and x.flags.writeable:
        x[...] = before
    elif type(x) in (tuple, list, dict):
        for key in range(len(x)) if type(x) is not dict else x:
            _give_back(x[key], before[key])


def reference(known: Known, f: Any, xs: tuple[Any, ...]) -> Any:
    """Return what the tape answers, in the form of what transformed code does."""
    numbers = [i for i, flag in enumerate(known.active) if flag]
    with switched(tier=RECORDED, compared=False, answers=None):
        if not numbers:
            return (f(*xs),)
        active = ActiveArguments(f, numbers[0] if known.single else numbers, len(known.active))
        if known.form == FORWARD:
            count = len(known.active)
            given = iter(xs[count:])
            tangents = [next(given) if flag else None for flag in known.active]
            moving = (None, *(flag or None for flag in known.active))
            y, push = pushed_forward(_taken(f, known.over), moving, xs[:count], {})
            return y, push(*tangents)
        if known.form == PRODUCT:
            count, argnums = len(known.active), numbers[0] if known.single else tuple(numbers)
            vector = xs[count] if known.single else xs[count:]
            derivative = _taken(f, TakenBy(Verb.GRAD, argnums))
            _, back = recorded(active.flags, derivative, xs[:count], {})
            found = back(vector)
            if known.single:
                return found[1 + numbers[0]]
            return tuple([found[1 + number] for number in numbers])
        if known.form == AS_RULE:  # an array that was written has one cotangent for all its places
            xs = _copied(xs)
        y, back = recorded(active.flags, f, xs, {})
        if known.form == AUXILIARY:
            return y, of_first(back)
        if known.form in (PULLBACK, AS_RULE):
            return y, back
        if known.form == OF_FIRST:
            return y, gradient_by(f, pair_of(f, y)[0], of_first(back), active)
        return y, gradient_by(f, y, back, active)


def _copied(x: Any, made: dict[int, Any] | None = None) -> Any:
    """Return arguments with copies of what they hold: the one or the other way writes to it.

    What is held twice is copied once: code may ask whether two arguments are the same.
    """
    made = {} if made is None else made
    if id(x) in made:
        return made[id(x)]
    if type(x) is np.ndarray:
        copied: Any = x.copy(order="K")
    elif type(x) in (tuple, list):
        copied = type(x)([_copied(part, made) for part in x])
    elif type(x) is dict:
        copied = {key: _copied(part, made) for key, part in x.items()}
    else:
        return x
    made[id(x)] = copied
    return copied


def _taken(f: Any, over: TakenBy | None) -> Any:
    """Return a derivative of a function; the function itself where it goes over none."""
    if over is None:
        return f

    def derivative(*xs: Any) -> Any:
        raise AssertionError("it is only differentiated")

    if over.verb == Verb.JACOBIAN:
        return inside(partial(inside_jacobian, f, over.argnums))(derivative)
    both = over.verb == Verb.VALUE_AND_GRAD
    return inside(partial(inside_gradient, f, over.argnums, both))(derivative)


def mismatch(wrong: str, f: Any, xs: Any, enter: Any, got: Any, want: Any) -> None:
    """Raise the error for two answers that differ, unless the code asks a clock."""
    if enter.__globals__["tells_time"]:
        return
    answers = f"transformed code: {_abbreviated.repr(got)}\nthe tape: {_abbreviated.repr(want)}"
    text = report(f"transformed code and the tape differ: {wrong}\n{answers}", f, xs, enter)
    raise TierMismatch(text) from (want if isinstance(want, Exception) else None)


def described(f: Any) -> str:
    """Return the name of a function with its place."""
    code = f.__code__
    return f"{f.__qualname__} ({os.path.relpath(code.co_filename)}:{code.co_firstlineno})"


def report(what: str, f: Any, xs: Any, enter: Any) -> str:
    """Return a message with the function, its arguments, and the program, if one was made."""
    text = f"{described(f)}: {what}\narguments: {', '.join(map(_abbreviated.repr, xs))}"
    return text if enter is None else f"{text}\nthe program:\n{enter.__globals__['made_of'][1]}"
