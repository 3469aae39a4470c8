"""Objects from outside: what is read of them is read where the code is entered.

An object is known by the expression for it. At entry its class is looked at, and each attribute
that is read; what else it holds does not matter. Lists, tuples and dicts from outside are taken
apart into their items, in the same way.
"""

import types
from typing import TYPE_CHECKING, Any

from zygote_lite._optimize._values import (
    Method,
    Other,
    Unfit,
    Value,
    constant,
    mapping,
    structure,
)

if TYPE_CHECKING:
    from zygote_lite._optimize._interpret import Interpreter
    from zygote_lite._optimize._sources import Inputs

_MANY = 256  # items of structures from outside
_MADE_IN_PYTHON = 1 << 9  # the flag of classes that are made when a program runs
_missing = object()


def is_plain(x: Any) -> bool:
    """Return whether an object keeps its attributes in a dict, and none is computed by its class.

    Descriptors, as properties are, have to be looked for one by one.
    """
    for base in type(x).__mro__[:-1]:
        computes = "__getattr__" in vars(base) or "__getattribute__" in vars(base)
        if (computes or not base.__flags__ & _MADE_IN_PYTHON) and base is not types.SimpleNamespace:
            return False
    return type(getattr(x, "__dict__", None)) is dict


def known_object(inputs: "Inputs", x: Any, expression: str) -> Value:
    """Return an object from outside, and demand that it is one of its class."""
    value = Value(Other(type(x)), x)
    value.where = expression
    inputs.guards[f"type({expression}) is {inputs.name_for(type(x), 'o')}"] = None
    return value


def from_outside(
    interpreter: "Interpreter", inputs: "Inputs", x: Any, expression: str, stem: str
) -> Value:
    """Return an object or a structure that is read from outside."""
    if is_plain(x):
        return known_object(inputs, x, expression)
    if type(x) not in (tuple, list, dict):
        raise Unfit(f"{stem} is of the type {type(x).__name__}")
    if expression in inputs.structures:
        return inputs.structures[expression]
    inputs.taken += len(x)
    if inputs.taken > _MANY:
        raise Unfit(f"{stem} is a {type(x).__name__} of many items, and no argument")
    inputs.guards[f"type({expression}) is {type(x).__name__}"] = None
    if type(x) is not tuple:
        inputs.containers[expression] = None

    def part(item: Any, at: Any) -> Value:
        name = f"{stem}_{at}" if f"{stem}_{at}".isidentifier() else stem
        return inputs.read(interpreter, item, f"{expression}[{at!r}]", name, changes=True)

    if type(x) is dict:
        if any(type(key) is not str for key in x):
            raise Unfit(f"{stem} has keys that are no text")
        inputs.guards[f"[*{expression}] == {[*x]!r}"] = None
        inputs.guards[f"{{*map(type, {expression})}} <= {{str}}"] = None
        found = mapping({key: part(item, key) for key, item in x.items()})
    else:
        inputs.guards[f"len({expression}) == {len(x)}"] = None
        found = structure(type(x), [part(item, i) for i, item in enumerate(x)])
    inputs.structures[expression] = found
    return found


def attribute(interpreter: "Interpreter", x: Value, name: str) -> Value:
    """Return an attribute of an object, or note that a method was looked up."""
    inputs, owner, expression = interpreter.inputs, x.sample, f"{x.where}.{name}"
    found = _of_class(type(owner), name)
    if hasattr(type(found), "__set__") or hasattr(type(found), "__delete__"):
        raise Unfit(f"the attribute {name} is computed where it is read")
    if name in vars(owner):
        return inputs.read(interpreter, vars(owner)[name], expression, name, changes=True)
    if isinstance(found, types.FunctionType):
        inputs.guard(f"{expression}.__func__", found)
        return constant(Method(x, name))
    if isinstance(found, staticmethod) and isinstance(found.__func__, types.FunctionType):
        inputs.guard(expression, found.__func__)
        return constant(found.__func__)
    if found is _missing or hasattr(type(found), "__get__"):
        raise Unfit(f"the attribute {name} of a {type(owner).__name__}")
    return inputs.read(interpreter, found, expression, name, changes=True)


def _of_class(kind: type, name: str) -> Any:
    """Return what the instances of a class find there, as it is kept there."""
    return next((vars(base)[name] for base in kind.__mro__ if name in vars(base)), _missing)


def function_of(inputs: "Inputs", x: Value, name: str) -> Any:
    """Return the function that an object is called by, or one of its methods."""
    kind = type(x.sample)
    found = _of_class(kind, name)
    if not isinstance(found, types.FunctionType):
        raise Unfit(f"the method {name} of a {kind.__name__}")
    if name == "__call__":  # that of its class, whatever attributes it has
        inputs.guard(f"{inputs.name_for(kind, 'o')}.__call__", found)
    return found
