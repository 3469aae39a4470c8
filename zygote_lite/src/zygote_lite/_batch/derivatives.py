"""`grad` and its kin inside of a batch: gradients of each entry, by one reverse pass.

The entries of a batch do not depend on each other. So the gradient of each is that of their sum,
by its own copy of what is differentiated: the function is run for the batch on a tape, and what is
the same for all entries is repeated first.
"""

import functools
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from rulescore import Array
from rulescore.faults import an
from zygote_lite._batch.run import INSIDE, BatchRun
from zygote_lite._batch.tracers import NotBatched, Tracer
from zygote_lite._cotangents.kinds import tuple_like
from zygote_lite._ir.names import name_of
from zygote_lite._ir.places import where
from zygote_lite._nested.cotangents import box
from zygote_lite._nested.gradients import inside, inside_gradient, inside_jacobian
from zygote_lite._nested.run import NestedRun
from zygote_lite._tape.run import recorded_quietly
from zygote_lite._tape.seeds import ActiveArguments, Argnums

Leaves = list[Tracer]


def _of_whole_batch(
    run: BatchRun, f: Any, leaves: Leaves, rebuild: Callable[[Leaves], Any]
) -> tuple[Any, list[bool]]:
    """Return a function of the numbers and arrays within the arguments of `f`, for a whole batch.

    Each run of it notes in the list whether its value, without axes, is an array for each entry.

    Arguments:
        run: the run of the batch that it is differentiated in.
        f: the function of one entry.
        leaves: what its arguments hold that is differentiated, in the run around.
        rebuild: makes its arguments, by position and by keyword, of such tracers.
    """

    def on_tape(tape: Any, nodes: Any, xs: Any, kws: Any) -> Any:
        inner = BatchRun(run.count, tape, run)
        given = zip(xs, nodes[1:], leaves, strict=True)
        tracers = [
            Tracer(inner, x, node, plain=leaf.plain, is_array=leaf.is_array)
            for x, node, leaf in given
        ]
        arguments, named = rebuild(tracers)
        for x in (*arguments, *named.values()):
            _note_read_only(inner, x)
        y = inner.resolve(f, arguments, named)
        if type(y) is not Tracer or not y.batched or np.asarray(y.entry).dtype.kind != "f":
            raise NotBatched(f"{where()}: {name_of(f)} does not return a real array")
        gives_array.append(y.is_array)
        return y.value, y.node

    gives_array: list[bool] = []

    @inside(on_tape)
    @functools.wraps(f, updated=())
    def together(*xs: Any) -> Any:
        raise AssertionError("it is run on a tape alone")

    return together, gives_array


def _note_read_only(run: BatchRun, x: Any) -> None:
    """Note containers among the arguments, which the caller has too."""
    if isinstance(x, list | tuple | dict) and id(x) not in run.read_only:
        run.read_only[id(x)] = x
        for part in x.values() if isinstance(x, dict) else x:
            _note_read_only(run, part)


class BatchReverse:
    """The value of a function for each entry of a batch, and its pullback."""

    def __init__(self, run: BatchRun, f: Any, argnums: Argnums, xs: Any, kws: Any) -> None:
        self.run, self.xs, self.kws = run, xs, kws
        if isinstance(run.around, BatchRun):
            raise NotBatched(f"{where()}: a gradient inside two nested calls of vmap")
        self.active = ActiveArguments(f, argnums, len(xs), kws)
        operands = [*xs, *kws.values()]
        self.leaves: Leaves = []
        self.forms = {n: self._form(operands[n]) for n in self.active.numbers}
        together, gives_array = _of_whole_batch(run, f, self.leaves, self._rebuilt)
        values, nodes = [x.value for x in self.leaves], [x.node for x in self.leaves]
        flags = (None, *(True for _ in values))
        if run.around is None:
            y, self.back = recorded_quietly(flags, together, tuple(values), {})
            self.y = Tracer(run, y, None)
        else:
            self.nested = NestedRun(run.around, together, (None, *nodes), flags, values, {})
            self.y = Tracer(run, self.nested.y, self.nested.at_y)
        self.y.is_array = gives_array[-1]

    def _form(self, x: Any) -> Any:
        """Return the form of an argument, with the numbers of its leaves."""
        if isinstance(x, dict):
            return {key: self._form(part) for key, part in x.items()}
        if isinstance(x, list | tuple):
            parts = [self._form(part) for part in x]
            return tuple_like(x, parts) if isinstance(x, tuple) else parts
        self.leaves.append(self._repeated(x))
        return len(self.leaves) - 1

    def _repeated(self, x: Any) -> Tracer:
        """Return a leaf as a batch: each entry has its own copy of what is the same for all."""
        entry = x.entry if type(x) is Tracer else x
        is_real = not isinstance(entry, bool | complex | np.bool_)
        if not is_real or not isinstance(entry, Array | np.generic | float | int):
            raise NotBatched(f"{where()}: {an(type(entry).__name__)} is differentiated")
        if type(x) is Tracer and x.batched:
            return x
        shape = (self.run.count, *np.shape(entry))
        y, node = self.run.carried_out(np.broadcast_to, (x, shape), {})
        is_plain = x.plain if type(x) is Tracer else not isinstance(x, Array | np.generic)
        is_array = isinstance(entry, np.ndarray) and not entry.ndim
        return Tracer(self.run, y, node, plain=is_plain, is_array=is_array)

    def _rebuilt(self, leaves: Leaves) -> tuple[Any, Any]:
        operands = [*self.xs, *self.kws.values()]
        for number, form in self.forms.items():
            operands[number] = _filled(form, leaves)
        names = operands[len(self.xs) :]
        return tuple(operands[: len(self.xs)]), dict(zip(self.kws, names, strict=True))

    def pulled(self, dy: Any) -> Leaves:
        """Return the cotangents of the leaves."""
        run = self.run
        if run.around is None:
            found = [Tracer(run, d, None) for d in self.back(dy)[1:]]
        else:
            cotangents = self.nested.back(box(dy, None, run.around))[1:]
            whole, node = self.nested.value_with(cotangents)
            found = [
                Tracer(run, *run.around.call((None, node, None), operator.getitem, whole, i))
                for i in range(len(whole))
            ]
        for d, leaf in zip(found, self.leaves, strict=True):
            if d.value is None:
                kind = leaf.value.dtype if leaf.value.dtype.kind == "f" else np.float64
                d.value = np.zeros(leaf.value.shape, kind)
            d.plain, d.is_array = leaf.plain, leaf.is_array
        return found

    def answered(self, leaves: Leaves) -> Any:
        """Return the derivatives by the leaves, in the form of the arguments."""
        found = [_filled(self.forms[n], leaves) for n in self.active.numbers]
        return found[0] if self.active.is_single else tuple(found)


def _filled(form: Any, leaves: Leaves) -> Any:
    if isinstance(form, dict):
        return {key: _filled(part, leaves) for key, part in form.items()}
    if isinstance(form, list | tuple):
        parts = [_filled(part, leaves) for part in form]
        return tuple_like(form, parts) if isinstance(form, tuple) else parts
    return leaves[form]


def _gradients(run: BatchRun, f: Any, argnums: Argnums, both: bool, xs: Any, kws: Any) -> Any:
    """Do what `grad(f)`, or `value_and_grad(f)`, does for each entry."""
    found = BatchReverse(run, f, argnums, xs, kws)
    if np.ndim(found.y.entry):
        raise NotBatched(f"{where()}: {name_of(f)} does not return a number")
    gradient = found.answered(found.pulled(np.ones_like(found.y.value)))
    return (found.y, gradient) if both else gradient


def _jacobians(run: BatchRun, f: Any, argnums: Argnums, xs: Any, kws: Any) -> Any:
    """Do what `jacobian(f)` does for each entry: one reverse pass for each entry of the value."""
    found = BatchReverse(run, f, argnums, xs, kws)
    y = found.y.value
    shape = y.shape[1:]
    rows = []
    for k in range(math.prod(shape)):
        dy = np.zeros((len(y), math.prod(shape)), y.dtype)
        dy[:, k] = 1.0
        rows.append(found.pulled(dy.reshape(y.shape)))
    if not rows:
        raise NotBatched(f"{where()}: {name_of(f)} returns an empty array")
    stacked = []
    for column in zip(*rows, strict=True):
        whole, node = run.carried_out(_rows_behind_batch, (list(column),), {})
        part = Tracer(run, whole, node)
        form = (len(y), *shape, *column[0].value.shape[1:])
        stacked.append(Tracer(run, *run.carried_out(np.reshape, (part, form), {})))
    return found.answered(stacked)


def _rows_behind_batch(parts: Any) -> Any:
    """Return the rows of Jacobians behind the axis of the batch."""
    return np.stack(parts, 1)


INSIDE[id(inside_gradient)] = _gradients
INSIDE[id(inside_jacobian)] = _jacobians
