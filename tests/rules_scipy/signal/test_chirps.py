"""Rules of `rules_scipy.signal.chirps`, against differences, and where both frequencies are one."""

import numpy as np
import pytest
from scipy import signal as ss

from rulescore import rrule
from rulescore.testing import check_rrule


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


@pytest.mark.parametrize("method", ["logarithmic", "hyperbolic"])
def test_equal_frequencies(method):
    """SciPy takes a formula without the second frequency there, whose slopes are other ones."""
    t, dy = np.linspace(-0.3, 1.2, 6), np.arange(1.0, 7.0)
    _, back = rrule(ss.chirp, t, 0.9, 1.5, 0.9, method=method, ad=rrule)
    for i, step in ((2, (1e-3, 0, 0)), (4, (0, 0, 1e-3))):
        ends = [np.sum(dy * ss.chirp(t, *(np.array([0.9, 1.5, 0.9]) + s * np.array(step)), method))
                for s in (1, -1)]  # fmt: skip
        np.testing.assert_allclose(back(dy)[i], (ends[0] - ends[1]) / 2e-3, rtol=1e-4)
