"""What asks the system, a clock or a generator of random numbers, known by its name.

A second call of these may give another answer. What their libraries are is told by the names of
modules: nothing is imported here.
"""

import contextlib
import contextvars
import datetime
import re
import sys
import types
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

ACTING_MODULES = {
    "random", "time", "secrets", "os", "posix", "nt", "subprocess", "socket", "logging", "shutil",
    "tempfile", "numpy.random", "torch.random",
}  # fmt: skip
"""The modules whose functions all act, or ask."""
ASKING_FUNCTIONS = (
    np.load, np.loadtxt, np.genfromtxt, np.fromfile, np.seterr, np.seterrcall, np.setbufsize,
)  # fmt: skip
"""Functions of NumPy that read files, or change how it works."""
_ASKING_METHODS: dict[type, tuple[str, ...]] = {
    datetime.date: ("now", "today", "utcnow"),  # and of classes above it, as pandas' `Timestamp`
    contextvars.ContextVar: ("get", "set", "reset"),
}
NOW = ("now", "today")
"""The texts that `datetime64` reads as a question."""
_DRAWS_OF_TORCH = re.compile(
    r"rand(n|int|perm)?(_like)?|normal|bernoulli|multinomial|poisson|binomial"
)


def asks_outside(f: Any) -> bool:
    """Return whether a function draws with PyTorch, or is a method that asks."""
    owner = getattr(f, "__self__", None)
    if owner is not None and not isinstance(owner, types.ModuleType):
        return getattr(f, "__name__", None) in _methods_of(owner)
    is_of_torch = isinstance(f, types.BuiltinFunctionType) and f.__module__ == "torch"
    return is_of_torch and _DRAWS_OF_TORCH.fullmatch(f.__name__) is not None


def methods_that_ask(values: Iterable[Any], names: frozenset[str]) -> Iterator[Any]:
    """Yield the methods that ask, of classes and variables, among those that code names."""
    for x in values:
        for name in names.intersection(_methods_of(x)):
            if hasattr(x, name):
                yield getattr(x, name)


def asks_for_now(values: Iterable[Any], code: types.CodeType) -> bool:
    """Return whether code that names these values may ask `datetime64` for the time."""
    return any(x is np.datetime64 for x in values) and any(text in code.co_consts for text in NOW)


def generator_of_torch() -> bytes | None:
    """Return the state of PyTorch's own generator; `None` where it is not imported."""
    torch: Any = sys.modules.get("torch")
    if not hasattr(torch, "default_generator"):
        return None
    # its transforms would wrap the state, which has no numbers then
    outside = getattr(torch._C, "_DisableFuncTorch", contextlib.nullcontext)
    with outside():
        return bytes(torch.default_generator.get_state().numpy())


def _methods_of(x: Any) -> tuple[str, ...]:
    """Return the names of the methods that ask, of a class of dates or of a context variable."""
    cls = x if isinstance(x, type) else type(x)
    if not isinstance(x, type) and cls is not contextvars.ContextVar:
        return ()
    return next((names for known, names in _ASKING_METHODS.items() if issubclass(cls, known)), ())
