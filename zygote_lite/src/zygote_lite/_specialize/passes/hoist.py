"""Hoisting: arithmetic that is invariant in a loop is done once, before it."""

import operator

from zygote_lite._ir.traits import traits_of
from zygote_lite._specialize.typed.facts import Scalar
from zygote_lite._specialize.typed.nodes import Loop, Node, Op, assigned_by, inner_blocks, walk
from zygote_lite._specialize.typed.runtime import has_value, is_given
from zygote_lite._specialize.typed.values import Value

_FLOAT = Scalar(frozenset((float,)))


def hoist(block: list[Node]) -> None:
    """Move loop-invariant operations out of loops, if they may also run without an iteration."""
    at = 0
    while at < len(block):
        node = block[at]
        for inner in inner_blocks(node):
            hoist(inner)
        if isinstance(node, Loop):
            for op in _invariant(node):
                node.body.remove(op)
                op.target.scope = node.outer
                block.insert(at, op)
                at += 1
        at += 1


def _invariant(loop: Loop) -> list[Op]:
    """Return the operations of a loop's body whose operands are all computed before the loop."""
    nodes = [*walk([loop])]
    made = {x for node in nodes for x in assigned_by(node)}
    for node in nodes:  # the code is left where these have no number
        if isinstance(node, Op) and node.function in (is_given, has_value):
            made.update(node.arguments)
    found = []
    for node in loop.body:
        if isinstance(node, Op) and _is_sure(node) and not made & {*node.arguments}:
            found.append(node)
            made.discard(node.target)
    return found


def _is_sure(op: Op) -> bool:
    """Return whether an operation is arithmetic of floats that neither raises nor warns."""
    # Before the loop it runs even if there is no iteration, and ahead of what precedes it in the
    # body. So it must have no effect: not an exception (`x / 0.0`, `2 ** n`), not a warning
    # (NumPy's numbers), not memory (arrays). Sums and products of floats have none.
    if op.check or op.target.fact != _FLOAT or not all(map(_is_real, op.arguments)):
        return False
    if op.function is operator.truediv:
        divisor = op.arguments[1]
        return bool(divisor.is_constant and divisor.sample)
    return traits_of(op.function).never_raises


def _is_real(x: Value) -> bool:
    """Return whether an operand is a Python float, or a small integer that is known."""
    if x.is_constant:
        return type(x.sample) is float or (type(x.sample) is int and abs(x.sample) < 2**53)
    return x.fact == _FLOAT
