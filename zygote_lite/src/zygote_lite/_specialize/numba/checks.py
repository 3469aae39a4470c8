"""Which specialized code qualifies for Numba, and replacements for operations that differ there.

Numba's numbers are not Python's: its integers wrap, its `math` returns infinities, and it guesses
types that it cannot infer. So code is compiled only if each of its operations is listed here. An
operation that differs is replaced by one of `arithmetic`, which leaves the code if Python would do
something else; then the tape answers.
"""

import math
import operator
from typing import Any

import numpy as np

from zygote_lite._specialize.numba import arithmetic as _machine
from zygote_lite._specialize.typed.attributes import Attribute
from zygote_lite._specialize.typed.nodes import (
    AddInto,
    Branch,
    Loop,
    Moves,
    Node,
    Op,
    Record,
    StoreItem,
    leaves,
    walk,
)
from zygote_lite._specialize.typed.reasons import NotSupported, Unsound
from zygote_lite._specialize.typed.runtime import UNSET, abandon, has_value, same_shape
from zygote_lite._specialize.typed.values import ArrayOf, Scalar, Value, constant

_FLOATS = frozenset((float, np.float64))
_INTEGER_TYPES = frozenset((int, np.int64, np.intp))
_TRUTHS = frozenset((bool, np.bool_))
FLOAT, WHOLE, MIXED, TRUTH = "float", "whole", "mixed", "truth"


def kind_of_number(x: Value) -> str:
    """Return what a number is to Numba: a float, an integer, either of the two, or a truth.

    Raises `NotSpecializable` for values that are not numbers, and for numbers of other widths.
    """
    if x.sample is UNSET:
        raise Unsound.UNSET("a variable may have no value")
    if x.items is not None or not isinstance(x.fact, Scalar):
        raise NotSupported.COMPILED_VALUE(
            f"it has a {type(x.sample).__name__} where a number is needed"
        )
    classes = x.fact.classes
    if classes <= _TRUTHS:
        return TRUTH
    if not classes <= _FLOATS | _INTEGER_TYPES:
        names = ", ".join(sorted(c.__name__ for c in classes))
        raise NotSupported.COMPILED_VALUE(f"a number is one of {names}")
    if x.is_constant and type(x.sample) is int and abs(x.sample) > _machine.LARGEST:
        raise Unsound.COMPILED_NUMBER("an integer is too large")
    if classes <= _FLOATS:
        return FLOAT
    return WHOLE if classes <= _INTEGER_TYPES else MIXED


_PLAIN = {
    float, np.float64, bool, math.isfinite, math.isnan, math.isinf, operator.not_, operator.truediv,
    operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne,
}  # fmt: skip
_SIGNS = {operator.neg, operator.pos, operator.abs, abs}
# functions of floats, which are left where Python might raise
COSTLY = {
    math.acos, math.acosh, math.asin, math.asinh, math.atan, math.atan2, math.atanh, math.copysign,
    math.cos, math.cosh, math.degrees, math.erf, math.erfc, math.exp, math.expm1, math.fabs,
    math.gamma, math.hypot, math.lgamma, math.log, math.log10, math.log1p, math.log2,
    math.pow, math.radians, math.sin, math.sinh, math.sqrt, math.tan, math.tanh,
    np.sin, np.cos, np.tan, np.arcsin, np.arccos, np.arctan, np.arctan2, np.sinh, np.cosh, np.tanh,
    np.exp, np.exp2, np.expm1, np.log, np.log2, np.log10, np.log1p, np.sqrt, np.square, np.absolute,
    np.fabs, np.maximum, np.minimum, np.negative, np.add, np.subtract, np.multiply, np.divide,
    np.hypot, np.sign,
}  # fmt: skip
_MADE = {np.zeros, np.ones, np.empty, np.zeros_like, np.ones_like, np.empty_like, np.copy,
         np.ndarray.copy}  # fmt: skip
_COMPILED_INSTEAD = {math.fmod: np.fmod}  # Numba does not know the first
_BITS = {operator.and_, operator.or_, operator.xor}


def prepare(nodes: list[Node]) -> None:
    """Replace operations by those that Numba runs as Python does.

    Raises `NotSpecializable`, with the reason, where there is one that does not qualify.
    """
    for node in walk(nodes):
        if isinstance(node, Op):
            _prepare(node)
        elif isinstance(node, StoreItem):
            refuse_other_arrays(node.array)
            _refuse_other_index(node.index)
            kind_of_number(node.value)
        elif isinstance(node, AddInto):
            _check_sum(node)
        elif isinstance(node, Moves):
            node.pairs = [(x, _nothing_like(x) if _is_nothing(y) else y) for x, y in node.pairs]
            for pair in node.pairs:
                for x in pair:
                    _check_operand(x)
        elif isinstance(node, Branch):
            kind_of_number(node.test)
        elif isinstance(node, Loop):
            if node.iterable is not None and type(node.iterable.sample) is not range:
                raise NotSupported.COMPILED_VALUE(
                    "a loop walks over something that is not a range or an array"
                )
            if node.target is not None:
                kind_of_number(node.target)
        elif isinstance(node, Record):
            for x in node.loop.record:
                if type(x.sample) is not list:
                    _check_operand(x)


def _is_nothing(x: Value) -> bool:
    return x.is_constant and x.sample is None


def _nothing_like(x: Value) -> Value:
    """Return what stands for no value yet, where a number comes later and nobody reads before."""
    zeros = {FLOAT: 0.0, WHOLE: 0, TRUTH: False}
    kind = "" if x.is_array else kind_of_number(x)
    if kind not in zeros:
        raise Unsound.UNSET("a variable may have no value")
    return constant(zeros[kind])


def _prepare(op: Op) -> None:
    f, xs = op.function, op.arguments
    if f in (abandon, same_shape):
        return
    if f is has_value:
        raise Unsound.UNSET("a variable may have no value")
    if isinstance(f, Attribute):
        if f.name not in ("shape", "size", "T"):
            raise NotSupported.COMPILED_CALL(f"it reads the attribute {f.name} of an array")
        refuse_other_arrays(xs[0])
        return
    name = getattr(f, "__name__", type(f).__name__)
    if f is operator.getitem:
        _prepare_item(op)
    elif f is len or f is range:
        pass
    elif f in _MADE:
        if op.keywords:
            raise NotSupported.COMPILED_CALL(f"it calls np.{name} with keywords")
        refuse_other_arrays(op.target)
    elif op.keywords:
        raise NotSupported.COMPILED_CALL(f"it calls {name} with keywords")
    elif any(x.is_array for x in xs):
        raise NotSupported.COMPILED_CALL(
            f"whole arrays are given to {described_for_users(f)}, which is left to NumPy"
        )
    elif f in _machine.MACHINE_ARITHMETIC:
        _prepare_arithmetic(op)
    elif f in (max, min):
        if len(xs) != 2:
            raise NotSupported.COMPILED_CALL(f"it calls {name} with other than two numbers")
        _operand_kinds(op)
        op.function = _machine.greatest if f is max else _machine.least
    elif f in _machine.ROUNDED:
        _operand_kinds(op)
        if f is not int or kind_of_number(xs[0]) not in (WHOLE, TRUTH):
            op.function = _machine.ROUNDED[f]
    elif f in _BITS:
        if {TRUTH} != {kind_of_number(x) for x in (*xs, op.target)}:
            raise Unsound.COMPILED_NUMBER("it takes bits of integers")
    elif f in _SIGNS:
        if TRUTH in _operand_kinds(op):
            raise Unsound.COMPILED_NUMBER(f"it takes the {name} of a truth value")
        if f is operator.abs:
            op.function = abs
    elif f in _PLAIN:
        _operand_kinds(op)
    elif f in COSTLY or f in _COMPILED_INSTEAD:
        _operand_kinds(op)
        if kind_of_number(op.target) != FLOAT:
            raise Unsound.COMPILED_NUMBER(f"it calls {described_for_users(f)} with integers")
        if len(xs) > 2:
            raise NotSupported.COMPILED_CALL(
                f"it calls {described_for_users(f)} with more than two numbers"
            )
        op.function = _machine.checked(_COMPILED_INSTEAD.get(f, f), len(xs))
    else:
        raise NotSupported.COMPILED_CALL(f"{described_for_users(f)} is not among what is compiled")


def _operand_kinds(op: Op) -> list[str]:
    """Return the kinds of the operands, which are all numbers, as is the result."""
    kind_of_number(op.target)
    return [kind_of_number(x) for x in op.arguments]


def _prepare_arithmetic(op: Op) -> None:
    kinds = _operand_kinds(op)
    result = kind_of_number(op.target)
    if result == TRUTH:
        raise Unsound.COMPILED_NUMBER("it does arithmetic with truth values")
    table = _machine.MACHINE_ARITHMETIC[op.function]
    if result == FLOAT:
        if table.of_floats is not None:
            op.function = table.of_floats
    elif result == WHOLE and MIXED not in kinds and FLOAT not in kinds:
        op.function = table.of_whole
    elif table.of_mixed is not None:
        op.function = table.of_mixed
    else:
        raise Unsound.COMPILED_NUMBER(f"{op.function.__name__} gives an integer or a float")


def _prepare_item(op: Op) -> None:
    x, index = op.arguments
    if type(x.sample) is tuple:
        kind_of_number(op.target)
        return
    if not x.is_array:
        raise NotSupported.COMPILED_CALL(f"it takes an item of a {type(x.sample).__name__}")
    _refuse_other_index(index)
    if op.target.is_array:
        refuse_other_arrays(op.target)
    elif kind_of_number(op.target) == WHOLE:
        op.function = _machine.whole_entry


def _refuse_other_index(index: Value) -> None:
    """Refuse an index that is more than integers and slices of integers."""
    parts = index.items if type(index.sample) is tuple and index.items else [index]
    for part in parts:
        if isinstance(part.sample, slice):
            for end in leaves(part):
                known = end.sample if isinstance(end.sample, slice) else None
                if end.is_constant and (end.sample is None or known is not None):
                    continue
                if kind_of_number(end) != WHOLE:
                    raise NotSupported.COMPILED_VALUE("the ends of a slice are not integers")
        elif kind_of_number(part) != WHOLE:
            raise NotSupported.COMPILED_VALUE("an index is not an integer")


def refuse_other_arrays(x: Value) -> None:
    """Refuse arrays of numbers that Numba is not given, and new arrays of other than floats."""
    fact = x.fact
    if not isinstance(fact, ArrayOf) or fact.dtype.char not in "dlq?":
        raise NotSupported.COMPILED_VALUE(
            f"it has an array of {(fact.dtype if isinstance(fact, ArrayOf) else fact)}"
        )
    if x.made and fact.dtype.char != "d":
        raise NotSupported.COMPILED_VALUE(f"it makes an array of {fact.dtype}")


def _check_operand(x: Value) -> None:
    if x.is_array:
        refuse_other_arrays(x)
    else:
        kind_of_number(x)


def _check_sum(node: AddInto) -> None:
    if node.repeats:
        raise Unsound.REPEATED_INDEX("it adds to entries that an index may name twice")
    for x in (node.target, node.value):
        if x.is_array:
            refuse_other_arrays(x)
        elif kind_of_number(x) not in (FLOAT, MIXED):
            raise NotSupported.COMPILED_VALUE("a cotangent is not a float")
    if node.index is not None:
        _refuse_other_index(node.index)


def described_for_users(f: Any) -> str:
    """Return the name of a function, in words that a user knows."""
    name = getattr(f, "__name__", type(f).__name__)
    module = getattr(f, "__module__", None)
    if isinstance(f, np.ufunc) or (isinstance(module, str) and module.startswith("numpy")):
        return f"np.{name}"
    return f"{module}.{name}" if module == "math" else name
