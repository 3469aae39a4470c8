"""Rules of `rules_scipy.ndimage.fourier`, against differences."""

import numpy as np
import pytest
from scipy import fft as sf
from scipy import ndimage as nd

from rulescore.testing import check_rrule
from zygote_lite import gradient


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


def test_a_shift_of_a_spectrum_moves_a_signal():
    t = 2 * np.pi * np.arange(8) / 8

    def moved(s):
        return np.real(sf.ifft(nd.fourier_shift(sf.fft(np.sin(t)), s)))[3]

    expected = -np.cos(t[3] - 2 * np.pi * 0.4 / 8) * 2 * np.pi / 8
    assert gradient(moved, 0.4)[0] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("ndim", [1, 2, 3])
def test_an_ellipsoid_may_be_small(ndim):
    x = np.cos(np.arange(4.0**ndim)).reshape((4,) * ndim)
    total = lambda s: np.sum(nd.fourier_ellipsoid(x, s) * x)
    for s in (0.004, 0.012, 0.1):  # whose squares count, so that the step may be wide
        expected = (total(1.5 * s) - total(0.5 * s)) / s
        assert gradient(total, s)[0] == pytest.approx(expected, rel=5e-3)
