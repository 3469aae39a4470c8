"""Periodic waves with corners and jumps."""

import numpy as np
from scipy import signal as ss

from rulescore import RuleSet

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.signal.waveforms")
rule.constant(ss.square)  # it jumps, and is constant elsewhere
rule.constant(ss.max_len_seq, ss.unit_impulse)


rule.scalar(ss.sawtooth)(lambda t: np.ones(np.shape(t)) / np.pi)


@rule.scalar(ss.sawtooth)
def _(t, width):
    phase = np.mod(t, 2 * np.pi)
    with np.errstate(all="ignore"):
        rises, falling = phase < width * 2 * np.pi, 1 - width
        by_t = np.where(rises, 1 / width, -1 / falling) / np.pi
        by_rise, by_fall = -phase / width**2, (2 * np.pi - phase) / falling**2
        return by_t, np.where(rises, by_rise, by_fall) / np.pi
