"""Rules of `rules_scipy.sparse.csgraph.paths`."""

import numpy as np
import pytest
from scipy import sparse as sp
from scipy.sparse import csgraph as cg

from rulescore.testing import check_rrule
from zygote_lite import NoRuleError, gradient

W = np.array([[0.0, 1.0, 4.0], [1.3, 0.0, 2.0], [3.7, 2.2, 0.0]])


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


def test_a_distance_is_the_sum_of_the_weights_of_its_path():
    f = lambda w: cg.shortest_path(w, directed=False, indices=0)[2] ** 2
    for _ in range(3):
        (dw,) = gradient(f, W)
        np.testing.assert_array_equal(dw, [[0, 6, 0], [0, 0, 6], [0, 0, 0]])


def test_equal_weights_of_both_ways_have_half_each():
    both = W + W.T
    (dw,) = gradient(lambda w: cg.dijkstra(w, directed=False)[0, 1], both)
    np.testing.assert_array_equal(dw, [[0, 0.5, 0], [0.5, 0, 0], [0, 0, 0]])


def test_nodes_that_are_not_reached_are_left_out():
    def f(data):
        graph = sp.csr_array((data, ([0, 1, 3], [1, 2, 2])), shape=(4, 4))
        found = cg.johnson(graph, indices=0)
        return np.sum(np.where(np.isinf(found), 0.0, found) * np.array([1.0, 10.0, 100.0, 7.0]))

    np.testing.assert_array_equal(gradient(f, np.array([1.0, 2.0, 3.0]))[0], [110, 100, 0])


@pytest.mark.parametrize("directed", [True, False])
def test_distances_by_given_predecessors(directed):
    before = cg.floyd_warshall(W, directed, return_predecessors=True)[1]
    weights = np.arange(9.0).reshape(3, 3)

    def f(w):  # SciPy writes to a dense graph
        return np.sum(weights * cg.construct_dist_matrix(w.copy(), before, directed=directed) ** 2)

    steps = 1e-5 * np.eye(9).reshape(9, 3, 3) * (W != 0)
    expected = np.reshape([(f(W + e) - f(W - e)) / 2e-5 for e in steps], (3, 3))
    np.testing.assert_allclose(gradient(f, W)[0], expected, atol=1e-7)


def test_predecessors_carry_no_gradient_and_the_graph_is_not_overwritten():
    kept = W.copy()

    def f(w):
        found, before = cg.shortest_path(w, "FW", overwrite=True, return_predecessors=True)
        return found[2, 0] * np.sum(before == 1)

    expected = np.zeros((3, 3))
    expected[2, 1] = expected[1, 0] = 4.0
    np.testing.assert_array_equal(gradient(f, kept)[0], expected)
    np.testing.assert_array_equal(kept, W)


def test_an_edge_that_is_stored_twice_is_refused():
    def f(data):
        graph = sp.csr_array((data, np.array([1, 1]), np.array([0, 2, 2])), shape=(2, 2))
        return cg.dijkstra(graph)[0, 1]

    with pytest.raises(NoRuleError, match="sum_duplicates"):
        gradient(f, np.array([1.0, 2.0]))
