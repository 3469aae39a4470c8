"""Classes that the function makes: their attributes are variables, as those of objects are.

The class itself is never made. What stands for it is a class without contents, of the same name and
with the same ancestors, so that `isinstance` and `super()` find their way; its attributes are in
the table of its value. Methods are functions defined inside.
"""

import abc
import functools
import types
from typing import Any

from rulescore.faults import an
from zygote_lite._cotangents.kinds import is_written_in_python
from zygote_lite._specialize.infer.models.classes import (
    ABSENT,
    FUNCTIONS,
    bound_to,
    class_value,
    defined_in,
    definer_of,
    is_made_class,
    method_of,
    new_class,
    settle,
)
from zygote_lite._specialize.infer.models.instances import put
from zygote_lite._specialize.infer.models.records import of_dataclasses
from zygote_lite._specialize.normalize.class_bodies import Define
from zygote_lite._specialize.typed.abstract_eval import run
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.decisions import classes_of
from zygote_lite._specialize.typed.reasons import NotSupported, Unsound
from zygote_lite._specialize.typed.stand_ins import Descriptor, Local, StandIn
from zygote_lite._specialize.typed.values import Value, constant, made_class

_NAMES = ("__name__", "__qualname__", "__module__")
_DECORATORS: dict[Any, tuple[str, ...]] = {
    property: ("fget", "fset", "fdel"), staticmethod: ("fget",), classmethod: ("fget",),
    functools.cached_property: ("fget",),
}  # fmt: skip
_NOT_FOLLOWED = {"__del__", "__class__", "__getattribute__", "__slots__", "__class_getitem__",
                 "__instancecheck__", "__subclasscheck__", "__subclasshook__",
                 "__classcell__"}  # fmt: skip


# -- making them ---------------------------------------------------------------------------------


def define(builder: Builder, s: Define, bases: list[Value], entries: dict[str, Value]) -> Value:
    """Return the class that a `class` statement makes, of what its body has left."""
    if not _NOT_FOLLOWED.isdisjoint(entries):
        raise NotSupported.STATEMENT(
            f"a nested class defines {', '.join(sorted(_NOT_FOLLOWED & {*entries}))}"
        )
    if any(x in builder.iterators for x in entries.values()):
        raise Unsound.ITERATOR("it stores an iterator in a class: make a list of it first")
    code, name = builder.frames[-1].code, s.origin.name  # type: ignore[attr-defined]
    given = tuple(_base(builder, x) for x in bases)
    kind = run(_stand_for, [name, given, builder.frames[-1].globals.get("__name__")], {})
    kind.__annotations__ = dict.fromkeys(s.annotated, object)
    kind.__qualname__ = f"{code.co_qualname}.<locals>.{s.within}{name}"
    x = new_class(builder, kind, entries)
    for at, value in entries.items():
        if value.is_object and not is_made_class(value):
            own = method_of(builder.inputs, type(value.sample), "__set_name__")
            if own is not None:
                builder.apply(own, [value, x, constant(at)])
    return x


def _stand_for(name: str, bases: tuple[type, ...], module: str) -> type:
    """Return an empty class that stands for one of some name and ancestors."""
    kind: Any = types.new_class(name, bases)
    kind.__module__ = module or ""
    if isinstance(kind, abc.ABCMeta):
        kind.__abstractmethods__ = frozenset()  # which are left is told by their functions
    return kind  # type: ignore[no-any-return]


def _base(builder: Builder, x: Value) -> type:
    """Return a class that one which is made inside may inherit from."""
    kind = x.sample
    if not (isinstance(kind, type) and (x.is_constant or is_made_class(x))):
        raise NotSupported.STATEMENT("a class inherits from something that is not a class")
    for base in kind.__mro__[:-1]:
        if made_class(base) is not None:
            hook = defined_in(base, "__init_subclass__")
        else:
            plain = is_written_in_python(base) and type(base) in (type, abc.ABCMeta)
            if not (plain or issubclass(base, BaseException)):
                raise NotSupported.STATEMENT(f"a nested class inherits from {kind.__name__}")
            hook = vars(base).get("__init_subclass__", ABSENT)
        if hook is not ABSENT:
            raise NotSupported.STATEMENT("a nested class inherits an `__init_subclass__`")
    if made_class(kind) is None and kind is not object and is_written_in_python(kind):
        settle(builder.inputs, kind)
    return kind


# -- decorators of methods -------------------------------------------------------------------------


def decorated(f: Any, xs: list[Value], kws: dict[str, Value]) -> Value | None:
    """Return what a decorator of methods makes of functions defined inside; nothing of others."""
    given = [*xs, *kws.values()]
    if not given or not any(isinstance(x.sample, Local | Descriptor) for x in given):
        return None
    if f is functools.wraps and len(given) == 1:
        return constant(Descriptor(f, {}))
    if isinstance(f, Descriptor):
        if f.kind is not functools.wraps or len(given) != 1:
            return None
        for x in _locals_of(given[0]):
            x.is_wrapped = True
        return xs[0]
    if f is abc.abstractmethod and len(given) == 1:
        for x in _locals_of(given[0]):
            x.is_abstract = True
        return given[0]
    names = _DECORATORS.get(f)
    if names is None or len(given) > len(names) or not kws.keys() <= {*names}:
        return None
    functions = dict(zip(names, xs, strict=False)) | kws
    functions = {at: x for at, x in functions.items() if x.sample is not None}
    if not all(isinstance(x.sample, FUNCTIONS) for x in functions.values()):
        return None
    return constant(Descriptor(f, functions))


def _locals_of(x: Value) -> list[Local]:
    if isinstance(x.sample, Descriptor):
        return [f.sample for f in x.sample.functions.values() if isinstance(f.sample, Local)]
    return [x.sample] if isinstance(x.sample, Local) else []


def with_accessor(x: Descriptor, name: str, f: Value) -> Value:
    """Return a property with another function: `p.setter(f)`."""
    at = {"getter": "fget", "setter": "fset", "deleter": "fdel"}.get(name)
    if x.kind is not property or at is None:
        raise NotSupported.METHOD(f"it calls the method {name} of {an(x.kind.__name__)}")
    return constant(Descriptor(property, {**x.functions, at: f}))


# -- attributes --------------------------------------------------------------------------------


def class_attribute(builder: Builder, x: Value, name: str) -> Value:
    """Return an attribute of a class that the function has made."""
    kind = x.sample
    if name in _NAMES:
        return constant(getattr(kind, name))
    if name == "__class__":
        return constant(type(kind))
    owner = definer_of(kind, name)
    if owner is None or owner is object:
        if hasattr(type(kind), name) or owner is object:
            raise NotSupported.ATTRIBUTE(f"it reads the attribute {name} of a class made inside")
        raise Unsound.RAISES(f"a class has no attribute {name}").always(AttributeError)
    found = defined_in(owner, name)
    if isinstance(found, Local):
        return constant(found)
    if isinstance(found, Value) and found.is_object and not is_made_class(found):
        own = method_of(builder.inputs, type(found.sample), "__get__")
        return found if own is None else builder.apply(own, [found, constant(None), x])
    if isinstance(found, Descriptor) and found.kind in (property, functools.cached_property):
        return constant(found)
    if isinstance(found, types.FunctionType) and made_class(owner) is None:
        builder.inputs.guard(f"{builder.inputs.name_for(owner, 'o')}.{name}", found)
        return constant(found)
    if isinstance(found, property | types.MemberDescriptorType):
        raise NotSupported.ATTRIBUTE(f"it reads the attribute {name} of a class made inside")
    return (
        constant(found) if isinstance(found, FUNCTIONS) else bound_to(builder, x, kind, name, found)
    )


def set_class_attribute(builder: Builder, x: Value, name: str, value: Value) -> None:
    """Note `x.name = value` of a class that the function has made."""
    if name in _NOT_FOLLOWED or (name.startswith("__") and name.endswith("__")):
        raise NotSupported.ATTRIBUTE(f"it assigns the attribute {name} of a class")
    put(builder, x, name, value)


# -- builtins ------------------------------------------------------------------------------------


def of_definitions(
    builder: Builder, f: Any, xs: list[Value], kws: dict[str, Value]
) -> Value | None:
    """Return what functions make of functions and classes defined inside, or tell of them."""
    found = of_dataclasses(builder, f, xs, kws) or decorated(f, xs, kws)
    return found or (None if kws else _told(f, xs))


def _told(f: Any, xs: list[Value]) -> Value | None:
    """Return what builtins tell of classes made inside, and of their objects; nothing of others."""
    if f is type and len(xs) == 1:
        kind = type(xs[0].sample)
        return class_value(kind) if xs[0].is_object and made_class(kind) is not None else None
    if f in (isinstance, issubclass) and len(xs) == 2:
        kinds = xs[1].items if type(xs[1].sample) is tuple and xs[1].items else [xs[1]]
        if not any(map(is_made_class, kinds)):
            return None
        if not all(is_made_class(k) or type(k.sample) is type for k in kinds):
            raise Unsound.CLASS(
                "it asks for instances of an abstract class, to which classes may be added"
            )
        wanted = tuple(k.sample for k in kinds)
        return _answered(xs[0], f, wanted)
    if f is callable and len(xs) == 1:
        return constant(True) if is_made_class(xs[0]) else None
    return None


def _answered(x: Value, f: Any, kinds: tuple[type, ...]) -> Value:
    if f is isinstance:
        if isinstance(x.sample, StandIn):
            return constant(False)
        answers = {_is_below(kind, kinds) for kind in classes_of(x)}
    elif isinstance(x.sample, type):
        answers = {_is_below(x.sample, kinds)}
    else:
        raise Unsound.RAISES("issubclass gets something that is not a class")
    if len(answers) > 1:
        raise Unsound.CLASS("it asks for the class of a number that may be of several types")
    return constant(answers.pop())


def _is_below(kind: type, kinds: tuple[type, ...]) -> bool:
    return any(wanted in kind.__mro__ for wanted in kinds)
