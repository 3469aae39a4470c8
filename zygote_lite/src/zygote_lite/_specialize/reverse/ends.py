"""The two ends of the reverse pass: the value that it starts from, and the gradients it ends in."""

from typing import Any

import numpy as np

from zygote_lite._specialize.reverse.backward import Backward
from zygote_lite._specialize.typed.abstract_eval import Result
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.facts import (
    COMPLEXES,
    DOUBLES,
    FLOATS,
    ArrayOf,
    Fact,
    ListOf,
    Other,
    Scalar,
    is_complex,
    may_be_complex,
)
from zygote_lite._specialize.typed.reasons import Unsound
from zygote_lite._specialize.typed.runtime import as_it_is, list_cotangent
from zygote_lite._specialize.typed.structures import parts_of, paths_of, structure
from zygote_lite._specialize.typed.values import Value, constant, shape_root

Gradients = dict[Value, Value | None]
_NUMPY = {np.float64, np.float32, np.complex128, np.complex64}


def float_checked(builder: Builder, x: Value) -> Value:
    """Write a test that a number is a float, where it may be an integer; return that float.

    Those of a tuple are tested one by one.
    """
    if x.items is not None and type(x.sample) is tuple:
        return structure(tuple, [float_checked(builder, item) for item in x.items])
    if not isinstance(x.fact, Scalar) or x.fact.classes <= FLOATS or may_be_complex(x.fact):
        return x
    kinds, sample = x.fact.classes & FLOATS, x.sample
    if type(sample) not in FLOATS:  # as of a sum that is 0 where nothing is added
        if x.is_constant or not (len(kinds) == 1 or kinds == DOUBLES):
            return x
        sample = min(kinds, key=str)(sample)
    fact = Scalar(kinds if kinds == DOUBLES else frozenset((type(sample),)))
    return builder.write(Result(fact, sample, certain=False), as_it_is, [x], {}).target


def seed_for(builder: Builder, x: Value) -> Value:
    """Return the parameter of a pullback: the cotangent of a value, part by part of a tuple."""
    if x.items is not None:
        found = structure(tuple, [seed_for(builder, item) for item in x.items])
        found.name = builder.name("dy")
        return found
    if not _is_float(x.fact):
        return constant(None)  # nobody reads it
    found = Value(x.fact, _one_like(x.sample), builder.name("d" + (x.name or "y")))
    found.reverse, found.shaped = True, shape_root(x)
    return found


def first_of_pair(x: Value) -> Value:
    """Return the first part of a pair, whose gradient is taken; the other is handed on."""
    if x.items is None or type(x.sample) is not tuple or len(x.items) != 2:
        raise Unsound.RAISES("it does not return a pair")
    return x.items[0]


def _is_float(fact: Fact) -> bool:
    """Return whether a value is a float, or an array of floats."""
    if isinstance(fact, ArrayOf):
        return fact.dtype in (np.float64, np.float32)
    return isinstance(fact, Scalar) and fact.classes <= FLOATS


def refuse_other_values(result: Value, as_pullback: bool = False, as_complex: bool = False) -> None:
    """Refuse a value that is not a float; of a pullback, one that holds anything else.

    It may be complex, or hold complex numbers, if that is said.
    """
    fact = result.fact
    if as_complex and result.items is None and is_complex(fact):
        return
    if (as_pullback or result.has_no_axes) and isinstance(fact, ArrayOf) and _is_float(fact):
        return
    if as_pullback and type(result.sample) is tuple and result.items:
        for item in result.items:
            if item.active or item.items is not None:
                refuse_other_values(item, as_pullback, as_complex)
            else:
                _refuse_other_part(item)
        return
    if result.items is not None or not isinstance(fact, Scalar) or not fact.classes <= FLOATS:
        raise Unsound.NO_FLOAT("it returns something other than a float")


def refuse_other_gradients(x: Value) -> None:
    """Refuse a gradient that holds anything but floats, arrays of them and `None`."""
    for part in (part for _, part in parts_of(x)) if x.fields is None else x.fields.values():
        refuse_other_gradients(part)
    if x.items is None and x.fields is None and not (x.is_constant and x.sample is None):
        refuse_other_values(x, as_pullback=True)


def refuse_other_pairs(builder: Builder, x: Value, as_pullback: bool) -> None:
    """Refuse a pair, of which the first is differentiated, unless the second can be handed on."""
    first = first_of_pair(x)
    refuse_other_values(first, as_pullback)
    seen = {collector.sample.value for collector in builder.inputs.collectors.values()}
    for part in x.items or ():
        if part is not first:
            _refuse_shared_structure(builder, part, seen)


def _refuse_shared_structure(builder: Builder, x: Value, seen: set[Value]) -> None:
    """Refuse lists and dicts that may be known elsewhere: those that are written are new."""
    if x.items is None:
        if x not in seen:  # those from outside that are put into
            _refuse_other_part(x)
        return
    is_new = builder.homes.get(x) is builder.top and x not in seen
    if type(x.sample) is not tuple and not (type(x.sample) in (list, dict) and is_new):
        raise Unsound.IDENTITY("it returns a list or a dict that it did not create: return a copy")
    seen.add(x)
    for part in x.items:
        _refuse_shared_structure(builder, part, seen)


def _refuse_other_part(x: Value) -> None:
    """Refuse a part of a value that is neither a number, an array nor a constant."""
    if not (x.is_array or x.is_scalar or x.is_constant) or x.where:
        raise Unsound.NO_FLOAT(
            "it returns a tuple, list or dict of something other than numbers and arrays"
        )
    if type(x.sample).__module__.startswith("zygote_lite."):  # it stands for a function
        raise Unsound.NO_FLOAT("it returns a function that it defines")


def _one_like(sample: Any) -> Any:
    return np.ones_like(sample) if isinstance(sample, np.ndarray) else type(sample)(1.0)


def gradients_of(backward: Backward, arguments: list[Value]) -> Gradients:
    """Return the cotangents of the differentiated leaves, each in a buffer of its own."""
    inputs = [leaf for x in arguments for _, leaf in paths_of(x, "")]
    has_numpy = any(
        v.is_array or (isinstance(v.fact, Scalar) and v.fact.classes & _NUMPY)
        for v in (*backward.builder.definitions, *inputs)
    )
    gradients: Gradients = {}
    for x in inputs:
        if not x.active:
            continue
        d = backward.cotangents.get(x)
        if d is None:
            pass
        elif isinstance(x.fact, ListOf):
            d = backward.computed(Other(list), d.sample, list_cotangent, d)
        elif isinstance(x.fact, ArrayOf):
            is_new = d.reverse and (d.fresh or d in backward.owned) and d.spread is None
            if not is_new or not isinstance(d.fact, ArrayOf) or d in gradients.values():
                d = backward.copy(d, x)
            if isinstance(d.fact, ArrayOf) and d.fact.dtype != x.fact.dtype:
                raise Unsound.COTANGENT_TYPE("a gradient has another precision than its argument")
        elif isinstance(d.fact, Scalar):
            kind = type(x.sample)
            if kind not in FLOATS | COMPLEXES:
                kind = np.float64 if isinstance(x.sample, np.generic) else float
            if d.fact.classes != {kind} or has_numpy or kind in COMPLEXES:
                sample, fact = kind(d.sample), Scalar(frozenset((kind,)))
                d = constant(sample) if d.is_constant else backward.computed(fact, sample, kind, d)
        gradients[x] = d
    return gradients
