"""Dicts from outside with many entries, or other keys than text; attributes by known names.

What `inspect` tells of the parameters of a function.

The code has no entries of `sys.modules`, or of a registry, but those that it looks up by keys that
are known, each under a guard.
"""

import inspect
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from zygote_lite._specialize.infer.models.classes import ABSENT, FUNCTIONS, of_class, settle
from zygote_lite._specialize.infer.models.dicts import is_plain_key
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.decisions import classes_of
from zygote_lite._specialize.typed.reasons import NotSupported, Unsound
from zygote_lite._specialize.typed.stand_ins import Local, Lookup, Signature
from zygote_lite._specialize.typed.structures import mapping
from zygote_lite._specialize.typed.values import Value, constant, made_class

_STAYS_IMMUTABLE = 1 << 8  # `Py_TPFLAGS_IMMUTABLETYPE`
_BUILT_IN = (tuple, list, dict, set, frozenset, str)
STAYING = (types.ModuleType, types.BuiltinFunctionType, type, np.ufunc)


def is_inert(x: Value) -> bool:
    """Return whether a value is a constant that is hashed as Python's own are."""
    return x.is_constant and (is_plain_key(x.sample) or isinstance(x.sample, STAYING))


def text_of(builder: Builder, x: Value) -> str:
    """Return the text of an inert value in a guard."""
    is_named = isinstance(x.sample, STAYING) or type(x.sample) in (tuple, float)
    return builder.inputs.name_for(x.sample, "o") if is_named else repr(x.sample)


def is_lookup(x: Value) -> bool:
    """Return whether a value is a dict that is looked up in."""
    return isinstance(x.sample, Lookup)


def looked_up(builder: Builder, x: Value, key: Value, default: Value | None = None) -> Value:
    """Return `x[key]`, or `x.get(key, default)`."""
    if is_key_of(builder, x, key):
        at = f"{x.sample.where}[{text_of(builder, key)}]"
        return builder.read(x.sample.source[key.sample], at, "entry", changes=True)
    if default is None:
        raise Unsound.RAISES("a dict does not have the key").always(KeyError)
    return default


def is_key_of(builder: Builder, x: Value, key: Value) -> bool:
    """Return whether a dict has a key, under a guard that it stays so."""
    if not is_inert(key):
        raise Unsound.KEY("a key of a dict is not a constant text or number")
    there = key.sample in x.sample.source
    absent = f"{text_of(builder, key)} not in {x.sample.where}"
    builder.inputs.guards[f"not ({absent})" if there else absent] = None
    return there


def contains(builder: Builder, xs: list[Value]) -> Value | None:
    """Return `key in x`, or whether a shape holds nothing or a text; nothing of anything else."""
    of_lengths = type(xs[0].sample) is tuple and xs[0].lengths is not None
    if of_lengths and xs[1].is_constant and type(xs[1].sample) in (str, type(None)):
        return constant(False)
    return constant(is_key_of(builder, *xs)) if is_lookup(xs[0]) else None


def method_of_lookup(builder: Builder, x: Value, name: str, xs: list[Value]) -> Value:
    """Return what a method gives."""
    if name != "get" or len(xs) not in (1, 2):
        raise NotSupported.METHOD(f"it calls the method {name} of a large dict")
    return looked_up(builder, x, xs[0], xs[1] if len(xs) > 1 else constant(None))


def by_known_name(f: Any, builder: Builder, xs: list[Value]) -> Value | None:
    """Return `getattr` or `hasattr` by a known name.

    It is for numbers, arrays, Python's containers and texts, modules and classes.
    The text that documents a function is known, too.
    """
    x, name, *default = xs
    if not (name.is_constant and type(name.sample) is str) or x.is_object:
        return None
    if name.sample == "__doc__" and f is getattr:
        return _text_of_function(builder, x.sample)
    if isinstance(x.sample, types.ModuleType):
        space = vars(x.sample)
        there = name.sample in space
        if not there and "__getattr__" in space:
            raise Unsound.COMPUTED_ATTRIBUTE(
                "it reads a name that a module computes by `__getattr__`"
            )
        within = f"{builder.inputs.name_for(x.sample, 'o')}.__dict__"
        builder.inputs.guards[f"({name.sample!r} in {within}) is {there}"] = None
    elif x.is_scalar or x.is_array:
        answers = {hasattr(kind, name.sample) for kind in classes_of(x)}
        if len(answers) > 1:
            raise Unsound.CLASS("it asks for an attribute of a number that may be of several types")
        (there,) = answers
    elif type(x.sample) in _BUILT_IN:
        there = hasattr(type(x.sample), name.sample)
    elif isinstance(x.sample, type) and type(x.sample) is type and made_class(x.sample) is None:
        found = of_class(x.sample, name.sample)
        if not x.sample.__flags__ & _STAYS_IMMUTABLE:
            if hasattr(type(found), "__get__") and not isinstance(found, FUNCTIONS):
                return None  # it may raise
            settle(builder.inputs, x.sample)
        there = found is not ABSENT or hasattr(type, name.sample)
    else:
        return None
    if f is hasattr:
        return constant(there)
    return default[0] if default and not there else builder.attribute(x, name.sample)


def _text_of_function(builder: Builder, f: Any) -> Value | None:
    """Return the docstring of a function; nothing for what is none, or was given another."""
    if isinstance(f, types.FunctionType):
        builder.inputs.guard(f"{builder.inputs.name_for(f, 'f')}.__doc__", f.__doc__)
        return constant(f.__doc__)
    if not isinstance(f, Local) or f.is_wrapped:
        return None
    cells = tuple([types.CellType() for _ in f.code.co_freevars])
    return constant(types.FunctionType(f.code, {}, closure=cells).__doc__)


def signature_of(f: Any, builder: Builder, xs: list[Value]) -> Value | None:
    """Return what `inspect.signature` or `inspect.getfullargspec` tells of a function."""
    x = xs[0]
    if len(xs) != 1 or not isinstance(x.sample, types.FunctionType):
        return None
    if not x.sample.__dict__.keys().isdisjoint(_TOLD_BY):
        raise Unsound.COMPUTED_ATTRIBUTE("it asks for the signature of a decorated function")
    builder.inputs.guard_function(x.sample)
    within = f"{builder.inputs.name_for(x.sample, 'f')}.__dict__.keys()"
    told_by = builder.inputs.name_for(_TOLD_BY, "o")
    builder.inputs.guards[f"{within}.isdisjoint({told_by})"] = None
    told = inspect.getfullargspec(x.sample)
    if f is inspect.getfullargspec:
        return constant(Signature({
            "args": lambda builder: builder.build("list", [*map(constant, told.args)]),
            "kwonlyargs": lambda builder: builder.build("list", [*map(constant, told.kwonlyargs)]),
            "varargs": lambda _: constant(told.varargs),
            "varkw": lambda _: constant(told.varkw),
        }))  # fmt: skip
    found = inspect.signature(x.sample).parameters
    names = mapping({name: _told_of_parameter(p) for name, p in found.items()})
    return constant(Signature({"parameters": lambda _: names}, x.sample))


def _told_of_parameter(p: inspect.Parameter) -> Value:
    """Return what stands for a parameter of a signature."""
    told = {"name": p.name, "kind": p.kind}
    told |= {name: getattr(p, name) for name in _KINDS_OF_PARAMETERS}
    return constant(Signature({name: _telling(x) for name, x in told.items()}))


def _telling(x: Any) -> Callable[[Builder], Value]:
    return lambda _: constant(x)


class Bound(inspect.BoundArguments):
    """Stand for `inspect.BoundArguments`."""

    def __init__(self, arguments: dict[str, Any], whole: dict[str, Any]) -> None:
        self.arguments, self.whole = arguments, whole

    def apply_defaults(self) -> None:
        """Add the parameters that have a default and were not given."""
        self.arguments = self.whole


def bound_arguments(
    builder: Builder, x: Signature, xs: list[Value], kws: dict[str, Value]
) -> Value:  # fmt: skip
    """Return `inspect.signature(f).bind(*xs, **kws)`."""
    code = x.function.__code__
    env = builder.parameters(x.function, xs, kws, set())
    whole = {name: env[name] for name in inspect.signature(x.function).parameters}
    given = {*code.co_varnames[: min(len(xs), code.co_argcount)], *kws}
    stars = code.co_varnames[code.co_argcount + code.co_kwonlyargcount :]
    given |= {name for name in stars if name in whole and whole[name].items}
    some = mapping({name: value for name, value in whole.items() if name in given})
    parts = [some, mapping(whole)]
    for part in parts:
        builder.settle_home(part)
    return builder.call(constant(Bound), parts, {})


_KINDS_OF_PARAMETERS = (
    "POSITIONAL_ONLY", "POSITIONAL_OR_KEYWORD", "VAR_POSITIONAL", "KEYWORD_ONLY", "VAR_KEYWORD",
)  # fmt: skip
_TOLD_BY = ("__wrapped__", "__signature__")
