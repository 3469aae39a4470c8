"""Hulls, triangulations and cells of points; which of the points are neighbours is held fixed.

The volume, area and planes of a convex hull, and the vertices of Voronoi's cells, have derivatives
by the points; the corners of an intersection of half-spaces, by these.
"""

import numpy as np
from scipy import spatial

from rulescore import Numeric, RuleSet, Tangent, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.spatial.hulls")
ArrayLike = Numeric | list | tuple
NEAR = 1e-9
rule.constant(spatial.Delaunay.find_simplex)
for _property in (
    *(spatial.ConvexHull.vertices, spatial.Delaunay.vertex_to_simplex),
    *(spatial.Delaunay.vertex_neighbor_vertices, spatial.Delaunay.convex_hull),
    spatial.Voronoi.ridge_dict,
):
    rule.constant(_property.fget)


def declare(kind, **backs):
    """Declare the rule of a class that is made from points.

    Arguments:
        kind: the class.
        backs: for the fields that have a derivative a function of their cotangent, the points, and
            the object; it returns the cotangent of the points.
    """

    backs = {**backs, "_points": lambda d, points, y: d}

    @rule(kind)
    def _(points: ArrayLike, *, incremental=False, **options):
        if incremental or options.get("furthest_site"):
            raise NotImplementedError(
                f"scipy.spatial.{kind.__name__} has no rule for incremental and furthest_site: "
                "leave them out"
            )
        y = kind(points, **options)

        def pullback(dy):
            at = np.asarray(points, float)
            total = np.zeros(at.shape)
            for name, d in () if dy is None else dy.items():
                if d is None or np.asarray(getattr(y, name)).dtype.kind in "biu":
                    continue
                if name not in backs:
                    known = " and ".join(each.lstrip("_") for each in backs)
                    raise NotImplementedError(
                        f"of scipy.spatial.{kind.__name__} only {known} carry a gradient, and not "
                        f"{name}: compute that from the points"
                    )
                total = total + backs[name](d, at, y)
            return (project(total, points),)

        return y, pullback

    @rule(kind.points.fget)
    def _(self: kind):
        return self.points, lambda dy: (Tangent(kind, _points=dy),)


def of_volume(d, x, hull):
    """Return the cotangent of the points from that of the volume of their hull."""
    inside = np.mean(x[hull.vertices], 0)
    return spread(d * volumes_back(x[hull.simplices], inside), hull.simplices, x)


def of_area(d, x, hull):
    """Return the cotangent of the points from that of the area of their hull."""
    return spread(d * areas_back(x[hull.simplices]), hull.simplices, x)


def of_planes(d, x, hull):
    """Return the cotangent of the points from that of the planes of their hull.

    Of a plane `n @ p + b == 0` through its corners, with `n @ n == 1`, the unit vector `n` moves
    within the plane: `edges @ dn == -dedges @ n`.
    """
    n = x.shape[1]
    planes = hull.equations
    taken = np.flatnonzero(np.any(d != 0, 1))
    gaps = np.abs(x @ planes[taken, :-1].T + planes[taken, -1])
    if np.any(np.sum(gaps <= NEAR * np.max(np.abs(x - np.mean(x, 0))), 0) > n):
        raise np.linalg.LinAlgError(
            "a plane of scipy.spatial.ConvexHull passes through more points than it needs: it does "
            "not move smoothly"
        )
    corners, normals = x[hull.simplices[taken]], planes[taken, :-1]
    edges = corners[:, 1:] - corners[:, :1]
    center = np.mean(corners, 1)
    db = d[taken, -1:]  # `b == -n @ center`
    dnormals = d[taken, :-1] - db * center
    system = np.concatenate([edges, normals[:, None]], 1)
    solved = np.linalg.solve(np.swapaxes(system, -1, -2), dnormals[..., None])[:, :-1, 0]
    dedges = -solved[..., None] * normals[:, None]
    dcorners = np.concatenate([-np.sum(dedges, 1, keepdims=True), dedges], 1)
    return spread(dcorners - (db * normals)[:, None] / n, hull.simplices[taken], x)


def of_vertices(d, x, cells):
    """Return the cotangent of the points from that of the vertices of their cells.

    A vertex `c` is as far from `n + 1` points: `|p_i - c| == |p_0 - c|` for all of them.
    """
    gaps = cells.vertices[:, None] - x[None]
    distances = np.sqrt(np.sum(gaps * gaps, -1))
    n = x.shape[1]
    near = np.argsort(distances, 1)[:, : n + 2]
    reach = np.take_along_axis(distances, near, 1)
    if near.shape[1] == n + 2 and np.any(reach[:, -1] - reach[:, 0] <= NEAR * reach[:, 0]):
        raise np.linalg.LinAlgError(
            "a vertex of scipy.spatial.Voronoi is as far from more points than it needs: it does "
            "not move smoothly"
        )
    near = near[:, : n + 1]
    corners = x[near]
    edges = corners[:, 1:] - corners[:, :1]
    weights = np.linalg.solve(np.swapaxes(edges, -1, -2), d[..., None])
    weights = np.concatenate([-np.sum(weights, 1, keepdims=True), weights], 1)
    return spread(weights * (corners - cells.vertices[:, None]), near, x)


def spread(dcorners, simplices, x):
    """Return the cotangent of points from those of the corners of facets."""
    dx = np.zeros(x.shape)
    np.add.at(dx, simplices, dcorners)
    return dx


def factorial(n):
    """Return the product of the numbers up to `n`."""
    return float(np.prod(np.arange(1, n + 1)))


def volumes_back(facets, inside):
    """Return the derivative of the volume by the corners of the facets.

    The volume is the sum of `|det(corners - inside)| / n!`, whatever the point inside is.
    """
    corners = facets - inside
    determinants = np.linalg.det(corners)
    cofactors = determinants[:, None, None] * np.swapaxes(np.linalg.inv(corners), -1, -2)
    return np.sign(determinants)[:, None, None] * cofactors / factorial(facets.shape[-1])


def areas_back(facets):
    """Return the derivative of the sum of the areas of facets by their corners.

    The area of one is `sqrt(det(E E^T)) / (n - 1)!` with its edges `E` from the first corner.
    """
    edges = facets[:, 1:] - facets[:, :1]
    gram = edges @ np.swapaxes(edges, -1, -2)
    area = np.sqrt(np.linalg.det(gram)) / factorial(edges.shape[1])
    dedges = area[:, None, None] * (np.linalg.inv(gram) @ edges)
    return np.concatenate([-np.sum(dedges, 1, keepdims=True), dedges], 1)


declare(spatial.ConvexHull, volume=of_volume, area=of_area, equations=of_planes)
declare(spatial.Delaunay)
declare(spatial.Voronoi, vertices=of_vertices)


@rule(spatial.HalfspaceIntersection)
def _(halfspaces: ArrayLike, interior_point: object, incremental=False, qhull_options=None):
    if incremental:
        raise NotImplementedError(
            "scipy.spatial.HalfspaceIntersection has no rule for incremental: make a new one of "
            "all halfspaces"
        )
    y = spatial.HalfspaceIntersection(halfspaces, interior_point, False, qhull_options)
    known = {"intersections": lambda d: of_corners(d, y), "_points": lambda d: d}

    def pullback(dy):
        total = np.zeros(y.halfspaces.shape)
        for name, d in () if dy is None else dy.items():
            if d is None or np.asarray(getattr(y, name)).dtype.kind in "biu":
                continue
            if name not in known:
                raise NotImplementedError(
                    "of scipy.spatial.HalfspaceIntersection only intersections and halfspaces "
                    f"carry a gradient, and not {name}: compute that from them"
                )
            total = total + known[name](d)
        return project(total, halfspaces), None

    return y, pullback


@rule(spatial.HalfspaceIntersection.halfspaces.fget)
def _(self: spatial.HalfspaceIntersection):
    return self.halfspaces, lambda dy: (Tangent(spatial.HalfspaceIntersection, _points=dy),)


def of_corners(d, cut):
    """Return the cotangent of half-spaces `A x + b <= 0` from that of the corners they leave.

    A corner is on `n` planes: `A x == -b` for these.
    """
    planes = cut.halfspaces
    total = np.zeros(planes.shape)
    for corner, dcorner, on in zip(cut.intersections, d, cut.dual_facets, strict=True):
        if not np.any(dcorner):
            continue
        gaps = np.abs(planes[:, :-1] @ corner + planes[:, -1])
        sizes = np.linalg.norm(planes[:, :-1], axis=1) * np.linalg.norm(corner)
        sizes = sizes + np.abs(planes[:, -1])
        if np.sum(gaps <= NEAR * sizes) != len(corner):
            raise np.linalg.LinAlgError(
                "a corner of scipy.spatial.HalfspaceIntersection is on more planes than it needs, "
                "or far away: it does not move smoothly"
            )
        weights = -np.linalg.solve(planes[on, :-1].T, dcorner)
        np.add.at(total, on, weights[:, None] * np.append(corner, 1.0))
    return total
