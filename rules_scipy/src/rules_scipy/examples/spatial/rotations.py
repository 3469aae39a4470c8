"""Calls that the rules of `rules_scipy.spatial.rotations` are checked with."""

import numpy as np
from scipy.spatial.transform import _rotation_cy as compiled

from rules_scipy.spatial.rotations import rule

RAW = np.sin(np.arange(12.0) ** 2 + 1).reshape(3, 4)
UNITS = RAW / np.linalg.norm(RAW, axis=1, keepdims=True)
VECTORS = np.cos(np.arange(9.0) ** 2).reshape(3, 3)
rule.example(compiled.inv, UNITS)
rule.example(compiled.apply, UNITS, VECTORS)
rule.example(compiled.apply, UNITS, VECTORS[:1], inverse=True)
rule.example(compiled.align_vectors, VECTORS, VECTORS[::-1] + 0.1)
