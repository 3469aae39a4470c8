"""Calls that the rules of `rules_scipy.spatial.distances` are checked with."""

import numpy as np
from scipy import spatial
from scipy.spatial import distance as sd

from rules_scipy.shared.points.metrics import METRICS
from rules_scipy.shared.points.options import BY_WEIGHTS
from rules_scipy.spatial.distances import OPTIONS, STEPS, cdist_of, pdist_of, rule

POINTS = np.sin(np.arange(15.0) ** 2 + 1).reshape(5, 3)
OTHERS = np.cos(np.arange(12.0) ** 2 + 1).reshape(4, 3)
WEIGHTS = np.array([0.5, 1.0, 2.0])
INVERSE = np.diag(WEIGHTS) + 0.1
TRUTHS = np.array([[1, 0, 1], [1, 1, 0], [0, 1, 0]])
for metric in METRICS:
    x, y = (POINTS, OTHERS) if metric != "jensenshannon" else (abs(POINTS), abs(OTHERS))
    rule.example(sd.cdist, x, y, metric)
    if "w" in OPTIONS.get(metric, "w") and metric != "jensenshannon":
        rule.example(sd.pdist, x, metric, w=WEIGHTS)
    else:
        rule.example(sd.pdist, x, metric)
rule.example(sd.cdist, POINTS, OTHERS)
rule.example(sd.pdist, POINTS.astype(np.float32))
rule.example(sd.cdist, POINTS, OTHERS, "seuclidean", V=WEIGHTS)
rule.example(sd.pdist, POINTS, "mahalanobis", VI=INVERSE)
for p in (1, 1.5, 3, np.inf):
    rule.example(sd.cdist, POINTS, OTHERS, "minkowski", p=p)
    rule.example(spatial.minkowski_distance, POINTS[:, None], OTHERS, p)
    if p < np.inf:
        rule.example(pdist_of, POINTS, "minkowski", WEIGHTS, p)
for metric in BY_WEIGHTS:
    x, y = (POINTS, OTHERS) if metric not in STEPS else (TRUTHS[:2], TRUTHS[1:])
    rule.example(cdist_of, x, y, metric, WEIGHTS)
rule.example(cdist_of, POINTS, OTHERS, "seuclidean", None, None, WEIGHTS)
rule.example(pdist_of, POINTS, "mahalanobis", None, None, None, INVERSE)
rule.example(sd.squareform, POINTS[0])
rule.example(sd.squareform, POINTS[:3] + POINTS[:3].T, checks=False)
rule.example(sd.directed_hausdorff, POINTS, OTHERS)
