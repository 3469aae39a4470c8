"""The page of rules by plugin, from the rules that are installed."""

import builtins
import sys
from collections import defaultdict
from functools import reduce

from rulescore import plugins

KINDS = {"scalar": "elementwise", "linear": "linear", "general": "general", "constant": "constant"}


def page():
    """Return the page: for each plugin and library, the functions with a rule, by kind."""
    lines = [
        "# Rules by plugin",
        "",
        "The functions that have a rule. The value of a *constant* function carries no gradient.",
        "Rules of private functions, which public ones call, are only counted:",
        "`python -m rulescore list` names them, too.",
        "The pages of [rules_torch](../packages/rules_torch.md) and",
        "[rules_jax](../packages/rules_jax.md) tell of theirs, for PyTorch and JAX.",
        "",
    ]
    for plugin in plugins(all_sections=True):
        rules = [rule for ruleset in plugin.rulesets for rule in ruleset.rules]
        by_library, private = defaultdict(lambda: defaultdict(set)), 0
        for rule in rules:
            name, _, _ = rule.signature.partition("(")
            found = public(name)
            if found is None:
                private += 1
            elif rule.kind in KINDS:
                library, function = found
                by_library[library][rule.kind].add(function)
        lines += [f"## {plugin.name}", ""]
        lines += [f"{len(rules)} rules, {private} of them for private functions.", ""]
        for library, kinds in sorted(by_library.items()):
            lines += [f"### {library}", ""]
            for kind in sorted(kinds):
                names = ", ".join(f"`{name}`" for name in sorted(kinds[kind]))
                lines += [f"*{KINDS[kind].capitalize()}*: {names}", ""]
    return "\n".join([*lines, "Read next: [kinks and edge cases](kinks.md).", ""])


def public(name):
    """Return the library and the name there of a function, or None if it has no public name."""
    parts = name.split(".")
    for cut in range(len(parts), 0, -1):
        if ".".join(parts[:cut]) in sys.modules:
            break
    else:
        return ("builtins", name) if hasattr(builtins, parts[0]) else None
    library = ".".join(part for part in parts[:cut] if not part.startswith("_"))
    inside = parts[cut:]
    is_private = not inside or any(p.startswith("_") and not p.endswith("__") for p in inside)
    if is_private or library not in sys.modules:
        return None
    if library.startswith("rules_"):  # a plugin has its public functions at the top
        library, _, _ = library.partition(".")
    found = reduce(lambda x, p: getattr(x, p, None), inside, sys.modules[library])
    return None if found is None else (library, ".".join(inside))
