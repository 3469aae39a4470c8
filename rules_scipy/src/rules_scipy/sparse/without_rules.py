"""What of `scipy.sparse` has no rule, and why."""

from rules_scipy.shared.reasons import record
from rulescore import RuleSet

rule = RuleSet("rules_scipy")
rule.without_rule("it reads a file", "scipy.sparse.load_npz")
REASONS = {
    "no rule for it is written yet": "find",
}
record(rule, "scipy.sparse", REASONS)
