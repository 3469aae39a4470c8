"""The page of rules by plugin, from the rules that are installed."""

from collections import defaultdict

from rulescore import plugins

KINDS = {"scalar": "elementwise", "linear": "linear", "general": "general", "constant": "constant"}


def page():
    """Return the page: for each plugin and library, the functions with a rule, by kind."""
    lines = [
        "# Rules by plugin",
        "",
        "The functions that have a rule, as `python -m rulescore list` names them. The value of a",
        "*constant* function carries no gradient.",
        "",
    ]
    for plugin in plugins(all_sections=True):
        rules = [rule for ruleset in plugin.rulesets for rule in ruleset.rules]
        lines += [f"## {plugin.name}", "", f"{len(rules)} rules.", ""]
        by_library = defaultdict(lambda: defaultdict(set))
        for rule in rules:
            name, _, _ = rule.signature.partition("(")
            library = name.rpartition(".")[0] or "builtins"
            if rule.kind in KINDS:
                by_library[library][rule.kind].add(name.rpartition(".")[2])
        for library, kinds in sorted(by_library.items()):
            lines += [f"### {library}", ""]
            for kind in sorted(kinds):
                names = ", ".join(f"`{name}`" for name in sorted(kinds[kind]))
                lines += [f"*{KINDS[kind].capitalize()}*: {names}", ""]
    return "\n".join([*lines, "Read next: [kinks and edge cases](kinks.md).", ""])
