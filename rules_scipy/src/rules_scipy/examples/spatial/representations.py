"""Calls that the rules of `rules_scipy.spatial.representations` are checked with."""

import numpy as np
from scipy.spatial.transform import _rotation_cy as compiled

from rules_scipy.spatial.representations import rule

RAW = np.sin(np.arange(12.0) ** 2 + 1).reshape(3, 4)
UNITS = RAW / np.linalg.norm(RAW, axis=1, keepdims=True)
VECTORS = np.cos(np.arange(9.0) ** 2).reshape(3, 3)
AXES = np.array([[1.0, 2.0, 0.0], [0.0, 0.0, 3.0], [2.0, -1.0, 0.0]])
rule.example(compiled.from_quat, RAW)
rule.example(compiled.from_quat, RAW, scalar_first=True)
rule.example(compiled.from_rotvec, VECTORS)
rule.example(compiled.from_rotvec, 1e-4 * VECTORS, degrees=True)
rule.example(compiled.from_mrp, VECTORS)
for seq in ("xyz", "ZYX", "zxz"):
    rule.example(compiled.from_euler, seq, VECTORS)
    rule.example(compiled.from_euler, seq, 40 * VECTORS[0], degrees=True)
rule.example(compiled.from_davenport, AXES, "intrinsic", VECTORS)
rule.example(compiled.as_quat, UNITS, canonical=True)
for f in (compiled.as_matrix, compiled.as_mrp):
    rule.example(f, UNITS)
