"""`vmap`: a function of one entry becomes one of a batch, run at once or by a loop."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from rulescore import Array
from zygote_lite._batch import derivatives  # noqa: F401 - gradients inside of a batch
from zygote_lite._batch.mapped import (
    BatchAxes,
    Mapped,
    axes_of_arguments,
    has_axis,
    in_tree_of,
    inside_vmap,
    length_of_batch,
    no_batch,
    parts_with_axes,
    refuse_axes,
    refuse_empty,
    refuse_no_place,
)
from zygote_lite._ir.frames import entry
from zygote_lite._ir.names import name_of
from zygote_lite._nested.gradients import inside, inside_run
from zygote_lite._tape.validate import describe
from zygote_lite.derivatives import by_name
from zygote_lite.errors import Fault


@by_name
def vmap(
    f: Callable[..., Any], in_axes: BatchAxes = 0, out_axes: BatchAxes = 0
) -> Callable[..., Any]:
    """Return `f` as a function of batches: of arrays with one more axis.

    Arguments:
        f: a function of one entry of the batch.
        in_axes: the batch axis of each argument: a number for all arguments, or a tuple with one
            for each positional argument. `None` marks an argument that is the same for all
            entries. A list, tuple or dict of arrays may have a tree of axes, or one axis for all.
            Keyword arguments are batches along axis 0.
        out_axes: the batch axis of the value, or a tree of them; `None` marks what is the same for
            all entries.

    `f` runs once for the whole batch if each of its calls has a batching rule (`rule.batched`) or
    works entry by entry, and no branch depends on the batch. Sums may then differ from those of a
    loop in the last digits. Otherwise `f` runs in a loop, once for each entry and in their order,
    with its output and its random draws; an entry is a view of the batch, and a value is copied
    before the next call. `explain` says which of the two it is, and why.

    An empty batch gives an empty one. Its shape is found by a run of `f` on one entry, without any
    side effect; where a loop is due, it is refused.

    Raises `ValueError` if batches have different lengths, or if there are none. (JAX's `vmap`.)
    """
    refuse_axes(in_axes, "in_axes")
    refuse_axes(out_axes, "out_axes")
    mapped = Mapped(f, in_axes, out_axes)

    @functools.wraps(f)
    def by_loop(*xs: Any, **kws: Any) -> Any:
        axes = axes_of_arguments(in_axes, len(xs))
        batch = [_batch_first(x, a) for x, a in zip(xs, axes, strict=True)]
        named = {name: _batch_first(x, 0) for name, x in kws.items()}
        given = [*zip(xs, axes, strict=True), *((x, 0) for x in kws.values())]
        count = length_of_batch(name_of(f), given)
        if not count:
            refuse_empty(mapped, xs, kws)
        values = []
        for i in range(count):
            value = f(
                *[_entry_of_batch(x, a, i) for x, a in zip(batch, axes, strict=True)],
                **{name: _entry_of_batch(x, 0, i) for name, x in named.items()},
            )
            values.append(_value_of_entry(value, out_axes))
        return _together(values, out_axes)

    @inside(functools.partial(inside_vmap, mapped, by_loop))
    @entry
    @functools.wraps(f)
    def of_batch(*xs: Any, **kws: Any) -> Any:
        found = mapped.at_once(None, (None,) * (1 + len(xs) + len(kws)), xs, kws)
        return by_loop(*xs, **kws) if isinstance(found, str) else found[0]

    return of_batch


inside_run(vmap)


def _batch_first(x: Any, axes: BatchAxes) -> Any:
    """Return a tree whose arrays have the axis of the batch first."""
    if axes is None:
        return x
    parts = parts_with_axes(x, axes)
    if parts is not None:
        return in_tree_of(x, {key: _batch_first(part, a) for key, part, a in parts})
    if not has_axis(x, axes):
        raise no_batch(x, axes)
    moved: Any = np.moveaxis
    return moved(x, axes, 0) if axes else x


def _entry_of_batch(x: Any, axes: BatchAxes, i: int) -> Any:
    """Return an entry of a batch."""
    if axes is None:
        return x
    parts = parts_with_axes(x, axes)
    return (
        x[i]
        if parts is None
        else in_tree_of(x, {key: _entry_of_batch(part, a, i) for key, part, a in parts})
    )


def _value_of_entry(y: Any, axes: BatchAxes) -> Any:
    """Return a value that no later call changes, as where `f` returns an array that it fills."""
    parts = parts_with_axes(y, axes)
    if parts is not None:
        return in_tree_of(y, {key: _value_of_entry(part, a) for key, part, a in parts})
    return y.copy() if isinstance(y, np.ndarray) else y


def _together(values: list[Any], axes: BatchAxes) -> Any:
    """Return values as a batch."""
    first = values[0]
    parts = parts_with_axes(first, axes)
    if parts is not None:
        if any(type(y) is not type(first) or len(y) != len(first) for y in values):
            raise Fault.BATCH(
                "the values for the entries of a batch have different forms: return one form, or "
                "call the function in a loop"
            )
        entries = {key: _together([y[key] for y in values], a) for key, _, a in parts}
        return in_tree_of(first, entries)
    if first is None and all(y is None for y in values):
        return None
    kind = np.asarray(first).dtype
    if not np.issubdtype(kind, np.number) and kind != np.bool_:
        raise Fault.BATCH(
            f"the value for an entry of a batch is {describe(first)}, and no array: return "
            "numbers and arrays",
            TypeError,
        )
    if axes is None:
        if any(not np.array_equal(y, first) for y in values):
            raise Fault.BATCH(
                "a value that is not a batch (`out_axes=None`) differs between entries: give its "
                "axis in `out_axes`"
            )
        return first
    shapes = {np.shape(y): None for y in values}
    if len(shapes) > 1:
        raise Fault.BATCH(
            f"the values for the entries of a batch have the shapes {', '.join(map(str, shapes))}: "
            "return arrays of one shape, or call the function in a loop"
        )
    refuse_no_place(first, axes)
    return np.stack(values, axis=axes) if isinstance(first, Array) else np.array(values)
