"""What of `scipy.spatial` has no rule, and why."""

from rulescore import RuleSet

rule = RuleSet("rules_scipy")

REASONS = {
    "it finds the simplex of a point: its value is a step function": "tsearch",
    "no rule for it is written yet": "HalfspaceIntersection SphericalVoronoi",
}
for reason, names in REASONS.items():
    for name in names.split():
        rule.without_rule(reason, f"scipy.spatial.{name}")
