"""Shortest paths: a distance is the sum of the weights along the path that SciPy has chosen."""

import itertools

import numpy as np
from scipy import sparse as sp
from scipy.sparse import csgraph as cg

from rules_scipy.shared.solvers import entries_of, name_of
from rules_scipy.sparse.values import (
    Sparse,
    count,
    filled,
    is_summed,
    located,
    places,
    spread,
    stored,
    summed,
)
from rulescore import Numeric, RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.sparse.csgraph.paths")
Graph = Numeric | list | tuple | Sparse


def as_graph(f, graph):
    """Return a sparse array of the weights of a graph, each place once."""
    if not sp.issparse(graph):
        return cg.csgraph_from_dense(np.array(graph, float))
    if not (graph.format == "coo" or is_summed(graph)):
        raise NotImplementedError(
            f"{name_of(f)} has a rule for graphs that store an edge once: call sum_duplicates() "
            "of the array before"
        )
    return summed(graph)


def by_edges(graph, weights, begin, end, d, directed):
    """Return the cotangent of a graph from those of the edges that were taken.

    Arguments:
        graph, weights: the graph, as it was given and as `as_graph` returns it.
        begin, end: the nodes of the edges.
        d: the cotangents.
        directed: whether an edge goes one way. Else it has the smaller of two weights, and where
            these are equal, each has half.
    """
    n, known = weights.shape[1], places(weights)
    there, back = located(begin * n + end, known), located(end * n + begin, known)
    share = 1.0
    if not directed:
        sizes = np.append(stored(weights), np.inf)  # the last for an edge that is not there
        share = (1 + np.sign(sizes[back] - sizes[there])) / 2
    sums = spread(d * share, there, count(weights))
    if not directed:
        sums = sums + spread(d * (1 - share), back, count(weights))
    found = filled(weights, sums)
    return project(found if sp.issparse(graph) else found.toarray(), graph)


def along(f, graph, solve, directed, whole, unweighted=False):
    """Return distances, and the pullback to the weights of a graph.

    Arguments:
        f: SciPy's function.
        graph: what is given for the graph.
        solve: what returns all that `f` finds: distances, predecessors, and perhaps sources.
        directed: whether an edge goes one way.
        whole: whether `f` returns all of it.
        unweighted: whether all weights are one.
    """
    weights = as_graph(f, graph)
    y = solve(graph)

    def pullback(dy):
        (d,) = entries_of(dy, f, whole, (0,))
        if d is None or unweighted:
            return (None,)
        return (by_edges(graph, weights, *edges_of(y[1], d), directed),)

    return y if whole else y[0], pullback


def edges_of(predecessors, d):
    """Return the ends of the edges of trees of paths, and the sum of the cotangents beyond each.

    Arguments:
        predecessors: the node before each, negative where there is none; a tree in each row.
        d: the cotangents of the distances to the nodes.
    """
    n = predecessors.shape[-1]
    before = np.reshape(predecessors, (-1, n)).astype(np.int64)
    sums = np.where(before < 0, 0.0, np.reshape(d, before.shape))
    depth, further = (before >= 0).astype(int), np.where(before < 0, np.arange(n), before)
    while np.any(more := np.take_along_axis(depth, further, 1)):
        depth, further = depth + more, np.take_along_axis(further, further, 1)
    rows, ends = np.divmod(np.argsort(-depth, axis=None, kind="stable"), n)
    levels = np.searchsorted(-depth[rows, ends], np.arange(-np.max(depth, initial=0), 1))
    for first, last in itertools.pairwise(levels):
        row, end = rows[first:last], ends[first:last]
        np.add.at(sums, (row, before[row, end]), sums[row, end])
    row, end = np.nonzero(before >= 0)
    return before[row, end], end, sums[row, end]


@rule(cg.shortest_path)
def _(csgraph: Graph, method="auto", directed=True, return_predecessors=False, unweighted=False,
      overwrite=False, indices=None):  # fmt: skip
    solve = lambda g: cg.shortest_path(g, method, directed, True, unweighted, False, indices)
    return along(cg.shortest_path, csgraph, solve, directed, return_predecessors, unweighted)


@rule(cg.floyd_warshall)
def _(csgraph: Graph, directed=True, return_predecessors=False, unweighted=False,
      overwrite=False):  # fmt: skip
    solve = lambda g: cg.floyd_warshall(g, directed, True, unweighted, False)
    return along(cg.floyd_warshall, csgraph, solve, directed, return_predecessors, unweighted)


@rule(cg.dijkstra)
def _(csgraph: Graph, directed=True, indices=None, return_predecessors=False, unweighted=False,
      limit=np.inf, min_only=False):  # fmt: skip
    solve = lambda g: cg.dijkstra(g, directed, indices, True, unweighted, limit, min_only)
    return along(cg.dijkstra, csgraph, solve, directed, return_predecessors, unweighted)


def declare(f):
    """Declare the rule of a method that allows negative weights."""

    @rule(f)
    def _(csgraph: Graph, directed=True, indices=None, return_predecessors=False,
          unweighted=False):  # fmt: skip
        solve = lambda g: f(g, directed, indices, True, unweighted)
        return along(f, csgraph, solve, directed, return_predecessors, unweighted)


declare(cg.bellman_ford)
declare(cg.johnson)


@rule(cg.yen)
def _(csgraph: Graph, source: object, sink: object, K: object, *, directed=True,
      return_predecessors=False, unweighted=False):  # fmt: skip
    options = {"directed": directed, "unweighted": unweighted, "return_predecessors": True}
    weights = as_graph(cg.yen, csgraph)
    y = cg.yen(csgraph, source, sink, K, **options)

    def pullback(dy):
        (d,) = entries_of(dy, cg.yen, return_predecessors, (0,))
        if d is None or unweighted:
            return (None,) * 4
        at_sink = np.zeros(y[1].shape)
        at_sink[:, sink] = d
        dgraph = by_edges(csgraph, weights, *edges_of(y[1], at_sink), directed)
        return dgraph, None, None, None

    return y if return_predecessors else y[0], pullback


@rule(cg.construct_dist_matrix)
def _(graph: Graph, predecessors: object, directed=True, null_value=np.inf):
    weights = as_graph(cg.construct_dist_matrix, graph)
    given = graph if sp.issparse(graph) else np.array(graph, float)  # which SciPy writes to
    y = cg.construct_dist_matrix(given, predecessors, directed, null_value)
    before = np.array(predecessors)

    def pullback(dy):
        return by_edges(graph, weights, *edges_of(before, dy), directed), None

    return y, pullback
