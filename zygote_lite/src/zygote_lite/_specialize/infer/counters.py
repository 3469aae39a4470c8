"""What a loop walks over: its counter, and the elements of an iterable."""

import operator
from collections.abc import Callable
from dataclasses import dataclass

from zygote_lite._specialize.infer.models.items import Several
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.facts import ListOf, Other, Scalar
from zygote_lite._specialize.typed.nodes import Branch, Op
from zygote_lite._specialize.typed.reasons import NotSupported, Unsound
from zygote_lite._specialize.typed.runtime import abandon
from zygote_lite._specialize.typed.structures import structure
from zygote_lite._specialize.typed.values import Value


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


def leave_where(builder: Builder, test: Value) -> None:
    """Leave the code where a test holds."""
    nothing = builder.value(Other(type(None)), None)
    leave = Op(builder.origin, nothing, abandon, [], required=True)
    builder.out.append(Branch(builder.origin, test, [leave], []))


def lists_of(x: Value) -> list[Value]:
    """Return the lists of unknown length that an iterable walks over."""
    if isinstance(x.sample, Several):
        return [y for part in x.sample.parts for y in lists_of(part)]
    return [x] if isinstance(x.fact, ListOf) else []


def _elements(builder: Builder, x: Value, stem: str = "") -> tuple[Value, Callable[[Value], Value]]:
    """Return the length of an iterable, and a function from an index to the element."""
    if x.is_array or isinstance(x.fact, ListOf):
        return builder.apply(len, [x]), lambda i: builder.item(x, i, stem)
    if isinstance(x.sample, Several):
        several = x.sample
        parts = [_elements(builder, part) for part in several.parts]
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
    raise NotSupported.ITERATION(f"it iterates over a {type(x.sample).__name__}")
