"""What of `scipy.signal` has no rule, and why."""

from rulescore import RuleSet

rule = RuleSet("rules_scipy")

REASONS = {
    "no rule for it is written yet": "remez sepfir2d spline_filter symiirorder1 symiirorder2",
    "it runs SciPy's tests": "test",
}
for reason, names in REASONS.items():
    for name in names.split():
        rule.without_rule(reason, f"scipy.signal.{name}")
