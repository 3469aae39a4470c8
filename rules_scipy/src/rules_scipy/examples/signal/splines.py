"""Calls that the rules of `rules_scipy.signal.splines` are checked with."""

import numpy as np
from scipy import signal as ss
from scipy.signal import _spline

from rules_scipy.signal.splines import rule

IMAGE = np.sin(np.arange(120.0)).reshape(3, 40)
ROW, COLUMN = np.array([0.1, 0.6, -0.2]), np.array([0.3, 0.5, 0.1, -0.4, 0.2])
for z in (0.3, -0.4):
    rule.example(_spline.symiirorder1_ic, IMAGE, z, -1.0)
rule.example(_spline.symiirorder1_ic, IMAGE + 0.3j * IMAGE**2, 0.2 + 0.1j, 1e-5)
for f in (_spline.symiirorder2_ic_fwd, _spline.symiirorder2_ic_bwd):
    rule.example(f, IMAGE, 0.3, 1.9, 1e-3)
    rule.example(f, IMAGE, 0.3, 0.7, -1.0)  # adds fewer terms in single precision
for x in (IMAGE[:, :7].T, IMAGE[:, :7].T + 0.3j):
    weight = x.dtype.type(0.2j if x.dtype.kind == "c" else 0.2)
    rule.example(ss.sepfir2d, x, ROW + weight, COLUMN - weight)
rule.example(ss.sepfir2d, IMAGE[:, :7].T, ROW[:1], np.array([2.0]))
