"""Iterators and sequences of user classes: objects with `__iter__`, `__next__`, `__getitem__`."""

import enum
import functools
import itertools
import math
import types
from typing import Any

from rulescore import find_rule
from rulescore.faults import an
from zygote_lite._ir import intrinsics as _intrinsics
from zygote_lite._specialize.infer.inputs import is_settled
from zygote_lite._specialize.infer.iteration.generators import new_generator
from zygote_lite._specialize.infer.iteration.iterators import is_iterator, iterator_over
from zygote_lite._specialize.infer.iteration.known import known_items, strict_zip
from zygote_lite._specialize.infer.models.classes import is_made_class, method_of
from zygote_lite._specialize.infer.models.subclasses import plainly_held
from zygote_lite._specialize.normalize.lowered import ENDS
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.reasons import NotSupported, Unsound
from zygote_lite._specialize.typed.stand_ins import Local, StandIn
from zygote_lite._specialize.typed.values import Value

_ONE = {sum, any, all, list, tuple, set, frozenset, sorted, enumerate, math.prod, math.fsum,
        functools.reduce, _intrinsics.unpack}  # fmt: skip
_EACH = {zip, strict_zip, _intrinsics.join_tuple, _intrinsics.join_list,
         _intrinsics.join_arguments}  # fmt: skip
_HINTED = {list, tuple, sorted, _intrinsics.join_tuple, _intrinsics.join_list,
           _intrinsics.join_arguments}  # fmt: skip
"""Functions that ask for a length before they take anything."""


def is_own(x: Value) -> bool:
    """Return whether a value is an object whose class says what iterating over it gives."""
    if _is_enumeration(x):
        return True
    if not x.is_object or isinstance(x.sample, StandIn) or is_made_class(x):
        return False
    return known_items(x) is None and not isinstance(x.sample, type)


def _is_enumeration(x: Value) -> bool:
    return x.is_constant and type(x.sample) is enum.EnumType


def with_iterators(builder: Builder, f: Any, xs: list[Value]) -> list[Value]:
    """Return the operands of a function that walks over some, with iterators for objects."""
    places = [*range(len(xs))] if f in _EACH else [int(f is functools.reduce)] if f in _ONE else []
    if f in (max, min) and len(xs) == 1:
        places = [0]
    found = [*xs]
    for i in itertools.filterfalse(lambda i: i >= len(xs) or not is_own(xs[i]), places):
        found[i] = builder.iterator(xs[i], f in _HINTED)
    return found


def _ask_for_length(builder: Builder, x: Value) -> None:
    for name in ("__len__", "__length_hint__"):
        own = method_of(builder.inputs, type(x.sample), name)
        if own is not None:
            builder.apply(own, [x])
            return


def iterator_of(builder: Builder, x: Value, hinted: bool = False) -> Value:
    """Return `iter(x)`; where `hinted`, the object is asked for its length, too, as by `list`."""
    x = plainly_held(builder, x)
    if _is_enumeration(x):  # its members stay
        members = [builder.attribute(x, member.name) for member in x.sample]
        return iterator_over(builder, builder.build("tuple", members))
    if not is_own(x):
        return iterator_over(builder, x)
    it = _iterator_of_own(builder, x)
    if hinted:
        _ask_for_length(builder, x)
    return it


def _iterator_of_own(builder: Builder, x: Value) -> Value:
    kind = type(x.sample)
    own = method_of(builder.inputs, kind, "__iter__")
    if own is None:
        return _stepping(builder, x, "__getitem__")
    it = builder.apply(own, [x])
    return it if is_iterator(it) else _stepping(builder, it, "__next__")


def _stepping(builder: Builder, x: Value, name: str) -> Value:
    """Return a generator that gives what calls of a method give."""
    own = method_of(builder.inputs, type(x.sample), name) if x.is_object else None
    if own is None:
        raise Unsound.RAISES(f"it iterates over {an(type(x.sample).__name__)}").always(TypeError)
    place = [builder.build("tuple", [])] * (name == "__getitem__")  # it is given each time
    if isinstance(own, Local):
        code, globals_ = own.code, own.globals
    else:
        code, globals_ = own.__code__, own.__globals__
        if find_rule(own, x.sample, *[0 for _ in place]) is not None:
            raise Unsound.OWN_RULE(f"{name} has a rule")
        if not is_settled(builder, globals_):
            builder.inputs.guard_function(own)
    ends = builder.global_value(globals_, ENDS[name].__name__).sample
    if not isinstance(own, types.FunctionType | Local) or ends is not ENDS[name]:
        raise NotSupported.ITERATION(f"it iterates over {an(type(x.sample).__name__)}")
    return new_generator(builder, code, globals_, builder.bind(own, [x, *place], {}), name)
