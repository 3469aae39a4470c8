"""Decide calls without running the code: identities, classes, lengths and kinds."""

import abc
import enum
import inspect
import math
import operator
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from zygote_lite._specialize.typed.facts import FLOATS, Scalar, is_complex, may_be_complex
from zygote_lite._specialize.typed.functions import is_hashable
from zygote_lite._specialize.typed.reasons import Unsound
from zygote_lite._specialize.typed.stand_ins import Lookup, RowsOfData, StandIn
from zygote_lite._specialize.typed.values import Value, constant

GIVING_NUMPY = (np.ndarray.__array_namespace__, np.generic.__array_namespace__)
"""Methods that return the module NumPy, whichever version of the standard they are asked for."""


def decided(f: Any, xs: list[Value]) -> Value | None:
    """Return the result of a call that has the same one in every run; `None` for other calls."""
    if f in (operator.is_, operator.is_not) and len(xs) == 2:
        return _identity(f, *xs)
    if f in (isinstance, issubclass) and len(xs) == 2 and not _stays_as_it_is(xs[1].sample):
        raise Unsound.CLASS(
            "it asks for instances of a class whose metaclass decides which they are"
        )
    answers: set[Any] = set()
    if f is isinstance and xs[1].is_constant:
        answers = {issubclass(c, xs[1].sample) for c in classes_of(xs[0])}
    elif f is type and len(xs) == 1:
        answers = {*classes_of(xs[0])}
    elif f in _EQUALS and len(xs) == 2 and (_differ_in_length(*xs) or _differ_in_kind(*xs)):
        answers = {f is operator.ne}
    elif f is hasattr and _has_attributes_of_class(*xs):
        answers = {any(xs[1].sample in vars(base) for base in kind.__mro__)
                   for kind in classes_of(xs[0])}  # fmt: skip
    elif f is inspect.getattr_static and len(xs) == 3 and _has_attributes_of_class(*xs[:2]):
        names = {name for k in classes_of(xs[0]) for base in k.__mro__ for name in vars(base)}
        return None if xs[1].sample in names else xs[2]
    elif f is operator.contains and _are_plain_constants(*xs):
        answers = {xs[1].sample in xs[0].sample}
    elif f is operator.contains and type(xs[0].sample) is dict and xs[0].items is not None:
        is_key = xs[1].is_constant and type(xs[1].sample) in (str, int)
        answers = {xs[1].sample in xs[0].sample} if is_key else set()
    elif len(xs) == 1 and is_hashable(f) and f in _BY_TYPE and _BY_TYPE[f](xs[0]):
        answers = {f(xs[0].sample)}
    return constant(answers.pop()) if len(answers) == 1 else None


def _identity(f: Any, a: Value, b: Value) -> Value | None:
    if a.is_object != b.is_object and _is_no_object(b if a.is_object else a):
        return constant(f is operator.is_not)
    if a.is_constant != b.is_constant:
        known, other = (a, b) if a.is_constant else (b, a)
        if known.sample is None and type(other.sample) is not type(None):
            return constant(f is operator.is_not)
        if type(known.sample) is object and not other.is_object:  # one that marks an absence
            return constant(f is operator.is_not)
    if isinstance(a.sample, RowsOfData) or isinstance(b.sample, RowsOfData):
        if a.sample is not None and b.sample is not None:
            raise Unsound.IDENTITY("it asks whether rows of data are the same object")
        return constant(f is operator.is_not)
    asked = {type(a.sample), type(b.sample)}
    if a.is_constant and b.is_constant and asked & {object, type(None)}:
        return constant((a.sample is b.sample) is (f is operator.is_))
    if isinstance(a.sample, Lookup) and isinstance(b.sample, Lookup):
        return constant((a.sample.source is b.sample.source) is (f is operator.is_))
    if a.is_constant and b.is_constant:
        stand_ins = [isinstance(x.sample, StandIn) for x in (a, b)]
        if stand_ins[0] != stand_ins[1] and a.items is None and b.items is None:
            return constant(f is operator.is_not)  # made inside, and the other is not
    if a.fields is not None and b.fields is not None:
        if a is not b and (a.moved or b.moved or isinstance(a.sample, tuple)):
            raise Unsound.IDENTITY(
                "it asks whether an object that may be one of several is the same as another"
            )
        return constant((a is b) is (f is operator.is_))
    if not (a.is_constant and b.is_constant) or a.items is not None or b.items is not None:
        raise Unsound.IDENTITY("it asks whether two values are the same object")
    return None


def _is_no_object(x: Value) -> bool:
    """Return whether a value is a number, an array, a text or nothing: no object of a class."""
    kinds = (str, type(None), types.BuiltinFunctionType, types.FunctionType)
    return x.is_scalar or x.is_array or (x.is_constant and type(x.sample) in kinds)


def _differ_in_length(a: Value, b: Value) -> bool:
    """Return whether two tuples surely have different lengths."""
    tuples = all(
        type(x.sample) is tuple and (x.is_constant or x.items is not None or x.lengths is not None)
        for x in (a, b)
    )
    return tuples and len(a.sample) != len(b.sample)


def _differ_in_kind(a: Value, b: Value) -> bool:
    """Return whether one of two values is a list or the like, and the other a text or a number."""
    kinds = {type(x.sample) if x.items is not None or x.is_constant else None for x in (a, b)}
    return len(kinds & {tuple, list, dict}) == 1 and len(kinds & _PLAIN_TYPES) == 1


def _has_attributes_of_class(x: Value, name: Value) -> bool:
    """Return whether a value has the attributes that its class has, and no others."""
    if not (name.is_constant and type(name.sample) is str):
        return False
    if x.items is not None or x.is_constant:
        kinds = (*_PLAIN_TYPES, tuple, list, dict)
        return type(x.sample) in kinds or isinstance(x.sample, np.dtype)
    return x.is_array or x.is_scalar


def _are_plain_constants(x: Value, *others: Value) -> bool:
    """Return whether a list or tuple holds constant texts and numbers, and so are others."""
    if type(x.sample) not in (tuple, list) or x.items is None:
        return False
    return all(y.is_constant and type(y.sample) in _PLAIN_TYPES for y in (*x.items, *others))


_EQUALS = (operator.eq, operator.ne)
_PLAIN_TYPES = {str, int, float, bool, type(None)}


def _is_of_one_float_type(x: Value) -> bool:
    return isinstance(x.fact, Scalar) and len(x.fact.classes) == 1 and x.fact.classes <= FLOATS


_BY_TYPE: dict[Any, Callable[[Value], bool]] = {
    **dict.fromkeys(
        (np.ndim, np.isscalar), lambda x: x.is_array or x.is_scalar or x.is_known_by_rule
    ),
    **dict.fromkeys(
        (np.iscomplexobj, np.isrealobj),
        lambda x: (
            x.is_known_by_rule
            or ((x.is_array or x.is_scalar) and is_complex(x.fact) == may_be_complex(x.fact))
        ),
    ),
    **dict.fromkeys(
        (np.shape, np.size), lambda x: x.has_no_axes or x.is_scalar or x.is_known_by_rule
    ),
    np.result_type: lambda x: x.is_array or _is_of_one_float_type(x),
    **dict.fromkeys(GIVING_NUMPY, lambda x: x.is_array or _is_of_one_float_type(x)),
    **dict.fromkeys(
        (len, bool, operator.truth, operator.not_),
        lambda x: (
            (x.items is not None and type(x.sample) in (tuple, list, dict))
            or (x.lengths is not None and type(x.sample) is tuple)
        ),
    ),
    **dict.fromkeys((math.isnan, math.isinf), lambda x: x.lengths is not None),
}
"""Functions of one value whose answer its type settles, with a test of what that holds for."""


_WITHOUT_HOOKS = ("rulescore", "numbers", "collections", "numpy")


def _stays_as_it_is(kind: Any) -> bool:
    """Return whether `isinstance` has one answer for a class, while none is registered anew."""
    return all(type(k) in (type, enum.EnumMeta) or is_abstract(k) or is_without_hooks(k)
               for k in kinds_in(kind))  # fmt: skip


def kinds_in(kind: Any) -> list[Any]:
    """Return the classes that `isinstance` is given."""
    parts = kind.__args__ if isinstance(kind, types.UnionType) else kind
    return [k for part in parts for k in kinds_in(part)] if isinstance(parts, tuple) else [parts]


def is_abstract(kind: Any) -> bool:
    """Return whether classes may be registered as subclasses of a class."""
    return type(kind) is abc.ABCMeta


def is_without_hooks(kind: Any) -> bool:
    """Return whether a class is of a module whose abstract classes stay as they are."""
    return str(getattr(kind, "__module__", None)).partition(".")[0] in _WITHOUT_HOOKS


def classes_of(x: Value) -> frozenset[type]:
    """Return the classes that a value may have."""
    if isinstance(x.sample, StandIn):
        raise Unsound.CLASS("it asks for the class of a nested function, or of a method")
    return x.fact.classes if isinstance(x.fact, Scalar) else frozenset((type(x.sample),))


def is_of_numpy(x: Value) -> bool:
    """Return whether a value is surely a number of NumPy's."""
    return isinstance(x.fact, Scalar) and all(issubclass(c, np.generic) for c in x.fact.classes)
