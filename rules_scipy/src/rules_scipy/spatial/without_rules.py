"""What of `scipy.spatial` has no rule, and why."""

from rules_scipy.shared.reasons import record
from rulescore import RuleSet

rule = RuleSet("rules_scipy")
REASONS = {
    "it finds the simplex of a point, and its value is a step function: give it"
    " `stop_gradient(...)` of the points, which says that the steps are meant as constants": (
        "tsearch"
    ),
}
record(rule, "scipy.spatial", REASONS)
