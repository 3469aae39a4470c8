"""Named tuples: their fields are variables, by name and by place."""

import collections
import operator
import types
from typing import Any

from rulescore import find_rule
from rulescore.faults import an
from zygote_lite._cotangents.kinds import is_written_in_python
from zygote_lite._specialize.infer.iteration.known import known_items
from zygote_lite._specialize.infer.models.classes import of_class, settle
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.reasons import NotSupported, Unsound
from zygote_lite._specialize.typed.stand_ins import Method
from zygote_lite._specialize.typed.structures import mapping, named_tuple, structure
from zygote_lite._specialize.typed.values import Value, constant

_OF_TUPLES = {"__new__", "__init__", "__getattribute__", "__getattr__", "__setattr__", "__iter__",
             "__getitem__", "__len__", "__contains__", "__reversed__", "__class__", "__del__",
             "__bool__", "_replace", "_make", "_asdict", "_fields"}  # fmt: skip
_OWN = {"__new__", "_replace", "_make", "_asdict", "_fields"}
FIELD_OF_NAMED = type(collections.namedtuple("One", "field").field)  # type: ignore[attr-defined]
OF_NAMED = {"_replace", "_asdict", "_fields", "_make", "count", "index"}


def is_named_tuple(kind: Any) -> bool:
    """Return whether a class is one of named tuples, which does nothing of its own with fields."""
    if not (isinstance(kind, type) and type(kind) is type and issubclass(kind, tuple)):
        return False
    *own, within, top = kind.__mro__
    if within is not tuple or top is not object or not own:
        return False
    *below, base = own
    new = vars(base).get("__new__")
    new = new.__func__ if isinstance(new, staticmethod) else new
    generated = isinstance(new, types.FunctionType) and new.__code__.co_filename == "<string>"
    return (
        "_fields" in vars(base)
        and generated
        and all(type(of_class(kind, name)) is FIELD_OF_NAMED for name in vars(base)["_fields"])
        and not (_OF_TUPLES - _OWN) & vars(base).keys()
        and not any(_OF_TUPLES & vars(b).keys() or not is_written_in_python(b) for b in below)
    )


def construct_named(builder: Builder, kind: Any, xs: list[Value], kws: dict[str, Value]) -> Value:
    """Return a new named tuple."""
    if find_rule(kind, *[x.sample for x in xs], **{n: x.sample for n, x in kws.items()}):
        raise Unsound.OWN_RULE(f"{kind.__name__} has a rule")
    new = kind.__new__
    builder.inputs.guard(f"{settle(builder.inputs, kind)}.__new__", new)
    given = builder.parameters(new, [constant(kind), *xs], kws, set())
    return of_fields(builder, kind, [given[name] for name in kind._fields])


def of_fields(builder: Builder, kind: Any, fields: list[Value]) -> Value:
    """Return a named tuple of some fields."""
    if any(x in builder.iterators for x in fields):
        raise Unsound.ITERATOR(f"{an(kind.__name__)} holds an iterator: make a list of it first")
    return named_tuple(kind, fields)


def attribute_of_named(builder: Builder, x: Value, name: str) -> Value:
    """Return what every named tuple has."""
    if name == "_fields":
        return constant(type(x.sample)._fields)
    return constant(Method(x, name))


def method_of_named(
    builder: Builder, x: Value, name: str, xs: list[Value], kws: dict[str, Value]
) -> Value:
    """Return what a method that every named tuple has gives."""
    kind: Any = type(x.sample)
    assert x.fields is not None
    if name == "_replace" and not xs:
        if not kws.keys() <= x.fields.keys():
            raise Unsound.RAISES(f"{an(kind.__name__)} has no such fields")
        return of_fields(builder, kind, [*{**x.fields, **kws}.values()])
    if name == "_asdict" and not xs and not kws:
        found = mapping(dict(x.fields))
        builder.homes[found] = builder.out
        return found
    raise NotSupported.METHOD(f"it calls the method {name} of {an(kind.__name__)}")


def item_of_named(x: Value, index: Value) -> Value:
    """Return an item, or a slice, of a named tuple."""
    items = known_items(x) or []
    if not index.is_constant:
        raise NotSupported.ITEM(
            "it takes an item of a named tuple at an index that is not a constant"
        )
    if isinstance(index.sample, slice):
        return structure(tuple, items[index.sample])
    n = operator.index(index.sample)
    if not -len(items) <= n < len(items):
        raise Unsound.RAISES("an index of a named tuple is out of range")
    return items[n]
