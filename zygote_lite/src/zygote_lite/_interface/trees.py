"""Trees: numbers and arrays in lists, tuples, dicts and objects, taken leaf by leaf.

A gradient has the form of what it belongs to: that of an object is a `Tangent` with the object's
fields. So a tree and its gradient are taken together, by the keys and names that they share.
"""

import copy
import functools
from collections.abc import Callable, Collection, Iterator, MappingView
from numbers import Number
from typing import Any

import numpy as np

from rulescore import Array, RuleSet, Tangent
from rulescore.faults import an, counted
from zygote_lite._cotangents.kinds import (
    DICT,
    LIST,
    OBJECT,
    TUPLE,
    cotangent_like,
    entries_of,
    is_known_by_rule,
    is_of_pandas,
    kind_of,
    tuple_like,
)
from zygote_lite._ir.frames import entry, keep_users_frames
from zygote_lite._ir.places import where
from zygote_lite._tape.holders import advice_on, may_hold_floats
from zygote_lite._tape.notebook import html_of_name
from zygote_lite._tape.validate import describe, is_real_array, refuse_no_function
from zygote_lite.errors import Fault

Leaf = Callable[..., Any]
rules_of_trees = RuleSet("zygote_lite.trees")


def tree_map(f: Callable[..., Any], tree: Any, *rest: Any) -> Any:
    """Apply a function to the leaves of trees, and return the tree of its values.

    Arguments:
        f: a function of the leaves, one from each tree.
        tree: numbers and arrays in lists, tuples, dicts, objects of any class, and `Tangent`s.
            Everything else (text, booleans, functions) stays as it is.
        rest: trees of the same structure, or gradients of such trees. `f` is given `None` for a
            leaf where these have `None`.

    An object that occurs twice in the tree is one object in the result, too. Raises `ValueError` if
    the structures differ. (JAX's `tree.map`.)
    """
    try:
        refuse_no_function(f)
        return TreeWalk(f, _is_number).new(tree, rest)
    except BaseException as error:
        __tracebackhide__ = keep_users_frames(error)
        raise


class TreeWalk:
    """A walk over trees, which makes a new tree.

    Arguments:
        f: gives the leaf of the new tree for those of the trees.
        is_leaf: whether a value is a leaf.
        frozen: names of fields and keys, and paths of them (`"layers.0.bias"`), below which all
            stays as it is.
        cotangent: whether the new tree has the form of a cotangent of the first.

    Attributes:
        keys: the path of what is being walked over, by keys, positions and names of fields.
    """

    def __init__(
        self,
        f: Leaf,
        is_leaf: Callable[[Any], bool],
        frozen: Collection[str] = (),
        cotangent: bool = False,
    ) -> None:
        self.f, self.is_leaf, self.cotangent = f, is_leaf, cotangent
        self.frozen = {frozen} if isinstance(frozen, str) else {*frozen}
        self.known: dict[int, Any] = {}
        self.keys: list[Any] = []

    def new(self, x: Any, rest: tuple[Any, ...]) -> Any:
        """Return the tree of the results for a tree, which stands at `keys` of the whole."""
        keys = self.keys
        if self.frozen and keys and not self.frozen.isdisjoint((str(keys[-1]), _dotted(keys))):
            return None if self.cotangent else x
        if self.is_leaf(x):
            return self.f(x, *rest)
        if not _has_entries(x):
            return None if self.cotangent else x
        if id(x) in self.known:
            return None if self.cotangent else self.known[id(x)]
        made = self.known[id(x)] = None if self.cotangent else _blank(x)
        given, entries = _tree_entries(x), {}
        each = [_entries_alike(x, given, other, self.keys) for other in rest]
        for key, value in given.items():
            self.keys.append(key)
            entries[key] = self.new(value, tuple([other.get(key) for other in each]))
            self.keys.pop()
        if self.frozen and not self.keys:
            self.refuse_unknown(x)
        if self.cotangent:
            return cotangent_like(x, entries)
        made = self.known[id(x)] = _filled_in(x, made, entries)
        return made

    def refuse_unknown(self, tree: Any) -> None:
        """Refuse names that freeze nothing: they are misspelled."""
        left = {*self.frozen}

        def meet(x: Any, path: tuple[str, ...]) -> None:
            left.difference_update(path[-1:], [".".join(path)])
            if left and _has_entries(x) and id(x) not in seen:
                seen.add(id(x))
                for key, value in _tree_entries(x).items():
                    meet(value, (*path, str(key)))

        seen: set[int] = set()
        meet(tree, ())
        if left:
            names = ", ".join(sorted(map(repr, left)))
            raise Fault.TREE(
                f"{where()}: nothing in the {type(tree).__name__} has the name {names}: "
                "name fields and keys, or paths of them, as they are spelled there"
            )


def _dotted(keys: list[Any]) -> str:
    return ".".join(map(str, keys))


def _entries_alike(x: Any, entries: dict[Any, Any], other: Any, keys: list[Any]) -> dict[Any, Any]:
    """Return the entries of another tree; raise where it has another form, or other keys or fields.

    A `Tangent` has no field where it is zero, and `None` has none.
    """
    if other is None:
        return {}
    is_sequence = isinstance(x, list | tuple)
    if not _has_entries(other) or (
        is_sequence and not (isinstance(other, list | tuple) and len(other) == len(x))
    ):
        raise Fault.TREE(
            f"{where()}: the trees differ at {_dotted(keys) or 'the top'}: {describe(x)} and "
            f"{describe(other)}; give trees of one structure"
        )
    found = _tree_entries(other)
    if is_sequence:
        return found
    more, fewer = found.keys() - entries.keys(), set()
    if type(other) is not Tangent:
        parts = [key for key, v in entries.items() if _is_number(v) or _has_entries(v)]
        fewer = {*parts} - found.keys()
    if more or fewer:
        names = ", ".join(sorted(map(repr, more or fewer)))
        raise Fault.TREE(
            f"{where()}: the trees differ at {_dotted(keys) or 'the top'}: "
            f"{'the first' if more else 'another'} has no {names}; give trees of one structure"
        )
    return found


def _is_number(x: Any) -> bool:
    if isinstance(x, bool | np.bool_):
        return False
    return isinstance(x, Number | np.number) or (
        isinstance(x, Array)
        and getattr(getattr(x, "dtype", None), "kind", "") in ("i", "u", "f", "c")
    )


def is_float(x: Any) -> bool:
    """Return whether a value is a leaf that may be trained: floats, complex numbers, arrays."""
    return _is_number(x) and np.asarray(x).dtype.kind in ("f", "c")


def _has_entries(x: Any) -> bool:
    if isinstance(x, functools.partial | BaseException | Number) or is_of_pandas(type(x)):
        return False
    return type(x) is Tangent or kind_of(x) in (TUPLE, LIST, DICT, OBJECT)


def _tree_entries(x: Any) -> dict[Any, Any]:
    return dict(x.items()) if type(x) is Tangent else dict(entries_of(x))


def _blank(x: Any) -> Any:
    """Return a structure to be filled, as what an entry may refer to; `None` for one by value."""
    return None if type(x) is Tangent or kind_of(x) == TUPLE else copy.copy(x)


def _filled_in(x: Any, made: Any, entries: dict[Any, Any]) -> Any:
    if type(x) is Tangent:
        return Tangent(x._primal, **entries)
    kind = kind_of(x)
    if kind == TUPLE:
        return tuple_like(x, entries.values())
    for key, value in entries.items():
        if kind == OBJECT:
            object.__setattr__(made, key, value)  # of a frozen dataclass, too
        else:
            made[key] = value
    return made


# -- as one vector ---------------------------------------------------------------------------------


@entry
def ravel(tree: Any, *, frozen: Collection[str] = ()) -> tuple[Any, "Unravel"]:
    """Return the floating-point numbers of a tree as one vector, and the function that undoes this.

    Arguments:
        tree: as for `tree_map`. Integers, such as counts and sizes, are no part of the vector.
        frozen: names of fields and keys to leave out, with all below them; or paths, such as
            `"layers.0.bias"`.

    `back(v)` returns a tree like this one with the numbers of `v`. `back.flat(d)` returns the
    vector of a tree of the same structure, or of its gradient. Both can be differentiated. Raises
    `TypeError` for complex numbers, and where numbers would be left out: a `Series` of pandas, a
    masked array, a sparse matrix.
    """
    back = Unravel(tree, frozen)
    return back.flat(tree), back


def _is_lost(x: Any) -> bool:
    """Return whether a value that is not a leaf holds floating-point numbers."""
    if isinstance(x, set | frozenset):
        return any(isinstance(v, float | complex) for v in x)
    if type(x) is np.ndarray:
        is_lost = x.dtype.kind == "O" and any(isinstance(v, float | complex) for v in x.flat)
        return is_lost or x.dtype.kind == "V"
    if isinstance(x, Iterator | MappingView):
        return False
    is_whole = is_known_by_rule(type(x)) and hasattr(x, "shape")  # a sparse matrix
    return (is_whole or advice_on(x) is not None) and may_hold_floats(x)


class Unravel:
    """Make a tree of a vector."""

    def __init__(self, tree: Any, frozen: Collection[str]) -> None:
        self.tree, self.frozen = tree, frozen
        leaves = self._leaves(tree)
        for leaf in leaves:
            if not is_real_array(leaf):
                raise Fault.TREE(
                    f"{where()}: a vector is made of real numbers, and inside is {describe(leaf)}: "
                    "take its real and imaginary part apart, or leave it out by `frozen`",
                    TypeError,
                )
        self.size = sum(map(np.size, leaves))
        self.dtype = np.result_type(*map(np.asarray, leaves)) if leaves else np.dtype(float)

    @entry
    def __call__(self, v: Any) -> Any:
        return self._made(v, False)

    def flat(self, d: Any) -> Any:
        """Return the vector of a tree of this form, or of a gradient; zeros stand for `None`."""
        parts: list[Any] = []

        def add(leaf: Any, other: Any) -> None:
            zeros = other is None
            parts.append(np.zeros(np.size(leaf)) if zeros else np.ravel(other))
            if not zeros and np.shape(other) != np.shape(leaf):
                raise Fault.TREE(
                    f"{where()}: a leaf is {describe(leaf)}, and the other {describe(other)}: "
                    "give a tree of the same shapes"
                )

        TreeWalk(add, is_float, self.frozen, cotangent=True).new(self.tree, (d,))
        return np.concatenate([np.zeros(0), *parts]).astype(self.dtype)

    def cotangent(self, v: Any) -> Any:
        """Return a vector as a cotangent of the tree."""
        return self._made(v, True)

    def _leaves(self, tree: Any) -> list[Any]:
        leaves: list[Any] = []

        def is_leaf(x: Any) -> bool:
            if is_float(x):
                return True
            if _is_lost(x) or (x is tree and advice_on(x) is not None):
                advice = advice_on(x) or "give them as a list, or as an array of floats"
                or_freeze = "" if x is tree else ", or leave it out by `frozen`"
                raise Fault.HOLDER(
                    f"{where()}: the numbers of {an(type(x).__name__)} are no part of a vector: "
                    f"{advice.partition(' or leave it')[0].rstrip(',')}{or_freeze}"
                )
            return False

        TreeWalk(leaves.append, is_leaf, self.frozen, cotangent=True).new(tree, ())
        return leaves

    def _made(self, v: Any, cotangent: bool) -> Any:
        if np.shape(v) != (self.size,):
            raise Fault.TREE(
                f"{where()}: the vector has the shape {np.shape(v)}, and the tree has "
                f"{counted(self.size, 'number')}: give one of shape ({self.size},)"
            )
        if np.iscomplexobj(v) and not cotangent:
            raise Fault.TREE(
                f"{where()}: the vector is complex, and the numbers of the tree are real: give "
                "`v.real`",
                TypeError,
            )
        at = 0

        def take(leaf: Any) -> Any:
            nonlocal at
            part, at = v[at : at + np.size(leaf)], at + np.size(leaf)
            if isinstance(leaf, np.ndarray):
                return np.reshape(part, leaf.shape).astype(leaf.dtype)
            return type(leaf)(part[0])

        return TreeWalk(take, is_float, self.frozen, cotangent).new(self.tree, ())

    def __repr__(self) -> str:
        return f"Unravel({counted(self.size, 'number')}, {type(self.tree).__name__})"

    def _repr_html_(self) -> str:
        return html_of_name(repr(self))


@rules_of_trees.of_instances
def _(back: Unravel, v: np.ndarray):  # type: ignore[no-untyped-def]
    return back(v), lambda dy: (None, back.flat(dy).astype(v.dtype))


@rules_of_trees(ravel)
def _(tree: object, *, frozen=()):  # type: ignore[no-untyped-def]
    v, back = ravel(tree, frozen=frozen)
    return (v, back), lambda dy: (None if dy[0] is None else back.cotangent(dy[0]),)


rules_of_trees.register()
