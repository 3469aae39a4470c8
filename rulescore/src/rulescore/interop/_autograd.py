"""Functions as functions of autograd: one primitive, whose first argument is the call."""

from collections.abc import Sequence
from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd.extend import defjvp_argnums, defvjp_argnums, primitive
from autograd.tracer import getval, isbox

from rulescore._naming import name_of
from rulescore.interop._calls import Call, by_position
from rulescore.interop._derivatives import Derivative, Pushforward
from rulescore.interop._differentiator import Differentiator, Pull
from rulescore.interop._trees import LEAF, flatten, rebuild


class AutogradFunction:
    """A function that autograd differentiates.

    Arguments:
        f: the function of NumPy's arrays.
        differentiator: what differentiates it.
    """

    def __init__(self, f: Any, differentiator: Differentiator) -> None:
        self.f, self.differentiator = f, differentiator
        self.__name__ = getattr(f, "__name__", type(f).__name__)
        self.__doc__ = getattr(f, "__doc__", None)
        self.__wrapped__ = f

    def __call__(self, *xs: Any, **options: Any) -> Any:
        """Call the function on arrays and numbers, or on trees of them."""
        f = self.f
        xs = tuple(map(opened, xs))
        if options:
            held: list[Any] = []
            options = {name: opened(x) for name, x in options.items()}
            flatten(options, isbox, held)
            if held:
                xs, options = by_position(f, xs, options)
                f, xs, options = self.differentiator.with_keywords(
                    f, xs, options, isbox, _as_constant
                )
        leaves: list[Any] = []
        structure = flatten(xs, isbox, leaves)
        if not leaves:
            return f(*xs, **options)
        form, found = applied(Call(f, structure, options, self.differentiator), leaves)
        return found[0] if form is LEAF else rebuild(form, iter(found))

    def __repr__(self) -> str:
        return f"to_autograd({name_of(self.f)})"

    def __reduce__(self) -> Any:
        return AutogradFunction, (self.f, self.differentiator)


def opened(x: Any) -> Any:
    """Return a value with the boxes of tuples, lists and dicts replaced by these, of boxes."""
    if isbox(x):
        held = getval(x)
        if isinstance(held, dict):
            return {name: opened(x[name]) for name in held}
        if isinstance(held, list | tuple):
            each = [opened(x[i]) for i in range(len(held))]
            return each if isinstance(held, list) else tuple(each)
        return x
    if isinstance(x, dict):
        return {name: opened(entry) for name, entry in x.items()}
    if type(x) in (list, tuple):
        return type(x)(map(opened, x))
    return x


def _as_constant(name: str, x: Any) -> Any:
    raise TypeError(f"the option `{name}` is differentiated, and options have no gradient")


class Run:
    """A call that is run, and what the run leaves: the structure of the value, and the pullback."""

    __slots__ = ("call", "needed", "pull", "structure")

    def __init__(self, call: Call, needed: Sequence[bool]) -> None:
        self.call, self.needed = call, needed
        self.pull: Pull | None = None
        self.structure: Any = None


def applied(call: Call, leaves: Sequence[Any]) -> tuple[Any, list[Any]]:
    """Return the structure of a call's value and its leaves."""
    run = Run(call, [isbox(x) and is_inexact(x) for x in leaves])
    ys = node(run, *leaves)
    structure = run.structure
    count = len(flattened(structure))
    return structure, [ys] if count == 1 else [ys[i] for i in range(count)]


def flattened(structure: Any) -> list[Any]:
    """Return the leaves of a structure."""
    found: list[Any] = []
    flatten(structure, lambda part: part is LEAF, found)
    return found


@primitive
def node(run: Run, *leaves: Any) -> Any:
    """Return the leaves of a value: a tuple, but for one alone."""
    arrays = [read_only(x) for x in leaves]
    structure, found, pull = run.call.pull(arrays, run.needed)
    run.structure, run.pull = structure, pull
    return found[0] if len(found) == 1 else tuple(found)


def pulled(argnums: Sequence[int], ans: Any, args: Sequence[Any], kwargs: Any) -> Any:
    """Return what autograd pulls cotangents back by."""
    run, *leaves = args
    structure, pull, count = run.structure, run.pull, len(flattened(run.structure))
    plain = not any(map(isbox, leaves))

    def back(g: Any) -> Any:
        dys = [conj(dy) for dy in ([g] if count == 1 else [g[i] for i in range(count)])]
        if plain and not any(map(isbox, dys)):
            found = pull(list(map(np.asarray, dys)))
        else:
            call = Derivative(run.call, structure, [True] * count, run.needed, pull)
            _, known = applied(call, [*leaves, *dys])
            each = iter(known)
            found = [next(each) if needed else None for needed in run.needed]
        return tuple([like(conj(found[n - 1]), leaves[n - 1]) for n in argnums])

    return back


def pushed(
    argnums: Sequence[int], gs: Sequence[Any], ans: Any, args: Sequence[Any], kwargs: Any
) -> Any:
    """Return the tangent of the value."""
    run, *leaves = args
    call = Pushforward(run.call, [n + 1 in argnums for n in range(len(leaves))])
    operands = [*leaves, *gs]
    if any(map(isbox, operands)):
        _, found = applied(call, operands)
    else:
        _, found = call.value(list(map(read_only, operands)))
    return found[0] if len(found) == 1 else tuple(found)


defvjp_argnums(node, pulled)
defjvp_argnums(node, pushed)


def is_inexact(x: Any) -> bool:
    """Return whether a leaf is of floating-point or complex numbers."""
    return np.asarray(getval(x)).dtype.kind in "fc"


def read_only(x: Any) -> np.ndarray:
    """Return a leaf as an array that cannot be written into."""
    if not isinstance(x, np.ndarray):
        return np.asarray(x)
    array = x.view()
    array.flags.writeable = False
    return array


def conj(x: Any) -> Any:
    """Return what a cotangent of autograd is here, and the other way round: they are conjugate."""
    return anp.conj(x) if x is not None and np.iscomplexobj(getval(x)) else x


def like(dx: Any, x: Any) -> Any:
    """Return a cotangent as autograd has it for a leaf: an array for an array, else a number."""
    held = getval(x)
    if dx is None:
        return np.zeros_like(held) if isinstance(held, np.ndarray) else 0.0
    if isbox(dx) or isinstance(held, np.ndarray):
        return dx if isbox(dx) else np.asarray(dx)
    return np.asarray(dx)[()]
