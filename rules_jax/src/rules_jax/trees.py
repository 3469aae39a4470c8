"""Trees of JAX in which objects are, such as instances of registered dataclasses.

The cotangent of an object is a `Tangent` by the names of its attributes. JAX keeps the attributes
that are no part of the tree, the static ones, apart: so the leaves are marked before an object is
looked at.
"""

import jax

from rulescore import Tangent
from rulescore.faults import an
from rulescore.interop.foreign import sequence_like


class Leaf:
    """The place of a leaf in a tree.

    Arguments:
        value: what stands there.
    """

    def __init__(self, value):
        self.value = value


def has_objects(tree):
    """Return whether a tree has objects, beside dicts, lists and tuples."""
    if tree is None:
        return False
    if isinstance(tree, dict):
        return any(map(has_objects, tree.values()))
    if isinstance(tree, list | tuple):
        return any(map(has_objects, tree))
    return not jax.tree_util.all_leaves([tree])


def marked(tree, values=None):
    """Return a tree with a `Leaf` in the place of each leaf: of its own values, or of others."""
    leaves, structure = jax.tree.flatten(tree)
    return jax.tree.unflatten(structure, map(Leaf, leaves if values is None else values))


def with_tangents(tree):
    """Return a tree of cotangents, with a `Tangent` in the place of each object."""
    return _with_tangents(marked(tree)) if has_objects(tree) else tree


def _with_tangents(part):
    if part is None:
        return None
    if isinstance(part, Leaf):
        return part.value
    if isinstance(part, dict):
        return {key: _with_tangents(entry) for key, entry in part.items()}
    if isinstance(part, list | tuple):
        return sequence_like(part, [_with_tangents(entry) for entry in part])
    fields = {name: _with_tangents(entry) for name, entry in fields_of(part).items()}
    return Tangent(type(part), **fields)


def leaves_along_objects(y, dy):
    """Return the leaves of a cotangent: one for each leaf of the value, or `None`."""
    found = [None] * len(jax.tree.leaves(y))

    def walk(part, d):
        if part is None or d is None:
            return
        if isinstance(part, Leaf):
            found[part.value] = d
        elif isinstance(part, dict):
            for key, entry in part.items():
                walk(entry, d.get(key))
        elif isinstance(part, list | tuple):
            for entry, of_entry in zip(part, d, strict=True):
                walk(entry, of_entry)
        else:
            given = dict(d) if isinstance(d, Tangent) else fields_of(d)
            for name, entry in fields_of(part).items():
                walk(entry, given.get(name))

    walk(marked(y, range(len(found))), dy)
    return found


def fields_of(part):
    """Return the attributes of an object that are parts of its tree.

    Raises `NotImplementedError` where the class has other parts than its attributes.
    """
    names = {*getattr(part, "__dict__", ()), *getattr(type(part), "__dataclass_fields__", ())}
    fields = {name: getattr(part, name) for name in sorted(names) if hasattr(part, name)}
    fields = {name: entry for name, entry in fields.items() if jax.tree.leaves(entry)}
    leaves = {id(leaf) for leaf in jax.tree.leaves(part)}
    held = {name: {*map(id, jax.tree.leaves(entry))} for name, entry in fields.items()}
    parts = {name: fields[name] for name in fields if held[name] <= leaves}
    if len(leaves) != sum(len(held[name]) for name in parts):
        kind = type(part).__name__
        raise NotImplementedError(
            f"a gradient passes through {an(kind)}, and the parts that JAX knows of it are not its "
            "attributes: make it a dataclass that `jax.tree_util.register_dataclass` knows"
        )
    return parts
