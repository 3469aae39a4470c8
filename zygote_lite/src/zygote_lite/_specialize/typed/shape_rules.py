"""Shape rules: what is known of the axes of a result, one rule for each function.

A rule is given the arguments, and the number of axes that the result has on the samples. It returns
`None` where the arguments do not settle the number of axes: then the code tests it when it runs.
"""

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from zygote_lite._ir.traits import is_elementwise, traits_of
from zygote_lite._specialize.typed.facts import (
    FLOATS,
    MANY,
    ONE,
    UNKNOWN,
    ArrayOf,
    Axes,
    KnownByRules,
    Scalar,
)
from zygote_lite._specialize.typed.functions import attribute_of, is_hashable
from zygote_lite._specialize.typed.nodes import leaves
from zygote_lite._specialize.typed.runtime import exactly
from zygote_lite._specialize.typed.values import Value

_HARMLESS_OPTIONS = {"dtype", "order", "copy"}


def axes_of_result(f: Any, xs: list[Value], kws: dict[str, Value], rank: int) -> Axes | None:
    """Return what is known of the axes of `f(*xs, **kws)`; `None` if not even their number is."""
    traits = traits_of(f)
    if not all(x.is_constant for x in kws.values()):
        return None
    if traits.reduces:
        return _reduced(xs, kws)
    if not kws.keys() <= _HARMLESS_OPTIONS:
        return None
    if is_elementwise(f):
        return _broadcast(xs) if all(x.is_array or x.is_scalar for x in xs) else None
    if traits.copies_shape:
        return _axes(xs[0]) if len(xs) == 1 else None
    rule = _RULES.get(f) if is_hashable(f) else None
    found = None if rule is None else rule(xs, rank)
    return found if found is not None and len(found) == rank else None


# -- lengths as values ---------------------------------------------------------------------------


def lengths_of(*xs: Value) -> Axes | None:
    """Return what is known of the axes of an array of a shape; `None` if it may be no shape."""
    found: Axes = ()
    for x in (leaf for given in xs for leaf in leaves(given)):
        if x.lengths is not None:
            found += x.lengths
        elif x.is_constant and type(x.sample) in (int, tuple):
            given = x.sample if type(x.sample) is tuple else (x.sample,)
            found += tuple(map(_length_of_axis, given))
        elif isinstance(x.fact, Scalar):
            found += (UNKNOWN,)
        else:
            return None
    return found


def _length_of_axis(n: Any) -> str:
    if type(n) is not int or n < 0:
        return UNKNOWN
    return ONE if n == 1 else MANY


def lengths_of_result(f: Any, xs: list[Value]) -> Axes | None:
    """Return the lengths that a number or a tuple stands for, if it comes from an array's shape."""
    if f is attribute_of("shape"):
        return _axes(xs[0])
    if f is len and xs[0].is_array:
        return (_axes(xs[0]) or ())[:1]
    lengths = xs[0].lengths if xs else None
    if lengths is None or f is exactly:
        return lengths if f is exactly else None
    if f is math.prod and len(xs) == 1:
        return (UNKNOWN,)
    if f is operator.getitem and xs[1].is_constant:
        found = lengths[xs[1].sample]
        return found if isinstance(found, tuple) else (found,)
    return None


# -- rules ---------------------------------------------------------------------------------------


def _axes(x: Value) -> Axes | None:
    return x.fact.axes if isinstance(x.fact, ArrayOf) else None


def _broadcast(xs: list[Value]) -> Axes:
    shapes = [x.fact.axes for x in xs if isinstance(x.fact, ArrayOf)]
    rank = max(map(len, shapes), default=0)
    padded = [(ONE,) * (rank - len(shape)) + shape for shape in shapes]
    axes = []
    for column in zip(*padded, strict=True):
        if MANY in column:
            axes.append(MANY)
        else:
            axes.append(ONE if all(axis == ONE for axis in column) else UNKNOWN)
    return tuple(axes)


def _reduced(xs: list[Value], kws: dict[str, Value]) -> Axes | None:
    before = _axes(xs[0])
    if before is None or not all(x.is_constant for x in xs[1:]):
        return None
    axis = kws["axis"].sample if "axis" in kws else xs[1].sample if len(xs) > 1 else None
    keep = kws["keepdims"].sample if "keepdims" in kws else False
    given = axis if isinstance(axis, tuple) else range(len(before)) if axis is None else (axis,)
    gone = {a % len(before) for a in given}
    return tuple([ONE if i in gone else a for i, a in enumerate(before) if keep or i not in gone])


def _counted(xs: list[Value], rank: int) -> Axes | None:
    """`np.arange`, of numbers."""
    if not all(x.is_scalar for x in xs):
        return None
    return lengths_of(*xs) if len(xs) == 1 else (UNKNOWN,)


def _as_array(xs: list[Value], rank: int) -> Axes | None:
    """`np.asarray`, of an array, or of a float: an integer may be too large for one."""
    fact = xs[0].fact
    if isinstance(fact, Scalar):
        return () if fact.classes <= FLOATS else None
    return _axes(xs[0])


def _transposed(xs: list[Value], rank: int) -> Axes | None:
    axes = _axes(xs[0])
    return axes[::-1] if axes is not None and len(xs) == 1 else None


def _swapped(xs: list[Value], rank: int) -> Axes | None:
    axes = _axes(xs[0])
    return axes if axes is None else (*axes[:-2], axes[-1], axes[-2])


def _of_product(xs: list[Value], rank: int) -> Axes | None:
    a, b = [_axes_of_factor(x) for x in xs]
    if not (0 < len(a) <= 2 and 0 < len(b) <= 2):
        return None
    return a[:-1] + (b[-1:] if len(b) > 1 else ())


def _axes_of_factor(x: Value) -> Axes:
    if isinstance(x.fact, KnownByRules):  # the code is made for its shape
        return tuple(map(_length_of_axis, x.fact.shape))
    return _axes(x) or ()


def _indexed(xs: list[Value], rank: int) -> Axes | None:
    x, index = xs
    given = _axes(x)
    if given is None:
        lengths = type(x.sample) is tuple and all(type(n) is int for n in x.sample)
        return () if lengths else None
    parts = _parts_of_index(index)
    if any(map(_is_boolean, parts)):
        return (UNKNOWN,) * rank if len(parts) == 1 else None
    if not is_basic(index):
        arrays = [part for part in parts if part.is_array]
        if len(arrays) < len(parts) or UNKNOWN in given:
            return (UNKNOWN,) * rank
        return (*_broadcast(arrays), *given[len(parts) :])
    axes: Axes = ()
    for i, part in enumerate(parts):
        if part.sample is None:
            axes += (ONE,)
        elif part.sample is ...:
            count = len(given) - sum(p.sample is not None for p in parts[i + 1 :])
            axes, given = axes + given[:count], given[count:]
        else:
            if type(part.sample) is slice:
                whole = part.is_constant and part.sample == slice(None)
                axes += given[:1] if whole else (UNKNOWN,)
            given = given[1:]
    return axes + given


def _parts_of_index(index: Value) -> list[Value]:
    return index.items if index.items is not None and type(index.sample) is tuple else [index]


def is_basic(index: Value) -> bool:
    """Return whether an index gives a view: it has slices, integers, `None` and `...` only."""
    return all(
        type(part.sample) is slice
        or (part.is_constant and (part.sample is None or part.sample is ...))
        or (part.is_scalar and isinstance(part.sample, int | np.integer) and not _is_boolean(part))
        for part in _parts_of_index(index)
    )


def _is_boolean(x: Value) -> bool:
    if isinstance(x.fact, ArrayOf):
        return x.fact.dtype.kind == "b"
    return isinstance(x.sample, bool | np.bool_ | list)


SHAPE_AT: dict[Any, int] = {
    np.zeros: 0, np.ones: 0, np.empty: 0, np.full: 0,
    np.broadcast_to: 1, np.reshape: 1, np.ndarray.reshape: 1,
}  # fmt: skip
"""The functions one of whose arguments is the shape of the result, with its place."""

_RULES: dict[Any, Callable[[list[Value], int], Axes | None]] = {
    **dict.fromkeys((np.zeros, np.ones, np.empty, np.full), lambda xs, _: lengths_of(xs[0])),
    **dict.fromkeys((np.broadcast_to, np.reshape), lambda xs, _: lengths_of(xs[1])),
    np.ndarray.reshape: lambda xs, _: lengths_of(*xs[1:]),
    np.arange: _counted,
    **dict.fromkeys((np.array, np.asarray, np.asanyarray), _as_array),
    **dict.fromkeys((np.transpose, np.ndarray.transpose, attribute_of("T")), _transposed),
    attribute_of("mT"): _swapped,
    **dict.fromkeys((operator.matmul, np.matmul, np.dot), _of_product),
    operator.getitem: _indexed,
    **dict.fromkeys((len, attribute_of("size")), lambda xs, _: ()),
}
