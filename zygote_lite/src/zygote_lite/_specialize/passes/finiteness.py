"""Finiteness: which gradients show that a value of the reverse pass is infinite or undefined."""

import operator
from collections import defaultdict

import numpy as np

from zygote_lite._ir.traits import traits_of
from zygote_lite._specialize.typed.nodes import AddInto, Node, Op
from zygote_lite._specialize.typed.values import Value

_SMALL = 256  # entries that are looked through as quickly as one


def telling(backward: list[Node], gradients: list[Value]) -> set[Value]:
    """Return gradients that are not finite if any value of the reverse pass is not.

    In code without loops and branches a few small ones are enough, if all suspects flow into them.
    """
    if any(not isinstance(node, Op | AddInto) for node in backward):
        return {*gradients}
    sources: dict[Value, list[Value]] = defaultdict(list)
    for node in backward:
        if isinstance(node, AddInto):
            sources[node.target].append(node.value)
        elif isinstance(node, Op) and node.function is operator.truediv:
            sources[node.target].append(node.arguments[0])
        elif isinstance(node, Op) and traits_of(node.function).shows_nonfinite:
            sources[node.target] += node.arguments
    suspects = {node.target for node in backward if isinstance(node, Op) and node.suspect}
    flows = {d: _flow(d, sources) & suspects for d in gradients}
    found: set[Value] = set()
    # a small one costs the same at any size: of these, the ones that tell of most
    sizes = {d: np.size(d.sample) // _SMALL for d in gradients}
    for d in sorted(gradients, key=lambda d: (sizes[d], -len(flows[d]))):
        if flows[d] & suspects:
            found.add(d)
            suspects -= flows[d]
    return found if not suspects else {*gradients}


def _flow(d: Value, sources: dict[Value, list[Value]]) -> set[Value]:
    """Return the values that surely make a value infinite or nan if they are."""
    covered: set[Value] = set()
    stack = [d]
    while stack:
        x = stack.pop()
        if x not in covered:
            covered.add(x)
            stack += sources[x]
    return covered
