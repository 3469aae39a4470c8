"""Seeds: the arguments to differentiate, and the cotangents that the reverse pass starts from."""

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from rulescore import zero
from rulescore.faults import an, counted
from zygote_lite._cotangents.kinds import VALUE, has_rows, kind_of
from zygote_lite._cotangents.zeros import filled, has_no_none
from zygote_lite._ir.names import name_of
from zygote_lite._tape.arguments import parameter_names
from zygote_lite._tape.holders import instead_of
from zygote_lite._tape.refusals.advice import hint_on_library
from zygote_lite._tape.validate import describe, is_real_array
from zygote_lite.errors import Fault

Argnums = int | str | Sequence[int | str]
"""Which arguments are differentiated: a position or the name of a parameter, or several."""


class ActiveArguments:
    """Which arguments of a call are differentiated.

    Attributes:
        numbers: their positions, among the positional arguments and then those by keyword.
        flags: for the function and each argument whether it is differentiated, else `None`.
    """

    __slots__ = ("flags", "is_single", "numbers")

    def __init__(self, f: Any, argnums: Argnums, count: int, named: Collection[str] = ()) -> None:
        self.numbers = argument_numbers(f, argnums, count, named)
        self.is_single = is_single(argnums)
        flags: list[Any] = [None] * (1 + count + len(named))
        for number in self.numbers:
            flags[1 + number] = True
        self.flags = tuple(flags)

    def of(self, cotangents: Any) -> Any:
        """Return theirs of the cotangents that a pullback returns."""
        if self.is_single:
            return cotangents[1 + self.numbers[0]]
        return tuple([cotangents[1 + number] for number in self.numbers])


def is_single(argnums: Argnums) -> bool:
    """Return whether `argnums` is one argument: the gradient is that argument's, and no tuple."""
    return isinstance(argnums, int | str | np.integer)


def with_zeros(
    f: Any, xs: tuple[Any, ...], numbers: Sequence[int], is_single: bool, found: Any
) -> Any:
    """Return a gradient with zeros where it has `None`.

    Arguments:
        f, xs: the function and its arguments, also those by keyword; for those that it may have
            changed, their forms (`forms_of`).
        numbers: the positions of those that are differentiated.
        is_single: whether the gradient is that of one argument, and no tuple.
        found: the gradient.

    Raises `TypeError` where an argument cannot have a gradient.
    """
    if has_no_none(found):
        return found
    entries = (found,) if is_single else found
    whole = tuple([filled(d, xs[number]) for number, d in zip(numbers, entries, strict=True)])
    for number, d in zip(numbers, whole, strict=True):
        if d is None:
            raise no_gradient(f, number, xs[number])
    return whole[0] if is_single else whole


def no_gradient(f: Any, number: int, x: Any) -> Exception:
    """Return the error for an argument that is to be differentiated and cannot be."""
    names = parameter_names(f)
    name = f"`{names[number]}`" if number < len(names) else str(number)
    return Fault.ARGUMENT(
        f"the argument {name} of {name_of(f)} is to be differentiated, but it is {describe(x)}, "
        "which has no gradient: leave it out of `argnums`, or use `gradient` or `pullback`, which "
        "give `None` for it"
    )


def gradient_by(f: Any, y: Any, back: Any, active: ActiveArguments) -> Any:
    """Return the gradient of a function by its value and pullback, on any tape."""
    return active.of(back(seed(f, y)))


def arguments_and_vector(
    f: Any, xs: tuple[Any, ...], kws: dict[str, Any]
) -> tuple[tuple[Any, ...], Any]:
    """Return the arguments of a function, and the vector after them, that `hvp(f)` is given."""
    if not xs or len(xs) + len(kws) == 1:
        raise Fault.TANGENT(
            f"hvp of {name_of(f)} is given {counted(len(xs), 'argument')}: give it those of the "
            "function, and then the vector, as in `hvp(f)(x, v)`"
        )
    return xs[:-1], xs[-1]


def hessian_product_of(cotangents: Any, xs: tuple[Any, ...], active: ActiveArguments) -> Any:
    """Return the Hessian times a vector, by the pullback of the gradient, on any tape.

    Arguments:
        cotangents: what the pullback gives for the vector.
        xs: the forms of the arguments, also of those by keyword.
        active: which of them are differentiated.
    """
    found = [filled(cotangents[1 + n], xs[n]) for n in active.numbers]
    return found[0] if active.is_single else tuple(found)


def pair_of(f: Any, y: Any) -> tuple[Any, Any]:
    """Return the value that is differentiated, and what a function returns beside it.

    Raises `TypeError` where it returns no pair.
    """
    if isinstance(y, tuple) and len(y) == 2:
        return y[0], y[1]
    raise Fault.NOT_REAL(
        f"{name_of(f)} is differentiated with `has_aux=True`, and returned {describe(y)}: return "
        "the pair (value, aux), of which the value is differentiated"
    )


def of_first(back: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return the pullback of the first of a pair, by that of the pair."""
    return lambda dy: back((dy, None))


def argument_numbers(
    f: Any, argnums: Argnums, count: int, named: Collection[str] = ()
) -> list[int]:
    """Return which arguments of a call are differentiated.

    Arguments:
        f, argnums: the function, and what is asked for.
        count: how many positional arguments the call has.
        named: the names of those by keyword, which are counted after the positional ones.
    """
    return [_argument_number(f, argnums, n, count, named) for n in asked_arguments(argnums)]


def asked_arguments(argnums: Argnums) -> list[int | str]:
    """Return the positions and names that are asked for; refuse what is none."""
    asked = [argnums] if is_single(argnums) or not isinstance(argnums, Sequence) else [*argnums]
    if any(isinstance(n, bool) or not isinstance(n, int | str | np.integer) for n in asked):
        raise Fault.ARGNUMS(
            f"`argnums` is {argnums!r}, which names no argument: give the position or the name of "
            "one, or a sequence of them; the values of the arguments belong in a second call, as "
            "in `grad(f)(x)`"
        )
    return asked  # type: ignore[return-value]


def _argument_number(
    f: Any, argnums: Argnums, asked: Any, count: int, named: Collection[str]
) -> int:
    if isinstance(asked, str):
        at = {name: i for i, name in enumerate(parameter_names(f)[:count])}
        at |= {name: count + i for i, name in enumerate(named)}
        if asked not in at:
            raise Fault.ARGNUMS(
                f"`argnums` names the argument {asked!r} of {name_of(f)}, which was called without "
                "one of this name: count from 0, or name a parameter of the call"
            )
        return at[asked]
    if asked == count == 0:  # which need not have been asked for: it is the usual one
        by_name = f", or name it: `argnums={next(iter(named))!r}`" if named else ""
        raise Fault.ARGNUMS(
            f"{name_of(f)} is differentiated by its first positional argument, and was called "
            f"without one: pass it by position{by_name}"
        )
    if not -count <= asked < count:
        raise Fault.ARGNUMS(
            f"`argnums` names the argument {asked} of {name_of(f)}, which was called with "
            f"{counted(count, 'positional argument')}: count from 0, and name those that are "
            "passed by keyword"
        )
    return int(asked) % count


def seed(f: Any, y: Any) -> Any:
    """Return the cotangent one of a real number, of its kind."""
    if type(y) is float or type(y) is int:
        return 1.0
    if is_real_array(y) and np.ndim(y) == 0 and kind_of(y) == VALUE:
        if isinstance(y, np.generic):
            return y.dtype.type(1) if y.dtype.kind == "f" else 1.0
        return np.ones_like(y, dtype=y.dtype if y.dtype.kind == "f" else float)
    if has_rows(type(y)):  # its cotangent is an array of NumPy
        return seed(f, zero(y))
    if y is None:
        raise Fault.NOT_REAL(
            f"{name_of(f)} returned None, and a gradient needs a real number: "
            "return one; is a `return` missing?"
        )
    raise Fault.NOT_REAL(
        f"the gradient of {name_of(f)} needs a real number as its value, and it is {describe(y)}; "
        f"{_for_another_value(y)}"
    )


def _for_another_value(y: Any) -> str:
    """Return what to do where a gradient is asked for, and the value is not a real number."""
    if isinstance(y, str | bytes):
        return "no gradient passes through a text: return a number, or use `pullback`"
    if getattr(getattr(y, "dtype", type(y)), "kind", None) == "c" or isinstance(y, complex):
        return "make it real, as `abs` does, or use `pullback`"
    carrying = instead_of(y)
    if carrying is not None:
        return f"{an(type(y).__name__)} carries no gradient: compute with {carrying}"
    hint = hint_on_library([y], None)
    if hint is not None:
        return hint
    return "use `pullback` or `jacobian`"
