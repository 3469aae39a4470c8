"""Traits of functions without Python source: what they write, read, return and call.

Both paths to a gradient read this table. It tells of effects and of memory, and of no derivative.
Each trait of a function is declared once; a function may have several.
"""

import bisect
import cmath
import heapq
import math
import operator
import sys
import types
from collections import deque
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from zygote_lite._ir.intrinsics import (
    build_dict,
    build_set,
    format_value,
    join_dict,
    join_list,
    join_set,
    join_tuple,
    matches_mapping,
    unpack,
)
from zygote_lite._ir.operators import ARITHMETIC, BINARY, COMPARISONS, IN_PLACE


@dataclass(frozen=True, slots=True)
class Traits:
    """The traits of a function.

    Attributes:
        pure: it changes nothing, and gives the same result for the same arguments.
        harmless: it changes nothing, though its result may depend on more than its arguments.
        writes: it changes its first argument.
        elementwise: it works entry by entry, with broadcasting.
        reduces: it takes axes of its first argument together.
        view: its result is a view of its first argument, where that is an array.
        may_be_view: whether it is one depends on the values.
        creates: its result is a new array at each call.
        writes_early: it writes to `out` before it has read all that it is given.
        copies_shape: its result is a new array that has the shape of its first argument.
        never_raises: of Python floats it neither raises nor warns.
        shows_nonfinite: a nan or an infinity in an operand is a nan or an infinity in the result.
        calls: the special methods of user classes that it calls; `None` where it is not known.
        calls_within: whether it calls them of what its operands hold, too.
        overridable: how many operands it has whose class may say what it does.
    """

    pure: bool = False
    harmless: bool = False
    writes: bool = False
    elementwise: bool = False
    reduces: bool = False
    view: bool = False
    may_be_view: bool = False
    creates: bool = False
    writes_early: bool = False
    copies_shape: bool = False
    never_raises: bool = False
    shows_nonfinite: bool = False
    calls: frozenset[str] | None = None
    calls_within: bool = False
    overridable: int = 0


NO_TRAITS = Traits()
TRAITS: dict[Any, Traits] = {}
BY_ID: dict[int, Traits] = {}  # which is quicker, and asks no `__eq__` of the user's


def traits_of(f: Any) -> Traits:
    """Return the traits of a function; most have none."""
    try:
        return TRAITS.get(f, NO_TRAITS)
    except TypeError:  # not hashable
        return NO_TRAITS


def declare(*functions: Any, **traits: Any) -> None:
    """Declare traits of functions; raise `ValueError` where one is declared twice."""
    for f in functions:
        known = traits_of(f)
        if any(getattr(known, name) != getattr(NO_TRAITS, name) for name in traits):
            raise ValueError(f"{f} is declared twice: {', '.join(traits)}")
        BY_ID[id(f)] = TRAITS[f] = replace(known, **traits)


# -- effects -----------------------------------------------------------------------------------

declare(
    len, abs, min, max, sum, float, int, bool, isinstance, issubclass, type, range, tuple, list,
    round, divmod, pow, slice, zip, enumerate, reversed, sorted, any, all, str, callable, dict,
    ord, chr, np.sort, np.partition, np.resize, complex, complex.conjugate,
    pure=True,
)  # fmt: skip
declare(
    format, frozenset, getattr, hasattr, hash, id, iter, map, repr, set, super,
    NotImplementedError, TypeError, ValueError, KeyError, IndexError, AttributeError,
    StopIteration, AssertionError, harmless=True,
)  # fmt: skip
declare(
    operator.setitem, operator.delitem, setattr, delattr, np.copyto, np.ndarray.fill,
    np.ndarray.sort, np.ndarray.__setitem__, list.append, list.extend, list.insert, list.pop,
    list.remove, list.clear, list.sort, list.reverse, list.__setitem__, list.__iadd__, dict.pop,
    dict.update, dict.setdefault, dict.clear, dict.__setitem__, dict.popitem, list.__delitem__,
    set.add, set.discard, set.remove, set.pop, set.clear, set.update, heapq.heapify,
    heapq.heappush, heapq.heappop, heapq.heapreplace, heapq.heappushpop, bisect.insort_left,
    bisect.insort_right, np.place, np.putmask, *IN_PLACE, writes=True,
)  # fmt: skip
_OF_LARGEST = ("heapify_max", "heappop_max", "heapreplace_max", "heappush_max", "heappushpop_max")
for _of_heapq in _OF_LARGEST:  # until Python 3.14 they have an underscore, and some are not there
    for _in_heapq in (getattr(heapq, _of_heapq, None), getattr(heapq, f"_{_of_heapq}", None)):
        if _in_heapq is not None:
            declare(_in_heapq, writes=True)

TEXT_METHODS = {
    "startswith", "endswith", "removeprefix", "removesuffix", "replace", "lower", "upper",
    "split", "partition", "strip", "isdigit", "isupper", "islower", "isidentifier", "isalpha",
    "isalnum", "isnumeric", "isspace", "lstrip", "rstrip", "title", "capitalize", "find",
}  # fmt: skip
"""Methods of texts that are pure."""
HARMLESS_METHODS = TEXT_METHODS - {"partition"} | {
    "items", "keys", "values", "get", "join", "format", "index", "count", "copy", "sum", "all",
    "any", "mean", "max", "min", "tolist", "item", "tobytes", "casefold", "union", "intersection",
    "issubset", "sqrt", "array_equal", "allclose", "isclose", "floor", "ceil", "hypot",
}  # fmt: skip
"""Names of methods that change nothing, whichever built-in class they are of."""
_EFFECTS = {
    "fill", "sort", "put", "itemset", "resize", "partition", "setfield", "setflags", "byteswap",
    "tofile", "dump", "save", "savetxt", "savez", "copyto", "place", "putmask", "fill_diagonal",
    "put_along_axis", "seterr", "setbufsize", "set_printoptions", "shuffle", "seed", "errstate",
    "load", "loadtxt", "fromfile", "genfromtxt", "memmap", "nditer", "apply_along_axis",
    "seterrcall", "savez_compressed", "__init__",
    "vectorize", "frompyfunc", "fromiter", "fromfunction", "apply_over_axes", "piecewise", "empty_",
    "fromregex", "nested_iters", "info", "show_config", "show_runtime", "geterr", "geterrcall",
    "getbufsize", "get_printoptions", "printoptions", "array2string", "array_repr", "array_str",
}  # fmt: skip
"""Names in NumPy of what writes, prints, calls back, or depends on files and settings."""
_CHANGING = ("__i", "__set", "__del", "_set")


def changes_nothing(f: Any) -> bool:
    """Return whether it is declared that calls of a function change nothing."""
    known = BY_ID.get(id(f), NO_TRAITS)
    return known.pure or known.harmless


def module_of(f: Any) -> str:
    """Return the name of the module that a callable is written in.

    By `functools.wraps`, a function or an object of the user has the `__module__` of NumPy.
    """
    f = f.__func__ if isinstance(f, types.MethodType) else f
    if isinstance(f, types.FunctionType):
        return str(f.__globals__.get("__name__"))
    by_class = type(f).__flags__ & HEAPTYPE and not isinstance(f, type)
    return str(getattr(type(f) if by_class else f, "__module__", None))


HEAPTYPE = 1 << 9  # of `Py_TPFLAGS`: a type made at run time, by a `class` statement as a rule


def is_pure(f: Any) -> bool:
    """Return whether a call changes nothing, and gives the same result for the same arguments."""
    name = getattr(f, "__name__", "")
    if type(getattr(f, "__self__", None)) is str:
        return name in TEXT_METHODS
    known = traits_of(f)
    if known.writes:
        return False
    if known.pure or (isinstance(f, np.ufunc) and {*"".join(f.types)} != {*"O->"}):
        return True
    if f is getattr(operator, name, None):
        if name == "call":
            return False
        return not name.startswith("i") or name in ("invert", "is_", "is_not", "index", "inv")
    if f is getattr(math, name, None) or f is getattr(cmath, name, None):
        return True
    owner = getattr(f, "__objclass__", None)
    if owner in (np.ndarray, np.generic) or issubclass(owner or int, np.generic):
        return name not in _EFFECTS and not name.startswith(_CHANGING)
    module = module_of(f)
    if module.split(".")[0] == "numpy" and callable(f):
        return bool(name) and not module.startswith("numpy.random") and name not in _EFFECTS
    return False


# -- arrays ------------------------------------------------------------------------------------

_REALS = [BINARY[name].function for name in ARITHMETIC if name != "matmul"]
_RICH = [of.function for of in COMPARISONS if not of.name.startswith("is")]
declare(
    *_REALS, *_RICH, *(BINARY[name].function for name in ("and", "or", "xor")), operator.neg,
    operator.pos, operator.abs, abs, operator.invert, np.where, elementwise=True,
)  # fmt: skip
declare(
    np.transpose, np.swapaxes, np.reshape, np.ravel, np.broadcast_to, np.expand_dims, np.squeeze,
    np.moveaxis, np.ndarray.reshape, np.ndarray.ravel, np.ndarray.transpose, np.ndarray.swapaxes,
    np.ndarray.squeeze, np.diagonal, np.atleast_1d, np.atleast_2d, np.asarray, np.real, view=True,
)  # fmt: skip
declare(
    np.ascontiguousarray, np.asfortranarray, np.require, np.asanyarray, np.diff, np.nan_to_num,
    np.atleast_3d, np.real_if_close, np.trim_zeros, np.imag, may_be_view=True,
)  # fmt: skip
declare(
    np.sum, np.mean, np.max, np.min, np.prod, np.ndarray.sum, np.ndarray.mean, np.ndarray.max,
    np.ndarray.min, np.ndarray.prod, np.amax, np.amin, np.var, np.std, np.any,
    np.all, np.argmax, np.argmin, reduces=True,
)  # fmt: skip
declare(
    np.zeros_like, np.ones_like, np.empty_like, np.copy, np.ndarray.copy,
    creates=True, copies_shape=True,
)  # fmt: skip
declare(
    np.zeros, np.ones, np.empty, np.full, np.full_like, np.array, np.eye, np.arange, np.linspace,
    np.identity, np.sort, np.partition, creates=True,
)  # fmt: skip
declare(np.concatenate, np.stack, np.ptp, np.choose, writes_early=True)
_SMOOTH = (operator.add, operator.sub, operator.mul, operator.neg)
declare(*_SMOOTH, never_raises=True)
declare(
    *_SMOOTH, operator.matmul, np.matmul, np.ndarray.sum, np.sum, np.ndarray.copy, float,
    np.float64, shows_nonfinite=True,
)  # fmt: skip


def is_elementwise(f: Any) -> bool:
    """Return whether a function works entry by entry, with broadcasting."""
    return (isinstance(f, np.ufunc) and f.signature is None) or traits_of(f).elementwise


# -- methods of user classes that C calls unasked ----------------------------------------------

COMPARING = frozenset(("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"))
ITERATE = frozenset(("__iter__", "__next__", "__len__", "__length_hint__", "__getitem__"))
HASH = frozenset(("__hash__", "__eq__"))
TO_TEXT = frozenset(("__str__", "__repr__", "__format__", "write", "flush"))
_NUMBER = frozenset(("__index__", "__int__", "__float__", "__complex__", "__bool__", "__len__",
                    "__trunc__", "__round__", "__floor__", "__ceil__", "__array__"))  # fmt: skip
_CLASS = frozenset(("__instancecheck__", "__subclasscheck__"))
_ATTRIBUTE = frozenset(("__getattr__", "__getattribute__"))
SPREAD = ITERATE | _NUMBER
"""Methods that NumPy calls to spread a value over an array."""
SPECIAL_METHODS = frozenset((
    *_ATTRIBUTE, *COMPARING, *ITERATE, *HASH, *TO_TEXT, *_NUMBER, *_CLASS,
    "__contains__", "__missing__", "__delitem__", "__delattr__", "__dir__", "__sizeof__",
))  # fmt: skip
"""All that is called unasked."""

declare(
    operator.contains, operator.countOf, operator.indexOf, list.index, list.count, list.remove,
    list.__contains__, tuple.index, tuple.count, tuple.__contains__, deque.index, deque.count,
    deque.remove, deque.__contains__,
    calls=COMPARING | ITERATE | {"__contains__"}, calls_within=True,
)  # fmt: skip
declare(sorted, min, max, list.sort, *_RICH, calls=COMPARING | ITERATE, calls_within=True)
declare(
    set, frozenset, dict, dict.update, set.update, set.union, set.intersection, set.difference,
    set.symmetric_difference, set.intersection_update, set.difference_update,
    set.symmetric_difference_update, set.isdisjoint, set.issubset, set.issuperset,
    frozenset.union, frozenset.intersection, frozenset.difference, frozenset.symmetric_difference,
    frozenset.isdisjoint, frozenset.issubset, frozenset.issuperset, frozenset.__contains__,
    build_set, join_set, join_dict, matches_mapping, calls=HASH | ITERATE, calls_within=True,
)  # fmt: skip
declare(
    hash, build_dict, set.add, set.discard, set.remove, set.__contains__, dict.__contains__,
    dict.get, dict.pop, dict.setdefault, calls=HASH, calls_within=True,
)  # fmt: skip
declare(
    operator.getitem, operator.setitem, dict.__getitem__, dict.__setitem__, list.__getitem__,
    list.__setitem__, list.pop, list.insert, np.ndarray.__getitem__,
    calls=HASH | _CLASS | {"__index__"},
)  # fmt: skip
declare(
    str, repr, ascii, format, print, format_value, operator.mod, str.format, str.format_map,
    str.__mod__, calls=TO_TEXT | {"__getitem__", "__missing__"}, calls_within=True,
)  # fmt: skip
declare(
    int, float, complex, bool, round, range, operator.index, operator.not_, operator.truth,
    math.floor, math.ceil, math.trunc, bin, hex, oct, chr, calls=_NUMBER,
)  # fmt: skip
declare(any, all, filter, calls=_NUMBER | ITERATE, calls_within=True)
declare(list, tuple, str.join, calls=ITERATE)
declare(isinstance, issubclass, calls=_CLASS)
declare(operator.delitem, calls=frozenset(("__delitem__", "__getitem__", "__index__")))
declare(delattr, calls=frozenset(("__delattr__",)))
declare(dir, calls=frozenset(("__dir__",)))
declare(bisect.bisect_left, bisect.bisect_right, calls=frozenset(("__lt__",)), calls_within=True)
declare(hasattr, calls=_ATTRIBUTE)
declare(sys.getsizeof, calls=frozenset(("__sizeof__",)))
declare(
    operator.is_, operator.is_not, id, type, callable, len, vars, sys.getrefcount,
    calls=frozenset(),
)  # fmt: skip

declare(
    operator.add, operator.concat, operator.mul, operator.or_, operator.iadd, operator.getitem,
    operator.setitem, operator.delitem, overridable=2,
)  # fmt: skip
declare(
    list, tuple, dict, dict.update, list.extend, list.__iadd__, unpack, join_list, join_tuple,
    join_dict, overridable=9,
)  # fmt: skip
