"""Calls without a forward rule, in dual code: the tape gives the transpose of their pullback."""

from typing import Any

from zygote_lite._nested.tangents import pushed_forward
from zygote_lite._specialize.typed.abstract_eval import sealed
from zygote_lite._specialize.typed.runtime import real_where_due


def transposed_tangent(f: Any, xs: Any, dxs: Any, **options: Any) -> Any:
    """Return the tangent of a call, which the tape runs once more.

    Arguments:
        f: the function.
        xs, dxs: its arguments, and their tangents; `None` is a zero.
        options: keyword arguments, which have none.
    """
    flags = (None, *(None if d is None else True for d in dxs), *(None for _ in options))
    _, push = pushed_forward(f, flags, tuple(map(sealed, xs)), options)
    return push(*map(real_where_due, dxs, xs), *(None for _ in options))
