"""What is known of an installed plugin."""

from dataclasses import dataclass, field, replace

from rulescore._declaring.ruleset import RuleSet
from rulescore._plugins.sections import DeferredSection, Section


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
    loaded: tuple[RuleSet, ...] = field(default=(), repr=False)  # of SciPy there are a hundred
    disabled: bool = False
    error: BaseException | None = field(default=None, compare=False)
    waiting: tuple[Section, ...] = field(default=(), repr=False)
    deferred: tuple[DeferredSection, ...] = field(default=(), repr=False)

    @property
    def rulesets(self) -> tuple[RuleSet, ...]:
        """Return the rule sets that it handed over, with those that are loaded for this."""
        return with_deferred(self).loaded

    @property
    def packages(self) -> set[str]:
        """Return the names of the packages that its rules are written in."""
        modules = {str(getattr(r.body, "__module__", "")) for s in self.loaded for r in s.rules}
        modules |= {part.section.rules for part in self.deferred}
        return {name.partition(".")[0] for name in modules if name}


def with_deferred(plugin: Plugin) -> Plugin:
    """Return the plugin with its deferred sections loaded."""
    for part in plugin.deferred:
        part.load()
    return sorted_out(plugin)


def sorted_out(plugin: Plugin) -> Plugin:
    """Return the plugin with those of its deferred sections that were loaded among the others."""
    done = [part for part in plugin.deferred if part.is_loaded]
    return replace(
        plugin,
        loaded=(*plugin.loaded, *[ruleset for part in done for ruleset in part.rulesets]),
        error=next((part.error for part in done if part.error), plugin.error),
        deferred=tuple([part for part in plugin.deferred if part not in done]),
    )
