"""`is` between two values, where it is known which objects they are."""

import operator
from typing import Any

from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.drafts import ONE_BY_ONE
from zygote_lite._specialize.typed.reasons import Unsound
from zygote_lite._specialize.typed.values import Value, constant


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
            raise Unsound.IDENTITY("it asks whether two texts are one object")
    if not (a.is_array and b.is_array) or builder.plain:
        return None
    if not builder.distinct:  # equal arrays may be one value
        builder.wanted.add(ONE_BY_ONE)
        raise Unsound.IDENTITY("it asks whether two arrays are one object")
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
        raise Unsound.IDENTITY("it asks whether two arrays are one object")
    return constant(same is (f is operator.is_))


def _given_at(builder: Builder, x: Value) -> str | None:
    """Return the expression for an array that is an argument, or a part of one."""
    found = builder.origins.get(x) if x.sizes is not None else None
    return found if isinstance(found, str) else None


def _is_new(builder: Builder, x: Value) -> bool:
    return x.base is None and builder.is_own(x)
