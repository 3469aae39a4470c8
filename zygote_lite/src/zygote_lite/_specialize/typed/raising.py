"""Which errors operations may raise, of those that programs catch.

Only these are named by the handlers of transformed code: what leaves it on purpose passes them.
"""

import math
import operator
import weakref
from collections.abc import MutableMapping
from typing import Any

import numpy as np

from zygote_lite._ir.intrinsics import format_value, join_text
from zygote_lite._ir.traits import traits_of
from zygote_lite._specialize.typed.effects import (
    flush_of_stream,
    logged,
    logged_by_root,
    printed,
    put_on_stream,
    set_at_the_end,
    set_item_at_the_end,
)
from zygote_lite._specialize.typed.facts import TRUTHS, Scalar, may_be_complex
from zygote_lite._specialize.typed.functions import Attribute, is_hashable
from zygote_lite._specialize.typed.nodes import Op, StoreItem
from zygote_lite._specialize.typed.runtime import (
    abandon,
    finite,
    has_key,
    has_length,
    has_value,
    is_bound,
    is_view,
    same_shape,
    throw,
)
from zygote_lite._specialize.typed.values import Value

Kinds = tuple[type[BaseException], ...]
_FOR_THE_TAPE = (
    abandon, finite, has_key, has_length, is_view, same_shape, set_at_the_end, flush_of_stream,
    set_item_at_the_end,
    put_on_stream, printed, logged, logged_by_root, format_value, join_text,
)  # fmt: skip
EVERY: Kinds = (ArithmeticError, ValueError, LookupError, Warning)
_OF_DIVISION: Kinds = (ZeroDivisionError, OverflowError)
_OWN_NUMBERS = {float, int, bool}
_SAFE = (
    operator.neg, operator.pos, abs, operator.abs, operator.not_, operator.truth, bool, operator.lt,
    operator.le, operator.gt, operator.ge, operator.eq, operator.ne, operator.is_, operator.is_not,
    min, max,
)  # fmt: skip
_BY_FUNCTION: dict[Any, Kinds] = {
    **dict.fromkeys(_SAFE, ()),
    **dict.fromkeys((operator.truediv, operator.floordiv, operator.mod, divmod), _OF_DIVISION),
    **dict.fromkeys((operator.pow, pow), _OF_DIVISION),
    **dict.fromkeys((math.sin, math.cos, math.tan, math.sqrt, math.log2, math.log10, math.log1p,
                     math.asin, math.acos, math.atanh), (ValueError,)),
    math.log: (ValueError, ZeroDivisionError),
    **dict.fromkeys((math.exp, math.expm1, math.sinh, math.cosh), (OverflowError,)),
    **dict.fromkeys((math.tanh, math.atan, math.erf, math.erfc, math.asinh, math.fabs), ()),
    float: (OverflowError,),
}  # fmt: skip


_stand_ins: MutableMapping[Any, type[BaseException]] = weakref.WeakKeyDictionary()


def stand_in_for(kind: type[BaseException]) -> type[BaseException]:
    """Return the class that stands for a class of errors in the text.

    It is another one where handlers would catch the error by which code is left on purpose.
    """
    if not issubclass(RuntimeError, kind):
        return kind
    made = type(f"Raised{kind.__name__}", (BaseException,), {})
    return _stand_ins.setdefault(kind, made)


def raised_by(op: Op) -> Kinds:
    """Return the classes of errors that an operation may raise, as far as programs catch them."""
    f = op.function
    if f is np.copy or f in _FOR_THE_TAPE or isinstance(f, Attribute) or op.snapshot_of is not None:
        return ()
    if f in (has_value, is_bound):
        return (UnboundLocalError,)
    if f is throw:
        x = op.arguments[0]
        return (x.sample,) if x.is_constant else tuple(x.sample)
    xs = [*op.arguments, *op.keywords.values()]
    if not all(isinstance(x.fact, Scalar) for x in xs):
        return _of_arrays(f, xs)
    if any(may_be_complex(x.fact) for x in xs):
        return EVERY
    more = () if all(map(_is_own_number, xs)) else (FloatingPointError, Warning)
    return (*_of_numbers(f, xs), *more)


def _of_numbers(f: Any, xs: list[Value]) -> Kinds:
    if traits_of(f).never_raises:
        return (
            () if all(map(_is_exact, xs)) or not any(map(_may_be_float, xs)) else (OverflowError,)
        )
    known = _BY_FUNCTION.get(f, EVERY) if is_hashable(f) else EVERY
    if f is operator.truediv and all(map(_is_exact, xs)):
        return () if xs[1].is_constant and xs[1].sample else (ZeroDivisionError,)
    return known


def raised_by_store(node: StoreItem) -> Kinds:
    """Return the classes of errors that `x[i] = y` may raise."""
    index = node.index.items or [node.index]
    single = node.value.is_scalar and all(x.is_scalar for x in index)
    return (IndexError,) if single else EVERY


def _of_arrays(f: Any, xs: list[Value]) -> Kinds:
    if f is operator.getitem:
        index = xs[1].items or [xs[1]]
        known = not xs[0].is_array or all(isinstance(x.sample, slice) for x in index)
        return () if known and xs[1].is_constant else (IndexError,)
    numbers = [x for x in xs if x.is_array or x.is_scalar]
    if not is_hashable(f) or len(numbers) < len(xs):
        return EVERY
    if traits_of(f).elementwise and any(x.is_array for x in xs):
        return (FloatingPointError, ValueError, Warning)
    return (FloatingPointError, Warning) if traits_of(f).reduces and len(xs) == 1 else EVERY


def may_raise(op: Op, kind: type[BaseException]) -> bool:
    """Return whether an operation may raise an error of a class that NumPy or a program defines."""
    given = [x.sample for x in op.arguments[:1] if x.is_constant]  # of a rule, the function
    within = [getattr(f, "__module__", None) or "" for f in (op.function, *given)]
    return kind.__module__ in within


def _is_own_number(x: Value) -> bool:
    """Return whether a value is a number of Python's own."""
    return isinstance(x.fact, Scalar) and x.fact.classes <= _OWN_NUMBERS


def _may_be_float(x: Value) -> bool:
    return isinstance(x.fact, Scalar) and float in x.fact.classes


def _is_exact(x: Value) -> bool:
    """Return whether a number is a float, or an integer that is one, too."""
    if x.is_constant:
        return type(x.sample) is float or abs(x.sample) < 2**53
    return isinstance(x.fact, Scalar) and x.fact.classes <= {float} | TRUTHS
