"""What is known of the shape of a result: no test of it at run time, and none that is wrong."""

import operator

import numpy as np
import pytest

from tests.zygote_lite.checks.finite_differences import slopes
from zygote_lite import code_adjoint, gradient, testing
from zygote_lite._specialize.typed.functions import attribute_of
from zygote_lite._specialize.typed.shape_rules import axes_of_result
from zygote_lite._specialize.typed.values import constant

LEFT = "left to the tape"  # the test at run time whether a type is as it was
SHAPES = [(4, 3), (2, 5), (3, 3), (1, 3), (4, 1), (1, 1)]


def of_its_shape(x):
    y = np.zeros(x.shape)
    y[0] = x[0] * x[0]
    return np.sum(y * x)


def of_parts_of_a_shape(x):
    y = np.ones(x.shape[:1]) * x[:, 0]
    z = np.zeros((x.shape[1], len(x))) + x.T
    return np.sum(y) * np.sum(z * z)


def of_a_shape_backwards(x):
    return np.sum((np.full(x.shape[::-1], 2.0) + x.T) ** 2)


def of_unpacked_lengths(x):
    n, k = x.shape
    return np.sum((np.zeros((k, n)) + x.T) ** 2)


def of_an_option(x):
    return np.sum(np.zeros(x.shape[1], dtype=np.float32) + x * x)


def of_another_order(x):
    return np.sum(np.reshape(x, (x.shape[0], -1), order="F") * x * x)


def reshaped_by_lengths(x):
    return np.sum(x.reshape(x.shape[1], len(x)) @ x)


def with_one_axis_for_all(x):
    return np.sum(x.reshape(-1) * np.ravel(x))


def of_a_product(x):
    return (x[0] @ x[0]) * np.sum(x @ x.T)


def of_a_list(x):
    return np.sum(np.zeros_like([1.0, 2.0, 3.0]) + x[0, 0] * x[0, 0])


FUNCTIONS = [
    of_its_shape, of_parts_of_a_shape, of_a_shape_backwards, of_unpacked_lengths, of_an_option,
    of_another_order, reshaped_by_lengths, with_one_axis_for_all, of_a_product, of_a_list,
]  # fmt: skip


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_code_made_for_one_shape_is_right_for_others(f):
    for shape in SHAPES * 2:
        x = np.random.default_rng(len(shape) + shape[0]).normal(size=shape)
        with testing.compared(), testing.strict():
            (d,) = gradient(f, x)
        ((_, best, off),) = slopes(f, (x,))
        assert np.all(off < 1e-6)
        np.testing.assert_allclose(d, best, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    "f", [of_its_shape, of_parts_of_a_shape, of_a_shape_backwards, of_an_option, of_a_product],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_what_is_known_is_not_tested(f):
    assert LEFT not in code_adjoint(f, np.ones((4, 3)))


def test_a_length_that_may_be_left_open_is_not_taken_for_known():
    def f(x, n):
        return np.sum(np.reshape(x, (n, 2)) * np.reshape(x, (-1, 2)))

    for n, size in ((2, 4), (-1, 4), (1, 2), (-1, 2), (2, 4)):
        x = np.arange(1.0, 1.0 + size)
        with testing.compared(), testing.strict():
            np.testing.assert_array_equal(gradient(f, x, n)[0], 2.0 * x)


@pytest.mark.parametrize("sizes", [(6, 2, 6), (2, 6, 2)])
def test_an_axis_that_takes_what_is_left_may_have_one_entry(sizes):
    z = np.arange(6.0).reshape(3, 2)

    def f(x):
        return np.sum(np.reshape(x, (-1, 2)) * z)

    for size in sizes * 2:
        want = z.ravel() if size == 6 else np.sum(z, axis=0)
        for _ in range(2):
            np.testing.assert_array_equal(gradient(f, np.ones(size))[0], want)


def test_a_sum_over_the_axes_that_were_stretched_is_written():
    def f(x, y):
        return np.sum(x * y)

    x, y = np.ones((3, 1)), np.arange(12.0).reshape(3, 4)
    assert "(dt2 * y).sum(axis=1, keepdims=True)" in code_adjoint(f, x, y)
    assert "(dt2 * y).sum(0)" in code_adjoint(f, np.ones(4), y)


class Unhashable:
    __hash__ = None

    def __call__(self, x):
        return x


def test_nothing_is_known_of_what_is_no_array_and_of_other_functions():
    text, place = constant("text"), constant(0)
    for f in (np.transpose, attribute_of("mT"), Unhashable()):
        assert axes_of_result(f, [text], {}, 2) is None
    assert axes_of_result(operator.getitem, [text, place], {}, 0) is None
    assert axes_of_result(operator.getitem, [constant((2, 3)), place], {}, 0) == ()
