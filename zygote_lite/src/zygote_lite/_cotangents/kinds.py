"""The kinds of values: whether a value is identified by its value or address, and its entries.

Numbers, arrays, tuples and functions are identified by their value; lists, dicts, sets and
objects by their address.
"""

import collections
import contextlib
import datetime
import enum
import functools
import gc
import random
import re
import threading
import types
import typing
from collections.abc import Iterable, Iterator
from numbers import Number
from typing import Any, TypeVar

import numpy as np

from rulescore import Array, Tangent, goes_by_value, when_changed
from zygote_lite._ir.traits import HEAPTYPE
from zygote_lite.caches import empty_with_garbage

OfType = TypeVar("OfType")
INERT, VALUE, FUNCTION, TUPLE, LIST, DICT, SET, OBJECT = range(8)
_INERT_TYPES = (
    type(None), bool, np.bool_, str, bytes, bytearray, type, types.ModuleType, range, slice,
    type(...), type(NotImplemented), np.dtype, np.random.Generator, re.Pattern, re.Match,
    datetime.date, datetime.timedelta, np.datetime64, np.timedelta64, types.CodeType,
    types.GenericAlias, enum.Enum,
)  # fmt: skip
_GENERATORS = (random.Random, random.SystemRandom, np.random.RandomState)
_FUNCTION_TYPES = (
    types.FunctionType, types.BuiltinFunctionType, types.MethodType, np.ufunc,
    types.MethodWrapperType, types.MethodDescriptorType, types.WrapperDescriptorType,
)  # fmt: skip
_IMMUTABLE = 1 << 8  # of `Py_TPFLAGS`: types in C
_kinds: dict[type, int] = {}
_whole_types: dict[type, bool] = {}
_MOST_KINDS = 2048  # classes may be made anew in each call, and what is remembered keeps them
empty_with_garbage(_kinds)
empty_with_garbage(_whole_types)
when_changed(_kinds.clear)
when_changed(_whole_types.clear)
_local: Any = threading.local()


def kind_of(x: Any) -> int:
    """Return how a value is identified: one of the kinds above, by its type alone."""
    try:
        return _kinds[type(x)]
    except KeyError:
        return _remembered(_kinds, type(x), kind_of_type(type(x)))


def is_opaque(x: Any) -> bool:
    """Return whether a value is an object written in C, such as an iterator, and no number."""
    return kind_of(x) == VALUE and not isinstance(x, Number | np.generic | np.ndarray)


def carries_nothing(x: Any) -> bool:
    """Return whether a value is inert, or data; of a slice, whether its bounds are integers."""
    if type(x) is slice:
        return all(isinstance(b, int | np.integer | None) for b in (x.start, x.stop, x.step))
    kind = kind_of(x)
    return kind == INERT or (kind == OBJECT and is_data(type(x)))


def _remembered(known: dict[type, OfType], t: type, found: OfType) -> OfType:
    """Remember what was found of a type, and return it."""
    if len(known) >= _MOST_KINDS:
        known.clear()
    known[t] = found
    return found


def kind_of_type(t: type) -> int:
    """Return how values of a type are identified (see `kind_of`, which remembers it)."""
    if issubclass(t, _INERT_TYPES) or t in _GENERATORS:
        return INERT
    if is_known_by_rule(t):
        return VALUE
    if issubclass(t, int | float | complex | np.generic | Array):
        return VALUE
    if issubclass(t, tuple):
        return TUPLE
    if issubclass(t, _FUNCTION_TYPES):
        return FUNCTION
    if issubclass(t, list | collections.deque):
        return LIST
    if issubclass(t, dict):
        return DICT
    if issubclass(t, set | frozenset):
        return SET
    known = (types.CellType, functools.partial, type(_local))
    if t.__dictoffset__ == 0 and not is_written_in_python(t) and t not in known:
        return VALUE  # of a type written in C: nothing in it can be told apart
    return OBJECT


def is_known_by_rule(t: type) -> bool:
    """Return whether a rule set says what the cotangents of values of a type are."""
    try:
        return _whole_types[t]
    except KeyError:
        return _remembered(_whole_types, t, goes_by_value(t))


_foreign: dict[type, bool] = {}
empty_with_garbage(_foreign)


def is_foreign(t: type) -> bool:
    """Return whether a class is one of arrays, and not of NumPy's."""
    try:
        return _foreign[t]
    except KeyError:
        found = issubclass(t, Array) and not issubclass(t, np.ndarray)
        return _remembered(_foreign, t, found)


def has_rows(t: type) -> bool:
    """Return whether a class is one of arrays with rules of another library, as JAX's are."""
    return is_known_by_rule(t) and hasattr(t, "__array__") and not issubclass(t, Array)


def is_converted(t: type) -> bool:
    """Return whether NumPy's functions make arrays of NumPy of those of such a class.

    Of a tensor of PyTorch some make a tensor again.
    """
    return has_rows(t) and not hasattr(t, "__array_wrap__")


def is_of_pandas(t: type) -> bool:
    """Return whether a class is the `Series` or the `DataFrame` of pandas, without importing it."""
    return t.__name__ in ("Series", "DataFrame") and is_data(t)


def is_data(t: type) -> bool:
    """Return whether a class is one of pandas' own: what has gradients may hold such, as data."""
    return str(t.__module__).partition(".")[0] == "pandas"


def is_written_in_python(t: type) -> bool:
    """Return whether a class was made by a `class` statement; some of those in C look like it."""
    if not t.__flags__ & HEAPTYPE or t.__flags__ & _IMMUTABLE:
        return False
    if t is typing.Generic:  # in C from Python 3.12 on, without methods of its own
        return True
    return t.__dictoffset__ != 0 or any("__slots__" in vars(base) for base in t.__mro__)


def has_fields_in_c(t: type) -> bool:
    """Return whether a class of Python's derives from one in C, whose fields no name tells."""
    bases = t.__mro__[1:-1]
    return is_written_in_python(t) and not all(map(is_written_in_python, bases))


def is_merged_by_methods(x: Any) -> bool:
    """Return whether C asks a dict of a user class for its entries by `keys` and `__getitem__`.

    That is where its class does not walk over the keys as `dict` does, such as an `OrderedDict`.
    """
    kind: Any = type(x)
    asked = (kind.keys, kind.__getitem__)
    in_python = any(isinstance(f, types.FunctionType) for f in asked)
    return in_python and kind.__iter__ is not dict.__iter__


def entries_of(x: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the entries of a container as (index, key or field; value)."""
    kind = kind_of(x)
    if kind in (LIST, TUPLE):
        yield from enumerate(x if type(x) in OF_PYTHON else type_in_c(x).__iter__(x))
    elif kind == DICT:
        yield from x.items() if type(x) in OF_PYTHON else type_in_c(x).items(x)
    elif isinstance(x, types.CellType):
        with contextlib.suppress(ValueError):  # not assigned yet
            yield "cell_contents", x.cell_contents
    elif isinstance(x, functools.partial):
        yield from (("func", x.func), ("args", x.args), ("keywords", x.keywords))
    elif kind == OBJECT:
        if isinstance(x, BaseException):
            yield "args", x.args
        yield from (dict_of(x) or {}).items()
        for name in slot_names(type(x)):
            with contextlib.suppress(AttributeError):
                yield name, object.__getattribute__(x, name)


def address_of(x: Any) -> int:
    """Return the identity of what holds the entries of `x`: that of an object is its `__dict__`."""
    if kind_of(x) == OBJECT:
        fields = dict_of(x)
        return id(fields) if type(fields) is dict else id(x)
    return id(x)


def own_fields(x: Any) -> Any:
    """Return the `__dict__` that holds the attributes of an object as a dict holds its items.

    It is `None` where there is none, and for an object with slots beside it.
    """
    kind = kind_of(x)
    if not (TUPLE <= kind <= SET or (kind == OBJECT and not slot_names(type(x)))):
        return None
    fields = dict_of(x)
    return fields if type(fields) is dict else None


def dict_of(x: Any) -> Any:
    """Return the `__dict__` of an object, whatever its class makes of it, or `None`.

    That of a `Tangent` holds its fields: it is the cotangent of an object, and is one.
    """
    try:
        if type(x) is Tangent:
            return object.__getattribute__(x, "_fields")
        return object.__getattribute__(x, "__dict__")
    except AttributeError:
        return None


OF_PYTHON = {list, tuple, dict, set, frozenset}
_BASES = (list, tuple, collections.deque, collections.OrderedDict, dict, set, frozenset)


def type_in_c(x: Any) -> Any:
    """Return the type of Python's own that a container is of, whatever the user's class overrides.

    The engine's own access to a container must not call methods of the user.
    """
    return next(base for base in _BASES if isinstance(x, base))


_slots: dict[type, tuple[str, ...]] = {}
empty_with_garbage(_slots)


def slot_names(t: type) -> tuple[str, ...]:
    """Return the names of the attributes of a class that are not in a `__dict__`."""
    try:
        return _slots[t]
    except KeyError:
        names = [
            name
            for base in (() if t is Tangent else t.__mro__)
            for name, member in vars(base).items()
            if isinstance(member, types.MemberDescriptorType)
            and name != "__dict__"
            # such as the `__vectorcalloffset__` of functions made by Cython
            and ("__slots__" in vars(base) or not name.startswith("__"))
        ]
        return _remembered(_slots, t, tuple(names))


def shown_by_proxy(x: types.MappingProxyType[Any, Any]) -> Any:
    """Return the mapping that a read-only view of one shows."""
    return gc.get_referents(x)[0]


DIFFERENTIATED_BY_TYPE: dict[type, Any] = {}
"""What calls of the engine's own objects do inside a function that is differentiated."""


def own_derivative(f: Any) -> Any:
    """Return what a function of the engine says of its derivative; nothing is asked of others."""
    how = DIFFERENTIATED_BY_TYPE.get(type(f))
    if how is not None:
        return f, functools.partial(how, f)
    return (dict_of(f) or {}).get("__differentiates__")


def differentiated_by(f: types.FunctionType) -> Any:
    """Return `f` of `grad(f)` and its kin, whose other captured variables are the engine's."""
    return f.__dict__.get("__wrapped__") if "__differentiates__" in f.__dict__ else None


def held_by(f: Any) -> list[Any]:
    """Return what a function holds: the cells of captured variables, or its bound object."""
    if isinstance(f, types.FunctionType):
        differentiated = differentiated_by(f)
        return [*(f.__closure__ or ())] if differentiated is None else [differentiated]
    owner = getattr(f, "__self__", None)
    return [] if owner is None else [owner]


def within(*roots: Any, with_data: bool = True) -> Iterator[Any]:
    """Yield values and all that they hold; what holds something once.

    Arguments:
        roots: the values.
        with_data: whether data of pandas are among what they hold.
    """
    given = () if with_data else [*map(id, roots)]
    seen: set[int] = set()
    stack = [*roots]
    while stack:
        x = stack.pop()
        kind = kind_of(x)
        if kind >= FUNCTION:
            if id(x) in seen:
                continue
            seen.add(id(x))
            if kind == OBJECT and not with_data and is_data(type(x)) and id(x) not in given:
                continue
            stack += held_by(x) if kind == FUNCTION else [value for _, value in entries_of(x)]
            if TUPLE <= kind <= SET and type(x) not in OF_PYTHON and own_fields(x):
                stack.append(own_fields(x))
        elif type(x) is types.MappingProxyType:
            stack.append(shown_by_proxy(x))
        yield x


def owner_of(x: Any) -> Any:
    """Return the array whose memory `x` is a view of, or `x` itself."""
    while True:
        base = x.base
        if isinstance(base, memoryview):
            base = base.obj
        if not isinstance(base, np.ndarray):
            base = getattr(base, "base", None)  # `as_strided` puts an object in between
            if not isinstance(base, np.ndarray):
                return x
        x = base


def buffer_of(owner: Any) -> Any:
    """Return the object whose memory an array shares that does not own it."""
    return owner.base.obj if isinstance(owner.base, memoryview) else owner.base


def tuple_like(x: Any, entries: Iterable[Any]) -> Any:
    """Return a tuple, of the class of `x` where that is a named tuple."""
    # not by calling the class: its `__new__` may take something else
    return tuple.__new__(type(x), entries) if hasattr(x, "_make") else tuple(entries)


def cotangent_like(x: Any, entries: dict[Any, Any]) -> Any:
    """Return a cotangent of the form of `x`, a structure or a cotangent of one."""
    kind = kind_of(x)
    if kind == DICT:
        return entries
    if kind == LIST:
        return list(entries.values())
    if kind == TUPLE:
        return tuple_like(x, entries.values())
    primal = x._primal if type(x) is Tangent else type(x)
    return Tangent(primal, **{str(name): d for name, d in entries.items()})
