"""The tape's answers: the value of a call, and its pullback."""

import inspect
from abc import abstractmethod
from typing import Any, overload

from rulescore import find_rule, project
from rulescore.faults import counted
from zygote_lite._activity.activity import mark_arguments
from zygote_lite._activity.saved import Stamps, refuse_overwritten, stamp
from zygote_lite._cotangents.kinds import is_known_by_rule
from zygote_lite._cotangents.run import state
from zygote_lite._cotangents.store import Store
from zygote_lite._ir.frames import entry, keep_users_frames
from zygote_lite._ir.names import name_of, shown_name
from zygote_lite._tape.generators import refuse_iterator
from zygote_lite._tape.notebook import html_of_pullback
from zygote_lite._tape.outermost import Run, deeper_recursion
from zygote_lite._tape.tape import via_tape
from zygote_lite._tape.validate import (
    check_fit,
    own_buffers,
    refuse_no_function,
    refuse_shared,
    refuse_shared_arrays,
)
from zygote_lite.errors import Fault
from zygote_lite.modes import note_recorded, watching


class OfOneRun:
    """What holds a run of a function: it stays in its process, and a copy of it is itself.

    Its cotangents are known by the identity of what the function was given.
    """

    def point(self) -> tuple[Any, tuple[Any, ...], Any] | None:
        """Return the function, its arguments, and what else is known, if it can be run again."""
        return None

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, known: dict[int, Any]) -> Any:
        return self

    @entry
    def __reduce__(self) -> Any:
        raise Fault.PICKLED(
            f"{self!r} cannot be pickled, as it holds a run of the function in this process: "
            "pickle `value_and_grad(f)`, or the function, and call `vjp`, `pullback` or "
            "`linearize` where the result is needed"
        )


class OfOneCotangent(OfOneRun):
    """What maps the cotangent of a function's value to those of the arguments.

    Attributes:
        has_zeros: whether zeros stand for `None`, and the gradient of the function is left out.
        has_aux: whether the value is the first of a pair that the function returns.
    """

    _f: Any
    has_zeros = has_aux = False

    @overload
    def __call__(self, dy: Any, /) -> tuple[Any, ...]: ...
    @overload
    def __call__(self, *, dy: Any) -> tuple[Any, ...]: ...
    def __call__(self, *given: Any, **named: Any) -> tuple[Any, ...]:
        try:
            return self.pull(one_cotangent(self, given, named))
        except BaseException as error:
            __tracebackhide__ = keep_users_frames(error)
            raise

    @abstractmethod
    def pull(self, dy: Any) -> tuple[Any, ...]:
        """Return the cotangents, for that of the value."""

    def __repr__(self) -> str:
        return pullback_text(self._f)


_call_of_pullback: Any = OfOneCotangent.__call__
_call_of_pullback.__signature__ = inspect.signature(OfOneCotangent.pull)


def one_cotangent(back: Any, given: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """Return the cotangent that a pullback is given; raise where it is given something else."""
    if len(given) == 1 and not named:
        return given[0]
    if not given and [*named] == ["dy"]:
        return named["dy"]
    count = counted(len(given) + len(named), "argument")
    by_name = f", {', '.join([f'`{name}`' for name in named])} by name" if named else ""
    raise Fault.COTANGENT(
        f"{back!r} is given {count}{by_name}, and takes one: give the cotangent of the value, a "
        "tuple where the value is one"
    )


class Pullback(OfOneCotangent):
    """Map the cotangent of a function's value to those of the function and its arguments.

    `back(dy)` returns `(∂self, ∂x1, ..., ∂xn)`, then the cotangents of the keyword arguments, in
    their order; `None` means "no gradient". It may be called any number of times, and leaves the
    arguments as they were. Raises `TypeError` if `dy` does not fit the value.
    """

    def __init__(
        self,
        back: Any,
        f: Any,
        y: Any,
        xs: tuple[Any, ...],
        flags: tuple[Any, ...],
        stamps: Stamps,
        is_by_position: bool = True,
    ) -> None:
        self._back, self._f, self._y, self._xs, self._flags = back, f, y, xs, flags
        self._stamps, self._is_by_position = stamps, is_by_position

    def point(self) -> tuple[Any, tuple[Any, ...], Any] | None:
        """Return the function, its arguments and its value, if it can be run again there."""
        is_whole = self._is_by_position and not self._stamps and all(self._flags)
        return (self._f, self._xs, self._y) if is_whole else None

    def pull(self, dy: Any) -> tuple[Any, ...]:
        check_fit(dy, self._y, self)
        if dy is not None and is_known_by_rule(type(self._y)):
            dy = project(dy, self._y)
        if self._stamps:
            refuse_overwritten(self._stamps, name_of(self._f))
        outer, state.store = state.store, Store()
        store = state.store
        try:
            by_value = self._back(store.add(self._y, dy))
            operands = (self._f, *self._xs)
            refuse_shared(operands, self._flags, store)
            found = tuple(
                store.collect(x, d) if flag else None
                for x, d, flag in zip(operands, by_value, self._flags, strict=True)
            )
            return own_buffers(found, (dy, operands))
        finally:
            store.restore()
            state.store = outer

    def _repr_html_(self) -> str:
        active = [bool(flag) for flag in self._flags[1:]]
        return html_of_pullback(repr(self), self._f, self._y, self._xs, active)


def pullback_text(f: Any) -> str:
    """Return what a pullback of a function is shown as."""
    return f"∂({shown_name(f)})"


def recorded(
    flags: tuple[Any, ...], f: Any, xs: tuple[Any, ...], kws: dict[str, Any]
) -> tuple[Any, Pullback]:
    """Return the value of `f(*xs, **kws)` and its pullback, by the tape.

    Arguments:
        flags: for the function and each argument whether it is differentiated, else `None`.
        f, xs, kws: the call.
    """
    if watching.count and state.active is None:
        note_recorded(lambda: name_of(f), lambda: _why(f, xs, kws))
    refuse_no_function(f)
    return recorded_quietly(flags, f, xs, kws)


def recorded_quietly(
    flags: tuple[Any, ...], f: Any, xs: tuple[Any, ...], kws: dict[str, Any]
) -> tuple[Any, Pullback]:
    """Return the same as `recorded`, for a part of a gradient: no mode notes it as an answer."""
    operands = (f, *xs, *kws.values())
    with Run(operands, flags) as run:
        flags = mark_arguments(operands, flags)
        with deeper_recursion():
            y, back = via_tape(flags, map_to_list if f is map else f, xs, kws)
        run.value = y
        if state.written:
            refuse_shared_arrays(operands, flags, state.written)
        stamps = stamp(state.written) if state.written and run.is_outermost else []
    refuse_iterator(f, y)
    return y, Pullback(back, f, y, operands[1:], flags, stamps, not kws)


def map_to_list(f: Any, /, *xs: Any) -> list[Any]:
    """Return a list, as Julia's `map` does: what differentiating `map` itself gives."""
    return list(map(f, *xs))


def _why(f: Any, xs: tuple[Any, ...], kws: dict[str, Any]) -> str:
    """Return why a call is not even tried with transformed code."""
    if find_rule(f, *xs, **kws) is not None:
        return "a rule answers it"
    if kws:
        return "it gets an argument by name alone: differentiate a `lambda` that gives it"
    return "closures are recorded by `pullback`; so is what is not written in Python"
