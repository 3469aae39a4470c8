"""What dask.distributed is given: batches in their forms, and the clusters that they go to.

It is an extra, which is imported when it is used.
"""

import atexit
import itertools
import logging
import os
import pickle
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from zygote_lite.errors import Fault

LOCAL: dict[Any, Any] = {}  # clients that were made here: by address, or kind and size of a cluster


def client_of(given: Any, processes: bool, workers: int | None) -> Any:
    """Return a client: the one that is given, one of an address, or one of a local cluster.

    Raises `ModuleNotFoundError`, with what to install, where dask.distributed is missing.
    """
    try:
        import distributed
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] not in ("dask", "distributed"):
            raise
        raise ModuleNotFoundError(
            'dask.distributed is not installed here: run `pip install "zygote_lite[distributed]"`',
            name=error.name,
        ) from None
    if given is not None and not isinstance(given, str):
        if not isinstance(given, distributed.Client) or given.asynchronous:
            raise Fault.OPTION_VALUE(
                f"`client` is {given!r}: give a client that is not asynchronous, or an address",
                TypeError,
            )
        return given
    key = (given, processes, workers, os.getpid())
    if key not in LOCAL or LOCAL[key].status != "running":
        cluster = given or _local_cluster(processes, workers or os.cpu_count() or 1)
        LOCAL[key] = made = distributed.Client(cluster, set_as_default=False)
        atexit.register(_close, made, None if given else cluster)
    return LOCAL[key]


def _local_cluster(processes: bool, count: int) -> Any:
    import dask
    import distributed

    # else each large array of a worker is new memory of the system: up to twice the time
    with dask.config.set({"distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": None}):
        return distributed.LocalCluster(
            n_workers=count if processes else 1,
            threads_per_worker=1 if processes else count,
            processes=processes,
            dashboard_address=":0",
            silence_logs=logging.CRITICAL,  # what goes wrong is raised here
        )


def forget_messages(client: Any) -> None:
    """Clear the logs of the last messages, in which dask would keep the batches that were sent."""
    scheduler = getattr(client.cluster, "scheduler", None)  # one in this process
    streams = [client.scheduler_comm]
    for name in ("client_comms", "stream_comms"):
        streams += list(getattr(scheduler, name, {}).values())
    for stream in streams:
        log = getattr(stream, "recent_message_log", None)
        if log is not None:
            log.clear()


def _close(client: Any, cluster: Any) -> None:
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    client.close()
    if cluster is not None:
        cluster.close()


def pieces_of(data: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """Yield what belongs to each batch: one of each of the data."""
    chunks = {x.chunks[0] for x in data if hasattr(x, "chunks") and x.chunks}
    if len(chunks) > 1 and not any(size != size for sizes in chunks for size in sizes):
        raise Fault.BATCH(
            f"the chunks differ along the first axis: {sorted(chunks)}; use `rechunk`"
        )
    return _piece_by_piece([*map(_batches_of, data)])


_NO_BATCH = object()


def _piece_by_piece(batches: list[Iterable[Any]]) -> Iterator[tuple[Any, ...]]:
    for piece in itertools.zip_longest(*batches, fillvalue=_NO_BATCH):
        if any(x is _NO_BATCH for x in piece):
            raise Fault.BATCH(
                "the data have different numbers of batches: give as many batches of each"
            )
        yield piece


def _batches_of(x: Any) -> Iterable[Any]:
    import dask

    if dask.is_dask_collection(x):
        if hasattr(x, "numblocks"):
            if not x.ndim or any(n > 1 for n in x.numblocks[1:]):
                raise Fault.BATCH(
                    f"an array with {x.numblocks} chunks: batches are chunks along the first axis, "
                    "with one along each other axis: use `x.rechunk`"
                )
            return x.to_delayed().ravel()  # type: ignore[no-any-return]
        return x.to_delayed()  # type: ignore[no-any-return]
    if isinstance(x, np.ndarray | dict | str | bytes) or not hasattr(x, "__iter__"):
        raise Fault.BATCH(
            f"batches are a dask collection, a list or a generator, not {type(x).__name__}; "
            "make chunks of an array by `dask.array.from_array`",
            TypeError,
        )
    return x  # type: ignore[no-any-return]


def for_workers(client: Any, xs: Any) -> list[Any]:
    """Return what a worker is given for a batch: bytes, or futures of dask's, in their places."""
    import dask

    lazy: list[Any] = []
    _visit(xs, lambda x: lazy.append(x) if dask.is_dask_collection(x) else None)
    futures = iter(client.compute(lazy) if lazy else ())

    def ready(x: Any) -> Any:
        return next(futures) if dask.is_dask_collection(x) else x

    return [_visit(x, ready) if _is_remote(x) else _Packed(packed_of(x)) for x in xs]


def _is_remote(x: Any) -> bool:
    import dask
    import distributed

    found: list[bool] = []
    _visit(x, lambda y: found.append(isinstance(y, distributed.Future)))
    _visit(x, lambda y: found.append(dask.is_dask_collection(y)))
    return any(found)


def _visit(x: Any, f: Callable[[Any], Any]) -> Any:
    """Return what tuples, lists and dicts hold, after `f`, in such."""
    if type(x) in (tuple, list):
        return type(x)([_visit(one, f) for one in x])
    if type(x) is dict:
        return {key: _visit(one, f) for key, one in x.items()}
    return f(x)


class _Packed:
    """What travels as bytes: it is unpacked anew at each use."""

    def __init__(self, content: bytes) -> None:
        self.content = content


def packed_of(x: Any) -> bytes:
    import cloudpickle

    packed: bytes = cloudpickle.dumps(x, protocol=4)  # arrays then own what they are made of
    return packed


def unpacked(x: Any) -> Any:
    return pickle.loads(x.content) if type(x) is _Packed else x
