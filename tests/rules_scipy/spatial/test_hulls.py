"""Rules of `rules_scipy.spatial.hulls`, against closed forms and differences."""

import itertools

import numpy as np
import pytest
from scipy import spatial

from zygote_lite import NoRuleError, gradient


def differences(f, x, h=1e-5):
    steps = h * np.eye(x.size).reshape(-1, *x.shape)
    return np.reshape([(f(x + e) - f(x - e)) / (2 * h) for e in steps], x.shape)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_the_volume_and_the_area_of_a_hull(n):
    x = np.random.default_rng(n).normal(size=(8, n))

    def f(x):
        hull = spatial.ConvexHull(x)
        return hull.volume**2 + hull.area + np.sum(hull.points[hull.vertices] ** 2)

    np.testing.assert_allclose(gradient(f, x)[0], differences(f, x), atol=1e-7)


def test_the_volume_of_a_box():
    corners = np.array([*itertools.product((0.0, 1.0), repeat=3)])
    found = gradient(lambda s: spatial.ConvexHull(corners * s).volume, np.array([2.0, 3.0, 5.0]))
    np.testing.assert_allclose(found[0], [15.0, 10.0, 6.0])


def test_the_vertices_of_cells_are_centres_of_circles():
    x = np.array([[0.0, 0.0], [2.0, 0.1], [0.3, 1.7]])

    def f(x):
        return spatial.Voronoi(x).vertices[0, 0]

    np.testing.assert_allclose(gradient(f, x)[0], differences(f, x), atol=1e-8)


def test_a_vertex_as_far_from_four_points_is_refused():
    square = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    with pytest.raises(np.linalg.LinAlgError, match="more points than it needs"):
        gradient(lambda x: np.sum(spatial.Voronoi(x).vertices), square)


def test_a_triangulation_is_held_fixed_and_other_fields_are_refused():
    x = np.random.default_rng(7).normal(size=(6, 2))

    def area(x):
        corners = x[spatial.Delaunay(x).simplices]
        return np.sum(np.linalg.det(corners[:, 1:] - corners[:, :1]) ** 2)

    np.testing.assert_allclose(gradient(area, x)[0], differences(area, x), atol=1e-6)
    with pytest.raises(NoRuleError, match="and not equations"):
        gradient(lambda x: np.sum(spatial.Delaunay(x).equations), x)


@pytest.mark.parametrize("n", [2, 3])
def test_the_planes_of_a_hull(n):
    x = np.random.default_rng(n).normal(size=(8, n))
    weights = np.cos(np.arange(96.0)).reshape(-1, n + 1)

    def f(x):
        planes = spatial.ConvexHull(x).equations
        return np.sum(weights[: len(planes)] * planes)

    np.testing.assert_allclose(gradient(f, x)[0], differences(f, x), atol=1e-7)


def test_a_plane_through_more_points_than_it_needs_is_refused():
    corners = np.array([*itertools.product((0.0, 1.0), repeat=3)])
    with pytest.raises(np.linalg.LinAlgError, match="more points than it needs"):
        gradient(lambda x: np.sum(spatial.ConvexHull(x).equations ** 3), corners)


def test_the_vertices_of_cells_on_a_sphere():
    x = np.random.default_rng(5).normal(size=(7, 3))
    weights = np.cos(np.arange(60.0)).reshape(-1, 3)

    def f(x, radius, center):
        points = center + radius * x / np.linalg.norm(x, axis=1)[:, None]
        vertices = spatial.SphericalVoronoi(points, radius, center).vertices
        return np.sum(weights[: len(vertices)] * vertices)

    at = x, 1.5, np.array([1.0, -2.0, 0.5])
    dx, dradius, dcenter = gradient(f, *at)
    np.testing.assert_allclose(dx, differences(lambda x: f(x, *at[1:]), x), atol=1e-6)
    np.testing.assert_allclose(dradius, differences(lambda r: f(x, r[()], at[2]), np.array(1.5)))
    np.testing.assert_allclose(dcenter, differences(lambda c: f(x, 1.5, c), at[2]), atol=1e-6)


HALVES = np.array([[-1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [1.0, 0.1, -1.0], [0.2, 1.0, -1.0]])
INSIDE = np.array([0.3, 0.3])


def test_the_corners_of_an_intersection_of_half_spaces():
    weights = np.cos(np.arange(8.0)).reshape(4, 2)

    def f(planes):
        cut = spatial.HalfspaceIntersection(planes, INSIDE)
        return np.sum(weights * cut.intersections) + np.sum(cut.halfspaces**2)

    for _ in range(3):
        found = gradient(f, HALVES)[0]
    np.testing.assert_allclose(found, differences(f, HALVES), atol=1e-8)


def test_a_corner_on_more_planes_than_it_needs_and_other_fields_are_refused():
    more = np.vstack([HALVES, [-1.0, -1.0, 0.0]])
    f = lambda planes, field: np.sum(getattr(spatial.HalfspaceIntersection(planes, INSIDE), field))
    with pytest.raises(np.linalg.LinAlgError, match="more planes than it needs"):
        gradient(lambda planes: f(planes, "intersections"), more)
    with pytest.raises(NoRuleError, match="and not dual_points"):
        gradient(lambda planes: f(planes, "dual_points"), HALVES)
