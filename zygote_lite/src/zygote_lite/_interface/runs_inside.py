"""Pullbacks and pushforwards made outside, called inside a function that is differentiated.

Each is linear, so its derivative is that of `vjp`, or of `jvp`, at the same point: the function is
run again, on the tape around. What a second run would repeat or change is refused.
"""

import operator
from typing import Any

from zygote_lite._ir.intrinsics import build_tuple
from zygote_lite._ir.places import where
from zygote_lite._nested.rules import pullback_inside, vjp_inside
from zygote_lite._nested.tangents import inside_jvp, refuse_named_tangents
from zygote_lite._specialize.compare import difference
from zygote_lite._tape.repeats import Surroundings
from zygote_lite._tape.run import OfOneRun, one_cotangent
from zygote_lite.errors import Fault


def pushed_inside(push: Any, tape: Any, nodes: Any, xs: Any, kws: Any) -> Any:
    """Push tangents forward on the tape around."""
    if all(node is None for node in nodes):
        return push(*xs, **kws), None
    refuse_named_tangents(push, kws)
    point = push.point()
    if point is None:
        raise _not_run_again(push, "`jvp(f, xs, dxs)`", "it holds a run of its function")
    f, primals, has_aux = point
    tangents, at = tape.call((None, *nodes[1:]), build_tuple, *xs)
    options = {"has_aux": True} if has_aux else {}
    given = (None, None, None, at, *(None for _ in options))
    y, at_y = inside_jvp(tape, given, (f, primals, tangents), options)
    return tape.call((None, at_y, None), operator.getitem, y, 1)


def pulled_inside(back: Any, tape: Any, nodes: Any, xs: Any, kws: Any) -> Any:
    """Pull a cotangent back on the tape around."""
    if all(node is None for node in nodes):
        return back(*xs, **kws), None
    dy = one_cotangent(back, xs, kws)
    instead = "`vjp`" if back.has_zeros else "`pullback`"
    point = back.point()
    if point is None:
        raise _not_run_again(back, instead, "it holds a run of its function")
    f, primals, before = point
    around = Surroundings(f, primals)

    def of_effect(effect: str) -> Exception:
        return _not_run_again(back, instead, f"its function has an effect: {effect}")

    if around.effect is not None:
        raise of_effect(around.effect)
    run = vjp_inside if back.has_zeros else pullback_inside
    options = {"has_aux": True} if back.has_aux else {}
    with around.watched(of_effect):
        (y, again, *_), _ = run(tape, (None,) * (2 + len(primals)), (f, *primals), options)
    if not around.are_unchanged():
        raise of_effect("it changes what it is given, or what it reads")
    if difference(y, before) is not None:
        raise _not_run_again(back, instead, "what its function was given has changed since")
    return again.on_tape(tape, (None, nodes[1]), (dy,), {})


def _not_run_again(held: OfOneRun, instead: str, why: str) -> Exception:
    return Fault.NESTED(
        f"{where()}: {held!r} is called inside a function that is differentiated, and {why}: call "
        f"{instead} there"
    )
