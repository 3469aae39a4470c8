"""Running sums and products."""

import numpy as np


def test_rules_agree_with_finite_differences(check, example):
    f, xs, options = example
    check(f, *xs, **options)


def test_products_with_zeros_in_random_places(check):
    rng = np.random.default_rng(3)
    for _ in range(20):
        x = rng.normal(size=(3, 5)) * (rng.random((3, 5)) > 0.4)
        check(np.cumprod, x, axis=1)
