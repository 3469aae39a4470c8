"""What of `scipy.interpolate` has no rule, and why."""

from rules_scipy.shared.reasons import record
from rulescore import RuleSet

rule = RuleSet("rules_scipy")
REASONS = {
    "no rule for it is written yet": (
        "bisplev bisplrep generate_knots insert make_smoothing_spline"
    ),
    "with `s > 0` it searches for knots": "make_splprep make_splrep",
}
record(rule, "scipy.interpolate", REASONS)
