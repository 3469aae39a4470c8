"""Reads of arrays and containers: `x[index]`, and the attributes of arrays."""

import operator

import numpy as np

from zygote_lite._specialize.infer.held import calls as _held_calls
from zygote_lite._specialize.infer.held import containers as _held
from zygote_lite._specialize.infer.iteration.rows import item_of_rows
from zygote_lite._specialize.infer.models import dicts as _dicts
from zygote_lite._specialize.infer.models import lists as _lists
from zygote_lite._specialize.infer.models.arrays import JOINING, joined_by_index
from zygote_lite._specialize.infer.models.lookups import is_lookup, looked_up
from zygote_lite._specialize.infer.operations import active
from zygote_lite._specialize.typed.abstract_eval import refuse_types, run
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.decisions import classes_of, is_of_numpy
from zygote_lite._specialize.typed.facts import ArrayOf, ListOf
from zygote_lite._specialize.typed.functions import attribute_of
from zygote_lite._specialize.typed.reasons import NotSupported, Unsound
from zygote_lite._specialize.typed.stand_ins import (
    Method,
    OwnFlags,
    RowsOfData,
)
from zygote_lite._specialize.typed.store_forwarding import stored_at
from zygote_lite._specialize.typed.structures import structure
from zygote_lite._specialize.typed.values import Value, constant


def item(builder: Builder, x: Value, index: Value, stem: str = "") -> Value:
    """Write `x[index]`, and return it."""
    if x.is_object:
        return builder.apply(operator.getitem, [x, index], {}, stem)
    if _held.is_held(x):
        return _held_calls.held_part(builder, x, index, stem)
    if _held.may_be_held(builder, x) and not index.is_constant:
        return item(builder, _held.hold(builder, x), index, stem)
    if x.made and not (builder.reverse or builder.plain):
        stored = stored_at(builder.out, x, index)
        if stored is not None and not (stored.is_array and builder.distinct):
            return stored
    if isinstance(x.fact, ListOf):
        return _lists.item_of_list(builder, x, index, stem)
    if isinstance(x.sample, RowsOfData):
        return item_of_rows(builder, x, index)
    if x in builder.iterators:
        raise Unsound.ITERATOR("it takes an item of an iterator")
    if x.items is not None and type(x.sample) in (tuple, list) and index.is_constant:
        if isinstance(index.sample, slice):
            return structure(type(x.sample), x.items[index.sample])
        n = operator.index(index.sample)
        if not -len(x.items) <= n < len(x.items):
            raise Unsound.RAISES("it takes an item that does not exist").always(IndexError)
        return x.items[n]
    if _dicts.is_dict(x):
        return _dicts.item_of_dict(x, index)
    if is_lookup(x):
        return looked_up(builder, x, index)
    if isinstance(x.sample, JOINING):
        return joined_by_index(builder, x, index)
    if x.is_constant and index.is_constant and not x.is_array:
        return constant(run(operator.getitem, [x.sample, index.sample], {}))
    if is_of_numpy(x):
        return builder.apply(operator.getitem, [x, index], {}, stem)
    if x.is_scalar:
        refuse_types(operator.getitem, [x, constant(0)])
    if not x.is_array and type(x.sample) is not tuple:
        raise NotSupported.ITEM(f"it takes an item of a {type(x.sample).__name__}")
    return builder.apply(operator.getitem, [x, index], {}, stem)


def array_attribute(builder: Builder, x: Value, name: str) -> Value:
    """Write `x.name` of an array, or note that a method was looked up."""
    member = getattr(np.ndarray, name, None)
    if callable(member):
        return constant(Method(x, name))
    fact = x.fact
    assert isinstance(fact, ArrayOf)
    if name in ("ndim", "dtype") or (x.has_no_axes and name in ("shape", "size")):
        return constant(getattr(x.sample, name))
    if name == "real" and fact.dtype.kind in "fiu":
        return x
    if name == "flags" and x.fresh and builder.is_own(x):
        return constant(OwnFlags())
    if name in ("real", "imag") and fact.dtype.kind == "c":
        return computed_attribute(builder, x, name)
    if name not in ("T", "mT", "shape", "size"):
        raise NotSupported.ATTRIBUTE(f"it reads the attribute {name} of an array")
    return computed_attribute(builder, x, name)


def computed_attribute(builder: Builder, x: Value, name: str) -> Value:
    """Write `x.real`, `x.T` or another attribute that is computed: once, where it is inactive."""
    f = attribute_of(name)
    if x.active and builder.follows and name not in ("shape", "size"):
        return active(builder, f, [x], {}, "")
    known = ("attribute", name, x)
    if known not in builder.known:
        builder.known[known] = builder.operation(f, [x]).target
    return builder.known[known]


def attribute_of_number(x: Value, name: str) -> Value | None:
    """Return an attribute that NumPy's numbers share with arrays without axes."""
    if name in ("shape", "ndim", "size") or (name == "dtype" and len(classes_of(x)) == 1):
        return constant(getattr(x.sample, name))
    return x if name == "T" else None
