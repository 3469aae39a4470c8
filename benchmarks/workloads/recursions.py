"""A function that calls itself: the nodes of a tree."""

import math

from benchmarks.workload import Workload


def tree(x, w, depth):
    if depth == 0:
        return math.sin(x)
    left = tree(w * x, w, depth - 1)
    right = tree(x + w, w, depth - 1)
    return left * right + 0.5 * (left + right)


def tree_by_hand(x, w, depth):
    value, kept = tree_forward(x, w, depth)
    return value, tree_backward(kept, w, depth, 1.0)


def tree_forward(x, w, depth):
    if depth == 0:
        return math.sin(x), x
    left, in_left = tree_forward(w * x, w, depth - 1)
    right, in_right = tree_forward(x + w, w, depth - 1)
    return left * right + 0.5 * (left + right), (x, left, in_left, right, in_right)


def tree_backward(kept, w, depth, d):
    if depth == 0:
        return d * math.cos(kept), 0.0
    x, left, in_left, right, in_right = kept
    dl, dwl = tree_backward(in_left, w, depth - 1, d * (right + 0.5))
    dr, dwr = tree_backward(in_right, w, depth - 1, d * (left + 0.5))
    return w * dl + dr, dwl + dwr + x * dl + dr


TREE = Workload(
    name="tree",
    title="Recursion over a tree of 511 nodes",
    f=tree,
    by_hand=tree_by_hand,
    arguments=lambda rng, depth: (0.7, 0.9, depth),
    argnums=(0, 1),
    sizes={"depth": 8},
    small={"depth": 2},
    goal=2.0,
)
