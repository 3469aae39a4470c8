"""Functions that `jit` compiles for their value, and the functions that they stand for."""

import types
from typing import Any

_NAME = "__compiled_from__"


def mark(made: Any, f: Any) -> None:
    """Note that one function is the other, compiled; it is differentiated as the other."""
    setattr(made, _NAME, (made, f))
    made.__differentiates__ = (made, lambda tape, nodes, xs, kws: tape.call(nodes, f, *xs, **kws))


def is_jitted(f: Any) -> bool:
    """Return whether a function comes from `jit`, and did not only copy its attributes."""
    found = f.__dict__.get(_NAME) if type(f) is types.FunctionType else None
    return isinstance(found, tuple) and found[0] is f


def original(f: Any) -> Any:
    """Return the function that a compiled one stands for; any other is returned unchanged."""
    return f.__compiled_from__[1] if is_jitted(f) else f
