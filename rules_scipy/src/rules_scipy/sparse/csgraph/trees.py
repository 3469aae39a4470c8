"""Trees in graphs, and graphs in other forms: some or all edges, with their weights."""

import numpy as np
from scipy import sparse as sp
from scipy.sparse import csgraph as cg

from rules_scipy.sparse.csgraph.paths import Graph, as_graph, by_edges
from rules_scipy.sparse.values import Sparse, coordinates, filled, moved, sampled, stored
from rulescore import RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.sparse.csgraph.trees")


def some_edges(f, graph, y, directed):
    """Return the pullback of a function whose value `y` has some of the edges of a graph."""
    weights = as_graph(f, graph)
    begin, end = coordinates(y)

    def pullback(dy):
        return by_edges(graph, weights, begin, end, stored(moved(dy, y)), directed)

    return pullback


@rule(cg.minimum_spanning_tree)
def _(csgraph: Graph, overwrite=False):
    if sp.issparse(csgraph) and not np.all(stored(csgraph)):
        raise NotImplementedError(
            "scipy.sparse.csgraph.minimum_spanning_tree has no rule for edges of weight 0, which "
            "it leaves out of the tree: add a small number to all weights"
        )
    y = cg.minimum_spanning_tree(csgraph)
    pullback = some_edges(cg.minimum_spanning_tree, csgraph, y, True)
    return y, lambda dy: (pullback(dy),)


def of_tree(f, graph, given, directed):
    """Return the tree that a function makes from a node, or from predecessors; its pullback."""
    y = f(graph, given, directed)
    pullback = some_edges(f, graph, y, directed)
    return y, lambda dy: (pullback(dy), None)


@rule(cg.breadth_first_tree)
def _(csgraph: Graph, i_start: object, directed=True):
    return of_tree(cg.breadth_first_tree, csgraph, i_start, directed)


@rule(cg.depth_first_tree)
def _(csgraph: Graph, i_start: object, directed=True):
    return of_tree(cg.depth_first_tree, csgraph, i_start, directed)


@rule(cg.reconstruct_path)
def _(csgraph: Graph, predecessors: object, directed=True):
    return of_tree(cg.reconstruct_path, csgraph, predecessors, directed)


@rule(cg.csgraph_from_dense)
def _(graph: Graph, null_value=0, nan_null=True, infinity_null=True):
    y = cg.csgraph_from_dense(graph, null_value, nan_null, infinity_null)
    return y, lambda dy: (project(moved(dy, y).toarray(), graph),)


@rule(cg.csgraph_to_dense)
def _(csgraph: Sparse, null_value=0):
    as_graph(cg.csgraph_to_dense, csgraph)
    y = cg.csgraph_to_dense(csgraph, null_value)
    return y, lambda dy: (filled(csgraph, sampled(dy, csgraph)),)
