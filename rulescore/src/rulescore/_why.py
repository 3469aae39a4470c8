"""`why`: which rule answers a call, and how all the others fare."""

from functools import partial
from types import BuiltinFunctionType, MethodType, MethodWrapperType, ModuleType
from typing import Any

from rulescore._errors import RuleError
from rulescore._rule import Rule
from rulescore._table.primitive import matches
from rulescore._table.resolution import find_rule, primitives_in_play
from rulescore._table.table import primitives_of, rules_of

_BOUND_IN_C = (BuiltinFunctionType, MethodWrapperType)


def why(f: Any, /, *xs: Any, **options: Any) -> list[tuple[str, Rule]]:
    """Return all rules for a function, each with its part in the call `f(*xs, **options)`.

    Arguments:
        f: the function, or a callable object.
        xs: its arguments, whose types choose the rule.
        options: keyword arguments of `f`.

    Returns pairs of a text and a rule. The rule that `"answers"` comes first. A rule that matches
    may be `"overridden by NAME"`, where NAME is another rule set, or one that `"clashes"`: then the
    call raises `RuleError`. All others have `"lost"`: they are for other types, or less specific. A
    bound method, such as `np.ones(2).sum`, counts as `np.ndarray.sum` with the array as its first
    argument, and a `functools.partial` counts as its function.
    """
    f, xs, options = unbound(f, xs, options)
    clashing: list[Rule] = []
    try:
        found = find_rule(f, *xs, ad=_no_ad, **options)
    except RuleError:
        found, clashing = None, _clashing(f, xs)
    entries = [entry for primitive in primitives_of(f) for entry in primitive.entries]
    in_play = [
        (rule, source)
        for primitive in primitives_in_play(f)
        for rule, source in primitive.entries
        if matches(rule, _operands(rule, f, xs))
    ]
    told: list[tuple[str, Rule]] = []
    for entry in entries:
        rule, source = entry
        winners = [o for o, late in in_play if entry in in_play and late.wins_over(source)]
        if rule is found:
            said = "answers"
        elif any(rule is other for other in clashing):
            said = "clashes"
        else:
            said = f"overridden by {winners[-1].plugin}" if winners else "lost"
        told.append((said, rule))
    return sorted(told, key=lambda pair: pair[0] != "answers")


def _operands(rule: Rule, f: Any, xs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return what a rule is dispatched on: the object that is called is the first of these."""
    return (f, *xs) if rule.kind == "instance" else xs


def unbound(
    f: Any, xs: tuple[Any, ...], options: dict[str, Any]
) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """Return the call of the function behind a bound method, or behind a `functools.partial`.

    The owner of the method goes before `xs`. Methods of classes, and what has rules of its own, are
    returned as they are.
    """
    while not rules_of(f):
        owner = getattr(f, "__self__", None)
        if type(f) is partial:
            f, xs, options = f.func, (*f.args, *xs), {**f.keywords, **options}
        elif owner is None or isinstance(owner, ModuleType | type):
            break
        elif type(f) is MethodType:
            f, xs = f.__func__, (owner, *xs)
        elif isinstance(f, _BOUND_IN_C) and hasattr(type(owner), f.__name__):
            f, xs = getattr(type(owner), f.__name__), (owner, *xs)
        else:
            break
    return f, xs, options


def _clashing(f: Any, xs: tuple[Any, ...]) -> list[Rule]:
    """Return the rules among which a look-up cannot choose."""
    for primitive in primitives_in_play(f):
        arguments = _operands(primitive.rules[0], f, xs)
        found = [primitive.rules[n] for n in primitive.in_force(arguments)]
        rules = [rule for rule in found if matches(rule, arguments)]
        if len(rules) > 1:
            return rules
    return []


def _no_ad(f: Any, /, *xs: Any) -> Any:
    raise NotImplementedError("rules are looked up here, not applied")
