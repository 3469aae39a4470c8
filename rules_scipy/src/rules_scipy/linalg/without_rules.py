"""What of `scipy.linalg` has no rule, and why."""

from rules_scipy.shared.reasons import record
from rulescore import RuleSet

rule = RuleSet("rules_scipy")
REASONS = {
    "it updates a decomposition: compute that of the changed matrix by `qr`, which has a rule": (
        "qr_delete qr_insert qr_update"
    ),
    "its derivative needs that of the function that it is given: use `expm`, `logm`, `sqrtm` or"
    " `fractional_matrix_power`, which have rules; of a symmetric matrix write `w, v = eigh(a)` and"
    " `(v * f(w)) @ v.T`": "funm",
    "it runs SciPy's tests: call it outside of what is differentiated": "test",
}
record(rule, "scipy.linalg", REASONS)
