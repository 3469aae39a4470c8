"""The axes of batches in trees of arrays, as `vmap` is given them."""

from typing import Any

import numpy as np

from rulescore import Array
from zygote_lite._batch.tracers import entry_of
from zygote_lite._cotangents.kinds import tuple_like
from zygote_lite._tape.validate import describe
from zygote_lite.errors import Fault

BatchAxes = Any  # a number, `None`, or a tree of them


def axes_of_arguments(in_axes: BatchAxes, count: int) -> tuple[BatchAxes, ...]:
    """Return the axes of each positional argument."""
    axes = tuple(in_axes) if isinstance(in_axes, tuple | list) else (in_axes,) * count
    if len(axes) != count:
        raise Fault.BATCH(f"in_axes has {len(axes)} entries for {count} arguments")
    return axes


def parts_with_axes(x: Any, axes: BatchAxes) -> list[tuple[Any, Any, Any]] | None:
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


def in_tree_of(x: Any, entries: dict[Any, Any]) -> Any:
    """Return a list, tuple or dict like `x` with other entries."""
    if isinstance(x, dict):
        return entries
    return [*entries.values()] if isinstance(x, list) else tuple_like(x, entries.values())


def lengths_of_batches(x: Any, axes: BatchAxes) -> set[int]:
    """Return how long the batches in an argument are."""
    if axes is None:
        return set()
    parts = parts_with_axes(x, axes)
    if parts is not None:
        return {n for _, part, a in parts for n in lengths_of_batches(part, a)}
    entry = entry_of(x)
    if not isinstance(entry, Array) or not -entry.ndim <= axes < entry.ndim:
        raise Fault.BATCH(
            f"a batch is an array with an axis {axes}, and here it is {describe(entry)}"
        )
    return {int(np.shape(entry)[axes])}


def length_of_batch(name: str, given: list[tuple[Any, BatchAxes]]) -> int:
    """Return how long the batches of a call are, all of them; none is empty."""
    lengths = {n for x, axes in given for n in lengths_of_batches(x, axes)}
    if len(lengths) != 1 or lengths == {0}:
        found = " and ".join(map(str, sorted(lengths))) or "no batch"
        raise Fault.BATCH(
            f"all batches that {name} is given need the same length, and not 0; here: {found}"
        )
    return lengths.pop()
