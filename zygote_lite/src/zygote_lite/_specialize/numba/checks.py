"""Which specialized code qualifies for Numba, and replacements for operations that differ there.

Numba's numbers are not Python's: its integers wrap, its `math` returns infinities, and it guesses
types that it cannot infer. So code is compiled only if each of its operations is listed here. An
operation that differs is replaced by one of `arithmetic`, which leaves the code if Python would do
something else; then the tape answers.
"""

import operator

import numpy as np

from rulescore.faults import an
from zygote_lite._ir.names import name_of
from zygote_lite._specialize.numba import arithmetic as _machine
from zygote_lite._specialize.numba.arithmetic import FLOAT, INTEGER, MIXED, TRUTH
from zygote_lite._specialize.typed.facts import ArrayOf, Scalar
from zygote_lite._specialize.typed.functions import Attribute, is_hashable
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
from zygote_lite._specialize.typed.runtime import UNSET, abandon, has_length, has_value, same_shape
from zygote_lite._specialize.typed.values import Value, constant

_FLOATS = frozenset((float, np.float64))
_INTEGER_TYPES = frozenset((int, np.int64, np.intp))
_TRUTHS = frozenset((bool, np.bool_))


def kind_of_number(x: Value) -> str:
    """Return what a number is to Numba: a float, an integer, either of the two, or a truth.

    Raises `NotSpecializable` for values that are not numbers, and for numbers of other widths.
    """
    if x.sample is UNSET:
        raise Unsound.UNSET("a variable may have no value")
    if x.items is not None or not isinstance(x.fact, Scalar):
        raise NotSupported.COMPILED_VALUE(
            f"it has {an(type(x.sample).__name__)} where compiled code needs a number"
        )
    classes = x.fact.classes
    if classes <= _TRUTHS:
        return TRUTH
    if not classes <= _FLOATS | _INTEGER_TYPES:
        names = ", ".join(sorted(c.__name__ for c in classes))
        raise NotSupported.COMPILED_VALUE(f"a number is one of {names}")
    if x.is_constant and type(x.sample) is int and abs(x.sample) > _machine.LARGEST:
        raise Unsound.COMPILED_NUMBER("an integer is too large for 64 bits")
    if classes <= _FLOATS:
        return FLOAT
    return INTEGER if classes <= _INTEGER_TYPES else MIXED


_MADE = {np.zeros, np.ones, np.empty, np.zeros_like, np.ones_like, np.empty_like, np.copy,
         np.ndarray.copy}  # fmt: skip
_DONE_AS_THEY_ARE = (abandon, has_length, same_shape, len, range)


def prepare(nodes: list[Node]) -> None:
    """Replace operations by those that Numba runs as Python does.

    Raises `NotSpecializable`, with the reason, where there is one that does not qualify.
    """
    for node in walk(nodes):
        match node:
            case Op():
                _prepare(node)
            case StoreItem(_, array, index, value):
                refuse_other_arrays(array)
                _refuse_other_index(index)
                kind_of_number(value)
            case AddInto():
                _check_sum(node)
            case Moves(_, pairs):
                node.pairs = [(x, _or_zero(y, x)) for x, y in pairs]
                for x in [x for pair in node.pairs for x in pair]:
                    _check_operand(x)
            case Branch(_, test):
                kind_of_number(test)
            case Loop(_, target, iterable):
                if iterable is not None and type(iterable.sample) is not range:
                    raise NotSupported.COMPILED_VALUE(
                        "a loop iterates over something other than a range"
                    )
                if target is not None:
                    kind_of_number(target)
            case Record(_, loop):
                for x in loop.record:
                    if type(x.sample) is not list:
                        _check_operand(x)


def _or_zero(source: Value, target: Value) -> Value:
    """Return a zero for no value yet, where a number comes later and nobody reads before."""
    if not source.is_constant or source.sample is not None:
        return source
    zeros = {FLOAT: 0.0, INTEGER: 0, TRUTH: False}
    kind = "" if target.is_array else kind_of_number(target)
    if kind not in zeros:
        raise Unsound.UNSET("a variable may have no value")
    return constant(zeros[kind])


def _prepare(op: Op) -> None:
    f, xs = op.function, op.arguments
    if f in _DONE_AS_THEY_ARE:
        return
    if f is has_value:
        raise Unsound.UNSET("a variable may have no value")
    if isinstance(f, Attribute):
        if f.name not in ("shape", "size", "T"):
            raise NotSupported.COMPILED_CALL(f"it reads the attribute {f.name} of an array")
        refuse_other_arrays(xs[0])
        return
    name = name_of(f)
    if op.keywords or not is_hashable(f):
        raise NotSupported.COMPILED_CALL(f"it calls {name} with keywords, or as an object")
    if f is operator.getitem:
        _prepare_item(op)
    elif f in _MADE:
        refuse_other_arrays(op.target)
    elif any(x.is_array for x in xs):
        raise NotSupported.COMPILED_CALL(f"it calls {name} with whole arrays: NumPy is as fast")
    elif f not in _machine.COMPILED or len(xs) > 2:
        raise NotSupported.COMPILED_CALL(f"compiled code has no {name}")
    else:
        kinds, kind = {kind_of_number(x) for x in xs}, kind_of_number(op.target)
        if kind == INTEGER and len(xs) == 2 and kinds & {FLOAT, MIXED}:
            kind = MIXED
        compiled = _machine.COMPILED[f]
        if kind not in compiled or (f in _machine.SIGNS and TRUTH in kinds):
            raise Unsound.COMPILED_NUMBER(f"compiled code has no {name} for these types of numbers")
        op.function = compiled[kind]


def _prepare_item(op: Op) -> None:
    x, index = op.arguments
    if type(x.sample) is tuple:
        kind_of_number(op.target)
        return
    if not x.is_array:
        raise NotSupported.COMPILED_CALL(f"it takes an item of {an(type(x.sample).__name__)}")
    _refuse_other_index(index)
    if op.target.is_array:
        refuse_other_arrays(op.target)
    elif kind_of_number(op.target) == INTEGER:
        op.function = _machine.whole_entry


def _refuse_other_index(index: Value) -> None:
    """Refuse an index that is more than integers and slices of integers."""
    for part in index.items if type(index.sample) is tuple and index.items else [index]:
        ends = [part]
        if isinstance(part.sample, slice):
            ends = [x for x in leaves(part) if not _is_known_end(x)]
        if any(kind_of_number(end) != INTEGER for end in ends):
            raise NotSupported.COMPILED_VALUE("an index is not an integer, nor a slice of integers")


def _is_known_end(x: Value) -> bool:
    """Return whether the end of a slice is left out, or the slice is a constant."""
    return x.is_constant and isinstance(x.sample, slice | None)


def refuse_other_arrays(x: Value) -> None:
    """Refuse arrays of numbers that Numba is not given, and new arrays of other than floats."""
    fact = x.fact
    if not isinstance(fact, ArrayOf) or fact.dtype.char not in "dlq?":
        raise NotSupported.COMPILED_VALUE(
            f"it has an array of {(fact.dtype if isinstance(fact, ArrayOf) else fact)}"
        )
    if x.has_no_axes:
        raise NotSupported.COMPILED_VALUE("it has a zero-dimensional array")
    if x.made and fact.dtype.char != "d":
        raise NotSupported.COMPILED_VALUE(f"it makes an array of {fact.dtype}")


def _check_operand(x: Value) -> None:
    if x.is_array:
        refuse_other_arrays(x)
    else:
        kind_of_number(x)


def _check_sum(node: AddInto) -> None:
    if node.repeats:
        raise Unsound.REPEATED_INDEX("it adds to entries of an array that an index may name twice")
    for x in (node.target, node.value):
        if x.is_array:
            refuse_other_arrays(x)
        elif kind_of_number(x) not in (FLOAT, MIXED):
            raise NotSupported.COMPILED_VALUE("a gradient is not a float")
    if node.index is not None:
        _refuse_other_index(node.index)
