"""What of `scipy.special` has no rule, and why."""

from rules_scipy.shared.reasons import record
from rulescore import RuleSet

rule = RuleSet("rules_scipy")
REASONS = {
    "SciPy's values of it are not accurate enough to be differentiated: let its arguments be"
    " constant by `stop_gradient(...)`, or declare a rule from values of higher precision:": (
        "pro_rad2 pro_rad2_cv obl_rad2 obl_rad2_cv"
    ),
    "its derivative is not known to SciPy, and has no formula by other functions: let its arguments"
    " be constant by `stop_gradient(...)`, or declare a rule that takes differences:": (
        "ellip_harm ellip_harm_2 ellip_normal mathieu_even_coef mathieu_odd_coef"
    ),
    "SciPy has dropped it: use `sph_harm_y`, which has a rule": "sph_harm",
    "it sets or tells how errors are handled, or runs SciPy's tests: call it outside of what is"
    " differentiated": "seterr geterr test",
}
record(rule, "scipy.special", REASONS)
