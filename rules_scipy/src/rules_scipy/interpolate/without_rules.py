"""What of `scipy.interpolate` has no rule, and why."""

from rules_scipy.shared.reasons import record
from rulescore import RuleSet

rule = RuleSet("rules_scipy")
REASONS = {
    "with `s > 0` it searches for knots": "bisplrep generate_knots make_splprep make_splrep",
}
record(rule, "scipy.interpolate", REASONS)
