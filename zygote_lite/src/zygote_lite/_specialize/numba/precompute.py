"""Move costly functions from the reverse of a loop into the forward loop.

A function whose operands are values of the iteration need not wait for the cotangents. In the
forward loop the sine and the cosine of one number can share work: together they cost little more
than one of them.
"""

import operator

from zygote_lite._specialize.numba.arithmetic import COSTLY
from zygote_lite._specialize.typed.functions import is_hashable
from zygote_lite._specialize.typed.nodes import (
    Backwards,
    Loop,
    Node,
    Op,
    is_made_in,
    leaves,
    may_stop,
    walk,
)


def compute_early(backward: list[Node]) -> None:
    """Move functions of numbers from the reverse pass of loops to the forward iterations."""
    # An operation may go back across the whole reverse pass because both passes run in one call:
    # it is done once per iteration either way, and if it raises, the tape answers either way. A
    # loop that `break` leaves is excluded: in its last iteration the operation might come before
    # the test that guards its operands. Its result is saved in the place of the operands, which is
    # why only costly functions are worth it.
    for node in walk(backward):
        if isinstance(node, Backwards) and not may_stop(node.loop.body):
            for op in [n for n in node.body if isinstance(n, Op)]:
                at = _place(op, node.loop)
                if at is not None:
                    node.body.remove(op)
                    node.loop.body.insert(at, op)
                    op.target.reverse, op.target.scope = False, node.loop


def _place(op: Op, loop: Loop) -> int | None:
    """Return where in an iteration an operation can stand; `None` if nowhere, or it is cheap."""
    if not is_hashable(op.function) or op.function not in (operator.pow, *COSTLY):
        return None
    made = {n.target: i + 1 for i, n in enumerate(loop.body) if isinstance(n, Op)}
    at = 0
    for x in [leaf for given in op.arguments for leaf in leaves(given)]:
        if not x.reverse and not is_made_in(x, loop):  # from before the loop, or a constant
            continue
        if x not in made and x is not loop.target and x not in loop.phis:
            return None
        at = max(at, made.get(x, 0))
    return at
