"""Compare two answers: equal kinds, shapes and dtypes, and nearly equal numbers.

`None` and a zero of the argument's kind both mean that no gradient passed, and count as equal.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from rulescore import Tangent, goes_by_value
from rulescore.faults import an

_NUMBER_TYPES = (int, float, complex, np.ndarray, np.generic)


def difference(
    got: Any, want: Any, given: Any = (), tolerance: float | None = None, *, as_numpy: bool = False
) -> str | None:
    """Return where and how two answers differ; `None` where they do not.

    Arguments:
        got, want: the answers: numbers, arrays, and tuples, lists, dicts and tangents of them.
        given: the arguments: the least precise of all floats sets the tolerance.
        tolerance: the relative difference that two numbers may have, in its place.
        as_numpy: whether a number may be NumPy's where the other one is Python's.
    """
    dtypes = [x.dtype for x in _numbers_in((got, want, given)) if x.dtype.kind in "fc"]
    precision = max([float(np.finfo(dtype).eps) for dtype in dtypes], default=2.0**-52)
    relative = precision**0.5 if tolerance is None else tolerance
    sizes = [_size(x) for x in _numbers_in((got, want))]
    absolute = max(sizes, default=0.0) * min(relative, precision * 1e4)
    return _difference(got, want, "", relative, absolute, as_numpy, set())


def _difference(
    a: Any, b: Any, at: str, relative: float, absolute: float, as_numpy: bool,
    same: set[tuple[int, int]],
) -> str | None:  # fmt: skip
    if a is None or b is None:
        return None if is_nothing(a) and is_nothing(b) else f"{at or 'it'}: {a!r} and {b!r}"
    if as_numpy:
        a, b = _as_numpy(a), _as_numpy(b)
    if type(a) is not type(b):
        return f"{at or 'it'}: {an(type(a).__qualname__)} and {an(type(b).__qualname__)}"
    if isinstance(a, _NUMBER_TYPES):
        return _difference_of_numbers(a, b, at, relative, absolute)
    if (id(a), id(b)) in same:  # a part that is shared is compared once
        return None
    entries, others = _entries(a), _entries(b)
    if entries is None or others is None:
        return None if a is b or a == b else f"{at or 'it'}: {a!r} and {b!r}"
    if entries.keys() != others.keys() and not isinstance(a, Tangent):
        return f"{at or 'it'}: entries {[*entries]} and {[*others]}"
    for key in {**entries, **others}:
        found = _difference(
            entries.get(key), others.get(key), f"{at}[{key!r}]", relative, absolute, as_numpy, same
        )
        if found is not None:
            return found
    same.add((id(a), id(b)))
    return None


def _difference_of_numbers(a: Any, b: Any, at: str, relative: float, absolute: float) -> str | None:
    x, y = np.asarray(a), np.asarray(b)
    if x.shape != y.shape or x.dtype != y.dtype:
        return f"{at or 'it'}: {x.dtype} {x.shape} and {y.dtype} {y.shape}"
    if x.dtype.kind not in "fc":
        return None if np.array_equal(x, y) else f"{at or 'it'}: {a!r} and {b!r}"
    margin = absolute + relative * max(_size(x), _size(y))
    with np.errstate(all="ignore"):
        if np.allclose(x, y, rtol=0.0, atol=margin, equal_nan=True):
            return None
    return f"{at or 'it'}: {a!r} and {b!r}"


def is_nothing(x: Any) -> bool:
    """Return whether no gradient passed: `None`, or zeros only."""
    if x is None:
        return True
    if isinstance(x, _NUMBER_TYPES):
        return not np.any(x)
    entries = _entries(x)
    return entries is not None and all(map(is_nothing, entries.values()))


def is_finite_answer(x: Any) -> bool:
    """Return whether all numbers of an answer are finite."""
    return all(bool(np.isfinite(numbers).all()) for numbers in _numbers_in(x))


def _entries(x: Any) -> dict[Any, Any] | None:
    """Return the entries of a structure; `None` for other things."""
    if isinstance(x, list | tuple):
        return dict(enumerate(x))
    if isinstance(x, dict | Tangent):
        return dict(x.items())
    if goes_by_value(type(x)):  # it may be compared entry by entry, or by identity alone
        return getattr(x, "__dict__", None)
    return None


def _numbers_in(x: Any) -> Iterator[np.ndarray]:
    """Yield all numbers and arrays of a structure, as arrays; what is held many times, once."""
    waiting, seen = [x], dict[int, Any]()
    while waiting:
        x = waiting.pop()
        if isinstance(x, _NUMBER_TYPES):
            found = np.asarray(x)
            if found.dtype.kind in "biufc":
                yield found
        elif id(x) not in seen:
            seen[id(x)] = x
            waiting += (_entries(x) or {}).values()


def _size(x: np.ndarray) -> float:
    """Return the largest absolute value of the finite entries."""
    with np.errstate(all="ignore"):
        sizes = np.abs(x.astype(complex)).ravel()
    return float(np.max(sizes[np.isfinite(sizes)], initial=0.0))


def _as_numpy(x: Any) -> Any:
    return np.asarray(x)[()] if type(x) in (bool, int, float) else x
