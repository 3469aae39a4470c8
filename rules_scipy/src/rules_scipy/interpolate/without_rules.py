"""What of `scipy.interpolate` has no rule, and why."""

from rulescore import RuleSet

rule = RuleSet("rules_scipy")

REASONS = {
    "no rule for it is written yet": (
        "bisplev bisplrep generate_knots insert make_smoothing_spline splprep"
    ),
    "with `s > 0` it searches for knots": "make_splprep make_splrep",
}
for reason, names in REASONS.items():
    for name in names.split():
        rule.without_rule(reason, f"scipy.interpolate.{name}")
