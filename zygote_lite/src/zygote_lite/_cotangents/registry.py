"""The tables of functions that the engine resolves itself, by the identity of the function."""

import functools
import inspect
import types
from collections.abc import Callable
from typing import Any

Node = int | None
Recorded = tuple[Any, Node]
Structural = Callable[..., Any]
Composite = Callable[..., Recorded | None]

STRUCTURAL: dict[int, tuple[Any, Structural]] = {}
"""Structural pullbacks by the identity of the function: `(flags, *xs, **kws) -> (y, back)`.

One may return `None`: not for these arguments.
"""

MAKING: set[int] = set()
"""Functions among these, by identity, whose value may be a new array, rather than one that was."""

COMPOSITE: dict[int, tuple[Any, Composite]] = {}
"""What is resolved by other calls, by identity: `(tape, nodes, *xs, **kws) -> (y, node)`.

One may return `None`: not for these arguments.
"""

MADE: dict[types.CodeType, Composite] = {}
"""What is resolved by other calls, where a function is made anew each time, by its code:
`(tape, nodes, f, *xs, **kws) -> (y, node)`."""

ALWAYS: set[int] = set()
"""Functions among these, by identity, that are resolved though nothing active goes into them."""

OF_CLASSES: dict[tuple[Any, str], Any] = {}
"""Class methods written in C that have an equivalent, each as it was found when that was declared:
Python makes a new one at each look-up."""

EQUIVALENT: dict[int, tuple[Any, Any]] = {}
"""Functions written in C, by identity, and Python that means the same and is recorded."""


def can_take(body: Any, count: int, kws: dict[str, Any]) -> bool:
    """Return whether an entry of these tables has parameters for the keywords of a call.

    Where it has none the call is resolved as if it were not there: the function itself refuses a
    keyword that it does not know, as it does where nothing is differentiated.

    Arguments:
        body: the entry.
        count: how many operands it is given by position.
        kws: the keywords.
    """
    return not kws or _has_parameters(body, count, tuple(kws))


@functools.lru_cache(maxsize=4096)
def _has_parameters(body: Any, count: int, names: tuple[str, ...]) -> bool:
    try:
        inspect.signature(body).bind(*range(count), **dict.fromkeys(names))
    except TypeError:
        return False
    return True


def structural(*functions: Any) -> Callable[[Structural], Structural]:
    """Declare a structural pullback of the engine's own for `functions`."""

    def declare(body: Structural) -> Structural:
        for f in functions:
            STRUCTURAL[id(f)] = (f, body)
        return body

    return declare


def composite(*functions: Any) -> Callable[[Composite], Composite]:
    """Declare how calls of `functions` are resolved by other calls."""

    def declare(body: Composite) -> Composite:
        for f in functions:
            COMPOSITE[id(f)] = (f, body)
        return body

    return declare


def made_by(example: types.FunctionType) -> Callable[[Composite], Composite]:
    """Declare how calls of functions that have the code of `example` are resolved."""

    def declare(body: Composite) -> Composite:
        MADE[example.__code__] = body
        return body

    return declare


def equivalent(*functions: Any) -> Callable[[Any], Any]:
    """Declare the Python function that means the same as `functions` written in C."""

    def declare(body: Any) -> Any:
        for f in functions:
            EQUIVALENT[id(f)] = (f, body)
            if isinstance(getattr(f, "__self__", None), type):
                OF_CLASSES[f.__self__, f.__name__] = f
        return body

    return declare
