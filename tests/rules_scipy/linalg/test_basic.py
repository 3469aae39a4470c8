"""Rules of `rules_scipy.linalg.basic`, against differences."""

import numpy as np
import pytest
from scipy import linalg

from rulescore.testing import check_rrule
from zygote_lite import grad, gradient, hvp


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


@pytest.mark.parametrize("ord", [1, -1, np.inf, -np.inf])
@pytest.mark.parametrize("kind", [np.float32, float, complex])
def test_the_norm_of_the_largest_column_finds_it_whatever_the_order_of_the_sum(ord, kind):
    for seed in range(40):
        a = np.random.default_rng(seed).normal(size=(2, 30, 50)).astype(kind)
        a = a[0] + 1j * a[1] if kind is complex else a[0]
        axis = 0 if abs(ord) == 1 else 1
        sums = np.sum(np.abs(a), axis=axis)
        place = np.argmax(sums) if ord > 0 else np.argmin(sums)
        expected = np.zeros_like(a)
        expected[(slice(None), place) if axis == 0 else place] = np.take(
            a / np.abs(a), place, 1 - axis
        )
        (da,) = gradient(lambda a: linalg.norm(a, ord), a)
        np.testing.assert_allclose(da, expected, rtol=1e-6)


def test_a_singular_value_of_zero_has_no_slope_in_least_squares():
    a, b = np.diag([2.0, 0.0]), np.array([1.0, 3.0])
    (da,) = gradient(lambda a: np.sum(linalg.lstsq(a, b)[3]), a)
    np.testing.assert_allclose(abs(da), np.diag([1.0, 0.0]), atol=1e-15)


@pytest.mark.parametrize("a", [np.zeros((3, 3)), np.diag([1.0, 1.0, 0.0])])
def test_third_derivatives_of_determinants_are_those_of_a_polynomial(a):
    def third(f):
        return grad(lambda x: np.sum(np.sin(x + 1) * hvp(f)(x, np.cos(x))))(a)

    np.testing.assert_allclose(third(linalg.det), third(_triple_product), atol=1e-12)


def _triple_product(a):
    return a[0] @ np.cross(a[1], a[2])
