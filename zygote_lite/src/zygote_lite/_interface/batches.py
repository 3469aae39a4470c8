"""`vmap`: a function of one entry becomes one of a batch, by a loop over the entries."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from rulescore import Array
from zygote_lite._cotangents.kinds import tuple_like
from zygote_lite._ir.frames import entry
from zygote_lite._ir.places import name_of
from zygote_lite._nested.gradients import inside, inside_run
from zygote_lite._tape.refusal import note_resolution
from zygote_lite._tape.validate import describe
from zygote_lite.derivatives import by_name
from zygote_lite.errors import Fault

BatchAxes = Any  # a number, `None`, or a tree of them


@by_name
def vmap(
    f: Callable[..., Any], in_axes: BatchAxes = 0, out_axes: BatchAxes = 0
) -> Callable[..., Any]:
    """Return `f` as a function of batches: of arrays that have one axis more.

    Arguments:
        f: a function of one entry of the batch.
        in_axes: the axis of the batch in each argument: a number for all, or a tuple with one for
            each positional argument. `None` is for what is no batch. For lists, tuples and dicts
            of arrays it may be a tree of axes, or one for all. Keywords have axis 0.
        out_axes: the axis of the batch in the value, or a tree of them; `None` for what is the
            same for all entries.

    It is a loop, which calls `f` once for each entry, in their order: what `f` prints, draws or
    writes to is printed, drawn and written for each entry, and an entry is a view of the batch.
    Raises `ValueError` where batches have different lengths, or none. (JAX's `vmap`.)
    """

    @entry
    @functools.wraps(f)
    def mapped(*xs: Any, **kws: Any) -> Any:
        axes = in_axes if isinstance(in_axes, tuple | list) else (in_axes,) * len(xs)
        if len(axes) != len(xs):
            raise Fault.BATCH(f"in_axes has {len(axes)} entries for {len(xs)} arguments")
        batch = [_batch_first(x, a) for x, a in zip(xs, axes, strict=True)]
        named = {name: _batch_first(x, 0) for name, x in kws.items()}
        lengths = {n for x, a in zip(batch, axes, strict=True) for n in _lengths(x, a)}
        lengths |= {n for x in named.values() for n in _lengths(x, 0)}
        if len(lengths) != 1 or lengths == {0}:
            found = ", ".join(map(str, sorted(lengths))) or "none at all"
            raise Fault.BATCH(f"the batches of {name_of(f)} are of one length, not empty: {found}")
        values = [
            f(
                *[_entry_of_batch(x, a, i) for x, a in zip(batch, axes, strict=True)],
                **{name: _entry_of_batch(x, 0, i) for name, x in named.items()},
            )
            for i in range(*lengths)
        ]
        return _together(values, out_axes)

    def on_tape(tape: Any, nodes: Any, xs: Any, kws: Any) -> Any:
        note_resolution(mapped, xs, "a loop over the entries of the batch")
        return tape.function(nodes, mapped, xs, kws)

    return inside(on_tape)(mapped)


inside_run(vmap)


def _parts_with_axes(x: Any, axes: BatchAxes) -> list[tuple[Any, Any, Any]] | None:
    """Return the entries of a list, tuple or dict by their keys, each with its axes."""
    keys: Any
    if isinstance(x, dict):
        keys = list(x)
    elif isinstance(x, list | tuple):
        keys = range(len(x))
    else:
        return None
    if axes is None or isinstance(axes, int):
        return [(key, x[key], axes) for key in keys]
    if len(axes) != len(x):
        raise Fault.BATCH(f"the axes {axes} are not those of {describe(x)}")
    return [(key, x[key], axes[key]) for key in keys]


def _like(x: Any, entries: dict[Any, Any]) -> Any:
    if isinstance(x, dict):
        return entries
    return [*entries.values()] if isinstance(x, list) else tuple_like(x, entries.values())


def _batch_first(x: Any, axes: BatchAxes) -> Any:
    """Return a tree whose arrays have the axis of the batch first."""
    if axes is None:
        return x
    parts = _parts_with_axes(x, axes)
    if parts is not None:
        return _like(x, {key: _batch_first(part, a) for key, part, a in parts})
    if not isinstance(x, Array) or not -x.ndim <= axes < x.ndim:
        raise Fault.BATCH(f"a batch has an axis {axes}, and it is {describe(x)}")
    moved: Any = np.moveaxis
    return moved(x, axes, 0) if axes else x


def _lengths(x: Any, axes: BatchAxes) -> list[int]:
    if axes is None:
        return []
    parts = _parts_with_axes(x, axes)
    return [len(x)] if parts is None else [n for _, part, a in parts for n in _lengths(part, a)]


def _entry_of_batch(x: Any, axes: BatchAxes, i: int) -> Any:
    """Return an entry of a batch."""
    if axes is None:
        return x
    parts = _parts_with_axes(x, axes)
    return (
        x[i]
        if parts is None
        else _like(x, {key: _entry_of_batch(part, a, i) for key, part, a in parts})
    )


def _together(values: list[Any], axes: BatchAxes) -> Any:
    """Return values as a batch."""
    first = values[0]
    parts = _parts_with_axes(first, axes)
    if parts is not None:
        if any(type(y) is not type(first) or len(y) != len(first) for y in values):
            raise Fault.BATCH("the values for the entries of a batch have different forms")
        return _like(first, {key: _together([y[key] for y in values], a) for key, _, a in parts})
    if first is None and all(y is None for y in values):
        return None
    if not np.issubdtype(np.asarray(first).dtype, np.number) and not isinstance(
        first, bool | np.bool_
    ):
        raise Fault.BATCH(
            f"the value for an entry of a batch is {describe(first)}, and no array", TypeError
        )
    if axes is None:
        if any(not np.array_equal(y, first) for y in values):
            raise Fault.BATCH("a value that is no batch (`out_axes=None`) differs between entries")
        return first
    return np.stack(values, axis=axes) if isinstance(first, Array) else np.array(values)
