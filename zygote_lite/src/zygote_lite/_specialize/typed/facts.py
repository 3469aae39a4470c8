"""Facts: what holds for a value in every run."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from rulescore.faults import an
from zygote_lite._cotangents.kinds import is_known_by_rule
from zygote_lite._specialize.typed.reasons import NotSupported

ONE, MANY, UNKNOWN = "1", "n", "?"  # what is known of the length of an axis
Axes = tuple[str, ...]
FLOATS = frozenset((float, np.float64, np.float32))
DOUBLES = frozenset((float, np.float64))
INTS = frozenset((int, np.int64, np.int32, np.intp))
TRUTHS = frozenset((bool, np.bool_))
COMPLEXES = frozenset((complex, np.complex128, np.complex64))
REALS = FLOATS | INTS | TRUTHS
NUMBERS = REALS | COMPLEXES
DTYPES = frozenset(map(np.dtype, ("f8", "f4", "c16", "c8", "i8", "i4", "i2", "u1", "?")))


@dataclass(frozen=True)
class Scalar:
    """A number, of one of several classes."""

    classes: frozenset[type]


@dataclass(frozen=True)
class ArrayOf:
    """A NumPy array: its dtype, and the abstract length of each axis."""

    dtype: np.dtype[Any]
    axes: Axes


@dataclass(frozen=True)
class ListOf:
    """A list of any length, and what holds for each item: a number, or a list of numbers."""

    item: "Fact | None"


@dataclass(frozen=True)
class Other:
    """A value of a type that carries no gradient, or a structure, which tells its own parts."""

    type: type


@dataclass(frozen=True)
class KnownByRules(Other):
    """A value that rule sets know as a whole, as a sparse array, and what it tells of itself."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]


Fact = Scalar | ArrayOf | ListOf | Other


def fact_of(sample: Any) -> Fact:
    """Return what holds for all values that are like a sample."""
    kind = type(sample)
    if kind in NUMBERS:
        return Scalar(frozenset((kind,)))
    if kind is np.ndarray and sample.dtype in DTYPES:
        axes = tuple([ONE if n == 1 else MANY for n in sample.shape])
        return ArrayOf(sample.dtype, axes)
    return Other(kind)


def whole_fact(x: Any) -> KnownByRules | None:
    """Return what holds for a value that rule sets know as a whole; `None` for others."""
    if not is_known_by_rule(type(x)):
        return None
    dtype, shape = getattr(x, "dtype", None), getattr(x, "shape", None)
    if not isinstance(dtype, np.dtype) or type(shape) is not tuple:
        return None
    return KnownByRules(type(x), dtype, shape)


def without_lengths(fact: Fact) -> Fact:
    """Return a fact without the lengths of axes."""
    if isinstance(fact, ArrayOf):
        return ArrayOf(fact.dtype, (UNKNOWN,) * len(fact.axes))
    return fact


def join_facts(a: Fact, b: Fact) -> Fact:
    """Return what holds for values of either fact.

    Raises `NotSpecializable` where little would hold.
    """
    if a == b:
        return a
    if isinstance(a, Scalar) and isinstance(b, Scalar):
        return Scalar(a.classes | b.classes)
    if isinstance(a, ArrayOf) and isinstance(b, ArrayOf) and (a.dtype, len(a.axes)) == (
        b.dtype, len(b.axes)
    ):  # fmt: skip
        axes = tuple([x if x == y else UNKNOWN for x, y in zip(a.axes, b.axes, strict=True)])
        return ArrayOf(a.dtype, axes)
    raise NotSupported.DEPENDS_ON_PATH(
        f"a variable is {in_words(a)} after one branch and {in_words(b)} after another"
    )


def in_words(fact: Fact) -> str:
    """Return what a fact tells, as a user would say it."""
    if isinstance(fact, Scalar):
        return " or ".join(sorted([an(kind.__name__) for kind in fact.classes]))
    if isinstance(fact, ArrayOf):
        return f"{an(f'{fact.dtype} array')} of {len(fact.axes)} dimensions"
    return "a list" if isinstance(fact, ListOf) else an(fact.type.__name__)


def dtypes_of(fact: Fact) -> set[np.dtype[Any]]:
    """Return the dtypes that a number or an array may have; of a Python number, that of NumPy."""
    if isinstance(fact, ArrayOf):
        return {fact.dtype}
    return {np.dtype(kind) for kind in fact.classes} if isinstance(fact, Scalar) else set()


def can_carry(fact: Fact) -> bool:
    """Return whether a gradient may pass through values of a fact."""
    if isinstance(fact, Scalar):
        return bool(fact.classes & (FLOATS | COMPLEXES))
    if isinstance(fact, ListOf):
        return fact.item is not None and can_carry(fact.item)
    return isinstance(fact, ArrayOf) and fact.dtype.kind in "fc"


def may_be_complex(fact: Fact) -> bool:
    """Return whether a number, or the entries of an array, may be complex."""
    if isinstance(fact, Scalar):
        return not fact.classes.isdisjoint(COMPLEXES)
    return isinstance(fact, ArrayOf) and fact.dtype.kind == "c"


def is_complex(fact: Fact) -> bool:
    """Return whether a number, or the entries of an array, are complex in every run."""
    return fact.classes <= COMPLEXES if isinstance(fact, Scalar) else may_be_complex(fact)


def shares_axes(a: Fact, b: Fact) -> bool:
    """Return whether arrays of two facts surely have one shape, if they broadcast together."""
    if isinstance(a, Scalar) and isinstance(b, Scalar):
        return True
    if isinstance(a, ArrayOf) and isinstance(b, ArrayOf):
        return a.axes == b.axes and UNKNOWN not in a.axes
    return False


def number_in(fact: Fact | None) -> Fact:
    """Return what holds for the numbers or arrays in a list, and in lists in it."""
    while isinstance(fact, ListOf):
        fact = fact.item
    return Other(type(None)) if fact is None else fact
