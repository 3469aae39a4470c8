"""Finding rule plugins: distributions with an entry point in the group `rulescore`."""

import importlib
import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from importlib.metadata import entry_points
from typing import Any

from rulescore._declaring.ruleset import RuleSet
from rulescore._errors import RuleError
from rulescore._plugins.entry import GROUP, load_one, load_sections, told
from rulescore._plugins.plugin import Plugin, sorted_out, with_deferred
from rulescore._plugins.sections import is_imported, lock
from rulescore._plugins.switches import tell_of_broken, warn_of_clashes, warn_of_unknown
from rulescore._table import changes, table
from rulescore._table.deferred import Part, functions_of
from rulescore._table.primitive import Entry

_plugins: tuple[Plugin, ...] | None = None
_loading = False
_awaited: frozenset[str] = frozenset()  # of each section that waits, a library not imported yet


def plugins(*, all_sections: bool = False) -> tuple[Plugin, ...]:
    """Return the installed rule plugins, loading them if that has not happened yet.

    Arguments:
        all_sections: whether to import the libraries that sections of plugins wait for, where they
            are installed, and so load all rules.

    A plugin that cannot be loaded is reported by one warning, and the others are loaded;
    `RULESCORE_STRICT=1` raises instead. `RULESCORE_DISABLE=name,name` (or `*`) switches plugins
    off, by the name of the entry point or of the distribution. Two plugins with a rule for the
    same function and types are reported by one warning, and calls of that function raise
    `RuleError`.
    """
    global _plugins
    _load()
    if any(part.is_loaded for plugin in _plugins or () for part in plugin.deferred):
        with lock:
            _plugins = tuple(map(sorted_out, _plugins or ()))
    if all_sections:
        waiting = [section for plugin in _plugins or () for section in plugin.waiting]
        for name in dict.fromkeys(name for section in waiting for name in section.modules):
            try:
                importlib.import_module(name)
            except ImportError:  # it is not installed, and nobody can call its functions
                continue
            except (Exception, SystemExit) as error:
                tell_of_broken(f"the library {name}", error)
        _wake()
        return tuple(map(with_deferred, _plugins or ()))
    return _plugins or ()


def _load() -> None:
    with lock:
        if _plugins is None and not _loading:
            _take_in(_installed)
            table.load_plugins = None


def _installed() -> tuple[Plugin, ...]:
    """Load all plugins."""
    found = sorted(entry_points(group=GROUP), key=lambda point: point.name)
    warn_of_unknown(found)
    loaded = tuple(load_one(point) for point in found)
    changes.names_of_plugins = {plugin.name for plugin in loaded}
    return loaded


def _wake() -> bool:
    """Load the sections whose libraries have been imported meanwhile; return whether any was."""
    modules = sys.modules
    table.quiet = len(modules)
    if modules.keys().isdisjoint(_awaited):  # this is asked at each look-up that finds nothing
        return False
    table.quiet = -1  # the module is there, and may not have been imported to its end
    with lock:
        known = _plugins or ()
        if _loading or not any(s.is_due() for plugin in known for s in plugin.waiting):
            _await(known)
            return False
        _take_in(lambda: tuple(map(load_sections, known)))
    return True


def _take_in(load: Callable[[], tuple[Plugin, ...]]) -> None:
    """Load plugins, or more of them, and put their rules into the table: all of them, or none.

    A plugin that asks for a rule while it is loaded finds what is there so far.
    """
    global _plugins, _loading
    before, done = _plugins or (), list[RuleSet]()
    _loading = True
    try:
        loaded = _registered(load(), done, [one for plugin in before for one in plugin.loaded])
        _defer(loaded, before)
    except BaseException:
        for ruleset in done:
            changes.unregister(ruleset)
        raise
    finally:
        _loading = False
    _plugins = loaded
    _await(loaded)


def _await(loaded: tuple[Plugin, ...]) -> None:
    """Note which libraries the sections of plugins wait for."""
    global _awaited
    waiting = [section for plugin in loaded for section in plugin.waiting]
    _awaited = frozenset(
        next((name for name in section.modules if not is_imported(name)), section.modules[-1])
        for section in waiting
    )
    table.load_due = _wake if waiting else None
    table.quiet = -1


def _defer(loaded: tuple[Plugin, ...], before: tuple[Plugin, ...]) -> None:
    """Have the table wait for deferred sections that it did not wait for before.

    Where others have rules for the same functions, they are loaded at once, as they may clash.
    """
    known = {id(part) for plugin in before for part in plugin.deferred}
    found: list[tuple[Any, Part]] = []
    for plugin in loaded:
        for part in plugin.deferred:
            if id(part) in known:
                continue
            functions = list(functions_of(part.section.functions))
            there = [entry for f in functions for entry in table.entries_at(table.place_of(f))]
            if any(source.plugin != plugin.name for _, source in there):
                part.load()
            else:
                found += [(f, part) for f in functions]
    if found:
        table.defer(found)


def _registered(
    loaded: tuple[Plugin, ...], done: list[RuleSet], known: Iterable[RuleSet]
) -> tuple[Plugin, ...]:
    """Put the rule sets of plugins into the table, but for `known`; return those that went in."""
    clashes: list[tuple[Entry, Entry]] = []
    found: list[Plugin] = []
    earlier = set(map(id, known))
    for plugin in loaded:
        kept, broken = [], plugin.error
        for ruleset in plugin.loaded:
            try:
                if id(ruleset) not in earlier and not changes.is_registered(ruleset):
                    clashes += changes.register(ruleset, plugin.name)
                    done.append(ruleset)
                kept.append(ruleset)
            except RuleError as error:  # it clashes with itself
                broken = error
                tell_of_broken(f"a rule set of {told(plugin)}", error)
        found.append(replace(plugin, loaded=tuple(kept), error=broken))
    warn_of_clashes(clashes)
    return tuple(found)


table.load_plugins = _load
