"""`linearize` inside a function that is differentiated: a pushforward on the tape around."""

from typing import Any

import numpy as np

from zygote_lite._activity.marks import mark_new
from zygote_lite._cotangents.kinds import within
from zygote_lite._cotangents.registry import Nodes, Traced
from zygote_lite._ir.intrinsics import build_tuple
from zygote_lite._ir.names import name_of
from zygote_lite._ir.places import where
from zygote_lite._nested.run import parts_on
from zygote_lite._nested.tangents import Pushforward, pushed_on, refuse_named_tangents
from zygote_lite._tape.seeds import pair_of
from zygote_lite._tape.tape import Tape
from zygote_lite._tape.validate import refuse_keywords
from zygote_lite.errors import Fault


class NestedPushforward:
    """The pushforward that `linearize` returns inside a function that is differentiated."""

    def __init__(self, push: Pushforward, f: Any, xs: tuple[Any, ...]) -> None:
        self._push, self._f = push, f
        arrays = [x for x in within(f, *xs) if isinstance(x, np.ndarray)]
        self._arrays = [(x, x.copy()) for x in arrays]
        self.__differentiates__ = (self, self.on_tape)

    def on_tape(self, tape: Tape, nodes: Nodes, xs: tuple[Any, ...], kws: dict[str, Any]) -> Traced:
        """Push tangents forward, on the outer tape."""
        refuse_named_tangents(self._push, kws)
        if any(x.tobytes() != before.tobytes() for x, before in self._arrays):
            raise Fault.NESTED(
                f"{where()}: an array that {name_of(self._f)} was given has changed since "
                "`linearize` inside a function that is differentiated: call `jvp` before it changes"
            )
        tangents, at = tape.call((None, *nodes[1:]), build_tuple, *xs)
        return pushed_on(tape, self._push, tangents, at)

    def __call__(self, *dxs: Any) -> Any:
        raise Fault.NESTED(
            "a pushforward outlived the gradient that it was made in: call it inside"
        )

    def __repr__(self) -> str:
        return repr(self._push)


def linearize_inside(tape: Tape, nodes: Nodes, xs: tuple[Any, ...], kws: dict[str, Any]) -> Traced:
    """Do what `linearize` does inside a function that is differentiated."""
    f, *given = xs
    arguments, has_aux = tuple(given), bool(kws.get("has_aux"))
    refuse_keywords("linearize", f, kws, has_aux=has_aux)
    flags = (None, *(True for _ in arguments))
    push = Pushforward(f, flags, arguments, {}, has_aux, tape, nodes[1 : 1 + len(xs)])
    held = NestedPushforward(push, f, arguments)
    mark_new(held)
    if not has_aux:
        return tape.call((None, push.at_y, None), build_tuple, push.y, held)
    pair_of(f, push.y)
    (y, at_y), (aux, at_aux) = parts_on(tape, push.y, push.at_y)
    return tape.call((None, at_y, None, at_aux), build_tuple, y, held, aux)
