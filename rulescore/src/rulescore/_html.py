"""Cotangents as they are shown: as text, and in a notebook as tables. What is long is cut."""

import html
from collections.abc import Iterable
from itertools import islice
from typing import Any

import numpy as np

from rulescore._naming import describe

LONGEST = 120  # of the text of a value
MOST = 20  # rows of a table, fields of a text
MOST_ENTRIES = 100  # of an array in a text
LONGEST_TEXT = 1000  # of a value in a text
DEEPEST = 4  # tables in tables
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


def html_of_tangent(d: Any, depth: int = 0) -> str:
    """Return a cotangent of an object as a table of its fields."""
    title = code(f"Tangent[{d._primal.__qualname__}]")
    if depth == DEEPEST:
        return title
    rows: list[tuple[str, ...]] = [
        (code(str(name)), html.escape(describe(x)), html_of(x, depth + 1))
        for name, x in islice(d.items(), MOST)
    ]
    return html_table(title, ("field", "kind", "value"), _and_more(rows, len(d)))


def html_of(x: Any, depth: int = 0) -> str:
    """Return the value of a cotangent, shortened; tables for what has entries."""
    if _is_tangent(x):
        return html_of_tangent(x, depth)
    head: tuple[str, ...] = ()
    if isinstance(x, dict) and any(map(_is_tangent, x.values())):
        head, items = ("key", "value"), ((repr(key), value) for key, value in x.items())
    elif isinstance(x, list | tuple) and any(map(_is_tangent, x)):
        head, items = ("", "value"), ((str(i), value) for i, value in enumerate(x))
    if head and depth < DEEPEST:
        rows = [(code(name), html_of(v, depth + 1)) for name, v in islice(items, MOST)]
        return html_table("", head, _and_more([*rows], len(x)))
    if head:
        return code(type(x).__name__)
    with np.printoptions(threshold=20, edgeitems=2, precision=4):
        text = repr(x)
    return code(text if len(text) <= LONGEST else f"{text[:LONGEST]}...")


def shortened(x: Any) -> str:
    """Return the value of a cotangent as text, which fits on a screen."""
    with np.printoptions(threshold=min(MOST_ENTRIES, np.get_printoptions()["threshold"])):
        text = repr(x)
    return text if len(text) <= LONGEST_TEXT or _is_tangent(x) else f"{text[:LONGEST_TEXT]}..."


def _and_more(rows: list[tuple[str, ...]], count: int) -> list[tuple[str, ...]]:
    """Return the rows of a table, and one that says how many are left out."""
    left = count - len(rows)
    return [*rows, (f"... and {left} more", *[""] * (len(rows[0]) - 1))] if left else rows


def _is_tangent(x: Any) -> bool:
    return type(x).__name__ == "Tangent" and hasattr(x, "_primal")
