"""What of `scipy.sparse.csgraph` is a choice, which no gradient passes, and what has no rule."""

from scipy.sparse import csgraph as cg

from rules_scipy.shared.reasons import record
from rulescore import RuleSet

rule = RuleSet("rules_scipy")
rule.constant(
    cg.breadth_first_order,
    cg.connected_components,
    cg.depth_first_order,
    cg.maximum_bipartite_matching,
    cg.maximum_flow,  # of integers
    cg.min_weight_full_bipartite_matching,
    cg.reverse_cuthill_mckee,
    cg.structural_rank,
)
REASONS = {
    "a masked array carries no gradient: use the dense graph, or `csgraph_from_dense`": (
        "csgraph_from_masked csgraph_masked_from_dense csgraph_to_masked"
    ),
}
record(rule, "scipy.sparse.csgraph", REASONS)
