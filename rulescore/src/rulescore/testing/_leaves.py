"""Nested values as vectors: the numbers in them, steps along a direction, inner products.

A direction has the containers of its value, floats where the value has numbers, and `None` where
nothing can move. For an object it is a `Tangent`.
"""

import copy
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from rulescore._methods import flatten
from rulescore._tangent import Tangent


class CheckError(AssertionError):
    """Tell what is wrong with a rule."""

    __module__ = "rulescore.testing"


def is_number(x: Any) -> bool:
    """Return whether a value is a number or a numeric array, which has a gradient."""
    if isinstance(x, np.ndarray | np.generic):
        return x.dtype.kind in "iufc"
    return isinstance(x, int | float | complex) and not isinstance(x, bool)


def plain(x: Any) -> Any:
    """Return the value, an iterator over an array as the array that it runs over."""
    return np.array(x) if isinstance(x, np.flatiter) else x


def children(x: Any) -> list[tuple[str, Any]]:
    """Return the entries of a container, each with the text by which it is reached."""
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return [(f".{name}", getattr(x, name)) for name in x._fields]
    if isinstance(x, list | tuple):
        return [(f"[{i}]", entry) for i, entry in enumerate(x)]
    if isinstance(x, dict):
        return [(f"[{name!r}]", entry) for name, entry in x.items()]
    if isinstance(x, Tangent):
        return [(f".{name}", entry) for name, entry in x.items()]
    flat = flatten(x)
    return [] if flat is None else [(f".{i}", array) for i, array in enumerate(flat[0])]


def leaves(x: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Give the numbers and numeric arrays of a nested value, each with its path."""
    x = plain(x)
    if is_number(x):
        yield path, x
    for step, entry in children(x):
        yield from leaves(entry, path + step)


def rebuild(x: Any, change: Callable[[Any], Any]) -> Any:
    """Return a container like `x` with `change(entry)` in place of each entry."""
    if isinstance(x, dict):
        return {name: change(entry) for name, entry in x.items()}
    if isinstance(x, Tangent):
        return Tangent(x._primal, **{name: change(entry) for name, entry in x.items()})
    if isinstance(x, list | tuple):
        return like(x, [change(entry) for entry in x])
    flat = flatten(x)
    return x if flat is None else flat[1]([change(array) for array in flat[0]])


def like(x: Any, entries: list[Any]) -> Any:
    """Return a list or tuple of the type of `x` with other entries."""
    return tuple.__new__(type(x), entries) if isinstance(x, tuple) else type(x)(entries)


def double(x: Any) -> Any:
    """Return the value in double precision, whatever moves in it."""
    x = plain(x)
    if isinstance(x, np.ndarray | np.generic) and x.dtype.kind in "fc":
        return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)
    return rebuild(x, double)


def random_direction(x: Any, generator: np.random.Generator, *, integers: bool = True) -> Any:
    """Return a random direction in which `x` can move."""
    x = plain(x)
    if not is_number(x):
        if not children(x):
            return None
        return rebuild(x, lambda entry: random_direction(entry, generator, integers=integers))
    array = np.asarray(x)
    if array.dtype.kind in "iu" and not integers:
        return None
    v: Any = generator.standard_normal(array.shape)
    if array.dtype.kind == "c":
        v = v + 1j * generator.standard_normal(array.shape)
    if isinstance(x, np.ndarray):
        return v.astype(x.dtype) if x.dtype.kind in "fc" else np.asarray(v)
    if isinstance(x, np.generic):
        return x.dtype.type(v) if x.dtype.kind in "fc" else np.float64(v)
    return complex(v) if isinstance(x, complex) else float(v)


def moved(x: Any, v: Any, step: Any) -> Any:
    """Return `x + step * v`, in double precision."""
    x = plain(x)
    if v is None:
        return double(x)
    if isinstance(v, Tangent):
        return _moved_object(x, v, step)
    if is_number(x):
        if isinstance(x, np.ndarray):
            return np.asarray(double(x) + step * double(v))
        return double(x) + step * double(v)
    if isinstance(x, dict):
        return {name: moved(entry, v.get(name), step) for name, entry in x.items()}
    pairs = zip(children(x), children(v), strict=True)
    entries = iter([moved(entry, dv, step) for (_, entry), (_, dv) in pairs])
    return rebuild(x, lambda _: next(entries))


def _moved_object(x: Any, v: Tangent, step: Any) -> Any:
    if isinstance(x, tuple):
        named: Any = x
        return named._replace(**{name: moved(getattr(x, name), v[name], step) for name in v})
    there = copy.copy(x)
    for name in v:
        object.__setattr__(there, name, moved(getattr(x, name), v[name], step))
    return there


def difference(a: Any, b: Any) -> Any:
    """Return `a - b` of two nested values of one structure; `None` where there are no numbers."""
    a, b = plain(a), plain(b)
    if is_number(a) and is_number(b):
        if np.shape(a) != np.shape(b):
            raise CheckError(f"the shape of the result varies: {np.shape(a)} and {np.shape(b)}")
        return np.subtract(a, b, dtype=np.result_type(a, b, np.float64))
    pairs = list(zip(children(a), children(b), strict=True))
    return [difference(x, y) for (_, x), (_, y) in pairs] if pairs else None


def inner(a: Any, b: Any) -> float:
    """Return the real inner product of two nested values; `None` counts as zero."""
    if a is None or b is None:
        return 0.0
    if is_number(a) and is_number(b):
        products = np.conj(np.asarray(a)) * np.asarray(b)
        return float(np.sum(np.real(products), dtype=np.float64))
    if isinstance(a, dict | Tangent) and isinstance(b, dict | Tangent):
        return sum((inner(a[name], b[name]) for name in a.keys() & b.keys()), 0.0)
    pairs = list(zip(children(a), children(b), strict=False))
    return sum((inner(x, y) for (_, x), (_, y) in pairs), 0.0)


def arrays(x: Any) -> list[tuple[str, np.ndarray]]:
    """Return the arrays of a nested value, of whatever type their elements are."""
    if isinstance(x, np.ndarray):
        return [("", x)]
    return [(step + path, a) for step, entry in children(x) for path, a in arrays(entry)]


def is_integer(x: Any) -> bool:
    """Return whether a leaf is of integers, which cannot move."""
    return np.asarray(x).dtype.kind in "iu"
