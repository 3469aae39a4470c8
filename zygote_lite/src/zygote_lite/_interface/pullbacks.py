"""Pullbacks that transformed code gives to users."""

import types
from collections.abc import Callable
from typing import Any

from zygote_lite._cotangents.zeros import filled
from zygote_lite._ir.frames import keep_users_frames
from zygote_lite._ir.places import name_of
from zygote_lite._specialize.cache import Specializations, specializations_of
from zygote_lite._specialize.callee import finite_cotangents
from zygote_lite._specialize.compare import difference
from zygote_lite._specialize.watch import PULLBACK
from zygote_lite._tape.run import Pullback, recorded
from zygote_lite._tape.seeds import of_first
from zygote_lite._tape.validate import check_fit, own_buffers
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

    def __call__(self, dy: Any) -> tuple[Any, ...]:
        try:
            check_fit(dy, self._y, self)
            if dy is None:
                return (None,) * len(self._flags)
            found = finite_cotangents(self._back, self._y, filled(dy, self._y))
            if found is None:
                return self.recorded()(dy)
            return own_buffers(found, (dy, self._xs))
        except BaseException as error:
            __tracebackhide__ = keep_users_frames(error)
            raise

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
