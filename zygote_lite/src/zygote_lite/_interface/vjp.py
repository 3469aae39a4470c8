"""Pullbacks of transformed code, `vjp`, and gradients of functions that return something else too.

`vjp` is the pullback by JAX's words. What a function returns beside the value that is
differentiated (`has_aux`) gets no cotangent, and is handed on unchanged. Transformed code for this
gives the pair, and the pullback of its first.
"""

import functools
import types
from collections.abc import Callable, Sequence
from typing import Any, Literal, overload

from zygote_lite._cotangents.kinds import DIFFERENTIATED_BY_TYPE
from zygote_lite._cotangents.zeros import WITHOUT_NONE, filled, forms_of, has_no_none
from zygote_lite._interface.calls import PlainCalls, record_and_note, transformed_first
from zygote_lite._interface.runs_inside import pulled_inside
from zygote_lite._ir.frames import keep_users_frames
from zygote_lite._ir.names import name_of
from zygote_lite._nested.gradients import inside, inside_auxiliary
from zygote_lite._nested.rules import vjp_inside
from zygote_lite._specialize.cache import Specializations, specializations_of
from zygote_lite._specialize.callee import finite_cotangents
from zygote_lite._specialize.compare import difference
from zygote_lite._specialize.jitted import original
from zygote_lite._specialize.typed.derivatives import Verb, declare_verb
from zygote_lite._specialize.watch import AUXILIARY, OF_FIRST, PULLBACK
from zygote_lite._tape.notebook import html_of_pullback
from zygote_lite._tape.run import OfOneCotangent, Pullback, recorded
from zygote_lite._tape.seeds import ActiveArguments, Argnums, of_first, pair_of, seed, with_zeros
from zygote_lite._tape.validate import (
    check_fit,
    hide_keywords,
    own_buffers,
    refuse_keywords,
    refuse_options,
)
from zygote_lite.errors import Fault


def code_for_pullback(f: Any, xs: tuple[Any, ...], kws: dict[str, Any]) -> Specializations | None:
    """Return the transformed code for the pullback of a call; there is none by keyword.

    Nor is there for a closure: its captured variables are differentiated too.
    """
    if type(f) is not types.FunctionType or f.__closure__ or kws or not xs:
        return None
    return specializations_of(f, len(xs), tuple(range(len(xs))), single=False, form=PULLBACK)


class TransformedPullback(Pullback):
    """The pullback of a call that transformed code has answered.

    Where a cotangent is not finite, which zero meets an infinity and wins is for the tape to say:
    it runs the call again.
    """

    def __init__(
        self, back: Any, f: Any, y: Any, xs: tuple[Any, ...], flags: tuple[Any, ...] = ()
    ) -> None:
        super().__init__(back, f, y, xs, flags or (True,) * (1 + len(xs)), [])

    def pull(self, dy: Any) -> tuple[Any, ...]:
        check_fit(dy, self._y, self)
        if dy is None:
            return (None,) * len(self._flags)
        found = finite_cotangents(self._back, self._y, filled(dy, self._y))
        if found is None:
            return self.recorded()(dy)
        return own_buffers(found, (dy, self._xs))

    def again(self) -> tuple[Any, Any]:
        """Return the value and the pullback of the tape."""
        answer: tuple[Any, Any] = recorded(self._flags, self._f, self._xs, {})
        return answer

    def recorded(self) -> Callable[[Any], tuple[Any, ...]]:
        """Return the pullback of the tape. Raises where the arguments have changed meanwhile."""
        back: Callable[[Any], tuple[Any, ...]]
        y, back = self.again()
        if difference(y, self._y) is not None:
            raise Fault.OVERWRITTEN(
                f"{name_of(self._f)} has a gradient that is not finite, and what it was given has "
                "been changed since it was called: pass copies"
            )
        return back


class PullbackOfFirst(TransformedPullback):
    """That of the first of a pair, beside which a function returns something else."""

    def again(self) -> tuple[Any, Any]:
        """Return the first and its pullback, by the tape."""
        pair, back = super().again()
        return pair[0], of_first(back)


class VectorJacobianProduct(OfOneCotangent):
    """Map the cotangent of a value to a tuple of those of the arguments, with zeros for `None`.

    Arguments:
        f, back, y, xs: the function, the pullback of the engine, the value, and the arguments.
        forms: the forms that the arguments had before the call.
        places: where among the cotangents that the pullback gives that of each argument is, `None`
            for one that is not differentiated. Before and between are those of the function, of an
            object, and of what was bound or has a default.
    """

    has_zeros = True

    def __init__(
        self,
        f: Any,
        back: Callable[[Any], Any],
        y: Any,
        xs: tuple[Any, ...],
        forms: tuple[Any, ...],
        places: Sequence[int | None],
        has_aux: bool = False,
    ) -> None:
        self._f, self._back, self._y, self._xs, self._places = f, back, y, xs, places
        self._forms, self.has_aux = forms, has_aux

    def pull(self, dy: Any) -> tuple[Any, ...]:
        found = self._back(dy)
        each = zip(self._places, self._forms, strict=True)
        return tuple([None if at is None else filled(found[at], x) for at, x in each])

    def point(self) -> tuple[Any, tuple[Any, ...], Any] | None:
        """Return the function, its arguments and its value, if it can be run again there."""
        return None if None in self._places else (self._f, self._xs, self._y)

    def _repr_html_(self) -> str:
        active = [at is not None for at in self._places]
        return html_of_pullback(repr(self), self._f, self._y, self._xs, active)


@overload
def vjp(
    f: Callable[..., Any], /, *primals: Any, has_aux: Literal[False] = False
) -> tuple[Any, VectorJacobianProduct]: ...
@overload
def vjp(f: Callable[..., Any], /, *primals: Any, has_aux: bool) -> tuple[Any, ...]: ...
def vjp(
    f: Callable[..., Any], /, *primals: Any, has_aux: bool = False, **keywords: Any
) -> tuple[Any, ...]:
    """Return the value of `f(*primals)`, and its pullback by JAX's conventions.

    Arguments:
        f: any callable.
        primals: its arguments.
        has_aux: whether `f` returns a pair, of which only the first element is differentiated. The
            answer is then `(value, back, aux)`.

    Other keywords are refused: bind those of `f` before, as in `vjp(lambda x: f(x, s=2.0), x)`.

    `back(dy)` returns a tuple with one cotangent for each argument, of the argument's shape and
    precision. It is zero where the value does not depend on the argument, and `None` only if the
    argument cannot have a gradient (text). `pullback` returns `None` in both cases, and begins with
    the gradient of `f` itself, which `vjp` does not compute. Raises the errors of `pullback`. As
    there, no array that `f` was given or reads may change before `back` is called.
    """
    try:
        refuse_options(has_aux=has_aux)
        if keywords or has_aux:
            refuse_keywords("vjp", f, keywords, has_aux=has_aux)
        numbers = tuple(range(len(primals)))
        forms = forms_of(primals)
        y, back, places = _pulled(f, numbers, primals, AUXILIARY if has_aux else PULLBACK)
        if not has_aux:
            return y, VectorJacobianProduct(f, back, y, primals, forms, places)
        y, aux = pair_of(f, y)
        return y, VectorJacobianProduct(f, back, y, primals, forms, places, has_aux), aux
    except BaseException as error:
        __tracebackhide__ = keep_users_frames(error)
        raise


def _places_of(known: Specializations) -> list[int]:
    """Return where the cotangents of differentiated arguments are among those of a plain call."""
    return [1 + i for i, flag in enumerate(known.active) if flag]


def vjp_by(f: Any, numbers: tuple[int, ...], xs: tuple[Any, ...]) -> tuple[Any, Any]:
    """Return the value of `f(*xs)`, and the pullback that gives a cotangent for some arguments.

    Arguments:
        f: any callable.
        numbers: the positions of the arguments that are differentiated; nothing is spent on others.
        xs: its arguments.

    The pullback returns a tuple with one entry for each argument, `None` for the others.
    """
    try:
        forms = forms_of(xs)
        y, back, places = _pulled(f, numbers, xs, PULLBACK)
        return y, VectorJacobianProduct(f, back, y, xs, forms, places)
    except BaseException as error:
        __tracebackhide__ = keep_users_frames(error)
        raise


def _pulled(
    f: Any, numbers: tuple[int, ...], xs: tuple[Any, ...], form: str
) -> tuple[Any, Any, list[int | None]]:
    """Return the value of a call, its pullback, and where that gives the cotangents of arguments.

    Where the function returns a pair (the form `AUXILIARY`), the pullback is that of its first.
    """
    f = original(f)
    known, function, given = None, f, xs
    if type(f) is not types.FunctionType:
        known, function, given = PlainCalls(f, numbers, form).of(xs, {})
    elif numbers:
        known = specializations_of(f, len(xs), numbers, single=False, form=form)
    found = None if known is None else known.enter(function, *given)
    places: list[int | None] = [i + 1 if i in numbers else None for i in range(len(xs))]
    if found is None or known is None:
        flags = (None, *(True if i in numbers else None for i in range(len(xs))))
        y, back = record_and_note(known, function, given, recorded, (flags, f, xs, {}), {})
        return y, back if form == PULLBACK else of_first(back), places
    y, back = found
    for number, place in zip(numbers, _places_of(known), strict=True):
        places[number] = place
    made, value = (TransformedPullback, y) if form == PULLBACK else (PullbackOfFirst, y[0])
    return y, made(back, function, value, given, (None, *known.active)), places


for _pulling in (TransformedPullback, PullbackOfFirst, VectorJacobianProduct, Pullback):
    DIFFERENTIATED_BY_TYPE[_pulling] = pulled_inside
hide_keywords(vjp)
inside(vjp_inside)(vjp)
declare_verb(vjp, Verb.VJP)


def gradient_with_auxiliary(f: Any, argnums: Argnums, both: bool) -> Callable[..., Any]:
    """Return a function that computes the gradient of the first of the pair that `f` returns."""
    f = original(f)

    def finish(found: Any, known: Any, function: Any, given: Any) -> Any:
        pair, d = found
        if not (known.without_none or type(d) in WITHOUT_NONE or has_no_none(d)):
            numbers = [i for i, flag in enumerate(known.active) if flag]
            d = with_zeros(function, given, numbers, known.single, d)
        return (pair, d) if both else (d, pair[1])

    @inside(functools.partial(inside_auxiliary, f, argnums, both))
    @transformed_first(PlainCalls(f, argnums, OF_FIRST), f, finish)
    def gradient_of(*xs: Any, **kws: Any) -> Any:
        active = ActiveArguments(f, argnums, len(xs), kws)
        forms = forms_of((*xs, *kws.values()), active.numbers)
        pair, back = recorded(active.flags, f, xs, kws)
        y, aux = pair_of(f, pair)
        found = active.of(back((seed(f, y), None)))
        d = with_zeros(f, forms, active.numbers, active.is_single, found)
        return ((y, aux), d) if both else (d, aux)

    return gradient_of
