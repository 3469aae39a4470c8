"""Functions and methods that write to an array: what they write is computed, and then stored."""

import inspect
import operator
import types
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from zygote_lite._ir.names import name_of
from zygote_lite._ir.operators import IN_PLACE
from zygote_lite._ir.traits import module_of, traits_of
from zygote_lite._specialize.infer.iteration.known import as_they_are_now
from zygote_lite._specialize.rules.contributions import Contribution, projected
from zygote_lite._specialize.rules.inlined import be_active, snapshot
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.facts import can_carry, dtypes_of, shares_axes
from zygote_lite._specialize.typed.functions import is_hashable
from zygote_lite._specialize.typed.nodes import leaves
from zygote_lite._specialize.typed.reasons import Unsound
from zygote_lite._specialize.typed.runtime import added_at, has_length, same_shape
from zygote_lite._specialize.typed.values import Value, constant, shape_root
from zygote_lite._tape.arguments import takes_out
from zygote_lite.caches import cached_by_kind

Writing = Callable[[Builder, list[Value], dict[str, Value]], Value | None]
_WHOLE = constant(...)
_IN_PLACE_METHODS = {getattr(np.ndarray, of.methods[2]): of.function for of in IN_PLACE.values()
            if hasattr(np.ndarray, of.methods[2])}  # fmt: skip


def writing_call(builder: Builder, f: Any, xs: list[Value], kws: dict[str, Value]) -> Value | None:
    """Write a call that writes to an array, and return its value; `None` for other calls."""
    if builder.plain or not any(x.is_array for x in (*xs, *kws.values())):
        return None
    if type(getattr(f, "__self__", None)) is np.ufunc and f.__name__ == "at":
        is_sum = f.__self__ is np.add
        return _added_at(builder, xs) if is_sum and len(xs) == 3 and not kws else None
    out, xs, kws = _with_out(f, xs, kws)
    if out is not None and "where" in kws:
        found = _at_mask(builder, f, xs, kws, out)
        if found is None:
            raise Unsound.WRITES_A_RESULT("it writes a result at a mask")
        return found
    if out is not None:
        _refuse_overlap(builder, f, [*xs, *kws.values()], out)
        result = builder.apply(f, xs, kws)
        _demand_shape(builder, out, result)
        if not isinstance(f, np.ufunc) and dtypes_of(out.fact) != dtypes_of(result.fact):
            raise Unsound.WRITES_A_RESULT("it writes a result into an array of another dtype")
        return write_over(builder, out, result)
    if is_hashable(f) and f in _WRITERS and xs[0].is_array:
        return _WRITERS[f](builder, xs, kws)
    return None


def _refuse_overlap(builder: Builder, f: Any, xs: list[Value], out: Value) -> None:
    """Refuse a function that reads memory which it has written its result into already."""
    arrays = [part for x in xs for part in leaves(x) if part.is_array]
    if traits_of(f).writes_early and any(
        builder.storage(x) is builder.storage(out) for x in arrays
    ):
        raise Unsound.WRITES_A_RESULT("it writes its result into what it reads")


def write_over(builder: Builder, x: Value, value: Value) -> Value:
    """Write a value over all of an array, and return the array.

    Raises `NotSpecializable` where NumPy may not convert it, or does it in another way.
    """
    if np.ndim(value.sample) != np.ndim(x.sample) or not (value.is_array or value.is_scalar):
        raise Unsound.IN_PLACE_KIND(
            "it changes an array in place by one of another number of dimensions"
        )
    _refuse_other_dtype(x, value)
    builder.store(x, _WHOLE, value)
    return x


def _refuse_other_dtype(x: Value, value: Value) -> None:
    """Refuse what NumPy may not convert to the dtype of an array."""
    kinds = dtypes_of(x.fact) | dtypes_of(value.fact)
    if len(kinds) > 1 and {kind.kind for kind in kinds} != {"f"}:
        raise Unsound.IN_PLACE_KIND("it changes an array in place by an array of another dtype")


def _at_mask(
    builder: Builder, f: Any, xs: list[Value], kws: dict[str, Value], out: Value
) -> Value | None:
    """Write `f(*xs, out=x, where=mask)` as `x[mask] = f(*[x[mask] for x in xs])`."""
    mask = kws["where"]
    simple = isinstance(f, np.ufunc) and f.signature is None and f.nout == 1
    if not simple or kws.keys() != {"where"} or dtypes_of(mask.fact) != {np.dtype(bool)}:
        return None

    def part(x: Value, whole: bool = False) -> Value:
        if not (x.is_array and shape_root(x) is shape_root(out)):
            x = builder.apply(np.broadcast_to, [x, builder.attribute(out, "shape")])
        return x if whole else builder.item(x, mask)

    mask = part(mask, whole=True) if mask.is_array or not out.has_no_axes else mask
    alone = not any(x.is_array for x in xs)
    value = builder.apply(f, [x if x.is_scalar and not alone else part(x) for x in xs])
    _refuse_other_dtype(out, value)
    builder.store(out, mask, value)
    return out


def _demand_shape(builder: Builder, x: Value, other: Value) -> None:
    """Leave the code unless two arrays have one shape."""
    if x.has_no_axes and (other.is_scalar or other.has_no_axes):
        return
    if shape_root(x) is not shape_root(other) and not shares_axes(x.fact, other.fact):
        if not other.is_array or x.sample.shape != other.sample.shape:
            raise Unsound.WRITES_A_RESULT("it writes a result into an array of another shape")
        builder.demand(same_shape, x, other)


def _with_out(
    f: Any, xs: list[Value], kws: dict[str, Value]
) -> tuple[Value | None, list[Value], dict[str, Value]]:
    """Return the array that a call writes its result into, and the call without it."""
    if isinstance(f, types.FunctionType) and module_of(f).partition(".")[0] != "numpy":
        return None, xs, kws  # what its own `out` stands for, its rule says
    out = kws.get("out")
    if out is not None and out.items is not None and len(out.items) == 1:
        out = out.items[0]
    at = _place_of_out(f) if is_hashable(f) else None
    if out is None and at is not None and len(xs) > at:
        out, xs = xs[at], xs[:at]
        while xs[-1].is_constant and xs[-1].sample is None:
            xs = xs[:-1]
    if out is None or not out.is_array:
        return None, xs, kws
    if not takes_out(f):
        raise Unsound.RAISES(f"{name_of(f)} has no parameter `out`")
    return out, xs, {name: x for name, x in kws.items() if name != "out"}


@cached_by_kind(4096)
def _place_of_out(f: Any) -> int | None:
    """Return the place of the argument that the result is written into, if there is one."""
    if isinstance(f, np.ufunc):
        return f.nin if f.nout == 1 else None
    if isinstance(getattr(f, "__self__", None), np.ufunc):
        return {"reduce": 3, "accumulate": 3, "reduceat": 4}.get(f.__name__)
    if module_of(f).partition(".")[0] != "numpy":
        return None
    try:
        parameters = inspect.signature(f).parameters.values()
    except (TypeError, ValueError):
        return None
    names = [x.name for x in parameters if x.kind is not x.KEYWORD_ONLY]
    return names.index("out") if "out" in names else None


def _change(of: Any, builder: Builder, xs: list[Value], kws: dict[str, Value]) -> Value:
    """`operator.iadd(x, y)`, `x.__iadd__(y)`."""
    return write_over(builder, xs[0], builder.apply(of, xs))


def _store_item(builder: Builder, xs: list[Value], kws: dict[str, Value]) -> Value:
    """`x.__setitem__(i, v)`."""
    builder.store(*xs)
    return constant(None)


def _fill_array(builder: Builder, xs: list[Value], kws: dict[str, Value]) -> Value | None:
    """`x.fill(v)`."""
    if len(xs) != 2 or not (xs[1].is_scalar or xs[1].has_no_axes):
        return None
    builder.store(xs[0], _WHOLE, xs[1])
    return constant(None)


def _reorder(f: Any, builder: Builder, xs: list[Value], kws: dict[str, Value]) -> Value:
    """`x.sort()`, `x.partition(k)`."""
    write_over(builder, xs[0], builder.apply(f, xs, kws))
    return constant(None)


def _copy_to(builder: Builder, xs: list[Value], kws: dict[str, Value]) -> Value | None:
    """`np.copyto(x, v, where=mask)`."""
    if len(xs) != 2 or not kws.keys() <= {"where"}:
        return None
    x, value = xs
    if kws:
        return _put_masked(builder, [x, kws["where"], value], {}, "same_kind")
    if value.is_array:
        write_over(builder, x, value)
        return constant(None)
    return _fill_array(builder, xs, {}) if _can_write(x, value, "same_kind") else None


def _can_write(x: Value, value: Value, casting: Any) -> bool:
    """Return whether NumPy writes a value: arrays by a rule of casting, numbers by kind."""
    of_value: Any = casting if value.is_array else "same_kind"
    return all(np.can_cast(t, x.sample.dtype, of_value) for t in dtypes_of(value.fact))


def _put_masked(
    builder: Builder, xs: list[Value], kws: dict[str, Value], casting: Any = "safe"
) -> Value | None:
    """`np.putmask(x, mask, v)`, `np.place(x, mask, v)`, where `v` is a number or alike."""
    x, mask, value = xs
    if not _can_write(x, value, casting):
        return None
    mask = _as_truths(builder, mask)
    alike = np.shape(value.sample) == np.shape(x.sample) == np.shape(mask.sample)
    if kws or not (value.is_scalar or (value.is_array and alike)):
        return None
    if dtypes_of(mask.fact) != {np.dtype(bool)} or np.shape(mask.sample) != x.sample.shape:
        return None
    for other in [mask, value] if value.is_array else [mask]:
        _demand_shape(builder, x, other)
    write_over(builder, x, builder.apply(np.where, [mask, value, x]))
    return constant(None)


def _as_truths(builder: Builder, mask: Value) -> Value:
    """Return a mask whose entries are truth values."""
    is_integer = mask.is_array and mask.sample.dtype.kind in "iu"
    return builder.apply(operator.ne, [mask, constant(0)]) if is_integer else mask


def _place_values(builder: Builder, xs: list[Value], kws: dict[str, Value]) -> Value | None:
    """`np.place(x, mask, v)`, where `v` is a number, or has an entry for each that is written."""
    if len(xs) != 3 or kws:
        return None
    x, mask, value = xs
    if value.is_scalar:
        return _put_masked(builder, xs, kws)
    mask = _as_truths(builder, mask)
    if not (value.is_array and mask.is_array) or value.sample.ndim != 1:
        return None
    if (
        value.sample.dtype != x.sample.dtype
        or mask.sample.dtype != bool
        or mask.sample.shape != x.sample.shape
    ):
        return None
    if np.count_nonzero(mask.sample) != len(value.sample):
        return None
    _demand_shape(builder, x, mask)
    builder.demand(has_length, value, builder.apply(np.count_nonzero, [mask]))
    builder.store(x, mask, value)
    return constant(None)


# -- sums ------------------------------------------------------------------------------------------


def _added_at(builder: Builder, xs: list[Value]) -> Value:
    """`np.add.at(x, i, v)`."""
    if xs[2].items is not None:
        xs = [*xs[:2], builder.apply(np.array, [xs[2]])]
    index = snapshot(builder, as_they_are_now(xs[1]))
    op = builder.operation(added_at, xs, certain=True)
    op.target.fact = xs[0].fact
    op.target.base, op.target.fresh = None, True
    if xs[0].active or xs[2].active:
        be_active(op, xs)
        op.reverse_rule = AddedRule(index, xs[0], xs[2])
    write_over(builder, xs[0], op.target)
    return constant(None)


class AddedRule:
    """The reverse through a sum at some entries."""

    def __init__(self, index: Value, x: Value, value: Value) -> None:
        self.index, self.x, self.value = index, x, value

    def back(self, builder: Builder, dy: Value) -> list[Contribution]:
        """Return the cotangents of the array and of what was added."""
        d: Value | None = None
        if self.value.active and can_carry(self.value.fact):
            part = builder.item(dy, self.index)
            if part.is_array:
                part = builder.apply(np.ndarray.copy, [part])
            d = projected(builder, part, self.value)
        return [dy if self.x.active else None, None, d]


_WRITERS: dict[Any, Writing] = {
    **{of.in_place: partial(_change, of.function) for of in IN_PLACE.values()},
    **{method: partial(_change, f) for method, f in _IN_PLACE_METHODS.items()},
    np.ndarray.__setitem__: _store_item,
    operator.setitem: _store_item,
    np.ndarray.fill: _fill_array,
    np.ndarray.sort: partial(_reorder, np.sort),
    np.ndarray.partition: partial(_reorder, np.partition),
    np.copyto: _copy_to,
    np.putmask: _put_masked,
    np.place: _place_values,
}
