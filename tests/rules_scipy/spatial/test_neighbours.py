"""Rules of `rules_scipy.spatial.neighbours`, against differences."""

import numpy as np
import pytest
from scipy import spatial

from zygote_lite import gradient
from zygote_lite.errors import DifferentiationError

DATA = np.random.default_rng(3).normal(size=(7, 2))
PLACES = np.random.default_rng(5).normal(size=(3, 2))


@pytest.mark.parametrize("tree", [spatial.KDTree, spatial.cKDTree])
@pytest.mark.parametrize(
    "options", [{}, {"k": [1, 3], "p": 1}, {"k": 5, "distance_upper_bound": 1.1}]
)
def test_distances_to_neighbours(tree, options):
    def f(data, x):
        return np.sum(np.exp(-tree(data).query(x, **options)[0]))

    for i, (found, x) in enumerate(zip(gradient(f, DATA, PLACES), (DATA, PLACES), strict=True)):
        steps = 1e-6 * np.eye(x.size).reshape(-1, *x.shape)
        moved = [(x + e, PLACES) if i == 0 else (DATA, x + e) for e in (*steps, *-steps)]
        values = np.reshape([f(*xs) for xs in moved], (2, *x.shape))
        np.testing.assert_allclose(found, (values[0] - values[1]) / 2e-6, atol=1e-8)


def test_neighbours_are_a_choice():
    def f(data):
        tree = spatial.KDTree(data)
        near = tree.query(PLACES, k=2)[1]
        pairs = sum(np.sum(data[i] * data[j]) for i, j in sorted(tree.query_pairs(1.0)))
        return np.sum(data[near] ** 2) + np.sum(tree.data**3) + pairs

    found = gradient(f, DATA)[0]
    steps = 1e-6 * np.eye(14).reshape(14, 7, 2)
    expected = [(f(DATA + e) - f(DATA - e)) / 2e-6 for e in steps]
    np.testing.assert_allclose(found.ravel(), expected, atol=1e-7)


def test_a_periodic_box_is_refused():
    with pytest.raises(DifferentiationError, match="boxsize"):
        gradient(lambda x: np.sum(spatial.KDTree(x, boxsize=9.0).query(PLACES % 9)[0]), DATA % 9)


@pytest.mark.parametrize("tree", [spatial.KDTree, spatial.cKDTree])
def test_a_tree_keeps_the_array_that_it_is_made_of(tree):
    """SciPy does not copy it: what is written there moves the points of the tree."""

    def nearest(x, copy):
        moved = x * 1.0
        found = tree(moved, copy_data=copy)
        moved[0, 0] = 0.5
        return found.query([0.1, 0.1])[0]

    data = np.array([[0.0, 0.3], [3.0, 2.0]])
    with pytest.raises(DifferentiationError, match="written in place"):
        gradient(nearest, data, False)
    at = np.array([-0.1, 0.2]) / np.hypot(0.1, 0.2)
    np.testing.assert_allclose(gradient(nearest, data, True)[0], [at, [0.0, 0.0]])
