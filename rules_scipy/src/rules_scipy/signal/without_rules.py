"""What of `scipy.signal` has no rule, and why."""

from rules_scipy.shared.reasons import record
from rulescore import RuleSet

rule = RuleSet("rules_scipy")
REASONS = {
    "it finds the ripples of equal height by an exchange of points, which SciPy does not return:"
    " design the filter by `firls`, which has a rule": "remez",
    "it runs SciPy's tests: call it outside of what is differentiated": "test",
}
record(rule, "scipy.signal", REASONS)
