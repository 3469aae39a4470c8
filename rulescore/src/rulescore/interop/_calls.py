"""A call of an exported function: its flat arguments, its flat values, and its pullback between.

What a host gives are leaves: its tensors, here as NumPy arrays. The tuples, lists and dicts around
them are the structure of the call. A leaf without axes is given as a number of NumPy.
"""

import functools
import inspect
from collections.abc import Sequence
from sys import getrefcount
from typing import Any

import numpy as np

from rulescore._errors import Fault
from rulescore._naming import describe, name_of
from rulescore._project import sequence_like
from rulescore.interop._differentiator import Back, Differentiator, Pull, Watch
from rulescore.interop._trees import LEAF, flatten, leaves_like, places_in, rebuild


class Call:
    """A function of flat leaves, which is what a host differentiates.

    Attributes:
        f: the function.
        structure: that of its positional arguments, a tuple.
        options: its keyword arguments, which have no cotangents.
        differentiator: what differentiates it.
        stamp: the checksum of what its function read in the run that has a pullback.
    """

    __slots__ = ("differentiator", "f", "is_flat", "options", "stamp", "structure")

    def __init__(
        self,
        f: Any,
        structure: tuple[Any, ...],
        options: dict[str, Any],
        differentiator: Differentiator,
    ) -> None:
        self.f, self.structure, self.options = f, structure, options
        self.differentiator = differentiator
        self.stamp: int | None = None
        self.is_flat = False not in [part is LEAF for part in structure]

    @property
    def name(self) -> str:
        """The name of the function."""
        return name_of(self.f)

    def value(self, arrays: Sequence[Any]) -> tuple[Any, list[Any]]:
        """Return the structure of the value, and its leaves."""
        return flat_value(self.f, self.f(*self.arguments(arrays), **self.options))

    def pull(self, arrays: Sequence[Any], needed: Sequence[bool]) -> tuple[Any, list[Any], Pull]:
        """Return the same, and the pullback from leaves to leaves; `None` is no gradient.

        Arguments:
            arrays: the leaves of the arguments.
            needed: for each of them whether its cotangent is asked for.
        """
        xs = self.arguments(arrays)
        if not self.is_flat:
            needed = self.which(needed)
        y, back, first = self.differentiator.pull(self.f, xs, self.options, needed)
        self.stamp = self.differentiator.stamp(self.f)  # now, as the call may change it itself
        if self.is_flat and type(y) is np.ndarray and y.ndim:  # as most functions are
            return LEAF, [y], lambda dys: back(dys[0])[first:]
        structure, leaves = flat_value(self.f, y)
        return structure, leaves, functools.partial(self.pull_flat, back, first, structure)

    def pull_flat(self, back: Back, first: int, structure: Any, dys: Sequence[Any]) -> list[Any]:
        """Return the cotangents of the leaves of the arguments."""
        found: list[Any] = []
        dy = rebuild(structure, iter([None if dy is None else number(dy) for dy in dys]))
        leaves_like(self.structure, back(cotangent_of(structure, dy))[first:], found)
        return found

    def push(
        self, arrays: Sequence[Any], tangents: Sequence[Any]
    ) -> tuple[Any, list[Any], list[Any]]:
        """Return the structure of the value, its leaves and their tangents; `None` is a zero."""
        xs = self.arguments(arrays)
        each = iter([None if t is None else number(t) for t in tangents])
        dxs = tuple([cotangent_of(s, rebuild(s, each)) for s in self.structure])
        y, dy = self.differentiator.push(self.f, xs, dxs, self.options)
        structure, leaves = flat_value(self.f, y)
        found: list[Any] = []
        leaves_like(structure, dy, found)
        return structure, leaves, found

    def arguments(self, arrays: Sequence[Any]) -> tuple[Any, ...]:
        """Return the positional arguments, with arrays for the leaves."""
        if self.is_flat:
            for x in arrays:
                if not x.shape:
                    return tuple(map(number, arrays))
            return tuple(arrays)
        found: tuple[Any, ...] = rebuild(self.structure, iter(map(number, arrays)))
        return found

    def which(self, needed: Sequence[bool]) -> list[bool]:
        """Return for each argument whether one of its leaves is needed."""
        found = [False] * len(self.structure)
        for (position, _), wanted in zip(places_in(self.structure), needed, strict=True):
            found[position] = found[position] or wanted
        return found

    def plain(self) -> "Call | None":
        """Return it as a call of one function; `None` where there is none."""
        return self

    def refuse_changed(self) -> None:
        """Raise `TypeError` if a variable that its function reads has changed since that run."""
        if self.stamp is not None and self.stamp != self.differentiator.stamp(self.f):
            raise changed(self.name)

    def again(self) -> "Call":
        """Return it as a call that is run once more. Raises `TypeError` if that has effects."""
        return Repeated(self, self.watch)

    @property
    def watch(self) -> Watch:
        """What watches a call that is run once more, likewise."""
        return self.differentiator.repeatable(self.f, "It is run again for this derivative")


class Repeated(Call):
    """A call that may be run more than once, or left out, because its function has no effects.

    Arguments:
        call: the call.
        watch: what `Differentiator.repeatable` gives for its function.
    """

    __slots__ = ("_watch",)

    def __init__(self, call: Call, watch: Watch) -> None:
        super().__init__(call.f, call.structure, call.options, call.differentiator)
        self._watch = watch

    @property
    def watch(self) -> Watch:
        """What watches a call, to tell that the variables around it stay as they are."""
        return self._watch

    def value(self, arrays: Sequence[Any]) -> tuple[Any, list[Any]]:
        """Return the structure of the value, and its leaves."""
        with self.watch(self.structure):
            return super().value(arrays)

    def pull(self, arrays: Sequence[Any], needed: Sequence[bool]) -> tuple[Any, list[Any], Pull]:
        """Return the same, and the pullback."""
        with self.watch(self.structure):
            return super().pull(arrays, needed)

    def push(
        self, arrays: Sequence[Any], tangents: Sequence[Any]
    ) -> tuple[Any, list[Any], list[Any]]:
        """Return the structure of the value, its leaves and their tangents."""
        with self.watch(self.structure):
            return super().push(arrays, tangents)

    def again(self) -> "Call":
        """Return it as a call that is run once more: itself."""
        return self


def unlike(name: str, structure: Any, due: Any) -> Exception:
    """Return the error for a value of another structure than the one that a host was told."""
    return Fault.HOST_RUN.of(
        ValueError, f"{name} returns {structure}, and {due} was declared or seen before"
    )


def changed(name: str) -> Exception:
    """Return the error for a function that would be run again with other variables around it."""
    return Fault.HOST_RUN.of(
        TypeError,
        f"{name} is run again for this derivative, which would not be that of the first run: "
        "a variable that it reads has changed. Pass it as an argument",
    )


def is_array(y: Any) -> bool:
    """Return whether a value is a leaf: an array or a floating-point number."""
    return type(y) is np.ndarray or isinstance(y, np.generic | float | complex | np.ndarray)


def number(x: Any) -> Any:
    """Return an array without axes as the number that it holds."""
    return x if x.shape else x[()]


def cotangent_of(structure: Any, tree: Any) -> Any:
    """Return a cotangent, with `None` where the structure holds no leaf but a constant."""
    if structure is LEAF:
        return tree
    if isinstance(structure, dict):
        return {name: cotangent_of(entry, tree[name]) for name, entry in structure.items()}
    if isinstance(structure, list | tuple):
        each = [cotangent_of(s, entry) for s, entry in zip(structure, tree, strict=True)]
        return sequence_like(structure, each)
    return None


def flat_value(f: Any, y: Any) -> tuple[Any, list[Any]]:
    """Return the structure of a value and its leaves. Raises where a host could not hold it."""
    if is_array(y):
        return LEAF, [y]
    leaves: list[Any] = []
    structure = flatten(y, is_array, leaves)
    refuse_unknown(f, structure)
    return structure, leaves


_HOSTS = {  # what a function of a host returns, and the plugin that calls it on arrays
    "jax": ("an array of JAX", "rules_jax"),
    "jaxlib": ("an array of JAX", "rules_jax"),
    "torch": ("a tensor of PyTorch", "rules_torch"),
}


def refuse_unknown(f: Any, structure: Any) -> None:
    """Raise where a value holds what may have a gradient and is no leaf."""
    if isinstance(structure, dict):
        structure = [*structure.values()]
    if isinstance(structure, list | tuple):
        for entry in structure:
            refuse_unknown(f, entry)
    elif structure is not LEAF and not isinstance(structure, str | bytes | int | type(None)):
        host = _HOSTS.get(type(structure).__module__.partition(".")[0])
        if host is not None:
            of_host, plugin = host
            raise Fault.HOST_RUN.of(
                TypeError,
                f"{name_of(f)} returns {of_host}, and an exported function is one of NumPy's "
                f"arrays: export `{plugin}.numpy(f)`, which makes such a function of it; give an "
                "array of the host that the function captures as an argument",
            )
        raise Fault.HOST_RUN.of(
            TypeError,
            f"{name_of(f)} returns {describe(structure)}: an exported function returns arrays and "
            "numbers, or tuples, lists and dicts of them; give an array of the host that the "
            "function captures as an argument",
        )


def by_position(
    f: Any, xs: tuple[Any, ...], options: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return a call with those arguments by position that may stand there, and the options."""
    names = positional_names(f)[len(xs) :]
    moved: list[Any] = []
    options = dict(options)
    for name in names:
        if name not in options:
            break
        moved.append(options.pop(name))
    return (*xs, *moved), options


@functools.lru_cache(maxsize=4096)
def _names_of(f: Any) -> tuple[str, ...]:
    try:
        parameters = inspect.signature(f).parameters.values()
    except (TypeError, ValueError):
        return ()
    return tuple([p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD])


def positional_names(f: Any) -> tuple[str, ...]:
    """Return the names of the parameters that may be given by position or by name."""
    try:
        return _names_of(f)
    except TypeError:  # it cannot be hashed
        return _names_of.__wrapped__(f)


def _references(held: list[Any]) -> int:
    x = held[0]
    held[0] = None
    return getrefcount(x)


_ALONE = _references([np.empty(0)])


def owned(held: list[Any], i: int) -> np.ndarray:
    """Take an array out of a list, as one that nobody else holds: itself or a copy.

    A host may write into what it is given, and must not write into what a pullback has saved, an
    argument, or a second value.
    """
    x = held[i]
    held[i] = None
    if type(x) is np.ndarray and x.base is None and x.flags.writeable and getrefcount(x) <= _ALONE:
        return x
    return np.array(x)
