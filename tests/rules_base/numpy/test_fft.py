"""Fourier transforms against finite differences."""

import numpy as np
import pytest

from rules_base.numpy import fft
from rulescore import rrule

EXAMPLES = [pytest.param(*e, id=f"{e[0].__name__}-{i}") for i, e in enumerate(fft.rule.examples)]


@pytest.mark.parametrize(("f", "xs", "options"), EXAMPLES)
def test_example(check, f, xs, options):
    check(f, *xs, **options)


@pytest.mark.parametrize("n", range(1, 9))
@pytest.mark.parametrize("length", range(1, 6))
def test_every_length(check, length, n):
    x = np.sin(np.arange(1.0, length + 1) ** 2)
    for f in (np.fft.fft, np.fft.ifft, np.fft.rfft, np.fft.irfft, np.fft.hfft, np.fft.ihfft):
        check(f, x, n)
        if f not in (np.fft.rfft, np.fft.ihfft):
            check(f, x + 0.5j * x**2, n)


def test_integer_signals_count_as_real():
    _, back = rrule(np.fft.fft, np.array([1, 2, 3]))
    dx = back(np.array([1.0, 1j, 0.0]))[1]
    assert dx.dtype == np.float64
    assert dx.shape == (3,)


def test_cotangent_of_a_real_signal_is_real_and_costs_one_transform(monkeypatch):
    calls = []
    for name in ("fft", "ifft", "rfft", "irfft"):
        f = getattr(np.fft, name)
        monkeypatch.setattr(np.fft, name, lambda *a, f=f, **k: calls.append(f) or f(*a, **k))
    y, back = rrule(np.fft.hfft, np.array([1.0, 2.0, 0.5]))
    calls.clear()
    assert back(np.ones_like(y))[1].dtype == np.float64
    assert len(calls) == 1


def test_the_option_out_has_no_rule():
    x = np.ones(4)
    assert rrule(np.fft.fft, x, out=np.ones(4, dtype=complex)) is None


def test_sample_spacing_of_the_frequencies_in_single_precision():
    y, back = rrule(np.fft.fftfreq, 4, np.float32(0.5))
    dd = back(np.ones_like(y))[2]
    assert dd.dtype == np.float32
    np.testing.assert_allclose(dd, -np.sum(y) / 0.5)
