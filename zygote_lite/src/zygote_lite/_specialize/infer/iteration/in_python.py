"""What functions mean that walk over an iterable, in Python for transformed code.

`_python.library` has more of these, which the tape runs.
"""

import itertools
from typing import Any

from zygote_lite._python.library.folds import order_of


def list_of_all(x: Any) -> Any:
    """Return a new list of all elements."""
    out = []
    for y in x:
        out.append(y)
    return out


def extended(x: Any, values: Any) -> Any:
    """Append all elements to a list, and return that."""
    for y in values:
        x.append(y)
    return x


def sorted_by(x: Any, key: Any = None, reverse: Any = False) -> Any:
    """Return a new list of the items of a list, in the order of their keys."""
    keys = []
    for y in x:
        keys.append(y if key is None else key(y))
    return [x[i] for i in order_of(keys, reverse)]


def places(*shape: Any) -> Any:
    """Return an iterator over the places of an array, as `np.ndindex` is."""
    if len(shape) == 1 and isinstance(shape[0], tuple):
        shape = shape[0]
    for n in shape:
        if n < 0:
            raise ValueError("negative dimensions are not allowed")
    return itertools.product(*[range(n) for n in shape])
