"""One input of an elementwise function: its cotangent, or its tangent, times the partial."""

from math import isfinite
from typing import Any

import numpy as np

from rulescore._array import Array
from rulescore._project import is_complex, project, shape_of

REAL = frozenset((float, np.float64))
_COMPLEX = REAL | {complex, np.complex128}
_FACTOR = REAL | {bool, np.bool_}  # a slope of 0 or 1 may be written as a comparison
# Above this many elements a test of each is better than one dot product, which starts threads.
MANY = 10_000

# A dot product of all entries, which warns of nothing; past what asks who else might answer.
vdot: Any = getattr(np.vdot, "_implementation", np.vdot)


def pull(dy: Any, partial: Any, x: Any, xs: tuple[Any, ...]) -> Any:
    """Return the cotangent of `x`, one of `xs`: `conj(partial) * dy`, summed to its shape.

    A zero in `dy` is a strong zero: it wins over an infinite or undefined `partial`, so that a
    branch that `np.where` did not take never leaks into the gradient. A `partial` of `None` is
    "no gradient".
    """
    if partial is None:
        return None
    kind = type(x)
    if kind is float or kind is int:
        if type(dy) in REAL and type(partial) in _FACTOR:
            return float(dy * partial) if dy else 0.0
        if type(dy) in _COMPLEX and type(partial) in _COMPLEX:
            return float((dy * partial.conjugate()).real) if dy else 0.0
        if type(dy) is np.ndarray is type(partial) and dy.shape == partial.shape:
            dtype = dy.dtype  # of a number among arrays: the sum of the products, at once
            if dtype == partial.dtype and dtype.char == "d" and dy.size <= MANY:
                total = float(vdot(dy, partial))
                if isfinite(total):  # then no entry was masked
                    return total
    elif kind is np.ndarray is type(dy) is type(partial):
        dtype, shape = dy.dtype, dy.shape
        # one object stands for each precision, so that nearly always no more is to be compared
        alike = dtype is partial.dtype is x.dtype or dtype == partial.dtype == x.dtype
        if alike and partial.shape == shape == x.shape and shape and dtype.kind == "f":
            # nothing is to be projected
            if isfinite(vdot(partial, partial)) if partial.size <= MANY else is_finite(partial):
                return dy * partial
            return _masked(dy, partial)
        if dtype.kind not in "fc" or partial.dtype.kind not in "fc":
            return _pull_others(dy, partial, x, xs)
        if partial.dtype.kind == "c":
            partial = partial.conj()
        dx = dy * partial if is_finite(partial) else _masked(dy, partial)
        if dx.dtype.kind == "c" and x.dtype.kind == "f":
            dx = dx.real
        if type(dx) is kind and dx.shape == x.shape and dx.dtype == x.dtype:
            return dx
        if partial.shape != shape:
            _refuse_larger(partial, xs)
        return project(dx, x)
    return _pull_others(dy, partial, x, xs)


def _pull_others(dy: Any, partial: Any, x: Any, xs: tuple[Any, ...]) -> Any:
    given = type(partial)
    if given is np.ndarray and not partial.shape:  # as `np.where` gives of numbers
        return pull(dy, partial[()], x, xs)
    if given is int and (partial == 1 or partial == -1):
        return project(dy if partial == 1 else -dy, x)
    if type(dy) is np.ndarray and dy.dtype.kind == "f":
        if given is np.ndarray and partial.dtype.kind in "fb":
            if partial.shape != dy.shape:
                _refuse_larger(partial, xs)
            return project(dy * partial if is_finite(partial) else _masked(dy, partial), x)
        if given in _FACTOR or given is int:
            return project(dy * partial if isfinite(partial) else _masked(dy, partial), x)
    if isinstance(partial, Array) and partial.shape != shape_of(dy):
        _refuse_larger(partial, xs)
    if is_complex(partial):
        partial = np.conj(partial)
    if isinstance(partial, Array) or isinstance(dy, Array):
        return project(_times(dy, partial), x)
    return project(dy * partial if dy else dy, x)


def push(dx: Any, partial: Any) -> Any:
    """Return the tangent that the tangent `dx` of one input gives: `partial * dx`.

    A zero in `dx` is a strong zero, as one in `dy` is going back.
    """
    if isinstance(partial, Array) or isinstance(dx, Array):
        return _times(dx, partial)
    return dx * partial if dx else dx


def _refuse_larger(partial: Any, xs: tuple[Any, ...]) -> None:
    """Refuse a partial derivative that is larger than the result: it would be summed unseen."""
    given = partial.shape
    if not given:
        return
    for x in xs:
        if type(x) is np.ndarray and x.shape == given:
            return
    shape = np.broadcast_shapes(*map(shape_of, xs))
    if len(given) > len(shape) or any(
        n not in (1, m) for n, m in zip(given[::-1], shape[::-1], strict=False)
    ):
        raise ValueError(f"a partial derivative has shape {given}, and the result {shape}")


def _times(dy: Any, partial: Any) -> Any:
    if type(partial) is np.ndarray:
        return dy * partial if is_finite(partial) else _masked(dy, partial)
    if not isinstance(partial, Array):
        return dy * partial if np.isfinite(partial) else _masked(dy, partial)
    with np.errstate(all="ignore"):
        product = dy * partial  # a zero of it has its unit, where arrays have units
        return np.where(dy == 0, np.zeros_like(product), product)


def is_finite(partial: np.ndarray) -> bool:
    """Return whether all entries are finite."""
    if partial.dtype.kind == "b":
        return True
    if partial.size <= MANY:
        # an overflow of the squares costs time, not truth: the caller masks then
        return isfinite(abs(vdot(partial, partial)))
    return bool(np.isfinite(partial).all())


def _masked(dy: Any, partial: Any) -> Any:
    # A cotangent of 0 says that the result does not depend on this entry (a branch of `np.where`
    # that was not taken): there the derivative is 0, whatever the partial. IEEE arithmetic makes
    # `0 * inf` a nan, which would spread. So the product is masked where, and only where, `dy` is
    # 0; the callers ask first whether `partial` is finite, which is cheaper than to mask always.
    with np.errstate(all="ignore"):
        return np.where(dy == 0, dy, dy * partial)
