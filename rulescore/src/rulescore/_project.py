"""Give a cotangent the kind of its primal: its shape, precision and container, real or complex."""

from collections.abc import Callable
from numbers import Number, Real
from types import NoneType
from typing import Any

import numpy as np

from rulescore import _kinds
from rulescore._array import Array
from rulescore.faults import an

Known = dict[tuple[int, int], Any]
"""What two tuples have given, by their identities: tuples may be shared many times."""


def project(dx: Any, x: Any) -> Any:
    """Give the cotangent `dx` the kind of its primal `x`.

    Arguments:
        dx: a cotangent: a number, or an array of a shape that `x` broadcasts to; `None` stays
            `None`.
        x: the primal.

    The result has the shape of `x`: axes along which `x` was broadcast are summed over. It is real
    where `x` is real, and has the precision of `x`; an integer counts as a real number in the
    precision of `dx`. If nothing is to be done, it is `dx` itself. For a list, tuple or dict the
    result is one, too, entry by entry. For booleans, text and `None` it is `None`. A lazy array
    stays lazy. For types of other libraries a rule set declares what to do, by
    `rule.method(project)`. Raises `ValueError` if `x` does not broadcast to the shape of `dx`.
    (ChainRules' `ProjectTo`.)
    """
    if dx is None:
        return None
    kind = type(x)
    if kind is float or kind is int:
        if type(dx) is float:
            return dx
        if type(dx) is np.float64:
            return float(dx)
        if type(dx) is np.ndarray:
            return _project_number(dx, x)
    elif kind is np.ndarray and type(dx) is np.ndarray:
        dtype = x.dtype
        if dtype == dx.dtype and dx.shape == x.shape and (dtype.kind == "f" or dtype.kind == "c"):
            return dx
        if dtype.kind == "f" and dx.dtype.kind == "c" and dx.shape == x.shape:
            dx = dx.real
            if dx.dtype == dtype:
                return dx
        return _project_array(dx, x)
    if kind not in _kinds.SETTLED or type(dx) not in _kinds.SETTLED:
        method = _kinds.find(project, (dx, x))
        if method is not None:
            return method(dx, x)
    if isinstance(x, np.generic):
        return _project_numpy_scalar(dx, x)
    if isinstance(x, bool | str | bytes | NoneType):
        return None
    if isinstance(x, Number):
        return _project_number(dx, x)
    if isinstance(x, Array):
        return _project_array(dx, x)
    if isinstance(x, list | tuple):
        return _project_sequence(dx, x)
    if isinstance(x, dict) and isinstance(dx, dict):
        return {name: project(entry, x[name]) for name, entry in dx.items()}
    return dx


def zero(x: Any) -> Any:
    """Return the zero cotangent of a value, or `None` if the value has no gradient.

    Arguments:
        x: the value.

    The zero has the shape, the precision and the structure of the value: a list, a tuple and a dict
    get a zero for each entry. For types of other libraries a rule set declares it, by
    `rule.method(zero)`. If the set has declared only `project`, that makes the zero from `0.0`.
    """
    if type(x) not in _kinds.SETTLED:
        method = _kinds.find(zero, (x,))
        if method is not None:
            return method(x)
        method = _kinds.find(project, (0.0, x))
        if method is not None:
            return method(0.0, x)
    if isinstance(x, Number | np.generic):
        return project(0.0, x)
    if isinstance(x, Array):
        kind = x.dtype.kind
        if kind not in "iufc":
            return None
        # as the cotangents of subclasses of arrays, it is a plain array
        array: Any = np.asarray(x) if isinstance(x, np.ndarray) else x
        return np.zeros_like(array, dtype=array.dtype if kind in "fc" else np.float64)
    if isinstance(x, list | tuple):
        return _zero_of_sequence(x, {}, set())
    if isinstance(x, dict):
        return {name: zero(entry) for name, entry in x.items()}
    return None


def _zero_of_sequence(x: Any, known: dict[int, Any], stay: set[int]) -> Any:
    """Return the zeros of a list or tuple; a tuple in it that shares its parts is walked once.

    Arguments:
        x: the list or tuple.
        known: the zeros of tuples that were met before, by the identity of the tuple. Those that
            can be written to, such as arrays, are made anew for each place.
        stay: the identities of these zeros.
    """
    entries = []
    for part in x:
        if type(part) is not tuple:
            entries.append(zero(part))
            continue
        found = known.get(id(part))
        if found is None:
            found = _zero_of_sequence(part, known, stay)
            if all(isinstance(d, Number | NoneType) or id(d) in stay for d in found):
                known[id(part)] = found
                stay.add(id(found))
        entries.append(found)
    return sequence_like(x, entries)


def shape_of(x: Any) -> Any:
    """Return the shape of a number or array: `np.shape`, quicker for numbers."""
    return () if isinstance(x, Number) else np.shape(x)


def is_complex(x: Any) -> bool:
    """Return whether a number or array is complex: by its dtype, if it has one.

    `np.iscomplexobj` asks the same of arrays, but not every library answers that function.
    """
    kind = getattr(getattr(x, "dtype", None), "kind", None)
    return bool(np.iscomplexobj(x)) if kind is None else kind == "c"


def _is_foreign(dx: Any) -> bool:
    return isinstance(dx, Array) and not isinstance(dx, np.ndarray)


def _real(dx: Any) -> Any:
    return dx.real if is_complex(dx) else dx


def _project_number(dx: Any, x: Any) -> Any:
    dx = _sum_to(dx, ())
    if isinstance(x, int | float):
        if type(dx) is np.float64:
            return float(dx)
        dx = _real(dx)
        return dx if _is_foreign(dx) else float(dx)
    if isinstance(x, complex):
        return dx if _is_foreign(dx) else complex(dx)
    return _real(dx) if isinstance(x, Real) else dx  # a Fraction may have a Fraction


def _project_numpy_scalar(dx: Any, x: Any) -> Any:
    kind = x.dtype.kind
    if kind not in "iufc":
        return None
    dx = _sum_to(dx, ())
    if kind != "c":
        dx = _real(dx)
    dtype = x.dtype if kind in "fc" else np.dtype(np.float64)
    return dx.astype(dtype) if _is_foreign(dx) else dtype.type(dx)


def _project_array(dx: Any, x: Any) -> Any:
    kind = x.dtype.kind
    if kind not in "iufcO":
        return None
    dx = _sum_to(dx, x.shape)
    if kind == "O":
        return dx
    if type(dx) is np.ndarray and dx.dtype == x.dtype and kind in "fc":
        return dx
    if kind != "c":
        dx = _real(dx)
    if isinstance(x, np.ndarray) and not isinstance(dx, Array):
        dx = np.asarray(dx)
    if not isinstance(dx, Array):
        dx = np.zeros_like(x, dtype=np.result_type(dx)) + dx
    if kind in "fc" and dx.dtype != x.dtype:
        dx = dx.astype(x.dtype)
    elif kind in "iu" and dx.dtype.kind not in "f":
        dx = dx.astype(np.float64)
    return dx


def _project_sequence(dx: Any, x: Any) -> Any:
    if isinstance(dx, Number | np.generic) or getattr(dx, "shape", None) == ():
        raise ValueError(f"a number is no cotangent of {an(type(x).__name__)} of length {len(x)}")
    if not isinstance(dx, (list, tuple, Array)):
        return dx  # a Tangent: whoever made it knows the fields
    return _projected_entries(dx, x, {})


def _projected_entries(dx: Any, x: Any, known: Known) -> Any:
    """Return a cotangent in the kind of a list or tuple; tuples that are shared are `known`."""
    given: Any = _sum_leading(dx, x) if isinstance(dx, Array) and dx.ndim > 1 else dx
    if len(given) != len(x):
        kind = type(x).__name__
        raise ValueError(
            f"a cotangent of length {len(given)} does not fit {an(kind)} of length {len(x)}"
        )
    is_line = type(given) is np.ndarray and given.ndim == 1 and given.dtype.char in "dD"
    if is_line and set(map(type, x)) == {float}:  # as usual
        return sequence_like(x, given.real.tolist())
    return sequence_like(x, of_pairs(project, _projected_entries, given, x, known))


def of_pairs(
    f: Callable[[Any, Any], Any], of_tuples: Callable[[Any, Any, Known], Any],
    xs: Any, ys: Any, known: Known,
) -> list[Any]:  # fmt: skip
    """Return what `f` gives for each two entries; for the same two tuples, `of_tuples` once."""
    found = []
    for x, y in zip(xs, ys, strict=True):
        if type(x) is not tuple or type(y) is not tuple:
            found.append(f(x, y))
            continue
        key = id(x), id(y)
        if key not in known:
            known[key] = of_tuples(x, y, known)
        found.append(known[key])
    return found


def sequence_like(x: Any, entries: list[Any]) -> Any:
    """Return entries in the kind of a list or tuple: a list, a plain tuple or a named one.

    A named tuple whose class computes its fields, by a `__new__` of its own, gets them as they are.
    """
    if isinstance(x, list):
        return entries
    return tuple.__new__(type(x), entries) if hasattr(x, "_fields") else tuple(entries)


def _sum_leading(dx: Any, x: Any) -> Any:
    """Sum `dx` over the axes that come before those of the nested list `x`, if any."""
    try:
        extra = dx.ndim - np.ndim(x)
    except ValueError:  # of rows that differ in length
        return dx
    return np.sum(dx, axis=tuple(range(extra))) if extra > 0 else dx


_total: Any = np.add.reduce  # the types of NumPy know no axis of it


_UNKNOWN = (
    "an array of dask has an unknown shape here, as `x[x > 0]` has: choose by "
    "`np.where(x > 0, x, 0.0)`, or call `compute_chunk_sizes()` of the array before"
)


def _sum_to(dx: Any, shape: tuple[int, ...]) -> Any:
    """Sum `dx` over the axes along which an array of `shape` was broadcast."""
    given = dx.shape if type(dx) is np.ndarray else shape_of(dx)
    if given == shape:
        return dx
    if not shape and type(dx) is np.ndarray:
        return _total(dx, axis=None)
    extra = len(given) - len(shape)
    if extra > 0 and type(dx) is np.ndarray and given[extra:] == shape:
        return _total(dx, axis=tuple(range(extra)))
    is_fitting = extra >= 0
    axes = [*range(extra)]
    for axis, n in enumerate(shape, max(extra, 0)):
        if is_fitting and n != given[axis]:
            axes.append(axis)
            is_fitting = n == 1
    if not is_fitting:
        if any(n != n for n in (*shape, *given)):
            raise NotImplementedError(_UNKNOWN)
        raise ValueError(f"a cotangent of shape {given} does not fit a primal of shape {shape}")
    if type(dx) is np.ndarray:
        if not extra:
            return _total(dx, tuple(axes), None, None, True)
        return np.asarray(_total(dx, axis=tuple(axes))).reshape(shape)
    return np.reshape(np.sum(dx, axis=tuple(axes)), shape)


def fits(dx: Any, x: Any) -> bool:
    """Return whether a (co)tangent has the shape of its primal, as far as a glance tells."""
    kind = type(x)
    if kind is np.ndarray:
        return getattr(dx, "shape", None) == x.shape or (not x.shape and isinstance(dx, Number))
    if kind is type(dx):
        return kind not in (list, tuple) or len(dx) == len(x)
    if isinstance(x, int | float | complex | np.generic):
        return getattr(dx, "shape", None) == () or isinstance(dx, Number)
    if kind is list or kind is tuple:
        return isinstance(dx, kind) and len(dx) == len(x)
    return True
