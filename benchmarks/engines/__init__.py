"""What computes values and gradients: each engine is a module with one `ENGINE`.

A module of another library has a function for each workload, of the same name, in the words of
that library. Where it has none, the workload cannot be said there.
"""

import importlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

MODULES = {
    "zygote_lite": "zygote_lite_generic",
    "compiled": "zygote_lite_compiled",
    "autograd": "with_autograd",
    "mygrad": "with_mygrad",
    "torch": "with_torch",
    "jax": "with_jax",
    "numba": "with_numba",
}


class NotAvailableError(Exception):
    """Say why an engine does not run a workload."""


@dataclass(frozen=True)
class Engine:
    """A way to compute value and gradient.

    `prepare(workload, arguments)` returns a function, fresh from the engine, and the arguments in
    the engine's own types; it may raise `NotAvailableError`. `unpack` turns the function's result
    into the value (or `None`) and the list of gradients, as NumPy can read them.
    """

    name: str
    prepare: Callable[..., Any]
    unpack: Callable[[Any], tuple[Any, list[Any]]]


def load(names):
    """Return the engines that can be imported, their seconds to start, and notes on the others.

    To start is to import the engine and to take a first gradient, of x * x.
    """
    engines, starts, notes = [], {}, []
    for name in names:
        start = time.perf_counter()
        try:
            module = importlib.import_module(f"benchmarks.engines.{MODULES[name]}")
            module.start()
        except (ImportError, NotAvailableError) as error:
            notes.append(f"{name} is left out: {error}")
            continue
        starts[name] = time.perf_counter() - start
        engines.append(module.ENGINE)
    return engines, starts, notes


def function_of(module, workload):
    """Return the module's own form of a workload."""
    f = getattr(module, workload.name, None)
    if f is None:
        raise NotAvailableError(f"{module.ENGINE.name} has no form of {workload.name}")
    return f


def as_is(result):
    """Return value and gradients that are arrays, numbers or lists already."""
    return result[0], list(result[1])
