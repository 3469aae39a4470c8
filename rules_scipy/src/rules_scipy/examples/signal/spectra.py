"""Calls that the rules of `rules_scipy.signal.spectra` are checked with."""

import numpy as np
from scipy import signal as ss

from rules_scipy.signal.spectra import rule

SIGNAL, OTHER = np.sin(np.arange(1.0, 16.0) ** 2), np.cos(np.arange(12.0) ** 2)
IMAGE = np.sin(np.arange(24.0) ** 2).reshape(12, 2)
WINDOW = np.array([0.3, 0.8, 1.1, 0.6, 0.4])
rule.example(ss.welch, SIGNAL, 1.5, WINDOW)
rule.example(ss.welch, SIGNAL, 2.0, "hann", 6, detrend="linear", scaling="spectrum")
rule.example(ss.welch, IMAGE + 0.3j, 2.0, "hann", 4, 1, 6, False, False, "density", 0, "median")
rule.example(ss.periodogram, SIGNAL, 2.0, nfft=9)
rule.example(ss.periodogram, SIGNAL, nfft=18, scaling="spectrum")
rule.example(ss.csd, SIGNAL, OTHER, 2.0, WINDOW, scaling="spectrum")
rule.example(ss.csd, IMAGE, IMAGE**2, 1.0, WINDOW, 5, 1, 5, False, True, "density", 0, "median")
rule.example(ss.csd, SIGNAL + 0.5j * SIGNAL**2, SIGNAL**2 - 0.2j, 2.0, WINDOW, nfft=7)
rule.example(ss.csd, IMAGE.T, OTHER, 2.0, WINDOW)
rule.example(ss.coherence, SIGNAL, SIGNAL**2, 2.0, WINDOW)
rule.example(ss.coherence, IMAGE.T, OTHER, 2.0, WINDOW)
rule.example(ss.coherence, IMAGE.T, IMAGE.T[:1] ** 2, 2.0, WINDOW)
KAISER = ("kaiser", 2.0)
for f in (ss.welch, ss.periodogram, ss.spectrogram, ss.stft):
    rule.example(f, OTHER, 2.0, KAISER, 12)
for f in (ss.csd, ss.coherence):
    rule.example(f, SIGNAL, SIGNAL**2, 2.0, KAISER, 5)
for mode in ("psd", "complex", "magnitude"):
    rule.example(ss.spectrogram, OTHER, 2.0, WINDOW, noverlap=2, nfft=6, mode=mode)
rule.example(ss.spectrogram, OTHER, 2.0, WINDOW, 5, 1, 5, False, mode="angle")
rule.example(
    ss.spectrogram, IMAGE + 0.3j * IMAGE**2, 2.0, "hann", 5, 2, 6, "linear", False, "spectrum", 0
)
for boundary in ("zeros", "even", "odd", "constant", None):
    rule.example(ss.stft, SIGNAL, 2.0, WINDOW, 5, 3, boundary=boundary)
rule.example(ss.stft, SIGNAL, 2.0, WINDOW, 5, detrend="linear", scaling="psd", padded=False)
rule.example(ss.stft, IMAGE + 0.3j, 2.0, "hann", 5, 2, 6, False, False, axis=0)
Z = ss.stft(SIGNAL, 2.0, "hann", 6)[2]
rule.example(ss.istft, Z, 2.0)
rule.example(ss.istft, np.moveaxis(np.stack([Z, 2 * Z]), 0, 1), 2.0, freq_axis=0, scaling="psd")
rule.example(ss.istft, Z[:, 1:4], 1.5, WINDOW, 5, 3, 6)
rule.example(ss.istft, np.swapaxes(Z, 0, 1), 1.0, "hann", 4, 2, 4, False, True, 0, 1)
