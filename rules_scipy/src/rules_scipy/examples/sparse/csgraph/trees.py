"""Calls that the rules of `rules_scipy.sparse.csgraph.trees` are checked with."""

from scipy.sparse import csgraph as cg

from rules_scipy.examples.sparse.csgraph.paths import COMPLETE, SPARSE, TWICE
from rules_scipy.sparse.csgraph.trees import rule

_, BEFORE = cg.dijkstra(COMPLETE, indices=1, return_predecessors=True)

for graph in (COMPLETE, SPARSE, TWICE, SPARSE.tocsc()):
    rule.example(cg.minimum_spanning_tree, graph)
    for directed in (True, False):
        rule.example(cg.breadth_first_tree, graph, 1, directed=directed)
        rule.example(cg.depth_first_tree, graph, 0, directed)
rule.example(cg.minimum_spanning_tree, COMPLETE, overwrite=True)
rule.example(cg.reconstruct_path, COMPLETE, BEFORE)
rule.example(cg.reconstruct_path, COMPLETE, BEFORE, directed=False)
rule.example(cg.csgraph_from_dense, COMPLETE, null_value=1.5)
rule.example(cg.csgraph_to_dense, SPARSE, null_value=-1.0)
