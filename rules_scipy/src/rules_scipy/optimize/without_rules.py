"""What of `scipy.optimize` has no rule, and why."""

from rules_scipy.shared.reasons import record
from rulescore import RuleSet

rule = RuleSet("rules_scipy")
REASONS = {
    "it takes differences of a function: differentiate the function itself": (
        "approx_fprime check_grad"
    ),
    "it solves for integers, and its solution is a step function: give it `stop_gradient(...)` of"
    " its arguments, which says that the steps are meant as constants; or solve for real numbers by"
    " `linprog`, which has a rule": "milp",
}
record(rule, "scipy.optimize", REASONS)
