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
    "no rule for it is written yet": (
        "bellman_ford breadth_first_tree construct_dist_matrix csgraph_from_dense"
        " csgraph_from_masked csgraph_masked_from_dense csgraph_to_dense csgraph_to_masked"
        " depth_first_tree dijkstra floyd_warshall johnson minimum_spanning_tree"
        " reconstruct_path shortest_path yen"
    ),
}
record(rule, "scipy.sparse.csgraph", REASONS)
