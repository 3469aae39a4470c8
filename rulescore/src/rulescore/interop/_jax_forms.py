"""The forms of calls: what tells which shapes a value has, from a call that was seen before."""

from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from rulescore.interop._calls import by_position
from rulescore.interop._trees import flatten, rebuild, same

_KINDS = {float: "f", int: "iu", complex: "c"}


@dataclass(frozen=True, slots=True)
class Array:
    """Stand in a form where an array is."""

    shape: tuple[int, ...]
    dtype: Any


def is_leaf(x: Any) -> bool:
    """Return whether a value is an array, of JAX or of numbers of NumPy."""
    if isinstance(x, np.ndarray | np.generic):
        return x.dtype.kind in "biufc"
    return isinstance(x, jax.Array)


def form_of(f: Any, xs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Return the form of a call: its arguments, by position where they may be, without values.

    Numbers of Python and other constants keep their values.
    """
    call = by_position(f, xs, options) if options else (xs, options)
    leaves: list[Any] = []
    structure = flatten(call, is_leaf, leaves)
    return rebuild(structure, iter([Array(x.shape, x.dtype) for x in leaves]))


def key_of(form: Any) -> Any:
    """Return what the forms have in common that may fit each other: their arrays with axes."""
    leaves: list[Any] = []
    flatten(form, lambda x: type(x) is Array, leaves)
    return tuple(sorted([(x.shape, str(x.dtype)) for x in leaves if x.shape]))


def fits(known: Any, form: Any) -> bool:
    """Return whether two forms are equal but for numbers of Python that the first one has.

    The second one has arrays without axes there, of the same kind.
    """
    if type(form) is Array and type(known) is not Array:
        return not form.shape and form.dtype.kind in _KINDS.get(type(known), "")
    if isinstance(form, dict):
        return (
            isinstance(known, dict)
            and known.keys() == form.keys()
            and all(fits(known[name], form[name]) for name in form)
        )
    if isinstance(form, list | tuple):
        return type(known) is type(form) and len(known) == len(form) and all(map(fits, known, form))
    return same(known, form)
