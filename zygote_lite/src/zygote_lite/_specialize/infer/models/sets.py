"""Sets of constants: the code has what they hold, and never makes one.

What is hashed and compared as Python's own may be in one: numbers, text, classes, modules and
functions. A set is changed only in the block that makes it.
"""

import operator
import types
from typing import Any

import numpy as np

from zygote_lite._specialize.infer.counters import leave_where
from zygote_lite._specialize.infer.iteration.known import known_items
from zygote_lite._specialize.infer.models.dicts import is_plain_key
from zygote_lite._specialize.typed.abstract_eval import run
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.facts import Other, Scalar
from zygote_lite._specialize.typed.functions import is_hashable
from zygote_lite._specialize.typed.reasons import NotSpecializable, NotSupported, Unsound
from zygote_lite._specialize.typed.values import Value, constant, shape_root

_OF_SETS = (set, frozenset)
_HASHED_BY_IDENTITY = (types.ModuleType, types.FunctionType, types.BuiltinFunctionType, np.ufunc)
_SET_OPERATORS = {
    len, operator.contains, operator.eq, operator.ne, operator.lt, operator.le, operator.gt,
    operator.ge, operator.and_, operator.or_, operator.sub, operator.xor, operator.truth, bool,
    operator.not_,
}  # fmt: skip
_OF_LENGTH = {len, operator.truth, bool, operator.not_}
_IN_PLACE_OF_SETS = {
    operator.ior: "update", operator.iand: "intersection_update",
    operator.isub: "difference_update", operator.ixor: "symmetric_difference_update",
}  # fmt: skip
_ASKING_SETS = {"union", "intersection", "difference", "symmetric_difference", "issubset",
                "issuperset", "isdisjoint", "copy", "__contains__"}  # fmt: skip
_CHANGING_SETS = {"add", "discard", "remove", "pop", "clear", "update", "intersection_update",
                  "difference_update", "symmetric_difference_update"}  # fmt: skip


def is_set(x: Value) -> bool:
    """Return whether a value is a set of constants."""
    return x.items is not None and type(x.sample) in _OF_SETS


def of_sets(builder: Builder, f: Any, xs: list[Value], kws: dict[str, Value]) -> Value | None:
    """Return what a call makes of sets, or a new set; `None` for other calls."""
    if kws or not is_hashable(f):
        return None
    if f in _OF_SETS and len(xs) < 2 and not builder.held:
        items = known_items(xs[0]) if xs else []
        if items is not None:
            return new_set(builder, f, items)
    if not any(map(is_set, xs)):
        return None
    if any(map(_is_of_one_shape, xs)):
        return constant(run(f, [xs[0].sample], {})) if f in _OF_LENGTH else None
    if f in _IN_PLACE_OF_SETS and type(xs[0].sample) is set:
        method_of_set(builder, xs[0], _IN_PLACE_OF_SETS[f], xs[1:])
        return xs[0]
    f = {operator.ior: operator.or_, operator.iand: operator.and_, operator.isub: operator.sub,
         operator.ixor: operator.xor}.get(f, f)  # fmt: skip
    if f in _SET_OPERATORS and all(is_set(x) or _is_element(x) for x in xs):
        return _known_of_sets(builder, run(f, [x.sample for x in xs], {}))
    return None


def new_set(builder: Builder, kind: type, items: list[Value]) -> Value:
    """Return a new set of constants, in the order in which it is walked over."""
    if builder.guesses and items and all(map(_is_length, items)):
        return _of_one_length(builder, kind, items)
    if not all(map(_is_element, items)):
        raise NotSupported.CONTAINER("a set holds something other than constants")
    sample = kind([x.sample for x in items])
    value = Value(Other(kind), sample)
    value.items = [*map(constant, sample)]
    builder.settle_home(value)
    return value


def _is_length(x: Value) -> bool:
    """Return whether a value is an integer of Python's own, such as a length."""
    return isinstance(x.fact, Scalar) and x.fact.classes == {int} and not x.active


def _of_one_length(builder: Builder, kind: type, items: list[Value]) -> Value:
    """Return a set of integers that are equal now, and leave the code where they are not."""
    first, *others = items
    if any(x.sample != first.sample for x in others):
        raise NotSupported.CONTAINER("a set holds something other than constants")
    for x in others:
        leave_where(builder, builder.apply(operator.ne, [first, x]))
    value = Value(Other(kind), kind([first.sample]))
    value.items = [first]
    builder.settle_home(value)
    return value


def _is_element(x: Value) -> bool:
    return x.is_constant and (is_plain_key(x.sample) or isinstance(x.sample, _HASHED_BY_IDENTITY))


def _known_of_sets(builder: Builder, found: Any) -> Value:
    is_one = type(found) in _OF_SETS
    return new_set(builder, type(found), [*map(constant, found)]) if is_one else constant(found)


def _is_of_one_shape(x: Value) -> bool:
    """Return whether a value is a set of one shape, which is not known."""
    return is_set(x) and any(not _is_element(item) for item in x.items or ())


def _shape_added(builder: Builder, x: Value, shape: Value) -> bool:
    """Add the shape of an array to an empty set, or to one that holds it."""
    if builder.homes.get(x) is not builder.out or type(x.sample) is not set:
        return False
    if not x.items and shape.lengths is not None and type(shape.sample) is tuple:
        builder.changing(x)
        x.items = [shape]
        x.sample.add(shape.sample)
    known = [*(x.items or ())]
    if any(shape_root(item) is shape_root(shape) for item in known):
        return True
    if not (builder.guesses and len(known) == 1 and known[0].sample == shape.sample):
        return False
    leave_where(builder, builder.apply(operator.ne, [known[0], shape]))
    return True


def method_of_set(builder: Builder, x: Value, name: str, xs: list[Value]) -> Value:
    """Return what a method of a set gives."""
    if name == "add" and len(xs) == 1 and not _is_element(xs[0]) and _shape_added(builder, x, *xs):
        return constant(None)
    if _is_of_one_shape(x):
        raise NotSupported.CONTAINER(
            f"it calls the method {name} of a set of something other than constants"
        )
    given = []
    for other in xs:
        items = [other] if name in ("add", "discard", "remove", "__contains__") else None
        items = known_items(other) if items is None else items
        if items is None or not all(map(_is_element, items)):
            raise NotSupported.CONTAINER(
                f"the method {name} of a set gets something other than constants"
            )
        given.append(other.sample)
    if name in _ASKING_SETS:
        return _known_of_sets(builder, run(getattr(type(x.sample), name), [x.sample, *given], {}))
    if name not in _CHANGING_SETS or type(x.sample) is not set:
        raise NotSupported.METHOD(f"it calls the method {name} of a set")
    if builder.homes.get(x) is not builder.out:
        raise Unsound.WRITES_ELSEWHERE(
            "it changes a set in a branch or a loop, and made the set before that"
        )
    changed = {*x.sample}
    try:
        found = run(getattr(changed, name), given, {})
    except NotSpecializable as reason:
        if isinstance(reason.__cause__, KeyError):
            reason.always(KeyError)
        raise
    builder.changing(x)
    x.sample.clear()
    x.sample.update(changed)
    x.items = [*map(constant, x.sample)]
    return constant(found)
