"""Running the examples of a plugin: which rules fail, and which no example reaches."""

import importlib.util
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rulescore._naming import name_of
from rulescore._plugins.plugin import Plugin
from rulescore._rule import Rule
from rulescore._table.resolution import find_batched, find_frule, find_rule
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


_REFRESH = 0.1  # seconds from one drawing of the progress to the next


def run_examples(plugin: Plugin, started: Callable[[Any], None] = lambda f: None) -> Report:
    """Check all examples of a plugin's rule sets, and call `started(f)` before each."""
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
            started(f)
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


@contextmanager
def shown_progress() -> Iterator[Callable[[Plugin], Callable[[Any], None]]]:
    """Show on stderr which example is being checked: in a terminal, where rich is installed.

    The body is given a function that makes `started` of `run_examples` for a plugin. What is shown
    is gone at the end.
    """
    if importlib.util.find_spec("rich") is None:
        yield lambda plugin: lambda f: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    now = TextColumn("{task.fields[now]}", markup=False)
    with Progress(
        *(*columns, TimeElapsedColumn(), now),
        console=console,
        transient=True,
        disable=not console.is_terminal,
        auto_refresh=False,  # a thread would be in the way of the checks of memory
        redirect_stdout=False,
        redirect_stderr=False,
    ) as progress:

        def of(plugin: Plugin) -> Callable[[Any], None]:
            if progress.disable:
                return lambda f: None
            task = progress.add_task(plugin.name, total=_count(plugin), now="")
            drawn = -np.inf

            def started(f: Any) -> None:
                nonlocal drawn
                progress.update(task, advance=1, now=name_of(f))
                if time.monotonic() - drawn > _REFRESH:
                    progress.refresh()
                    drawn = time.monotonic()

            return started

        yield of


def _count(plugin: Plugin) -> int:
    count = 0
    for ruleset in plugin.rulesets:
        try:
            count += len(ruleset.examples)
        except Exception:
            continue  # `run_examples` reports it
    return count


def _told(f: Any, xs: tuple[Any, ...], options: dict[str, Any]) -> str:
    given = [_short(x) for x in xs] + [f"{name}={_short(x)}" for name, x in options.items()]
    return f"{getattr(f, '__qualname__', type(f).__name__)}({', '.join(given)})"


def _short(x: Any) -> str:
    if isinstance(x, np.ndarray) and x.size > 3:
        return f"{x.dtype}{list(x.shape)}"
    text = " ".join(repr(x).split())
    return text if len(text) <= 40 else text[:37] + "..."
