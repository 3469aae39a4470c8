"""`why`: all rules for a function, and how each fares in a call."""

from types import BuiltinFunctionType, MethodWrapperType, ModuleType
from typing import Any

from rulescore._rule import Rule, RuleError
from rulescore._table import candidates, find_rule, primitives_of

_BOUND_IN_C = (BuiltinFunctionType, MethodWrapperType)


def why(f: Any, /, *xs: Any, **options: Any) -> list[tuple[str, Rule]]:
    """Return all rules for a function, each with how it fares in the call `f(*xs, **options)`.

    The rule that answers `"answers"`, and comes first. One that matches the types may be
    `"overridden by NAME"`, with the name of that rule set, or one that `"clashes"` with another:
    then the call raises. All others have `"lost"`: they are for other types, or less specific.
    A bound method of a compiled class, such as `np.ones(2).sum`, counts as `np.ndarray.sum`, called
    with the array first.
    """
    f, xs = unbound(f, xs)
    clashing: list[Rule] = []
    try:
        found = find_rule(f, *xs, ad=_no_ad, **options)
    except RuleError:
        found, clashing = None, _clashing(f, xs)
    told: list[tuple[str, Rule]] = []
    for primitive in primitives_of(f):
        for n, rule in enumerate(primitive.rules):
            arguments = (f, *xs) if rule.kind == "instance" else xs
            winner = (
                primitive.winner_over(n, arguments) if primitive.matches(n, arguments) else None
            )
            if rule is found:
                said = "answers"
            elif any(rule is other for other in clashing):
                said = "clashes"
            else:
                said = "lost" if winner is None else f"overridden by {winner.plugin}"
            told.append((said, rule))
    return sorted(told, key=lambda pair: pair[0] != "answers")


def unbound(f: Any, xs: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
    """Return a bound method of a compiled class without its owner, which goes before `xs`.

    All others, and those that have rules of their own, are returned as they are.
    """
    owner = getattr(f, "__self__", None) if isinstance(f, _BOUND_IN_C) else None
    if owner is None or isinstance(owner, ModuleType | type) or candidates(f):
        return f, xs
    method = getattr(type(owner), f.__name__, None)
    return (f, xs) if method is None else (method, (owner, *xs))


def _clashing(f: Any, xs: tuple[Any, ...]) -> list[Rule]:
    """Return the rules among which a look-up cannot choose."""
    for primitive in primitives_of(f):
        arguments = (f, *xs) if primitive.rules[0].kind == "instance" else xs
        found = primitive.in_force(arguments)
        rules = [primitive.rules[n] for n in found if primitive.matches(n, arguments)]
        if len(rules) > 1:
            return rules
    return []


def _no_ad(f: Any, /, *xs: Any) -> Any:
    raise NotImplementedError("rules are looked up here, not applied")
