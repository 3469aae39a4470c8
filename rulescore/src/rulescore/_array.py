"""The types that elementwise rules are declared for: numbers and arrays, NumPy's or foreign."""

import functools
import operator
from abc import ABC, abstractmethod
from collections.abc import Callable
from numbers import Number
from types import UnionType
from typing import Any, Union, get_args, get_origin

import numpy as np


class Array(ABC):
    """Match `np.ndarray` and every foreign array type (dask, CuPy, ...).

    A foreign array type is one that answers NumPy's functions itself: it defines both
    `__array_ufunc__` (NEP 13) and `__array_function__` (NEP 18). The match depends on the type
    alone, so that dispatch on it can be cached. Masked arrays and `np.matrix` do not match: their
    operators mean something else, and rules for arrays would be wrong for them.
    """

    @property
    @abstractmethod
    def shape(self) -> tuple[int, ...]:
        """The lengths of the axes."""

    @property
    @abstractmethod
    def ndim(self) -> int:
        """The number of axes."""

    @property
    @abstractmethod
    def dtype(self) -> np.dtype[Any]:
        """The type of the entries."""

    @classmethod
    def __subclasshook__(cls, other: type, /) -> Any:
        if cls is not Array:
            return NotImplemented
        if issubclass(other, np.ndarray):
            return not _computes_otherwise(other)
        for name in ("__array_ufunc__", "__array_function__"):
            if getattr(other, name, None) is None:
                return NotImplemented  # it may be this class itself
        return True


def _computes_otherwise(kind: type) -> bool:
    """Return whether a subclass gives operators another meaning: masked arrays and matrices do."""
    return issubclass(kind, np.matrix) or any(b.__name__ == "MaskedArray" for b in kind.__mro__)


Numeric = Number | np.generic | Array
"""A Python number, a NumPy scalar or an array: what an elementwise rule accepts."""

_INTEGER = int | np.integer
_REAL = _INTEGER | float | np.floating
_MEANT = {Any: object, int: _INTEGER, float: _REAL, complex: _REAL | complex | np.complexfloating}


def pattern(annotation: Any) -> Any:
    """Return the type that is dispatched on for an annotation of a rule.

    Numbers are meant by their kind, Python's and NumPy's alike: who annotates `float` means 3 and
    `np.float32(3)` too, as type checkers do (PEP 484), and a rule that they passed by would be
    missed without a word.
    """
    if get_origin(annotation) in (Union, UnionType):
        return functools.reduce(operator.or_, map(pattern, get_args(annotation)))
    try:
        return _MEANT.get(annotation, annotation)
    except TypeError:  # it cannot be hashed
        return annotation


def method_of_any_array(method: Any) -> Callable[..., Any]:
    """Return a method of NumPy's arrays for arrays of other libraries too, which have their own."""
    owner, name = method.__objclass__, method.__name__

    def call(x: Any, /, *xs: Any, **options: Any) -> Any:
        return (method if isinstance(x, owner) else getattr(type(x), name))(x, *xs, **options)

    return call
