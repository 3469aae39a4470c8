"""Calls that the rules of `rules_scipy.signal.peaks` are checked with."""

import numpy as np
from scipy import signal as ss

from rules_scipy.signal.peaks import rule

SIGNAL = np.sin(np.arange(1.0, 30.0)) * np.linspace(0.5, 1.5, 29) + 0.03 * np.arange(29) ** 1.1
PEAKS = ss.find_peaks(SIGNAL)[0]
rule.example(ss.peak_prominences, SIGNAL, PEAKS)
rule.example(ss.peak_prominences, SIGNAL, PEAKS, 9)
rule.example(ss.peak_widths, SIGNAL, PEAKS)
rule.example(ss.peak_widths, SIGNAL, PEAKS, 0.8)
rule.example(ss.peak_widths, SIGNAL, PEAKS, 1.0)
