"""Rules of `rules_scipy.signal.peaks`, against differences, and where peaks are a choice."""

import numpy as np
import pytest
from scipy import signal as ss

from rulescore.testing import check_rrule
from zygote_lite import NoRuleError, gradient

X = np.sin(np.arange(1.0, 20.0))


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


def test_which_peaks_there_are_is_a_choice():
    (found,) = gradient(lambda x: np.sum(x[ss.find_peaks(x)[0]] ** 2), X)
    peaks = ss.find_peaks(X)[0]
    np.testing.assert_allclose(found[peaks], 2 * X[peaks])
    assert np.count_nonzero(found) == len(peaks)
    (heights,) = gradient(lambda x: np.sum(ss.find_peaks(x, 0.0)[1]["peak_heights"] ** 2), X)
    np.testing.assert_allclose(heights, found)
    with pytest.raises(NoRuleError, match="peak_prominences"):
        gradient(lambda x: ss.find_peaks(x, prominence=0.1)[1]["prominences"][0], X)
