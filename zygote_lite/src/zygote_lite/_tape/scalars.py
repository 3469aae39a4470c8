"""Operations of numbers, the calls that recorded code makes most: resolved at once.

A number has no methods of the user's, no address and no memory, and the functions that are meant
here change nothing. So all that is left of the order of resolution (`tape`) is the rule. Where the
rule gives partial derivatives, the tape keeps these, which are numbers too, and no pullback:
`(node, node of an operand, partial by it, node of another, partial by that)`.
"""

import math
import operator
import types
from typing import Any

import numpy as np

from rulescore import RuleError, accumulate, find_rule, project, when_changed
from zygote_lite._cotangents.registry import Handlers, Nodes, Traced
from zygote_lite._cotangents.run import state
from zygote_lite._ir.bytecode import codes_in
from zygote_lite._ir.operators import ARITHMETIC, BINARY, COMPARISONS

handlers = Handlers()

_OF_PYTHON_NUMBERS = {float, int, bool}
KINDS_OF_FLOATS = {float, np.float64}
_IS_NUMBER = _OF_PYTHON_NUMBERS | {np.float64, np.bool_}
_OF_REALS = [BINARY[name] for name in ARITHMETIC if name != "matmul"]
_MEANT = [of.function for of in (*_OF_REALS, *COMPARISONS[:6])]
_MEANT += [operator.neg, operator.pos, operator.abs, abs]
_MEANT += [f for f in vars(math).values() if isinstance(f, types.BuiltinFunctionType)]
_OPERATION = {id(of.in_place): of.function for of in _OF_REALS}


@handlers.direct(*_MEANT)
def _operate(tape: Any, nodes: Nodes, f: Any, xs: tuple[Any, ...]) -> Traced | None:
    """Run an operation of numbers, and record its partial derivatives."""
    if not _IS_NUMBER.issuperset(map(type, xs)):
        return None
    if not any(nodes):
        return f(*xs), None
    known = _rules.get((id(f), *map(type, xs))) or _find(f, xs)
    if known is None or state.trace is not None:
        return None
    rule, is_plain = known
    y = f(*xs)
    if type(y) not in KINDS_OF_FLOATS:
        return (y, None) if rule.kind == "constant" and type(y) in (bool, np.bool_) else None
    partials = _partials(rule, is_plain, f, xs, y, nodes) if rule.kind == "scalar" else ()
    if len(partials) != len(xs):
        return None
    entry: list[Any] = []
    for x, node, partial in zip(xs, nodes[1:], partials, strict=True):
        if node is not None:
            kind = type(x)
            if kind not in KINDS_OF_FLOATS or type(partial) not in _IS_NUMBER:
                return None
            entry += (node, kind(partial))
    if not entry:
        return None
    number: int = tape.count + 1
    tape.count = number
    tape.entries.append((number, *entry))
    return y, number


@handlers.direct(*[of.in_place for of in _OF_REALS])
def _(tape: Any, nodes: Nodes, f: Any, xs: tuple[Any, ...]) -> Traced | None:
    """Run an operation in place, which numbers do not have."""
    done: Traced | None = _operate(tape, nodes, _OPERATION[id(f)], xs)
    return done


@handlers.direct(operator.truth, operator.not_)
def _(tape: Any, nodes: Nodes, f: Any, xs: tuple[Any, ...]) -> Traced | None:
    return (f(*xs), None) if type(xs[0]) in _IS_NUMBER else None


def _partials(
    rule: Any, is_plain: bool, f: Any, xs: tuple[Any, ...], y: Any, nodes: Nodes
) -> tuple[Any, ...]:
    """Return the partial derivatives of a scalar rule; none where it does not give them now."""
    out = y if rule.takes_out else None
    if is_plain:
        try:
            found = rule.body(*xs, y) if rule.takes_out else rule.body(*xs)
            return found if type(found) is tuple else (found,)
        except (ArithmeticError, ValueError):
            pass  # where Python raises, NumPy has a value
    needed = None if None not in nodes[1:] else (True, *[node is not None for node in nodes[1:]])
    try:
        return rule.reverse(rule, out, f, xs, 1.0, needed)[1:]  # type: ignore[no-any-return]
    except (RuleError, NotImplementedError):
        return ()  # it comes up again if the pullback is called


def pull(cotangents: dict[Any, Any], entry: tuple[Any, ...], dy: Any) -> None:
    """Add to the cotangents of the operands of an operation of numbers."""
    for i in range(1, len(entry), 2):
        partial = entry[i + 1]
        if type(dy) is float and type(partial) is float:
            d = dy * partial if dy else 0.0
        elif type(dy) in KINDS_OF_FLOATS:  # by Python's numbers, which do not warn
            d = type(partial)(float(dy) * float(partial) if dy else 0.0)
        else:
            d = project(dy * partial if dy else dy, partial)
        known = cotangents.get(entry[i])
        if known is None:
            cotangents[entry[i]] = d
        else:
            cotangents[entry[i]] = known + d if type(known) is float else accumulate(known, d)


# -- rules -------------------------------------------------------------------------------------

_rules: dict[Any, tuple[Any, bool]] = {}


def _find(f: Any, xs: tuple[Any, ...]) -> tuple[Any, bool] | None:
    """Return the rule of a function for numbers, and whether its body needs no care."""
    known = _rules  # a change of the rules replaces it
    rule = find_rule(f, *xs)
    if rule is None or rule.refuses or rule.chooses or rule.kind not in ("scalar", "constant"):
        return None
    plain = rule.kind == "scalar" and rule.partials is None and _never_warns(rule.body)
    plain = plain and (not rule.poles or _OF_PYTHON_NUMBERS.issuperset(map(type, xs)))
    return known.setdefault((id(f), *map(type, xs)), (rule, plain))


def _never_warns(body: Any) -> bool:
    """Return whether the body of a rule computes by operators and by `math`: it never warns."""
    if type(body) is not types.FunctionType or len([*codes_in(body.__code__)]) > 1:
        return False
    if body.__closure__:
        return False
    named = [body.__globals__.get(name, math) for name in body.__code__.co_names]
    return all(x is math or isinstance(x, int | float) for x in named)


def _forget_rules() -> None:
    global _rules
    _rules = {}


when_changed(_forget_rules)
