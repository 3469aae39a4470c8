"""Abstract evaluation: the abstract value of a result, from those of the arguments.

The function is run on the samples. If the types of the arguments do not determine the type of the
result, the code tests it whenever it runs.
"""

import contextlib
import functools
import itertools
import operator
import types
from dataclasses import dataclass
from typing import Any

import numpy as np

from zygote_lite._ir.traits import is_elementwise, traits_of
from zygote_lite._specialize.typed.reasons import NotSpecializable, NotSupported, Unsound
from zygote_lite._specialize.typed.values import (
    FLOATS,
    MANY,
    NUMBERS,
    ONE,
    UNKNOWN,
    ArrayOf,
    Fact,
    Local,
    Method,
    Other,
    Scalar,
    Value,
    fact_of,
    vague,
)


@dataclass
class Result:
    """The abstract value of a result: `certain` if in every run, `view` of which argument it is."""

    fact: Fact
    sample: Any
    certain: bool = True
    view: int | None = None


def result_of(f: Any, xs: list[Value], kws: dict[str, Value]) -> Result:
    """Return what holds for `f(*xs, **kws)`.

    Raises `NotSpecializable` where that fails on the samples.
    """
    result = _result_of(f, xs, kws)
    if result.certain and isinstance(result.fact, ArrayOf) and result.view is None:
        result.certain = _settle_dtype(f, [x.fact for x in (*xs, *kws.values())])
    return result


def _settle_dtype(f: Any, facts: list[Fact]) -> bool:
    """Return whether operands settle the dtype of an array, numbers of several classes too."""
    several = any(isinstance(fact, Scalar) and len(fact.classes) > 1 for fact in facts)
    if not several or f is operator.getitem:
        return True
    arrays = [fact for fact in facts[f is np.where :] if isinstance(fact, ArrayOf)]
    return any(fact.dtype == np.float64 for fact in arrays)


def _result_of(f: Any, xs: list[Value], kws: dict[str, Value]) -> Result:
    sample = tried(f, xs, kws)
    fact = fact_of(sample)
    if type(fact) is Other and isinstance(sample, np.ndarray | complex | np.complexfloating):
        raise NotSupported.VALUE_TYPE(f"a value is {_described(sample)}")
    if f in (np.zeros, np.ones, np.empty, range, len, np.arange) and not kws:
        known = xs[0].items is not None or isinstance(xs[0].fact, Scalar) or xs[0].is_constant
        if isinstance(fact, ArrayOf):
            lengths = xs[:1] if xs[0].items is None else xs[0].items
            if f is np.arange and len(xs) > 1:
                fact = vague(fact)
            elif type(xs[0].sample) is not tuple or xs[0].items is not None:
                fact = ArrayOf(fact.dtype, tuple([n.axis for n in lengths]))
            else:
                fact = vague(fact)
        return Result(fact, sample, certain=known or f is len)
    if not kws and xs and all(isinstance(x.fact, Scalar) for x in xs):
        return _of_scalars(f, xs, sample, fact)
    if isinstance(fact, ArrayOf) and f in (np.broadcast_to, np.full) and not kws:
        like = xs[1 if f is np.broadcast_to else 0].like
        if like is not None:
            return Result(ArrayOf(fact.dtype, like.axes), sample)
    if is_elementwise(f) and not kws and isinstance(fact, ArrayOf):
        return Result(ArrayOf(fact.dtype, _broadcast(xs)), sample)
    if f is operator.getitem:
        return _of_getitem(xs, sample, fact)
    if f in (operator.matmul, np.matmul, np.dot) and isinstance(fact, ArrayOf):
        a, b = [x.fact.axes if isinstance(x.fact, ArrayOf) else () for x in xs]
        if len(a) <= 2 and len(b) <= 2 and a and b:
            return Result(ArrayOf(fact.dtype, a[:-1] + (b[-1:] if len(b) > 1 else ())), sample)
    if traits_of(f).reduces and all(x.is_constant for x in (*xs[1:], *kws.values())):
        return _of_reduction(xs, kws, sample, fact)
    if traits_of(f).copies_shape and not kws and len(xs) == 1:
        return Result(xs[0].fact if isinstance(fact, ArrayOf) else fact, sample)
    if f in (np.reshape, np.ndarray.reshape) and isinstance(fact, ArrayOf):
        if len(xs) == 2 and xs[1].like is not None:
            return Result(ArrayOf(fact.dtype, xs[1].like.axes), sample, view=0)
        given = xs[1:] if len(xs) > 2 or isinstance(xs[1].sample, int) else (xs[1].items or [])
        if xs[1].is_constant and type(xs[1].sample) is tuple:
            counts = [*xs[1].sample]
        else:
            counts = [x.sample if x.is_constant else -1 for x in given]
        if len(counts) == sample.ndim and -1 not in counts:
            axes = tuple([ONE if n == 1 else MANY for n in counts])
            return Result(ArrayOf(fact.dtype, axes), sample, view=0)
    if f in (np.transpose, np.ndarray.transpose) and len(xs) == 1 and not kws:
        return of_attribute(xs[0], "T") if xs[0].is_array else Result(fact, sample)
    view = 0 if traits_of(f).view else None
    if not (isinstance(fact, ArrayOf) and xs and xs[0].is_array):
        view = None
    return Result(vague(fact), sample, certain=isinstance(fact, Other), view=view)


def may_share(f: Any, kws: dict[str, Value]) -> bool:
    """Return whether it depends on the values whether a result shares memory with an argument."""
    return traits_of(f).may_be_view or "copy" in kws


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
        x, int | float | str | np.generic | np.dtype | type | slice | range | None
    )


def of_attribute(x: Value, name: str) -> Result:
    """Return what holds for an attribute of an array."""
    sample = getattr(x.sample, name)
    fact = fact_of(sample)
    if name in ("T", "mT") and isinstance(x.fact, ArrayOf) and isinstance(fact, ArrayOf):
        axes = x.fact.axes
        axes = axes[::-1] if name == "T" else (*axes[:-2], axes[-1], axes[-2])
        return Result(ArrayOf(fact.dtype, axes), sample, view=0)
    if name in ("shape", "size", "ndim", "dtype"):
        return Result(fact, sample)
    raise NotSupported.ATTRIBUTE(f"it reads the attribute {name} of an array")


def tried(f: Any, xs: list[Value], kws: dict[str, Value]) -> Any:
    """Run a function on the samples of its arguments.

    On a path that is not taken now, these may be numbers for which it is not defined: then
    others of their type will do.
    """
    given = [x.sample for x in xs]
    try:
        return run(f, given, {name: x.sample for name, x in kws.items()})
    except NotSpecializable:
        for probe in (0.75, 1.5):
            other = [
                x.sample if x.is_constant or type(x.sample) not in FLOATS else type(x.sample)(probe)
                for x in xs
            ]
            if isinstance(f, types.BuiltinFunctionType) and other != given and not kws:
                try:
                    return run(f, other, {})
                except NotSpecializable:
                    continue
        raise


def run(f: Any, xs: list[Any], kws: dict[str, Any]) -> Any:
    """Run a function on samples, quietly: the filters of warnings belong to all threads."""
    try:
        with np.errstate(all="ignore"):
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
}  # fmt: skip


def _of_scalars(f: Any, xs: list[Value], sample: Any, fact: Fact) -> Result:
    """Return the classes that a function of numbers may return, by trying it out."""
    choices: list[Any] = []
    for x in xs:
        if isinstance(x.fact, Scalar):
            choices.append((type(x.sample), x.sample) if x.is_constant else x.fact.classes)
    found = _tried_out(f, tuple(choices)) | {type(sample)}
    if isinstance(fact, Scalar) and found <= NUMBERS:
        return Result(Scalar(frozenset(found)), sample)
    return Result(fact, sample, certain=False)


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


def _broadcast(xs: list[Value]) -> tuple[str, ...]:
    shapes = [x.fact.axes for x in xs if isinstance(x.fact, ArrayOf)]
    rank = max(map(len, shapes))
    padded = [(ONE,) * (rank - len(shape)) + shape for shape in shapes]
    axes = []
    for column in zip(*padded, strict=True):
        if MANY in column:
            axes.append(MANY)
        else:
            axes.append(ONE if all(axis == ONE for axis in column) else UNKNOWN)
    return tuple(axes)


def _of_getitem(xs: list[Value], sample: Any, fact: Fact) -> Result:
    x, index = xs
    if not isinstance(x.fact, ArrayOf):
        lengths = type(x.sample) is tuple and all(type(n) is int for n in x.sample)
        return Result(fact, sample, certain=lengths and type(sample) is int)
    parts = index.items if index.items is not None and type(index.sample) is tuple else [index]
    if any(_is_boolean(part) for part in parts):
        return Result(vague(fact), sample, certain=len(parts) == 1)
    axes: list[str] = []
    given = [*x.fact.axes]
    basic = True
    for i, part in enumerate(parts):
        kind = type(part.sample)
        if part.sample is None and part.is_constant:
            axes.append(ONE)
        elif part.sample is ... and part.is_constant:
            rest = sum(p.sample is not None for p in parts[i + 1 :])
            keep = len(given) - rest
            axes += given[:keep]
            given = given[keep:]
        elif kind is slice:
            whole = part.is_constant and part.sample == slice(None)
            axes.append(given.pop(0) if whole else UNKNOWN)
            given = given[1:] if not whole else given
        elif isinstance(part.fact, Scalar) and isinstance(part.sample, int | np.integer):
            given = given[1:]
        else:
            basic = False
    if not basic:
        arrays = [part for part in parts if isinstance(part.fact, ArrayOf)]
        if isinstance(fact, ArrayOf) and len(arrays) == len(parts) and UNKNOWN not in x.fact.axes:
            untouched = x.fact.axes[len(parts) :]
            return Result(ArrayOf(fact.dtype, (*_broadcast(arrays), *untouched)), sample)
        return Result(vague(fact), sample, certain=True)
    if isinstance(fact, ArrayOf):
        return Result(ArrayOf(fact.dtype, (*axes, *given)), sample, view=0)
    return Result(fact, sample)


def _is_boolean(x: Value) -> bool:
    if isinstance(x.fact, ArrayOf):
        return x.fact.dtype.kind == "b"
    return isinstance(x.sample, bool | np.bool_ | list)


def _of_reduction(xs: list[Value], kws: dict[str, Value], sample: Any, fact: Fact) -> Result:
    if not isinstance(fact, ArrayOf):
        return Result(fact, sample)
    if not isinstance(xs[0].fact, ArrayOf):
        return Result(vague(fact), sample, certain=False)
    axis = kws["axis"].sample if "axis" in kws else xs[1].sample if len(xs) > 1 else None
    keep = kws["keepdims"].sample if "keepdims" in kws else False
    before = xs[0].fact.axes
    if axis is None:
        gone = {*range(len(before))}
    else:
        gone = {a % len(before) for a in (axis if isinstance(axis, tuple) else (axis,))}
    axes = [ONE if i in gone else a for i, a in enumerate(before) if keep or i not in gone]
    return Result(ArrayOf(fact.dtype, tuple(axes)), sample)


# -- what is known without running the code ----------------------------------------------------


def decided(f: Any, xs: list[Value]) -> tuple[bool, Any]:
    """Return whether a call has the same result in every run, and that result."""
    x = xs[0] if xs else None
    if f in (operator.is_, operator.is_not) and len(xs) == 2:
        a, b = xs
        if a.is_constant != b.is_constant:
            known, other = (a, b) if a.is_constant else (b, a)
            if known.sample is None and type(other.sample) is not type(None):
                return True, f is operator.is_not
        if not (a.is_constant and b.is_constant) or a.items is not None or b.items is not None:
            raise Unsound.IDENTITY("it asks whether two values are one object")
        return False, None
    if x is None:
        return False, None
    if f in (isinstance, issubclass) and len(xs) == 2 and not _stays_as_it_is(xs[1].sample):
        raise Unsound.CLASS("the metaclass of a class decides which objects are its instances")
    if f is isinstance and xs[1].is_constant:
        answers = {issubclass(c, xs[1].sample) for c in _classes_of(x)}
        return len(answers) == 1, answers.pop()
    if f is type and len(xs) == 1:
        classes = _classes_of(x)
        return len(classes) == 1, next(iter(classes))
    if f is np.ndim and isinstance(x.fact, Scalar | ArrayOf):
        return True, np.ndim(x.sample)
    if f is np.shape and isinstance(x.fact, Scalar):
        return True, ()
    if f in (np.iscomplexobj, np.isrealobj) and isinstance(x.fact, Scalar | ArrayOf):
        return True, f(x.sample)
    if f is len and x.items is not None and type(x.sample) in (tuple, list, dict):
        return True, len(x.items) // (2 if type(x.sample) is dict else 1)
    if f is operator.contains and type(x.sample) is dict and x.items is not None:
        is_key = xs[1].is_constant and type(xs[1].sample) in (str, int)
        return is_key, is_key and xs[1].sample in x.sample
    if f is np.result_type and len(xs) == 1 and isinstance(x.fact, ArrayOf):
        return True, x.fact.dtype
    if f is np.result_type and len(xs) == 1 and isinstance(x.fact, Scalar):
        return len(x.fact.classes) == 1 and x.fact.classes <= FLOATS, np.result_type(x.sample)
    return False, None


def _stays_as_it_is(kind: Any) -> bool:
    """Return whether `isinstance` has the same answer in every run, for numbers and arrays."""
    if isinstance(kind, tuple):
        return all(map(_stays_as_it_is, kind))
    if isinstance(kind, types.UnionType):
        return all(map(_stays_as_it_is, kind.__args__))
    within = str(getattr(kind, "__module__", None)).partition(".")[0]
    return type(kind) is type or within in ("rulescore", "numbers", "collections")


def _classes_of(x: Value) -> frozenset[type]:
    if isinstance(x.sample, Local | Method):
        raise Unsound.CLASS(
            "it asks for the class of a function that is defined inside, or of a method"
        )
    return x.fact.classes if isinstance(x.fact, Scalar) else frozenset((type(x.sample),))


def is_hashable(f: Any) -> bool:
    try:
        hash(f)
    except TypeError:
        return False
    return True


def mark_made(f: Any, value: Value) -> None:
    """Note that an array comes from a function that returns a new one each time."""
    value.made = bool(value.is_array and value.fresh and traits_of(f).creates)
