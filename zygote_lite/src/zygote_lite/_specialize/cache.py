"""The cache of specializations: by function and signature, with new code on a miss.

The tape answers if no specialization fits, or if one fails. If a gradient is not finite, other code
answers, in which a zero that meets an infinity stays a zero, as on the tape.
"""

import functools
import sys
import threading
import types
import warnings
import weakref
from typing import Any

from rulescore import generation, plugins
from zygote_lite._activity.watching import unwatched
from zygote_lite._cotangents.kinds import own_derivative
from zygote_lite._cotangents.run import state
from zygote_lite._specialize.changed import what_has_changed
from zygote_lite._specialize.entry import Enter, attempt, entered, first_of, is_same
from zygote_lite._specialize.infer.signature import of_any_length, signature
from zygote_lite._specialize.numba.compile import MISSING
from zygote_lite._specialize.typed.derivatives import TakenBy
from zygote_lite._specialize.typed.inputs import OutsidePlace
from zygote_lite._specialize.typed.plugins import is_of_plugin
from zygote_lite._specialize.typed.reasons import NotSpecializable, NotSupported
from zygote_lite._specialize.watch import AS_RULE, FORWARD, GRADIENT, PRODUCT, watch
from zygote_lite.caches import Cache
from zygote_lite.modes import RECORDED, current, leaving, watching

NO_FUNCTION = str(NotSupported.NO_PYTHON_FUNCTION("it is not a Python function"))
_OF_ANOTHER = "it is made of another function: compile that one, as in `grad(jit(f))`"
_NO_ORDER = str(NotSupported.ARGNUMS("argnums are not in increasing order"))
_MOST = 8  # specializations of one function
_MOST_TYPES = 64  # choices of types of which something is remembered
_IN_FORWARD_MODE = (FORWARD, PRODUCT)
_FIRST = 2  # the call, with one choice of types, after which it is first tried
_FIRST_OF_LENGTHS = 4  # the call after which lists of another length are tried, if they all are
_FIRST_RUN = 3  # the run after which what is called in it is first tried
# The calls after which it is tried again. What stood in the way may have been the values of that
# call (a branch that was taken, an empty list), or a global that has changed since. An attempt
# costs as much as many recorded calls, so the distances grow: at powers of 8, attempts that fail
# for ever stay a vanishing part of the time that the recorded calls take.
_AGAIN = {8**n for n in range(1, 20)}


class Specializations:
    """The specializations of one function, for one choice of differentiated arguments.

    Attributes:
        made: the entries into the code, the newest first.
        enter: what a call goes through: these in turn, or `watch` while a mode is on. It gives
            what the code gives, or `None`.
    """

    def __init__(
        self, globals_: dict[str, Any], active: tuple[bool, ...], single: bool, compiled: bool,
        form: str, over: TakenBy | None = None,
    ) -> None:  # fmt: skip
        self.globals = globals_  # held, because they are known by their identity in `_known`
        self.active = active
        self.single = single
        self.compiled = compiled
        self.form = form
        self.over = over
        self.made: tuple[Enter, ...] = ()
        self.enter: Enter = first_of(())
        self.without_none = True  # whether no gradient from here is `None`, or holds one
        self.calls: dict[Any, int] = {}
        self.remade: dict[Any, int] = {}
        self.varying: frozenset[OutsidePlace] = frozenset()  # ints that have changed between calls
        self.reasons: dict[Any, str] = {}
        self.uncompiled: set[Any] = set()
        self.lock = threading.RLock()  # a finalizer may differentiate while code is made
        self.generation = generation()
        self.run: object = None  # the run of the tape that last called it without code
        self.publish()

    def __reduce__(self) -> Any:
        """Pickle nothing: the code is made anew where it is needed."""
        return type(None), ()

    def publish(self) -> None:
        """Let calls go into the code itself, or through `watch` while a mode is on."""
        with watching.lock:
            # before the entry that needs it: another thread may call it at once
            self.without_none = self.without_none and all(
                enter.__globals__["without_none"] for enter in self.made
            )
            watched = watching.count and self.form != AS_RULE
            self.enter = functools.partial(watch, self) if watched else first_of(self.made)

    def has_effects(self) -> bool:
        """Return whether a call of the code may have effects that can be seen from outside."""
        return any(enter.__globals__["changes"] for enter in self.made)

    def enter_quietly(self, f: Any, *xs: Any) -> Any:
        """Return what code without effects gives, or `None`."""
        if self.has_effects():
            return None
        watched = watching.count and self.form != AS_RULE
        return watch(self, f, *xs, quiet=True) if watched else self.enter(f, *xs)

    def prepare(self, f: Any, xs: tuple[Any, ...]) -> str | None:
        """Make code for a call at once; return the reason where that cannot be done."""
        plugins()  # their rules, were they loaded later, would put the code out of date
        key = self.key_of(xs)
        if isinstance(key, NotSpecializable):
            return str(key)
        with self.lock:
            return self.make(f, xs, key)

    def reason(self, xs: tuple[Any, ...]) -> str | None:
        """Return why there is no code for arguments of these types, if that is known."""
        key = self.key_of(xs)
        return str(key) if isinstance(key, NotSpecializable) else self.reasons.get(key)

    def note(self, f: Any, xs: tuple[Any, ...]) -> bool:
        """Count a call that no specialization answered; make one when it is worth it.

        Returns whether one was made.
        """
        if watching.count and current().tier == RECORDED:
            return False
        key = self.key_of(xs)
        if not isinstance(key, NotSpecializable):
            with self.lock:
                is_due = self.is_due(key) or self.is_due_for_all(xs)
                if is_due or self.is_out_of_date(f, xs, key):
                    return self.make(f, xs, key) is None
        elif self.compiled:
            warn_uncompiled(f, str(key))
        return False

    def key_of(self, xs: tuple[Any, ...]) -> Any:
        """Return the signature of arguments, or the reason why there is none."""
        if self.generation != generation():
            self.renew()
        return signature(xs)

    def renew(self) -> None:
        """Forget everything: rules have come or gone."""
        with self.lock:
            self.generation = generation()
            self.made = ()
            self.publish()
            self.forget()

    def forget(self) -> None:
        """Forget the calls, and why they have no code."""
        self.calls.clear()
        self.remade.clear()
        self.reasons.clear()
        self.uncompiled.clear()

    def is_due(self, key: Any) -> bool:
        """Count a call with a choice of types; return whether to make code for it now."""
        if len(self.calls) > _MOST_TYPES and key not in self.calls:
            self.forget()
        count = self.calls[key] = self.calls.get(key, 0) + 1
        return count in _AGAIN or (count == self.first() and key not in self.reasons)

    def is_out_of_date(self, f: Any, xs: tuple[Any, ...], key: Any) -> bool:
        """Return whether to make code again: what it reads from outside has changed since.

        So it is in forward mode, whose tape takes a thousand times as long as code. There is an
        end to it, for what changes in each call.
        """
        if self.form not in _IN_FORWARD_MODE or key in self.reasons:
            return False
        if self.remade.get(key, 0) >= _MOST:
            return False
        if all(what_has_changed(enter, f, xs) is None for enter in self.made):
            return False
        self.remade[key] = self.remade.get(key, 0) + 1
        return True

    def is_due_for_all(self, xs: tuple[Any, ...]) -> bool:
        """Count a call with lists of any length, which may grow from call to call."""
        facts = of_any_length(xs)
        if facts is None:
            return False
        count = self.calls["of any length", facts] = self.calls.get(("of any length", facts), 0) + 1
        return count == _FIRST_OF_LENGTHS

    def first(self) -> int:
        """Return the call, or the run, after which code is first made."""
        if self.form == AS_RULE:
            return 1 if watching.count and current().is_eager else _FIRST_RUN
        return 1 if self.compiled or self.form == FORWARD else _FIRST

    def make_later(self, f: Any, xs: tuple[Any, ...]) -> None:
        """Count a run of the tape that calls the function; make code after it, where it is due.

        Functions of plugins stay recorded: the bodies of rules, say.
        """
        if state.tries or self.run is state.run:
            return
        self.run = state.run
        if is_of_plugin(f.__globals__):
            return
        key = self.key_of(xs)
        # another thread may be making code, and wait for what this one holds
        if not isinstance(key, NotSpecializable) and self.lock.acquire(blocking=False):
            try:
                if self.is_due(key):
                    kept = tuple(map(_as_it_is_now, xs))
                    state.later.append(functools.partial(self.make_now, f, kept, key))
            finally:
                self.lock.release()

    def make_now(self, f: Any, xs: tuple[Any, ...], key: Any) -> None:
        """Make a specialization, unless another thread does."""
        if self.lock.acquire(blocking=False):
            try:
                self.make(f, xs, key)
            finally:
                self.lock.release()

    def make(self, f: Any, xs: tuple[Any, ...], key: Any) -> str | None:
        """Make a specialization; return the reason where that cannot be done."""
        found: str | None = unwatched(self._make, f, xs, key)
        return found

    def _make(self, f: Any, xs: tuple[Any, ...], key: Any) -> str | None:
        compiled = self.compiled and key not in self.uncompiled

        def attempted(
            optional: bool, varying: frozenset[OutsidePlace] = frozenset()
        ) -> Enter | Exception:
            enter = attempt(f, xs, lambda: entered(
                f, xs, self.active, self.single, self.form, compiled, add=self.add, over=self.over,
                optional=optional, varying=varying,
            ))  # fmt: skip
            return _if_it_answers(enter, f, xs)

        varying = self.varying_in(f, xs)
        enter: Enter | Exception = attempted(True, varying)
        if varying and not _is_for_all(enter):
            enter = attempted(True)
        if isinstance(enter, IsNoneError):
            enter = attempted(False)
        if isinstance(enter, Exception):
            reason = self.reasons[key] = str(enter)
            if not compiled:
                return reason
            self.uncompiled.add(key)
            warn_uncompiled(f, reason)
            return self._make(f, xs, key)
        self.add(enter)
        return None

    def varying_in(self, f: Any, xs: tuple[Any, ...]) -> frozenset[OutsidePlace]:
        """Return the ints outside that code is to read at entry: those that have changed."""
        if self.form in _IN_FORWARD_MODE:
            found = [what_has_changed(enter, f, xs) or () for enter in self.made]
            self.varying = self.varying.union(*found)
        return self.varying

    def add(self, enter: Enter) -> None:
        """Have further code entered, before the others."""
        if not any(is_same(enter, known) for known in self.made):
            self.made = (enter, *self.made[: _MOST - 1])
            self.publish()


_known: Cache[Specializations] = Cache(4096)  # the functions that came up last
_all_known: weakref.WeakSet[Specializations] = weakref.WeakSet()


def specializations_for(*functions: Any) -> list[Specializations]:
    """Return what is known of some Python functions, for all choices; of all, if none is named."""
    codes = {getattr(f, "__code__", None) for f in functions}
    return [found for key, found in _known.items() if not functions or key[0] in codes]


def publish() -> None:
    """Let all calls go into the code itself, or through `watch` while a mode is on."""
    for known in [*_all_known]:
        known.publish()


watching.publish.append(publish)


def specializations_of(
    f: Any, count: int, numbers: tuple[int, ...], single: bool, compiled: bool = False,
    form: str = GRADIENT, over: TakenBy | None = None,
) -> Specializations | None:  # fmt: skip
    """Return the specializations of a Python function; of other callables there are none.

    Arguments:
        f: the function.
        count: how many arguments it is called with.
        numbers: which of them are differentiated; none, for the value alone.
        single: whether the gradient is that of one argument, and not a tuple.
        compiled: whether they are compiled, where they qualify.
        form: what they give: the value and the `GRADIENT`; the `PRODUCT` of the Hessian and a
            vector, which is a further argument; or the value, of any shape, and its `PULLBACK`,
            or that of the first of a pair, beside which there is something else (`AUXILIARY`);
            or the pair and the gradient of its first (`OF_FIRST`);
            or these with what was read from outside, inside a run of the tape (`AS_RULE`); or the
            value and its tangent (`FORWARD`), for the tangents of those that are differentiated,
            which are further arguments.
        over: the derivative of the function that a tangent is of, where it is not the function.
    """
    if type(f) is not types.FunctionType:
        if compiled:
            warn_uncompiled(f, NO_FUNCTION)
        return None
    key = (f.__code__, id(f.__globals__), count, numbers, single, compiled, form, over)
    found = _known.get(key)
    if found is None:
        if len({*numbers}) != len(numbers) or [*numbers] != sorted(numbers):
            if compiled:
                warn_uncompiled(f, _NO_ORDER)
            return None
        active = tuple([i in numbers for i in range(count)])
        with watching.lock:  # a mode that comes now finds it
            found = _known.keep(
                key, Specializations(f.__globals__, active, single, compiled, form, over)
            )
            _all_known.add(found)
    return found


_warned: Cache[bool] = Cache(4096)  # functions may be made anew in each call


def forget_warnings() -> None:
    """Warn again of functions that run uncompiled."""
    _warned.clear()


def warn_uncompiled(f: Any, reason: str) -> None:
    """Warn, once for each function, that it is not compiled; that Numba is missing, once."""
    name = getattr(f, "__qualname__", repr(f))
    about = reason if reason == MISSING else getattr(f, "__code__", name)
    if own_derivative(f) is not None:
        reason, about = _OF_ANOTHER, name  # all of a verb have one code
    if _warned.get(about):
        return
    _warned.keep(about, True)
    warnings.warn(f"{name} runs uncompiled: {reason}", RuntimeWarning, stacklevel=_outside())


def _outside() -> int:
    """Return how many frames up, from the caller, the first is that is not of this package."""
    frame, level = sys._getframe(2), 2
    while frame.f_back and str(frame.f_globals.get("__name__")).startswith("zygote_lite."):
        frame, level = frame.f_back, level + 1
    return level


def _is_for_all(enter: Enter | Exception) -> bool:
    """Return whether there is code, and it is for all branches."""
    return not isinstance(enter, Exception) and enter.__globals__["guesses"] is None


def _if_it_answers(enter: Enter | Exception, f: Any, xs: tuple[Any, ...]) -> Enter | Exception:
    """Return code if it answers the call; else the reason, which is an error.

    Code may have guessed which path is taken, or that a variable is a number that is `None`.
    """
    if isinstance(enter, Exception):
        return enter
    asks = enter.__globals__["asks"]
    if enter.__globals__["guesses"] is None and not asks:
        return enter
    if enter.__globals__["changes"]:  # which would be made once more
        return enter
    guesses: Exception = IsNoneError() if asks else enter.__globals__["guesses"]
    error = leaving.error
    answer = enter(f, *xs)
    leaving.error = error
    return guesses if answer is None else enter


class IsNoneError(Exception):
    """Tell that a variable is `None` where the code takes it for a number."""


def _as_it_is_now(x: Any) -> Any:
    """Return an argument as a sample for later: its lists and dicts may grow meanwhile."""
    if type(x) in (tuple, list):
        return type(x)(map(_as_it_is_now, x))
    return {key: _as_it_is_now(part) for key, part in x.items()} if type(x) is dict else x
