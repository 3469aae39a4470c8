"""`checkpoint`: a function that is run again in the reverse pass, and keeps nothing until then."""

import contextlib
import functools
import operator
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

from rulescore import RuleSet, Tangent
from zygote_lite._activity.saved import saving_nothing
from zygote_lite._activity.walk import reaches_active_by_name
from zygote_lite._ir.frames import entry
from zygote_lite._ir.names import name_of, shown_name
from zygote_lite._ir.places import where
from zygote_lite._nested.gradients import inside, inside_run
from zygote_lite._specialize.compare import difference
from zygote_lite._tape.notebook import html_of_name
from zygote_lite._tape.repeats import Surroundings
from zygote_lite._tape.validate import hide_keywords, refuse_no_function
from zygote_lite.derivatives import Answered, Passed
from zygote_lite.errors import DifferentiationError, Fault

rule = RuleSet("zygote_lite")


class Checkpointed:
    """A function of which the reverse pass keeps the arguments alone."""

    def __init__(self, f: Callable[..., Any]) -> None:
        functools.update_wrapper(self, f, updated=())
        self.f = f

    def __call__(self, /, *xs: Any, **kws: Any) -> Any:
        return self.f(*xs, **kws)

    def __get__(self, x: Any, owner: Any = None) -> Any:
        return self if x is None else types.MethodType(self, x)

    def __reduce__(self) -> Any:
        found: Any = sys.modules.get(self.__module__)
        name: str = getattr(self, "__qualname__", "")
        for part in name.split("."):
            found = getattr(found, part, None)
        return name if found is self else (checkpoint, (self.f,))

    def __repr__(self) -> str:
        return f"checkpoint({shown_name(self.f)})"

    def _repr_html_(self) -> str:
        return html_of_name(repr(self))


@entry
def checkpoint(
    f: Callable[Passed, Answered], *more: Any, **keywords: Any
) -> Callable[Passed, Answered]:
    """Return `f` as a function that saves memory: the reverse pass runs `f` again.

    Arguments:
        f: a function of numbers, arrays, and lists, tuples, dicts and objects of them, without side
            effects.

    Only the arguments of `f` and its value are kept for the reverse pass, and no intermediate
    values. `f` may call other checkpointed functions. Raises `DifferentiationError` if `f` has
    effects that would happen twice: output, random draws, changes of its arguments or of variables
    outside of it; or if it reads a global variable that holds what is differentiated. The reverse
    pass raises it, too, if `f` then returns another value. Functions with a rule are trusted, and
    while a profiler runs, effects of libraries and behind conditions are not noticed. (JAX's
    `checkpoint`.)
    """
    refuse_no_function(f, "checkpoint")
    if more or keywords:
        raise Fault.ARGNUMS(
            "checkpoint is given more than a function: give what it returns the arguments, "
            "`checkpoint(f)(x)`; there are no options"
        )
    return Checkpointed(f)


hide_keywords(checkpoint)


def _refusal_of_effect(f: Any) -> Callable[[str], Exception]:
    """Return what gives the error for an effect of a function."""

    def refused(effect: str) -> Exception:
        return Fault.CHECKPOINT(
            f"{where()}: {name_of(f)} is run again in the reverse pass, and has an effect: "
            f"{effect}; do that outside of what is checkpointed"
        )

    return refused


@inside_run
def _outer_state(f: Any, *xs: Any) -> Any:
    """Return what the variables around a function hold; refuse one that has effects."""
    around = Surroundings(f, xs)
    if around.effect is not None:
        raise _refusal_of_effect(f)(around.effect)
    if reaches_active_by_name(f, *xs):
        raise Fault.CHECKPOINT(
            f"{where()}: {name_of(f)} is run again in the reverse pass, and reads a variable that "
            "was given what depends on what is differentiated: pass that as an argument"
        )
    return around


@inside_run
def _refuse_changes(f: Any, around: Any) -> None:
    if around.has_drawn():
        raise Fault.CHECKPOINT(
            f"{where()}: {name_of(f)} is run again in the reverse pass, and draws random numbers "
            "with PyTorch: draw outside, and pass the numbers"
        )
    if not around.are_unchanged():
        raise Fault.CHECKPOINT(
            f"{where()}: {name_of(f)} is run again in the reverse pass, and changes a variable "
            "around it: return the new state, and take it as an argument"
        )


@contextlib.contextmanager
def _told_as_checkpoint(f: Any) -> Iterator[None]:
    """Tell of a function that changes what it was given that it is run again."""
    try:
        yield
    except DifferentiationError as error:
        if error.code != Fault.HANDED_TO_RULE.code or f"{name_of(f)} changes" not in str(error):
            raise
        raise Fault.CHECKPOINT(
            f"{where()}: {name_of(f)} is run again in the reverse pass, and changes what it "
            "captured or was given: return the new state, and take it as an argument"
        ) from None


@inside_run
def _refuse_another_value(f: Any, y: Any, again: Any) -> None:
    if difference(again, y) is not None:
        raise Fault.CHECKPOINT(
            f"{name_of(f)} is run again in the reverse pass, and gave another value, as what it "
            "was given, or reads from around it, has changed meanwhile: let nothing change that"
        )


def _value_inside(tape: Any, nodes: Any, xs: Any, kws: Any) -> Any:
    """Return the value on an outer tape: a gradient of a gradient spares no memory."""
    around, *given = xs
    refusal = _refusal_of_effect(around.f)
    with _told_as_checkpoint(around.f), around.watched(refusal, is_compared=True):
        both, node = tape.call(nodes[2:], *given)
    return tape.call((None, node, None), operator.getitem, both, 0)


@inside(_value_inside)
def _value_alone(around: Any, ad: Any, f: Any, *xs: Any) -> Any:
    """Return the value of a function, of which nothing is kept."""
    refusal = _refusal_of_effect(f)
    with saving_nothing(), _told_as_checkpoint(f), around.watched(refusal, is_compared=True):
        return ad(f, *xs)[0]


@rule.of_instances
def _(g: Checkpointed, *xs: object, ad):  # type: ignore[no-untyped-def]
    around = _outer_state(g.f, *xs)
    y = _value_alone(around, ad, g.f, *xs)
    _refuse_changes(g.f, around)

    def pullback(dy):  # type: ignore[no-untyped-def]
        again, back = ad(g.f, *xs)
        _refuse_another_value(g.f, y, again)
        df, *found = back(dy)
        return None if df is None else Tangent(Checkpointed, f=df), *found

    return y, pullback


rule.register()
