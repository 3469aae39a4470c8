"""Forward mode: the derivative of a function in the direction of tangents."""

import functools
from collections.abc import Callable, Sequence
from types import CodeType, FunctionType
from typing import Any

from zygote_lite._cotangents.zeros import filled
from zygote_lite._ir.frames import entry, keep_users_frames
from zygote_lite._nested.gradients import inside, inside_jacobian, inside_run
from zygote_lite._nested.tangents import (
    Pushforward,
    inside_jvp,
    pushed_forward,
    refuse_linearize,
)
from zygote_lite._specialize.cache import Specializations, specializations_of
from zygote_lite._specialize.jitted import original
from zygote_lite._specialize.typed.derivatives import gone_over
from zygote_lite._specialize.watch import FORWARD
from zygote_lite._tape.seeds import ActiveArguments, Argnums, jacobian_by_columns
from zygote_lite.errors import Fault
from zygote_lite.modes import watching

# Where all arguments of a plain function move: the code for its tangent, by the number of its code
# object, which stands there too, since another one may come to have that number.
_usual: dict[int, tuple[CodeType, Specializations]] = {}
_MOST_USUAL = 1024


def jvp(f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    """Return the value of `f(*primals)`, and its derivative in the direction of the tangents.

    Arguments:
        f: any callable that `pullback` takes.
        primals: its arguments.
        tangents: one direction for each argument, with the shape and the structure of the
            argument's gradient: a list for a list, a `Tangent` for an object; `None` is a zero.

    The derivative has the shape and the structure of the value. It is zero where the value does not
    depend on an argument that has a tangent. The cost does not grow with the number of arguments.
    Raises `TypeError` if a tangent does not fit its argument. (JAX's `jvp`; ChainRules' `frule`
    returns the same pair.)
    """
    try:
        if type(f) is FunctionType and not (watching.count or f.__dict__):
            usual = _usual.get(id(f.__code__))
            if (
                usual is not None
                and usual[0] is f.__code__
                and usual[1].globals is f.__globals__
                and len(primals) == len(tangents) == len(usual[1].active)
            ):
                answer: tuple[Any, Any] | None = usual[1].enter(f, *primals, *tangents)
                if answer is not None:
                    return answer
        if not (isinstance(primals, Sequence) and isinstance(tangents, Sequence)):
            raise Fault.TANGENT(
                "jvp takes a tuple of arguments and a tuple of tangents: `jvp(f, (x,), (dx,))`"
            )
        function, over = gone_over(original(f))
        moving = [v for v in tangents if v is not None]
        count, known = len(primals), None
        if len(tangents) != count:
            raise Fault.TANGENT(f"jvp is given {len(tangents)} tangents for {count} arguments")
        if type(function) is FunctionType and moving:
            numbers = tuple(range(count))
            if len(moving) != count:
                numbers = tuple([i for i in numbers if tangents[i] is not None])
            known = specializations_of(function, count, numbers, False, False, FORWARD, over)
            found: tuple[Any, Any] | None = None
            if known is not None and over is None and len(moving) == count:
                if len(_usual) >= _MOST_USUAL:
                    _usual.clear()
                _usual[id(function.__code__)] = function.__code__, known
            if known is not None:
                found = known.enter(function, *primals, *moving)
            if found is not None:
                return found
        flags = (None, *(None if v is None else True for v in tangents))
        y, push = pushed_forward(original(f), flags, tuple(primals), {})
        dy = push(*tangents)
        if known is not None:
            known.note(function, (*primals, *moving))
        return y, dy
    except BaseException as error:
        __tracebackhide__ = keep_users_frames(error)
        raise


@entry
def linearize(f: Callable[..., Any], /, *xs: Any) -> tuple[Any, Pushforward]:
    """Return the value of `f(*xs)`, and the function that maps tangents to the value's tangent.

    Arguments:
        f, xs: any callable that `pullback` takes, and its arguments.

    `push(*dxs)` takes one tangent for each argument, and returns what `jvp` returns for them. `f`
    runs once, however often `push` is called. (JAX's `linearize`.)
    """
    return pushed_forward(original(f), (None, *(True for _ in xs)), xs, {})


def jacfwd(f: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """Return a function that computes the Jacobian of `f` in forward mode, one input at a time.

    Arguments:
        f: a function, as for `jacobian`.
        argnums: the argument to differentiate, by position or by name; or several.

    The result is that of `jacobian`. It costs less if there are fewer inputs than outputs. (JAX's
    `jacfwd`.)
    """

    @inside(functools.partial(inside_jacobian, f, argnums))
    @entry
    @functools.wraps(f)
    def jacobian_of(*xs: Any, **kws: Any) -> Any:
        active = ActiveArguments(f, argnums, len(xs), kws)
        zeros = [filled(None, x) for x in (*xs, *kws.values())]  # before the function changes them
        y, push = pushed_forward(original(f), active.flags, xs, kws)

        return jacobian_by_columns(f, y, push, active, zeros)

    return jacobian_of


inside(inside_jvp)(jvp)
inside(refuse_linearize)(linearize)
inside_run(jacfwd)
