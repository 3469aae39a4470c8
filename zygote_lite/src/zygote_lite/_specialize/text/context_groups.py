"""Groups of nodes that run in one context, one after the other, and stand in one `with`."""

from collections.abc import Iterator

from zygote_lite._specialize.typed.contexts import NOWHERE, Context
from zygote_lite._specialize.typed.facts import Scalar
from zygote_lite._specialize.typed.nodes import Node, Op, StoreItem, reads_of, walk
from zygote_lite._specialize.typed.runtime import (
    abandon,
    has_value,
    is_bound,
    is_given,
    same_shape,
    throw,
)
from zygote_lite._specialize.typed.values import Value

Contexts = tuple[Context, ...]
_OF_NO_CONTEXT = (abandon, throw, same_shape, has_value, is_bound, is_given)
_PYTHON_NUMBERS = {float, int, bool}


def by_context(nodes: list[Node]) -> Iterator[tuple[Contexts, list[Node]]]:
    """Yield the nodes of a block in groups, each with the contexts that they are to run in.

    What no context matters to is in any; where the nodes inside a branch or a loop run in several,
    it is in none, and they are grouped in their own block.
    """
    context, group, last = NOWHERE, list[Node](), 0
    for node in nodes:
        found = _contexts_of(node)
        wanted = NOWHERE if len(found) > 1 else next(iter(found), context)
        if wanted != context:
            yield context, group[:last]
            yield NOWHERE, group[last:]
            context, group, last = wanted, [], 0
        group.append(node)
        if found or not context:
            last = len(group)
    yield context, group[:last]
    yield NOWHERE, group[last:]


def _contexts_of(node: Node) -> set[Contexts]:
    """Return the contexts that what is inside a node has to run in."""
    return {
        tuple([context for context in inner.context if context.options])
        for inner in walk([node])
        if _depends(inner)
    }


def _depends(node: Node) -> bool:
    """Return whether a node may tell of an error in a way that a context settles."""
    if isinstance(node, StoreItem):
        return True
    if not isinstance(node, Op) or node.function in _OF_NO_CONTEXT:
        return False
    return not all(map(_is_plain_number, (node.target, *reads_of(node))))


def _is_plain_number(x: Value) -> bool:
    if x.is_constant:
        return type(x.sample) in {*_PYTHON_NUMBERS, str, type(None), tuple}
    return isinstance(x.fact, Scalar) and x.fact.classes <= _PYTHON_NUMBERS
