"""Calls that the rules of `rules_scipy.fftpack.periodic` are checked with."""

import numpy as np
from scipy import fftpack as fp

from rules_scipy.fftpack.periodic import rule

ODD = np.sin(np.arange(1.0, 8.0) ** 2)
EVEN = np.sin(np.arange(1.0, 9.0) ** 2)
for x in (ODD, EVEN, ODD + 1j * ODD[::-1]):
    for order in (1, 2, 3, -1, -2):
        rule.example(fp.diff, x, order)
    rule.example(fp.diff, x, 1, 3.0)
    rule.example(fp.hilbert, x)
    rule.example(fp.ihilbert, x)
    for f in (fp.tilbert, fp.itilbert):
        rule.example(f, x, 0.7)
        rule.example(f, x, 0.7, 3.0)
    for f in (fp.cs_diff, fp.sc_diff, fp.ss_diff, fp.cc_diff):
        rule.example(f, x, 0.3, 0.7)
    rule.example(fp.ss_diff, x, 0.3, 0.7, 3.0)
    rule.example(fp.shift, x, 0.4)
    rule.example(fp.shift, x, 0.4, 3.0)
