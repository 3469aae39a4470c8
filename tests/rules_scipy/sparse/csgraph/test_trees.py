"""Rules of `rules_scipy.sparse.csgraph.trees`."""

import numpy as np
import pytest
from scipy import sparse as sp
from scipy.sparse import csgraph as cg

from rulescore.testing import check_rrule
from zygote_lite import NoRuleError, gradient, hessian, jvp

ENDS = [0, 0, 1, 2], [1, 2, 2, 3]


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


def test_the_length_of_a_spanning_tree():
    def f(data):
        graph = sp.coo_array((data, ENDS), shape=(4, 4))
        return cg.minimum_spanning_tree(graph).sum() ** 2

    for _ in range(3):
        (found,) = gradient(f, np.array([1.0, 5.0, 2.0, 3.0]))
        np.testing.assert_array_equal(found, [12, 0, 12, 12])


def test_the_start_of_a_tree_is_given_by_name():
    def f(data):
        graph = sp.csr_array((data, ENDS), shape=(4, 4))
        return cg.breadth_first_tree(graph, i_start=1, directed=False).sum() ** 2

    (found,) = gradient(f, np.array([1.0, 5.0, 2.0, 3.0]))
    np.testing.assert_array_equal(found, [12, 0, 12, 12])


def test_an_edge_of_weight_0_is_refused():
    def f(data):
        return cg.minimum_spanning_tree(sp.csr_array((data, ENDS), shape=(4, 4))).sum()

    with pytest.raises(NoRuleError, match="weight 0"):
        gradient(f, np.array([0.0, 5.0, 2.0, 3.0]))


def test_a_masked_graph_is_refused_with_what_to_do():
    w = np.array([[0.0, 1.0], [2.0, 0.0]])
    with pytest.raises(NoRuleError, match="use the dense graph, or `csgraph_from_dense`"):
        gradient(lambda w: cg.csgraph_masked_from_dense(w).sum(), w)


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csr_matrix])
def test_derivatives_of_both_kinds_go_through_csgraph_to_dense(kind):
    weights, v = np.array([1.0, 2.0, 3.0, -0.5]), np.array([0.5, -1.0, 2.0, 1.0])

    def f(x):
        graph = kind(sp.coo_array((x, ENDS), shape=(4, 4)))
        return np.sum(cg.csgraph_to_dense(graph, null_value=-1.0) ** 3)

    for _ in range(3):
        np.testing.assert_allclose(gradient(f, weights)[0], 3.0 * weights**2)
        np.testing.assert_allclose(jvp(f, (weights,), (v,))[1], 3.0 * weights**2 @ v)
        np.testing.assert_allclose(hessian(f)(weights), np.diag(6.0 * weights))
