"""What of `scipy.optimize` has no rule, and why."""

from rulescore import RuleSet

rule = RuleSet("rules_scipy")

REASONS = {
    "it takes differences of a function in the place of derivatives": "approx_fprime check_grad",
    "it solves for integers": "milp",
}
for reason, names in REASONS.items():
    for name in names.split():
        rule.without_rule(reason, f"scipy.optimize.{name}")
