"""Changes of the table: rule sets are registered, declared on and taken out, each time at once."""

import threading
import weakref
from collections.abc import Iterable
from typing import Any

from rulescore._errors import Fault
from rulescore._rule import Rule
from rulescore._table.primitive import Entry, Registration, Rules, are_alike, clash
from rulescore._table.table import entries_at, load, place_in, replace, settle
from rulescore._table.travelling import refuse_by_value

_registered: list[Registration] = []
_count = 0  # of all registrations ever
_lock = threading.RLock()
_functions: weakref.WeakKeyDictionary[Rules, dict[int, Any]] = weakref.WeakKeyDictionary()
"""By identity, the functions that a rule set has had rules for: which code declared them all."""
names_of_plugins: set[str] = set()  # all installed ones, set by _plugins when they are loaded


def register(
    ruleset: Rules,
    plugin: str | None = None,
    override: bool | frozenset[str] = False,
    *,
    foreseen: bool = False,
) -> list[tuple[Entry, Entry]]:
    """Add a rule set to the table, or raise `RuleError` and leave the table as it was.

    Arguments:
        ruleset: the rule set. One of the same name that was registered from the same place is
            taken out.
        plugin: the name of the installed plugin that handed it over, if one did.
        override: which rules its own win over, as `Registration` has it. A set that is
            registered already is registered anew with it, as the last.
        foreseen: whether it is a section that the table waited for.

    Returns the pairs of rules that clash, where the set is a plugin's; of all others one raises.
    """
    global _count
    if not foreseen:
        settle(ruleset.rules)  # before the lock is taken: what it loads is registered too
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
        change.publish(foreseen=foreseen)
        return clashes


def refuse_unknown(names: frozenset[str], of: str) -> None:
    """Raise `RuleError` where nobody has a name that the rule set `of` is to override."""
    load()
    known = {name for r in _registered for name in (r.ruleset.name, r.plugin) if name}
    known |= names_of_plugins
    unknown = sorted(names - known)
    if unknown:
        raise Fault.OVERRIDE(
            f"rule set {of}: there is no plugin and no rule set named {', '.join(unknown)} to "
            f"override; name one of: "
            f"{', '.join(sorted(known - {of})) or 'none is known'}"
        )


def declare(ruleset: Rules, rules: list[Rule]) -> None:
    """Add rules to a rule set, and to the table where the set is registered already.

    Where the code that declares them is run again, they take the place of what it declared before.
    """
    if is_registered(ruleset):
        settle(rules)
    with _lock:
        again = _declared_again(ruleset, rules)
        registration = _registration_of(ruleset)
        if registration is not None:
            change = _Change()
            change.take_out(again, registration)
            if registration.plugin is None:
                change.remove_earlier(registration, rules, whole=False)
            clashes = change.add(registration, rules)
            if clashes:
                raise clash(*clashes[0])
            change.publish()
        if again:
            ruleset.rules[:] = [rule for rule in ruleset.rules if rule not in again]
        ruleset.rules += rules


def _declared_again(ruleset: Rules, rules: list[Rule]) -> list[Rule]:
    """Return the rules of a set that are declared anew, by code that was compiled anew."""
    seen = _functions.setdefault(ruleset, {})
    functions = set()
    for rule in rules:
        number, code = id(rule.function), rule.origin.code
        if seen.setdefault(number, code) is not code:
            seen[number] = None
            functions.add(number)
    if not functions:  # what one code declares, it declares once
        return []
    return [
        known
        for known in ruleset.rules
        if id(known.function) in functions
        and any(
            place_in(rule) == place_in(known)
            and rule.origin.repeats(known.origin) in ("whole", "edited")
            and are_alike(rule, known)
            for rule in rules
        )
    ]


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


def _registration_of(ruleset: Rules) -> Registration | None:
    for known in _registered:
        if known.ruleset is ruleset:
            return known
    return None


def _is_in_force(owner: Any) -> bool:
    """Return whether a set that is no plugin's has rules for a function or a class."""
    return any(
        rule.function is owner or any(annotation is owner for annotation in rule.types)
        for known in _registered
        if known.plugin is None
        for rule in known.ruleset.rules
    )


_WATCHED = ("general", "linear", "constant")


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
            rule.of_plugin = rule.of_plugin or new.plugin is not None
            rule.watches = not rule.of_plugin and rule.kind in _WATCHED
            place = place_in(rule)
            there = self._at(place)
            for other, source in there:
                if not are_alike(rule, other):
                    continue
                pair = (other, source), (rule, new)
                if source is new:
                    raise clash(*pair)
                if not (new.wins_over(source) or source.wins_over(new)):
                    clashes.append(pair)
            self._entries[place] = (*there, (rule, new))
        return clashes

    def remove(self, known: Registration) -> None:
        """Take a rule set out."""
        self._registered.remove(known)
        for rule in known.ruleset.rules:
            place = place_in(rule)
            self._entries[place] = tuple(
                entry for entry in self._at(place) if entry[1] is not known
            )

    def take_out(self, rules: list[Rule], known: Registration) -> None:
        """Take some rules of a set out."""
        for rule in rules:
            place = place_in(rule)
            self._entries[place] = tuple(
                entry for entry in self._at(place) if entry != (rule, known)
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
            if repeated == "whole" and whole:
                self.remove(known)
            elif repeated is not None:
                for rule in rules:
                    place = place_in(rule)
                    self._entries[place] = tuple(
                        (other, source)
                        for other, source in self._at(place)
                        if source is not known
                        or (repeated == "code" and not are_alike(rule, other))
                    )

    def publish(self, *, foreseen: bool = False) -> None:
        """Put a new table in the place of the old one."""
        _registered[:] = self._registered
        replace(self._entries, foreseen=foreseen)
        for place in self._entries:
            for rule, source in entries_at(place):
                if source.plugin is None:
                    refuse_by_value(rule, _is_in_force)

    def _at(self, place: Any) -> tuple[Entry, ...]:
        if place not in self._entries:
            self._entries[place] = entries_at(place)
        return self._entries[place]
