"""Running sums and products."""

import numpy as np
import pytest

from rulescore import frule, rrule
from rulescore.testing import check_rrule


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_base"


def test_products_with_zeros_in_random_places(check):
    rng = np.random.default_rng(3)
    for _ in range(20):
        x = rng.normal(size=(3, 5)) * (rng.random((3, 5)) > 0.4)
        check(np.cumprod, x, axis=1)


@pytest.mark.parametrize("kind", ["int8", "uint8", "int64"])
@pytest.mark.parametrize("middle", [0, 2])
def test_products_of_integers_do_not_wrap_around(kind, middle):
    x, dx = np.array([100, middle, 100, 90], kind), np.array([1.0, 0.5, -2.0, 3.0])
    before = np.array([1, 100, 100 * middle, 10000 * middle])
    behind = np.array([1, 101, 9101])  # sums of products of what follows
    expected = [1 + middle * behind[2], 100 * behind[2], *before[2:] * [91, 1]]
    np.testing.assert_allclose(rrule(np.cumprod, x)[1](np.ones(4))[1], expected)
    np.testing.assert_allclose(np.sum(frule((None, dx), np.cumprod, x)[1]), np.sum(expected * dx))


def test_where_a_product_is_too_small_for_a_number():
    x = np.array([1e-200, 1e-200, 1e200])
    np.testing.assert_allclose(rrule(np.cumprod, x)[1](np.ones(3))[1], [2.0, 1.0, 0.0])
