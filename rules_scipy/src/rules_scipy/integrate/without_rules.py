"""What of `scipy.integrate` has no rule, and why."""

from rules_scipy.shared.reasons import record
from rulescore import RuleSet

rule = RuleSet("rules_scipy")
REASONS = {
    "it draws random numbers": "qmc_quad",
}
record(rule, "scipy.integrate", REASONS)
