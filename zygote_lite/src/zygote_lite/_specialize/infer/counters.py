"""What a loop walks over: its counter, and the elements of an iterable."""

import operator
from collections.abc import Callable
from dataclasses import dataclass

from rulescore.faults import an
from zygote_lite._specialize.infer.held import dicts as _held_dicts
from zygote_lite._specialize.infer.held import methods as _held_methods
from zygote_lite._specialize.infer.held import new_lists as _held_lists
from zygote_lite._specialize.infer.held.containers import is_held, is_held_dict
from zygote_lite._specialize.infer.held.items import held_item
from zygote_lite._specialize.infer.iteration.known import Several
from zygote_lite._specialize.infer.iteration.rows import item_of_rows, number_of_rows
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.contents import contents_in
from zygote_lite._specialize.typed.facts import ListOf, Other, Scalar
from zygote_lite._specialize.typed.nodes import Branch, Op
from zygote_lite._specialize.typed.reasons import NotSupported, Unsound
from zygote_lite._specialize.typed.runtime import abandon, has_length
from zygote_lite._specialize.typed.stand_ins import RowsOfData
from zygote_lite._specialize.typed.structures import structure
from zygote_lite._specialize.typed.values import Value, constant


@dataclass(eq=False)
class Counter:
    """The counter of a loop: a range, and the first index as its sample."""

    iterable: Value
    stem: str
    sample: int

    def begin(self, builder: Builder) -> Value:
        """Return the loop variable, a new one each time that the loop is written."""
        return builder.value(Scalar(frozenset((int,))), self.sample, self.stem)


def counted(builder: Builder, x: Value, stem: str) -> tuple[Counter, Callable[[Value], Value]]:
    """Return the counter of a loop, and the function that gives the element of an iteration."""
    if type(x.sample) is range:
        sample = x.sample[0] if len(x.sample) else x.sample.start
        return Counter(x, stem, sample), lambda i: i
    length, element = _elements(builder, x, stem)
    whole = builder.apply(range, [length])
    return Counter(whole, "i", 0), element


def _demand_equal(builder: Builder, n: Value, other: Value) -> None:
    """Leave the code if two lengths differ."""
    differ = builder.apply(operator.ne, [n, other])
    if differ.is_constant:
        if differ.sample:
            raise Unsound.RAISES("the arguments of a strict `zip` have different lengths")
        return
    leave_where(builder, differ)


def leave_where(builder: Builder, test: Value, holds: bool = True) -> None:
    """Leave the code where a test holds, or where it does not."""
    nothing = builder.value(Other(type(None)), None)
    leave = Op(builder.origin, nothing, abandon, [], required=True)
    builder.out.append(Branch(builder.origin, test, [leave], [], negated=not holds))


def lists_of(x: Value) -> list[Value]:
    """Return the lists of unknown length that an iterable walks over."""
    if isinstance(x.sample, Several):
        return [y for part in x.sample.parts for y in lists_of(part)]
    return [x] if isinstance(x.fact, ListOf) or is_held(x) else []


def _elements(builder: Builder, x: Value, stem: str = "") -> tuple[Value, Callable[[Value], Value]]:
    """Return the length of an iterable, and a function from an index to the element."""
    if is_held(x):
        return _held_elements(builder, x)
    if isinstance(x.sample, RowsOfData):
        return number_of_rows(builder, x), lambda i: item_of_rows(builder, x, i)
    if isinstance(x.sample, Several) and x.sample.kind in _held_methods.VIEWS:
        return _elements_of_view(builder, x.sample.kind, x.sample.parts[0])
    if x.items is not None and builder.held:
        return _held_elements(builder, _held_lists.listed(builder, x))
    if x.is_array or isinstance(x.fact, ListOf):
        return builder.apply(len, [x]), lambda i: builder.item(x, i, stem)
    if isinstance(x.sample, Several):
        several = x.sample
        parts = [_elements(builder, part) for part in several.parts if several.kind != "from"]
        if several.kind == "from":
            x, first = several.parts
            length = builder.apply(operator.sub, [builder.apply(len, [x]), first])
            return length, lambda i: builder.item(x, builder.apply(operator.add, [i, first]), stem)
        if several.kind == "reversed":
            n, at = parts[0]
            last = builder.apply(operator.sub, [n, constant(1)])
            return n, lambda i: at(builder.apply(operator.sub, [last, i]))
        if several.kind == "enumerate":
            return parts[0][0], lambda i: structure(tuple, [i, parts[0][1](i)])
        if several.kind in ("zip", "strict zip"):
            length = parts[0][0]
            if several.kind == "strict zip":
                for other, _ in parts[1:]:
                    _demand_equal(builder, length, other)
            elif parts[1:]:
                length = builder.apply(min, [n for n, _ in parts])
            return length, lambda i: structure(tuple, [at(i) for _, at in parts])
    raise NotSupported.ITERATION(f"it iterates over {an(type(x.sample).__name__)}")


def _held_elements(builder: Builder, x: Value) -> tuple[Value, Callable[[Value], Value]]:
    """Return the same of a container: of a dict or a set, of a list of its keys."""
    if is_held_dict(x):
        return _elements_of_view(builder, "keys", x)
    if contents_in(x).kind is set:
        x = _held_dicts.list_of_keys(builder, x)
    if contents_in(x).kind is tuple:
        raise NotSupported.ITERATION(
            "it iterates over a tuple whose length is known only as it runs: use a list"
        )
    return _held_lists.list_length(builder, x), lambda i: held_item(builder, x, i)


def _elements_of_view(
    builder: Builder, kind: str, x: Value
) -> tuple[Value, Callable[[Value], Value]]:
    """Return the same of a view of a dict, which must keep its length."""
    keys = _held_dicts.list_of_keys(builder, x)
    n = _held_lists.list_length(builder, keys)
    builder.sizes.append((x, n))

    def element(i: Value) -> Value:
        builder.demand(has_length, x, n)
        key = held_item(builder, keys, i)
        if kind == "keys":
            return key
        value = held_item(builder, x, key)
        return value if kind == "values" else structure(tuple, [key, value])

    return n, element
