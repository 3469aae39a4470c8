"""`linearize`: a function of tangents at one point, by dual code or by the tape."""

import operator
from collections.abc import Callable
from types import FunctionType
from typing import Any, Literal, overload

import numpy as np

from zygote_lite._activity.walk import memory_reached
from zygote_lite._cotangents.kinds import DIFFERENTIATED_BY_TYPE, owner_of, within
from zygote_lite._cotangents.zeros import filled
from zygote_lite._interface.runs_inside import pushed_inside
from zygote_lite._interface.tangents import by_dual_code
from zygote_lite._ir.frames import entry, keep_users_frames
from zygote_lite._ir.names import name_of, shown_name
from zygote_lite._nested.gradients import inside
from zygote_lite._nested.linearized import linearize_inside
from zygote_lite._nested.tangents import Pushforward, pushed_forward, refuse_named_tangents
from zygote_lite._specialize.cache import specializations_of
from zygote_lite._specialize.compare import is_finite_answer
from zygote_lite._specialize.jitted import original
from zygote_lite._specialize.watch import FORWARD
from zygote_lite._tape.notebook import html_of_pushforward
from zygote_lite._tape.run import OfOneRun
from zygote_lite._tape.seeds import pair_of
from zygote_lite._tape.validate import (
    check_fit,
    hide_keywords,
    refuse_keywords,
    refuse_options,
)
from zygote_lite.errors import DifferentiationError, Fault
from zygote_lite.modes import watching

_NEVER_CHANGED = (int, bool, str, bytes, type(None))


class TransformedPushforward(OfOneRun):
    """Map the tangents of a function's arguments to that of its value, by its dual code.

    The code runs the function again, at the arguments as they were: it has no effects, and reads
    nothing from outside but what cannot change itself.

    Arguments:
        f, xs: the function, and its arguments.
        y: its value; with `has_aux` it is a pair, and the tangent is that of the first.
        active: which of its arguments are floats, or arrays of them.
        enter: the entry into the code.
        watched: the same, for modes that compare.
    """

    def __init__(
        self, f: Any, xs: tuple[Any, ...], y: Any, active: tuple[bool, ...], enter: Any,
        watched: Callable[..., Any], has_aux: bool,
    ) -> None:  # fmt: skip
        self._f, self._y, self._enter, self._watched = f, y, enter, watched
        self._has_aux = has_aux
        self._xs = tuple([np.copy(x) if isinstance(x, np.ndarray) else x for x in xs])
        self._zeros = [
            filled(None, x) if flag else None for x, flag in zip(xs, active, strict=True)
        ]
        self._outside = _read_outside(enter, f)
        self._recorded: Pushforward | None = None

    def __call__(self, *tangents: Any, **named: Any) -> Any:
        try:
            refuse_named_tangents(self, named)
            found = None
            if len(tangents) == len(self._xs):
                pairs = [*zip(tangents, self._zeros, strict=True)]
                if not any(v is not None and zero is None for v, zero in pairs):
                    moving = [zero if v is None else v for v, zero in pairs if zero is not None]
                    found = self._run(moving)
            if found is None:
                return self._by_tape(tangents)
            return found[1][0] if self._has_aux else found[1]
        except BaseException as error:
            __tracebackhide__ = keep_users_frames(error)
            raise

    def _run(self, moving: list[Any]) -> Any:
        if self._reads_the_same():
            enter = self._watched if watching.count else self._enter
            return enter(self._f, *self._xs, *moving)
        if self._enter(self._f, *self._xs, *moving) is None:  # it tests the tangents, too
            return None
        found = self._enter.__globals__["fast"](*self._xs, *moving, *self._outside)
        return found if is_finite_answer(found) else None

    def _by_tape(self, tangents: tuple[Any, ...]) -> Any:
        """Return the tangent by the tape: at poles, and for the errors of what does not fit."""
        if len(tangents) == len(self._zeros):
            for v, zero in zip(tangents, self._zeros, strict=True):
                if zero is not None:
                    check_fit(v, zero, self, "tangent", "argument")
        if self._recorded is None:
            still = [zero for zero in self._zeros if zero is not None]
            if not self._reads_the_same() or self._enter(self._f, *self._xs, *still) is None:
                raise self._changed()
            flags = (None, *(True for _ in self._xs))
            self._recorded = pushed_forward(self._f, flags, self._xs, {}, self._has_aux)[1]
        return self._recorded(*tangents)

    def point(self) -> tuple[Any, tuple[Any, ...], bool]:
        """Return the function, where it is linearized, and whether it returns something else too.

        Raises where what the function reads has changed.
        """
        if not self._reads_the_same():
            raise self._changed()
        return self._f, self._xs, self._has_aux

    def _changed(self) -> Exception:
        return Fault.TANGENT(
            f"what {name_of(self._f)} reads from outside has changed since `linearize`: "
            "call `linearize` again",
            DifferentiationError,
        )

    def _reads_the_same(self) -> bool:
        now = _read_outside(self._enter, self._f)
        return all(x is y for x, y in zip(self._outside, now, strict=True))

    def __repr__(self) -> str:
        return f"pushforward of {shown_name(self._f)}"

    def _repr_html_(self) -> str:
        return html_of_pushforward(repr(self), self._f, self._y, self._xs)


class _Given:
    """Arguments with copies of the arrays: what is saved of them is nobody else's.

    The lists, dicts and tuples around an array are copied with it. An array that the function also
    reaches in another way is given as it is: it may write into it.

    Attributes:
        xs: the arguments that the function is given.
    """

    def __init__(self, f: Any, xs: tuple[Any, ...]) -> None:
        arrays: dict[int, Any] = {}
        others: list[Any] = []
        self._opened = all(_take_apart(x, arrays, others, ()) for x in xs)
        if not self._opened:
            arrays = {id(x): x for x in xs if _is_copied(x)}
            others = [x for x in xs if id(x) not in arrays]
        inside = [x for x in within(*others) if isinstance(x, np.ndarray)]
        near = [*arrays.values(), *inside]
        alone = [
            x
            for x in arrays.values()
            if not any(y is not x and np.may_share_memory(x, y) for y in near)
        ]
        reached = memory_reached(alone, f) if alone else set()
        self._copies: dict[int, tuple[Any, Any]] = {}  # by the identity of what is copied
        self._held: list[tuple[Any, Any, list[Any]]] = []  # containers, and what copies held
        for x in alone:
            if id(owner_of(x)) not in reached:
                copy = x.copy(order="K")
                copy.flags.writeable = x.flags.writeable
                self._copies[id(x)] = (x, copy)
        self.xs = tuple([self._copied(x) for x in xs])
        self._users = {id(copy): x for x, copy in self._copies.values()}

    def _copied(self, x: Any) -> Any:
        """Return an argument, or a part of one, with copies of the arrays."""
        if id(x) in self._copies:
            return self._copies[id(x)][1]
        if type(x) not in _OPENED or not self._opened:
            return x
        parts = [self._copied(part) for part in _values_held(x)]
        if all(map(operator.is_, parts, _values_held(x))):
            return x
        copy = dict(zip(x, parts, strict=True)) if type(x) is dict else type(x)(parts)
        self._copies[id(x)] = (x, copy)
        if type(x) is not tuple:
            self._held.append((x, copy, [*copy, *_values_held(copy)]))
        return copy

    def hand_back(self) -> None:
        """Give arguments what a function has written into the copies of them."""
        for x, copy in self._copies.values():
            if type(x) is np.ndarray and x.flags.writeable and copy.tobytes() != x.tobytes():
                x[...] = copy
            if type(x) is np.ndarray and not copy.flags.writeable:
                x.flags.writeable = False
        for x, copy, before in self._held:
            now = [*copy, *_values_held(copy)]
            if len(now) == len(before) and all(map(operator.is_, now, before)):
                continue
            parts = [self._users.get(id(part), part) for part in _values_held(copy)]
            if type(x) is dict:
                keys = [*copy]
                x.clear()
                x.update(zip(keys, parts, strict=True))
            else:
                x[:] = parts

    def of_the_users(self, y: Any) -> Any:
        """Return the value of a function; an argument itself in the place of its copy."""
        if id(y) in self._users:
            return self._users[id(y)]
        if isinstance(y, np.ndarray):
            for x, copy in self._copies.values():
                if type(x) is np.ndarray and np.may_share_memory(y, copy):
                    return y.copy(order="K")
        return y


_OPENED = (list, tuple, dict)
_DEEPEST_COPIED, _MOST_COPIED = 20, 200  # containers within each other, and arrays, that are copied


def _values_held(x: Any) -> list[Any]:
    return [*x.values()] if type(x) is dict else [*x]


def _is_copied(x: Any) -> bool:
    return type(x) is np.ndarray and x.dtype.kind in "biufc"


def _take_apart(x: Any, arrays: dict[int, Any], others: list[Any], above: tuple[int, ...]) -> bool:
    """Note the arrays in lists, dicts and tuples, and what else they hold.

    Return whether that is all: containers that hold themselves, or too much, are not copied.
    """
    if _is_copied(x):
        arrays[id(x)] = x
    elif type(x) in _OPENED:
        if id(x) in above or len(above) > _DEEPEST_COPIED:
            return False
        parts = [part for part in _values_held(x) if type(part) not in (float, *_NEVER_CHANGED)]
        return all(_take_apart(part, arrays, others, (*above, id(x))) for part in parts)
    else:
        others.append(x)
    return len(arrays) <= _MOST_COPIED or not above


def _linearized_by_code(
    f: Any, xs: tuple[Any, ...], has_aux: bool
) -> tuple[Any, TransformedPushforward] | None:
    """Return what `linearize` returns by transformed code; `None` where the tape is to answer."""
    active = tuple([type(x) is float or _is_array_of_floats(x) for x in xs])
    if type(f) is not FunctionType or not any(active):
        return None
    if any(not flag and type(x) not in _NEVER_CHANGED for x, flag in zip(xs, active, strict=True)):
        return None
    numbers = tuple([i for i, flag in enumerate(active) if flag])
    zeros = [filled(None, xs[i]) for i in numbers]
    found = by_dual_code(f, xs, {}, numbers, zeros, quiet=True)
    known = specializations_of(f, len(xs), numbers, False, False, FORWARD)
    if found is None or known is None:
        return None
    for enter in known.made:
        if enter(f, *xs, *zeros) is not None:
            if enter.__globals__["holders"]:  # lists, dicts and objects
                return None
            kinds = set(map(type, _read_outside(enter, f)))
            if not kinds.issubset((*_NEVER_CHANGED, float, np.float64)):
                return None
            push = TransformedPushforward(f, xs, found[0], active, enter, known.enter, has_aux)
            return found[0], push
    return None


def _read_outside(enter: Any, f: Any) -> list[Any]:
    """Return what code reads from outside at its entry."""
    space = enter.__globals__
    return [eval(expression, space, {"f": f}) for expression in space["outside"]]


def _is_array_of_floats(x: Any) -> bool:
    return type(x) is np.ndarray and x.dtype.kind == "f"


@overload
def linearize(
    f: Callable[..., Any], /, *xs: Any, has_aux: Literal[False] = False
) -> tuple[Any, Pushforward | TransformedPushforward]: ...
@overload
def linearize(f: Callable[..., Any], /, *xs: Any, has_aux: bool) -> tuple[Any, ...]: ...
@entry
def linearize(
    f: Callable[..., Any], /, *xs: Any, has_aux: bool = False, **keywords: Any
) -> tuple[Any, ...]:
    """Return the value of `f(*xs)`, and the function that maps tangents to the value's tangent.

    Arguments:
        f, xs: any callable that `pullback` takes, and its arguments.
        has_aux: whether `f` returns a pair, of which only the first element is differentiated. The
            answer is then `(value, push, aux)`.

    Other keywords are refused: bind those of `f` before, as in `lambda x: f(x, s=2.0)`.

    `push(*dxs)` takes one tangent for each argument, of its shape and structure, and returns that
    of the value, as `jvp` does, at the arguments as they are now: what is written later into them,
    or into arrays that `f` reads from outside, does not change it. `f` is given copies of arrays,
    and of the lists, dicts and tuples around them; what it writes into them is in `xs` when
    `linearize` returns. The effects of `f` happen once, however often `push` is called. Raises the
    errors of `pullback`; `push` raises `TypeError` if a tangent does not fit its argument, and if
    an array in an object or outside was changed while other threads run. (JAX's `linearize`.)
    """
    refuse_options(has_aux=has_aux)
    refuse_keywords("linearize", f, keywords, has_aux=has_aux)
    found: tuple[Any, ...] | None = _linearized_by_code(original(f), xs, has_aux)
    if found is None:
        given = _Given(f, xs)
        try:
            found = pushed_forward(original(f), (None, *(True for _ in xs)), given.xs, {}, has_aux)
        finally:
            given.hand_back()
        found[1].keep_what_it_read()
        y = found[0]
        parts = [given.of_the_users(part) for part in (y if has_aux else (y,))]
        found = (tuple(parts) if has_aux else parts[0]), found[1]
    if not has_aux:
        return found
    y, aux = pair_of(f, found[0])
    return y, found[1], aux


for _pushing in (TransformedPushforward, Pushforward):
    DIFFERENTIATED_BY_TYPE[_pushing] = pushed_inside
hide_keywords(linearize)
inside(linearize_inside)(linearize)
