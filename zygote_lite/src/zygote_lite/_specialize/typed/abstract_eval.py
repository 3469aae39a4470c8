"""Abstract evaluation: the abstract value of a result, from those of the arguments.

The function is run on the samples. If the types of the arguments do not determine the type of the
result, the code tests it whenever it runs.
"""

import contextlib
import itertools
import math
import operator
import types
from dataclasses import dataclass
from typing import Any

import numpy as np

from rulescore.faults import an
from zygote_lite._ir.traits import traits_of
from zygote_lite._specialize.typed.facts import (
    COMPLEXES,
    FLOATS,
    INTS,
    NUMBERS,
    REALS,
    ArrayOf,
    Axes,
    Fact,
    Other,
    Scalar,
    fact_of,
    is_complex,
    may_be_complex,
    whole_fact,
    without_lengths,
)
from zygote_lite._specialize.typed.functions import attribute_of
from zygote_lite._specialize.typed.reasons import NotSpecializable, NotSupported, Unsound
from zygote_lite._specialize.typed.shape_rules import axes_of_result, is_basic, lengths_of_result
from zygote_lite._specialize.typed.values import FOLDED, Value, constant
from zygote_lite.caches import cached_by_kind


@dataclass
class Result:
    """The abstract value of a result: `certain` if in every run, `view` of which argument it is."""

    fact: Fact
    sample: Any
    certain: bool = True
    view: int | None = None
    lengths: Axes | None = None


def result_of(f: Any, xs: list[Value], kws: dict[str, Value]) -> Result:
    """Return what holds for `f(*xs, **kws)`.

    Raises `NotSpecializable` where that fails on the samples.
    """
    sample = tried(f, xs, kws)
    fact = fact_of(sample)
    if type(fact) is Other and any(x.is_known_by_rule for x in xs):
        fact = _of_whole(f, xs, kws, sample)
    if type(fact) is Other and isinstance(sample, np.ndarray | complex | np.complexfloating):
        raise NotSupported.VALUE_TYPE(f"a value is {_described(sample)}")
    if xs and not kws and not isinstance(fact, ArrayOf) and all(x.is_scalar for x in xs):
        return _of_scalars(f, xs, sample, fact)
    lengths = lengths_of_result(f, xs)
    if isinstance(fact, Other):
        settled = f is not operator.getitem or lengths is not None
        return Result(fact, sample, certain=settled, lengths=lengths)
    if f is math.prod and lengths is not None:
        return Result(fact, sample, lengths=lengths)
    axes = axes_of_result(f, xs, kws, np.ndim(sample))
    if axes is None:
        result = Result(without_lengths(fact), sample, certain=False)
    elif isinstance(fact, ArrayOf):
        result = Result(ArrayOf(fact.dtype, axes), sample, _settles_dtype(f, [*xs, *kws.values()]))
    else:
        result = Result(fact, sample, lengths=lengths)
    if isinstance(fact, ArrayOf) and xs and xs[0].is_array:
        is_view = is_basic(xs[1]) if f is operator.getitem else traits_of(f).view
        result.view = 0 if is_view else None
    return result


def _of_whole(f: Any, xs: list[Value], kws: dict[str, Value], sample: Any) -> Fact:
    """Return what holds for what is made of a value that rule sets know as a whole.

    Raises `NotSpecializable` where the types of the operands do not settle it.
    """
    fact = whole_fact(sample)
    if fact is None:
        return fact_of(sample)
    settled = (x.is_known_by_rule or (
        isinstance(x.fact, Scalar) and len(x.fact.classes) == 1) for x in xs)  # fmt: skip
    if kws or f not in _KEEPING or not all(settled):
        raise NotSupported.VALUE_TYPE(f"it makes {an(type(sample).__name__)}")
    return fact


_KEEPING = (operator.mul, operator.truediv, operator.neg, operator.add, operator.sub,
            attribute_of("T"))  # fmt: skip


def _settles_dtype(f: Any, xs: list[Value]) -> bool:
    """Return whether operands settle the dtype of an array, numbers of several classes too."""
    if any(isinstance(x.sample, type | np.dtype) and not x.is_constant for x in xs):
        return False
    several = any(isinstance(x.fact, Scalar) and len(x.fact.classes) > 1 for x in xs)
    if not several or f in _OF_FIRST_DTYPE:
        return True
    arrays = [x.fact for x in xs[f is np.where :] if isinstance(x.fact, ArrayOf)]
    if any(may_be_complex(x.fact) and not is_complex(x.fact) for x in xs):
        return any(fact.dtype == np.complex128 for fact in arrays)
    return any(fact.dtype in (np.float64, np.complex128) for fact in arrays)


_OF_FIRST_DTYPE = (operator.getitem, np.reshape, np.ndarray.reshape)


def may_share(f: Any, kws: dict[str, Value]) -> bool:
    """Return whether it depends on the values whether a result shares memory with an argument."""
    copies = kws.get("copy")
    asked = copies is not None and not (copies.is_constant and copies.sample is True)
    return traits_of(f).may_be_view or asked


def shares_memory(a: np.ndarray, b: np.ndarray) -> bool:
    """Return whether two samples may share memory; of empty ones that is not seen."""
    return np.may_share_memory(a, b) or not (a.size and b.size)


def may_hold(x: Any, array: np.ndarray) -> bool:
    """Return whether a sample may keep a view of an array inside."""
    if type(x) in (tuple, list):
        return any(may_hold(part, array) for part in x)
    if isinstance(x, np.ndarray):
        return shares_memory(x, array)
    return not isinstance(
        x, int | float | complex | str | np.generic | np.dtype | type | slice | range | None
    )


_PROBED = FLOATS | INTS | COMPLEXES


def tried(f: Any, xs: list[Value], kws: dict[str, Value]) -> Any:
    """Run a function on the samples of its arguments.

    On a path that is not taken now, these may be numbers for which it is not defined: then
    others of their type will do. A matrix that a loop fills may be singular before its last
    iteration: then one will do that is not.
    """
    given = [x.sample for x in xs]
    options = {name: x.sample for name, x in kws.items()}
    try:
        return run(f, given, options)
    except NotSpecializable as reason:
        regular = [_regular(x) for x in xs]
        if isinstance(reason.__cause__, np.linalg.LinAlgError) and _are_others(regular, given):
            return run(f, regular, options)
        filled = [_with_entries(x) for x in xs[:1]] + given[1:]
        if f is operator.getitem and _are_others(filled, given):
            return run(f, filled, {})
        if f in _DIVISIONS and not kws and _is_division_by_zero(*xs):
            reason.always(ZeroDivisionError)
            raise
        for probe in (0.75, 1.5):
            other = [
                type(x.sample)(probe)
                if not x.is_constant and type(x.sample) in _PROBED
                else x.sample
                for x in xs
            ]
            if isinstance(f, types.BuiltinFunctionType) and other != given and not kws:
                try:
                    return run(f, other, {})
                except NotSpecializable:
                    continue
        if not kws:
            refuse_types(f, xs)
        raise


def _regular(x: Value) -> Any:
    """Return a sample for a square matrix that is positive definite; of others, their own."""
    if x.sample is None or not x.is_array or x.is_constant:  # of what may be `None`, it may be that
        return x.sample
    is_square = len({*x.sample.shape[-2:]}) == 1
    if not is_square or x.sample.ndim < _OF_MATRIX or x.sample.dtype.kind not in "fc":
        return x.sample
    n = np.arange(1, 1 + x.sample.shape[-1])
    matrix = np.eye(len(n)) + 0.1 / (n + n[:, None])
    return np.broadcast_to(matrix, x.sample.shape).astype(x.sample.dtype)


def _with_entries(x: Value) -> Any:
    """Return a sample with entries for an array that has none; of others, their own."""
    if x.sample is None or not x.is_array or x.is_constant or x.sample.size:
        return x.sample
    return np.ones([max(n, _SOME_ENTRIES) for n in x.sample.shape], x.sample.dtype)


_OF_MATRIX = 2  # axes
_SOME_ENTRIES = 16  # entries along an axis


def _are_others(xs: list[Any], others: list[Any]) -> bool:
    return any(x is not y for x, y in zip(xs, others, strict=True))


_DIVISIONS = (operator.truediv, operator.floordiv, operator.mod)


def _is_division_by_zero(x: Value, y: Value) -> bool:
    """Return whether a number of Python's own is divided by one that is always zero."""
    plain = all(isinstance(v.fact, Scalar) and v.fact.classes <= {float, int, bool} for v in (x, y))
    return plain and y.is_constant and y.sample == 0


def refuse_types(f: Any, xs: list[Value]) -> None:
    """Refuse a call of numbers of known types, and constants, that raises a `TypeError` for them.

    Other errors may come of the values, and those of arrays of their shape.
    """
    is_operator = f is getattr(operator, getattr(f, "__name__", ""), None)
    if len(xs) > 1 and not is_operator and not isinstance(f, np.ufunc):
        return  # the value of one operand may be refused before the type of another
    if not all(map(_has_one_type, xs)):
        return
    try:
        run(f, [x.sample for x in xs], {})
    except NotSpecializable as reason:
        if isinstance(reason.__cause__, TypeError):
            reason.always(TypeError)
            raise


def _has_one_type(x: Value) -> bool:
    """Return whether a value is a number of one type, or a plain constant."""
    if x.is_constant:
        return isinstance(x.sample, FOLDED)
    return isinstance(x.fact, Scalar) and len(x.fact.classes) == 1


def known_result(f: Any, xs: list[Value], kws: dict[str, Value]) -> Value | None:
    """Return the value of a call of constants; nothing where it may warn, or has none as text."""
    given = [x.sample for x in xs]
    try:
        answer = run(f, given, {name: x.sample for name, x in kws.items()}, errors="raise")
    except NotSpecializable as reason:
        if isinstance(reason.__cause__, FloatingPointError):
            return None
        if isinstance(reason.__cause__, Exception):
            reason.always(type(reason.__cause__))
        raise
    return constant(answer) if isinstance(answer, FOLDED) else None


def run(f: Any, xs: list[Any], kws: dict[str, Any], errors: Any = "ignore") -> Any:
    """Run a function on samples, quietly: the filters of warnings belong to all threads."""
    try:
        with np.errstate(all=errors):
            given = {name: sealed(x) for name, x in kws.items()}
            return f(*map(sealed, xs), **given)
    except Exception as error:
        name = getattr(f, "__name__", f)
        raise Unsound.RAISES(f"{name} fails: {type(error).__name__}: {error}") from error


def sealed(x: Any) -> Any:
    """Return a sample that cannot be written to: trying code out must change nothing."""
    if type(x) is np.ndarray:
        x = x.view()
        x.flags.writeable = False
    elif type(x) in (tuple, list):
        x = type(x)(map(sealed, x))
    elif type(x) is dict:
        x = {key: sealed(part) for key, part in x.items()}
    return x


def _described(sample: Any) -> str:
    if isinstance(sample, np.ndarray):
        return f"an array of {sample.ndim} dimensions and dtype {sample.dtype}"
    return an(type(sample).__name__)


_PROBES: dict[type, tuple[Any, ...]] = {
    float: (-1.5, 2.5), int: (-2, 3), bool: (True, False),
    np.float64: (np.float64(-1.5), np.float64(2.5)), np.float32: (np.float32(-1.5),),
    np.int64: (np.int64(-2), np.int64(3)), np.bool_: (np.True_, np.False_),
    **{kind: (kind(-1.5 + 0.5j), kind(2.5 - 1.25j)) for kind in COMPLEXES},
}  # fmt: skip


def _of_scalars(f: Any, xs: list[Value], sample: Any, fact: Fact) -> Result:
    """Return the classes that a function of numbers may return, by trying it out."""
    choices: list[Any] = []
    for x in xs:
        if isinstance(x.fact, Scalar):
            choices.append((type(x.sample), x.sample) if x.is_constant else x.fact.classes)
    found = _tried_out(f, tuple(choices)) | {type(sample)}
    one_kind = found <= COMPLEXES or not found & COMPLEXES
    one_kind = one_kind or any(may_be_complex(x.fact) for x in xs)
    if isinstance(fact, Scalar) and found <= NUMBERS and one_kind:
        return Result(Scalar(frozenset(found)), sample)
    real = found - COMPLEXES
    if isinstance(fact, Scalar) and fact.classes <= real <= REALS:  # it is left where one is not
        return Result(Scalar(frozenset(real)), sample, certain=False)
    return Result(fact, sample, certain=isinstance(fact, Other) and len(found) == 1)


@cached_by_kind(1024)
def _tried_out(f: Any, choices: tuple[Any, ...]) -> frozenset[type]:
    """Return the classes of the values of a function, of constants and of numbers of classes."""
    probes = [
        [p for kind in choice for p in _PROBES.get(kind, (kind(2),))]
        if isinstance(choice, frozenset)
        else choice[1:]
        for choice in choices
    ]
    found = set()
    for given in itertools.islice(itertools.product(*probes), 256):
        with contextlib.suppress(NotSpecializable):
            found.add(type(run(f, [*given], {})))
    return frozenset(found)


def mark_made(f: Any, value: Value) -> None:
    """Note that an array comes from a function that returns a new one each time."""
    value.made = bool(value.is_array and value.fresh and traits_of(f).creates)
