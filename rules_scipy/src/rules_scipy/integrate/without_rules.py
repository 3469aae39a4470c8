"""What of `scipy.integrate` has no rule, and why."""

from rules_scipy.shared.reasons import record
from rulescore import RuleSet

rule = RuleSet("rules_scipy")
REASONS = {
    "it draws random numbers: use `nquad`, or the mean of the function at drawn points": "qmc_quad",
}
record(rule, "scipy.integrate", REASONS)
