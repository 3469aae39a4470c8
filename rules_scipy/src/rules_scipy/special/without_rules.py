"""What of `scipy.special` has no rule, and why."""

from rules_scipy.shared.reasons import record
from rulescore import RuleSet

rule = RuleSet("rules_scipy")
REASONS = {
    "no derivative by its degrees of freedom is known, nor one that could be found without it": (
        "chndtridf ncfdtridfn ncfdtridfd nctdtridf"
    ),
    "SciPy's values of it are not accurate enough to be differentiated": (
        "pro_rad2 pro_rad2_cv obl_rad2 obl_rad2_cv"
    ),
    "its derivative is not known to SciPy, and has no formula by other functions": (
        "ellip_harm ellip_harm_2 ellip_normal mathieu_even_coef mathieu_odd_coef"
    ),
    "SciPy has dropped it: `sph_harm_y` takes its place": "sph_harm",
    "it sets or tells how errors are handled, or runs SciPy's tests": "seterr geterr test",
}
record(rule, "scipy.special", REASONS)
