"""Seeds: the arguments to differentiate, and the cotangents that the reverse pass starts from."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from zygote_lite._ir.places import name_of
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
        self.is_single = isinstance(argnums, int)
        flags: list[Any] = [None] * (1 + count + named)
        for number in self.numbers:
            flags[1 + number] = True
        self.flags = tuple(flags)

    def of(self, cotangents: Any) -> Any:
        """Return theirs of the cotangents that a pullback returns."""
        if self.is_single:
            return cotangents[1 + self.numbers[0]]
        return tuple([cotangents[1 + number] for number in self.numbers])


def gradient_by(f: Any, y: Any, back: Any, active: ActiveArguments) -> Any:
    """Return the gradient of a function by its value and pullback, on any tape."""
    return active.of(back(seed(f, y)))


def jacobian_by(f: Any, y: Any, back: Any, active: ActiveArguments, x: Any) -> list[Any]:
    """Return the rows of a Jacobian by the value and the pullback, on any tape."""
    (number,) = active.numbers
    rows = [back(dy)[1 + number] for dy in basis(f, y, x, number)]
    return [np.zeros(np.shape(x)) if d is None else d for d in rows]


def basis(f: Any, y: Any, x: Any, number: int) -> Iterator[Any]:
    """Yield the cotangents of a value that pick out one of its entries each."""
    if not is_real_array(y) or not is_real_array(x):
        raise TypeError(
            f"the Jacobian of {name_of(f)} needs real numbers or arrays: its value is "
            f"{describe(y)}, its argument {number} is {describe(x)}"
        )
    if np.ndim(y) == 0:
        yield seed(f, y)
        return
    for i in range(np.size(y)):
        dy = np.zeros(np.shape(y), y.dtype if y.dtype.kind == "f" else float)
        dy.flat[i] = 1
        yield dy


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
