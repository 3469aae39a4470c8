"""Classes of the user's: what instances find there, under guards that it stays so.

The guard of a class tests its ancestors, and which names each of them defines: a property, a
`__setattr__` or a `__getattr__` that is added later is seen. A method or a value that is used is
tested to be the same object.
"""

import abc
import types
from typing import Any

from zygote_lite._cotangents.kinds import HEAPTYPE
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.inputs import Inputs
from zygote_lite._specialize.typed.reasons import NotSupported, Unsound
from zygote_lite._specialize.typed.stand_ins import Method
from zygote_lite._specialize.typed.values import Value, constant

ABSENT = object()
_COMPUTING = {"__getattr__", "__getattribute__", "__class__"}
_names: dict[frozenset[str], frozenset[str]] = {}  # one object for equal sets: guards name it


def is_plain(x: Any) -> bool:
    """Return whether an object keeps its attributes in a dict, and none is computed by its class.

    Descriptors, as properties are, have to be looked for one by one.
    """
    for base in type(x).__mro__[:-1]:
        computes = not _COMPUTING.isdisjoint(vars(base))
        if (computes or not base.__flags__ & HEAPTYPE) and base is not types.SimpleNamespace:
            return False
    return type(getattr(x, "__dict__", None)) is dict


def of_class(kind: type, name: str) -> Any:
    """Return the attribute that instances of a class find there, before any binding."""
    return next((vars(base)[name] for base in kind.__mro__ if name in vars(base)), ABSENT)


def settle(inputs: Inputs, kind: type) -> str:
    """Demand that a class defines and inherits the names that it does now; return its name."""
    known = inputs.name_for(kind, "o")
    inputs.guard(f"{known}.__mro__", kind.__mro__)
    for base in kind.__mro__[:-1]:
        if base.__flags__ & HEAPTYPE:
            names = frozenset(vars(base))
            names = _names.setdefault(names, names)
            at = inputs.name_for(base, "o")
            inputs.guards[f"{at}.__dict__.keys() == {inputs.name_for(names, 'names')}"] = None
    return known


def is_ordinary(kind: Any) -> bool:
    """Return whether a class was made by a `class` statement, without a metaclass of the user's."""
    return type(kind) in (type, abc.ABCMeta) and all(
        base.__flags__ & HEAPTYPE for base in kind.__mro__[:-1]
    )


def method_of(inputs: Inputs, kind: type, name: str) -> Any:
    """Return a special method of a class, as operators find it; `None` where there is none."""
    found = of_class(kind, name)
    if found is ABSENT or found is getattr(object, name, ABSENT):
        return None
    if not isinstance(found, types.FunctionType):
        raise NotSupported.METHOD(f"the method {name} of a {kind.__name__} is no Python function")
    inputs.guard(f"{settle(inputs, kind)}.{name}", found)
    return found


def bound_to(builder: Builder, x: Value, kind: type, name: str, found: Any) -> Value:
    """Return what an object finds in its class under a name.

    Arguments:
        builder: what writes the code.
        x: the object that methods are bound to; a class, for what is looked up on it.
        kind: the class, or one of its ancestors, that the guard tests.
        name: the name.
        found: what that class defines there.
    """
    inputs = builder.inputs
    at = f"{inputs.name_for(kind, 'o')}.{name}"
    if isinstance(found, property) and isinstance(found.fget, types.FunctionType):
        inputs.guard(at, found)
        return builder.apply(found.fget, [x])
    if isinstance(found, types.FunctionType):
        inputs.guard(at, found)
        return constant(Method(x, name, found))
    if isinstance(found, classmethod | staticmethod):
        function = found.__func__
        if not isinstance(function, types.FunctionType):
            raise NotSupported.METHOD(f"the method {name} of a {kind.__name__} is of another kind")
        if isinstance(found, staticmethod):
            inputs.guard(at, function)
            return constant(function)
        owner = x if isinstance(x.sample, type) else constant(type(x.sample))
        inputs.guard(f"{at}.__func__", function)
        return constant(Method(owner, name, function))
    if found is ABSENT:
        raise Unsound.RAISES(f"a {kind.__name__} has no attribute {name}")
    if hasattr(type(found), "__get__"):
        raise Unsound.COMPUTED_ATTRIBUTE(f"the attribute {name} is computed where it is read")
    return builder.read(found, at, name)


def class_method(builder: Builder, x: Value, name: str) -> Value:
    """Return a class method that is looked up on its class."""
    kind = x.sample
    if not is_ordinary(kind):
        raise NotSupported.ATTRIBUTE(f"it reads the attribute {name} of {kind.__name__}")
    settle(builder.inputs, kind)
    return bound_to(builder, x, kind, name, of_class(kind, name))
