"""What of `scipy.optimize` has no rule, and why."""

from rules_scipy.shared.reasons import record
from rulescore import RuleSet

rule = RuleSet("rules_scipy")
REASONS = {
    "it takes differences of a function in the place of derivatives": "approx_fprime check_grad",
    "it solves for integers": "milp",
}
record(rule, "scipy.optimize", REASONS)
