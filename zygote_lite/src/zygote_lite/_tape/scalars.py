"""Operations of Python's numbers, the calls that recorded code makes most: resolved at once.

A number has no methods of the user's, no address and no memory, and the functions that are meant
here change nothing. So all that is left of the order of resolution (`tape`) is the rule.
"""

import math
import operator
import types
from typing import Any

from rulescore import find_rule
from zygote_lite._cotangents.registry import NodeId
from zygote_lite._cotangents.run import state
from zygote_lite._ir.operators import ARITHMETIC, BINARY, COMPARISONS
from zygote_lite._ir.traits import BY_ID, NO_TRAITS

PYTHON_NUMBERS = {float, int, bool}
_MEANT = [BINARY[name].function for name in ARITHMETIC]
_MEANT += [of.function for of in COMPARISONS if not of.name.startswith("is")]
_MEANT += [operator.neg, operator.pos, operator.abs, abs, operator.truth, operator.not_]
_MEANT += [f for f in vars(math).values() if isinstance(f, types.BuiltinFunctionType)]
OPERATIONS = {id(f) for f in _MEANT} - {id(operator.contains), id(operator.matmul)}
_TESTS = {id(f) for f in (operator.truth, operator.not_)}
_WITHOUT_HARM = {id(f) for f in _MEANT if BY_ID.get(id(f), NO_TRAITS).never_raises}
"""Operations of which a partial that is not needed does no harm."""


def pulled(nodes: tuple[NodeId, ...], f: Any, xs: tuple[Any, ...]) -> tuple[Any, Any] | None:
    """Return the value of an operation of numbers and its pullback, if it has a plain rule.

    Without a pullback, no gradient passes; `None` leaves the call to the usual order.
    """
    if not any(nodes) or id(f) in _TESTS:
        return f(*xs), None
    rule = find_rule(f, *xs)
    if rule is None or rule.refuses or state.trace is not None:
        return None
    if rule.kind == "constant":
        y = f(*xs)
        return (y, None) if type(y) is bool else None
    if rule.kind != "scalar":
        return None
    for node, x in zip(nodes[1:], xs, strict=True):
        if node is not None and type(x) is not float:
            return None
    try:
        y, back = rule(f, *xs)
    except NotImplementedError:
        return None
    if type(y) is not float:
        return None
    if None in nodes[1:] and id(f) not in _WITHOUT_HARM:
        back = back.only((True, *[node is not None for node in nodes[1:]]))
    return y, back
