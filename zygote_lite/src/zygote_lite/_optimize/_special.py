"""Functions that the interpreter knows: of sequences, iterables and numbers."""

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from zygote_lite import _intrinsics
from zygote_lite._intrinsics import unpack
from zygote_lite._optimize import _calls, _lists
from zygote_lite._optimize._runtime import exactly
from zygote_lite._optimize._transfer import result_of
from zygote_lite._optimize._values import ArrayOf, ListOf, Scalar, Unfit, Value, constant, structure

if TYPE_CHECKING:
    from zygote_lite._optimize._interpret import Interpreter


@dataclass(eq=False)
class Several:
    """Several iterables that are walked together, by `zip` or `enumerate`."""

    kind: str
    parts: list[Value]


def _unpack(interpreter: "Interpreter", xs: list[Value]) -> Value | None:
    x, count, star = xs
    if x.items is not None and star.sample is None and len(x.items) == count.sample:
        return x
    if x.items is not None and star.sample is not None:
        at, n = star.sample, len(x.items) - (count.sample - 1 - star.sample)
        middle = structure(list, x.items[at:n])
        return structure(tuple, [*x.items[:at], middle, *x.items[n:]])
    if x.is_constant and star.sample is None:
        return structure(tuple, [constant(part) for part in unpack(x.sample, count.sample, None)])
    if star.sample is None and (x.is_array or type(x.sample) is tuple):
        result = result_of(exactly, [x, count], {})
        result.fact, result.certain = x.fact, True
        checked = interpreter.write(result, exactly, [x, count], {}).target
        checked.base, checked.fresh = None, False
        if type(x.sample) is not tuple:
            raise Unfit("an array is unpacked")
        parts = [_calls.call(interpreter, operator.getitem, [checked, constant(i)], {}, "")
                 for i in range(count.sample)]  # fmt: skip
        return structure(tuple, parts)
    raise Unfit("something of unknown length is unpacked")


def _length(interpreter: "Interpreter", xs: list[Value]) -> Value | None:
    if len(xs) != 1 or not isinstance(xs[0].fact, ListOf):
        return None
    _lists.settled(xs[0])
    return _calls.inactive(interpreter, len, xs, {}, "")


def _product(interpreter: "Interpreter", xs: list[Value]) -> Value | None:
    if interpreter.uniform and type(xs[0].sample) is list and xs[1].is_scalar:
        return _lists.repeated(interpreter, xs[0], xs[1])
    return None


def _sequence(kind: type) -> Callable[["Interpreter", list[Value]], Value | None]:
    def made(interpreter: "Interpreter", xs: list[Value]) -> Value | None:
        items = known_items(xs[0]) if xs else []
        if kind is list and interpreter.uniform:
            if not xs:
                return _lists.new_list(interpreter)
            if isinstance(xs[0].fact, ListOf):
                return _lists.copied(interpreter, xs[0])
        interpreter.inputs.lists = interpreter.inputs.lists or kind is list
        if items is None:
            return None
        made = structure(kind, [*items])
        if kind is list:
            interpreter.homes[made] = interpreter.out
        return made

    return made


def _joined(kind: type) -> Callable[["Interpreter", list[Value]], Value | None]:
    def made(interpreter: "Interpreter", xs: list[Value]) -> Value | None:
        parts = [known_items(x) for x in xs]
        if any(part is None for part in parts):
            raise Unfit("a structure of unknown length")
        return structure(kind, [item for part in parts for item in part or ()])

    return made


def _several(kind: str) -> Callable[["Interpreter", list[Value]], Value | None]:
    def made(interpreter: "Interpreter", xs: list[Value]) -> Value | None:
        if kind == "reversed":
            items = known_items(xs[0])
            if items is None and type(xs[0].sample) is range:
                return None
            return None if items is None else structure(list, items[::-1])
        items_of = [known_items(x) for x in xs]
        if all(items is not None for items in items_of):
            given = [items for items in items_of if items is not None]
            if kind == "enumerate":
                given = [[constant(i) for i in range(len(given[0]))], given[0]]
            rows = zip(*given, strict=False)
            return structure(list, [structure(tuple, [*row]) for row in rows])
        value = constant(Several(kind, xs))
        return value

    return made


def _join_arguments(interpreter: "Interpreter", xs: list[Value]) -> Value | None:
    return _joined(tuple)(interpreter, xs[1:])


def _join_dict(interpreter: "Interpreter", xs: list[Value]) -> Value | None:
    entries: dict[Any, tuple[Value, Value]] = {}
    for x in xs:
        if x.items is None and not (x.is_constant and x.sample == {}):
            return None
        for key, value in zip((x.items or [])[::2], (x.items or [])[1::2], strict=True):
            entries[key.sample] = (key, value)
    return interpreter.build("dict", [part for pair in entries.values() for part in pair])


def _real(interpreter: "Interpreter", xs: list[Value]) -> Value | None:
    """The conjugate of what is real is itself."""
    x = xs[0]
    if x.made or (x.base is not None and x.base.made):
        return None
    return x if isinstance(x.fact, Scalar | ArrayOf) else None


def known_items(x: Value) -> list[Value] | None:
    """Return the elements of an iterable, where they are known one by one."""
    if x.items is not None and type(x.sample) in (list, tuple):
        return x.items
    if x.is_constant and isinstance(x.sample, tuple | str):
        return [constant(part) for part in x.sample]
    return None


def _as_is(interpreter: "Interpreter", xs: list[Value]) -> Value | None:
    """`float(x)` of a float is `x`."""
    fact = xs[0].fact if xs else None
    same = isinstance(fact, Scalar) and fact.classes == {float}
    return xs[0] if same else None


def _sum(interpreter: "Interpreter", xs: list[Value]) -> Value | None:
    if isinstance(xs[0].fact, ListOf):
        return _lists.total(interpreter, xs)
    items = known_items(xs[0])
    if items is None:
        return None
    total = xs[1] if len(xs) > 1 else constant(0)
    for element in items:
        total = _calls.call(interpreter, operator.add, [total, element], {}, "")
    return total


SPECIAL: dict[Any, Callable[["Interpreter", list[Value]], Value | None]] = {
    len: _length,
    operator.mul: _product,
    unpack: _unpack,
    tuple: _sequence(tuple),
    list: _sequence(list),
    zip: _several("zip"),
    enumerate: _several("enumerate"),
    reversed: _several("reversed"),
    float: _as_is,
    sum: _sum,
    np.conjugate: _real,
    np.ndarray.conj: _real,
    np.ndarray.conjugate: _real,
}
SPECIAL[_intrinsics.join_dict] = _join_dict
SPECIAL[_intrinsics.join_arguments] = _join_arguments
for _name, _kind in (("join_tuple", tuple), ("join_list", list)):
    SPECIAL[getattr(_intrinsics, _name)] = _joined(_kind)
