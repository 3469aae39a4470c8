"""Functions of a host inside NumPy code: what `rules_torch` and `rules_jax` have in common.

A `Foreign` is a function of arrays whose value another library computes, and differentiates. Its
`record` gives the value and a `Backward`, the pullback as a function of the cotangent and of the
arguments. That is a `Foreign` in turn, so there are derivatives of every order.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from rulescore._declaring.ruleset import RuleSet
from rulescore._project import project, sequence_like
from rulescore._tangent import Tangent

__all__ = ["Foreign", "Backward", "declare", "leaves_along", "rebuilt_like", "reasons", "is_number"]
Order = Callable[[dict[Any, Any]], Iterable[Any]]
Leaves = Callable[[Any], Iterable[Any]]


class Foreign:
    """Call a function of a host on arrays of NumPy.

    A host derives its class from this one, with the methods `run` and `record`, which take what
    the function takes.

    Attributes:
        f: the function of the host.
    """

    def __init__(self, f: Any) -> None:
        self.f = f

    @property
    def name(self) -> str:
        """The name of the function in messages."""
        return str(getattr(self.f, "__name__", None) or type(self.f).__name__)

    def __call__(self, *xs: Any, **options: Any) -> Any:
        """Return the value on arrays, as arrays."""
        return self.run(*xs, **options)

    def run(self, *xs: Any, **options: Any) -> Any:
        """Return the value."""
        raise NotImplementedError

    def record(self, *xs: Any, **options: Any) -> "tuple[Any, Backward, tuple[str | None, ...]]":
        """Return the value, its pullback, and the `reasons` why cotangents are refused."""
        raise NotImplementedError


class Backward(Foreign):
    """The pullback of a call, as a function of the cotangent, the function and the arguments.

    Its value is a tuple of their cotangents, that of the function first. The option `at` is the
    place of the one that is asked for: others may be left out. `held` belongs to one call of a
    pullback, and keeps by their places what is found beside.
    """


def declare(rule: RuleSet, kind: type, record: Callable[..., Any]) -> None:
    """Declare the rules for calling a kind of `Foreign`, its `Backward` among them.

    Arguments:
        rule: the rule set.
        kind: the host's class.
        record: a function of the plugin, `record(f, *xs, **options)`, which returns
            `f.record(*xs, **options)`. It has a rule, so that an AD that differentiates the rule
            of a call does not look into the host.
    """

    @rule.method(project)
    def _(dx: object, x: kind) -> Any:  # type: ignore[valid-type]
        return dx  # it goes by value: an AD does not look into it

    @rule.of_instances
    def _(f: kind, *xs: object, **options: Any) -> Any:  # type: ignore[valid-type]
        y, back, why = record(f, *xs, **options)
        return y, (begun, tuple([part_at(back, f, xs, i, why[i]) for i in range(len(xs) + 1)]))

    @rule(record)
    def _(f: kind, *xs: object, **options: Any) -> Any:  # type: ignore[valid-type]
        y, back, why = record(f, *xs, **options)
        parts = tuple([part_at(back, f, xs, i, why[i]) for i in range(len(xs) + 1)])
        return (y, back, why), (begun_of_first, parts)


def begun(dy: Any) -> tuple[Any, dict[int, Any]]:
    """Return what the parts of one call of a pullback share: the cotangent, and their results."""
    return dy, {}


def begun_of_first(dy: Any) -> tuple[Any, dict[int, Any]]:
    """Return the same for the cotangent of a value and its `Backward`, which has none."""
    return None if dy is None else dy[0], {}


def part_at(back: Any, f: Any, xs: tuple[Any, ...], i: int, why: str | None) -> Any:
    """Return the part of a pullback for the function (0) or one of its arguments."""
    if why == "":
        return None

    def part(shared: Any) -> Any:
        if why is not None:
            raise NotImplementedError(why)
        if shared[0] is None:
            return None
        return back(shared[0], f, *xs, at=i, held=shared[1])[i]

    return part


def reasons(
    f: Foreign, host: str, xs: tuple[Any, ...], leaves: Leaves, has_own: bool = False
) -> tuple[str | None, ...]:
    """Return for a function and its arguments why they have no cotangent; `None` if they have.

    Arguments:
        f, xs: the function and its arguments, which may not hold integers.
        host: the name of the library.
        leaves: the function that gives the leaves of a tree.
        has_own: whether the function has one, as a module by its parameters.
    """
    words = (
        f"{f.name} is given integers, by which {host} has no gradient: convert them to floats, or "
        "leave them out by `argnums`"
    )
    each = [words if any(map(_is_whole, leaves(x))) else None for x in xs]
    return None if has_own else "", *each


def is_number(x: Any) -> bool:
    """Return whether a leaf of the arguments is handed to a host as an array of its own."""
    return isinstance(x, np.ndarray | np.generic | float | complex)


def _is_whole(x: Any) -> bool:
    if isinstance(x, np.ndarray | np.generic):
        return x.dtype.kind in "iu"
    return isinstance(x, int) and not isinstance(x, bool)


def leaves_along(y: Any, dy: Any, order: Order = list, skips_none: bool = False) -> list[Any]:
    """Return the leaves of a cotangent, one for each leaf of its value, `None` where it has none.

    Arguments:
        y: the value: arrays, and tuples, lists, dicts and `Tangent`s of them.
        dy: its cotangent: of its form, or `None` above some leaves.
        order: the order in which a host goes through the keys of a dict.
        skips_none: whether `None` in the value is no leaf of the host.
    """
    if isinstance(y, Tangent):
        y = dict(y)
        dy = None if dy is None else dict(dy)
    if isinstance(y, dict):
        given = {} if dy is None else dy
        pairs = [(y[name], given.get(name)) for name in order(y)]
    elif isinstance(y, list | tuple):
        pairs = [*zip(y, [None] * len(y) if dy is None else dy, strict=True)]
    else:
        return [] if y is None and skips_none else [dy]
    return [d for part, entry in pairs for d in leaves_along(part, entry, order, skips_none)]


def rebuilt_like(tree: Any, leaves: Iterator[Any]) -> Any:
    """Return a tree with other leaves, the next for each of its own."""
    if isinstance(tree, Tangent):
        fields = {name: rebuilt_like(entry, leaves) for name, entry in dict(tree).items()}
        return Tangent(tree._primal, **fields)
    if isinstance(tree, dict):
        return {name: rebuilt_like(entry, leaves) for name, entry in tree.items()}
    if isinstance(tree, list | tuple):
        return sequence_like(tree, [rebuilt_like(entry, leaves) for entry in tree])
    return next(leaves)
