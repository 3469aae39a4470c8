"""The rule set of this plugin, which the rule modules fill."""

from rulescore import RuleSet

rule = RuleSet("rules_scipy_special")
