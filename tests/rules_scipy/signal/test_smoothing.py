"""Rules of `rules_scipy.signal.smoothing`, against differences."""

import numpy as np
from scipy import signal as ss

from rulescore.testing import check_rrule
from zygote_lite import gradient
from zygote_lite.testing import compared


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


def test_weights_that_a_rule_computes_from_options_are_transformed():
    x, weights = np.sin(np.arange(9.0) ** 2), np.cos(np.arange(9.0))
    with compared():
        (found,) = gradient(lambda x: np.sum(weights * ss.savgol_filter(x, 5, 2)), x)
    expected = ss.savgol_filter(np.eye(9), 5, 2, axis=0).T @ weights
    np.testing.assert_allclose(found, expected, rtol=1e-12)
