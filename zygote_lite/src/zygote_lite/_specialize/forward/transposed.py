"""Calls without a forward rule, in dual code: the tape gives the transpose of their pullback.

The tape runs a call with a rule once more; an island, whose value it gives too, runs once.
"""

from typing import Any

from zygote_lite._nested.tangents import pushed_forward
from zygote_lite._specialize.infer.islands import apart
from zygote_lite._specialize.typed.abstract_eval import sealed
from zygote_lite._specialize.typed.runtime import real_where_due


def transposed_tangent(f: Any, xs: Any, dxs: Any, **options: Any) -> Any:
    """Return the tangent of a call, which the tape runs once more.

    Arguments:
        f: the function.
        xs, dxs: its arguments, and their tangents; `None` is a zero.
        options: keyword arguments, which have none.
    """
    return _pushed_by_tape(f, xs, dxs, options)[1]


def island_jvp(f: Any, xs: Any, dxs: Any) -> tuple[Any, Any]:
    """Return the value of a call that the tape answers, and its tangent.

    Arguments:
        f: the function, which cannot be transformed.
        xs, dxs: its arguments, and their tangents; `None` is a zero.
    """
    y, dy = _pushed_by_tape(f, xs, dxs, {})
    return apart(y, xs), dy


def _pushed_by_tape(f: Any, xs: Any, dxs: Any, options: dict[str, Any]) -> tuple[Any, Any]:
    flags = (None, *(None if d is None else True for d in dxs), *(None for _ in options))
    y, push = pushed_forward(f, flags, tuple(map(sealed, xs)), options)
    return y, push(*map(real_where_due, dxs, xs), *(None for _ in options))
