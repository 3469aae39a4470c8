"""Legendre functions and spherical harmonics (DLMF 14): SciPy returns their derivatives too."""

import numpy as np
from scipy import special as sp

from rules_scipy.shared.refusals import INTEGER, ORDER
from rulescore import Numeric, RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.special.legendre")

rule.scalar(sp.lpmv, refuses={"m": INTEGER, "v": ORDER})(
    lambda m, v, x: (None, None, lpmv_slope(m, v, x))
)


def lpmv_slope(m, v, x):
    """Return the derivative of `lpmv(m, v, x)` by 14.10.1 and 14.10.3, of degree zero by 15.5.1."""
    degree_zero = np.equal(m, 0)
    plain = v * (v + 1) / 2 * sp.hyp2f1(1 - v, v + 2, 2, (1 - x) / 2)
    root = np.sqrt(np.where(degree_zero, 1.0, (1 - x) * (1 + x)))
    up, down = sp.lpmv(m + 1, v, x), sp.lpmv(m - 1, v, x)
    factor = (v + m) * (v - m + 1)
    down = np.where(factor == 0, 0.0, factor * down)  # where SciPy has no value
    return np.where(degree_zero, plain, (down - up) / (2 * root))


def by_argument(f, orders, z, options, diff_n, third):
    """Return the value and the pullback by the last argument, from one derivative more.

    SciPy has two of them; `third` computes another one from both and the value.
    """

    def pullback(dy):
        y = f(*orders, z, **options, diff_n=min(diff_n + 1, 2))
        slope = y[1:] if diff_n < 2 else np.concatenate([y[1:], third(*y)[None]])
        return project(dy * np.conj(slope), z)

    return f(*orders, z, diff_n=diff_n, **options), (None,) * len(orders) + (pullback,)


def degrees_of(f, n, z):
    """Return the degrees of the entries of the value: an array of all up to `n`, or `n` itself."""
    return np.reshape(np.arange(n + 1), (-1, *(1 for _ in np.shape(z)))) if has_all(f) else n


def orders_of(f, n, m, z):
    """Return the degrees and orders of the entries of the value; the negative orders are last."""
    if not has_all(f):
        return n, m
    orders = np.concatenate([np.arange(m + 1), np.arange(-m, 0)])
    behind = [1 for _ in np.shape(z)]
    return np.reshape(np.arange(n + 1), (-1, 1, *behind)), np.reshape(orders, (-1, *behind))


def has_all(f):
    """Return whether a function gives the values of all degrees up to a number."""
    return f.__name__.endswith("_all")


def third_by_equation(n, m, z, w, slope, curvature):
    """Return the third derivative by the argument: 14.2.2, differentiated."""
    rest = 1 - z * z
    inner = (n * (n + 1) - 2 - m * m / rest) * slope
    return (4 * z * curvature - inner + 2 * m * m * z / rest**2 * w) / rest


def third_by_angle(n, m, theta, w, slope, curvature):
    """Return the third derivative by the polar angle: 14.30.2, differentiated."""
    cot, square = np.cos(theta) / np.sin(theta), 1 / np.sin(theta) ** 2
    inner = (n * (n + 1) - (m * m + 1) * square) * slope
    return -cot * curvature - inner - 2 * m * m * cot * square * w


def third_of_polynomial(n, z, w, slope, curvature):
    """Return the third derivative of Legendre polynomials (18.9.19)."""
    if np.iscomplexobj(z):
        return third_by_equation(n, 0, z, w, slope, curvature)
    return 15 * sp.eval_gegenbauer(n - 3, 3.5, z)


def declare_of_degree(f):
    """Declare a function of a degree and an argument."""

    @rule(f, refuses={"n": INTEGER})
    def _(n: object, z: Numeric, *, diff_n=0):
        degrees = degrees_of(f, n, z)
        third = lambda *y: third_of_polynomial(degrees, z, *y)
        return by_argument(f, (n,), z, {}, diff_n, third)


def declare_associated(f):
    """Declare a function of degree, order and argument, with a choice of branch and norm."""

    @rule(f, refuses={"n": INTEGER, "m": INTEGER})
    def _(n: object, m: object, z: Numeric, *, branch_cut=2, norm=False, diff_n=0):
        options = {"branch_cut": branch_cut, "norm": norm}
        third = lambda *y: third_by_equation(*orders_of(f, n, m, z), z, *y)
        return by_argument(f, (n, m), z, options, diff_n, third)


def declare_spherical(f):
    """Declare a function of degree, order and polar angle."""

    @rule(f, refuses={"n": INTEGER, "m": INTEGER})
    def _(n: object, m: object, theta: Numeric, *, diff_n=0):
        third = lambda *y: third_by_angle(*orders_of(f, n, m, theta), theta, *y)
        return by_argument(f, (n, m), theta, {}, diff_n, third)


def declare_harmonics(f):
    """Declare a function of degree, order and two angles."""

    @rule(f, refuses={"n": INTEGER, "m": INTEGER})
    def _(n: object, m: object, theta: Numeric, phi: Numeric, *, diff_n=0):
        def slopes(dy):
            y = f(n, m, theta, phi, diff_n=min(diff_n + 1, 2))
            more = y[1:]
            if diff_n == 2:
                shape = np.broadcast_shapes(np.shape(theta), np.shape(phi))
                orders = orders_of(f, n, m, np.empty(shape))
                more = *more, third_of_harmonics(*orders, theta, *y)
            given = dy if diff_n else (dy,)
            found = [None, None]
            for j in range(2):
                for i, (d, slope) in enumerate(zip(given, more, strict=True)):
                    if d is not None:
                        product = d * np.conj(slope[..., j])
                        total = np.sum(product, axis=(-1, -2)[:i]) if i else product
                        found[j] = total if found[j] is None else found[j] + total
            return found

        def by_theta(found):
            return None if found[0] is None else project(found[0], theta)

        def by_phi(found):
            return None if found[1] is None else project(found[1], phi)

        return f(n, m, theta, phi, diff_n=diff_n), (slopes, (None, None, by_theta, by_phi))


def third_of_harmonics(n, m, theta, w, slope, curvature):
    """Return the third derivatives by both angles: that by `phi` is a factor of `m i`."""
    by_phi = 1j * np.expand_dims(m, (-1, -2)) * curvature
    at_first = third_by_angle(n, m, theta, w, slope[..., 0], curvature[..., 0, 0])
    first = np.stack([at_first, by_phi[..., 0, 0]], axis=-1)
    by_theta = np.stack([first, by_phi[..., 0, :]], axis=-1)
    return np.stack([by_theta, by_phi], axis=-1)


for f in (sp.legendre_p, sp.legendre_p_all):
    declare_of_degree(f)
for f in (sp.assoc_legendre_p, sp.assoc_legendre_p_all):
    declare_associated(f)
for f in (sp.sph_legendre_p, sp.sph_legendre_p_all):
    declare_spherical(f)
for f in (sp.sph_harm_y, sp.sph_harm_y_all):
    declare_harmonics(f)


@rule(sp.lqn, refuses={"n": INTEGER})
def _(n: object, z: Numeric):
    y = sp.lqn(n, z)

    def pullback(dy):
        k = np.arange(len(y[0])).reshape((-1,) + (1,) * np.ndim(z))
        curvature = (2 * z * y[1] - k * (k + 1) * y[0]) / (1 - z * z)  # 14.2.1
        given = zip(dy, (y[1], curvature), strict=True)
        parts = [d * np.conj(slope) for d, slope in given if d is not None]
        return project(sum(parts), z) if parts else None

    return y, (None, pullback)


@rule(sp.lqmn, refuses={"m": INTEGER, "n": INTEGER})
def _(m: object, n: object, z: Numeric):
    y = sp.lqmn(m, n, z)

    def pullback(dy):
        order, k = np.arange(m + 1)[:, None], np.arange(n + 1)
        rest = (k * (k + 1) - order**2 / (1 - z * z)) * y[0]
        curvature = (2 * z * y[1] - rest) / (1 - z * z)  # 14.2.2
        given = zip(dy, (y[1], curvature), strict=True)
        parts = [d * np.conj(slope) for d, slope in given if d is not None]
        return project(sum(map(np.sum, parts)), z) if parts else None

    return y, (None, None, pullback)
