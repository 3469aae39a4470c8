"""Matrix powers and chains against finite differences."""

from itertools import pairwise

import numpy as np
import pytest

from rules_base.numpy.linalg import chains
from rulescore import rrule

EXAMPLES = [pytest.param(*e, id=f"{e[0].__name__}-{i}") for i, e in enumerate(chains.rule.examples)]


@pytest.mark.parametrize(("f", "xs", "options"), EXAMPLES)
def test_example(check, f, xs, options):
    check(f, *xs, **options)


@pytest.mark.parametrize("n", range(-6, 14))
def test_powers_against_the_sum_over_all_factors(n):
    rng = np.random.default_rng(0)
    a, dy = rng.normal(size=(2, 3, 3)) / 2
    _, back = rrule(np.linalg.matrix_power, a, n)
    power = np.linalg.matrix_power
    terms = [power(a.T, k) @ dy @ power(a.T, n - 1 - k) for k in range(n)]
    terms += [-power(a.T, -k) @ dy @ power(a.T, n + k - 1) for k in range(1, 1 - n)]
    da, none = back(dy)[1:]
    expected = sum(terms, np.zeros((3, 3)))
    np.testing.assert_allclose(da, expected, rtol=1e-8, atol=1e-8 * np.abs(expected).max())
    assert none is None


@pytest.mark.parametrize("dtype", [int, np.float32])
def test_powers_keep_the_kind(dtype):
    _, back = rrule(np.linalg.matrix_power, np.array([[2, 1], [1, 3]], dtype=dtype), 5)
    expected = np.float64 if dtype is int else dtype
    assert back(np.ones((2, 2), dtype=expected))[1].dtype == expected


def test_order_of_the_products_in_a_chain():
    sizes = [2, 30, 4, 25, 3, 20]
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=shape) for shape in pairwise(sizes)]
    order = chains.cheapest_order(sizes)

    def cost(tree):
        if isinstance(tree, int):
            return 0, sizes[tree], sizes[tree + 1]
        (left, n, k), (right, _, m) = cost(tree[0]), cost(tree[1])
        return left + right + n * k * m, n, m

    def every(i, k):
        if k == i + 1:
            return [i]
        return [(a, b) for j in range(i + 1, k) for a in every(i, j) for b in every(j, k)]

    assert cost(order)[0] == min(cost(tree)[0] for tree in every(0, 5))
    y, back = rrule(np.linalg.multi_dot, arrays)
    dy = rng.normal(size=y.shape)
    for k, dx in enumerate(back(dy)[1]):
        left = np.linalg.multi_dot([np.eye(2), np.eye(2), *arrays[:k]])
        right = np.linalg.multi_dot([*arrays[k + 1 :], np.eye(20), np.eye(20)])
        np.testing.assert_allclose(dx, left.T @ dy @ right.T, rtol=1e-10)
