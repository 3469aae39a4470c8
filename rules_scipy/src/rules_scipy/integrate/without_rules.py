"""What of `scipy.integrate` has no rule, and why."""

from rulescore import RuleSet

rule = RuleSet("rules_scipy")

REASONS = {
    "it draws random numbers": "qmc_quad",
    "no rule for it is written yet": "solve_bvp",
}
for reason, names in REASONS.items():
    for name in names.split():
        rule.without_rule(reason, f"scipy.integrate.{name}")
