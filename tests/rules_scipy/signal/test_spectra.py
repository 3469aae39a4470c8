"""Rules of `rules_scipy.signal.spectra`, against differences."""

import contextlib

import numpy as np
import pytest
from scipy import signal as ss

from rulescore.testing import check_rrule
from zygote_lite import gradient
from zygote_lite.errors import DifferentiationError, NoRuleError
from zygote_lite.testing import compared


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


def test_a_complex_window_is_refused():
    window, z = np.array([0.2, 0.5, 0.6 + 0.1j, 0.4]), np.ones((4, 5), complex)
    with pytest.raises(NoRuleError, match="complex windows"):
        gradient(lambda z: np.sum(ss.istft(z, 1.0, window, input_onesided=False)[1].real), z)


SIGNAL = np.sin(np.arange(24.0) ** 1.3)


@pytest.mark.parametrize(
    "name", ["welch", "periodogram", "spectrogram", "stft", "csd", "coherence"]
)
def test_the_parameter_of_a_named_window_is_refused(name):
    signals = (SIGNAL, SIGNAL**2) if name in ("csd", "coherence") else (SIGNAL,)

    size = {} if name == "periodogram" else {"nperseg": 12}

    def loss(b, window=lambda b: ("kaiser", b)):
        return np.sum(np.abs(getattr(ss, name)(*signals, window=window(b), **size)[-1]))

    for mode in (compared, contextlib.nullcontext):
        with mode():
            with pytest.raises(DifferentiationError, match="get_window"):
                gradient(loss, 2.0)
            of_numbers = lambda b: loss(
                b, lambda b: ss.get_window(("kaiser", b), size.get("nperseg", 24))
            )
            slope = (loss(2.0001) - loss(1.9999)) / 2e-4
            assert gradient(of_numbers, 2.0)[0] == pytest.approx(slope, rel=1e-6)


def test_the_window_of_a_short_time_fourier_transform_has_a_gradient():
    x, window = np.cos(np.arange(20.0) ** 1.5), np.array([0.2, 0.7, 0.9, 0.5])

    def energy(window):
        there = ss.ShortTimeFFT(window * 1.0, 2, 1.0, scale_to="psd")
        return np.sum(there.istft(there.stft(x) ** 2, k1=20) ** 2)

    h = 1e-5
    expected = [(energy(window + d) - energy(window - d)) / (2 * h) for d in h * np.eye(4)]
    np.testing.assert_allclose(gradient(energy, window)[0], expected, rtol=1e-6)
