"""Rules of `rules_scipy.signal.spectra`, against differences."""

import numpy as np
import pytest
from scipy import signal as ss

from rulescore.testing import check_rrule
from zygote_lite import gradient


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


def test_a_complex_window_is_refused():
    window, z = np.array([0.2, 0.5, 0.6 + 0.1j, 0.4]), np.ones((4, 5), complex)
    with pytest.raises(NotImplementedError, match="complex windows"):
        gradient(lambda z: np.sum(ss.istft(z, 1.0, window, input_onesided=False)[1].real), z)
