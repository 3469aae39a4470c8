"""Norms against finite differences."""

import numpy as np
import pytest

from rules_base.numpy.linalg import norms
from rulescore import rrule

EXAMPLES = [pytest.param(*e, id=f"{e[0].__name__}-{i}") for i, e in enumerate(norms.rule.examples)]


@pytest.mark.parametrize(("f", "xs", "options"), EXAMPLES)
def test_example(check, f, xs, options):
    check(f, *xs, **options)


ORDERS = (None, 1, 2, 3, 0.5, np.inf, -np.inf, -1)


@pytest.mark.parametrize("ord", [*ORDERS, 0], ids=str)
@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")
def test_gradient_of_a_vanishing_vector_is_zero(ord):
    for x in (np.zeros(3), np.zeros(3, dtype=complex)):
        _, back = rrule(np.linalg.norm, x, ord)
        np.testing.assert_array_equal(back(1.0)[1], x)


@pytest.mark.parametrize("ord", [1, 2, 3, 0.5], ids=str)
def test_gradient_of_a_vanishing_entry_is_zero(ord):
    x = np.array([0.0, 3.0, -4.0])
    _, back = rrule(np.linalg.norm, x, ord)
    _, shorter = rrule(np.linalg.norm, x[1:], ord)
    np.testing.assert_allclose(back(1.0)[1], [0.0, *shorter(1.0)[1]])


@pytest.mark.parametrize("ord", ["fro", "nuc", 1, 2, -2, np.inf], ids=str)
def test_gradient_of_a_vanishing_matrix_is_zero(ord):
    _, back = rrule(np.linalg.norm, np.zeros((2, 3)), ord)
    np.testing.assert_array_equal(back(1.0)[1], np.zeros((2, 3)))


def test_entries_that_are_largest_together_share():
    _, back = rrule(np.linalg.norm, np.array([2.0, -2.0, 1.0]), np.inf)
    np.testing.assert_array_equal(back(1.0)[1], [0.5, -0.5, 0.0])
    _, back = rrule(np.linalg.norm, np.array([[1.0, -3.0], [2.0, 0.0]]), 1)
    np.testing.assert_array_equal(back(1.0)[1], [[0.5, -0.5], [0.5, 0.0]])
    _, back = rrule(np.linalg.norm, np.eye(4), 2)
    np.testing.assert_allclose(back(1.0)[1], np.eye(4) / 4, atol=1e-15)


def test_nuclear_norm_of_repeated_singular_values():
    _, back = rrule(np.linalg.norm, 2 * np.eye(3), "nuc")
    np.testing.assert_allclose(back(1.0)[1], np.eye(3), atol=1e-15)


def test_condition_number_of_a_singular_matrix():
    stack = np.stack([np.diag([1.0, 0.0]), np.diag([1.0, 2.0])])
    for p in (None, 1, "fro"):
        y, back = rrule(np.linalg.cond, stack, p)
        assert y[0] == np.inf
        assert not np.any(back(np.array([0.0, 1.0]))[1][0])
        with pytest.raises(np.linalg.LinAlgError, match="singular matrix has no gradient"):
            back(np.array([1.0, 1.0]))


def test_condition_number_at_its_minimum():
    _, back = rrule(np.linalg.cond, np.eye(3))
    np.testing.assert_allclose(back(1.0)[1], np.zeros((3, 3)), atol=1e-15)


@pytest.mark.parametrize("ord", [None, 1, 3], ids=str)
def test_empty_and_integer_vectors(ord):
    y, back = rrule(np.linalg.norm, np.zeros((0, 2)), ord, axis=0)
    np.testing.assert_array_equal(y, np.zeros(2))
    assert back(np.ones(2))[1].shape == (0, 2)
    _, back = rrule(np.linalg.norm, np.array([3, -4]), ord)
    _, expected = rrule(np.linalg.norm, np.array([3.0, -4.0]), ord)
    np.testing.assert_array_equal(back(1.0)[1], expected(1.0)[1])


def test_order_of_a_norm_has_a_gradient():
    x = np.array([0.5, 0.0, -1.5])
    for ord in (0.5, 2.0, 3.5):
        _, _, dord = rrule(np.linalg.norm, x, ord)[1](1.0)
        step = 1e-6
        up, down = (np.linalg.norm(x, ord + h) for h in (step, -step))
        assert type(dord) is float
        np.testing.assert_allclose(dord, (up - down) / (2 * step), rtol=1e-7)
    assert rrule(np.linalg.norm, x, np.inf)[1](1.0)[2] == 0.0
    assert rrule(np.linalg.norm, np.zeros(3), 3.0)[1](1.0)[2] == 0.0
    assert rrule(np.linalg.norm, np.eye(3), 2.0)[1](1.0)[2] is None


@pytest.mark.parametrize("ord", [None, "fro", "nuc", 1, 2, np.inf])
def test_norms_of_empty_matrices(ord):
    x = np.ones((2, 0, 3))
    y, back = rrule(np.linalg.norm, x, ord=ord, axis=(1, 2))
    assert back(np.ones_like(y))[1].shape == x.shape
