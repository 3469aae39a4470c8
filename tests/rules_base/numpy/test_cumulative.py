"""Running sums and products."""

import numpy as np

from rulescore.testing import check_rrule


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_base"


def test_products_with_zeros_in_random_places(check):
    rng = np.random.default_rng(3)
    for _ in range(20):
        x = rng.normal(size=(3, 5)) * (rng.random((3, 5)) > 0.4)
        check(np.cumprod, x, axis=1)
