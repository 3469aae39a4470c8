"""Seeds: the arguments to differentiate, and the cotangents that the reverse pass starts from."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from zygote_lite._cotangents.zeros import filled, is_whole
from zygote_lite._ir.places import name_of
from zygote_lite._tape.arguments import parameter_names
from zygote_lite._tape.validate import describe, is_real_array

Argnums = int | Sequence[int]


class ActiveArguments:
    """Which arguments of a call are differentiated.

    Attributes:
        numbers: their positions.
        flags: for the function and each argument whether it is differentiated, else `None`.
    """

    __slots__ = ("flags", "is_single", "numbers")

    def __init__(self, f: Any, argnums: Argnums, count: int, named: int = 0) -> None:
        self.numbers = argument_numbers(f, argnums, count)
        self.is_single = is_single(argnums)
        flags: list[Any] = [None] * (1 + count + named)
        for number in self.numbers:
            flags[1 + number] = True
        self.flags = tuple(flags)

    def of(self, cotangents: Any) -> Any:
        """Return theirs of the cotangents that a pullback returns."""
        if self.is_single:
            return cotangents[1 + self.numbers[0]]
        return tuple([cotangents[1 + number] for number in self.numbers])


def is_single(argnums: Argnums) -> bool:
    """Return whether `argnums` is one number: the gradient is that argument's, and no tuple."""
    return isinstance(argnums, int | np.integer)


def with_zeros(
    f: Any, xs: tuple[Any, ...], numbers: Sequence[int], is_single: bool, found: Any
) -> Any:
    """Return a gradient with zeros where it has `None`.

    Arguments:
        f, xs: the function and its arguments.
        numbers: the positions of those that are differentiated.
        is_single: whether the gradient is that of one argument, and no tuple.
        found: the gradient.

    Raises `TypeError` where an argument cannot have a gradient.
    """
    if is_whole(found):
        return found
    entries = (found,) if is_single else found
    whole = tuple([filled(d, xs[number]) for number, d in zip(numbers, entries, strict=True)])
    for number, d in zip(numbers, whole, strict=True):
        if d is None:
            raise no_gradient(f, number, xs[number])
    return whole[0] if is_single else whole


def no_gradient(f: Any, number: int, x: Any) -> TypeError:
    """Return the error for an argument that is to be differentiated and cannot be."""
    names = parameter_names(f)
    name = f"`{names[number]}`" if number < len(names) else str(number)
    return TypeError(
        f"the argument {name} of {name_of(f)} is to be differentiated, but it is {describe(x)}, "
        "which has no gradient: leave it out of `argnums`, or use `gradient` or `pullback`, which "
        "give `None` for it"
    )


def gradient_by(f: Any, y: Any, back: Any, active: ActiveArguments) -> Any:
    """Return the gradient of a function by its value and pullback, on any tape."""
    return active.of(back(seed(f, y)))


def argument_numbers(f: Any, argnums: Argnums, count: int) -> list[int]:
    """Return which of `count` positional arguments are differentiated."""
    numbers = list(argnums) if isinstance(argnums, Sequence) else [argnums]
    whole = all(isinstance(n, int | np.integer) and not isinstance(n, bool) for n in numbers)
    if not whole or isinstance(argnums, str):
        raise TypeError(f"argnums must be an int or a sequence of ints, and it is {argnums!r}")
    for n in numbers:
        if not -count <= n < count:
            raise TypeError(
                f"argnums {argnums} of {name_of(f)}: it was called with {count} positional "
                f"argument{'s' * (count != 1)}; only these can be differentiated"
            )
    return [n % count for n in numbers]


def seed(f: Any, y: Any) -> Any:
    """Return the cotangent one of a real number, of its kind."""
    if type(y) is float or type(y) is int:
        return 1.0
    if is_real_array(y) and np.ndim(y) == 0:
        if isinstance(y, np.generic):
            return y.dtype.type(1) if y.dtype.kind == "f" else 1.0
        return np.ones_like(y, dtype=y.dtype if y.dtype.kind == "f" else float)
    raise TypeError(
        f"the gradient of {name_of(f)} needs a real number as its value, and it is {describe(y)}; "
        "for other values use `pullback` or `jacobian`"
    )
