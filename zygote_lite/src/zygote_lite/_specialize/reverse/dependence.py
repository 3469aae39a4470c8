"""Whether code that is reversed twice knows all that its gradient depends on.

The forward part of a rule is written unchanged, and what it saves for its pullback has no reverse.
The gradient is then a function of values whose dependence on the argument is not known.
"""

from typing import Any

import numpy as np

from rulescore import find_rule, project
from zygote_lite._specialize.typed.facts import Other, can_carry
from zygote_lite._specialize.typed.functions import Attribute
from zygote_lite._specialize.typed.nodes import (
    AddInto,
    Append,
    Loop,
    Moves,
    Node,
    Op,
    StoreItem,
    leaves,
    reads_of,
    walk,
)
from zygote_lite._specialize.typed.reasons import NotSupported
from zygote_lite._specialize.typed.values import Value, memory_of

_NO_FLOATS = (str, bytes, int, np.integer, np.bool_, np.dtype, slice, range, type, type(None))


def refuse_lost(nodes: list[Node], severed: set[Value]) -> None:
    """Refuse to reverse code in which the reverse pass would miss an operation on an argument.

    A value is lost that is computed from the argument and has no reverse. Code may compute it, but
    what a gradient passes through may not read it.

    Arguments:
        nodes: the forward pass, and the reverse pass that is reversed again.
        severed: the values that the program itself lets no gradient through to.
    """
    lost: set[Value] = set()
    while True:
        before = len(lost)
        for node in walk(nodes):
            for target, read in _flows(node):
                if target.active and not lost.isdisjoint(read):
                    raise NotSupported.SECOND_ORDER(
                        "it takes a second derivative of a rule whose pullback reads what the "
                        "rule has computed"
                    )
                elif target.active or target in severed or target in lost:
                    continue
                moves = any(x.active or x in lost for x in read)
                if moves and _may_carry(target) and not _stops(node):
                    lost.add(target)
        if len(lost) == before:  # else a loop may carry one to its next iteration
            return


def _flows(node: Node) -> list[tuple[Value, list[Value]]]:
    """Return the values that a node gives or changes, each with those that it is made of."""
    if isinstance(node, Op):
        read = leaves(node.arguments[0]) if node.function is project else reads_of(node)
        return [(node.target, read)]
    if isinstance(node, Moves):
        return [(target, leaves(source)) for target, source in node.pairs]
    if isinstance(node, StoreItem | Append):
        return [(memory_of(node.array), leaves(node.value))]
    if isinstance(node, AddInto):
        return [(memory_of(node.target), leaves(node.value))]
    if isinstance(node, Loop):
        carried = [(out, [phi]) for phi, out in zip(node.phis, node.outs, strict=True)]
        if node.target is not None and node.iterable is not None:
            carried.append((node.target, leaves(node.iterable)))
        return carried
    return []


def _may_carry(x: Value) -> bool:
    """Return whether a value may depend on another one smoothly."""
    return _holds_floats(x.sample) if isinstance(x.fact, Other) else can_carry(x.fact)


def _holds_floats(sample: Any) -> bool:
    """Return whether an object may hold numbers that are not whole."""
    if isinstance(sample, tuple | list | set | frozenset):
        return any(map(_holds_floats, sample))
    if isinstance(sample, dict):
        return any(map(_holds_floats, sample.values()))
    if isinstance(sample, np.ndarray):
        return sample.dtype.kind not in "biu"
    return not isinstance(sample, _NO_FLOATS)


def _stops(node: Node) -> bool:
    """Return whether a rule says that no gradient passes through a function."""
    if not isinstance(node, Op):
        return False
    f: Any = node.function
    if hasattr(f, "body"):  # a rule that is called: what reads its value has its pullback
        return True
    f = f.descriptor if isinstance(f, Attribute) else f
    samples = {name: x.sample for name, x in node.keywords.items()}
    rule = find_rule(f, *[x.sample for x in node.arguments], **samples)
    return rule is not None and rule.kind == "constant"
