"""Rows of data: long lists and tuples whose items are alike, taken apart into columns at entry.

`[(0.1, 2.0), (0.2, 2.5), ...]` has the form `(tuple, (0, 1), (NUMBER, NUMBER))`, and two columns.
"""

from typing import Any

import numpy as np

from zygote_lite._specialize.typed.facts import DTYPES, REALS

NUMBER, TEXT, ARRAY, OTHER = "number", "text", "array", "other"
LEAVES = {NUMBER, TEXT, ARRAY, OTHER}
_MOST_FIELDS = 64
_DEEPEST = 4


def form_of_rows(rows: Any, named: Any) -> Any:
    """Return the form that all items of a list or tuple have; `None` where they are not alike.

    Arguments:
        rows: the list or tuple.
        named: tells whether a class is one of named tuples.
    """
    form = _form_of(rows, named, 0)
    followed = any(leaf != OTHER for leaf in leaves_of_form(form))
    return form if followed and len(leaves_of_form(form)) <= _MOST_FIELDS else None


def _form_of(column: Any, named: Any, depth: int) -> Any:
    kinds = {*map(type, column)}
    if len(kinds) != 1 or depth > _DEEPEST:
        return OTHER
    (kind,) = kinds
    if kind in REALS:
        return NUMBER
    if kind is str:
        return TEXT
    if kind is np.ndarray:
        alike = len({(x.dtype, x.shape) for x in column}) == 1 and column[0].dtype in DTYPES
        return ARRAY if alike else OTHER
    keys: Any = None
    if kind is dict and not depth and len({*map(tuple, column)}) == 1:
        keys = tuple(column[0])
        keys = keys if {*map(type, keys)} == {str} else None
    elif kind is tuple or (kind is list and not depth) or named(kind):
        keys = tuple(range(len(column[0]))) if len({*map(len, column)}) == 1 else None
    if not keys:
        return OTHER
    parts = tuple([_form_of([x[key] for x in column], named, depth + 1) for key in keys])
    return (kind, keys, parts)


def leaves_of_form(form: Any) -> list[str]:
    """Return the leaves of a form, in their order."""
    return [form] if form in LEAVES else [leaf for part in form[2] for leaf in leaves_of_form(part)]


def columns_of(rows: Any, form: Any) -> list[Any] | None:
    """Return the columns of rows, or `None` where they do not have a form.

    The numbers in them are not looked at. A column of arrays is one array, of others `None`.
    """
    found: list[Any] = []
    return found if rows and _take(rows, form, found) else None


def _take(column: Any, form: Any, found: list[Any]) -> bool:
    if form in LEAVES:
        if form == ARRAY and {*map(type, column)} != {np.ndarray}:
            return False
        if form == TEXT and {*map(type, column)} != {str}:
            return False
        taken = [*column] if form in (NUMBER, TEXT) else np.stack(column) if form == ARRAY else None
        found.append(taken)
        return True
    kind, keys, parts = form
    if {*map(type, column)} != {kind} or {*map(len, column)} != {len(keys)}:
        return False
    if kind is dict:
        if any(tuple(row) != keys for row in column):
            return False
        inner: Any = ([row[key] for row in column] for key in keys)
    else:
        inner = zip(*column, strict=True)
    return all(_take(c, part, found) for c, part in zip(inner, parts, strict=True))


def has_mutable_rows(form: Any) -> bool:
    """Return whether the rows can be changed, or arrays in them."""
    return form not in LEAVES and (form[0] in (list, dict) or ARRAY in leaves_of_form(form))
