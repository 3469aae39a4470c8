"""The page that says how each rule of each plugin goes forward; as a script, write it anew.

python -m tests.rulescore.forward_table
"""

import importlib
from collections import defaultdict
from pathlib import Path

import numpy as np
import scipy

from rules_scipy import SECTIONS
from rulescore import plugins
from rulescore._naming import name_of
from website.rules import public

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/reference/forward.md"
WAYS = {
    "hand": "Forward rules by hand",
    "line": "From the line that declares the rule (scalar and linear rules)",
    "transposed": "Transposed: the pullback is transposed by the AD",
}
PRIVATE = "private"
HEAD = """# Forward rules

`frule`, and the dual code of `jvp`, need a forward rule. Scalar and linear rules give it from the
line that declares them; `@rule.forward` declares one by hand. Where there is neither, `jvp` runs on
the tape, which transposes the pullback: the result is the same, slower. A star means that for some
types of arguments (lists, say) the pullback is transposed. Functions through which no derivative
passes are left out. *Private* functions are called by public ones. `python -m
tests.rulescore.forward_table` writes this page.
"""


def versions():
    """Return the line of the page about the libraries that it was written with."""
    return f"With NumPy {np.__version__} and SciPy {scipy.__version__}."


def ways():
    """Return for each plugin the way of each function, by its name."""
    for section in SECTIONS:  # whose rules come when it is imported
        importlib.import_module(section)
    found = {}
    for plugin in plugins():
        kinds = defaultdict(set)
        for ruleset in plugin.rulesets:
            for rule in ruleset.rules:
                kinds[name_of(rule.function)].add(rule.kind)
        found[plugin.name] = {n: way_of(known) for n, known in kinds.items() if way_of(known)}
    return found


def way_of(kinds):
    """Return which way a function goes by the kinds of its rules; a star where not always."""
    reverse_only = kinds & {"general", "instance"}
    if "forward" in kinds:
        return "hand"
    if kinds & {"scalar", "linear"}:
        return "line*" if reverse_only else "line"
    return "transposed" if reverse_only else ""


def page(found):
    """Return the text of the page."""
    parts = [HEAD, versions()]
    for plugin, functions in sorted(found.items()):
        if not functions:  # rules of the functions of another library, which it differentiates
            continue
        parts.append(f"## {plugin}")
        for way, title in WAYS.items():
            names = sorted(n for n, w in functions.items() if w[:4] == way[:4])
            if names:
                stars = {n: "*" * functions[n].endswith("*") for n in names}
                parts += [f"### {title} ({len(names)})", "\n".join(by_library(names, stars))]
    parts.append("Read next: [how to declare a rule](../rules/script.md).")
    return "\n\n".join(part.rstrip() for part in parts) + "\n"


def by_library(names, stars):
    """Yield an item of a list for each library, and one for functions without a public name."""
    libraries = defaultdict(list)
    for name in names:
        library, short = public(name) or (PRIVATE, name)
        libraries[library].append(f"`{short}`{stars[name]}")
    private = {PRIVATE: libraries.pop(PRIVATE)} if PRIVATE in libraries else {}
    for library, found in [*sorted(libraries.items()), *private.items()]:
        yield f"- *{library}*: {', '.join(found)}"


if __name__ == "__main__":
    PAGE.write_text(page(ways()), encoding="utf-8")
