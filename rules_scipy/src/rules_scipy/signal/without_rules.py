"""What of `scipy.signal` has no rule, and why."""

from rules_scipy.shared.reasons import record
from rulescore import RuleSet

rule = RuleSet("rules_scipy")
REASONS = {
    "no rule for it is written yet": "remez sepfir2d spline_filter symiirorder1 symiirorder2",
    "it runs SciPy's tests": "test",
}
record(rule, "scipy.signal", REASONS)
