"""User classes: their attributes, under guards that refuse the code where a class has changed.

The guard of a class tests its ancestors, and which names each of them defines: a property, a
`__setattr__` or a `__getattr__` that is added later is seen. A method or a value that is used is
tested to be the same object.
"""

import abc
import functools
import threading
import types
from typing import Any

from rulescore.faults import an
from zygote_lite._cotangents.kinds import is_written_in_python
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.facts import Other
from zygote_lite._specialize.typed.inputs import Inputs
from zygote_lite._specialize.typed.notes import attribute_outside
from zygote_lite._specialize.typed.reasons import NotSupported, Unsound
from zygote_lite._specialize.typed.stand_ins import LOST, Descriptor, Local, Method
from zygote_lite._specialize.typed.values import TABLE, Value, constant, made_class

ABSENT = object()
FUNCTIONS = (types.FunctionType, Local)
_OF_ATTRIBUTES = ("__setattr__", "__delattr__", "__getattr__")
NAMES_OF_CLASSES = ("__name__", "__qualname__")
_PLAIN_IN_C = (types.SimpleNamespace, functools._lru_cache_wrapper, threading.local)
_COMPUTING = {"__getattr__", "__getattribute__", "__class__"}
_names: dict[frozenset[str], frozenset[str]] = {}  # one object for equal sets: guards name it
_MOST_NAMES = 1024


def is_plain(x: Any) -> bool:
    """Return whether an object keeps its attributes in a dict, and none is computed by its class.

    Descriptors, as properties are, have to be looked for one by one.
    """
    for base in type(x).__mro__[:-1]:
        computes = not _COMPUTING.isdisjoint(vars(base))
        if (computes or not is_written_in_python(base)) and base not in _PLAIN_IN_C:
            return False
    return type(getattr(x, "__dict__", None)) is dict


def new_class(builder: Builder, kind: type, attributes: dict[str, Value]) -> Value:
    """Return the value of a class that the function makes."""
    x = Value(Other(type), kind)
    x.fields, x.scope = attributes, builder.loop
    type.__setattr__(kind, TABLE, x)
    builder.objects.append(x)
    return x


def is_made_class(x: Value) -> bool:
    """Return whether a value is a class that the function makes."""
    return x.fields is not None and isinstance(x.sample, type)


def class_value(kind: type) -> Value:
    """Return the value of a class, made inside or not."""
    return made_class(kind) or constant(kind)


def defined_in(base: type, name: str) -> Any:
    """Return what a class itself defines under a name."""
    made = made_class(base)
    if made is None or made.fields is None or name not in made.fields:
        return vars(base).get(name, ABSENT)
    x = made.fields[name]
    if x is LOST:
        raise NotSupported.DEPENDS_ON_PATH(
            f"the attribute {name} of the class {base.__name__} is different after two branches"
        )
    return x.sample if isinstance(x.sample, (*FUNCTIONS, Descriptor)) else x


def definer_of(kind: type, name: str) -> type | None:
    """Return the class in which instances of a class find a name."""
    return next((base for base in kind.__mro__ if defined_in(base, name) is not ABSENT), None)


def of_class(kind: type, name: str) -> Any:
    """Return the attribute that instances of a class find there, before any binding."""
    owner = definer_of(kind, name)
    return ABSENT if owner is None else defined_in(owner, name)


def keep(inputs: Inputs, kind: type, name: str, x: Any, within: str = "") -> None:
    """Demand that a class gives what it does now under a name, unless it is made inside.

    Arguments:
        inputs: what holds the guards.
        kind: the class, whose ancestors are settled.
        name: the name.
        x: what it gives, or, where `within`, what an attribute of that is.
        within: a dot, and the name of that attribute.
    """
    owner = definer_of(kind, name)
    if owner is None or made_class(owner) is not None:
        return
    at = owner if made_class(kind) is not None else kind
    inputs.guard(f"{inputs.name_for(at, 'o')}.{name}{within}", x)


def in_class(inputs: Inputs, kind: type, name: str) -> str:
    """Return the expression for what instances of a class find there, before any binding."""
    return f"{inputs.name_for(definer_of(kind, name), 'o')}.__dict__[{name!r}]"


def settle(inputs: Inputs, kind: type) -> str:
    """Demand that a class defines and inherits the names that it does now; return its name.

    Of a class that is made inside, its ancestors.
    """
    if made_class(kind) is not None:
        for base in kind.__bases__:
            settle(inputs, base)
        return ""
    known = inputs.name_for(kind, "o")
    inputs.guard(f"{known}.__mro__", kind.__mro__)
    for base in kind.__mro__[:-1]:
        if is_written_in_python(base):
            names = frozenset(vars(base))
            if len(_names) >= _MOST_NAMES:
                _names.clear()
            names = _names.setdefault(names, names)
            at = inputs.name_for(base, "o")
            inputs.guards[f"{at}.__dict__.keys() == {inputs.name_for(names, 'names')}"] = None
    return known


def is_ordinary(kind: Any) -> bool:
    """Return whether a class was made by a `class` statement, without a user's metaclass."""
    return type(kind) in (type, abc.ABCMeta) and all(
        is_written_in_python(base) for base in kind.__mro__[:-1]
    )


def abstract_methods(kind: type) -> set[str]:
    """Return the names of the methods that a class leaves to those that inherit from it."""
    names: set[str] = set()
    for base in kind.__mro__:
        made = made_class(base)
        names |= {
            *(getattr(base, "__abstractmethods__", ()) if made is None else made.fields or ())
        }
    return {name for name in names if _is_abstract(of_class(kind, name))}


def _is_abstract(found: Any) -> bool:
    if isinstance(found, Descriptor):
        return any(_is_abstract(f.sample) for f in found.functions.values())
    if isinstance(found, Local):
        return found.is_abstract
    return bool(getattr(found, "__isabstractmethod__", False)) if _is_plain(found) else False


def _is_plain(found: Any) -> bool:
    return isinstance(found, types.FunctionType | property | classmethod | staticmethod)


def method_of(inputs: Inputs, kind: type, name: str) -> Any:
    """Return a special method of a class, as operators find it; `None` where there is none."""
    if kind is types.SimpleNamespace and name in _OF_ATTRIBUTES:  # they are those of `object`
        return None
    found = of_class(kind, name)
    if found is ABSENT or found is getattr(object, name, ABSENT):
        return None
    if not isinstance(found, FUNCTIONS):
        raise NotSupported.METHOD(
            f"the method {name} of {an(kind.__name__)} is not a Python function"
        )
    settle(inputs, kind)
    keep(inputs, kind, name, found)
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
    if isinstance(found, Value):
        return _bound_value(builder, x, found)
    if isinstance(found, Descriptor):
        return _bound_descriptor(builder, x, name, found)
    if isinstance(found, property) and isinstance(found.fget, types.FunctionType):
        keep(inputs, kind, name, found)
        return builder.apply(found.fget, [x])
    if isinstance(found, FUNCTIONS):
        keep(inputs, kind, name, found)
        return constant(Method(x, name, found))
    if isinstance(found, classmethod | staticmethod):
        function = found.__func__
        if not isinstance(function, types.FunctionType):
            raise NotSupported.METHOD(
                f"the method {name} of {an(kind.__name__)} is not a plain, class or static method"
            )
        if isinstance(found, staticmethod):
            keep(inputs, kind, name, function)
            return constant(function)
        keep(inputs, kind, name, function, ".__func__")
        return constant(Method(_class_of(x), name, function))
    if found is ABSENT:
        raise Unsound.RAISES(f"{an(kind.__name__)} has no attribute {name}")
    if hasattr(type(found), "__get__"):
        getter = of_descriptor(builder, kind, name, found, "__get__")
        if getter is None:
            raise Unsound.COMPUTED_ATTRIBUTE(f"the attribute {name} is computed where it is read")
        return builder.call(getter, [x, class_value(type(x.sample))], {})
    if attribute_outside(definer_of(kind, name), name) in builder.own:
        raise NotSupported.ATTRIBUTE(f"it assigns the attribute {name} of a class, and inherits it")
    hidden = name in NAMES_OF_CLASSES  # a class has another one itself
    at = definer_of(kind, name) if hidden or made_class(kind) is not None else kind
    path = f".__dict__[{name!r}]" if hidden else f".{name}"
    return builder.read(found, f"{inputs.name_for(at, 'o')}{path}", name)


def _class_of(x: Value) -> Value:
    """Return the class that a class method is bound to."""
    return x if isinstance(x.sample, type) else class_value(type(x.sample))


def _bound_value(builder: Builder, x: Value, found: Value) -> Value:
    """Return an attribute that an object has from a class made inside, unless it is a function."""
    getter = of_descriptor(builder, type, "", found, "__get__")
    if getter is None:
        return found
    return builder.call(getter, [x, class_value(type(x.sample))], {})


def _bound_descriptor(builder: Builder, x: Value, name: str, found: Descriptor) -> Value:
    """Return what an object finds in a class made inside, where a decorator made that."""
    f = found.functions.get("fget")
    if f is None:
        raise Unsound.RAISES(f"the attribute {name} cannot be read").always(AttributeError)
    if found.kind is property:
        return builder.call(f, [x], {})
    if found.kind is staticmethod:
        return f
    if found.kind is classmethod:
        return constant(Method(_class_of(x), name, f.sample))
    raise NotSupported.METHOD(f"it reads the attribute {name}, of {an(found.kind.__name__)}")


def is_property(found: Any) -> bool:
    """Return whether a class defines a property."""
    return isinstance(found, property) or (isinstance(found, Descriptor) and found.kind is property)


def function_of_property(builder: Builder, kind: type, name: str, found: Any, way: str) -> Value:
    """Return the function that sets or deletes a property."""
    if isinstance(found, property):
        keep(builder.inputs, kind, name, found)
        f = getattr(found, way)
        f = None if not isinstance(f, types.FunctionType) else constant(f)
    else:
        f = found.functions.get(way)
    if f is None:
        raise Unsound.RAISES(f"the attribute {name} of {an(kind.__name__)} cannot be assigned")
    return f  # type: ignore[no-any-return]


def is_data_descriptor(found: Any) -> bool:
    """Return whether what a class defines comes before the attributes of its objects."""
    if isinstance(found, Value):
        of = [of_class(type(found.sample), name) for name in ("__set__", "__delete__")]
        return found.is_object and any(x is not ABSENT for x in of)
    if isinstance(found, types.MemberDescriptorType):
        return False
    is_data = hasattr(type(found), "__set__") or hasattr(type(found), "__delete__")
    return is_property(found) or is_data


def of_descriptor(builder: Builder, kind: type, name: str, found: Any, way: str) -> Value | None:
    """Return the method by which an object in a class says what an attribute is.

    Nothing where it says nothing. Raises `NotSpecializable` for what is written in C.
    """
    if isinstance(found, Value):
        own = method_of(builder.inputs, type(found.sample), way) if found.is_object else None
        return None if own is None else constant(Method(found, way, own))
    if isinstance(found, Descriptor) or not hasattr(type(found), way):
        return None
    owner = definer_of(kind, name)
    if not is_plain(found) or owner is None:
        raise Unsound.COMPUTED_ATTRIBUTE(f"the attribute {name} is computed where it is set")
    at = f"{builder.inputs.name_for(owner, 'o')}.__dict__[{name!r}]"
    descriptor = builder.read(found, at, name)
    return constant(Method(descriptor, way, method_of(builder.inputs, type(found), way)))


def cached_by(found: Any) -> Any:
    """Return the function of a `cached_property`; nothing of anything else."""
    if type(found) is functools.cached_property:
        return found.func
    if isinstance(found, Descriptor) and found.kind is functools.cached_property:
        return found.functions["fget"].sample
    return None


def names_class(kind: type, name: str) -> bool:
    """Return whether an attribute of a class is its name, or, of one in C, that of its module."""
    of_module = name == "__module__" and not is_written_in_python(kind)
    return of_module or name in NAMES_OF_CLASSES


def name_of_class(builder: Builder, kind: type, name: str) -> Value:
    """Return the name of a class, whatever the class defines under that word."""
    text = type.__dict__[name].__get__(kind)
    builder.inputs.guards[f"{builder.inputs.name_for(kind, 'o')}.{name} == {text!r}"] = None
    return constant(text)


def class_method(builder: Builder, x: Value, name: str) -> Value:
    """Return a class method that is looked up on its class."""
    kind = x.sample
    if not is_ordinary(kind):
        raise NotSupported.ATTRIBUTE(f"it reads the attribute {name} of {kind.__name__}")
    settle(builder.inputs, kind)
    return bound_to(builder, x, kind, name, of_class(kind, name))
