"""One entry point: the hook of a plugin, and what it hands over."""

from dataclasses import replace
from importlib.metadata import EntryPoint
from typing import Any, Protocol

import pluggy

from rulescore._declaring.ruleset import RuleSet
from rulescore._errors import Fault
from rulescore._naming import describe
from rulescore._plugins.plugin import Plugin
from rulescore._plugins.sections import DeferredSection, Section, rules_of
from rulescore._plugins.switches import is_disabled, tell_of_broken

GROUP = "rulescore"
hookimpl = pluggy.HookimplMarker(GROUP)
"""Mark the hook of a plugin: a function `rulescore_rules` without arguments, in the module that the
entry point names. It returns a list of `RuleSet` and `Section`; anything else is a `RuleError`."""
_hookspec = pluggy.HookspecMarker(GROUP)


class _Specification(Protocol):
    """What a plugin may implement."""

    @_hookspec
    def rulescore_rules(self) -> list[RuleSet | Section]:
        """Return the rule sets of this plugin, or sections of it that wait for their library."""


manager = pluggy.PluginManager(GROUP)
manager.add_hookspecs(_Specification)


def load_one(point: EntryPoint) -> Plugin:
    """Return the plugin of an entry point, with what it handed over, or with what went wrong."""
    distribution, version = _said_by(point)
    plugin = Plugin(point.name, distribution, version)
    if is_disabled(point.name, distribution):
        return replace(plugin, disabled=True)
    name = f"{distribution}:{point.name}"
    try:
        given = _handed_over(point, name)
    except (Exception, SystemExit) as error:
        manager.unregister(name=name)
        tell_of_broken(told(plugin), error)
        return replace(plugin, error=error)
    rulesets = tuple(part for part in given if isinstance(part, RuleSet))
    waiting = tuple(part for part in given if isinstance(part, Section))
    return load_sections(replace(plugin, loaded=rulesets, waiting=waiting))


def _said_by(point: EntryPoint) -> tuple[str, str]:
    """Return the name and the version of the distribution of an entry point."""
    text = point.dist and point.dist.read_text("METADATA")  # `metadata` would parse it as a mail
    lines = (text or "").partition("\n\n")[0].splitlines()
    said = {key: value.strip() for key, _, value in (line.partition(":") for line in lines)}
    if "Name" in said and "Version" in said:
        return said["Name"], said["Version"]
    about: Any = point.dist.metadata if point.dist else {}
    return about.get("Name", "unknown"), about.get("Version", "unknown")


def load_sections(plugin: Plugin) -> Plugin:
    """Return the plugin with those of its sections loaded whose libraries have been imported."""
    rulesets, error = list(plugin.loaded), plugin.error
    waiting: list[Section] = []
    deferred = list(plugin.deferred)
    for section in plugin.waiting:
        if not section.is_due():
            waiting.append(section)
            continue
        if section.functions:
            deferred.append(DeferredSection(section, (plugin.name, told(plugin))))
            continue
        try:
            rulesets.append(rules_of(section))
        except (Exception, SystemExit) as caught:
            error = caught
            libraries = ", ".join(section.modules)
            tell_of_broken(f"the section for {libraries} of {told(plugin)}", caught)
    return replace(
        plugin,
        loaded=tuple(rulesets),
        error=error,
        waiting=tuple(waiting),
        deferred=tuple(deferred),
    )


def told(plugin: Plugin) -> str:
    """Return what messages call a plugin."""
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
                    f"its hook returned {describe(returned)}: return a list of RuleSet"
                )
            given += returned
            break
    else:
        raise Fault.PLUGIN(
            "it implements no hook: define `rulescore_rules`, marked with `rulescore.hookimpl`"
        )
    for part in given:
        if isinstance(part, RuleSet):
            part.refuse_waiting()
        elif not isinstance(part, Section):
            raise Fault.PLUGIN(
                f"its hook returned {describe(part)} in its list: return RuleSets, or Sections"
            )
    return given
