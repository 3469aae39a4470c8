"""Calls that the rules of `rules_scipy.signal.waveforms` are checked with."""

import numpy as np
from scipy import signal as ss

from rules_scipy.signal.waveforms import rule

TIMES = np.linspace(-5.0, 9.0, 7)
rule.example(ss.sawtooth, TIMES)
rule.example(ss.sawtooth, TIMES, 0.4)
rule.example(ss.sawtooth, 2.0, np.array([0.2, 0.7]))
