"""Cotangents of every kind that a pullback may be given: sums, parts, strides, 0-d and the like."""

from collections.abc import Callable
from typing import Any

import numpy as np

from rulescore._tangent import Tangent
from rulescore.testing._leaves import children, is_integer, is_number, leaves, rebuild
from rulescore.testing._memory import drawing_anew


def combine(p: float, a: Any, q: float, b: Any) -> Any:
    """Return `p * a + q * b`, of the kind of `a`."""
    if a is None or b is None:
        return None
    if isinstance(a, np.ndarray):
        return np.asarray(p * a + q * b, dtype=a.dtype)
    if is_number(a):
        return type(a)(p * a + q * b)
    others = iter([entry for _, entry in children(b)])
    return rebuild(a, lambda entry: combine(p, entry, q, next(others)))


def with_fields(x: Any, pattern: Any) -> Any:
    """Return the fields of an object: those of its cotangent and its numbers; else the value."""
    if not isinstance(pattern, Tangent):
        return x
    fields = {name: getattr(x, name) for name in pattern}
    for name, entry in getattr(x, "__dict__", {}).items():
        if is_number(entry) and not is_integer(entry):
            fields.setdefault(name, entry)  # without a cotangent, none may be due
    return Tangent(type(x), **fields)


def parts(v: Any, name: str) -> list[tuple[str, Any]]:
    """Return the direction leaf by leaf, complex ones in real and imaginary parts."""
    if v is None:
        return []
    if is_number(v):
        if not np.iscomplexobj(v):
            return [(name, v)]
        return [(f"{name} (real part)", v.real + 0 * v), (f"{name} (imaginary part)", 1j * v.imag)]
    found: list[tuple[str, Any]] = []
    for i, (step, entry) in enumerate(children(v)):
        for part, moving in parts(entry, name + step):
            found.append((part, _only(v, i, moving)))
    return found


def _only(v: Any, position: int, moving: Any) -> Any:
    places = iter(range(len(children(v))))
    return rebuild(v, lambda _: moving if next(places) == position else None)


def changed(dy: Any, change: Callable[[Any], Any]) -> Any:
    """Return `dy` with its arrays changed, or `None` where there is nothing to change."""
    if dy is None or is_number(dy):
        return None if dy is None else change(dy)
    found = rebuild(dy, lambda entry: _or(changed(entry, change), entry))
    return found if any(True for _ in leaves(found)) else None


def _or(a: Any, b: Any) -> Any:
    return b if a is None else a


def settled(change: Callable[[Any], Any], dy: Any) -> Any:
    """Return the numbers of the changed cotangent in the kind of the first."""
    given = change(dy)
    if given is None:
        return dy
    if isinstance(dy, np.ndarray):
        return np.array(given, dtype=dy.dtype, order="C")
    return type(dy)(given)


def _strided(dy: Any) -> Any:
    if not isinstance(dy, np.ndarray) or not dy.ndim:
        return None
    wide = np.zeros((*dy.shape[:-1], 2 * dy.shape[-1]), dy.dtype)
    wide[..., ::-2] = dy
    return wide[..., ::-2]


def _fortran(dy: Any) -> Any:
    return np.asfortranarray(dy) if isinstance(dy, np.ndarray) and dy.ndim > 1 else None


def _read_only(dy: Any) -> Any:
    if not isinstance(dy, np.ndarray):
        return None
    frozen = dy.copy()
    frozen.flags.writeable = False
    return frozen


def _broadcast(dy: Any) -> Any:
    if not isinstance(dy, np.ndarray) or not dy.size:
        return None
    return np.broadcast_to(dy.flat[0], dy.shape)


def _zero_dimensional(dy: Any) -> Any:
    return np.array(dy) if np.ndim(dy) == 0 else None


def _numpy_scalar(dy: Any) -> Any:
    return np.array(dy)[()] if np.ndim(dy) == 0 else None


KINDS: dict[str, Callable[[Any], Any]] = {
    "0-d": _zero_dimensional,
    "NumPy scalar": _numpy_scalar,
    "strided": _strided,
    "Fortran-ordered": _fortran,
    "read-only": _read_only,
    "broadcast": _broadcast,
}
NUMBERS = ("0-d", "NumPy scalar")
LAYOUTS = ("strided", "Fortran-ordered", "read-only")  # of arguments


def arranged(x: Any, change: Callable[[Any], Any]) -> Any:
    """Return the value with its numeric arrays in another layout, where they have one."""
    if isinstance(x, np.ndarray):
        return _or(change(x), x) if x.dtype.kind in "fc" else x
    return rebuild(x, lambda entry: arranged(entry, change)) if children(x) else x


def elsewhere(x: Any) -> Any:
    """Return other numbers of the same kind, close by."""
    if isinstance(x, np.ndarray):
        return np.asarray(x * 0.99, x.dtype) if is_number(x) else x
    if is_number(x):
        return type(x)(x * 0.99)
    return rebuild(x, elsewhere) if children(x) else drawing_anew(x)
