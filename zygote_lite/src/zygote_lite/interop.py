"""Functions that the engine differentiates as functions of PyTorch, JAX and autograd.

What `rulescore.interop` does for functions with a rule, this does for all that `pullback` takes: a
simulation that writes its arrays in place is a layer of a network in PyTorch.
"""

import functools
import types
from collections.abc import Callable, Sequence
from typing import Any

from rulescore import interop
from rulescore.interop import Differentiator
from rulescore.interop._differentiator import Watch, effectful
from zygote_lite._interface.tangents import jvp
from zygote_lite._interface.vjp import vjp, vjp_by
from zygote_lite._ir.names import name_of
from zygote_lite._tape.repeats import repeatable, stamp_around, writes_around

__all__ = ["to_torch", "to_jax", "to_autograd"]

At = tuple[int, tuple[Any, ...]]


class Engine(Differentiator):
    """Differentiate functions for a host by this engine, again and again."""

    def pull(
        self, f: Any, xs: tuple[Any, ...], options: dict[str, Any], needed: Sequence[bool]
    ) -> tuple[Any, Any, int]:
        """Return `f(*xs, **options)`, its pullback, and where the cotangents of `xs` begin."""
        numbers = tuple([i for i, wanted in enumerate(needed) if wanted])
        y, back = vjp_by(bound(f, options), numbers, xs)
        return y, self.checked(f, back), 0

    def push(
        self, f: Any, xs: tuple[Any, ...], dxs: tuple[Any, ...], options: dict[str, Any]
    ) -> tuple[Any, Any]:
        """Return `f(*xs, **options)` and its tangent in the direction of those of the arguments."""
        return jvp(bound(f, options), xs, dxs)

    def pulled(
        self, f: Any, options: dict[str, Any], places: Sequence[At | None]
    ) -> Callable[..., Any]:
        """Return the function of `(*xs, dy)` that gives the cotangents at some places."""
        f = bound(f, options)
        numbers = sorted({place[0] for place in places if place is not None})
        among = [None if place is None else (numbers.index(place[0]), place[1]) for place in places]

        def cotangents(*operands: Any) -> Any:
            xs = operands[:-1]
            chosen = f if len(numbers) == len(xs) else of_some(f, xs, numbers)
            _, back = vjp(chosen, *[xs[n] for n in numbers])
            return entries(back(operands[-1]), among)

        return cotangents

    def pushed(
        self, f: Any, options: dict[str, Any], count: int, places: Sequence[At]
    ) -> Callable[..., Any]:
        """Return the function of `(*xs, *dxs)` that gives the tangent at some places."""
        f = bound(f, options)

        def tangents(*operands: Any) -> Any:
            return entries((jvp(f, operands[:count], operands[count:])[1],), places)

        return tangents

    def with_keywords(
        self, f: Any, xs: tuple[Any, ...], options: dict[str, Any], is_leaf: Any, constant: Any
    ) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
        """Return a call by position alone: what is given by keyword is differentiated too."""
        return KeywordCall(f, tuple(options)), (*xs, *options.values()), {}

    def knows(self, f: Any) -> bool:
        """Return whether a function can be exported: it has a rule, or Python code."""
        return super().knows(f) or isinstance(f, types.FunctionType | types.MethodType)

    def repeatable(self, f: Any, why: str) -> Watch:
        """Return what watches calls of a function that may be repeated, or left out."""
        return repeatable(f, lambda effect: TypeError(effectful(f, effect, why)))

    def written(self, f: Any) -> Callable[[], bool] | None:
        """Return what tells whether an array around a function has been written meanwhile."""
        return writes_around(of_keywords(f))

    def stamp(self, f: Any) -> int | None:
        """Return a checksum, of 32 bits, of the arrays around a function; `None` if it has none."""
        return stamp_around(of_keywords(f))


BY_ENGINE = Engine()


def of_keywords(f: Any) -> Any:
    """Return the function that the user has exported."""
    return f.f if type(f) is KeywordCall else f


class KeywordCall:
    """A function whose last arguments by position are those that are given by keyword.

    Arguments:
        f: the function.
        names: the keywords of its last arguments.
    """

    def __init__(self, f: Any, names: tuple[str, ...]) -> None:
        self.f, self.names = f, names
        self.__name__ = name_of(f)

    def __call__(self, *xs: Any) -> Any:
        """Call the function."""
        count = len(xs) - len(self.names)
        return self.f(*xs[:count], **dict(zip(self.names, xs[count:], strict=True)))


def of_some(f: Any, xs: tuple[Any, ...], numbers: Sequence[int]) -> Callable[..., Any]:
    """Return a function of some arguments, by their positions; the others are constants."""

    def chosen(*active: Any) -> Any:
        given = [*xs]
        for n, x in zip(numbers, active, strict=True):
            given[n] = x
        return f(*given)

    return chosen


def entries(trees: Any, places: Sequence[At | None]) -> Any:
    """Return what trees have at some places, as a tuple."""
    found = []
    for place in places:
        entry = None
        if place is not None:
            entry = trees[place[0]]
            for key in place[1]:
                entry = entry[key]
        found.append(entry)
    return tuple(found)


def bound(f: Any, options: dict[str, Any]) -> Any:
    """Return a function with some options, which are constants."""
    return functools.partial(f, **options) if options else f


def to_torch(f: Callable[..., Any], *, copy: bool = False) -> Any:
    """Export a function of NumPy arrays to PyTorch, which differentiates it.

    Arguments:
        f: any callable that `pullback` takes, of NumPy arrays. Its arguments and its value may be
            tuples, lists and dicts. A tensor without axes arrives as a NumPy number, any other as a
            read-only array that shares the memory of the tensor.
        copy: whether `f` gets copies of its arguments, which it may write into.

    What is returned raises the errors of `pullback` where a gradient is asked for, and `TypeError`
    for tensors that NumPy does not know (`bfloat16`).
    """
    return interop.to_torch(f, ad=BY_ENGINE, copy=copy)


def to_jax(f: Callable[..., Any], *, mode: str = "reverse", result: Any = None) -> Any:
    """Export a function of NumPy arrays to JAX, which differentiates it.

    Arguments:
        f: any callable that `pullback` takes, of NumPy arrays, without side effects.
        mode, result: as for `rulescore.interop.to_jax`.

    Raises `TypeError` if the function prints, draws random numbers, or has other side effects; a
    call raises it if the function changes what it captures.
    """
    return interop.to_jax(f, ad=BY_ENGINE, mode=mode, result=result)


def to_autograd(f: Callable[..., Any]) -> Any:
    """Export a function of NumPy arrays to autograd, which differentiates it.

    Arguments:
        f: any callable that `pullback` takes, of NumPy arrays. Its arguments and its value may be
            tuples, lists and dicts.

    What is returned raises the errors of `pullback` where a gradient is asked for.
    """
    return interop.to_autograd(f, ad=BY_ENGINE)
