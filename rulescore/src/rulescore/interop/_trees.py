"""Trees of arguments and results: their leaves in a row, and the structure that is left."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from rulescore._project import sequence_like

Place = tuple[int, tuple[Any, ...]]
"""Where a leaf is: the position of an argument, and the keys that lead from there to the leaf."""


class Leaf:
    """Stand in a structure where a leaf is."""

    def __repr__(self) -> str:
        return "*"


LEAF = Leaf()


def flatten(tree: Any, is_leaf: Callable[[Any], bool], leaves: list[Any]) -> Any:
    """Return the structure of a tree, and add its leaves to a list.

    Arguments:
        tree: tuples, lists and dicts of anything.
        is_leaf: whether a value is a leaf. What is neither leaf nor container stays as it is.
        leaves: where the leaves are added, from left to right.
    """
    if is_leaf(tree):
        leaves.append(tree)
        return LEAF
    if isinstance(tree, dict):
        return {name: flatten(entry, is_leaf, leaves) for name, entry in tree.items()}
    if isinstance(tree, list | tuple):
        return sequence_like(tree, [flatten(entry, is_leaf, leaves) for entry in tree])
    return tree


def rebuild(structure: Any, leaves: Iterator[Any]) -> Any:
    """Return the tree of a structure, with the next leaves in its places."""
    if structure is LEAF:
        return next(leaves)
    if isinstance(structure, dict):
        return {name: rebuild(entry, leaves) for name, entry in structure.items()}
    if isinstance(structure, list | tuple):
        return sequence_like(structure, [rebuild(entry, leaves) for entry in structure])
    return structure


def leaves_like(structure: Any, tree: Any, found: list[Any]) -> None:
    """Add what a tree has at the places of the leaves of a structure, `None` where it has nothing.

    Arguments:
        structure: the structure of a value.
        tree: the cotangent of that value: of its form, or `None` above some leaves.
        found: where they are added.
    """
    if structure is LEAF:
        found.append(tree)
    elif isinstance(structure, dict):
        for name, entry in structure.items():
            leaves_like(entry, None if tree is None else tree.get(name), found)
    elif isinstance(structure, list | tuple):
        for i, entry in enumerate(structure):
            leaves_like(entry, None if tree is None else tree[i], found)


def same(a: Any, b: Any) -> bool:
    """Return whether two structures are equal, and what stands beside their leaves.

    The entries of dicts may stand in another order.
    """
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[name], b[name]) for name in a)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b)
    return a is b or bool(a == b)


def places_in(structure: tuple[Any, ...]) -> list[Place]:
    """Return where the leaves of arguments are: the position, and the keys from there."""
    found: list[Place] = []
    for n, part in enumerate(structure):
        _add_places(part, n, (), found)
    return found


def _add_places(structure: Any, n: int, keys: tuple[Any, ...], found: list[Place]) -> None:
    if structure is LEAF:
        found.append((n, keys))
    elif isinstance(structure, dict):
        for name, entry in structure.items():
            _add_places(entry, n, (*keys, name), found)
    elif isinstance(structure, list | tuple):
        for i, entry in enumerate(structure):
            _add_places(entry, n, (*keys, i), found)


def along(structure: Any, due: Any, leaves: Sequence[Any]) -> list[Any] | None:
    """Return leaves in the order of another structure, whose dicts may have another order.

    Arguments:
        structure: the structure of the leaves.
        due: the other structure.
        leaves: one for each place of the first.

    It is `None` where the two have leaves at other places.
    """
    if structure is due:
        return list(leaves)
    found = dict(zip(places_in((structure,)), leaves, strict=True))
    places = places_in((due,))
    return [found[place] for place in places] if found.keys() == {*places} else None


def entry_at(tree: Any, keys: tuple[Any, ...]) -> Any:
    """Return the entry of a tree that some keys lead to; `None` below `None`."""
    for key in keys:
        if tree is None:
            return None
        tree = tree[key]
    return tree


def constants(name: str, x: Any, is_leaf: Any, constant: Any) -> Any:
    """Return an option with constants in the place of leaves."""
    leaves: list[Any] = []
    structure = flatten(x, is_leaf, leaves)
    return rebuild(structure, iter([constant(name, leaf) for leaf in leaves]))
