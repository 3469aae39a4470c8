"""The rules of one function, and which of them answers a call.

A rule that matches loses to one whose rule set overrides its own. Among those that are left plum
dispatches on the types of the arguments, and the most specific answers.
"""

import threading
from dataclasses import dataclass
from typing import Any, Protocol

import plum

from rulescore._array import pattern
from rulescore._errors import Fault, RuleError
from rulescore._naming import name_of
from rulescore._rule import Rule

_MANY_TYPES = 4096  # a cache with more entries than this is emptied: classes may be made in a loop
_dispatching = threading.RLock()


class Rules(Protocol):
    """A rule set, as far as the table looks at it."""

    name: str
    rules: list[Rule]
    origin: Any


@dataclass(frozen=True, eq=False, slots=True)
class Registration:
    """Hold how a rule set came into the table.

    Attributes:
        ruleset: the rule set.
        plugin: the name of the installed plugin that handed it over, or `None`.
        override: whether its rules win over those of plugins and of sets that were registered
            before; or the names of the rule sets and plugins that they win over.
        order: a number that rises from one registration to the next.
    """

    ruleset: Rules
    plugin: str | None
    override: bool | frozenset[str]
    order: int

    def wins_over(self, other: "Registration") -> bool:
        """Return whether the rules of this set win over those of another."""
        return self._overrides(other) and (not other._overrides(self) or self.order > other.order)

    def _overrides(self, other: "Registration") -> bool:
        if isinstance(self.override, frozenset):
            return other is not self and not self.override.isdisjoint(
                {other.ruleset.name, other.plugin}
            )
        return self.override and (other.plugin is not None or other.order < self.order)


Entry = tuple[Rule, Registration]


class Primitive:
    """Hold the rules of one function (or class of callable objects), and dispatch among them.

    Arguments:
        entries: the rules, each with how it was registered.
        rivals: rules that are not among them, and may override them: those for the other classes
            that a callable object is an instance of.
    """

    __slots__ = ("_dispatchers", "_rivals", "cache", "entries", "overrides", "rules")

    def __init__(self, entries: tuple[Entry, ...], rivals: tuple[Entry, ...] = ()) -> None:
        self.entries = entries
        self._rivals = rivals
        self.rules = tuple([rule for rule, _ in entries])  # they keep the function alive
        self.cache: dict[Any, Rule | None] = {}
        self.overrides = any(registration.override for _, registration in (*entries, *rivals))
        self._dispatchers: dict[tuple[int, ...], plum.Function] = {}

    @property
    def function(self) -> Any:
        """Return the function that the rules are for."""
        return self.rules[0].function

    def find(self, arguments: tuple[Any, ...], key: Any) -> Rule | None:
        """Return the rule that answers for these arguments, and keep it under `key`."""
        rule: Rule | None = None
        with _dispatching:
            in_force = self.in_force(arguments)
            found = [n for n in in_force if matches(self.rules[n], arguments)]
            if found:
                position = found[0] if len(found) == 1 else self._most_specific(in_force, arguments)
                rule = self.rules[position]
                if rule.kind == "opted out" or any(
                    other.kind == "opted out" and matches(other, arguments)
                    for other, _ in self._rivals
                ):
                    rule = None
        # what pretends to be of another class cannot be told by its type the next time
        if all(x.__class__ is type(x) for x in arguments):
            remember(self.cache, key, rule)
        return rule

    def _most_specific(self, positions: tuple[int, ...], arguments: tuple[Any, ...]) -> int:
        """Return the position of the rule that plum chooses among those that match."""
        try:
            found: Any = self._dispatcher(positions).resolve_method(arguments)[0]
        except plum.AmbiguousLookupError as error:
            stubs: list[Any] = [method.implementation for method in error.methods]
            rules = [self.rules[n] for stub in stubs for n in stub.positions]
            raise _ambiguous(rules, arguments) from None
        first: int = found.positions[0]
        if len(found.positions) > 1:
            raise clash(self.entries[first], self.entries[found.positions[1]])
        return first

    def in_force(self, arguments: tuple[Any, ...]) -> tuple[int, ...]:
        """Return the positions of the rules that no other one overrides for these arguments."""
        if not self.overrides:
            return tuple(range(len(self.rules)))
        found = [n for n, rule in enumerate(self.rules) if matches(rule, arguments)]
        # three that override each other in a circle are ambiguous
        found = self._left(found, [self.entries[n][1] for n in found]) or found
        rivals = [source for rule, source in self._rivals if matches(rule, arguments)]
        return tuple(self._left(found, rivals))

    def _left(self, positions: list[int], sources: list[Registration]) -> list[int]:
        """Return the positions of the rules that none of the sets overrides."""
        return [
            n
            for n in positions
            if not any(other.wins_over(self.entries[n][1]) for other in sources)
        ]

    def _dispatcher(self, positions: tuple[int, ...]) -> plum.Function:
        if positions in self._dispatchers:
            return self._dispatchers[positions]
        meant: list[tuple[tuple[Any, ...], list[int]]] = []  # a signature, and who has it
        for n, signature in [(i, s) for i in positions for s in signatures(self.rules[i])]:
            who = next((who for known, who in meant if known == signature), None)
            if who is None:
                meant.append((signature, [n]))
            else:
                who.append(n)
        dispatcher = plum.Function(_stub([]))
        for (types, varargs), who in meant:
            more = {} if varargs is None else {"varargs": varargs}
            dispatcher.register(_stub(who), plum.Signature(*types, **more), None)
        # patterns that differ in writing may mean the same, and plum would take the last
        if len(dispatcher.methods) != len(meant):
            raise Fault.CLASH(
                "two of these rules are for the same types: "
                + "; ".join(f"{rule.signature} from {rule.place}" for rule in self.rules)
                + "; remove one, or annotate it with another type"
            )
        self._dispatchers[positions] = dispatcher
        return dispatcher


def remember(cache: dict[Any, Any], key: Any, found: Any) -> None:
    """Keep what was found, if it can be kept: the type of a type may forbid hashing."""
    if len(cache) >= _MANY_TYPES:
        cache.clear()
    try:
        cache[key] = found
    except TypeError:
        return


def signatures(rule: Rule) -> list[tuple[tuple[Any, ...], Any]]:
    """Return the patterns of a rule: its own, and those with positional options given."""
    types = tuple(map(pattern, rule.types + rule.optional))
    if rule.varargs is not None:
        return [(types, pattern(rule.varargs))]
    return [(types[:n], None) for n in range(len(rule.types), len(types) + 1)]


def matches(rule: Rule, arguments: tuple[Any, ...]) -> bool:
    """Return whether the types of a rule are those of the arguments."""
    annotations = rule.types + rule.optional
    missing = len(arguments) - len(annotations)
    if rule.varargs is not None:
        annotations += (rule.varargs,) * missing
        fits = missing >= 0
    else:
        fits = len(rule.types) <= len(arguments) <= len(annotations)
    return fits and all(map(_is_of, arguments, annotations))


def _is_of(x: Any, annotation: Any) -> bool:
    """Return whether a value is of the type that an annotation means.

    What plum asks makes code for each type, which takes a millisecond; `isinstance` says the same
    of classes and their unions.
    """
    meant = pattern(annotation)
    try:
        return isinstance(x, meant)
    except TypeError:
        return plum.Signature(meant).match((x,))


def are_alike(rule: Rule, other: Rule) -> bool:
    """Return whether two rules have a pattern in common, so that dispatch cannot choose."""
    mine, theirs = rule.types + rule.optional, other.types + other.optional
    if rule.varargs is None and other.varargs is None:
        least = max(len(rule.types), len(other.types))
        if least > min(len(mine), len(theirs)):
            return False
        mine, theirs = mine[:least], theirs[:least]
    elif rule.varargs is None or other.varargs is None or len(mine) != len(theirs):
        return False
    else:
        mine, theirs = (*mine, rule.varargs), (*theirs, other.varargs)
    return all(a is b or pattern(a) == pattern(b) for a, b in zip(mine, theirs, strict=True))


def clash(first: Entry, second: Entry) -> RuleError:
    """Return the error for two rules of one pattern, neither of which overrides the other."""
    (rule, source), (other, late) = first, second
    return Fault.CLASH(
        f"two rules for {other.signature}: one from {rule.place}, one from {other.place}; "
        f"{way_to_choose(source, late)}"
    )


def way_to_choose(first: Registration, second: Registration) -> str:
    """Say how one of two sets that clash is chosen."""
    if first is second:
        return "one rule set has one rule for each pattern: remove one of them"
    ways = [
        f"RULESCORE_DISABLE={source.plugin} switches the plugin of the {number} one off"
        for number, source in (("first", first), ("second", second))
        if source.plugin is not None
    ]
    own = [source.ruleset.name for source in (first, second) if source.plugin is None]
    if own:
        ways.append(f"`register(override=True)` lets the rule set {own[-1]!r} win")
    else:
        ways.append("a rule set of one's own, with `register(override=True)`, wins over both")
    return f"choose one: {'; '.join(ways)}"


def _stub(positions: list[int]) -> Any:
    """Stand for a rule among plum's methods: plum keeps them for ever, and rules must not be."""

    def stub(*xs: Any) -> None:
        return None

    marked: Any = stub
    marked.positions = positions
    return marked


def _ambiguous(rules: list[Rule], arguments: tuple[Any, ...]) -> RuleError:
    types = ", ".join(type(x).__name__ for x in arguments)
    return Fault.AMBIGUOUS(
        f"several rules match {name_of(rules[0].function)} of ({types}) and none is the most "
        f"specific: {'; '.join(f'{rule.signature} from {rule.place}' for rule in rules)}; declare "
        "one for these very types"
    )
