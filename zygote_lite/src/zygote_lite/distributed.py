"""Sums of gradients over batches, on several processes or machines, by dask.distributed.

`pip install "zygote_lite[distributed]"`; dask is imported by the first call.

The loss, the parameters and each batch travel as bytes, which a worker unpacks: the loss once, so
that its code is made once and reused; parameters and batches at each use, so that no call sees what
another has written. Batches are taken in groups. The gradients of a group are added on the workers,
as a tree, and the client adds the sums of groups in their order. A worker that dies is replaced by
the scheduler, which knows how all that belongs to an unfinished group is computed again.
"""

import functools
import inspect
import operator
import pickle
from collections import deque
from collections.abc import Callable, Iterator
from numbers import Number
from typing import Any

import numpy as np

from rulescore import accumulate
from zygote_lite._interface import gradients
from zygote_lite._interface.clusters import (
    client_of,
    for_workers,
    forget_messages,
    packed_of,
    pieces_of,
    unpacked,
)
from zygote_lite._interface.trees import TreeWalk
from zygote_lite._ir.frames import entry
from zygote_lite._ir.names import shown_name
from zygote_lite._ir.places import is_installed
from zygote_lite._tape.validate import refuse_no_function
from zygote_lite.errors import Fault

__all__ = ["sum_of_gradients", "value_and_grad"]

FAN_IN = 4  # how many gradients a worker adds at once


@entry
def sum_of_gradients(
    loss: Callable[..., Any],
    *,
    client: Any = None,
    processes: bool = True,
    workers: int | None = None,
    in_flight: int | None = None,
) -> Callable[..., tuple[Any, Any]]:
    """Return a function of parameters and batches: the sum of a loss over them, and its gradient.

    Arguments:
        loss: a function of the parameters and one batch, whose value is a real number. It is
            pickled: by name if it is in a module, by value if it is in a script or a notebook.
        client: a client of dask.distributed, or the address of a scheduler. Without it a local
            cluster is started, and kept for later calls.
        processes: whether the workers of the local cluster are processes; otherwise threads.
        workers: how many workers it has; by default one for each core.
        in_flight: the largest number of batches on their way at once, which bounds the memory; by
            default four for each thread of the cluster, and at least eight.

    The function takes `(params, batches, *, seed=None)`. The parameters are a tree, as for
    `tree_map`. The batches are the partitions of a dask collection, or the elements of a list or a
    generator: arrays, tuples, futures and dask collections, also in tuples, lists and dicts. With
    `seed=`, one integer or several, the loss gets `rng=`, a `numpy.random.Generator` that depends
    on the seed and the number of the batch only. Raises what the loss raises, and `ValueError` if
    there are no batches.
    """
    run = _Sum(loss, client, processes, workers, in_flight, of_rows=False, mean=False)
    return functools.partial(_over_batches, run)


@entry
def _over_batches(
    run: "_Sum", params: Any, batches: Any, *, seed: Any = None, **named: Any
) -> tuple[Any, Any]:
    _refuse_named(run.loss, named, "params, batches")
    return run(params, (batches,), seed)


@entry
def value_and_grad(
    loss: Callable[..., Any],
    *,
    reduce: str = "sum",
    client: Any = None,
    processes: bool = True,
    workers: int | None = None,
    in_flight: int | None = None,
) -> Callable[..., tuple[Any, Any]]:
    """Return a function of parameters and data in batches: the value of a loss, and its gradient.

    Arguments:
        loss: a function of the parameters, and of one batch from each of the data.
        reduce: `"sum"` if the loss is a sum over rows; `"mean"` if it is a mean over rows. Each
            batch then counts by its number of rows (those of its first array).
        client, processes, workers, in_flight: as for `sum_of_gradients`.

    The function takes `(params, *data, seed=None)`. Each of the data is given like the batches of
    `sum_of_gradients`, and by position. Dask arrays need the same chunks along their first axis,
    and one chunk along the others. Raises `ValueError` if the batches do not match.
    """
    if reduce not in ("sum", "mean"):
        raise Fault.OPTION_VALUE(f"`reduce` is {reduce!r}: give 'sum' or 'mean'")
    run = _Sum(loss, client, processes, workers, in_flight, of_rows=True, mean=reduce == "mean")
    return functools.partial(_over_data, run)


@entry
def _over_data(
    run: "_Sum", params: Any, *data: Any, seed: Any = None, **named: Any
) -> tuple[Any, Any]:
    _refuse_named(run.loss, named, "params, *data")
    if not data:
        raise Fault.BATCH("there are no data: give them behind the parameters", TypeError)
    return run(params, data, seed)


class _Sum:
    """A sum over batches; it keeps the loss on the workers from one call to the next."""

    def __init__(
        self,
        loss: Any,
        client: Any,
        processes: bool,
        workers: int | None,
        in_flight: int | None,
        of_rows: bool,
        mean: bool,
    ) -> None:
        refuse_no_function(loss)
        _refuse_below_one("workers", workers)
        _refuse_below_one("in_flight", in_flight)
        self.loss, self.client, self.kind = loss, client, (processes, workers)
        self.in_flight, self.of_rows, self.mean = in_flight, of_rows, mean
        self.known: tuple[Any, bytes, Any] = (None, b"", None)  # client, loss, where it is

    def __call__(self, params: Any, data: tuple[Any, ...], seed: Any) -> tuple[Any, Any]:
        """Return the value and the gradient."""
        if seed is not None:
            np.random.SeedSequence(seed)  # raises here, not on a worker
        _refuse_seed(self.loss, (params, *data), seed)
        client = client_of(self.client, *self.kind)
        import dask

        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"}):
            return self.sum(client, params, enumerate(pieces_of(data)), seed)

    def sum(self, client: Any, params: Any, pieces: Iterator[Any], seed: Any) -> tuple[Any, Any]:
        """Return the value and the gradient, summed over pieces, group by group."""
        most = self.in_flight or max(8, 4 * sum(client.nthreads().values()))
        size = max(1, most // 2)
        shared = self.on_workers(client), self.sent(client, packed_of(params))
        pending: deque[Any] = deque()
        total: Any = None
        try:
            while group := self.group(client, shared, pieces, seed, size):
                pending.append(_tree(client, group))
                del group
                while pending and (len(pending) + 1) * size > most:
                    total = accumulate(total, pending.popleft().result())
                    forget_messages(client)
            while pending:
                total = accumulate(total, pending.popleft().result())
        except BaseException:
            client.cancel([*pending])
            raise
        finally:
            forget_messages(client)
        if total is None:
            raise Fault.BATCH("there are no batches: give one or more")
        value, gradient, rows = total
        if not self.mean:
            return value, gradient
        if not rows:
            raise Fault.BATCH(
                "there are no rows, of which a mean could be taken: give batches with rows"
            )
        return value / rows, _weighted(gradient, 1 / rows)

    def group(
        self, client: Any, shared: tuple[Any, Any], pieces: Iterator[Any], seed: Any, size: int
    ) -> list[Any]:
        """Return futures of the gradients of the next few pieces."""
        found: list[Any] = []
        while len(found) < size and (piece := next(pieces, None)) is not None:
            number, xs = piece
            given = for_workers(client, xs)
            found.append(client.submit(_of_batch, *shared, number, seed, given, pure=False))
        return found

    def on_workers(self, client: Any) -> Any:
        """Return a future of the loss, which stays while its code and what it captures do."""
        packed = packed_of(self.loss)
        if self.known[0] is not client or self.known[1] != packed or self.known[2].cancelled():
            made = client.submit(_BatchGradient, packed, self.of_rows, self.mean, pure=False)
            self.known = client, packed, made
        return self.known[2]

    def sent(self, client: Any, packed: bytes) -> Any:
        """Return a future of bytes on all workers; unlike scattered ones they outlive them."""
        future = client.submit(bytes, packed, pure=False)
        client.replicate([future])
        return future

    def __reduce__(self) -> Any:
        values = self.loss, self.client, *self.kind, self.in_flight, self.of_rows, self.mean
        return _Sum, values


class _BatchGradient:
    """The value and the gradient of a loss at one batch, on a worker.

    Arguments:
        packed: the loss, pickled. What is made of it stays on the worker.
        of_rows: whether the data of a batch go together row by row.
        mean: whether the loss is a mean over rows, and is weighted by them.
    """

    def __init__(self, packed: bytes, of_rows: bool, mean: bool) -> None:
        self.packed, self.of_rows, self.mean = packed, of_rows, mean
        self.slope = gradients.value_and_grad(pickle.loads(packed))

    def __reduce__(self) -> Any:
        return _BatchGradient, (self.packed, self.of_rows, self.mean)

    def __call__(self, params: Any, xs: list[Any], options: dict[str, Any]) -> tuple[Any, ...]:
        """Return the value, the gradient and the number of rows."""
        rows = _rows_of_all(xs, self.mean) if self.of_rows else 0
        if not self.mean:
            return *self.slope(params, *xs, **options), rows
        if not rows:
            return None, None, 0
        value, gradient = self.slope(params, *xs, **options)
        return value * rows, _weighted(gradient, rows), rows


def _of_batch(slope: Any, params: bytes, number: int, seed: Any, given: list[Any]) -> Any:
    options = {}
    if seed is not None:
        own = np.random.SeedSequence(seed, spawn_key=(number,))  # what `spawn` gives
        options["rng"] = np.random.default_rng(own)
    try:
        return slope(pickle.loads(params), [unpacked(x) for x in given], options)
    except Exception as error:
        _forget_place_of_worker(error)
        error.add_note(f"(in batch {number} of those that were given, counted from 0)")
        raise


def _forget_place_of_worker(error: Exception) -> None:
    """Remove the line of dask's that has called the loss: the client tells that of the user."""
    place, colon, told = str(error).partition(": ")
    path, _, line = place.rpartition(":")
    if colon and line.isdecimal() and is_installed(path):
        error.args = (told,)


def _refuse_below_one(option: str, given: Any) -> None:
    """Refuse what is not a whole number, or is below 1; `None` stands for the default."""
    if given is None:
        return
    try:
        fits = operator.index(given) >= 1
    except TypeError:
        fits = False
    if not fits:
        raise Fault.OPTION_VALUE(f"`{option}` is {given!r}: give a whole number, 1 or more")


def _refuse_named(loss: Any, named: dict[str, Any], order: str) -> None:
    """Refuse what is given by name: it could be data in batches, or the same for all of them."""
    for name in named:
        raise Fault.OPTION_VALUE(
            f"`{name}=` is given by name, and a call takes `({order}, seed=None)`: give data in "
            f"batches by position, in the order in which {shown_name(loss)} takes them; what is "
            f"the same for all batches is bound before, by `functools.partial(f, {name}=...)`",
            TypeError,
        )


def _refuse_seed(loss: Any, xs: tuple[Any, ...], seed: Any) -> None:
    """Refuse a seed for a loss that takes no `rng`, and a loss that needs one without a seed."""
    try:
        parameters = inspect.signature(loss, follow_wrapped=False)
    except (TypeError, ValueError):
        return  # a call tells it
    plain, drawing = _takes(parameters, xs), _takes(parameters, xs, rng=None)
    if seed is not None and plain and not drawing:
        raise Fault.OPTION_VALUE(
            f"`seed=` is given, and {shown_name(loss)} has no parameter `rng` for the generator "
            "that it makes: write one, or leave `seed=` out",
            TypeError,
        )
    if seed is None and drawing and not plain:
        raise Fault.OPTION_VALUE(
            f"{shown_name(loss)} takes `rng`, and no seed is given, of which a generator is made: "
            "call with `seed=`, such as `seed=0`",
            TypeError,
        )


def _takes(parameters: inspect.Signature, xs: tuple[Any, ...], **options: Any) -> bool:
    try:
        parameters.bind(*xs, **options)
    except TypeError:
        return False
    return True


def _sum_of(*found: Any) -> Any:
    return functools.reduce(accumulate, found)


def _tree(client: Any, futures: list[Any]) -> Any:
    """Return a future of a sum, which the workers make as a tree."""
    while len(futures) > 1:
        parts = [futures[i : i + FAN_IN] for i in range(0, len(futures), FAN_IN)]
        futures = [client.submit(_sum_of, *part, pure=False) for part in parts]
    return futures[0]


def _rows_of_all(xs: list[Any], needed: bool) -> int:
    counts = [x.shape[0] for x in xs if getattr(x, "shape", ())]
    if len({*counts}) > 1:
        raise Fault.BATCH(
            f"the data of a batch have different numbers of rows: {counts}; give as many of each"
        )
    if not counts and needed:
        raise Fault.BATCH(
            "`reduce='mean'` needs batches that are arrays, whose rows are counted: give arrays",
            TypeError,
        )
    return int(counts[0]) if counts else 0


def _weighted(tree: Any, factor: Any) -> Any:
    """Return a gradient times a number."""
    return TreeWalk(lambda d: d * factor, _is_leaf).new(tree, ())


def _is_leaf(x: Any) -> bool:
    return hasattr(x, "dtype") or isinstance(x, Number)
