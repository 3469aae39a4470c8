"""Give a cotangent the kind of its primal: its shape, its precision, real or complex."""

from typing import Any

import numpy as np

from rulescore._array import Array


def project(dx: Any, x: Any) -> Any:
    """Give the cotangent `dx` the kind of its primal `x`.

    Arguments:
        dx: a cotangent, a number or array whose shape `x` broadcasts to; `None` stays `None`.
        x: the primal, a number or array.

    Returns `dx` itself where nothing is to be done; else with the axes summed over which `x` was
    broadcast, the imaginary part dropped where `x` is real, in the precision of `x` (an integer
    counts as a real number in the precision of `dx`). The cotangent of a truth value is `None`.
    ChainRules calls this `ProjectTo`. Raises `ValueError` where `x` does not broadcast to the
    shape of `dx`.
    """
    if dx is None:
        return None
    kind = type(x)
    if kind is float:
        if type(dx) is float:
            return dx
        return float(_sum_to(dx, ()).real)
    if (
        kind is np.ndarray
        and type(dx) is np.ndarray
        and dx.shape == x.shape
        and dx.dtype == x.dtype
    ):
        return dx
    if kind is bool or kind is np.bool_:
        return None
    if kind is int:
        return float(_sum_to(dx, ()).real)
    if kind is complex:
        return complex(_sum_to(dx, ()))
    if isinstance(x, np.generic):
        return _project_numpy_scalar(dx, x)
    if isinstance(x, Array):
        return _project_array(dx, x)
    return dx


def _project_numpy_scalar(dx: Any, x: Any) -> Any:
    if x.dtype.kind not in "iufc":
        return None
    dx = _sum_to(dx, ())
    if x.dtype.kind != "c":
        dx = dx.real
    return x.dtype.type(dx) if x.dtype.kind in "fc" else np.float64(dx)


def _project_array(dx: Any, x: Any) -> Any:
    kind = x.dtype.kind
    if kind not in "iufc":
        return None
    dx = _sum_to(dx, x.shape)
    if kind != "c" and np.iscomplexobj(dx):
        dx = dx.real
    if isinstance(x, np.ndarray) and not isinstance(dx, Array):
        dx = np.asarray(dx)
    if not hasattr(dx, "dtype"):
        dx = np.zeros_like(x) + dx
    if kind in "fc" and dx.dtype != x.dtype:
        dx = dx.astype(x.dtype)
    elif kind in "iu" and dx.dtype.kind not in "f":
        dx = dx.astype(np.float64)
    return dx


def _sum_to(dx: Any, shape: tuple[int, ...]) -> Any:
    """Sum `dx` over the axes along which an array of `shape` was broadcast."""
    given = np.shape(dx)
    if given == shape:
        return dx
    extra = len(given) - len(shape)
    if extra < 0 or any(n not in (1, m) for n, m in zip(shape, given[extra:], strict=True)):
        raise ValueError(f"a cotangent of shape {given} does not fit a primal of shape {shape}")
    stretched = (extra + axis for axis, n in enumerate(shape) if n != given[extra + axis])
    return np.reshape(np.sum(dx, axis=(*range(extra), *stretched)), shape)
