"""Calls that the rules of `rules_scipy.sparse.csgraph.paths` are checked with."""

import numpy as np
from scipy import sparse as sp
from scipy.sparse import csgraph as cg

from rules_scipy.sparse.csgraph.paths import rule

COMPLETE = np.array([[0.0, 1.0, 4.0, 7.5], [1.3, 0.0, 2.0, 5.0], [3.7, 2.2, 0.0, 1.5],
                     [9.0, 4.4, 1.1, 0.0]]) + 0.1 * np.eye(4)  # fmt: skip
ENDS = np.array([[0, 0, 1, 1, 2, 3, 3, 4], [1, 2, 2, 3, 3, 0, 4, 0]], np.int32)
DATA = np.array([1.0, 3.5, 2.0, 6.0, 1.5, 0.7, 2.5, 0.9])
SPARSE = sp.csr_array((DATA, tuple(ENDS)), shape=(5, 5))
NEGATIVE = sp.csr_array((DATA - 2.5 * (ENDS[1] == 2) * (ENDS[0] == 1), tuple(ENDS)), shape=(5, 5))
TWICE = sp.coo_array((np.array([1.0, 0.5, 2.0]), ([0, 0, 1], [1, 1, 0])), shape=(2, 2))

for f in (cg.shortest_path, cg.dijkstra, cg.bellman_ford, cg.johnson):
    rule.example(f, COMPLETE, indices=1)
    rule.example(f, COMPLETE, directed=False, indices=[3, 0])
    rule.example(f, SPARSE, indices=3)
    rule.example(f, SPARSE.tocsc(), directed=False, indices=[3, 0])
for f in (cg.shortest_path, cg.bellman_ford, cg.johnson):
    rule.example(f, NEGATIVE, indices=[3, 0])
for f in (cg.dijkstra, cg.bellman_ford, cg.johnson):
    rule.example(f, TWICE, directed=False)
for method in ("FW", "D", "BF", "J"):
    rule.example(cg.shortest_path, SPARSE.astype(np.float32), method)
rule.example(cg.floyd_warshall, SPARSE, directed=False, overwrite=True)
rule.example(cg.shortest_path, SPARSE, unweighted=True)
rule.example(cg.dijkstra, COMPLETE, indices=[0, 3], min_only=True)
rule.example(cg.yen, COMPLETE, 0, 3, 4)
rule.example(cg.yen, SPARSE, 0, 4, 3)
