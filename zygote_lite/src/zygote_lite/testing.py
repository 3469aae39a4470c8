"""Switches for tests: which engine answers, whether the answers agree, and why one does not.

A gradient is answered by *transformed* code, made for the types of the arguments at the second
call with them, or else by *recording* on the tape. Both give the same; a test that wants to know
says which:

    with recorded_only():       # every gradient is answered by the tape
        want = grad(f)(x)
    with transformed_only():    # and by transformed code, at the first call, or `NotTransformed`
        got = grad(f)(x)
    with compared():            # by both; `TierMismatch` where they differ
        grad(f)(x)
    with observed() as answers:
        grad(f)(x)
    answers[-1].tier, answers[-1].reason

`ZYGOTE_LITE_CHECK=1` compares every answer in the whole process, `ZYGOTE_LITE_STRICT=1` raises
internal errors; both are read when the package is imported. A switch holds for the thread, or the
asynchronous task, that enters it; threads that this starts are outside. Switches nest, and the
inner one wins. Without any, a call costs what it costs anyway.

Comparing runs the function twice, by transformed code and by the tape. Where it writes to its
arguments, the tape is given copies; other side effects of a function (it prints, it counts in a
global) happen once, on the tape. Values of `jit` functions are compared with those of the function
itself, run once more.
"""

import contextlib
from collections.abc import Iterator
from typing import Any

from zygote_lite._interface.calls import plain_call
from zygote_lite._interface.gradients import raw_value_and_gradient
from zygote_lite._interface.library_functions import all_that_call, that_calls
from zygote_lite._specialize import cache as _cache
from zygote_lite._specialize import entry as _entry
from zygote_lite._specialize.jitted import original
from zygote_lite._specialize.watch import PRODUCT
from zygote_lite._tape.seeds import Argnums
from zygote_lite.modes import (
    RECORDED,
    TRANSFORMED,
    Answer,
    InternalError,
    NotTransformed,
    TierMismatch,
    current,
    switched,
)

__all__ = [
    # switches
    "recorded_only",
    "transformed_only",
    "compared",
    "strict",
    "observed",
    # questions
    "why_recorded",
    "is_covered",
    "programs",
    "reasons",
    "forget",
    # what is raised and returned
    "Answer",
    "TierMismatch",
    "NotTransformed",
    "InternalError",
]


@contextlib.contextmanager
def recorded_only() -> Iterator[None]:
    """Have every gradient answered by the tape; functions of `jit` run as they are."""
    with switched(tier=RECORDED):
        yield


@contextlib.contextmanager
def transformed_only() -> Iterator[None]:
    """Have every gradient answered by transformed code, which is made at the first call.

    Raises `NotTransformed`, with the reason, at a gradient that it does not answer. `pullback`
    records always.
    """
    with switched(tier=TRANSFORMED):
        yield


@contextlib.contextmanager
def compared(tolerance: float | None = None) -> Iterator[None]:
    """Compare every answer of transformed code, which is made at the first call, with the tape's.

    Arguments:
        tolerance: the relative difference of two numbers that count as equal; without it, one
            that fits the least precise of all floats (1.5e-8 for float64).

    Raises `TierMismatch` where values or gradients differ, in number, kind, shape or dtype, or
    where the tape alone raises an error; the message has the function, the arguments, both
    answers and the program. `None` and zeros count as equal, and so do Python's and NumPy's
    numbers where the code is compiled.
    """
    tier = None if current().tier == RECORDED else current().tier
    with switched(tier=tier, compared=True, tolerance=tolerance):
        yield


@contextlib.contextmanager
def strict(enabled: bool = True) -> Iterator[None]:
    """Raise internal errors in making and running transformed code as `InternalError`.

    Arguments:
        enabled: `False` switches it off again, inside.

    An error that transformed code raises is internal where the tape then answers without one,
    unless the code leaves on purpose. Without this the tape answers and nothing is said.
    """
    with switched(strict=enabled):
        yield


@contextlib.contextmanager
def observed() -> Iterator[list[Answer]]:
    """Note how gradients are answered: yield a list, which gets an `Answer` for each of them."""
    answers: list[Answer] = []
    with switched(answers=answers):
        yield answers


def why_recorded(f: Any, /, *xs: Any, argnums: Argnums | None = None, **kws: Any) -> str | None:
    """Return why the tape answers `value_and_grad(f, argnums)(*xs, **kws)`, or `None`.

    Arguments:
        f: the function.
        xs, kws: its arguments.
        argnums: the arguments to differentiate; without it, all.

    If there is no code for the types of the arguments, it is made, and run.
    """
    plain = plain_call(original(f), xs, kws) if kws else None
    order = () if plain is None else plain[0].__code__.co_varnames
    named = sorted(kws, key=lambda name: order.index(name) if name in order else len(order))
    asked = (*range(len(xs)), *named) if argnums is None else argnums
    try:
        with transformed_only():
            raw_value_and_gradient(f, asked)(*xs, **kws)
    except NotTransformed as error:
        return error.reason
    return None


def is_covered(f: Any, /, *xs: Any) -> bool:
    """Return whether a function has code already that answers these arguments.

    Arguments:
        f: the function.
        xs: its arguments.

    The code may be for a gradient or a Jacobian (`xs` are the arguments), or for a Hessian times a
    vector (the last of `xs`). Nothing is made, and nothing raises.
    """
    function = original(f)
    function = that_calls(function, len(xs)) or function
    for known in _cache.specializations_for(function):
        given = xs
        if known.form == PRODUCT and not known.single and xs and type(xs[-1]) is tuple:
            given = (*xs[:-1], *xs[-1])
        moving = sum(known.active) if known.form == PRODUCT else 0
        if len(known.active) + moving != len(given):
            continue
        for enter in known.made:
            with contextlib.suppress(Exception):
                if enter(function, *given) is not None:
                    return True
    return False


def programs(f: Any, /, form: str | None = None, *, compiled: bool | None = None) -> list[str]:
    """Return the texts of the code that was made so far for a Python function.

    Arguments:
        f: the function.
        form: only those for the `"gradient"`, the Hessian times a vector (`"product"`), or the
            value and its `"pullback"` (which the Jacobian uses; of a function that returns
            something else too, `"pullback of the first of a pair"`).
        compiled: only those that Numba has compiled, or only the others.
    """
    return [
        _entry.program_of(enter)
        for known in _made_for(f)
        if form in (None, known.form)
        for enter in known.made
        if compiled in (None, _entry.is_compiled(enter))
    ]


def reasons(f: Any, /) -> list[str]:
    """Return why no code was made for a Python function, for each choice of types that was seen.

    Arguments:
        f: the function.
    """
    return [reason for known in _made_for(f) for reason in known.reasons.values()]


def forget(*functions: Any) -> None:
    """Forget the code that was made for some functions.

    Arguments:
        functions: these functions; all, if none is named.

    The warning that a function runs uncompiled, which is given once, is then given again.
    """
    for known in _made_for(*functions):
        known.renew()
    _cache.forget_warnings()


def _made_for(*functions: Any) -> list[_cache.Specializations]:
    """Return what is known of some functions; of all, if none is named."""
    made = [g for f in functions for g in all_that_call(original(f))]
    return _cache.specializations_for(*made) if made or not functions else []
