"""Cotangents of structured values, and their sum."""

import numbers
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np

from rulescore import _kinds
from rulescore._html import MOST, html_of_tangent, shortened
from rulescore._project import Known, of_pairs, sequence_like


class Tangent:
    """Hold the cotangent of an object: one cotangent for each of its fields, under the same names.

    Arguments:
        primal: the type of the object.
        fields: the cotangents by field name; `None` for a field without a gradient.

    Read a field as an attribute, `dm.weights`; any other name raises `AttributeError`. `dict(dm)`
    and `dm.items()` give all fields. Those of a named tuple can be read by their indices, too.
    Tangents of one type can be added and subtracted, and multiplied and divided by numbers, field
    by field; `None` stays `None`. (ChainRules' `Tangent`.)
    """

    __slots__ = ("_fields", "_primal")
    __array_ufunc__ = None  # a number of NumPy on the left lets `__rmul__` answer

    def __init__(self, primal: type, /, **fields: Any) -> None:
        self._primal = primal
        self._fields = fields

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            return self._fields[name]
        except KeyError:
            raise AttributeError(self._without(name)) from None

    def __getitem__(self, name: Any) -> Any:
        if isinstance(name, int | np.integer | slice) and issubclass(self._primal, tuple):
            return tuple(self._fields.values())[name]
        try:
            return self._fields[name]
        except KeyError:
            raise KeyError(self._without(name)) from None

    def _without(self, name: Any) -> str:
        known = ", ".join(map(str, self._fields)) or "none"
        kind = self._primal.__qualname__
        return f"the cotangent of {kind} has no field {name!r}; it has: {known}"

    def __contains__(self, name: object) -> bool:
        return name in self._fields

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def keys(self) -> Any:
        """Return the names of the fields."""
        return self._fields.keys()

    def items(self) -> Any:
        """Return pairs of field name and cotangent."""
        return self._fields.items()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tangent):
            return NotImplemented
        return self._primal is other._primal and self._fields == other._fields

    def __add__(self, other: "Tangent") -> Any:
        return accumulate(self, other) if isinstance(other, Tangent) else NotImplemented

    def __sub__(self, other: "Tangent") -> Any:
        return accumulate(self, -other) if isinstance(other, Tangent) else NotImplemented

    def __neg__(self) -> Any:
        return _scaled(self, -1)

    def __mul__(self, factor: Any) -> Any:
        factor = _plain(factor)
        return _scaled(self, factor) if isinstance(factor, numbers.Number) else NotImplemented

    __rmul__ = __mul__

    def __truediv__(self, divisor: Any) -> Any:
        divisor = _plain(divisor)
        is_number = isinstance(divisor, numbers.Number)
        return _scaled(self, 1 / divisor) if is_number else NotImplemented

    def __repr__(self) -> str:
        fields = [f"{name}={shortened(x)}" for name, x in islice(self._fields.items(), MOST)]
        left = len(self._fields) - len(fields)
        fields += [f"... and {left} more"] if left else []
        return f"Tangent[{self._primal.__qualname__}]({', '.join(fields)})"

    def _repr_html_(self) -> str:
        return html_of_tangent(self)

    def __reduce__(self) -> Any:
        return (_rebuild, (self._primal, self._fields))


def _rebuild(primal: type, fields: dict[str, Any]) -> Tangent:
    return Tangent(primal, **fields)


def _plain(x: Any) -> Any:
    """Return a number of NumPy as one of Python, which leaves an array its precision."""
    return x.item() if isinstance(x, np.generic | np.ndarray) and np.ndim(x) == 0 else x


def _scaled(d: Any, factor: Any) -> Any:
    """Return a cotangent times a number, entry by entry."""
    if d is None:
        return None
    if isinstance(d, Tangent):
        return Tangent(d._primal, **_scaled(d._fields, factor))
    if isinstance(d, dict):
        return {name: _scaled(entry, factor) for name, entry in d.items()}
    if isinstance(d, list | tuple):
        return sequence_like(d, [_scaled(entry, factor) for entry in d])
    return d * factor


def accumulate(a: Any, b: Any) -> Any:
    """Add two cotangents of one value, without changing either.

    Arguments:
        a, b: cotangents: numbers, arrays, tuples, lists, dicts, `Tangent`s, or `None`.

    `None` adds nothing. Numbers, and arrays of one shape, are added; tuples and lists of one
    length, dicts and Tangents are added entry by entry. The keys of one dict or Tangent must be a
    subset of the other's. For types of other libraries a rule set declares the sum, by
    `rule.method(accumulate)`. Anything else raises `TypeError` or `ValueError`. (`accum` of Zygote
    and MicroGrad.jl.)
    """
    kind, other = type(a), type(b)
    if kind is float and other is float:
        return a + b
    if kind is np.ndarray and other is np.ndarray and a.shape == b.shape:
        return a + b
    if a is None:
        return b
    if b is None:
        return a
    if (kind not in _kinds.SETTLED or other not in _kinds.SETTLED) and kind is not Tangent:
        method = _kinds.find(accumulate, (a, b))
        if method is not None:
            return method(a, b)
    if isinstance(a, tuple | list):
        return _accumulate_sequences(a, b, {})
    if isinstance(a, dict):
        if not isinstance(b, dict):
            raise _mismatch(a, b)
        return _accumulate_fields(a, b)
    if isinstance(a, Tangent):
        if not isinstance(b, Tangent) or a._primal is not b._primal:
            raise _mismatch(a, b)
        return Tangent(a._primal, **_accumulate_fields(a._fields, b._fields))
    if isinstance(b, tuple | list | dict | Tangent):
        raise _mismatch(a, b)
    if np.shape(a) != np.shape(b):
        raise ValueError(
            f"cannot add cotangents of one value with shapes {np.shape(a)} and {np.shape(b)}"
        )
    return a + b


def _accumulate_sequences(a: Any, b: Any, known: Known) -> Any:
    """Add lists or tuples entry by entry; the sums of tuples that are shared are `known`."""
    if isinstance(a, list) is not isinstance(b, list) or not isinstance(b, tuple | list):
        raise _mismatch(a, b)
    if len(a) != len(b):
        raise ValueError(f"cannot add cotangents of one value with lengths {len(a)} and {len(b)}")
    return sequence_like(a, of_pairs(accumulate, _accumulate_sequences, a, b, known))


def _accumulate_fields(a: dict[Any, Any], b: dict[Any, Any]) -> dict[Any, Any]:
    if not (a.keys() <= b.keys() or b.keys() <= a.keys()):
        raise ValueError(
            "cannot add cotangents of one value whose keys differ: "
            f"{sorted(map(str, a))} and {sorted(map(str, b))}"
        )
    names = a if len(a) >= len(b) else b
    return {name: accumulate(a.get(name), b.get(name)) for name in names}


def _mismatch(a: Any, b: Any) -> TypeError:
    return TypeError(
        f"cannot add cotangents of one value: {type(a).__qualname__} and {type(b).__qualname__}"
    )
