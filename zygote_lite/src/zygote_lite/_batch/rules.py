"""Calls with batches among their operands: by a batching rule, or entry by entry."""

import contextlib
import operator
import types
from typing import Any

import numpy as np

from rulescore import Array, RuleError, find_batched, find_rule
from rulescore.faults import an
from zygote_lite._activity.deeds import may_write
from zygote_lite._activity.effects import effect_of
from zygote_lite._batch.tracers import NotBatched, Tracer, entry_of, is_batched, is_number, shown
from zygote_lite._ir.names import name_of
from zygote_lite._ir.operators import BINARY, COMPARISONS, IN_PLACE
from zygote_lite._ir.places import are_ours, is_installed, is_library, where
from zygote_lite._ir.traits import is_elementwise, is_pure
from zygote_lite._tape.refusals.refusal import note_resolution
from zygote_lite.errors import Fault

_OF_OPERATOR = {id(getattr(operator, name)) for name in dir(operator)} | {id(abs), id(pow)}
_COMPARES = {id(of.function) for of in COMPARISONS}
WRITING = {id(f) for f in IN_PLACE}
_WITHOUT_PLACE = {
    id(getattr(operator, f"i{name}")): of.function
    for name, of in BINARY.items()
    if hasattr(operator, f"i{name}")
}
_NARROW = ("float16", "float32", "complex64")


def by_batching_rule(run: Any, f: Any, xs: tuple[Any, ...], kws: dict[str, Any]) -> Any:
    """Return the value of a call with batches among its operands, or `NotImplemented`."""
    if is_batched(kws):
        return NotImplemented
    if id(f) == id(float) and len(xs) == 1:
        return _as_python_number(run, xs[0])
    entries = [entry_of(x) for x in xs]
    rule = find_batched(f, *entries, **kws)
    if rule is not None:
        return _by_found_rule(run, rule, f, xs, kws)
    if not all(map(is_number, xs)):
        return NotImplemented
    is_known = is_pure(f) if isinstance(f, np.ufunc) else f is not np.where
    if is_known and is_elementwise(f) and not {*kws} - {"dtype"}:
        return _entry_by_entry(run, f, xs, entries, kws)
    if not kws and _has_scalar_rule(f, entries):
        return _by_scalar_rule(run, f, xs, entries)
    return NotImplemented


def _has_scalar_rule(f: Any, entries: list[Any]) -> bool:
    """Return whether a function has a scalar rule, which says that it is elementwise.

    Builtins, as those of `math`, take no arrays. What a Python function does besides is done once
    for each entry, by the loop.
    """
    if isinstance(f, types.BuiltinFunctionType | type):
        return False
    rule = find_rule(f, *entries)
    if rule is None or rule.kind != "scalar":
        return False
    if not isinstance(f, types.FunctionType):
        return True
    path = f.__code__.co_filename
    return is_installed(path) or are_ours(path, f.__module__) or does_nothing_else(f)


def _by_scalar_rule(run: Any, f: Any, xs: tuple[Any, ...], entries: list[Any]) -> Any:
    """Return what a function with a scalar rule gives, which is tried with the first entry.

    Nobody has checked that the function takes arrays where the rule was written for numbers.
    """
    try:
        due = f(*entries)
    except Exception as error:
        raise NotBatched(f"{where()}: {name_of(f)} of an entry: {error}") from error
    found = _entry_by_entry(run, f, xs, entries, {}, plain=type(due) in (float, int, complex))
    given, due = np.asarray(found.entry), np.asarray(due)
    is_same = given.dtype == due.dtype == found.value.dtype and given.shape == due.shape
    if not is_same or not np.allclose(given, due, 1e-2, 1e-3, equal_nan=True):
        raise NotBatched(f"{where()}: {name_of(f)} of a batch is not what it is of the entries")
    return found


def _by_found_rule(run: Any, rule: Any, f: Any, xs: tuple[Any, ...], kws: dict[str, Any]) -> Any:
    """Return what a batching rule gives: all tracers, with the axis of the batch in front."""
    operands = []
    for i, x in enumerate(xs):
        if rule.takes_batch(i):
            operands.append(_led(run, x))
        elif is_batched(x):
            return NotImplemented
        else:
            operands.append(x)
    plain = getattr(f, "__module__", None) in ("math", "cmath")
    if not plain and any(type(x) is Tracer and x.plain for x in xs):
        entries = [entry_of(x) for x in xs]
        if any(str(getattr(entry, "dtype", "")) in _NARROW for entry in entries):
            raise NotBatched(f"{where()}: {name_of(f)} of a Python number and of a narrow array")
        plain = type(f(*entries, **kws)) in (float, int, complex)
    with _quietly_if(plain):
        y = _carried_out(run.by_body, name_of(f), rule.body, tuple(operands), kws)
    if y is NotImplemented:
        raise NotBatched(f"{where()}: the batching rule of {name_of(f)} is not for these arguments")
    entries = [entry_of(x) for x in xs]
    note_resolution(f, tuple(entries), f"batching rule of {rule.place}")
    return _as_batch(run, y, rule, plain, _of_first_entry(f, entries, kws, y))


def _quietly_if(plain: bool) -> Any:
    """Return what has NumPy not warn: Python's numbers raise errors, and that is the loop's."""
    return np.errstate(all="ignore") if plain else contextlib.nullcontext()


def _carried_out(how: Any, name: str, f: Any, xs: tuple[Any, ...], kws: dict[str, Any]) -> Any:
    """Run a call of whole batches; an error is left to the loop, which raises it for an entry."""
    try:
        return how(f, xs, kws)
    except NotBatched:
        raise
    except Exception as error:
        raise NotBatched(f"{where()}: {name} of the batch: {error}") from error


def _led(run: Any, x: Any) -> Any:
    """Return an operand whose arrays have an axis in front: of the batch, or of length 1."""
    if isinstance(x, list | tuple):
        return type(x)([_led(run, part) for part in x]) if type(x) in (list, tuple) else x
    if type(x) is Tracer:
        is_array = isinstance(x.entry, Array)
        return x if x.batched or not is_array else run.computed(operator.getitem, (x, None))
    return np.expand_dims(x, 0) if isinstance(x, np.ndarray) else x


def _of_first_entry(f: Any, entries: list[Any], kws: dict[str, Any], y: Any) -> Any:
    """Return what a function gives of one entry, if its type says more than that of the batch.

    Without axes it may be a number, or an array, which can be written to: `x[..., 0]`, `np.where`.
    """
    parts = y if isinstance(y, list | tuple) else [y]
    if all(np.ndim(shown(part.value) if type(part) is Tracer else part) != 1 for part in parts):
        return None
    is_part = f is operator.getitem and _has_ellipsis(entries[1])
    gives_numbers = isinstance(f, np.ufunc) or id(f) in _OF_OPERATOR
    if not is_part and (gives_numbers or _is_of_user(f)):
        return None
    with np.errstate(all="ignore"):
        return _carried_out(lambda g, xs, kws: g(*xs, **kws), name_of(f), f, tuple(entries), kws)


def _has_ellipsis(index: Any) -> bool:
    parts = index if type(index) is tuple else (index,)
    return any(part is Ellipsis for part in parts)


def _is_of_user(f: Any) -> bool:
    """Return whether a function is written in Python by a user: it may do something besides."""
    path = f.__code__.co_filename if isinstance(f, types.FunctionType) else None
    return path is not None and not is_library(path) and not is_installed(path)


def _as_batch(run: Any, y: Any, rule: Any, plain: bool, due: Any = None) -> Any:
    """Return what a call gives as a batch; `due` is what it gives of one entry, if known."""
    if isinstance(y, list | tuple):
        dues = due if isinstance(due, list | tuple) and len(due) == len(y) else [None] * len(y)
        parts = [
            part if type(part) in (bool, int, str) else _as_batch(run, part, rule, plain, one)
            for part, one in zip(y, dues, strict=True)
        ]
        return tuple.__new__(type(y), parts) if isinstance(y, tuple) else run.noted(parts)
    box = y if type(y) is Tracer else Tracer(run, y, None)
    shape = np.shape(shown(box.value))
    if not shape or shape[0] != run.count:
        if isinstance(rule, str) or shape[:1] != (1,):
            raise NotBatched(f"{where()}: a value of the shape {shape} is not a batch")
        raise Fault.BATCH(
            f"the batching rule {rule.signature} ({rule.place}) gave an array of shape {shape} for "
            f"a batch of {run.count}: return one with an entry for each of the batch in front",
            RuleError,
        )
    is_array = len(shape) == 1 and isinstance(due, np.ndarray)
    return Tracer(run, box.value, box.node, plain=plain, is_array=is_array)


def _entry_by_entry(
    run: Any,
    f: Any,
    xs: tuple[Any, ...],
    entries: list[Any],
    kws: dict[str, Any],
    plain: bool = False,
) -> Any:
    """Return what an elementwise function gives, with its axes in line.

    `plain` says whether it gives Python's numbers of Python's numbers.
    """
    most = max(map(np.ndim, entries))
    operands = []
    for x, entry in zip(xs, entries, strict=True):
        if type(x) is Tracer and x.batched and np.ndim(entry) < most:
            shape = (run.count, *(1,) * (most - np.ndim(entry)), *np.shape(entry))
            y, node = run.carried_out(np.reshape, (x, shape), {})
            x = Tracer(run, y, node)
        operands.append(x)
    if f is operator.pow and isinstance(entries[0], np.bool_):
        raise NotBatched(f"{where()}: the power of a truth value is an array of another dtype")
    plain = _is_of_numbers(f, xs, entries) or plain
    with _quietly_if(plain):
        y = _carried_out(run.computed, name_of(f), f, tuple(operands), kws)
    due = None if plain else _of_first_entry(f, entries, kws, y)
    found = _as_batch(run, y, f"{name_of(f)}", plain, due)
    if plain and not np.all(np.isfinite(_innermost_value(found))):
        raise NotBatched(f"{where()}: {name_of(f)} of Python's numbers may raise an error")
    note_resolution(f, tuple(entries), "entry by entry")
    return found


def _innermost_value(x: Any) -> Any:
    value = x.value
    while type(value) is Tracer:
        value = value.value
    return value


def does_nothing_else(f: Any) -> bool:
    """Return whether nothing is known that a function with a rule does besides."""
    if is_library(f.__code__.co_filename):
        return True
    found = effect_of(f)
    return found.effect is None and not found.is_open and not may_write(f)


def _is_of_numbers(f: Any, xs: tuple[Any, ...], entries: list[Any]) -> bool:
    """Return whether a call is one of Python's numbers, for each entry.

    Python's numbers do not decide the precision of arrays (NEP 50), and their truth values are
    integers, so that some of these calls cannot be done with arrays.
    """
    tracers = [x for x in xs if type(x) is Tracer and x.plain]
    if not tracers:
        return False
    if any(isinstance(entry, bool) for entry in entries) and id(f) not in _COMPARES:
        raise NotBatched(f"{where()}: {name_of(f)} of Python's truth values")
    if any(str(getattr(entry, "dtype", "")) in _NARROW for entry in entries):
        raise NotBatched(f"{where()}: {name_of(f)} of a Python number and of a narrow array")
    numbers = all(isinstance(e, int | float) and not isinstance(e, np.generic) for e in entries)
    return numbers and id(f) in _OF_OPERATOR


def _as_python_number(run: Any, x: Any) -> Any:
    """Return what `float` gives of each entry."""
    if type(x) is not Tracer or np.ndim(x.entry):
        return NotImplemented
    if not isinstance(x.entry, float) and np.asarray(x.entry).dtype.kind != "f":
        return NotImplemented
    y, node = run.carried_out(_of_doubles, (x,), {})
    return Tracer(run, y, node, plain=True)


def _of_doubles(x: Any) -> Any:
    """Return an array as one of float64."""
    return x.astype(np.float64)


def out_of_place(run: Any, f: Any, xs: tuple[Any, ...]) -> Any:
    """Return what `x += y` does where it makes a new value, as it does of numbers."""
    known = _WITHOUT_PLACE.get(id(f))
    x = entry_of(xs[0])
    if isinstance(x, list) and id(x) in run.made and isinstance(xs[1], list | tuple):
        return f
    if known is None or not isinstance(x, int | float | complex | np.generic | str | tuple):
        raise NotBatched(f"{where()}: {name_of(f)} writes into {an(type(x).__name__)}")
    return known
