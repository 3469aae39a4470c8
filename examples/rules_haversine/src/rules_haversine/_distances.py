"""Great-circle distances, of two points and of many pairs.

With `h = sin²(Δφ/2) + cos φ₁ cos φ₂ sin²(Δλ/2)` the distance is `2 R asin(√h)`, so that it changes
with `h` by `R / √(h (1 - h))`. Where two points coincide the distance has its minimum, and where
they are opposite its maximum: there the slope is 0.
"""

import numpy as np
from haversine import Unit, haversine, haversine_vector
from haversine.haversine import get_avg_earth_radius

from rulescore import Numeric, RuleSet, project

rule = RuleSet("rules_haversine")


@rule(haversine)
def _(point1: tuple, point2: tuple, unit=Unit.KILOMETERS, normalize=False, check=True):
    d = haversine(point1, point2, unit, normalize, check)

    def pullback(dd):
        first, second = slopes(np.array(point1), np.array(point2), get_avg_earth_radius(unit))
        return project(dd * first, point1), project(dd * second, point2)

    return d, pullback


@rule(haversine_vector)
def _(array1: Numeric, array2: Numeric, unit=Unit.KILOMETERS, *, normalize=False, check=True):
    d = haversine_vector(array1, array2, unit, normalize=normalize, check=check)

    def pullback(dd):
        first, second = slopes(array1, array2, get_avg_earth_radius(unit))
        along = np.expand_dims(dd, -1)
        return project(along * first, array1), project(along * second, array2)

    return d, pullback


def slopes(first, second, radius):
    """Return the derivatives of distances by the latitudes and longitudes of both ends."""
    (phi, lam), (psi, mu) = np.radians(first.T), np.radians(second.T)
    north, east = np.sin(psi - phi), np.sin(mu - lam)
    half = np.sin((mu - lam) / 2) ** 2
    h = np.sin((psi - phi) / 2) ** 2 + np.cos(phi) * np.cos(psi) * half
    flat = (h <= 0) | (h >= 1)
    rate = np.where(flat, 0.0, radius / np.sqrt(np.where(flat, 1.0, h * (1 - h)))) * np.pi / 180
    sideways = np.cos(phi) * np.cos(psi) * east / 2
    by_phi = -north / 2 - np.sin(phi) * np.cos(psi) * half
    by_psi = north / 2 - np.cos(phi) * np.sin(psi) * half
    return (rate * np.array([by_phi, -sideways])).T, (rate * np.array([by_psi, sideways])).T


OSLO, QUITO, TOKYO = (59.91, 10.75), (-0.23, -78.52), (35.68, 139.69)
rule.example(haversine, OSLO, QUITO)
rule.example(haversine, TOKYO, QUITO, unit=Unit.MILES)
rule.example(haversine_vector, np.array([OSLO, TOKYO]), np.array([QUITO, OSLO]))
rule.example(haversine_vector, np.array([OSLO, TOKYO]), np.array([QUITO, OSLO]), Unit.RADIANS)
