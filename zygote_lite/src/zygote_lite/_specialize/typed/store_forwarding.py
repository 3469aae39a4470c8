"""Store-to-load forwarding, and recognition of `a[i] = a[i] + v` as a sum in place."""

import operator
from typing import Any

from zygote_lite._specialize.typed.facts import INTS, ArrayOf, ListOf, Scalar
from zygote_lite._specialize.typed.nodes import (
    Append,
    Node,
    Op,
    StoreItem,
    inner_blocks,
    leaves,
    reads_of,
)
from zygote_lite._specialize.typed.values import FOLDED, Value, memory_of, path_of

Sum = tuple[Op, Value]
_FAR = 100  # nodes that are looked through


def memory_place(x: Value, index: Value) -> Any:
    """Return a key for an index of an array or list; `None` if it is not known exactly."""
    if isinstance(x.fact, ListOf):
        root, path = path_of(x, index)
        keys: Any = [value_key(part) for part in path]
        return None if None in keys else (root, keys)
    key = value_key(index)
    changing = any(part.is_array for part in leaves(index))
    return None if key is None or changing else (x, key)


def value_key(x: Value) -> Any:
    """Return a key that equal values share; `None` if there is none."""
    if x.items is not None:
        keys = tuple([value_key(item) for item in x.items])
        return None if None in keys else (type(x.sample), keys)
    if not x.is_constant:
        return x
    return (type(x.sample), repr(x.sample)) if isinstance(x.sample, FOLDED) else None


def stored_at(block: list[Node], x: Value, index: Value) -> Value | None:
    """Return what was last stored in a place, or read there, where it is there still."""
    place = memory_place(x, index)
    for node in reversed(block[-_FAR:]):
        if place is None or inner_blocks(node) or isinstance(node, Append):
            return None
        if isinstance(node, StoreItem) and memory_of(node.array) is memory_of(x):
            same = memory_place(node.array, node.index) == place
            return node.value if same and _is_kept(x, index, node.value) else None
        if isinstance(node, Op) and node.function is operator.getitem:
            there = node.target
            if not there.is_array and memory_place(*node.arguments) == place:
                return there
    return None


def _is_kept(x: Value, index: Value, value: Value) -> bool:
    """Return whether an item is of the type that was stored: an array may have converted it."""
    if isinstance(x.fact, ListOf):
        return value.is_scalar
    parts = index.items if index.items is not None else [index]
    single = all(isinstance(p.fact, Scalar) and p.fact.classes <= INTS for p in parts)
    assert isinstance(x.fact, ArrayOf)
    kind = Scalar(frozenset((x.fact.dtype.type,)))
    return single and len(parts) == len(x.fact.axes) and value.fact == kind


def sums_in_place(block: list[Node]) -> dict[Node, Sum]:
    """Return the stores of a block that add to what they write over.

    Each with the sum that is stored, and its operand that was read in that place. Between the
    two nothing else is written to the array or list, and nothing but the store reads the sum.
    """
    at = {node.target: i for i, node in enumerate(block) if isinstance(node, Op)}
    found: dict[Node, Sum] = {}
    for i, node in enumerate(block):
        if not isinstance(node, StoreItem) or node.value not in at:
            continue
        place = memory_place(node.array, node.index)
        total = block[at[node.value]]
        assert isinstance(total, Op)
        for x in _terms(total):
            start = at.get(x, i)
            read = block[start]
            if (
                isinstance(read, Op)
                and read.function is operator.getitem
                and place is not None
                and memory_place(*read.arguments) == place
                and not any(_disturbs(n, node, total) for n in block[start + 1 : i])
            ):
                found[node] = total, x
                break
    return found


def _terms(total: Op) -> list[Value]:
    """Return the operands whose cotangent is that of the sum, where they are active."""
    terms = total.arguments if total.function is operator.add else total.arguments[:1]
    if total.function not in (operator.add, operator.sub) or total.check:
        return []
    return [x for x in terms if x.active and x in total.active_operands]


def _disturbs(node: Node, store: StoreItem, total: Op) -> bool:
    """Return whether a node between may write to the same place, or reads the sum."""
    if inner_blocks(node) or isinstance(node, Append) or total.target in reads_of(node):
        return True
    return isinstance(node, StoreItem) and memory_of(node.array) is memory_of(store.array)
