"""The table of rules, and `rrule`, the verb that consults it.

A call is resolved in this order:

1. the rules of the function itself, found by its identity; among them plum dispatches on the
   types of the arguments;
2. the rules of instances: those for the function's own type, then for its base classes;
3. `None`: nobody has declared a rule.

What was found is kept by the types of the arguments until the table changes.
"""

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import plum

from rulescore._rule import Pullback, Rule, RuleError, apply_pullback, name_of

if TYPE_CHECKING:
    from rulescore._ruleset import RuleSet


class Primitive:
    """Hold the rules of one function (or one class of callable objects), and dispatch among them."""

    __slots__ = ("cache", "dispatcher", "function", "rules")

    def __init__(self, function: Any) -> None:
        self.function = function  # keeps it alive: it is found by its identity
        self.rules: list[Rule] = []
        self.cache: dict[Any, Rule | None] = {}
        self.dispatcher: plum.Function | None = None

    def find(self, arguments: tuple[Any, ...], key: Any) -> Rule | None:
        """Return the most specific rule that matches, and keep it under `key`."""
        try:
            found = self._dispatcher().resolve_method(arguments)[0]
        except plum.NotFoundLookupError:
            rule = None
        except plum.AmbiguousLookupError as error:
            raise RuleError(
                f"several rules match {name_of(self.function)} of "
                f"({', '.join(type(x).__name__ for x in arguments)}) and none is the most specific:\n{error}"
            ) from None
        else:
            rule = found.__rule__
        self.cache[key] = rule
        return rule

    def _dispatcher(self) -> plum.Function:
        if self.dispatcher is None:
            dispatcher = plum.Function(_stub())
            for rule in self.rules:
                stub: Any = _stub()
                stub.__rule__ = rule
                for types, varargs in signatures(rule):
                    more = {} if varargs is None else {"varargs": varargs}
                    dispatcher.register(stub, plum.Signature(*types, **more), None)
            self.dispatcher = dispatcher
        return self.dispatcher


def _stub() -> Any:
    def rule(*xs: Any) -> None:
        """Stand for a rule among plum's methods."""

    return rule


def signatures(rule: Rule) -> list[tuple[tuple[Any, ...], Any]]:
    """Return the patterns of a rule: its own, and those with positional options given."""
    if rule.varargs is not None:
        return [(rule.types + rule.optional, rule.varargs)]
    return [(rule.types + rule.optional[:n], None) for n in range(len(rule.optional) + 1)]


_functions: dict[Any, Primitive] = {}  # by identity: functions need not be hashable
_instances: dict[type, Primitive] = {}
_resolved_types: dict[type, list[Primitive]] = {}
_plain: set[type] = set()  # types of functions that no rule of instances is for
_sets: "list[RuleSet]" = []
_generation = 0
_lock = threading.RLock()
_load: Callable[[], None] | None = None  # set by _plugins: loads them at the first look-up


def generation() -> int:
    """Return a number that rises with every change of the table of rules."""
    return _generation


def find_rule(f: Any, /, *xs: Any, ad: Any = None, **options: Any) -> Rule | None:
    """Return the rule that answers `rrule(f, *xs, **options)`, or `None` where there is none.

    The rule tells where it was written (`plugin`, `file`, `line`), for which types
    (`signature`), and of which `kind` it is; called as `rule(f, *xs, **options)` it is applied.
    """
    if _load is not None:
        _load()
    primitive = _functions.get(id(f)) or _functions.get(_alias(f))
    types = type(xs[0]) if len(xs) == 1 else tuple(map(type, xs))
    rule = None
    if primitive is not None:
        try:
            rule = primitive.cache[types]
        except KeyError:
            rule = primitive.find(xs, types)
    if rule is None:
        rule = _find_instance_rule(f, xs, types)
    if rule is None or (rule.needs_ad and ad is None):
        return None
    if options and rule.options is not None and not rule.options.issuperset(options):
        return None
    return rule


def rrule(f: Any, /, *xs: Any, ad: Any = None, **options: Any) -> tuple[Any, Pullback] | None:
    """Return `(y, back)` for `y = f(*xs, **options)`, or `None` where nobody has a rule for it.

    Arguments:
        f: the function, or a callable object.
        xs: the arguments, whose types choose the rule.
        ad: the AD that a rule for a function that takes functions may call back, as
            `ad(g, *xs) -> (y, back)`; without it such rules are not found.
        options: keyword arguments of `f`; they carry no gradient.

    `back(dy)` returns `(∂self, ∂x1, ..., ∂xn)`, with `None` for "no gradient". The first call
    loads the rule plugins. (ChainRules' `rrule`.)
    """
    if _load is not None:
        _load()
    primitive = _functions.get(id(f))
    if primitive is None or options or ad is not None:
        if primitive is None and type(f) in _plain:
            return None
        rule = find_rule(f, *xs, ad=ad, **options)
    else:
        try:
            rule = primitive.cache[type(xs[0]) if len(xs) == 1 else tuple(map(type, xs))]
        except KeyError:
            rule = find_rule(f, *xs)
        if rule is None or rule.needs_ad:
            rule = find_rule(f, *xs)
    if rule is None:
        return None
    if rule.kind == "scalar":
        y, back = rule.run(*xs)
        return y, Pullback(apply_pullback, rule, back, f, xs)
    if rule.needs_ad:
        options["ad"] = ad
    return rule(f, *xs, **options)


_BUILTIN: type = type(len)


def _alias(f: Any) -> Any:
    """Return the key of a class method of a built-in type: each access makes it anew."""
    owner = getattr(f, "__self__", None) if type(f) is _BUILTIN else None
    if isinstance(owner, type):
        return (owner, f.__name__)
    return None


def _key(f: Any) -> Any:
    return _alias(f) or id(f)


def _find_instance_rule(f: Any, xs: tuple[Any, ...], types: Any) -> Rule | None:
    kind: type = type(f)
    try:
        primitives = _resolved_types[kind]
    except KeyError:
        primitives = [_instances[base] for base in kind.__mro__ if base in _instances]
        _resolved_types[kind] = primitives
        if not primitives and kind is not _BUILTIN:
            _plain.add(kind)
    for primitive in primitives:
        key = (kind, types)
        try:
            rule = primitive.cache[key]
        except KeyError:
            rule = primitive.find((f, *xs), key)
        if rule is not None:
            return rule
    return None


def register(ruleset: "RuleSet") -> None:
    """Add a rule set to the table, or raise `RuleError` and leave the table as it was."""
    global _generation
    with _lock:
        if any(known is ruleset for known in _sets):
            return
        known_rules = {_pattern(rule): rule for s in _sets for rule in s.rules}
        for rule in ruleset.rules:
            other = known_rules.setdefault(_pattern(rule), rule)
            if other is not rule:
                raise RuleError(
                    f"two rules for {rule.signature}: one from {other.place}, one from "
                    f"{rule.place}; take one of them out (RULESCORE_DISABLE={rule.plugin} switches "
                    "a plugin off)"
                )
        _sets.append(ruleset)
        for rule in ruleset.rules:
            _add(rule)
        _resolved_types.clear()
        _plain.clear()
        _generation += 1


def unregister(ruleset: "RuleSet") -> None:
    """Take a rule set out of the table."""
    global _generation
    with _lock:
        if not any(known is ruleset for known in _sets):
            return
        _sets[:] = [known for known in _sets if known is not ruleset]
        _functions.clear()
        _instances.clear()
        _resolved_types.clear()
        _plain.clear()
        for known in _sets:
            for rule in known.rules:
                _add(rule)
        _generation += 1


def registered() -> "list[RuleSet]":
    """Return the rule sets in the table."""
    return list(_sets)


def _pattern(rule: Rule) -> Any:
    return _key(rule.function), rule.kind == "instance", rule.types, rule.varargs


def _add(rule: Rule) -> None:
    table, key = (
        (_instances, rule.function)
        if rule.kind == "instance"
        else (_functions, _key(rule.function))
    )
    primitive = table.get(key)
    if primitive is None:
        primitive = table[key] = Primitive(rule.function)
    primitive.rules.append(rule)
    primitive.cache = {}
    primitive.dispatcher = None
