"""Powers: the one contribution to a factor that a chain of products holds several times.

In `z = ((c * x) * x) * x` each of the three contributions to the cotangent of `x` is `dz` times the
other factors, so it is three times `dz * ((c * x) * x)`, and what is in between needs none.
"""

import operator
from collections import Counter

import numpy as np

from zygote_lite._specialize.rules.scalar import ScalarRule
from zygote_lite._specialize.typed.facts import FLOATS, Scalar
from zygote_lite._specialize.typed.nodes import Node, Op, reads_of, walk
from zygote_lite._specialize.typed.values import Value

_PRODUCTS = (operator.mul, np.multiply)


def count_reads(nodes: list[Node]) -> Counter[Value]:
    """Return how often each value is read, in blocks inside too."""
    return Counter(x for node in walk(nodes) for x in reads_of(node))


def note_powers(block: list[Node], reads: Counter[Value]) -> None:
    """Note in the rules of the products of a block which factor each holds how often."""
    products = {node.target: node for node in block if isinstance(node, Op) and _is_product(node)}
    inside: set[Op] = set()
    for last in reversed(products.values()):
        for place in (0, 1):
            links = [] if last in inside else _links(last, place, products, reads)
            if links:
                last.reverse_rule.multiples = {place: len(links) + 1, 1 - place: 0}
                inside.update(links)
                break


def _is_product(node: Op) -> bool:
    """Return whether an operation is a product whose factors are what they were."""
    rule = node.reverse_rule
    if node.function not in _PRODUCTS or not isinstance(rule, ScalarRule) or node.keywords:
        return False
    return all(x is kept for x, kept in zip(node.arguments, rule.xs, strict=True))


def _links(last: Op, place: int, products: dict[Value, Op], reads: Counter[Value]) -> list[Op]:
    """Return the products in a chain that hold a factor of the last once more.

    Where nothing but that factor is left, the last one stands for that. There are none where
    something else in the chain is differentiated.
    """
    factor, rest = last.arguments[place], last.arguments[1 - place]
    found: list[Op] = []
    if not _is_as_large(last, factor):
        return []
    while rest is not factor:
        link = products.get(rest)
        if link is None or reads[rest] > 1 or link.reverse_rule.rule is not last.reverse_rule.rule:
            return found if not rest.active else []
        others = [x for x in link.arguments if x is not factor]
        if len(others) > 1:
            return found if not rest.active else []
        found.append(link)
        rest = others[0] if others else factor
    return [*found, last]


def _is_as_large(last: Op, factor: Value) -> bool:
    """Return whether a factor has the shape of the product, or all are numbers of one class."""
    if factor.is_array:
        return bool(last.reverse_rule.alike[last.arguments.index(factor)])
    kinds = [x.fact.classes if isinstance(x.fact, Scalar) else frozenset() for x in
             (factor, last.target)]  # fmt: skip
    return kinds[0] == kinds[1] and len(kinds[0]) == 1 and kinds[0] <= FLOATS
