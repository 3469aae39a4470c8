"""What of `scipy.linalg` has no rule, and why."""

from rules_scipy.shared.reasons import record
from rulescore import RuleSet

rule = RuleSet("rules_scipy")
REASONS = {
    "it updates a decomposition, which can be computed anew by `qr`": (
        "qr_delete qr_insert qr_update"
    ),
    "its derivative needs that of the function that it is given": "funm",
    "it runs SciPy's tests": "test",
}
record(rule, "scipy.linalg", REASONS)
