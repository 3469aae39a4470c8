"""`vmap` of a function, at once: from batches, by their axes, to tracers, and back."""

import contextlib
import operator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rulescore import Array, generation
from rulescore.faults import an, counted
from zygote_lite._batch.run import INSIDE, BatchRun
from zygote_lite._batch.tracers import NotBatched, Tracer, entry_of, shown, tracers_in
from zygote_lite._cotangents.kinds import tuple_like, within
from zygote_lite._ir.intrinsics import build_dict, build_list, build_tuple
from zygote_lite._ir.names import name_of
from zygote_lite._nested.gradients import inside_run, simply_run
from zygote_lite._tape.outermost import deeper_recursion
from zygote_lite._tape.refusals.advice import hint_on_library
from zygote_lite._tape.refusals.refusal import (
    forget_resolutions,
    note_resolution,
    resolutions_noted,
)
from zygote_lite._tape.validate import describe
from zygote_lite.errors import Fault

BatchAxes = Any  # a number, `None`, or a tree of them


def axes_of_arguments(in_axes: BatchAxes, count: int) -> tuple[BatchAxes, ...]:
    """Return the axes of each positional argument."""
    axes = tuple(in_axes) if isinstance(in_axes, tuple | list) else (in_axes,) * count
    if len(axes) != count:
        raise Fault.BATCH(
            f"`in_axes` has {counted(len(axes), 'entry', 'entries')} for "
            f"{counted(count, 'argument')}: give one for each, or one number for all"
        )
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
    if axes is None or isinstance(axes, int | np.integer):
        return [(key, x[key], axes) for key in keys]
    if isinstance(axes, dict) != isinstance(x, dict) or {*keys} != {*_places_of_axes(axes)}:
        raise Fault.BATCH(
            f"the axes {axes} are not those of {describe(x)}: give a tree of the same structure, "
            "or one number for all"
        )
    return [(key, x[key], axes[key]) for key in keys]


def _places_of_axes(axes: Any) -> Any:
    return axes if isinstance(axes, dict) else range(len(axes))


def in_tree_of(x: Any, entries: dict[Any, Any]) -> Any:
    """Return a list, tuple or dict like `x` with other entries."""
    if isinstance(x, dict):
        return entries
    return [*entries.values()] if isinstance(x, list) else tuple_like(x, entries.values())


def refuse_axes(axes: BatchAxes, name: str) -> None:
    """Refuse what is not a tree of axes: of integers and `None`."""
    if isinstance(axes, list | tuple | dict):
        for part in axes.values() if isinstance(axes, dict) else axes:
            refuse_axes(part, name)
    elif axes is not None and (isinstance(axes, bool) or not isinstance(axes, int | np.integer)):
        raise Fault.BATCH(
            f"`{name}` holds {describe(axes)}, which is not an axis: give integers, `None` for "
            "what is the same for all entries, or trees of them",
            TypeError,
        )


def has_axis(x: Any, axis: Any) -> bool:
    """Return whether an argument is an array with an axis."""
    is_axis = isinstance(x, Array) and isinstance(axis, int | np.integer)
    return is_axis and bool(-x.ndim <= axis < x.ndim)


def no_batch(x: Any, axis: Any) -> Exception:
    """Return the error for an argument that is not a batch along an axis."""
    hint = hint_on_library([x], None)
    if not isinstance(axis, int | np.integer):
        return Fault.BATCH(
            f"the axes {axis} are those of a tree, and here is {describe(x)}: give one number for "
            "an array, or a tuple with one entry for each argument"
        )
    return Fault.BATCH(
        f"a batch is an array with an axis {axis}, and here it is {describe(x)}; "
        + (
            hint
            or "give an array, or `None` in `in_axes` for what is the same for all entries; one "
            "that is given by name goes into a `lambda`"
        )
    )


def refuse_no_place(y: Any, axis: Any) -> None:
    """Refuse an axis that the batch of a value cannot have: there is one more than in an entry."""
    count = np.ndim(y) + 1
    if not isinstance(axis, int | np.integer) or not -count <= axis < count:
        raise Fault.BATCH(
            f"`out_axes` has {axis} for a value that is {describe(y)} for an entry: "
            + (
                "give one number, or a tree of the structure of the value"
                if not isinstance(axis, int | np.integer)
                else f"its batch has {counted(count, 'axis', 'axes')}: give one of them"
            )
        )


def lengths_of_batches(x: Any, axes: BatchAxes) -> set[int]:
    """Return how long the batches in an argument are."""
    if axes is None:
        return set()
    parts = parts_with_axes(x, axes)
    if parts is not None:
        return {n for _, part, a in parts for n in lengths_of_batches(part, a)}
    entry = entry_of(x)
    if not has_axis(entry, axes):
        raise no_batch(entry, axes)
    return {int(np.shape(entry)[axes])}


def length_of_batch(name: str, given: list[tuple[Any, BatchAxes]]) -> int:
    """Return how long the batches of a call are, all of them."""
    lengths = {n for x, axes in given for n in lengths_of_batches(x, axes)}
    if len(lengths) != 1:
        found = " and ".join(map(str, sorted(lengths))) or "no batch"
        raise Fault.BATCH(
            f"all batches that {name} is given need the same length; here: {found}; "
            "give batches of one length, and `None` in `in_axes` for what all entries share"
        )
    return lengths.pop()


_MOST_REFUSED = 256


@dataclass(eq=False)
class Mapped:
    """A function of one entry, and where the axes of the batch are.

    Attributes:
        f: the function.
        in_axes, out_axes: as `vmap` is given them.
        refused: by the types and shapes of arguments, why there is a loop for them.
    """

    f: Any
    in_axes: BatchAxes
    out_axes: BatchAxes
    refused: dict[Any, str] = field(default_factory=dict)

    def at_once(self, around: Any, nodes: Any, xs: Any, kws: Any) -> tuple[Any, Any] | str:
        """Return the value for the batch and its number on the tape around, or why there is none.

        Arguments:
            around: what runs calls of whole batches, as `BatchRun` takes it.
            nodes: the numbers of the function, the arguments and the keywords there.
            xs, kws: the arguments.
        """
        key = _types_and_shapes(xs, kws)
        why = self.refused.get(key)
        if why is not None:
            return why
        noted = resolutions_noted()
        try:
            with deeper_recursion():
                return self.run(around, nodes, xs, kws)
        except Exception as error:  # a loop raises what is the user's, for the entry that it is of
            forget_resolutions(noted)
            if isinstance(around, BatchRun):
                raise NotBatched(str(error)) from error
            why = str(error) or type(error).__name__
            if len(self.refused) > _MOST_REFUSED:
                self.refused.clear()
            self.refused[key] = why
            return why

    def run(self, around: Any, nodes: Any, xs: Any, kws: Any) -> tuple[Any, Any]:
        """Return the value for the batch; raise `NotBatched` where a loop is due.

        An empty batch has the values of one entry, without that entry.
        """
        axes = [*axes_of_arguments(self.in_axes, len(xs)), *(0 for _ in kws)]
        operands = [*xs, *kws.values()]
        count = length_of_batch(name_of(self.f), list(zip(operands, axes, strict=True)))
        run = BatchRun(count, around)
        given = [
            _as_operand(run, x, node, a)
            for x, node, a in zip(operands, nodes[1:], axes, strict=True)
        ]
        note_resolution(self.f, xs, f"run once for the batch of {count}")
        named = dict(zip(kws, given[len(xs) :], strict=True))
        with np.errstate(all="ignore") if run.is_empty else contextlib.nullcontext():
            y = run.resolve(self.f, tuple(given[: len(xs)]), named)
        return _collected(run, y, self.out_axes)


def _types_and_shapes(xs: Any, kws: Any) -> Any:
    """Return what a refusal may depend on in the arguments of a call."""
    met: dict[int, int] = {}
    return (generation(), *[_type_and_shape(x, met) for x in (*xs, *kws.values())])


@inside_run
def refuse_empty(mapped: Mapped, xs: Any, kws: Any) -> None:
    """Raise for an empty batch that the function is not run once for: no loop tells the shape."""
    why = mapped.refused.get(_types_and_shapes(xs, kws), "its code is not run at once")
    raise Fault.BATCH(
        f"the batch that {name_of(mapped.f)} is given is empty, and the shape of its values is not "
        f"known, for it is called entry by entry ({why}): write what an empty batch gives beside "
        "the call of `vmap`"
    )


def _type_and_shape(x: Any, met: dict[int, int]) -> Any:
    """Return what a refusal may depend on in an argument: of what was met before, its number."""
    if isinstance(x, list | tuple | dict):
        if id(x) in met:
            return met[id(x)]
        met[id(x)] = len(met)
        if isinstance(x, dict):
            return tuple([(key, _type_and_shape(part, met)) for key, part in x.items()])
        return (type(x), *[_type_and_shape(part, met) for part in x])
    return type(x), getattr(x, "shape", None) if isinstance(x, Array) else None


def _as_operand(run: BatchRun, x: Any, node: Any, axes: BatchAxes) -> Any:
    """Return an argument with tracers for its batches, and for what has a number around."""
    if axes is None and node is None and type(x) is tuple and not any(map(_is_own, within(x))):
        return x
    parts = parts_with_axes(x, axes)
    if parts is None:
        if axes is None:
            return (
                x if node is None and type(x) is not Tracer else Tracer(run, x, node, batched=False)
            )
        moved: tuple[Any, Any] = (x, node)
        if run.is_empty:
            moved = _one_entry(entry_of(x), axes), None
        elif axes:
            moved = run.carried_out(np.moveaxis, (Tracer(run, x, node), axes, 0), {})
        run.arguments[id(x)] = x
        return Tracer(run, *moved)
    found = {}
    for key, part, a in parts:
        value, at = part, None
        if run.around is not None and type(part) is not Tracer:
            value, at = run.around.call((None, node, None), operator.getitem, x, key)
        found[key] = _as_operand(run, value, at, a)
    return run.noted(in_tree_of(x, found)) if type(x) in (list, dict) else in_tree_of(x, found)


def _one_entry(x: Any, axis: int) -> np.ndarray:
    """Return a batch of one entry in the place of an empty one, with the axis of it in front."""
    if type(x) is not np.ndarray or x.dtype.kind not in "biufc":
        raise NotBatched(f"the empty batch is {describe(x)}")
    entry = np.delete(np.array(np.shape(x)), axis).tolist()
    made = np.zeros((1, *entry), x.dtype)
    if x.dtype.kind in "fc":  # a number that most functions take, in a matrix with an inverse
        made += 0.5
        if len(entry) > 1 and entry[-1] == entry[-2]:
            made += np.eye(entry[-1], dtype=x.dtype)
    return made


def _is_own(x: Any) -> bool:
    """Return whether a run has its own of a value: a list or a dict that may be changed."""
    return type(x) is Tracer or isinstance(x, list | dict)


def _collected(run: BatchRun, y: Any, axes: BatchAxes) -> tuple[Any, Any]:
    """Return a value with the axis of the batch in each array, and its number around."""
    parts = parts_with_axes(y, axes)
    if parts is not None:
        return _rebuilt_around(run, y, {key: _collected(run, part, a) for key, part, a in parts})
    if y is None:
        return None, None
    if not isinstance(y, Tracer):
        y = Tracer(run, y, None, batched=False)
    entry = y.entry
    is_number = isinstance(entry, Array | np.generic | int | float | complex)
    if not is_number or np.asarray(entry).dtype.kind not in "biufc" or isinstance(entry, bool):
        raise NotBatched(f"the value for an entry is {an(type(entry).__name__)}")
    if axes is None:
        if y.batched:
            raise NotBatched("a value that is the same for all entries depends on the batch")
        return y.value, y.node
    value, node = y.value, y.node
    if run.is_empty:
        refuse_no_place(entry, axes)
        whole = np.zeros((0, *np.shape(entry)), np.asarray(shown(value)).dtype)
        return np.moveaxis(whole, 0, axes), None
    if not y.batched:
        shape = (run.count, *np.shape(entry))
        value, node = run.carried_out(np.broadcast_to, (y, shape), {})
    if type(value) is Tracer or value.base is not None or id(value) in run.arguments:
        value, node = run.carried_out(np.copy, (Tracer(run, value, node),), {})
    run.arguments[id(value)] = value  # the next value with this array is a copy
    refuse_no_place(entry, axes)
    if axes:
        value, node = run.carried_out(np.moveaxis, (Tracer(run, value, node), 0, axes), {})
    return value, node


def _rebuilt_around(run: BatchRun, y: Any, parts: dict[Any, tuple[Any, Any]]) -> tuple[Any, Any]:
    """Return a list, tuple or dict of values, and its number around."""
    values = {key: value for key, (value, _) in parts.items()}
    nodes = [node for _, node in parts.values()]
    whole = in_tree_of(y, values)
    if run.around is None or isinstance(run.around, BatchRun):
        return (run.around.noted(whole) if run.around is not None else whole), None
    if isinstance(y, dict):
        keys_and_values = [x for key, value in values.items() for x in (key, value)]
        numbers = [n for node in nodes for n in (None, node)]
        found: tuple[Any, Any] = run.around.call((None, *numbers), build_dict, *keys_and_values)
    elif hasattr(y, "_make"):
        if any(node is not None for node in nodes):
            raise NotBatched(f"{an(type(y).__name__)} is returned")
        return whole, None
    else:
        build = build_list if isinstance(y, list) else build_tuple
        found = run.around.call((None, *nodes), build, *values.values())
    return found


def inside_vmap(mapped: Mapped, function: Any, tape: Any, nodes: Any, xs: Any, kws: Any) -> Any:
    """Do what `vmap(f)` does inside a function that is differentiated.

    Arguments:
        mapped: the function of an entry.
        function: its loop.
        tape, nodes, xs, kws: the call.
    """
    found = mapped.at_once(tape, nodes, xs, kws)
    if not isinstance(found, str):
        return found
    note_resolution(function, xs, f"a loop over the entries of the batch: {found}")
    return tape.function(nodes, function, xs, kws)


def _vmap_in_batch(run: BatchRun, mapped: Mapped, function: Any, xs: Any, kws: Any) -> Any:
    """Do what `vmap(f)` does for each entry of a batch around."""
    nodes = (None,) * (1 + len(xs) + len(kws))
    found = mapped.at_once(run, nodes, xs, kws)
    assert not isinstance(found, str)
    return found[0]


def _made_in_batch(run: BatchRun, f: Any, xs: Any, kws: Any) -> Any:
    """Make a function of the interface, such as `grad(f)`."""
    if tracers_in((xs, kws)):
        raise NotBatched(f"{name_of(f)} is given an entry of the batch")
    return f(*xs, **kws)


INSIDE[id(inside_vmap)] = _vmap_in_batch
INSIDE[id(simply_run)] = _made_in_batch
