"""Elementwise rules: from the partial derivatives to cotangents, with broadcasting undone.

Forward, the same partial derivatives are multiplied by tangents.
"""

import contextvars
from collections.abc import Callable, Sequence
from math import isfinite
from typing import Any

import numpy as np

from rulescore._errors import Fault
from rulescore._partials import (
    PYTHONS,
    as_inexact,
    given_to,
    ieee,
    lacks_partials,
    partials_of,
    wrong_number,
)
from rulescore._product import MANY, REAL, is_finite, pull, push, vdot
from rulescore._project import project, shape_of
from rulescore._rule import Rule

_NUMBER = frozenset((float, np.float64, int))
_OWN = (np.ndarray, np.generic, int, float, complex)
_PLAIN = frozenset((np.ndarray, float, int, complex, np.float64, np.float32))

# Where NumPy warns of nothing. To run in a copy of it costs a tenth of `np.errstate`.
_QUIET = contextvars.copy_context()
_QUIET.run(np.seterr, all="ignore")


def pull_scalar(
    rule: Rule,
    out: Any,
    function: Any,
    xs: tuple[Any, ...],
    dy: Any,
    /,
    needed: tuple[Any, ...] | None = None,
) -> tuple[Any, ...]:
    """Return all cotangents of an elementwise call: what a `Pullback` of its rule calls."""
    if dy is None:
        return (None,) * (len(xs) + 1)
    cotangents: Callable[..., tuple[Any, ...]]
    if needed is not None:
        cotangents = _of_some
    else:
        cotangents = _of_one if len(xs) == 1 else _of_two if len(xs) == 2 else _of_many
    try:
        if not rule.poles:
            return cotangents(rule, xs, out, dy, xs, needed)
        try:
            if type(xs[0]) in _PLAIN and type(xs[-1]) in _PLAIN:
                return _QUIET.copy().run(cotangents, rule, xs, out, dy, xs, needed)
            with np.errstate(all="ignore"):  # what others compute may need their own context
                return cotangents(rule, xs, out, dy, xs, needed)
        except (ArithmeticError, ValueError):
            # Python's floats raise where IEEE arithmetic, and so NumPy, says inf or nan
            with np.errstate(all="ignore"):
                return cotangents(rule, tuple(map(ieee, xs)), ieee(out), dy, xs, needed)
    except (TypeError, ValueError, ArithmeticError) as error:
        if type(error) is TypeError and lacks_partials(rule, xs, out):
            raise Fault.COTANGENT(
                f"the rule {rule.signature} ({rule.place}) lacks partial derivatives: it returns "
                "`...` in their place; write each as an expression of the arguments"
            ) from error
        raise Fault.COTANGENT(
            f"the pullback of {rule.signature} ({rule.place}) failed for a cotangent of shape "
            f"{shape_of(dy)} and arguments of shapes {', '.join(str(shape_of(x)) for x in xs)}: "
            f"{type(error).__name__}: {error}; give a cotangent of the shape of the value, or "
            "correct the partial derivatives"
        ) from error


def pull_chosen(
    rule: Rule,
    out: Any,
    function: Any,
    xs: tuple[Any, ...],
    dy: Any,
    /,
    needed: tuple[Any, ...] | None = None,
) -> tuple[Any, ...]:
    """Return all cotangents of a call that chooses: what was not chosen gets nothing, always.

    There a partial derivative of zero is a strong zero, which wins over a `dy` that is infinite
    or undefined, as that of a square root at the zero that `maximum` chose.
    """
    kind = type(dy)
    if kind is np.ndarray:
        found = None if needed is not None else _of_two_chosen(rule, xs, out, dy)
        if found is not None:
            return found
        finite = bool(np.isfinite(dy).all())
    else:
        finite = not (kind is float or isinstance(dy, np.floating)) or isfinite(dy)
    if finite:
        return pull_scalar(rule, out, function, xs, dy, needed)
    inexact = [as_inexact(x, rule) for x in xs]
    partials = rule.body(*inexact, out) if rule.takes_out else rule.body(*inexact)
    if type(partials) is not tuple:
        partials = (partials,)
    with np.errstate(all="ignore"):
        wanted = (True,) * len(xs) if needed is None else needed[1:]
        return None, *[
            project(np.where(np.equal(p, 0), 0.0, dy * p), x) if n and p is not None else None
            for p, x, n in zip(partials, xs, wanted, strict=True)
        ]


def _of_two_chosen(
    rule: Rule, xs: tuple[Any, ...], out: Any, dy: np.ndarray
) -> tuple[Any, ...] | None:
    """Return the cotangents of two real arrays of one shape and precision, where all is finite.

    Else, `None`: then zeros have to be strong.
    """
    if len(xs) != 2 or rule.poles or dy.size > MANY:
        return None
    x, y = xs
    shape, dtype = dy.shape, dy.dtype
    if not (type(x) is np.ndarray is type(y) and x.shape == shape == y.shape and shape):
        return None
    if not (x.dtype == dtype == y.dtype and dtype.kind == "f"):
        return None
    partials = rule.body(x, y, out) if rule.takes_out else rule.body(x, y)
    if type(partials) is not tuple or len(partials) != 2:
        return None
    p, q = partials
    alike = type(p) is np.ndarray is type(q) and p.shape == shape == q.shape
    if alike and p.dtype == dtype == q.dtype and isfinite(vdot(dy, p)) and isfinite(vdot(dy, q)):
        return None, dy * p, dy * q
    return None


def _of_many(
    rule: Rule, xs: tuple[Any, ...], out: Any, dy: Any, primals: tuple[Any, ...], needed: Any
) -> tuple[Any, ...]:
    partials = rule.body(*given_to(rule, xs, out))
    if type(partials) is not tuple or len(partials) != len(xs):
        raise wrong_number(rule, partials)
    return _pulled(partials, dy, primals)


def _of_some(
    rule: Rule,
    xs: tuple[Any, ...],
    out: Any,
    dy: Any,
    primals: tuple[Any, ...],
    needed: Any,
) -> tuple[Any, ...]:
    """Return the cotangents of the arguments that are needed, and `None` for the others."""
    if rule.partials is not None or len(xs) == 1:
        return _pulled(partials_of(rule, xs, out, needed[1:]), dy, primals)
    partials = rule.body(*given_to(rule, xs, out))
    if type(partials) is not tuple or len(partials) != len(xs):
        raise wrong_number(rule, partials)
    if type(dy) is np.ndarray:
        _refuse_other_shape(dy, primals)
    if len(primals) == 2 and not needed[1]:  # as that by an order
        p = partials[1]
        is_needed = p is not None and needed[2]
        return None, None, pull(dy, p, primals[1], primals) if is_needed else None
    found: list[Any] = [None]
    for p, x in zip(partials, primals, strict=True):  # nearly all of them are `None`
        is_needed = p is not None and needed[len(found)]
        found.append(pull(dy, p, x, primals) if is_needed else None)
    return tuple(found)


def _pulled(partials: Sequence[Any], dy: Any, primals: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return all cotangents from as many partial derivatives, of which some may be `None`."""
    found: list[Any] = [None]
    kind = type(dy)
    is_real = kind in REAL
    if kind is np.ndarray:
        _refuse_other_shape(dy, primals)
        if dy.shape and dy.dtype.kind == "f" and dy.size <= MANY:
            return _pulled_arrays(partials, dy, primals)
    for p, x in zip(partials, primals, strict=True):
        if p is None:
            found.append(None)
        elif is_real and type(x) in PYTHONS and type(p) in REAL:
            found.append(float(dy * p) if dy else 0.0)
        else:
            found.append(pull(dy, p, x, primals))
    return tuple(found)


def _pulled_arrays(
    partials: Sequence[Any], dy: np.ndarray, primals: tuple[Any, ...]
) -> tuple[Any, ...]:
    """Return the same for a real array of some entries: quicker where all arrays are like it."""
    found: list[Any] = [None]
    shape, dtype, kind = dy.shape, dy.dtype, np.ndarray
    for p, x in zip(partials, primals, strict=True):
        if p is None:
            found.append(None)
            continue
        alike = type(p) is kind is type(x) and dtype is p.dtype is x.dtype
        if alike and p.shape == shape == x.shape and isfinite(vdot(p, p)):
            found.append(dy * p)
        else:
            found.append(pull(dy, p, x, primals))
    return tuple(found)


def push_scalar(rule: Rule, out: Any, xs: tuple[Any, ...], dxs: tuple[Any, ...]) -> Any:
    """Return the tangent of an elementwise call: the partials times the tangents, added up."""
    needed = [dx is not None for dx in dxs]
    with np.errstate(all="ignore"):
        try:
            return _pushed(rule, partials_of(rule, xs, out, needed), dxs)
        except (ArithmeticError, ValueError):
            # Python's floats raise where IEEE arithmetic, and so NumPy, says inf or nan
            partials = partials_of(rule, tuple(map(ieee, xs)), ieee(out), needed)
            return _pushed(rule, partials, dxs)


def _pushed(rule: Rule, partials: list[Any], dxs: tuple[Any, ...]) -> Any:
    total: Any = None
    for p, dx in zip(partials, dxs, strict=True):
        if p is None or dx is None:
            continue
        dy = np.where(np.equal(p, 0), 0.0, dx * p) if rule.chooses else push(dx, p)
        total = dy if total is None else total + dy
    return total


def _of_one(
    rule: Rule, xs: tuple[Any, ...], out: Any, dy: Any, primals: tuple[Any, ...], needed: Any
) -> tuple[Any, ...]:
    (x,) = xs
    if type(x) is np.ndarray and type(dy) is np.ndarray:
        shape, dtype = dy.shape, dy.dtype
        if x.dtype == dtype and x.shape == shape and shape and dtype.kind in "fc":
            # arrays of one shape and precision: nothing is to be projected
            p = rule.body(x, out) if rule.takes_out else rule.body(x)
            if type(p) is np.ndarray and p.dtype == dtype and p.shape == shape:
                if isfinite(abs(vdot(p, p))) if p.size <= MANY else is_finite(p):
                    return None, dy * (p if dtype.kind == "f" else p.conj())
            elif type(p) is tuple:
                raise wrong_number(rule, p)
            return None, pull(dy, p, x, primals)
    x = as_inexact(x, rule)
    partial = rule.body(x, out) if rule.takes_out else rule.body(x)
    if type(partial) is tuple:
        raise wrong_number(rule, partial)
    x = primals[0]
    if type(dy) is np.ndarray and dy.ndim and dy.shape != getattr(x, "shape", ()):
        raise ValueError(f"the result has shape {shape_of(x)}")
    return None, pull(dy, partial, x, primals)


def _of_two(
    rule: Rule, xs: tuple[Any, ...], out: Any, dy: Any, primals: tuple[Any, ...], needed: Any
) -> tuple[Any, ...]:
    x, y = xs
    if type(x) is np.ndarray and type(y) is np.ndarray and type(dy) is np.ndarray:
        shape, dtype = dy.shape, dy.dtype
        if x.dtype.kind in "iu":  # as of orders: its cotangent has the precision of `dy`
            x = x.astype(np.float64)
        if (
            x.dtype == dtype
            and y.dtype == dtype
            and x.shape == shape == y.shape
            and shape
            and dtype.kind == "f"
        ):
            partials = rule.body(x, y, out) if rule.takes_out else rule.body(x, y)
            if type(partials) is not tuple or len(partials) != 2:
                raise wrong_number(rule, partials)
            p, q = partials
            if p is None:  # as that by an order
                return None, None, pull(dy, q, y, primals)
            if (
                type(p) is np.ndarray
                and type(q) is np.ndarray
                and p.dtype == dtype
                and q.dtype == dtype
                and p.shape == shape == q.shape
                and p.size <= MANY
                and isfinite(vdot(p, q))  # it is not finite where either is not
            ):
                return None, dy * p, dy * q
            return None, pull(dy, p, x, primals), pull(dy, q, y, primals)
    elif type(x) in PYTHONS and type(y) is np.ndarray and type(dy) is np.ndarray:
        shape, dtype = dy.shape, dy.dtype
        if y.dtype == dtype and y.shape == shape and shape and dtype.kind == "f":
            partials = rule.body(x, y, out) if rule.takes_out else rule.body(x, y)
            if type(partials) is not tuple or len(partials) != 2:
                raise wrong_number(rule, partials)
            p, q = partials
            return None, pull(dy, p, x, primals), pull(dy, q, y, primals)
    elif type(x) in PYTHONS and type(y) in PYTHONS and type(dy) in REAL:
        partials = rule.body(x, y, out) if rule.takes_out else rule.body(x, y)
        if type(partials) is not tuple or len(partials) != 2:
            raise wrong_number(rule, partials)
        p, q = partials
        if type(q) in _NUMBER:
            dz = float(dy * q) if dy else 0.0
            if p is None:
                return None, None, dz
            if type(p) in _NUMBER:
                return None, float(dy * p) if dy else 0.0, dz
        return None, pull(dy, p, x, primals), pull(dy, q, y, primals)
    x, y = as_inexact(x, rule), as_inexact(y, rule)
    partials = rule.body(x, y, out) if rule.takes_out else rule.body(x, y)
    if type(partials) is not tuple or len(partials) != 2:
        raise wrong_number(rule, partials)
    if type(dy) is np.ndarray:
        _refuse_other_shape(dy, primals)
    dx = pull(dy, partials[0], primals[0], primals)
    return None, dx, pull(dy, partials[1], primals[1], primals)


def _refuse_other_shape(dy: np.ndarray, xs: tuple[Any, ...]) -> None:
    """Refuse a cotangent that is larger than the result: undoing broadcasting would hide it."""
    whole = False
    for x in xs:
        if type(x) is np.ndarray and x.shape == dy.shape:
            whole = True
        elif type(x) is not float and type(x) is not int:
            break
    else:
        if whole:
            return
    for x in xs:
        if type(x) is not np.ndarray and not isinstance(x, _OWN):
            return  # of a foreign array: shapes may be unknown
    shape = np.broadcast(*xs).shape
    if shape != dy.shape and dy.ndim:
        raise ValueError(f"the result has shape {shape}")
