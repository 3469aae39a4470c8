"""Sections of plugins: rules that are imported when their library has been, or when asked for."""

import importlib
import sys
import threading
from dataclasses import dataclass, field
from typing import Any

from rulescore._declaring.ruleset import RuleSet
from rulescore._errors import Fault, RuleError
from rulescore._naming import describe, name_of
from rulescore._plugins.switches import tell_of_broken, warn_of_clashes
from rulescore._table import changes, table
from rulescore._table.deferred import functions_of

lock = threading.RLock()  # of all that is loaded


@dataclass(frozen=True)
class Section:
    """Name the rules of a plugin for a library, to be imported when the library has been.

    Arguments:
        libraries: the module that the rules are for, such as `"scipy.special"`, or several, all of
            which have to be imported.
        rules: the module that holds the rules, in a rule set named `rule`; a rule set of another
            name is written `"package.module:name"`.
        functions: the full names of all functions that the rules are for, such as
            `"scipy.special.erf"`. Then they are imported when a rule for one of these is looked up.
    """

    libraries: str | tuple[str, ...]
    rules: str
    functions: tuple[str, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        names: Any = self.modules
        given = (*names, self.rules) if isinstance(names, tuple) and names else (None,)
        if not all(isinstance(name, str) and name.strip() == name != "" for name in given):
            raise Fault.PLUGIN(
                f"{self!r}: give the name of a library, or a tuple of names, and the name of the "
                "module of rules"
            )

    @property
    def modules(self) -> tuple[str, ...]:
        """Return the names of the libraries, however many they are."""
        return (self.libraries,) if isinstance(self.libraries, str) else self.libraries

    def is_due(self) -> bool:
        """Return whether all libraries have been imported, to their end."""
        return all(map(is_imported, self.modules))


@dataclass(eq=False)
class DeferredSection:
    """Hold a section that is loaded when a rule for one of its functions is looked up.

    Attributes:
        section: the section.
        plugin: the name of its plugin, and what messages call it.
        rulesets: its rule set, once that is loaded.
        error: what went wrong when it was loaded, or `None`.
    """

    section: Section
    plugin: tuple[str, str]
    rulesets: tuple[RuleSet, ...] = ()
    error: BaseException | None = None
    is_loaded: bool = False

    def load(self) -> None:
        """Load the rules, where that has not happened, so that nobody sees a part of them."""
        with lock:
            if self.is_loaded:
                return  # where it is asked by what it loads, it finds what is there so far
            self.is_loaded = True
            try:
                self._load()
            except BaseException:
                self.is_loaded = False
                raise

    def _load(self) -> None:
        name, told = self.plugin
        try:
            ruleset = rules_of(self.section)
            self._refuse_others(ruleset)
            clashes = changes.register(ruleset, name, foreseen=True)
        except (Exception, SystemExit) as error:
            tell_of_broken(f"the section {self.section.rules} of {told}", error)
            self.error = error
            return
        try:
            warn_of_clashes(clashes)
        except RuleError:
            changes.unregister(ruleset)
            raise
        self.rulesets = (ruleset,)

    def _refuse_others(self, ruleset: RuleSet) -> None:
        known = set(map(table.place_of, functions_of(self.section.functions)))
        for rule in ruleset.rules:
            if rule.kind in ("instance", "method") or table.place_of(rule.function) not in known:
                raise Fault.PLUGIN(
                    f"{self.section!r} does not name {name_of(rule.function)} among its functions, "
                    "and has a rule for it, which would be found or not, as others were looked up: "
                    "name all of them"
                )


def rules_of(section: Section) -> RuleSet:
    """Import the rules of a section."""
    module, _, name = section.rules.partition(":")
    found = getattr(importlib.import_module(module), name or "rule", None)
    if not isinstance(found, RuleSet):
        raise Fault.PLUGIN(f"{section.rules} names no RuleSet, but {describe(found)}: name one")
    found.refuse_waiting()
    return found


def is_imported(name: str) -> bool:
    """Return whether a module has been imported, and is not just being so, or put off.

    A module that is imported lazily (`importlib.util.LazyLoader`) has another class until it is
    used, and reading its attributes in the usual way is using it.
    """
    module = sys.modules.get(name)
    if module is None:
        return False
    try:
        specification = object.__getattribute__(module, "__spec__")
    except AttributeError:
        specification = getattr(module, "__spec__", None)
    put_off = getattr(specification, "loader_state", None)
    if isinstance(put_off, dict) and put_off.get("__class__", type(module)) is not type(module):
        return False
    return not getattr(specification, "_initializing", False)
