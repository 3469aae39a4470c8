"""Abstract evaluation: the abstract value of a result, from those of the arguments.

The function is run on the samples. If the types of the arguments do not determine the type of the
result, the code tests it whenever it runs.
"""

import abc
import contextlib
import enum
import functools
import itertools
import math
import operator
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from zygote_lite._ir.traits import traits_of
from zygote_lite._specialize.typed.facts import (
    COMPLEXES,
    FLOATS,
    INTS,
    NUMBERS,
    ArrayOf,
    Axes,
    Fact,
    Other,
    Scalar,
    fact_of,
    is_complex,
    may_be_complex,
    without_lengths,
)
from zygote_lite._specialize.typed.functions import is_hashable
from zygote_lite._specialize.typed.reasons import NotSpecializable, NotSupported, Unsound
from zygote_lite._specialize.typed.shape_rules import axes_of_result, is_basic, lengths_of_result
from zygote_lite._specialize.typed.stand_ins import Lookup, StandIn
from zygote_lite._specialize.typed.values import FOLDED, Value, constant


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
    others of their type will do.
    """
    given = [x.sample for x in xs]
    try:
        return run(f, given, {name: x.sample for name, x in kws.items()})
    except NotSpecializable as reason:
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
        raise Unsound.RAISES(
            f"{name} fails on the samples: {type(error).__name__}: {error}"
        ) from error


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
        return f"an array of {sample.ndim} axes and dtype {sample.dtype}"
    return type(sample).__name__


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
    return Result(fact, sample, certain=isinstance(fact, Other) and len(found) == 1)


@functools.cache
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


# -- what is known without running the code ----------------------------------------------------


def decided(f: Any, xs: list[Value]) -> Value | None:
    """Return the result of a call that has the same one in every run; `None` for other calls."""
    if f in (operator.is_, operator.is_not) and len(xs) == 2:
        return _identity(f, *xs)
    if f in (isinstance, issubclass) and len(xs) == 2 and not _stays_as_it_is(xs[1].sample):
        raise Unsound.CLASS("the metaclass of a class decides which objects are its instances")
    answers: set[Any] = set()
    if f is isinstance and xs[1].is_constant:
        answers = {issubclass(c, xs[1].sample) for c in classes_of(xs[0])}
    elif f is type and len(xs) == 1:
        answers = {*classes_of(xs[0])}
    elif f in (operator.eq, operator.ne) and len(xs) == 2 and _differ_in_length(*xs):
        answers = {f is operator.ne}
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
    if a.is_constant and b.is_constant and object in (type(a.sample), type(b.sample)):
        return constant((a.sample is b.sample) is (f is operator.is_))
    if isinstance(a.sample, Lookup) and isinstance(b.sample, Lookup):
        return constant((a.sample.source is b.sample.source) is (f is operator.is_))
    if a.is_constant and b.is_constant:
        stand_ins = [isinstance(x.sample, StandIn) for x in (a, b)]
        if stand_ins[0] != stand_ins[1] and a.items is None and b.items is None:
            return constant(f is operator.is_not)  # made inside, and the other is not
    if a.fields is not None and b.fields is not None:
        if a is not b and (a.moved or b.moved or isinstance(a.sample, tuple)):
            raise Unsound.IDENTITY("it asks whether an object is one that stands for several")
        return constant((a is b) is (f is operator.is_))
    if not (a.is_constant and b.is_constant) or a.items is not None or b.items is not None:
        raise Unsound.IDENTITY("it asks whether two values are one object")
    return None


def _is_no_object(x: Value) -> bool:
    """Return whether a value is a number, an array, a text or nothing: no object of a class."""
    return x.is_scalar or x.is_array or (x.is_constant and type(x.sample) in (str, type(None)))


def _differ_in_length(a: Value, b: Value) -> bool:
    """Return whether two tuples surely have different lengths."""
    tuples = all(
        type(x.sample) is tuple and (x.is_constant or x.items is not None or x.lengths is not None)
        for x in (a, b)
    )
    return tuples and len(a.sample) != len(b.sample)


def _is_of_one_float_type(x: Value) -> bool:
    return isinstance(x.fact, Scalar) and len(x.fact.classes) == 1 and x.fact.classes <= FLOATS


_BY_TYPE: dict[Any, Callable[[Value], bool]] = {
    **dict.fromkeys((np.ndim, np.isscalar), lambda x: x.is_array or x.is_scalar),
    **dict.fromkeys(
        (np.iscomplexobj, np.isrealobj),
        lambda x: (x.is_array or x.is_scalar) and is_complex(x.fact) == may_be_complex(x.fact),
    ),
    **dict.fromkeys((np.shape, np.size), lambda x: x.has_no_axes or x.is_scalar),
    np.result_type: lambda x: x.is_array or _is_of_one_float_type(x),
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
        raise Unsound.CLASS(
            "it asks for the class of a function that is defined inside, or of a method"
        )
    return x.fact.classes if isinstance(x.fact, Scalar) else frozenset((type(x.sample),))


def is_of_numpy(x: Value) -> bool:
    """Return whether a value is surely a number of NumPy's."""
    return isinstance(x.fact, Scalar) and all(issubclass(c, np.generic) for c in x.fact.classes)


def mark_made(f: Any, value: Value) -> None:
    """Note that an array comes from a function that returns a new one each time."""
    value.made = bool(value.is_array and value.fresh and traits_of(f).creates)
