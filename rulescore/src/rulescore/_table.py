"""The table of rules, and `rrule`, the verb that consults it.

A call is resolved in this order:

1. the rules of the function itself, found by its identity; among them plum dispatches on the
   types of the arguments, then, where there are 0-d arrays and no rule for arrays, on those of
   the numbers that these hold;
2. the rules of instances: those for the function's own type, then for its base classes;
3. `None`: nobody has declared a rule.

What was found is kept by the types of the arguments until the table changes.
"""

import threading
from collections.abc import Callable, Iterable
from types import BuiltinFunctionType, MethodType, ModuleType
from typing import Any, Protocol

import numpy as np
import plum

from rulescore._array import pattern
from rulescore._rule import Pullback, Rule, RuleError, name_of, those_given

_MANY_TYPES = 4096  # a cache with more entries than this is emptied: classes may be made in a loop
_BOUND = (BuiltinFunctionType, MethodType)
_dispatching = threading.RLock()


class Primitive:
    """Hold the rules of one function (or class of callable objects), and dispatch among them."""

    __slots__ = ("cache", "dispatcher", "rules")

    def __init__(self, rules: tuple[Rule, ...]) -> None:
        self.rules = rules  # they keep the function alive: it is found by its identity
        self.cache: dict[Any, Rule | None] = {}
        self.dispatcher: plum.Function | None = None

    def find(self, arguments: tuple[Any, ...], key: Any) -> Rule | None:
        """Return the most specific rule that matches, and keep it under `key`."""
        rule: Rule | None = None
        with _dispatching:
            try:
                found: Any = self._dispatcher().resolve_method(arguments)[0]
                rule = self.rules[found.position]
            except plum.NotFoundLookupError:
                pass
            except plum.AmbiguousLookupError as error:
                implementations: list[Any] = [method.implementation for method in error.methods]
                rules = [self.rules[stub.position] for stub in implementations]
                raise _ambiguous(rules, arguments) from None
        # what pretends to be of another class cannot be told by its type the next time
        if all(x.__class__ is type(x) for x in arguments):
            remember(self.cache, key, rule)
        return rule

    def _dispatcher(self) -> plum.Function:
        if self.dispatcher is None:
            dispatcher = plum.Function(_stub(0))
            for position, rule in enumerate(self.rules):
                stub = _stub(position)
                for types, varargs in signatures(rule):
                    more = {} if varargs is None else {"varargs": varargs}
                    dispatcher.register(stub, plum.Signature(*types, **more), None)
            # patterns that differ in writing may mean the same, and plum would take the last
            if len(dispatcher.methods) != sum(len(signatures(rule)) for rule in self.rules):
                raise RuleError(
                    "two of these rules are for the same types: "
                    + "; ".join(f"{rule.signature} from {rule.place}" for rule in self.rules)
                )
            self.dispatcher = dispatcher
        return self.dispatcher


def remember(cache: dict[Any, Any], key: Any, found: Any) -> None:
    """Keep what was found, if it can be kept: the type of a type may forbid hashing."""
    if len(cache) >= _MANY_TYPES:
        cache.clear()
    try:
        cache[key] = found
    except TypeError:
        return


def _stub(position: int) -> Any:
    """Stand for a rule among plum's methods: plum keeps them for ever, and rules must not be."""

    def stub(*xs: Any) -> None:
        return None

    marked: Any = stub
    marked.position = position
    return marked


def _ambiguous(rules: list[Rule], arguments: tuple[Any, ...]) -> RuleError:
    types = ", ".join(type(x).__name__ for x in arguments)
    return RuleError(
        f"several rules match {name_of(rules[0].function)} of ({types}) and none is the most "
        f"specific: {'; '.join(f'{rule.signature} from {rule.place}' for rule in rules)}; declare "
        "one for these very types"
    )


def signatures(rule: Rule) -> list[tuple[tuple[Any, ...], Any]]:
    """Return the patterns of a rule: its own, and those with positional options given."""
    types = tuple(map(pattern, rule.types + rule.optional))
    if rule.varargs is not None:
        return [(types, pattern(rule.varargs))]
    return [(types[:n], None) for n in range(len(rule.types), len(types) + 1)]


class Rules(Protocol):
    """A rule set, as far as the table looks at it."""

    rules: list[Rule]


# A change of the table replaces these, so that a thread that reads them meanwhile sees the old
# table or the new one, and what it remembers is forgotten with the old.
_functions: dict[Any, Primitive] = {}  # by identity: functions need not be hashable
_instances: dict[type, Primitive] = {}
_resolved_types: dict[type, list[Primitive]] = {}
_plain: dict[type, bool] = {}  # types of functions that no rule of instances is for
_sets: list[Rules] = []
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
    primitive = _functions.get(id(f))
    if primitive is None and type(f) in _BOUND:
        primitive = _functions.get(_key(f))
    types = type(xs[0]) if len(xs) == 1 else tuple(map(type, xs))
    rule = None
    if primitive is not None:
        try:
            rule = primitive.cache[types]
        except (KeyError, TypeError):
            rule = primitive.find(xs, types)
        if rule is None and any(map(_is_0d, xs)):
            numbers = tuple([x[()] if _is_0d(x) else x for x in xs])
            return find_rule(f, *numbers, ad=ad, **options)
    if rule is None:
        rule = _find_instance_rule(f, xs, types)
    if rule is None or (rule.needs_ad and ad is None):
        return None
    if options and not rule.takes(len(xs), options):
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
    rule = None
    primitive = _functions.get(id(f))
    try:
        if primitive is None:
            kind = type(f)
            if kind in _plain and (kind not in _BOUND or _key(f) not in _functions):
                return None
        else:
            rule = primitive.cache[type(xs[0]) if len(xs) == 1 else tuple(map(type, xs))]
            if rule is None and type(f) in _plain and not any(map(_is_0d, xs)):
                return None
    except (KeyError, TypeError):
        pass
    if rule is None or rule.needs_ad or options:
        rule = find_rule(f, *xs, ad=ad, **options)
        if rule is None:
            return None
        options = those_given(options)
        if rule.needs_ad:
            options["ad"] = ad
    # what `rule(f, *xs, **options)` does, without the call, for the kinds that are most common
    if rule.kind == "scalar" and not options:
        y = rule.primal(*xs)
        return y, Pullback(rule.reverse, rule, y if rule.takes_out else None, f, xs)
    if rule.kind == "general":
        given = rule.body(*xs, **options)
        if type(given) is tuple and len(given) == 2 and callable(given[1]):
            return given[0], Pullback(rule.reverse, rule, given[1], f, xs)
        if type(given) is not tuple or len(given) != 2 or given[1] is not None:
            raise rule.refusal(given)
        return given[0], Pullback(rule.reverse, rule, None, f, xs)
    return rule(f, *xs, **options)


def _key(f: Any) -> Any:
    """Return what a function is found by: bound methods are made anew at each access."""
    if type(f) in _BOUND:
        owner = f.__self__
        if type(f) is MethodType:
            return id(owner), id(f.__func__)
        if owner is not None and not isinstance(owner, ModuleType):
            return id(owner), f.__name__
    return id(f)


def _find_instance_rule(f: Any, xs: tuple[Any, ...], types: Any) -> Rule | None:
    kind: type = type(f)
    resolved, plain = _resolved_types, _plain  # before `_instances`, which is replaced first
    try:
        primitives = resolved[kind]
    except (KeyError, TypeError):
        instances = _instances
        primitives = [instances[base] for base in kind.__mro__ if _has(instances, base)]
        remember(resolved, kind, primitives)
        if not primitives:
            remember(plain, kind, True)
    for primitive in primitives:
        key = (kind, types)
        try:
            rule = primitive.cache[key]
        except (KeyError, TypeError):
            rule = primitive.find((f, *xs), key)
        if rule is not None:
            return rule
    return None


def _is_0d(x: Any) -> bool:
    return type(x) is np.ndarray and x.ndim == 0


def _has(instances: dict[type, Primitive], base: type) -> bool:
    try:
        return base in instances
    except TypeError:
        return False


def candidates(f: Any) -> list[Rule]:
    """Return all rules for a function, or for calling an object, whatever the arguments."""
    if _load is not None:
        _load()
    found = [_functions[_key(f)]] if _key(f) in _functions else []
    found += [_instances[base] for base in type(f).__mro__ if _has(_instances, base)]
    return [rule for primitive in found for rule in primitive.rules]


def register(ruleset: Rules, plugin: str | None = None) -> None:
    """Add a rule set to the table, or raise `RuleError` and leave the table as it was.

    Arguments:
        ruleset: the rule set.
        plugin: the name of the installed plugin that handed it over, if one did.
    """
    with _lock:
        if not is_registered(ruleset):
            _add(ruleset.rules, plugin)
            _sets.append(ruleset)


def declare(ruleset: Rules, rules: list[Rule]) -> None:
    """Add rules to a rule set, and to the table where the set is registered already."""
    with _lock:
        if is_registered(ruleset):
            _add(rules)
        ruleset.rules += rules


def unregister(ruleset: Rules) -> None:
    """Take a rule set out of the table."""
    with _lock:
        if is_registered(ruleset):
            gone = set(map(id, ruleset.rules))
            changed: dict[Any, tuple[Rule, ...]] = {}
            for rule in ruleset.rules:
                known = _table_of(rule)[_place_in(rule)].rules
                changed[_place_in(rule)] = tuple(r for r in known if id(r) not in gone)
            _sets[:] = [known for known in _sets if known is not ruleset]
            _replace(changed)


def is_registered(ruleset: Rules) -> bool:
    """Return whether the rule set is in the table."""
    return any(known is ruleset for known in _sets)


def registered() -> list[Rules]:
    """Return the rule sets in the table."""
    return list(_sets)


def _table_of(rule: Rule) -> dict[Any, Primitive]:
    return _instances if rule.kind == "instance" else _functions


def _place_in(rule: Rule) -> Any:
    return rule.function if rule.kind == "instance" else _key(rule.function)


def _add(rules: Iterable[Rule], plugin: str | None = None) -> None:
    """Add rules to the table, all or, where one clashes, none."""
    changed: dict[Any, tuple[Rule, ...]] = {}
    for rule in rules:
        key = _place_in(rule)
        if key not in changed:
            primitive = _table_of(rule).get(key)
            changed[key] = () if primitive is None else primitive.rules
        for other in changed[key]:
            _refuse_clash(rule, other, plugin)
        changed[key] += (rule,)
    _replace(changed)


def _refuse_clash(rule: Rule, other: Rule, plugin: str | None) -> None:
    patterns = signatures(other)
    if any(pattern in patterns for pattern in signatures(rule)):
        if plugin is not None:
            way_out = f"RULESCORE_DISABLE={plugin} switches the plugin of the second one off"
        else:
            way_out = (
                f"take the second one out of the rule set {rule.plugin!r}, or the first one "
                "(`unregister()` takes back a rule set of one's own, RULESCORE_DISABLE switches "
                "off a plugin)"
            )
        raise RuleError(
            f"two rules for {rule.signature}: one from {other.place}, one from {rule.place}; "
            f"{way_out}"
        )


def _replace(changed: dict[Any, tuple[Rule, ...]]) -> None:
    """Publish a table in which these primitives have these rules."""
    global _functions, _instances, _resolved_types, _plain, _generation
    functions, instances = dict(_functions), dict(_instances)
    for key, rules in changed.items():
        table: dict[Any, Primitive] = instances if isinstance(key, type) else functions
        if rules:
            table[key] = Primitive(rules)
        else:
            del table[key]
    _functions, _instances = functions, instances
    _resolved_types, _plain = {}, {}
    _generation += 1
