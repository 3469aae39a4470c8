"""A rule that `rules_base` has too, and one that it does not have: for the plugin matrix."""

import math

from rulescore import RuleSet, hookimpl

rule = RuleSet("rules_clashing")
rule.scalar(math.cbrt)(lambda x, out: 1 / (3 * out * out))


def doubled(x):
    """Return twice a number."""
    return 2 * x


rule.scalar(doubled)(lambda x: 2.0)


@hookimpl
def rulescore_rules():
    """Return the rule sets of this plugin."""
    return [rule]
