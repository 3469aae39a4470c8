"""Functions from outside under `lru_cache`: what their caches may keep, and who may ask them."""

import functools
import inspect
import operator
import sys
import types
from typing import Any

import numpy as np

from zygote_lite._cotangents.run import state
from zygote_lite._ir.bytecode import names_from_outside
from zygote_lite._ir.places import is_installed, is_library
from zygote_lite._specialize.infer.effects.sought import Search
from zygote_lite._specialize.infer.models.dicts import is_plain_key
from zygote_lite._specialize.infer.models.lookups import STAYING, is_inert, signature_of, text_of
from zygote_lite._specialize.infer.plain_calls import may_be_called
from zygote_lite._specialize.typed.abstract_eval import run
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.facts import Scalar
from zygote_lite._specialize.typed.nodes import leaves
from zygote_lite._specialize.typed.notes import is_outside_changed
from zygote_lite._specialize.typed.reasons import NotSpecializable, NotSupported, Unsound
from zygote_lite._specialize.typed.runtime import has_length
from zygote_lite._specialize.typed.structures import structure
from zygote_lite._specialize.typed.values import Value, constant

_CACHED = functools._lru_cache_wrapper
_FORGETS_BELOW = 64  # entries of a cache that may forget, before the code ends, what it kept
_CONSTANT_CALLABLES = (types.BuiltinFunctionType, np.ufunc)


def is_cached(x: Value) -> bool:
    """Return whether an object from outside is a function under `lru_cache`."""
    return isinstance(x.sample, _CACHED) and x.where is not None


def called_cached(builder: Builder, f: Value, xs: list[Value], kws: dict[str, Value]) -> Value:
    """Return what a function under `lru_cache` gives: what it would give without.

    The code changes nothing that the function may read, so a call with equal numbers gives equal
    ones, if it has no effects. An array that it gives would be one and the same for all calls.
    """
    _refuse_stale_cache(builder, f.sample.__wrapped__)
    given = [*xs, *kws.values()]
    is_first = builder.out is builder.top and not (builder.plain or builder.settings)
    is_first = is_first and not builder.inputs.collectors
    if all(map(is_inert, given)) and is_first and not builder.lent:
        return _kept(builder, f, xs, kws)
    if _takes_nothing(f.sample.__wrapped__) and f.sample.cache_info().currsize == 1:
        builder.inputs.guards[f"{f.where}.cache_info().currsize == 1"] = None
        return _kept(builder, f, xs, kws)
    inner = f.sample.__wrapped__
    told = _signature_kept(builder, f, xs, kws) or _asked_as_it_is(builder, f, xs, kws)
    if told is not None:
        return told
    if not isinstance(inner, types.FunctionType):
        raise NotSupported.METHOD("the function under `lru_cache` is not a Python function")
    if not _reads_constants(inner, set()):
        raise Unsound.MAY_CHANGE("the function under `lru_cache` reads a global that may change")
    kinds = tuple(map(type_of_key, given))
    if builder.inputs.cached.setdefault(f.sample, kinds) != kinds:
        raise Unsound.KEY("it calls a function under `lru_cache` with numbers of several types")
    builder.inputs.guard(str(f.where), f.sample)
    builder.inputs.guard(f"{f.where}.__wrapped__", inner)
    if not _reads_libraries_alone(inner):  # what it keeps may be of other globals
        is_followed = any(leaf.active for x in given for leaf in leaves(x))
        if f.sample.cache_info().currsize or not is_followed:
            raise Unsound.MAY_CHANGE(
                "a function under `lru_cache` may keep values of earlier calls, with other globals"
            )
        builder.inputs.guards[f"{f.where}.cache_info().currsize == 0"] = None
    found = _without_effects(builder, f.sample, xs, kws)
    if not (found.is_scalar or (found.is_constant and is_plain_key(found.sample))):
        raise Unsound.IDENTITY(
            "a function under `lru_cache` returns something other than a number or text"
        )
    return found


def _asked_as_it_is(
    builder: Builder, f: Value, xs: list[Value], kws: dict[str, Value]
) -> Value | None:  # fmt: skip
    """Write the call of a function under `lru_cache` that is given nothing differentiated.

    So it gives what Python gives. `None` where the code must not call it, or knows less of it.
    """
    inner, given = f.sample.__wrapped__, [*xs, *kws.values()]
    may_ask = all(not x.active and (x.is_scalar or is_inert(x)) for x in given)
    may_ask = may_ask and isinstance(inner, types.FunctionType) and not builder.inner
    if not may_ask or not may_be_called(builder, inner, xs, kws):
        return None
    attempt, called = builder.attempt(), constant(f.sample)
    try:
        effects = Search(builder)
        effects.look(inner, 0)
        if effects.calls_itself and any(map(_reads_numbers, effects.seen)):
            raise Unsound.MAY_CHANGE(
                "a function under `lru_cache` reads a number, and calls itself"
            )
        with effects.ending():
            op = builder.operation(from_cache, [called, *xs], kws, inner.__name__, certain=False)
        found = _parts_asked(builder, op)
    except NotSpecializable:
        builder.give_up(attempt)
        return None
    builder.inputs.guard(str(f.where), f.sample)
    builder.inputs.as_they_are[inner.__name__] = "what it gives is kept under `lru_cache`"
    builder.searched.add(op)
    return found


def _reads_numbers(f: types.FunctionType) -> bool:
    """Return whether a function reads numbers or texts from around it."""
    return any(map(is_plain_key, _globals_of(f)))


def from_cache(f: Any, *xs: Any, **kws: Any) -> Any:
    """Return what a function under a cache gives; on samples, what it gives without."""
    return (f.__wrapped__ if state.tries else f)(*xs, **kws)


def _parts_asked(builder: Builder, op: Any) -> Value:
    """Return a number or an array that a cache gives, or a tuple of these."""
    y = op.target
    if type(y.sample) is not tuple:
        return _checked(builder, op)
    builder.demand(has_length, y, constant(len(y.sample)))
    parts = [
        _checked(builder, builder.operation(operator.getitem, [y, constant(i)]))
        for i in range(len(y.sample))
    ]
    return structure(tuple, parts)


def _checked(builder: Builder, op: Any) -> Value:
    """Return a value that is tested to be of its type; an array is nobody's to write to."""
    y: Value = op.target
    if not (y.is_array or isinstance(y.fact, Scalar)):
        raise Unsound.CLASS("a function under `lru_cache` gives something other than numbers")
    op.check = op.required = True
    y.fresh = y.made = False
    builder.inputs.has_cached_arrays |= y.is_array
    return y


def settle_caches(builder: Builder) -> None:
    """Refuse code that writes to arrays, one of which a cache may have given."""
    inputs = builder.inputs
    if inputs.has_cached_arrays and (builder.copies or is_outside_changed(builder.own)):
        raise Unsound.SHARED_WRITE("it writes to arrays, and a cache may have given one of them")


def _refuse_stale_cache(builder: Builder, inner: Any) -> None:
    """Refuse code that changes what a function under a cache may read: what it keeps is older.

    Where nothing is known to be changed yet, that is asked again in the end. Where the code is
    interpreted again in any case, it is not asked now: it would keep what it gives.
    """
    if _is_known_for_good(inner):
        return
    builder.inputs.asks_caches = True
    if is_outside_changed(builder.own) or not builder.wanted <= builder.own:
        builder.refuse_caches()


def _is_known_for_good(inner: Any) -> bool:
    """Return whether a function under a cache reads nothing that a program changes."""
    if not isinstance(inner, types.FunctionType):
        return isinstance(inner, _CONSTANT_CALLABLES)
    return not inner.__closure__ and _reads_libraries_alone(inner)


def _without_effects(
    builder: Builder, f: Any, xs: list[Value], kws: dict[str, Value]
) -> Value:  # fmt: skip
    """Return what the function under a cache gives, which neither calls itself nor has effects."""
    inputs = builder.inputs
    if f in inputs.within_cached:
        raise NotSupported.METHOD("a function under `lru_cache` calls itself")
    before = inputs.effects, inputs.tells_time
    inputs.effects, inputs.tells_time = None, False
    inputs.within_cached.add(f)
    try:
        found = builder.apply(f.__wrapped__, xs, kws)
        if inputs.effects is not None or inputs.tells_time:
            raise Unsound.EFFECTS("a function under `lru_cache` has effects, draws or asks a clock")
    finally:
        inputs.within_cached.remove(f)
        inputs.effects, inputs.tells_time = before
    return found


def _reads_libraries_alone(f: types.FunctionType) -> bool:
    """Return whether a function reads nothing from around it but builtins, and of libraries.

    Functions and classes of an installed library may read others of it.
    """
    is_of_library = _stays_installed(f.__code__.co_filename)
    staying = (*STAYING, types.FunctionType) if is_of_library else _CONSTANT_CALLABLES
    return not (f.__defaults__ or f.__kwdefaults__) and all(
        x.__name__ in sys.stdlib_module_names
        or _stays_installed(getattr(x, "__file__", None) or "")
        if isinstance(x, types.ModuleType)
        else isinstance(x, staying)
        for x in _globals_of(f)
    )


def _stays_installed(path: str) -> bool:
    return is_library(path) or is_installed(path)


def _globals_of(f: types.FunctionType) -> list[Any]:
    """Return the globals that a function names, also in functions and classes inside.

    Without those that Python sets, such as `__name__`, which attributes are called, too.
    """
    named = [name for name in names_from_outside(f.__code__) if not name.startswith("__")]
    return [f.__globals__[name] for name in named if name in f.__globals__]


def _signature_kept(
    builder: Builder, f: Value, xs: list[Value], kws: dict[str, Value]
) -> Value | None:  # fmt: skip
    """Return what `inspect.signature` under `lru_cache` gives, where it is as of now."""
    if f.sample.__wrapped__ is not inspect.signature or len(xs) != 1 or kws:
        return None
    found = signature_of(inspect.signature, builder, xs)
    if found is None or f.sample(xs[0].sample) != inspect.signature(xs[0].sample):
        return None
    builder.inputs.guard(str(f.where), f.sample)
    builder.inputs.guard(f"{f.where}.__wrapped__", inspect.signature)
    return found


def _takes_nothing(f: Any) -> bool:
    """Return whether a function has no parameters: what it gave is kept, or it was not called."""
    stars = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
    code = getattr(f, "__code__", None)
    return code is not None and not (
        code.co_argcount or code.co_kwonlyargcount or code.co_flags & stars
    )


def _kept(builder: Builder, f: Value, xs: list[Value], kws: dict[str, Value]) -> Value:
    """Return what a cache keeps for constants: the program has asked for it, in any case.

    It is asked for again at each entry, so a cache that was cleared is filled again. Where a small
    cache has forgotten it, the function runs there, before what stands above the call.
    """
    most, inner = f.sample.cache_parameters()["maxsize"], f.sample.__wrapped__
    if most is not None and most < _FORGETS_BELOW:
        if not isinstance(inner, types.FunctionType):
            raise NotSupported.METHOD("the function under `lru_cache` is not a Python function")
        Search(builder).look(inner, 0)
    found = run(f.sample, [x.sample for x in xs], {name: x.sample for name, x in kws.items()})
    texts = [text_of(builder, x) for x in xs]
    texts += [f"{name}={text_of(builder, x)}" for name, x in kws.items()]
    return builder.read(found, f"{f.where}({', '.join(texts)})", "kept", changes=True)


def _reads_constants(f: types.FunctionType, seen: set[Any]) -> bool:
    """Return whether a function, and those that it calls, read constants alone from around them."""
    if f in seen:
        return True
    seen.add(f)
    given = [*(f.__defaults__ or ()), *(f.__kwdefaults__ or {}).values()]
    inner = [x.__wrapped__ if isinstance(x, _CACHED) else x for x in _globals_of(f)]
    return not f.__closure__ and all(
        _reads_constants(x, seen)
        if isinstance(x, types.FunctionType)
        else isinstance(x, STAYING) or is_plain_key(x)
        for x in (*given, *inner)
    )


def type_of_key(x: Value) -> Any:
    """Return the one type of a key of a cache."""
    if isinstance(x.fact, Scalar) and len(x.fact.classes) == 1:
        return x.fact.classes
    if not is_inert(x):
        raise Unsound.KEY(
            "it calls a function under `lru_cache` with something other than numbers and text"
        )
    return type(x.sample) if isinstance(x.sample, int | float) else None  # one of numbers
