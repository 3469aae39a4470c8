"""Sets: what is added and taken out moves the cotangents of the elements."""

import operator
from typing import Any

from zygote_lite._activity.marks import mark_active
from zygote_lite._cotangents.registry import (
    Handlers,
    Nodes,
    UndoOnly,
    ValueAndPullback,
    no_pullback,
)
from zygote_lite._cotangents.run import current_store, give, slots_of
from zygote_lite._python.containers.dicts import gathered

handlers = Handlers()


@handlers.structural(set.add)
def _(nodes: Nodes, x: set[Any], value: Any) -> ValueAndPullback:
    if value in x:
        return None, no_pullback(3)
    x.add(value)
    mark_active(x)

    def add_back(dy: Any) -> tuple[Any, ...]:
        x.discard(value)
        current_store().redo.append(lambda: x.add(value))
        return None, None, slots_of(x).pop(value, None)

    return None, UndoOnly(add_back)


@handlers.structural(set.discard, set.remove, given=True)
def _(f: Any, nodes: Nodes, x: set[Any], value: Any) -> ValueAndPullback:
    if value not in x:
        return f(x, value), no_pullback(3)  # or its error
    x.discard(value)

    def discard_back(dy: Any) -> tuple[Any, ...]:
        x.add(value)
        current_store().redo.append(lambda: x.discard(value))
        return None, None, None

    return None, UndoOnly(discard_back)


@handlers.structural(set.pop)
def _(nodes: Nodes, x: set[Any]) -> ValueAndPullback:
    value = x.pop()

    def pop_back(dy: Any) -> tuple[Any, ...]:
        give(slots_of(x), value, dy)
        x.add(value)
        current_store().redo.append(lambda: x.discard(value))
        return None, None

    return value, pop_back


_OPERATORS_OF_SETS = (
    operator.or_, operator.and_, operator.sub, operator.xor, frozenset.union, set.intersection,
    set.difference, set.symmetric_difference, frozenset.intersection, frozenset.difference,
    frozenset.symmetric_difference,
)  # fmt: skip


@handlers.structural(*_OPERATORS_OF_SETS, of=(set, frozenset), given=True)
def _(f: Any, nodes: Nodes, x: Any, *others: Any) -> ValueAndPullback | None:
    """Join two sets: each element goes on from the set that it comes from."""
    if len(others) != 1 or not {type(x), type(others[0])} <= {set, frozenset}:
        return None
    (other,) = others
    y = f(x, other)
    first = {id(value) for value in x}
    found = {id(value): x if id(value) in first else other for value in y}
    by_value = {value: found[id(value)] for value in y}
    return gathered(y, lambda key: (by_value[key], key), len(nodes))
