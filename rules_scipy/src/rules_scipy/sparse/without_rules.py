"""What of `scipy.sparse` has no rule, and why."""

from rulescore import RuleSet

rule = RuleSet("rules_scipy")
rule.without_rule("it reads a file: read it outside of a gradient", "scipy.sparse.load_npz")
