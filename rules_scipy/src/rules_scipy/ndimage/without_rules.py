"""What of `scipy.ndimage` gives truth values, labels or places, and what has no rule, and why."""

from scipy import ndimage as nd

from rules_scipy.shared.reasons import record
from rulescore import RuleSet

rule = RuleSet("rules_scipy")
rule.constant(
    *(nd.binary_closing, nd.binary_dilation, nd.binary_erosion, nd.binary_fill_holes),
    *(nd.binary_hit_or_miss, nd.binary_opening, nd.binary_propagation, nd.iterate_structure),
    *(nd.find_objects, nd.generate_binary_structure, nd.label, nd.value_indices),
    *(nd.maximum_position, nd.minimum_position, nd.watershed_ift),
)

REASONS = {
    "it looks at which entries are zero, and its value is a step function of the image: give it"
    " `stop_gradient(...)` of the image, which says that the steps are meant as constants; or use"
    " the distances of points, which are smooth, by `scipy.spatial.distance.cdist`": (
        "distance_transform_bf distance_transform_cdt distance_transform_edt"
    ),
}
record(rule, "scipy.ndimage", REASONS)
