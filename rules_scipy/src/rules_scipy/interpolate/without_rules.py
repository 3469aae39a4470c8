"""What of `scipy.interpolate` has no rule, and why."""

from rules_scipy.shared.reasons import record
from rulescore import RuleSet

rule = RuleSet("rules_scipy")
REASONS = {
    "it searches for knots: take them from `make_splrep(x, stop_gradient(y), s=s).t`, and give them"
    " to `make_lsq_spline`, which has a rule; or use `make_smoothing_spline` with `lam`": (
        "generate_knots make_splprep make_splrep"
    ),
    "it searches for knots: use `RBFInterpolator` with `smoothing`, which has a rule": (
        "bisplrep SmoothBivariateSpline SmoothSphereBivariateSpline"
    ),
}
record(rule, "scipy.interpolate", REASONS)
