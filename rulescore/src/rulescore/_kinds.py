"""Types whose cotangents a rule set knows: it says how these are projected, added up, and zero.

`project`, `accumulate` and `zero` know numbers, arrays, containers and Tangents. For values of
other types they ask here, and are answered by the methods that rule sets have declared.
"""

from collections.abc import Callable
from types import NoneType
from typing import Any

import numpy as np

# types that no method is asked for: what they mean is settled, and asking takes time
SETTLED: frozenset[type] = frozenset(
    {
        *(float, int, complex, bool, str, bytes, NoneType, list, tuple, dict),
        *(np.ndarray, np.float64, np.float32, np.float16, np.complex128, np.complex64),
        *(np.int64, np.int32, np.bool_),
    }
)


def _none(function: Any, xs: tuple[Any, ...]) -> Callable[..., Any] | None:
    return None


# set by `_methods`: the method of a function for arguments of these types, or `None`
find: Callable[[Any, tuple[Any, ...]], Callable[..., Any] | None] = _none
