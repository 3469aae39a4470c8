"""Products against finite differences."""

import numpy as np
import pytest

from rules_base.numpy import products
from rulescore import rrule

EXAMPLES = [
    pytest.param(*e, id=f"{e[0].__name__}-{i}") for i, e in enumerate(products.rule.examples)
]


@pytest.mark.parametrize(("f", "xs", "options"), EXAMPLES)
def test_example(check, f, xs, options):
    check(f, *xs, **options)


@pytest.mark.parametrize("f", [np.inner, np.outer, np.kron, np.tensordot, np.vecdot])
def test_truth_values_have_no_gradient(f):
    mask = np.ones((2, 2), dtype=bool)
    y, back = rrule(f, mask, np.ones((2, 2)))
    _, dmask, dx = back(np.ones(np.shape(y)))
    assert dmask is None
    assert dx.shape == (2, 2)


@pytest.mark.parametrize("shapes", [((2,), (2,)), ((2,), (3,)), ((4, 3), (2,)), ((4, 2), (4, 2))])
@pytest.mark.filterwarnings("ignore:Arrays of 2-dimensional vectors:DeprecationWarning")
def test_cross_products_in_the_plane(check, shapes):
    a, b = (np.sin(np.arange(1.0, np.prod(s) + 1)).reshape(s) for s in shapes)
    try:
        np.cross(a, b)
    except ValueError:
        assert np.lib.NumpyVersion(np.__version__) >= "2.5.0"  # which has none in the plane
        return
    check(np.cross, a, b)


@pytest.mark.parametrize("axes", [(0, 1, 0), (1, 0, 1), (1, 0, 0)])
def test_cross_product_along_given_axes(check, axes):
    a, b = np.sin(np.arange(1.0, 10.0)).reshape(3, 3), np.cos(np.arange(9.0)).reshape(3, 3)
    check(np.cross, a, b, *axes)


def test_vdot_of_arrays_of_one_size_but_different_shapes(check):
    check(np.vdot, np.arange(6.0).reshape(2, 3) + 0.5j, np.sin(np.arange(6.0)).reshape(3, 2))


def test_empty_products():
    for f, shapes in ((np.inner, ((0,), (0,))), (np.outer, ((0,), (3,))), (np.kron, ((0,), (2,)))):
        a, b = (np.ones(shape) for shape in shapes)
        y, back = rrule(f, a, b)
        _, da, db = back(np.ones(np.shape(y)))
        assert (da.shape, db.shape) == shapes
        assert not np.any(da)
        assert not np.any(db)


def test_a_nested_list_that_is_broadcast(check):
    matrix, stack = [[0.5, -1.5], [2.0, 0.25]], np.sin(np.arange(8.0)).reshape(2, 2, 2)
    check(np.linalg.matmul, matrix, stack)
    check(np.linalg.matmul, stack, matrix)
    check(np.linalg.solve, matrix, stack)
