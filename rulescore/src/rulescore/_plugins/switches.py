"""What the environment says of plugins: which are switched off, and whether a fault is an error.

`RULESCORE_DISABLE=name,name` (or `*`) switches plugins off. What goes wrong with a plugin is told
by one warning, and the others go on; `RULESCORE_STRICT=1` raises instead.
"""

import os
import re
import warnings
from importlib.metadata import EntryPoint

from rulescore._errors import Fault
from rulescore._table.primitive import Entry, way_to_choose


def is_disabled(name: str, distribution: str) -> bool:
    """Return whether `RULESCORE_DISABLE` switches off a plugin, by its name or distribution."""
    disabled = set(map(_normal, os.environ.get("RULESCORE_DISABLE", "").split(",")))
    return not disabled.isdisjoint({"*", _normal(name), _normal(distribution)})


def warn_of_unknown(points: list[EntryPoint]) -> None:
    """Warn of names in RULESCORE_DISABLE that switch nothing off: a typo would go unseen."""
    given = os.environ.get("RULESCORE_DISABLE", "").split(",")
    if given == [""]:
        return  # the name of a distribution is read from a file
    known = {"", "*"}
    for point in points:
        known |= {_normal(point.name), _normal(point.dist.name if point.dist else "")}
    unknown = [name.strip() for name in given if _normal(name) not in known]
    if unknown:
        installed = ", ".join(point.name for point in points) or "none"
        warnings.warn(
            f"RULESCORE_DISABLE names no installed rule plugin by {', '.join(unknown)}; installed "
            f"are: {installed}",
            stacklevel=2,
        )


def tell_of_broken(what: str, error: BaseException) -> None:
    """Warn of what could not be loaded."""
    if _is_strict():
        raise error
    warnings.warn(
        f"{what} could not be loaded, and its rules are missing: {type(error).__name__}: {error}",
        stacklevel=2,
    )


def warn_of_clashes(clashes: list[tuple[Entry, Entry]]) -> None:
    """Warn once of each two plugins that have rules for the same functions and types."""
    by_pair: dict[tuple[str, str], list[tuple[Entry, Entry]]] = {}
    for pair in clashes:
        first, second = pair
        if first[1].plugin and second[1].plugin:  # which came first may depend on the look-ups
            first, second = sorted(pair, key=_told)
        by_pair.setdefault((_told(first), _told(second)), []).append((first, second))
    for (one, other), pairs in by_pair.items():
        (rule, source), (late, last) = pairs[0]
        more = sorted({rule.signature for _, (rule, _) in pairs[1:]} - {late.signature})
        told = (
            f"the rules of {one} and {other} clash, and calls of these functions raise: two rules "
            f"for {late.signature}: one from {rule.place}, one from {late.place}"
            + (f"; and for {', '.join(more)}" if more else "")
            + f"; {way_to_choose(source, last)}"
        )
        if _is_strict():
            raise Fault.CLASH(told)
        warnings.warn(told, stacklevel=2)


def _told(entry: Entry) -> str:
    return entry[1].plugin or entry[1].ruleset.name


def _is_strict() -> bool:
    return os.environ.get("RULESCORE_STRICT", "") not in ("", "0")


def _normal(name: str) -> str:
    return re.sub("[-_.]+", "_", name.strip()).lower()
