"""The table of rules, and `rrule`, the verb that consults it.

A call is resolved in this order:

1. the rules of the function itself, found by its identity; among them plum dispatches on the
   types of the arguments, then, where there are 0-d arrays and no rule for arrays, on those of
   the numbers that these hold;
2. the rules of instances: those for the function's own type, then for its base classes;
3. `None`: nobody has declared a rule.

What was found is kept by the types of the arguments until the table changes. Where nothing was
kept, the sections of plugins whose libraries have been imported meanwhile are loaded first.
"""

import threading
from collections.abc import Callable, Iterable
from types import BuiltinFunctionType, MethodType, MethodWrapperType, ModuleType
from typing import Any, get_args

import numpy as np

from rulescore import _kinds
from rulescore._array import pattern
from rulescore._primitive import (
    Entry,
    Primitive,
    Registration,
    Rules,
    are_alike,
    clash,
    remember,
)
from rulescore._project import project
from rulescore._rule import Pullback, Rule, RuleError, those_given

_BOUND = (BuiltinFunctionType, MethodType)
_BOUND_IN_C = (BuiltinFunctionType, MethodWrapperType)


# A change of the table replaces these, so that a thread that reads them meanwhile sees the old
# table or the new one, and what it remembers is forgotten with the old.
_functions: dict[Any, Primitive] = {}  # by identity: functions need not be hashable
_instances: dict[type, Primitive] = {}
_resolved_types: dict[type, list[Primitive]] = {}
_plain: dict[type, bool] = {}  # types of functions that no rule of instances is for
_registered: list[Registration] = []
_count = 0  # of all registrations ever
_generation = 0
_lock = threading.RLock()
_load: Callable[[], None] | None = None  # set by _plugins: loads them at the first look-up
# set by _plugins while sections wait for their libraries: loads those that need wait no longer
_wake: Callable[[], bool] | None = None
_told: list[Callable[[], Any]] = []  # after each change
_names: set[str] = set()  # of all installed plugins, set by _plugins when they are loaded


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
    if primitive is None and _wake is not None and _wake():
        return find_rule(f, *xs, ad=ad, **options)
    types = type(xs[0]) if len(xs) == 1 else tuple(map(type, xs))
    rule = None
    if primitive is not None:
        try:
            rule = primitive.cache[types]
        except (KeyError, TypeError):
            if _wake is not None and _wake():
                return find_rule(f, *xs, ad=ad, **options)
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
            plain = kind in _plain and (kind not in _BOUND or _key(f) not in _functions)
            if plain and (_wake is None or not _wake()):
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
        return rule.answer(given, f, xs)
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
    for primitive in _primitives_of(f):
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
    for primitive in _primitives_of(f):
        arguments = (f, *xs) if primitive.rules[0].kind == "instance" else xs
        found = primitive.in_force(arguments)
        rules = [primitive.rules[n] for n in found if primitive.matches(n, arguments)]
        if len(rules) > 1:
            return rules
    return []


def _no_ad(f: Any, /, *xs: Any) -> Any:
    raise NotImplementedError("rules are looked up here, not applied")


def _primitives_of(f: Any) -> list[Primitive]:
    """Return what holds the rules for a function, or for calling an object."""
    if _load is not None:
        _load()
    if _wake is not None:
        _wake()
    found = [_functions[_key(f)]] if _key(f) in _functions else []
    return found + [_instances[base] for base in type(f).__mro__ if _has(_instances, base)]


def candidates(f: Any) -> list[Rule]:
    """Return all rules for a function, or for calling an object, whatever the arguments."""
    return [rule for primitive in _primitives_of(f) for rule in primitive.rules]


def register(
    ruleset: Rules, plugin: str | None = None, override: bool | frozenset[str] = False
) -> list[tuple[Entry, Entry]]:
    """Add a rule set to the table, or raise `RuleError` and leave the table as it was.

    Arguments:
        ruleset: the rule set. One of the same name that was registered from the same place is
            taken out.
        plugin: the name of the installed plugin that handed it over, if one did.
        override: which rules its own win over, as `Registration` has it. A set that is
            registered already is registered anew with it, as the last.

    Returns the pairs of rules that clash, where the set is a plugin's; of all others one raises.
    """
    global _count
    with _lock:
        known = _registration_of(ruleset)
        is_last = bool(_registered) and known is _registered[-1]
        if known is not None and (not override or (known.override == override and is_last)):
            return []
        change = _Change()
        if known is not None:
            change.remove(known)
            plugin = known.plugin
        _count += 1
        new = Registration(ruleset, plugin, override, _count)
        if plugin is None:
            change.remove_earlier(new, ruleset.rules, whole=True)
        clashes = change.add(new, ruleset.rules)
        if clashes and plugin is None:
            raise clash(*clashes[0])
        change.publish()
        return clashes


def refuse_unknown(names: frozenset[str], of: str) -> None:
    """Raise `RuleError` where nobody has a name that the rule set `of` is to override."""
    if _load is not None:
        _load()
    known = {name for r in _registered for name in (r.ruleset.name, r.plugin) if name} | _names
    unknown = sorted(names - known)
    if unknown:
        raise RuleError(
            f"rule set {of}: there is no plugin and no rule set named {', '.join(unknown)} to "
            f"override; there are: {', '.join(sorted(known - {of})) or 'none'}"
        )


def declare(ruleset: Rules, rules: list[Rule]) -> None:
    """Add rules to a rule set, and to the table where the set is registered already."""
    with _lock:
        registration = _registration_of(ruleset)
        if registration is not None:
            change = _Change()
            if registration.plugin is None:
                change.remove_earlier(registration, rules, whole=False)
            clashes = change.add(registration, rules)
            if clashes:
                raise clash(*clashes[0])
            change.publish()
        ruleset.rules += rules


def unregister(ruleset: Rules) -> None:
    """Take a rule set out of the table."""
    with _lock:
        known = _registration_of(ruleset)
        if known is not None:
            change = _Change()
            change.remove(known)
            change.publish()


def is_registered(ruleset: Rules) -> bool:
    """Return whether the rule set is in the table."""
    return _registration_of(ruleset) is not None


def registered() -> list[Rules]:
    """Return the rule sets in the table."""
    return [known.ruleset for known in _registered]


def _registration_of(ruleset: Rules) -> Registration | None:
    for known in _registered:
        if known.ruleset is ruleset:
            return known
    return None


def _place_in(rule: Rule) -> Any:
    if rule.kind == "method":  # it is no derivative of the function
        return "method", id(rule.function)
    return rule.function if rule.kind == "instance" else _key(rule.function)


def _find_method(function: Any, xs: tuple[Any, ...]) -> Callable[..., Any] | None:
    """Return the method of `project`, `accumulate` or `zero` for arguments of these types."""
    if _load is not None:
        _load()
    types = tuple(map(type, xs))
    primitive = _functions.get(("method", id(function)))
    try:
        if primitive is not None:
            rule = primitive.cache[types]
            return None if rule is None else rule.body
    except (KeyError, TypeError):
        pass
    if _wake is not None and _wake():
        return _find_method(function, xs)
    rule = None if primitive is None else primitive.find(xs, types)
    return None if rule is None else rule.body


def goes_by_value(kind: type) -> bool:
    """Return whether a rule set says how cotangents of values of a type are projected.

    Such a value is a whole to an AD, as an array is: its cotangent is not made up of its fields.
    """
    if kind in _kinds.SETTLED:
        return False
    if _load is not None:
        _load()
    if _wake is not None:
        _wake()
    primitive = _functions.get(("method", id(project)))
    rules = () if primitive is None else primitive.rules
    primals = [pattern(rule.types[1]) for rule in rules if len(rule.types) == 2]
    named = [t for primal in primals for t in (get_args(primal) or (primal,))]
    return any(isinstance(t, type) and t is not object and issubclass(kind, t) for t in named)


def when_changed(forget: Callable[[], Any]) -> None:
    """Call `forget` after each change of the table: an AD may remember what it knows of types."""
    _told.append(forget)


class _Change:
    """A change of the table in the making, which nobody sees before it is published."""

    def __init__(self) -> None:
        self._entries: dict[Any, tuple[Entry, ...]] = {}  # by place, of what has changed
        self._registered = list(_registered)

    def add(self, new: Registration, rules: Iterable[Rule]) -> list[tuple[Entry, Entry]]:
        """Add rules of a set; return the pairs that clash, or raise for two of the same set."""
        clashes: list[tuple[Entry, Entry]] = []
        if new not in self._registered:
            self._registered.append(new)
        for rule in rules:
            there = self._at(rule)
            for other, source in there:
                if not are_alike(rule, other):
                    continue
                pair = (other, source), (rule, new)
                if source is new:
                    raise clash(*pair)
                if not (new.wins_over(source) or source.wins_over(new)):
                    clashes.append(pair)
            self._entries[_place_in(rule)] = (*there, (rule, new))
        return clashes

    def remove(self, known: Registration) -> None:
        """Take a rule set out."""
        self._registered.remove(known)
        for rule in known.ruleset.rules:
            self._entries[_place_in(rule)] = tuple(
                entry for entry in self._at(rule) if entry[1] is not known
            )

    def remove_earlier(self, new: Registration, rules: list[Rule], *, whole: bool) -> None:
        """Take out what was registered before under the same name from the same place.

        Where the code was run anew, as a cell of a notebook is, that is the `whole` set, or, if
        the cell was edited, all rules for the functions of `rules`. Where the same code makes
        several sets, as a function may that is called for each of some functions, it is
        the rules that would clash.
        """
        for known in list(self._registered):
            if known.plugin is not None or known.ruleset is new.ruleset:
                continue
            if known.ruleset.name != new.ruleset.name:
                continue
            repeated = new.ruleset.origin.repeats(known.ruleset.origin)
            if repeated == "line" and whole:
                self.remove(known)
            elif repeated is not None:
                for rule in rules:
                    self._entries[_place_in(rule)] = tuple(
                        (other, source)
                        for other, source in self._at(rule)
                        if source is not known
                        or (repeated == "code" and not are_alike(rule, other))
                    )

    def publish(self) -> None:
        """Put a new table in the place of the old one."""
        global _functions, _instances, _resolved_types, _plain, _generation
        functions, instances = dict(_functions), dict(_instances)
        for key, entries in self._entries.items():
            table: dict[Any, Primitive] = instances if isinstance(key, type) else functions
            if entries:
                table[key] = Primitive(entries)
            else:
                table.pop(key, None)
        _registered[:] = self._registered
        _functions, _instances = functions, instances
        _resolved_types, _plain = {}, {}
        _generation += 1
        for forget in _told:
            forget()

    def _at(self, rule: Rule) -> tuple[Entry, ...]:
        key = _place_in(rule)
        if key not in self._entries:
            known = (_instances if rule.kind == "instance" else _functions).get(key)
            self._entries[key] = () if known is None else known.entries
        return self._entries[key]


_kinds.find = _find_method
