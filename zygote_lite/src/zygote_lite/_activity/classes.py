"""What a class defines, read without running its code."""

import dataclasses
import dis
import functools
import inspect
import types
from typing import Any

from zygote_lite._activity.reachability import is_users_class
from zygote_lite._cotangents.kinds import dict_of, is_foreign, is_written_in_python
from zygote_lite._ir.traits import HEAPTYPE
from zygote_lite.caches import cached_by_class


def member_of(kind: type, name: str) -> Any:
    """Return what a class (or a base class of it) defines under a name, or `None`."""
    for base in kind.__mro__:
        if name in base.__dict__:
            return base.__dict__[name]
    return None


def overrides_iteration(kind: type) -> bool:
    """Return whether a user class of lists or tuples defines its own iteration in Python."""
    if kind is list or kind is tuple or not issubclass(kind, list | tuple):
        return False
    names = ("__iter__", "__getitem__", "__len__")
    return any(isinstance(member_of(kind, name), types.FunctionType) for name in names)


_COMPARED = {"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__hash__", "__repr__"}


def hook_of(kind: type, name: str) -> Any:
    """Return the function that a user class has as method `name`, or `None` for C's own.

    It may be a function in C under another name: `__getattr__ = dict.__getitem__`.
    """
    member = member_of(kind, name)
    if isinstance(member, types.WrapperDescriptorType | types.MethodDescriptorType):
        return None if member.__name__ == name else member
    return member if isinstance(member, types.FunctionType) else None


def attribute_in_c(x: Any, name: str) -> Any:
    """Return an attribute as the part of the class that is written in C looks it up."""
    for base in type(x).__mro__:
        found = base.__dict__.get("__getattribute__")
        if found is not None and not isinstance(found, types.FunctionType):
            return found(x, name)
    raise AssertionError(f"{type(x).__qualname__} is no object")


def is_written_by_dataclasses(f: Any) -> bool:
    """Return whether the module `dataclasses` has written a function, which has no source.

    The file does not tell: at the prompt, and by `exec`, functions of the user have none either.
    """
    return isinstance(f, types.FunctionType) and f.__code__.co_qualname.startswith(_PREFIX)


_PREFIX = "__create_fn__.<locals>."


def is_method_of_dataclass(f: types.FunctionType, xs: tuple[Any, ...]) -> bool:
    """Return whether a function is a method that a dataclass was given, which has no source."""
    if not is_written_by_dataclasses(f) or f.__name__ not in _COMPARED or not xs:
        return False
    return dataclasses.is_dataclass(type(xs[0]))


def is_init_of_dataclass(f: Any, x: Any) -> bool:
    """Return whether a function is the `__init__` that a dataclass was given, without source."""
    written = is_written_by_dataclasses(f) and f.__name__ == "__init__"
    return written and dataclasses.is_dataclass(type(x))


@cached_by_class
def is_read_in_c(kind: type) -> bool:
    """Return whether a class of lists or dicts leaves it to C to read an item of an instance."""
    return (
        issubclass(kind, list | dict)
        and member_of(kind, "__missing__") is None
        and hook_of(kind, "__getitem__") is None
    )


def fields_of(x: Any) -> Any:
    """Return the `__dict__` of an object, whatever its class makes of attribute access."""
    fields = dict_of(x)
    return {} if fields is None else fields


def may_have_methods(kind: type) -> bool:
    """Return whether a class may define methods in Python that are for the engine to resolve."""
    return bool(kind.__flags__ & HEAPTYPE) and not is_foreign(kind)


def bind_method(kind: type, name: str) -> Any:
    """Return the Python function that a class defines as the method `name`, or `None`.

    What is special to arrays of other libraries, such as their operators, is up to the rules.
    """
    member = None if is_foreign(kind) else member_of(kind, name)
    return member if isinstance(member, types.FunctionType) else None


@cached_by_class
def intercepts(kind: type, name: str) -> bool:
    """Return whether writing or deleting an attribute may run Python code."""
    member = inspect.getattr_static(kind, name, None)
    own = (kind.__setattr__, kind.__delattr__)
    if any(isinstance(f, types.FunctionType) for f in own):
        return True
    return isinstance(member, property) or is_users_class(type(member))


@cached_by_class
def only_reads(kind: type, name: str) -> bool:
    """Return whether looking up an attribute changes nothing, as far as the class tells."""
    member = inspect.getattr_static(kind, name, None)
    own: Any = kind.__getattribute__
    if not isinstance(member, property) or isinstance(own, types.FunctionType):
        return not computes(kind, name)
    is_python = isinstance(member.fget, types.FunctionType)
    steps = [*dis.get_instructions(member.fget)] if is_python else []  # type: ignore[arg-type]
    loaded = [i.argval for i in steps if i.opname == "LOAD_ATTR"]
    others = {i.opname for i in steps} - {"RESUME", "LOAD_FAST", "LOAD_ATTR", "RETURN_VALUE"}
    return len(loaded) == 1 and not others and not computes(kind, loaded[0])


@cached_by_class
def computes(kind: type, name: str) -> bool:
    """Return whether looking up an attribute may run Python code."""
    member = inspect.getattr_static(kind, name, None)
    if isinstance(member, property | functools.cached_property):
        return True
    own: Any = kind.__getattribute__
    if isinstance(own, types.FunctionType):
        return True
    owner = type(member)  # of a class made by `exec` the module may be that of the builtins, too
    in_c = not is_written_in_python(owner) and owner.__module__ in ("builtins", "numpy")
    return hasattr(kind, "__getattr__") or not in_c


def is_class_active(active: dict[int, Any], x: Any) -> bool:
    """Return whether a class, that of an object, or a base of it holds what is active."""
    cls = x if isinstance(x, type) else type(x)
    if not cls.__flags__ & HEAPTYPE:
        return False
    is_of_metaclass = cls is x and type(x) is not type and is_class_active(active, type(x))
    return is_of_metaclass or any(id(base) in active for base in cls.__mro__)
