"""Running the examples of a plugin: which rules fail, and which no example reaches."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rulescore._plugins import Plugin
from rulescore._rule import Rule
from rulescore._table import find_batched, find_frule, find_rule
from rulescore.testing import CheckError, check_batched, check_rrule


@dataclass
class Report:
    """Hold what the examples of a plugin have shown.

    Attributes:
        plugin: the name of its entry point.
        checked: how many examples were run.
        constants: how many of its rules are constants, which need no example.
        failures: the calls that failed, with what was wrong.
        gaps: the rules that no example reaches.
    """

    plugin: str
    checked: int = 0
    constants: int = 0
    failures: list[tuple[str, str]] = field(default_factory=list)
    gaps: list[Rule] = field(default_factory=list)


def run_examples(plugin: Plugin) -> Report:
    """Check all examples of a plugin's rule sets."""
    report = Report(plugin.name)
    if plugin.error is not None and not plugin.disabled:
        report.failures.append((plugin.name, f"the plugin is broken: {plugin.error}"))
    reached: set[int] = set()
    for ruleset in plugin.rulesets:
        try:
            examples = ruleset.examples
        except Exception as error:
            told = f"its examples cannot be imported: {type(error).__name__}: {error}"
            report.failures.append((plugin.name, told))
            continue
        for f, xs, options in examples:
            report.checked += 1
            given = {name: x for name, x in options.items() if not name.startswith("check_")}
            reached.add(id(find_rule(f, *xs, ad=check_rrule, **given)))
            reached.add(id(find_frule(f, *xs, **given)))
            reached.add(id(find_batched(f, *xs, **given)))
            try:
                check_rrule(f, *xs, check_plugin=ruleset.name, **options)
                check_batched(f, *xs, **given)
            except CheckError as error:
                report.failures.append((_told(f, xs, options), str(error)))
            except Exception as error:  # the checker's own failure must not hide the rest
                told = f"{type(error).__name__}: {error}"
                report.failures.append((_told(f, xs, options), told))
    rules = [rule for ruleset in plugin.rulesets for rule in ruleset.rules]
    report.constants = sum(rule.kind == "constant" for rule in rules)
    report.gaps = [
        r for r in rules if r.kind not in ("constant", "method") and id(r) not in reached
    ]
    return report


def _told(f: Any, xs: tuple[Any, ...], options: dict[str, Any]) -> str:
    given = [_short(x) for x in xs] + [f"{name}={_short(x)}" for name, x in options.items()]
    return f"{getattr(f, '__qualname__', type(f).__name__)}({', '.join(given)})"


def _short(x: Any) -> str:
    if isinstance(x, np.ndarray) and x.size > 3:
        return f"{x.dtype}{list(x.shape)}"
    text = " ".join(repr(x).split())
    return text if len(text) <= 40 else text[:37] + "..."
