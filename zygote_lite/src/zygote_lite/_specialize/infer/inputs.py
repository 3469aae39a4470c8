"""The inputs of interpretation: lowered functions, arguments, and the globals that they read."""

import functools
import inspect
import sys
import types
from collections.abc import Callable
from typing import Any, cast

import numpy as np

from zygote_lite._ir.source import compiled_by_numba
from zygote_lite._specialize.infer.effects import variables as _variables
from zygote_lite._specialize.infer.effects.attributes import (
    assigned_global,
    known_once,
    read_at_entry,
)
from zygote_lite._specialize.infer.effects.draws import given_generator
from zygote_lite._specialize.infer.effects.outside_arrays import value_from_outside
from zygote_lite._specialize.infer.iteration import rows as _rows
from zygote_lite._specialize.infer.models import differentiated as _differentiated
from zygote_lite._specialize.infer.models import named as _named
from zygote_lite._specialize.infer.models import objects as _objects
from zygote_lite._specialize.infer.models import wholes as _wholes
from zygote_lite._specialize.infer.models.arrays import JOINING
from zygote_lite._specialize.infer.models.classes import is_plain
from zygote_lite._specialize.infer.models.lists import items as _lists
from zygote_lite._specialize.infer.tables import given_table
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.drafts import Env
from zygote_lite._specialize.typed.effects import GENERATORS
from zygote_lite._specialize.typed.facts import NUMBERS, ArrayOf, ListOf, Other, Scalar, fact_of
from zygote_lite._specialize.typed.inputs import defaults_of
from zygote_lite._specialize.typed.plugins import is_in_python, is_of_plugin
from zygote_lite._specialize.typed.reasons import NotSupported, Unsound
from zygote_lite._specialize.typed.stand_ins import Given, Local
from zygote_lite._specialize.typed.structures import mapping, structure
from zygote_lite._specialize.typed.values import Value, constant

_FIXED = (types.FunctionType, types.BuiltinFunctionType, types.ModuleType, type, np.ufunc,
          types.MethodDescriptorType, np.dtype, type(np.sum), types.UnionType,
          type(sys.version_info), type(sys.float_info), type(np.random.default_rng),
          np._CopyMode, *JOINING)  # fmt: skip
_CONSTANT_TYPES = (
    str,
    bool,
    int,
    type(None),
)  # not what is derived from them: that may have attributes
_GIVEN_AS_THEY_ARE = (types.FunctionType, types.BuiltinFunctionType, types.MethodType,
                      types.MethodDescriptorType, types.WrapperDescriptorType, type(np.sum),
                      type(np.random.default_rng))  # fmt: skip
_no_global = object()
_MOST_ENTRIES = 256  # entries of a dict
_MOST_TUPLES = 4096  # in a tuple from outside


def _is_fixed(x: tuple[Any, ...]) -> bool:
    """Return whether a tuple consists of constants.

    Raises `NotSpecializable` where too many tuples are in it: those that share tuples may have more
    than can be counted.
    """
    waiting, left = [x], _MOST_TUPLES
    while waiting:
        left -= 1
        if not left:
            raise NotSupported.TOO_LONG(
                "a global tuple has too many items: pass it as an argument, or make it an array"
            )
        for part in waiting.pop():
            if type(part) is tuple:
                waiting.append(part)
            elif type(part) not in (*_CONSTANT_TYPES, float, np.float64):
                return False
    return True


def attribute_that_stays(x: Any, name: str) -> Any:
    """Return an attribute of a module, class or function that reading does not compute.

    Raises `NotSpecializable` for others: a test that it is as it was would compute it once more.
    """
    if isinstance(x, types.FunctionType):
        return getattr(x, name)
    found = inspect.getattr_static(x, name, _no_global)
    found = found.__func__ if isinstance(found, staticmethod) else found
    usual: tuple[Any, ...] = (types.ModuleType.__getattribute__, type.__getattribute__)
    computed = hasattr(type(found), "__get__") and not isinstance(found, _GIVEN_AS_THEY_ARE)
    if found is _no_global or computed or type(x).__getattribute__ not in usual:
        raise Unsound.COMPUTED_ATTRIBUTE(f"the attribute {name} is computed where it is read")
    return found


def _is_attribute(expression: str) -> bool:
    """Return whether something is read from a module or class, where a float seldom changes."""
    return "." in expression.split(")")[-1] and not expression.endswith("cell_contents")


def is_settled(builder: Builder, globals_: dict[str, Any]) -> bool:
    """Return whether this is the body of a plugin's rule, or our own, which does not change."""
    return (builder.plain and is_of_plugin(globals_)) or is_in_python(globals_)


def global_value(builder: Builder, globals_: dict[str, Any], path: str) -> Value:
    """Return the value of a global, or of a path into a module."""
    inputs = builder.inputs
    now: Value
    head, *rest = path.split(".")
    if (id(globals_), head) in builder.settings:
        now = builder.settings[id(globals_), head][1]
        return functools.reduce(builder.attribute, rest, now)
    within = inputs.name_for(globals_, "g")
    found = globals_.get(head, _no_global)
    if found is _no_global:
        builtin = globals_["__builtins__"]
        builtin = builtin if isinstance(builtin, dict) else vars(builtin)
        if head not in builtin:
            inputs.guards[f"{head!r} not in {within}"] = None
            inputs.guards[f"{head!r} not in {inputs.name_for(builtin, 'b')}"] = None
            raise Unsound.RAISES(f"the name {head} is not defined").always(NameError)
        if not is_settled(builder, globals_):
            inputs.guards[f"{head!r} not in {within}"] = None
            inputs.guard(f"{inputs.name_for(builtin, 'b')}[{head!r}]", builtin[head])
        return constant(functools.reduce(getattr, rest, builtin[head]))
    if is_settled(builder, globals_):
        return inputs.fixed(functools.reduce(getattr, rest, found), path)
    expression = f"{within}[{head!r}]"  # a `KeyError` is a guard that does not hold
    if _variables.is_global_cell(builder, globals_, head):
        now = _variables.global_in_cell(builder, globals_, head)
        return functools.reduce(builder.attribute, rest, now)
    is_assigned = not rest and assigned_global(id(globals_), head) in builder.own
    if is_assigned and isinstance(fact_of(found), Scalar):
        return read_at_entry(builder, found, expression, head)
    return read_path(builder, found, expression, rest, rest[-1] if rest else head)


def read_path(builder: Builder, found: Any, expression: str, path: list[str], stem: str) -> Value:
    """Return what a path of attributes leads to, from an object that an expression reads."""
    for i, name in enumerate(path):
        if isinstance(found, types.ModuleType | type):
            return functools.reduce(
                builder.attribute, path[i:], read(builder, found, expression, stem)
            )
        found = attribute_that_stays(found, name)
        expression += f".{name}"
    return read(builder, found, expression, stem)


def read(builder: Builder, x: Any, expression: str, stem: str, changes: bool = False) -> Value:
    """Return a value from outside: as a constant that is guarded, or read at each entry.

    Floats are constants in modules and classes, but for objects of those (`changes`).
    """
    inputs = builder.inputs
    floats = (float, np.float64) if not changes and _is_attribute(expression) else ()
    by_identity = isinstance(x, _FIXED) or type(x) in (*_CONSTANT_TYPES, *floats)
    by_identity = by_identity or compiled_by_numba(x, of_entries=True) is not None
    by_identity = by_identity or (type(x) is tuple and _is_fixed(x))
    if by_identity and not inputs.is_varying(x, expression):  # its identity implies its value
        inputs.guard(expression, x)
        if not isinstance(x, _FIXED):
            inputs.constants[expression] = x
        return constant(x)
    if expression in inputs.given and not inputs.owned:
        return inputs.given[expression][0]
    if expression not in inputs.given and isinstance(fact_of(x), Other):
        return _objects.from_outside(builder, inputs, x, expression, stem)
    return value_from_outside(builder, x, expression, stem)


def bind(builder: Builder, f: Any, xs: list[Value], kws: dict[str, Value]) -> Env:
    """Return the variables of a function at its start."""
    if isinstance(f, Local):
        return f.around | _bound(builder, f.code, xs, kws, f.defaults.get)
    return parameters(builder, f, xs, kws) | _captured(builder, f)


def parameters(
    builder: Builder, f: Any, xs: list[Value], kws: dict[str, Value],
    without: frozenset[str] | set[str] = frozenset(),
) -> Env:  # fmt: skip
    """Return the parameters of a function, but for those of some names that are not given."""
    optional, absent = defaults_of(f), constant(None)

    def default(name: str) -> Value | None:
        if name in without:
            return absent
        if name not in optional:
            return None
        if isinstance(optional[name], Given):
            return cast(Value, optional[name].value)
        if is_settled(builder, f.__globals__):
            return builder.inputs.fixed(optional[name], name)
        return read(builder, optional[name], builder.inputs.default_of(f, name), name)

    env = _bound(builder, f.__code__, xs, kws, default)
    return {name: x for name, x in env.items() if x is not absent}


def _bound(
    builder: Builder, code: types.CodeType, xs: list[Value], kws: dict[str, Value],
    default: Callable[[str], Value | None],
) -> Env:  # fmt: skip
    """Return the parameters of a function, with the values that a call gives them."""
    count = code.co_argcount + code.co_kwonlyargcount
    names = code.co_varnames[:count]
    env = dict(zip(names[: code.co_argcount], xs, strict=False))
    more = xs[code.co_argcount :]
    if code.co_flags & inspect.CO_VARARGS:
        env[code.co_varnames[count]] = structure(tuple, more)
    elif more:
        raise Unsound.RAISES("a function is called with too many arguments")
    others: list[Value] = []
    for name, value in kws.items():
        if name in names[code.co_posonlyargcount :] and name not in env:
            env[name] = value
        elif (
            name not in names[code.co_posonlyargcount :] and code.co_flags & inspect.CO_VARKEYWORDS
        ):
            others += [constant(name), value]
        else:
            raise Unsound.RAISES(
                f"a function is called with the keyword {name}, which it does not take"
            )
    if code.co_flags & inspect.CO_VARKEYWORDS:
        if builder.plain:  # of a rule, what is done with options is left to it
            raise NotSupported.RULE_FORM("a rule takes `**`: name its keywords")
        at = count + bool(code.co_flags & inspect.CO_VARARGS)
        env[code.co_varnames[at]] = builder.build("dict", others)
    for name in names:
        if name not in env:
            found = default(name)
            if found is None:
                raise Unsound.RAISES(f"a function is called without the argument {name}")
            env[name] = found
    return env


def _captured(builder: Builder, f: Any) -> dict[str, Value]:
    """Return the variables of enclosing functions that a function reads."""
    inputs = builder.inputs
    found = {}
    for i, (name, cell) in enumerate(zip(f.__code__.co_freevars, f.__closure__ or (), strict=True)):
        at = "f.__closure__" if f is inputs.f else f"{inputs.name_for(f, 'f')}.__closure__"
        try:
            x = cell.cell_contents
        except ValueError:
            raise Unsound.UNSET(f"`{name}` has no value yet") from None
        if is_settled(builder, f.__globals__):
            found[name] = inputs.fixed(x, name)
        else:
            builder.captured[f.__code__, name] = cell
            found[name] = _variables.captured(builder, cell, f"{at}[{i}]", name)
    return found


def argument(builder: Builder, x: Any, name: str, active: bool, expression: str) -> Value:
    """Return the value of an argument; of a tuple, list or dict, with its parts.

    Arguments:
        builder: what writes the code.
        x: the argument.
        name: the name of its variable.
        active: whether it is differentiated.
        expression: what the guards call it.
    """
    if type(x) is dict:
        if len(x) > _MOST_ENTRIES or any(type(key) is not str for key in x):
            raise NotSupported.KEYS(f"the dict {name} has too many keys, or keys that are not text")
        parts = {key: argument(
            builder, part, f"{name}_{_as_name(key, i)}", active, f"{expression}[{key!r}]")
                 for i, (key, part) in enumerate(x.items())}  # fmt: skip
        return mapping(parts)
    rows = None if active else _rows.given_rows(builder, x, expression, name)
    if rows is not None:
        return rows
    if isinstance(x, tuple | list) and type(x) in (tuple, list):
        builder.inputs.lists = builder.inputs.lists or type(x) is list
        uniform = None
        if type(x) is list and (builder.uniform or builder.held):
            uniform = _lists.fact_of_list(x)
        if uniform is not None and not (
            active and not _lists.holds_floats(uniform) and builder.held
        ):
            value = Value(uniform, x, builder.name(name))
            value.active = active
            if active and not _lists.holds_floats(uniform):
                raise Unsound.NO_FLOAT(
                    f"{name} is a list of something other than floats, and is differentiated: make "
                    "it an array"
                )
            return value
        items = [argument(builder, part, f"{name}_{i}", active, f"{expression}[{i}]")
                 for i, part in enumerate(x)]  # fmt: skip
        return structure(type(x), items)
    fact = fact_of(x)
    if _named.is_named_tuple(type(x)):
        return _differentiated.fields_of_named(builder, x, expression, name, active=active)
    if isinstance(fact, Other | ListOf):
        if type(x) in _CONSTANT_TYPES:
            return constant(x)
        if type(x) in GENERATORS:
            return given_generator(builder, x, expression, name)
        whole = None if active else _wholes.given_whole(builder, x, expression, name)
        whole = whole or (None if active else given_table(builder, x, expression))
        if whole is not None:
            return whole
        if is_plain(x):
            if active:
                return known_once(
                    builder, _differentiated.differentiated_object(builder, x, expression)
                )
            return known_once(builder, _objects.known_object(builder.inputs, x, expression))
        raise NotSupported.ARGUMENT_TYPE(f"the argument {name} is of the type {type(x).__name__}")
    value = Value(fact, x, builder.name(name))
    value.sizes = {}
    floating = isinstance(fact, ArrayOf) or bool(fact.classes & (NUMBERS - {bool, np.bool_}))
    value.active = active and floating
    return value


def _as_name(key: str, place: int) -> str:
    """Return what the variable of an entry of a dict is named after: its key, if that can be."""
    return key if key.isascii() and key.isidentifier() else str(place)
