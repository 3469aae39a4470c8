"""The types that elementwise rules are declared for: numbers and arrays, NumPy's or foreign."""

from abc import ABC
from numbers import Number
from typing import Any

import numpy as np


class Array(ABC):  # noqa: B024 - it is a pattern, and has no instances of its own
    """Match `np.ndarray` and every foreign array type (dask, CuPy, ...).

    A foreign array type is one that answers NumPy's functions itself: it defines both
    `__array_ufunc__` (NEP 13) and `__array_function__` (NEP 18). The match depends on the type
    alone, so that dispatch on it can be cached.
    """

    @classmethod
    def __subclasshook__(cls, other: type, /) -> Any:
        if cls is not Array:
            return NotImplemented
        return issubclass(other, np.ndarray) or (
            getattr(other, "__array_ufunc__", None) is not None
            and getattr(other, "__array_function__", None) is not None
        )


Numeric = Number | np.generic | Array
"""A Python number, a NumPy scalar or an array: what an elementwise rule accepts."""
