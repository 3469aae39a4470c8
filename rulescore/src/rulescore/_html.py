"""Cotangents in a notebook: tables of fields, with kinds and values."""

import html
from collections.abc import Iterable
from typing import Any

import numpy as np

from rulescore._naming import describe

LONGEST = 120  # of the text of a value
_CELL = 'style="text-align: left; vertical-align: top"'


def html_table(title: str, head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Return a table in HTML; title and cells are HTML, too."""
    lines = [f"<table><caption {_CELL}>{title}</caption>"]
    lines.append("<tr>" + "".join(f"<th {_CELL}>{name}</th>" for name in head) + "</tr>")
    for row in rows:
        lines.append("<tr>" + "".join(f"<td {_CELL}>{cell}</td>" for cell in row) + "</tr>")
    return "\n".join([*lines, "</table>"])


def code(text: str) -> str:
    """Return a text as code in HTML."""
    return f"<code>{html.escape(text)}</code>"


def html_of_tangent(d: Any) -> str:
    """Return a cotangent of an object as a table of its fields."""
    title = code(f"Tangent[{d._primal.__qualname__}]")
    rows = [(code(str(name)), html.escape(describe(x)), html_of(x)) for name, x in d.items()]
    return html_table(title, ("field", "kind", "value"), rows)


def html_of(x: Any) -> str:
    """Return the value of a cotangent, shortened; tables for what has entries."""
    if _is_tangent(x):
        return html_of_tangent(x)
    if isinstance(x, dict) and any(_is_tangent(v) for v in x.values()):
        rows = [(code(repr(key)), html_of(value)) for key, value in x.items()]
        return html_table("", ("key", "value"), rows)
    if isinstance(x, list | tuple) and any(_is_tangent(v) for v in x):
        return html_table("", ("", "value"), [(str(i), html_of(v)) for i, v in enumerate(x)])
    with np.printoptions(threshold=20, edgeitems=2, precision=4):
        text = repr(x)
    return code(text if len(text) <= LONGEST else f"{text[:LONGEST]}...")


def _is_tangent(x: Any) -> bool:
    return type(x).__name__ == "Tangent" and hasattr(x, "_primal")
