"""What of `scipy.sparse.linalg` has no rule, and why."""

from rules_scipy.shared.reasons import record
from rulescore import RuleSet

rule = RuleSet("rules_scipy")
REASONS = {
    "no rule for it is written yet": "funm_multiply_krylov lobpcg spilu",
    "it draws random numbers": "onenormest",
}
record(rule, "scipy.sparse.linalg", REASONS)
