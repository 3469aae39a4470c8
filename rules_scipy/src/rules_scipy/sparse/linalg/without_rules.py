"""What of `scipy.sparse.linalg` has no rule, and why."""

from rules_scipy.shared.reasons import record
from rulescore import RuleSet

rule = RuleSet("rules_scipy")
REASONS = {
    "it drops small entries: use `splu`, or the factors as a preconditioner alone": "spilu",
    "it draws random numbers: use `norm(A, 1)`, the exact value": "onenormest",
}
record(rule, "scipy.sparse.linalg", REASONS)
