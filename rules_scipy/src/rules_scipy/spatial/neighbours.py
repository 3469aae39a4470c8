"""Distances to the neighbours that a tree finds; which of the points these are is held fixed."""

import numpy as np
from scipy import spatial

from rules_scipy.shared.points.metrics import METRICS
from rules_scipy.shared.solvers import entries_of
from rulescore import Numeric, RuleSet, Tangent, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.spatial.neighbours")
ArrayLike = Numeric | list | tuple
Tree = spatial.cKDTree
COUNTS = ("query_ball_point", "query_ball_tree", "query_pairs", "count_neighbors")
rule.constant(*(getattr(Tree, name) for name in COUNTS))
rule.constant(Tree.n, Tree.m, Tree.size, Tree.indices, Tree.leafsize)


@rule.method(project)
def _(dx: object, x: Tree):
    return dx  # a `Tangent` with the `data`, which no tree has as a field of Python


def declare(kind):
    """Declare the rule of a class of trees: its cotangent holds that of the `data`."""

    @rule(kind)
    def _(
        data: ArrayLike,
        leafsize=None,
        compact_nodes=True,
        copy_data=False,
        balanced_tree=True,
        boxsize=None,
    ):
        if boxsize is not None:
            raise NotImplementedError(
                f"scipy.spatial.{kind.__name__} has no rule for boxsize: leave it out, and add "
                "copies of the points that are shifted by the box"
            )
        size = {} if leafsize is None else {"leafsize": leafsize}
        tree = kind(data, copy_data=copy_data, compact_nodes=compact_nodes,
                    balanced_tree=balanced_tree, **size)  # fmt: skip

        def pullback(dtree):
            d = None if dtree is None else dict(dtree.items()).get("data")
            return (None if d is None else project(d, data),)

        return tree, pullback


declare(spatial.cKDTree)
declare(spatial.KDTree)


@rule(Tree.data)
def _(self: Tree):
    return self.data, lambda dy: (Tangent(type(self), data=dy),)


@rule(Tree.query)
def _(self: Tree, x: ArrayLike, k=1, eps=0.0, p=2.0, distance_upper_bound=np.inf, workers=1):
    y = Tree.query(self, x, k, eps, p, distance_upper_bound, workers)

    def parts(dy):
        (dd,) = entries_of(dy, spatial.cKDTree.query, True, (0,))
        if dd is None:
            return None
        points, at = np.asarray(self.data), np.asarray(x, float)
        d, i = (np.reshape(part, (*at.shape[:-1], -1)) for part in (y[0], y[1]))
        dd = np.reshape(dd, d.shape)[..., None]
        found = (i < len(points))[..., None]
        there = points[np.where(i < len(points), i, 0)]
        d = np.where(found, d[..., None], 0.0)
        options = {"w": np.ones(()), "p": p}
        slopes = METRICS["minkowski"](at[..., None, :], there, d, dd, options)[0]
        return np.where(found, slopes, 0.0), i

    def dself(found):
        if found is None:
            return None
        slopes, i = found
        points = np.asarray(self.data)
        chosen = np.reshape(i, -1) < len(points)
        ddata = np.zeros(points.shape)
        rows = np.reshape(slopes, (-1, points.shape[1]))
        np.subtract.at(ddata, np.reshape(i, -1)[chosen], rows[chosen])
        return Tangent(type(self), data=ddata)

    def dx(found):
        return None if found is None else project(np.sum(found[0], -2), x)

    return y, (parts, (dself, dx))
