"""Finding rule plugins: distributions with an entry point in the group `rulescore`."""

import importlib
import sys
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Protocol

import pluggy

from rulescore import _changes, _table
from rulescore._declaring.ruleset import RuleSet
from rulescore._deferred import Part, functions_of
from rulescore._errors import Fault, RuleError
from rulescore._naming import name_of
from rulescore._primitive import Entry
from rulescore._switches import is_disabled, tell_of_broken, warn_of_clashes, warn_of_unknown

GROUP = "rulescore"
hookimpl = pluggy.HookimplMarker(GROUP)
_hookspec = pluggy.HookspecMarker(GROUP)


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
        return all(map(_is_imported, self.modules))


class _Specification(Protocol):
    """What a plugin may implement."""

    @_hookspec
    def rulescore_rules(self) -> list[RuleSet | Section]:
        """Return the rule sets of this plugin, or sections of it that wait for their library."""


@dataclass(frozen=True)
class Plugin:
    """Describe an installed rule plugin.

    Attributes:
        name: the name of its entry point.
        distribution, version: the distribution that brought it.
        loaded: the rule sets that have been loaded; none where it is disabled or broken.
        disabled: whether `RULESCORE_DISABLE` switched it off.
        error: what went wrong when it was loaded, or `None`.
        waiting: its sections whose libraries have not been imported.
        deferred: its sections that name their functions, none of which has been looked up.
    """

    name: str
    distribution: str
    version: str
    loaded: tuple[RuleSet, ...] = ()
    disabled: bool = False
    error: BaseException | None = field(default=None, compare=False)
    waiting: tuple[Section, ...] = ()
    deferred: tuple["_Deferred", ...] = ()

    @property
    def rulesets(self) -> tuple[RuleSet, ...]:
        """Return the rule sets that it handed over, with those that are loaded for this."""
        return _with_deferred(self).loaded

    @property
    def packages(self) -> set[str]:
        """Return the names of the packages that its rules are written in."""
        modules = {str(getattr(r.body, "__module__", "")) for s in self.loaded for r in s.rules}
        modules |= {part.section.rules for part in self.deferred}
        return {name.partition(".")[0] for name in modules if name}


@dataclass(eq=False)
class _Deferred:
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
        with _lock:
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
            ruleset = _rules_of(self.section)
            self._refuse_others(ruleset)
            clashes = _changes.register(ruleset, name, foreseen=True)
        except (Exception, SystemExit) as error:
            tell_of_broken(f"the section {self.section.rules} of {told}", error)
            self.error = error
            return
        try:
            warn_of_clashes(clashes)
        except RuleError:
            _changes.unregister(ruleset)
            raise
        self.rulesets = (ruleset,)

    def _refuse_others(self, ruleset: RuleSet) -> None:
        known = set(map(_table.place_of, functions_of(self.section.functions)))
        for rule in ruleset.rules:
            if rule.kind in ("instance", "method") or _table.place_of(rule.function) not in known:
                raise Fault.PLUGIN(
                    f"{self.section!r} does not name {name_of(rule.function)} among its functions, "
                    "and has a rule for it: it would be found or not, as others were looked up"
                )


_plugins: tuple[Plugin, ...] | None = None
_loading = False
_awaited: frozenset[str] = frozenset()  # of each section that waits, a library not imported yet
_lock = threading.RLock()
manager = pluggy.PluginManager(GROUP)
manager.add_hookspecs(_Specification)


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
        with _lock:
            _plugins = tuple(map(_sorted_out, _plugins or ()))
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
        return tuple(map(_with_deferred, _plugins or ()))
    return _plugins or ()


def _with_deferred(plugin: Plugin) -> Plugin:
    """Return the plugin with its deferred sections loaded."""
    for part in plugin.deferred:
        part.load()
    return _sorted_out(plugin)


def _sorted_out(plugin: Plugin) -> Plugin:
    """Return the plugin with those of its deferred sections that were loaded among the others."""
    done = [part for part in plugin.deferred if part.is_loaded]
    return replace(
        plugin,
        loaded=(*plugin.loaded, *[ruleset for part in done for ruleset in part.rulesets]),
        error=next((part.error for part in done if part.error), plugin.error),
        deferred=tuple([part for part in plugin.deferred if part not in done]),
    )


def _load() -> None:
    global _plugins, _loading
    with _lock:
        if _plugins is not None or _loading:
            return  # a plugin that asks for a rule while it is loaded finds what is there so far
        _loading = True
        done: list[RuleSet] = []
        try:
            found = sorted(entry_points(group=GROUP), key=lambda point: point.name)
            warn_of_unknown(found)
            loaded = tuple(_load_one(point) for point in found)
            _changes.names_of_plugins = {plugin.name for plugin in loaded}
            loaded = _registered(loaded, done)
            _defer(loaded)
        except BaseException:
            for ruleset in done:
                _changes.unregister(ruleset)
            raise
        finally:
            _loading = False
        _plugins = loaded
        _table._load = None
        _await(loaded)


def _wake() -> bool:
    """Load the sections whose libraries have been imported meanwhile; return whether any was."""
    global _plugins, _loading
    modules = sys.modules
    _table._quiet = len(modules)
    if modules.keys().isdisjoint(_awaited):  # this is asked at each look-up that finds nothing
        return False
    _table._quiet = -1  # the module is there, and may not have been imported to its end
    with _lock:
        due = [s for plugin in _plugins or () for s in plugin.waiting if s.is_due()]
        if not due or _loading:
            _await(_plugins or ())
            return False
        _loading = True
        done: list[RuleSet] = []
        try:
            known = [ruleset for plugin in _plugins or () for ruleset in plugin.loaded]
            loaded = _registered(tuple(map(_load_sections, _plugins or ())), done, known)
            _defer(loaded, _plugins or ())
        except BaseException:
            for ruleset in done:
                _changes.unregister(ruleset)
            raise
        finally:
            _loading = False
        _plugins = loaded
        _await(loaded)
    return True


def _await(loaded: tuple[Plugin, ...]) -> None:
    """Note which libraries the sections of plugins wait for."""
    global _awaited
    waiting = [section for plugin in loaded for section in plugin.waiting]
    _awaited = frozenset(
        next((name for name in section.modules if not _is_imported(name)), section.modules[-1])
        for section in waiting
    )
    _table._wake = _wake if waiting else None
    _table._quiet = -1


def _defer(loaded: tuple[Plugin, ...], before: tuple[Plugin, ...] = ()) -> None:
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
            there = [entry for f in functions for entry in _table.entries_at(_table.place_of(f))]
            if any(source.plugin != plugin.name for _, source in there):
                part.load()
            else:
                found += [(f, part) for f in functions]
    if found:
        _table.defer(found)


def _registered(
    loaded: tuple[Plugin, ...], done: list[RuleSet], known: Iterable[RuleSet] = ()
) -> tuple[Plugin, ...]:
    """Put the rule sets of plugins into the table, but for `known`; return those that went in."""
    clashes: list[tuple[Entry, Entry]] = []
    found: list[Plugin] = []
    earlier = set(map(id, known))
    for plugin in loaded:
        kept, broken = [], plugin.error
        for ruleset in plugin.loaded:
            try:
                if id(ruleset) not in earlier and not _changes.is_registered(ruleset):
                    clashes += _changes.register(ruleset, plugin.name)
                    done.append(ruleset)
                kept.append(ruleset)
            except RuleError as error:  # it clashes with itself
                broken = error
                tell_of_broken(f"a rule set of {_told(plugin)}", error)
        found.append(replace(plugin, loaded=tuple(kept), error=broken))
    warn_of_clashes(clashes)
    return tuple(found)


def _load_one(point: EntryPoint) -> Plugin:
    distribution, version = _said_by(point)
    plugin = Plugin(point.name, distribution, version)
    if is_disabled(point.name, distribution):
        return replace(plugin, disabled=True)
    name = f"{distribution}:{point.name}"
    try:
        given = _handed_over(point, name)
    except (Exception, SystemExit) as error:
        manager.unregister(name=name)
        tell_of_broken(_told(plugin), error)
        return replace(plugin, error=error)
    rulesets = tuple(part for part in given if isinstance(part, RuleSet))
    waiting = tuple(part for part in given if isinstance(part, Section))
    return _load_sections(replace(plugin, loaded=rulesets, waiting=waiting))


def _said_by(point: EntryPoint) -> tuple[str, str]:
    """Return the name and the version of the distribution of an entry point."""
    text = point.dist and point.dist.read_text("METADATA")  # `metadata` would parse it as a mail
    lines = (text or "").partition("\n\n")[0].splitlines()
    said = {key: value.strip() for key, _, value in (line.partition(":") for line in lines)}
    if "Name" in said and "Version" in said:
        return said["Name"], said["Version"]
    about: Any = point.dist.metadata if point.dist else {}
    return about.get("Name", "unknown"), about.get("Version", "unknown")


def _load_sections(plugin: Plugin) -> Plugin:
    """Return the plugin with those of its sections loaded whose libraries have been imported."""
    rulesets, error = list(plugin.loaded), plugin.error
    waiting: list[Section] = []
    deferred = list(plugin.deferred)
    for section in plugin.waiting:
        if not section.is_due():
            waiting.append(section)
            continue
        if section.functions:
            deferred.append(_Deferred(section, (plugin.name, _told(plugin))))
            continue
        try:
            rulesets.append(_rules_of(section))
        except (Exception, SystemExit) as caught:
            error = caught
            libraries = ", ".join(section.modules)
            tell_of_broken(f"the section for {libraries} of {_told(plugin)}", caught)
    return replace(
        plugin,
        loaded=tuple(rulesets),
        error=error,
        waiting=tuple(waiting),
        deferred=tuple(deferred),
    )


def _told(plugin: Plugin) -> str:
    return f"the rule plugin {plugin.name!r} of {plugin.distribution} {plugin.version}"


def _handed_over(point: EntryPoint, name: str) -> list[RuleSet | Section]:
    """Load one plugin and call its hook, so that what goes wrong is known to be its own."""
    plugin = point.load()
    if not manager.is_registered(plugin):
        manager.register(plugin, name=name)
    manager.check_pending()
    given: list[Any] = []
    for implementation in manager.hook.rulescore_rules.get_hookimpls():
        if implementation.plugin is plugin:
            returned: Any = implementation.function()
            if not isinstance(returned, list | tuple):
                raise Fault.PLUGIN(
                    f"its hook returned {returned!r} where a list of RuleSet was due"
                )
            given += returned
            break
    else:
        raise Fault.PLUGIN(
            "it implements no hook `rulescore_rules`, marked with `rulescore.hookimpl`"
        )
    for part in given:
        if isinstance(part, RuleSet):
            part.refuse_waiting()
        elif not isinstance(part, Section):
            raise Fault.PLUGIN(f"its hook returned {part!r} where a RuleSet was due")
    return given


def _rules_of(section: Section) -> RuleSet:
    """Import the rules of a section."""
    module, _, name = section.rules.partition(":")
    found = getattr(importlib.import_module(module), name or "rule", None)
    if not isinstance(found, RuleSet):
        raise Fault.PLUGIN(f"{section.rules} names no RuleSet, but {found!r}")
    found.refuse_waiting()
    return found


def _is_imported(name: str) -> bool:
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


_table._load = _load


# what an installed plugin is for, its sections tell; this is for those that are not
_PUBLISHED = {
    "rules_base": ("builtins", "cmath", "math", "numpy", "operator", "_operator", "statistics"),
    "rules_nnlib": ("rules_nnlib",),
    "rules_torch": ("torch",),
    "rules_jax": ("jax",),
    "rules_scipy": (
        *("scipy.fft", "scipy.fftpack", "scipy.integrate", "scipy.interpolate", "scipy.linalg"),
        *("scipy.ndimage", "scipy.optimize", "scipy.signal", "scipy.sparse", "scipy.spatial"),
        *("scipy.special", "scipy.stats"),
    ),
}


def provider_of(module: str) -> str | None:
    """Return the published plugin with rules for a module, if it is missing or switched off.

    Arguments:
        module: the name of a module, such as `scipy.special` or a part of it.
    """
    for name, modules in _PUBLISHED.items():
        if any(module == known or module.startswith(f"{known}.") for known in modules):
            given = [p for p in plugins() if p.name == name]
            is_there = any(p.deferred or any(map(_changes.is_registered, p.loaded)) for p in given)
            return None if is_there else name
    return None


def reason_of(name: str) -> str | None:
    """Return why a function has no rule, if a plugin in use says so.

    Arguments:
        name: the full name of the function, such as `numpy.copyto`.
    """
    given = [ruleset.reasons for plugin in plugins() for ruleset in plugin.rulesets]
    return next((why[name] for why in given if name in why), None)
