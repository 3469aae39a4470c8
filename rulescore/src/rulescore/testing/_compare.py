"""Telling how two nested values differ, in kind or in number."""

from numbers import Number
from typing import Any

import numpy as np

from rulescore._methods import flatten
from rulescore._tangent import Tangent
from rulescore.testing._leaves import children, is_number, plain


def kind_of(x: Any) -> str:
    """Return the type of a value, with precision and shape where it has them."""
    if isinstance(x, np.ndarray | np.generic):
        return f"{type(x).__name__} of {x.dtype}{list(x.shape)}"
    return type(x).__name__


def wrong_kind(dx: Any, x: Any, name: str) -> str:
    """Tell how the kind of a cotangent differs from that of its primal, or return nothing."""
    if dx is None:
        return ""
    told = f"{name}: the cotangent is {kind_of(dx)}, and the argument {kind_of(x)}"
    if isinstance(x, np.ndarray | np.generic):
        if x.dtype.kind == "O":
            return "" if np.shape(dx) == x.shape else told
        if not is_number(x):
            return f"{told}: None is due"
        if isinstance(x, np.ndarray) is not isinstance(dx, np.ndarray) or not is_number(dx):
            return told
        dtype = getattr(dx, "dtype", None)
        right = (
            dtype == x.dtype if x.dtype.kind in "fc" else dtype is not None and dtype.kind == "f"
        )
        return "" if right and np.shape(dx) == x.shape else told
    if is_number(x):
        due = complex if isinstance(x, complex) else float
        return "" if isinstance(dx, due) else told
    if isinstance(x, bool | str | bytes):
        return f"{told}: None is due"
    if isinstance(dx, Tangent):
        fields = [(step, entry, getattr(x, step[1:], None)) for step, entry in children(dx)]
    elif isinstance(x, list | tuple):
        if not isinstance(dx, list if isinstance(x, list) else tuple) or len(dx) != len(x):
            return told
        pairs = zip(children(x), children(list(dx)), strict=True)
        fields = [(step, entry, primal) for (step, primal), (_, entry) in pairs]
    elif isinstance(x, dict):
        if not isinstance(dx, dict) or not dx.keys() <= x.keys():
            return told
        fields = [(f"[{key!r}]", entry, x[key]) for key, entry in dx.items()]
    elif flatten(x) is not None:
        if type(dx) is not type(x):
            return told
        pairs = zip(children(x), children(dx), strict=True)
        fields = [(step, entry, primal) for (step, primal), (_, entry) in pairs]
    else:
        # the cotangent of an object has the names of its fields, and is no such object
        return told if type(dx) is type(x) and not isinstance(x, Number) else ""
    return next(filter(None, (wrong_kind(d, primal, name + s) for s, d, primal in fields)), "")


def unlike(a: Any, b: Any, path: str) -> str:
    """Tell where two values differ in type, shape or number, or return nothing."""
    a, b = plain(a), plain(b)
    where = f"{path}: " if path else ""
    if type(a) is not type(b):
        return f"{where}{kind_of(a)} and {kind_of(b)}"
    if isinstance(a, np.ndarray | np.generic):
        if a.dtype != b.dtype or a.shape != b.shape:
            return f"{where}{kind_of(a)} and {kind_of(b)}"
        if a.dtype.kind not in "fc":
            same = bool(np.all(a == b)) if a.dtype.names is None else True
        else:
            tolerance = 64 * float(np.finfo(a.dtype).eps)
            scale = np.max(np.abs(b), initial=0, where=np.isfinite(b))
            same = np.allclose(a, b, rtol=tolerance, atol=tolerance * scale, equal_nan=True)
        return "" if same else f"{where}{a} and {b}"
    if isinstance(a, float | complex):
        return "" if np.isclose(a, b, rtol=1e-13, atol=0, equal_nan=True) else f"{where}{a} and {b}"
    if isinstance(a, int | str | bytes):
        return "" if a == b else f"{where}{a!r} and {b!r}"
    mine, theirs = children(a), children(b)
    if [step for step, _ in mine] != [step for step, _ in theirs]:
        return f"{where}{len(mine)} and {len(theirs)} entries"
    pairs = zip(mine, theirs, strict=True)
    return next(filter(None, (unlike(x, y, path + s) for (s, x), (_, y) in pairs)), "")


def unequal(a: Any, b: Any, relative: float, absolute: float) -> str:
    """Return the path at which two cotangents differ, or nothing where they agree."""
    if a is None or b is None:
        return "" if a is b else " (None)"
    if is_number(a) and is_number(b):
        scale = np.max(np.abs(b), initial=0, where=np.isfinite(b))
        off = relative * scale + absolute
        same = np.shape(a) == np.shape(b) and np.allclose(a, b, rtol=0, atol=off, equal_nan=True)
        return "" if same else " "
    mine, theirs = children(a), children(b)
    if len(mine) != len(theirs):
        return " "
    found = (
        (step, unequal(x, y, relative, absolute))
        for (step, x), (_, y) in zip(mine, theirs, strict=True)
    )
    return next((step + deeper.strip() for step, deeper in found if deeper), "")
