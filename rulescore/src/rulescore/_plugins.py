"""Finding rule plugins: distributions with an entry point in the group `rulescore`."""

import os
import re
import threading
import warnings
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import pluggy

from rulescore import _table
from rulescore._rule import RuleError
from rulescore._ruleset import RuleSet

GROUP = "rulescore"
hookimpl = pluggy.HookimplMarker(GROUP)
_hookspec = pluggy.HookspecMarker(GROUP)


class _Specification:
    """What a plugin may implement."""

    @_hookspec
    def rulescore_rules(self) -> list[RuleSet]:  # type: ignore[empty-body]
        """Return the rule sets of this plugin."""


@dataclass(frozen=True)
class Plugin:
    """Describe an installed rule plugin.

    Attributes:
        name: the name of its entry point.
        distribution, version: the distribution that brought it.
        rulesets: the rule sets that it handed over; none where it is disabled or broken.
        disabled: whether `RULESCORE_DISABLE` switched it off.
        error: what went wrong when it was loaded, or `None`.
    """

    name: str
    distribution: str
    version: str
    rulesets: tuple[RuleSet, ...] = ()
    disabled: bool = False
    error: BaseException | None = field(default=None, compare=False)


_plugins: tuple[Plugin, ...] | None = None
_loading = False
_lock = threading.RLock()
manager = pluggy.PluginManager(GROUP)
manager.add_hookspecs(_Specification)


def plugins() -> tuple[Plugin, ...]:
    """Return the installed rule plugins, loading them if that has not happened yet.

    A plugin that cannot be loaded is reported by one warning, and the others are loaded;
    `RULESCORE_STRICT=1` raises instead. `RULESCORE_DISABLE=name,name` (or `*`) switches plugins
    off, by the name of the entry point or of the distribution. Two plugins with a rule for the
    same function and types raise `RuleError`.
    """
    _load()
    return _plugins or ()


def _load() -> None:
    global _plugins, _loading
    with _lock:
        if _plugins is not None or _loading:
            return  # a plugin that asks for a rule while it is loaded finds what is there so far
        _loading = True
        done: list[RuleSet] = []
        try:
            found = sorted(entry_points(group=GROUP), key=lambda point: point.name)
            _warn_of_unknown(found)
            loaded = tuple(_load_one(point) for point in found)
            for plugin in loaded:
                for ruleset in plugin.rulesets:
                    if not _table.is_registered(ruleset):
                        _table.register(ruleset, plugin.name)
                        done.append(ruleset)
        except BaseException:
            for ruleset in done:
                _table.unregister(ruleset)
            raise
        finally:
            _loading = False
        _plugins = loaded
        _table._load = None


def _load_one(point: EntryPoint) -> Plugin:
    distribution = point.dist.name if point.dist else "unknown"
    version = point.dist.version if point.dist else "unknown"
    if _is_disabled(point.name, distribution):
        return Plugin(point.name, distribution, version, disabled=True)
    name = f"{distribution}:{point.name}"
    try:
        rulesets = _rulesets_of(point, name)
    except (Exception, SystemExit) as error:
        manager.unregister(name=name)
        if os.environ.get("RULESCORE_STRICT", "") not in ("", "0"):
            raise
        warnings.warn(
            f"the rule plugin {point.name!r} of {distribution} {version} could not be loaded, and "
            f"its rules are missing: {type(error).__name__}: {error}",
            stacklevel=2,
        )
        return Plugin(point.name, distribution, version, error=error)
    return Plugin(point.name, distribution, version, rulesets)


def _rulesets_of(point: EntryPoint, name: str) -> tuple[RuleSet, ...]:
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
                raise RuleError(f"its hook returned {returned!r} where a list of RuleSet was due")
            given += returned
            break
    else:
        raise RuleError("it implements no hook `rulescore_rules`, marked with `rulescore.hookimpl`")
    for ruleset in given:
        if not isinstance(ruleset, RuleSet):
            raise RuleError(f"its hook returned {ruleset!r} where a RuleSet was due")
        ruleset.refuse_waiting()
    return tuple(given)


def _warn_of_unknown(points: list[EntryPoint]) -> None:
    """Warn of names in RULESCORE_DISABLE that switch nothing off: a typo would go unseen."""
    known = {"", "*"}
    for point in points:
        known |= {_normal(point.name), _normal(point.dist.name if point.dist else "")}
    given = os.environ.get("RULESCORE_DISABLE", "").split(",")
    unknown = [name.strip() for name in given if _normal(name) not in known]
    if unknown:
        installed = ", ".join(point.name for point in points) or "none"
        warnings.warn(
            f"RULESCORE_DISABLE names no installed rule plugin by {', '.join(unknown)}; installed "
            f"are: {installed}",
            stacklevel=2,
        )


def _is_disabled(name: str, distribution: str) -> bool:
    disabled = set(map(_normal, os.environ.get("RULESCORE_DISABLE", "").split(",")))
    return not disabled.isdisjoint({"*", _normal(name), _normal(distribution)})


def _normal(name: str) -> str:
    return re.sub("[-_.]+", "_", name.strip()).lower()


_table._load = _load
