"""Forward mode: the derivative of a function in the direction of tangents."""

import functools
import weakref
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any, Literal, overload

import numpy as np

from rulescore import find_frule, frule, plugins
from zygote_lite._cotangents.zeros import filled
from zygote_lite._interface.calls import plain_call
from zygote_lite._ir.frames import entry, keep_users_frames
from zygote_lite._ir.places import is_installed, is_library
from zygote_lite._ir.traits import HEAPTYPE
from zygote_lite._nested.gradients import (
    inside,
    inside_jacobian,
    inside_jacobian_with_aux,
    inside_run,
)
from zygote_lite._nested.tangents import (
    inside_jvp,
    pushed_forward,
    refuse_no_tuples,
)
from zygote_lite._specialize.cache import Specializations, specializations_of
from zygote_lite._specialize.compare import is_finite_answer
from zygote_lite._specialize.entry import first_of, of_tuples
from zygote_lite._specialize.jitted import original
from zygote_lite._specialize.typed.derivatives import gone_over
from zygote_lite._specialize.watch import FORWARD
from zygote_lite._tape.jacobians import jacobian_by_columns, units
from zygote_lite._tape.seeds import ActiveArguments, Argnums, asked_arguments, pair_of
from zygote_lite._tape.validate import (
    hide_keywords,
    own_buffers,
    refuse_keywords,
    refuse_more,
    refuse_options,
)
from zygote_lite.derivatives import Passed, by_name
from zygote_lite.modes import RECORDED, current, watching

# what `jvp` enters first, by functions' identity
_prepared: dict[int, Callable[..., Any]] = {}
# for each of these functions a reference, and what it was made of, by the arguments that move
_made_of: dict[int, dict[Any, Any]] = {}


def _forget_prepared() -> None:
    _prepared.clear()
    _made_of.clear()


watching.publish.append(_forget_prepared)


@overload
def jvp(
    f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], *,
    has_aux: Literal[False] = False,
) -> tuple[Any, Any]: ...  # fmt: skip
@overload
def jvp(
    f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], *, has_aux: bool
) -> tuple[Any, ...]: ...
def jvp(
    f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], *more: Any,
    has_aux: bool = False, **keywords: Any,
) -> tuple[Any, ...]:  # fmt: skip
    """Return the value of `f(*primals)`, and its derivative in the direction of the tangents.

    Arguments:
        f: any callable that `pullback` takes.
        primals: its arguments.
        tangents: one direction for each argument, with the shape and the structure of the
            argument's gradient: a list for a list, a `Tangent` for an object; `None` is a zero.
        has_aux: whether `f` returns a pair, of which only the first element is differentiated. The
            answer is then `(value, derivative, aux)`.

    Other keywords are refused: bind those of `f` before, as in `lambda x: f(x, s=2.0)`.

    The derivative has the shape and the structure of the value. It is zero where the value does not
    depend on an argument that has a tangent. The cost does not grow with the number of arguments.
    Transformed code for it is made at the first call, and keeps nothing of a loop; the tape does.
    Raises `TypeError` if a tangent does not fit its argument. (JAX's `jvp`; ChainRules' `frule`
    returns the same pair.)
    """
    try:
        enter = None if has_aux or keywords or more else _prepared.get(id(f))
        if enter is not None:
            answer: tuple[Any, Any] | None = enter(f, primals, tangents)
            if answer is not None:
                return answer
        refuse_more("jvp", 3, more, ["has_aux"])
        return _value_and_tangent(f, primals, tangents, has_aux, keywords)
    except BaseException as error:
        __tracebackhide__ = keep_users_frames(error)
        raise


def _value_and_tangent(
    f: Any, primals: Sequence[Any], tangents: Sequence[Any], has_aux: bool, keywords: dict[str, Any]
) -> tuple[Any, ...]:
    """Return what `jvp` returns, where no code is known yet that gives it at once."""
    refuse_no_tuples(primals, tangents)
    refuse_options(has_aux=has_aux)
    refuse_keywords("jvp", f, keywords, has_aux=has_aux)
    f, primals = original(f), tuple(primals)
    numbers = tuple([i for i, v in enumerate(tangents) if v is not None])
    found = by_dual_code(f, primals, {}, numbers, [tangents[i] for i in numbers])
    if found is None:
        found = _by_forward_rule(f, primals, tuple(tangents))
    if found is None:
        flags = (None, *(None if v is None else True for v in tangents))
        copied: dict[int, Any] = {}
        directions = [_as_given(v, copied) for v in tangents]
        y, push = pushed_forward(f, flags, primals, {}, has_aux)
        dy = push(*directions)
    else:
        y, dy = found
        dy = dy[0] if has_aux and pair_of(f, y) and dy is not None else dy
    return (y[0], dy, y[1]) if has_aux else (y, dy)


def _as_given(v: Any, copied: dict[int, Any]) -> Any:
    """Return a tangent apart from the arguments, which the function may change.

    Arguments:
        v: the tangent, or a part of it.
        copied: what is copied already, by identity: a part that is shared is copied once.
    """
    if id(v) in copied:
        return copied[id(v)]
    if type(v) in (tuple, list):
        found: Any = type(v)([_as_given(part, copied) for part in v])
    elif type(v) is dict:
        found = {key: _as_given(part, copied) for key, part in v.items()}
    elif type(v) is np.ndarray:
        found = v.copy()
    else:
        return v
    copied[id(v)] = found
    return found


def by_dual_code(
    f: Any, xs: tuple[Any, ...], kws: dict[str, Any], numbers: tuple[int, ...], moving: list[Any],
    quiet: bool = False,
) -> tuple[Any, Any] | None:  # fmt: skip
    """Return the value and the tangent by transformed code; `None` where that is the tape's.

    The code is made at the first call: the tape costs about as much as making it.

    Arguments:
        f, xs, kws: the call.
        numbers: the arguments that move, by position and then by keyword.
        moving: their tangents.
        quiet: whether code that has effects may not answer.
    """
    function, over = gone_over(f)
    given, places = xs, numbers
    if type(function) is not FunctionType or kws:
        call = plain_call(function, xs, kws) if over is None else None
        if call is None:
            return None
        function, given, before = call
        named = map(function.__code__.co_varnames.index, kws)
        at = [*range(before, before + len(xs)), *named]
        places = tuple([at[n] for n in numbers])
    if not places:
        return None
    known = specializations_of(function, len(given), places, False, False, FORWARD, over)
    if known is None:
        return None
    found: tuple[Any, Any] | None
    found = (known.enter_quietly if quiet else known.enter)(function, *given, *moving)
    if found is not None and function is f and len(given) == len(xs):
        _enter_at_once(f, known)
    if found is None:
        plugins()  # their rules, were they loaded later, would put the code out of date
        if known.note(function, (*given, *moving)):
            found = (known.enter_quietly if quiet else known.enter)(function, *given, *moving)
    return found


def _by_forward_rule(f: Any, xs: tuple[Any, ...], dxs: tuple[Any, ...]) -> Any:
    """Return the value and the tangent of a function of a library by its forward rule.

    It is `None` where there is none, or where the tape knows better: at poles, for errors, and for
    what is neither a float nor an array of floats.
    """
    if not _is_of_a_library(f):
        return None  # it may have effects, which are to happen once
    rule = find_frule(f, *xs)
    if rule is None or rule.kind == "constant":
        return None
    if isinstance(getattr(f, "__self__", None), np.random.RandomState | np.random.Generator):
        return None  # it would draw twice
    if watching.count and current().tier == RECORDED:
        return None
    if not all(map(_is_of_floats, xs)) or not all(map(_fits_exactly, dxs, xs)):
        return None
    try:
        with np.errstate(divide="raise", over="raise", invalid="raise"):
            found = frule((None, *dxs), f, *xs)
    except Exception:
        return None
    if found is None:
        return None
    y, dy = found[0], filled(found[1], found[0])
    if not all(map(_is_of_floats, y if isinstance(y, tuple) else (y,))):
        return None
    return (y, own_buffers(dy, (dxs, xs, y))) if is_finite_answer(dy) else None


def _is_of_a_library(f: Any) -> bool:
    f = getattr(f, "__wrapped__", f)  # the body of a rule of one's own
    code = getattr(f, "__code__", None)
    if code is None:
        return not type(f).__flags__ & HEAPTYPE
    return type(f) is FunctionType and (
        is_installed(code.co_filename) or is_library(code.co_filename)
    )


def _is_of_floats(x: Any) -> bool:
    return type(x) in (float, np.float64) or (type(x) is np.ndarray and x.dtype.kind in "fc")


def _fits_exactly(dx: Any, x: Any) -> bool:
    return dx is None or (
        type(dx) is type(x)
        and (type(x) is not np.ndarray or (dx.shape == x.shape and dx.dtype == x.dtype))
    )


def _enter_at_once(f: FunctionType, known: Specializations) -> None:
    """Have the next call of `jvp` with this function enter its code at once."""
    number = id(f)
    with watching.lock:
        noted = _made_of.get(number)
        if noted is None:

            def forget(_: object) -> None:
                _prepared.pop(number, None)
                _made_of.pop(number, None)

            noted = _made_of[number] = {None: weakref.ref(f, forget)}
        if not watching.count and noted.get(known.active) is not known.made:
            noted[known.active] = known.made
            _prepared[number] = first_of([of_tuples(enter, known.active) for enter in known.made])


@by_name
def jacfwd(
    f: Callable[Passed, Any], argnums: Argnums = 0, *, has_aux: bool = False
) -> Callable[Passed, Any]:
    """Return a function that computes the Jacobian of `f` in forward mode, one input at a time.

    Arguments:
        f: a function, as for `jacobian`.
        argnums: the argument to differentiate, by position or by name; or several.
        has_aux: whether `f` returns a pair, as for `jacobian`.

    The result is that of `jacobian`: it has the shape of the value, followed by that of the
    argument. So are the errors. It costs less if there are fewer inputs than outputs. (JAX's
    `jacfwd`.)
    """

    asked_arguments(argnums)
    refuse_options(has_aux=has_aux)
    how: Any = inside_jacobian_with_aux if has_aux else inside_jacobian

    @inside(functools.partial(how, f, argnums))
    @entry
    @functools.wraps(f)
    def jacobian_of(*xs: Any, **kws: Any) -> Any:
        active = ActiveArguments(f, argnums, len(xs), kws)
        zeros = [filled(None, x) for x in (*xs, *kws.values())]  # before the function changes them
        found = _columns_by_code(f, xs, kws, active, zeros, has_aux)
        if found is None:
            found = pushed_forward(original(f), active.flags, xs, kws, has_aux)
        y, push = found
        if not has_aux:
            return jacobian_by_columns(f, y, push, active, zeros)
        y, aux = pair_of(f, y)
        return jacobian_by_columns(f, y, push, active, zeros), aux

    return jacobian_of


def _columns_by_code(
    f: Any, xs: tuple[Any, ...], kws: dict[str, Any], active: ActiveArguments, zeros: list[Any],
    has_aux: bool,
) -> tuple[Any, Callable[..., Any]] | None:  # fmt: skip
    """Return the value, and a function that gives the columns of the Jacobian one by one.

    Transformed code runs the function once for each.

    It is `None` where a column is the tape's, for structures, and where code has effects.
    """
    if any(type(zeros[n]) not in (float, np.ndarray) for n in active.numbers):
        return None
    y, columns, function = None, [], original(f)
    for number in active.numbers:
        for v in units(f, zeros[number]):
            found = by_dual_code(function, xs, kws, (number,), [v], quiet=True)
            if found is None:
                return None
            y = found[0]
            columns.append(found[1][0] if has_aux and pair_of(f, y) else found[1])
    if not columns:
        return None
    known = iter(columns)
    return y, lambda *_: next(known)


hide_keywords(jvp)
inside(inside_jvp)(jvp)
inside_run(jacfwd)
