"""Calls of methods of arrays, numbers, lists, dicts and iterators."""

import types
from typing import Any

import numpy as np

from rulescore import rules_of
from rulescore.faults import an
from zygote_lite._ir.names import name_of
from zygote_lite._specialize.infer.builds import CHANGING, change_items
from zygote_lite._specialize.infer.effects import draws as _draws
from zygote_lite._specialize.infer.effects.asked import method_of_collector
from zygote_lite._specialize.infer.effects.collectors import demand_collector, is_collector
from zygote_lite._specialize.infer.held import containers as _held
from zygote_lite._specialize.infer.held import methods as _held_methods
from zygote_lite._specialize.infer.iteration import taken as _taken
from zygote_lite._specialize.infer.iteration.iterators import is_iterator
from zygote_lite._specialize.infer.models import dicts as _dicts
from zygote_lite._specialize.infer.models import fields as _fields
from zygote_lite._specialize.infer.models import instances as _instances
from zygote_lite._specialize.infer.models import made_classes as _made_classes
from zygote_lite._specialize.infer.models import named as _named
from zygote_lite._specialize.infer.models import objects as _objects
from zygote_lite._specialize.infer.models import sets as _sets
from zygote_lite._specialize.infer.models.lookups import (
    bound_arguments,
    is_lookup,
    method_of_lookup,
)
from zygote_lite._specialize.infer.tables import is_table, method_of_table
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.facts import Scalar
from zygote_lite._specialize.typed.reasons import NotSupported, Unsound
from zygote_lite._specialize.typed.stand_ins import (
    Descriptor,
    Fields,
    Method,
    Signature,
)
from zygote_lite._specialize.typed.structures import is_named
from zygote_lite._specialize.typed.values import Value, constant


def _refuse_rule_of_bound(f: Any) -> None:
    """Leave it to the tape where a rule is for the method of one object or class."""
    known = rules_of(f.__code__) if isinstance(f, types.FunctionType) else ()
    if any(isinstance(rule.function, types.MethodType) for rule in known):
        raise NotSupported.RULE_FORM(f"there is a rule for {name_of(f)} of one object or class")


def method_call(
    builder: Builder, f: Method, xs: list[Value], kws: dict[str, Value], stem: str
) -> Value:
    owner = f.owner
    if isinstance(owner.sample, Descriptor) and len(xs) == 1:
        return _made_classes.with_accessor(owner.sample, f.name, xs[0])
    if isinstance(owner.sample, Signature):
        return bound_arguments(builder, owner.sample, xs, kws)
    if is_table(owner):
        return method_of_table(builder, owner, f.name, xs, kws)
    if is_collector(owner):
        return method_of_collector(builder, owner, f.name, xs, kws)
    if type(owner.sample) is list and f.name in CHANGING and builder.held:
        demand_collector(builder, owner)
    if _draws.is_generator(owner):
        return _draws.drawn(builder, owner, f.name, xs, kws, stem)
    if _held.is_held(owner):
        return _held_methods.held_method(builder, owner, f.name, xs, kws)
    if _held.may_be_held(builder, owner) and not _is_of_structures(owner, f.name, xs):
        return _held_methods.held_method(builder, _held.hold(builder, owner), f.name, xs, kws)
    if f.function is object.__init__:
        if xs or kws:
            raise Unsound.RAISES("`object` takes no arguments")
        return constant(None)
    if f.function is not None:
        if f.name == "__init__":
            return _instances.initialized(builder, owner, f.function, xs, kws)
        _refuse_rule_of_bound(f.function)
        return builder.apply(f.function, [owner, *xs], kws, stem)
    if owner.is_array:
        return builder.apply(getattr(np.ndarray, f.name), [owner, *xs], kws, stem)
    if f.name == "conjugate" and isinstance(owner.fact, Scalar) and not (xs or kws):
        if owner.fact.classes == {complex}:
            return builder.apply(complex.conjugate, [owner], {}, stem)
        if owner.fact.classes <= {float, int}:
            return owner
    if isinstance(owner.fact, Scalar) and len(owner.fact.classes) == 1:
        (kind,) = owner.fact.classes
        if issubclass(kind, np.generic):
            return builder.apply(getattr(kind, f.name), [owner, *xs], kws, stem)
    if isinstance(owner.sample, Fields):
        return _fields.method_of_fields(builder, owner, f.name, xs, kws)
    if is_iterator(owner):
        return _taken.method_of_iterator(builder, owner, f.name, xs, kws)
    if f.name == "append" and type(owner.sample) is list and len(xs) == 1 and not kws:
        return builder.append(owner, xs[0])
    is_structure = type(owner.sample) is list and owner.items is not None
    if is_structure and len(xs) in CHANGING.get(f.name, ()) and not kws:
        return change_items(builder, owner, f.name, xs)
    if _sets.is_set(owner) and not kws:
        return _sets.method_of_set(builder, owner, f.name, xs)
    if is_lookup(owner) and not kws:
        return method_of_lookup(builder, owner, f.name, xs)
    if is_named(owner):
        return _named.method_of_named(builder, owner, f.name, xs, kws)
    if _dicts.is_dict(owner):
        return _dicts.method(builder, owner, f.name, xs, kws)
    if owner.where is not None:
        own = _objects.function_of(builder.inputs, owner, f.name)
        _refuse_rule_of_bound(own)
        return builder.apply(own, [owner, *xs], kws, stem)
    raise NotSupported.METHOD(f"it calls the method {f.name} of {an(type(owner.sample).__name__)}")


def _is_of_structures(x: Value, name: str, xs: list[Value]) -> bool:
    """Return whether a method of a list or a dict is known of structures."""
    if type(x.sample) is list:
        return name == "append"
    return name in ("copy", *_held_methods.VIEWS) or (name == "get" and xs[0].is_constant)
