"""Operators and builtins of objects of user classes, by their special methods; and `is`."""

import copy
import dataclasses
import functools
import operator
from numbers import Number
from typing import Any

import numpy as np

from rulescore.faults import an
from zygote_lite._activity.classes import is_written_by_dataclasses
from zygote_lite._ir.operators import BINARY, COMPARISONS, REFLECTED, UNARY
from zygote_lite._specialize.infer.effects.attributes import refuse_adopted
from zygote_lite._specialize.infer.iteration.known import known_items
from zygote_lite._specialize.infer.models import instances as _instances
from zygote_lite._specialize.infer.models import objects as _objects
from zygote_lite._specialize.infer.models.classes import (
    ABSENT,
    FUNCTIONS,
    is_made_class,
    method_of,
    of_class,
    settle,
)
from zygote_lite._specialize.infer.models.named import FIELD_OF_NAMED, item_of_named
from zygote_lite._specialize.infer.models.records import compared_by_fields
from zygote_lite._specialize.typed.abstract_eval import Result
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.contents import contents_in, is_record
from zygote_lite._specialize.typed.facts import Scalar
from zygote_lite._specialize.typed.functions import is_hashable
from zygote_lite._specialize.typed.notes import ONE_BY_ONE
from zygote_lite._specialize.typed.reasons import NotSupported, Unsound
from zygote_lite._specialize.typed.stand_ins import LOST, Descriptor
from zygote_lite._specialize.typed.structures import is_named, structure
from zygote_lite._specialize.typed.values import Value, constant

_BINARY: dict[Any, tuple[str, ...]] = {b.function: b.methods for b in BINARY.values()}
_BINARY[divmod] = ("__divmod__", "__rdivmod__")
_ASSIGNING = {b.in_place: b.methods for b in BINARY.values()}
_COMPARING = {c.function: f"__{c.name}__" for c in COMPARISONS if c.name in REFLECTED}
_OF_ONE: dict[Any, str] = {
    **{u.function: f"__{u.name}__" for u in UNARY if u.name != "not"},
    abs: "__abs__", operator.abs: "__abs__", len: "__len__", float: "__float__",
    int: "__int__", operator.getitem: "__getitem__", operator.contains: "__contains__",
    round: "__round__",
}  # fmt: skip


_CLASS_GIVEN = {len: int, float: float, int: int}


def of_objects(builder: Builder, f: Any, xs: list[Value], kws: dict[str, Value]) -> Value | None:
    """Return what a function gives of objects; `None` where it is for others to say."""
    if not is_hashable(f) or not xs:
        return None
    for x in xs:
        _objects.refuse_whole(x)
    if kws:
        made = xs[0].fields is not None or is_record(xs[0])
        known = f is dataclasses.replace and len(xs) == 1 and made
        return _instances.with_changes(builder, xs[0], kws) if known else None
    if f in (operator.add, operator.mul) and len(xs) == 2 and _are_plain_tuples(xs):
        return builder.apply(
            f, [structure(tuple, known_items(x) or []) if is_named(x) else x for x in xs]
        )
    if f in _BINARY and len(xs) == 2:
        return _binary(builder, xs[0], xs[1], _BINARY[f])
    if f in _ASSIGNING and len(xs) == 2:
        plain, reflected, in_place = _ASSIGNING[f]
        own = _method(builder, xs[0], in_place)
        found = None if own is None else _of_method(builder, own, xs)
        return _binary(builder, xs[0], xs[1], (plain, reflected)) if found is None else found
    if f in _COMPARING and len(xs) == 2:
        return _compared(builder, xs[0], xs[1], f)
    if f in (operator.is_, operator.is_not) and len(xs) == 2:
        if is_record(xs[0]) and is_record(xs[1]):
            return _identity_asked(builder, f, xs)
        same = _are_one_object(builder, *xs)
        return same if same is None else constant(same is (f is operator.is_))
    if f in (operator.truth, bool, operator.not_):
        truth = truth_of(builder, xs[0])
        return builder.apply(operator.not_, [truth]) if f is operator.not_ else truth
    if is_named(xs[0]) and f in (len, operator.getitem):
        if f is len:
            return constant(len(xs[0].sample))
        return item_of_named(xs[0], xs[1])
    if f is np.isscalar and len(xs) == 1:
        return builder.apply(isinstance, [xs[0], constant((np.generic, Number))])
    if f in _OF_ONE and xs[0].is_object:
        own = _method(builder, xs[0], _OF_ONE[f])
        if own is None:
            raise NotSupported.METHOD(f"{type(xs[0].sample).__name__} has no {_OF_ONE[f]}")
        found = builder.apply(own, xs)
        if f is operator.contains:
            return builder.apply(operator.truth, [found])
        if f in _CLASS_GIVEN:
            _refuse_other_class(found, _CLASS_GIVEN[f], _OF_ONE[f])
        return found
    if f in (getattr, hasattr, setattr) and len(xs) > 1 and xs[0].is_object:
        return _by_name(builder, f, *xs)
    if xs[0].fields is not None and not (is_named(xs[0]) or is_made_class(xs[0])):
        if f is object.__setattr__ and len(xs) == 3:
            _instances.set_plainly(builder, xs[0], _text(xs[1]), xs[2])
            return constant(None)
        if f in (delattr, object.__delattr__) and len(xs) == 2:
            way = _instances.delete_attribute if f is delattr else _instances.delete_plainly
            way(builder, xs[0], _text(xs[1]))
            return constant(None)
    if f is dataclasses.replace and xs[0].fields is not None and len(xs) == 1:
        return _instances.with_changes(builder, xs[0], {})
    if f is copy.copy and (xs[0].fields is not None or is_record(xs[0])):
        return _instances.shallow_copy(builder, xs[0])
    return None


def _are_plain_tuples(xs: list[Value]) -> bool:
    """Return whether named tuples among some values are joined, or repeated, as all tuples are."""
    own = [of_class(type(x.sample), f"__{name}__") for x in xs for name in _JOINING if is_named(x)]
    return bool(own) and not any(isinstance(found, FUNCTIONS) for found in own)


_JOINING = ("add", "radd", "mul", "rmul")


def holds_object(x: Value) -> bool:
    """Return whether a value is an object, or a structure of objects."""
    return x.is_object or any(map(holds_object, x.items or ()))


def _method(builder: Builder, x: Value, name: str) -> Any:
    return method_of(builder.inputs, type(x.sample), name) if x.is_object else None


def _refuse_other_class(found: Value, kind: type, name: str) -> None:
    """Refuse what a special method may not return: Python raises an error, or converts it."""
    known = found.fact.classes if isinstance(found.fact, Scalar) else {type(found.sample)}
    if known != {kind} or (name == "__len__" and found.is_constant and found.sample < 0):
        raise Unsound.RAISES(f"a {name} returns a value of the wrong type")


def _of_method(builder: Builder, method: Any, xs: list[Value]) -> Value | None:
    """Return what a method gives, `None` where that is `NotImplemented`."""
    found = builder.apply(method, xs)
    if found.is_constant and found.sample is NotImplemented:
        return None
    return found


def _binary(builder: Builder, a: Value, b: Value, names: tuple[str, ...]) -> Value:
    """Return the result of a binary operator, by the rules of Python."""
    plainly = isinstance(a.fact, Scalar) and a.fact.classes <= {float, int, bool}
    if not (a.is_object or plainly):  # NumPy's look at what the other operand is
        raise NotSupported.METHOD(
            "it uses an operator between an object and something that is not a number, array or "
            "constant"
        )
    plain, reflected = names[:2]
    kind, other = type(a.sample), type(b.sample)
    own = _method(builder, a, plain)
    turned = None if kind is other else _method(builder, b, reflected)
    tries = [(own, [a, b]), (turned, [b, a])]
    overrides = a.is_object and of_class(other, reflected) is not of_class(kind, reflected)
    if turned is not None and issubclass(other, kind) and (overrides or not a.is_object):
        tries.reverse()
    for method, operands in tries:
        found = None if method is None else _of_method(builder, method, operands)
        if found is not None:
            return found
    raise Unsound.RAISES(f"{an(kind.__name__)} and {an(other.__name__)} have no {plain}")


def _compared(builder: Builder, a: Value, b: Value, f: Any) -> Value:
    """Return the result of a comparison."""
    plain = _COMPARING[f]
    if not (a.is_object and b.is_object and type(a.sample) is type(b.sample)):
        return _compared_with_others(builder, a, b, f)
    kind = type(a.sample)
    found = of_class(kind, plain)
    if f is operator.ne and found is object.__ne__:  # the opposite of `==`
        equal = _compared(builder, a, b, operator.eq)
        return builder.apply(operator.not_, [equal])
    own = _method(builder, a, plain)
    if own is not None and is_written_by_dataclasses(own):
        refuse_adopted(a, "compared")
        refuse_adopted(b, "compared")
        return compared_by_fields(builder, a, b, f)
    result = None if own is None else builder.apply(own, [a, b])
    if own is None and found is object.__eq__:
        settle(builder.inputs, kind)
        if is_record(a) and is_record(b):
            return _identity_asked(builder, operator.is_, [a, b])
        same = _are_one_object(builder, a, b)
        result = result if same is None else constant(same)
    if result is None or (result.is_constant and result.sample is NotImplemented):
        raise Unsound.IDENTITY(f"it compares objects whose class defines no {plain}")
    return result


def _compared_with_others(builder: Builder, a: Value, b: Value, f: Any) -> Value:
    """Return the result of a comparison of values of different classes, by the rules of Python."""
    plain = _COMPARING[f]
    reflected = f"__{REFLECTED[plain.strip('_')]}__"
    tries = [(_method(builder, a, plain), [a, b]), (_method(builder, b, reflected), [b, a])]
    first, second = type(a.sample), type(b.sample)
    if second is not first and issubclass(second, first):
        tries.reverse()
    plainly = all(
        x.is_object or (isinstance(x.fact, Scalar) and x.fact.classes <= {float, int, bool})
        for x in (a, b)
    )  # NumPy's look at what the other operand is
    plainly = plainly and f is not operator.ne and not (is_named(a) or is_named(b))
    for method, operands in tries if plainly else ():
        if method is not None and not is_written_by_dataclasses(method):
            found = _of_method(builder, method, operands)
            if found is not None:
                return found
    raise Unsound.IDENTITY("it compares an object with something of another type")


def _are_one_object(builder: Builder, a: Value, b: Value) -> bool | None:
    """Return whether objects from outside are one, under a guard that they stay so."""
    if a.where is None or b.where is None:
        return None
    same = a.sample is b.sample
    builder.inputs.guards[f"({a.where} is {b.where}) is {same}"] = None
    return same


def _identity_asked(builder: Builder, f: Any, xs: list[Value]) -> Value:
    """Write a question whose answer is known when the code runs."""
    return builder.write(Result(Scalar(frozenset((bool,))), True), f, xs, {}).target


def best_object(builder: Builder, f: Any, xs: list[Value]) -> Value:
    """Return the largest or smallest of objects, by their comparison."""
    items = known_items(xs[0]) if len(xs) == 1 else xs
    if not items or not all(x.is_object for x in items):
        raise NotSupported.RULE_OPERAND(f"{f.__name__} gets an object beside other values")
    compare = constant(operator.gt if f is max else operator.lt)
    return builder.apply(_best, [structure(tuple, items), compare])


def _best(xs: tuple[Any, ...], compare: Any) -> Any:
    best = xs[0]
    for x in xs[1:]:
        if compare(x, best):
            best = x
    return best


def truth_of(builder: Builder, x: Value) -> Value:
    """Return the truth of an object."""
    if is_named(x):
        return constant(bool(x.fields))
    for name in ("__bool__", "__len__"):
        own = _method(builder, x, name)
        if own is not None:
            found = builder.apply(own, [x])
            _refuse_other_class(found, bool if name == "__bool__" else int, name)
            return builder.apply(operator.truth, [found])
    settle(builder.inputs, type(x.sample))
    return constant(True)


def _by_name(builder: Builder, f: Any, x: Value, name: Value, *more: Value) -> Value:
    """Return `getattr`, `hasattr` or `setattr` of a known name."""
    text = _text(name)
    if f is setattr:
        _objects.set_attribute(builder, x, text, more[0])
        return constant(None)
    computed = (property, functools.cached_property)
    found = of_class(type(x.sample), text)
    if isinstance(found, (*computed, Descriptor)):  # what raises is left to the tape
        value = builder.attribute(x, text)
        return constant(True) if f is hasattr else value
    if f is getattr and not more:  # its class may say what a missing one is
        return builder.attribute(x, text)
    there = has_attribute(builder, x, text)
    if f is hasattr:
        return constant(there)
    if not there and more:
        return more[0]
    return builder.attribute(x, text)


def has_attribute(builder: Builder, x: Value, name: str) -> bool:
    """Return whether an object has an attribute, under a guard that it stays so."""
    if is_made_class(x):
        settle(builder.inputs, x.sample)
        return hasattr(type(x.sample), name) or of_class(x.sample, name) is not ABSENT
    kind = type(x.sample)
    settle(builder.inputs, kind)
    if of_class(kind, "__getattr__") is not ABSENT:
        raise Unsound.COMPUTED_ATTRIBUTE(f"the attribute {name} is computed where it is read")
    found = of_class(kind, name)
    if is_named(x) and type(found) is FIELD_OF_NAMED and name in (x.fields or {}):
        return True
    plain = isinstance(found, (*FUNCTIONS, classmethod, staticmethod, Descriptor))
    if hasattr(type(found), "__get__") and not plain:  # its getter may raise, or write
        raise Unsound.COMPUTED_ATTRIBUTE(f"the attribute {name} is computed where it is read")
    if x.fields is not None and (x.where is None or name in x.fields):
        if name in x.fields and x.fields[name] is LOST:
            raise NotSupported.DEPENDS_ON_PATH(
                f"whether an object has the attribute {name} is different after two branches"
            )
        return name in x.fields or found is not ABSENT
    if is_record(x):
        return name in contents_in(x).slots or found is not ABSENT
    if found is ABSENT or name in vars(x.sample):
        there = name in vars(x.sample)
        builder.inputs.guards[f"({name!r} in {x.where}.__dict__) is {there}"] = None
        return there
    return True


def _text(x: Value) -> str:
    if not (x.is_constant and type(x.sample) is str):
        raise NotSupported.ATTRIBUTE("it reads an attribute by a name that is not a constant")
    return str(x.sample)


def identity_of_arrays(builder: Builder, f: Any, xs: list[Value]) -> Value | None:
    """Return whether two arrays are one object, under a guard where both are given.

    Nothing is said of other calls. Raises `NotSpecializable` where that is not known.
    """
    if f not in (operator.is_, operator.is_not) or len(xs) != 2:
        return None
    a, b = xs
    if type(a.sample) is type(b.sample) is str and a.sample == b.sample:
        builder.inputs.compares_texts = True
        if builder.settings:
            raise Unsound.IDENTITY("it asks whether two texts are the same object: use `==`")
    if not (a.is_array and b.is_array) or builder.plain:
        return None
    if not builder.distinct:  # equal arrays may be one value
        builder.wanted.add(ONE_BY_ONE)
        raise Unsound.IDENTITY("it asks whether two arrays are the same object")
    paths = [_given_at(builder, x) for x in xs]
    if a is b:
        same = True
    elif None not in paths:
        same = a.sample is b.sample
        builder.inputs.guards[f"({paths[0]} is {paths[1]}) is {same}"] = None
    elif any(_is_new(builder, x) and builder.storage(x) is not builder.storage(y)
             for x, y in ((a, b), (b, a))):  # fmt: skip
        same = False
    else:
        raise Unsound.IDENTITY("it asks whether two arrays are the same object")
    return constant(same is (f is operator.is_))


def _given_at(builder: Builder, x: Value) -> str | None:
    """Return the expression for an array that is an argument, or a part of one."""
    found = builder.origins.get(x) if x.sizes is not None else None
    return found if isinstance(found, str) else None


def _is_new(builder: Builder, x: Value) -> bool:
    return x.base is None and builder.is_own(x)
