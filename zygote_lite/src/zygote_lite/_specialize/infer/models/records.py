"""Dataclasses that the function defines inside, and comparisons that `dataclasses` has written."""

import dataclasses
import operator
import sys
from typing import Any

from zygote_lite._specialize.infer.counters import leave_where
from zygote_lite._specialize.infer.models.classes import is_made_class, keep, method_of, new_class
from zygote_lite._specialize.typed.abstract_eval import run
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.facts import FLOATS, Scalar
from zygote_lite._specialize.typed.reasons import NotSupported, Unsound
from zygote_lite._specialize.typed.stand_ins import Descriptor, Given
from zygote_lite._specialize.typed.values import Value, constant, made_class

_WRITTEN = {"__lt__", "__le__", "__gt__", "__ge__", "__setattr__", "__delattr__"}
_OPTIONS = {"weakref_slot", "kw_only", "unsafe_hash"}


def of_dataclasses(
    builder: Builder, f: Any, xs: list[Value], kws: dict[str, Value]
) -> Value | None:
    """Return what `dataclass` and `field` make of classes and values inside; nothing of others."""
    if isinstance(f, Descriptor):
        known = f.kind is dataclasses.dataclass and len(xs) == 1 and not kws
        return _as_dataclass(builder, xs[0], f.functions) if known else None
    if f is dataclasses.dataclass and not xs:
        return constant(Descriptor(f, kws))
    if f is dataclasses.dataclass and len(xs) == 1 and is_made_class(xs[0]):
        return _as_dataclass(builder, xs[0], kws)
    if f is dataclasses.field and not xs:
        return constant(Descriptor(f, kws))
    return None


def _as_dataclass(builder: Builder, x: Value, options: dict[str, Value]) -> Value:
    """Return a class with the methods of a dataclass: those of what stands for it."""
    if not is_made_class(x) or not all(option.is_constant for option in options.values()):
        raise NotSupported.STATEMENT(
            "`dataclass` decorates something that is not a class, or has options that are not "
            "constants"
        )
    assert x.fields is not None
    written = {name for name in ("frozen", "order") if name in options}
    if _OPTIONS & {*options} or (written and _WRITTEN & x.fields.keys()):
        raise NotSupported.STATEMENT(
            "a nested dataclass has options such as `slots`, or defines a method that `dataclass` "
            "writes"
        )
    kind, entries = x.sample, dict(x.fields)
    for name in vars(kind).get("__annotations__", {}):
        if name in entries:
            given = entries.pop(name)
            declared, kept = _declared_field(builder, given)
            type.__setattr__(kind, name, declared)
            if kept is not None:
                entries[name] = kept
    given_options = {name: option.sample for name, option in options.items()}
    made = run(dataclasses.dataclass, [kind], given_options)
    if made is not kind:  # with slots, which hold no defaults
        names = made.__dataclass_fields__.keys()
        return new_class(builder, made, {k: v for k, v in entries.items() if k not in names})
    x.fields = entries
    return x


def _declared_field(builder: Builder, given: Value) -> tuple[Any, Value | None]:
    """Return the field that a value in the body of a dataclass declares, and its default."""
    options = {"default": given}
    if isinstance(given.sample, Descriptor) and given.sample.kind is dataclasses.field:
        options = given.sample.functions
    default = options.get("default")
    if default is not None and _is_unhashable(builder, default):
        raise Unsound.RAISES(
            "a field of a dataclass has a list, dict or set as its default: use `default_factory`"
        )
    held = {"default", "default_factory"}
    plain = {name: option.sample for name, option in options.items() if name not in held}
    if not all(option.is_constant for name, option in options.items() if name not in held):
        raise NotSupported.STATEMENT(
            "a field of a nested dataclass has options that are not constants"
        )
    kept = {name: Given(options[name]) for name in held & {*options}}
    return run(dataclasses.field, [], {**plain, **kept}), default


def _is_unhashable(builder: Builder, x: Value) -> bool:
    if x.is_object and not is_made_class(x):
        return method_of(builder.inputs, type(x.sample), "__eq__") is not None
    return x.is_array or type(x.sample).__hash__ is None


# -- comparisons -----------------------------------------------------------------------------------


def compared_by_fields(builder: Builder, a: Value, b: Value, f: Any) -> Value:
    """Return what a comparison gives that `dataclasses` has written, of objects of one class."""
    kind: Any = type(a.sample)
    declared = kind.__dataclass_fields__
    if made_class(kind) is None:
        keep(builder.inputs, kind, "__dataclass_fields__", declared)
    names = [name for name, field in declared.items() if field.compare]
    parts = [[builder.attribute(x, name) for name in names] for x in (a, b)]
    for part in (*parts[0], *parts[1]):
        if isinstance(part.fact, Scalar):
            if part.fact.classes & FLOATS and sys.version_info < (3, 13):
                # a tuple takes one and the same NaN for equal
                leave_where(builder, builder.apply(operator.ne, [part, part]))
        elif not (part.is_constant and isinstance(part.sample, str | None)):
            raise NotSupported.CONTAINER(
                "it compares dataclasses whose fields are not numbers or text"
            )
    result = constant(f in (operator.eq, operator.le, operator.ge))
    for x, y in reversed([*zip(*parts, strict=True)]):  # the first two that differ decide
        found = constant(f is operator.ne) if f in (operator.eq, operator.ne) else None
        found = found or builder.apply(f, [x, y])
        result = builder.apply(_chosen, [builder.apply(operator.ne, [x, y]), found, result])
    return result


def _chosen(differ: bool, one: bool, other: bool) -> bool:
    return one if differ else other
