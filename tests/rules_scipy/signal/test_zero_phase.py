"""Rules of `rules_scipy.signal.zero_phase`, against differences."""

import numpy as np
from scipy import signal as ss

from rulescore.testing import check_rrule
from zygote_lite import gradient


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


def test_the_least_phase_of_a_filter_with_lifted_zeros():
    one = np.array([0.02, -0.07, 0.1, 0.3, 0.5, 0.28, 0.12, -0.05, 0.03])
    h, weights = np.convolve(one, one[::-1]), np.cos(np.arange(9.0))

    def total(h):
        return np.sum(weights * ss.minimum_phase(h, method="hilbert"))

    found = gradient(total, h)[0]
    for i in (1, 5):  # SciPy takes the root of a rounded zero: the median is sure of that
        steps = np.geomspace(1e-7, 1e-5, 41)[:, None] * np.eye(17)[i]
        slopes = [(total(h + e) - total(h - e)) / (2 * e[i]) for e in steps]
        np.testing.assert_allclose(found[i], np.median(slopes), rtol=1e-3)
