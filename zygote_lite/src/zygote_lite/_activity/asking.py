"""What asks the system, a clock or a generator of random numbers, known by its name.

A second call of these may give another answer. What their libraries are is told by the names of
modules: nothing is imported here.
"""

import contextlib
import contextvars
import datetime
import pickle
import random
import re
import sys
import types
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from zygote_lite._ir.bytecode import codes_in

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
COMMON_GENERATORS = tuple([getattr(f, "__self__", None) for f in (random.random, np.random.normal)])
"""The generators that functions of `random` and of `np.random` draw from."""
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


def asks_for_now(code: types.CodeType) -> bool:
    """Return whether code may ask `datetime64` for the time, by that name or by a dtype."""
    constants = [x for part in codes_in(code) for x in part.co_consts if isinstance(x, str)]
    if not any(text in constants for text in NOW):
        return False
    names = [name for part in codes_in(code) for name in (*part.co_names, *part.co_freevars)]
    return "datetime64" in names or any(_IS_DATE.match(text) for text in constants)


_IS_DATE = re.compile(r"[<>=|]?(datetime64|M8)")


def states_of_generators() -> tuple[Any, ...]:
    """Return the states of the generators that the functions of libraries draw from."""
    return (random.getstate(), state_drawn_from(COMMON_GENERATORS[1]), generator_of_torch())


def state_drawn_from(generator: Any) -> Any:
    """Return the state of a random generator, of Python or NumPy."""
    if isinstance(generator, random.Random):
        return None if isinstance(generator, random.SystemRandom) else generator.getstate()
    if isinstance(generator, np.random.RandomState):  # which keeps every other normal number
        return pickle.dumps(generator.get_state(legacy=False))
    return pickle.dumps(getattr(generator, "bit_generator", generator).state)


RANDOM_GENERATORS = (
    np.random.Generator,
    np.random.RandomState,
    np.random.BitGenerator,
    random.Random,
)


def generator_of_torch() -> bytes | None:
    """Return the state of PyTorch's own generator; `None` where it is not imported."""
    torch: Any = sys.modules.get("torch")
    if not hasattr(torch, "default_generator"):
        return None
    # its transforms would wrap the state, which has no numbers then
    outside = getattr(torch._C, "_DisableFuncTorch", contextlib.nullcontext)
    with outside():
        generators = [torch.default_generator]
        if torch.cuda.is_initialized():
            generators += torch.cuda.default_generators
        return b"".join([bytes(g.get_state().numpy()) for g in generators])


def _methods_of(x: Any) -> tuple[str, ...]:
    """Return the names of the methods that ask, of a class of dates or of a context variable."""
    cls = x if isinstance(x, type) else type(x)
    if not isinstance(x, type) and cls is not contextvars.ContextVar:
        return ()
    return next((names for known, names in _ASKING_METHODS.items() if issubclass(cls, known)), ())
