"""Rules of `rules_scipy.special.softmax`, against differences."""

import numpy as np
from scipy import special as sp

from rulescore.testing import check_rrule
from zygote_lite import gradient


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


def test_weights_of_zero():
    b = np.array([0.5, 0.0, 2.0])
    (da,) = gradient(lambda a: sp.logsumexp(a, b=b), np.array([1.0, np.inf, 0.0]))
    np.testing.assert_allclose(da, [np.e / (np.e + 4), 0.0, 4 / (np.e + 4)])

    def slope(b):
        (db,) = gradient(lambda b: sp.logsumexp(np.array([1.0, 0.3, 0.0]), b=b), b)
        return db[0]

    (found,) = gradient(slope, b)  # of exp(1) / (b . exp(a))
    total = b @ np.exp([1.0, 0.3, 0.0])
    np.testing.assert_allclose(found, -np.exp([2.0, 1.3, 1.0]) / total**2)
