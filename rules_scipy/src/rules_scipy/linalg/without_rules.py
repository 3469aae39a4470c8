"""What of `scipy.linalg` has no rule, and why."""

from rulescore import RuleSet

rule = RuleSet("rules_scipy")

REASONS = {
    "it updates a decomposition, which can be computed anew by `qr`": (
        "qr_delete qr_insert qr_update"
    ),
    "its derivative needs that of the function that it is given": "funm",
    "it runs SciPy's tests": "test",
}
WITHOUT_RULES = {name: reason for reason, names in REASONS.items() for name in names.split()}
for name, reason in WITHOUT_RULES.items():
    rule.without_rule(reason, f"scipy.linalg.{name}")
