"""What of `scipy.spatial` has no rule, and why."""

from rules_scipy.shared.reasons import record
from rulescore import RuleSet

rule = RuleSet("rules_scipy")
REASONS = {
    "it finds the simplex of a point: its value is a step function": "tsearch",
}
record(rule, "scipy.spatial", REASONS)
