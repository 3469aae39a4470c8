"""Rules of `rules_scipy.signal.resampling`, against differences."""

import contextlib

import numpy as np
import pytest
from scipy import signal as ss

from rulescore.testing import check_rrule
from zygote_lite import gradient
from zygote_lite.errors import DifferentiationError
from zygote_lite.testing import compared


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


def test_the_parameter_of_a_named_window_is_refused():
    signal = np.sin(np.arange(24.0) ** 1.3)

    def loss(b, window=lambda b: ("kaiser", b)):
        return np.sum(ss.resample_poly(signal, 6, 4, window=window(b)) ** 2)

    for mode in (compared, contextlib.nullcontext):
        with mode():
            with pytest.raises(
                DifferentiationError, match=r"has no derivative by `window`: .*firwin"
            ):
                gradient(loss, 2.0)
            of_filter = lambda b: loss(b, lambda b: ss.firwin(61, 1 / 3, window=("kaiser", b)))
            slope = (loss(2.0001) - loss(1.9999)) / 2e-4
            assert gradient(of_filter, 2.0)[0] == pytest.approx(slope, rel=1e-6)
