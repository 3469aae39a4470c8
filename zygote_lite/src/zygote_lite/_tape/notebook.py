"""What a notebook shows of pullbacks and pushforwards: what they take, and what they give."""

import html
import inspect
from collections.abc import Sequence
from typing import Any

_ALIGNED = 'style="text-align: left"'


def html_of_pullback(shown: str, f: Any, y: Any, xs: tuple[Any, ...], active: list[bool]) -> str:
    """Return a pullback as HTML.

    Arguments:
        shown: what the pullback is shown as elsewhere.
        f, y, xs: the function, its value and its arguments.
        active: for each argument whether it gets a gradient.
    """
    head = f"takes the cotangent of {_kind_and_shape(y)}, and gives"
    return _html_of_map(shown, head, f, xs, active)


def html_of_pushforward(shown: str, f: Any, y: Any, xs: tuple[Any, ...]) -> str:
    """Return a pushforward as HTML; the arguments are those of `html_of_pullback`."""
    head = f"gives the tangent of {_kind_and_shape(y)}, and takes"
    return _html_of_map(shown, head, f, xs, [True] * len(xs))


def html_of_name(shown: str) -> str:
    """Return what a notebook shows of a function that is made: its name."""
    return f"<code>{html.escape(shown)}</code>"


def _html_of_map(shown: str, head: str, f: Any, xs: tuple[Any, ...], active: Sequence[bool]) -> str:
    rows = [
        f"<tr><td {_ALIGNED}><code>∂{html.escape(name)}</code></td>"
        f"<td {_ALIGNED}>{_kind_and_shape(x) if flag else 'not differentiated'}</td></tr>"
        for name, x, flag in zip(_shown_names(f, len(xs)), xs, active, strict=False)
    ]
    return "\n".join([f"<div>{html_of_name(shown)}: {head}</div><table>", *rows, "</table>"])


def _shown_names(f: Any, count: int) -> list[str]:
    """Return names for the arguments of a call: those of the parameters, if they are known."""
    try:
        found = [
            p.name
            for p in inspect.signature(f).parameters.values()
            if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        ]
    except (TypeError, ValueError):
        found = []
    return [*found[:count], *(f"x{i + 1}" for i in range(len(found), count))]


def _kind_and_shape(x: Any) -> str:
    """Return what a value is, in a few words."""
    name = html.escape(type(x).__name__)
    if hasattr(x, "shape") and hasattr(x, "dtype"):
        return f"{name} of shape {x.shape}, {x.dtype}" if x.shape else f"{name}"
    return f"{name} of length {len(x)}" if isinstance(x, list | tuple | dict) else name
