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
    return np.where(degree_zero, plain, ((v + m) * (v - m + 1) * down - up) / (2 * root))


def refuse_third(diff_n):
    """Refuse the derivative of a second derivative, which SciPy does not have."""
    if diff_n >= 2:
        raise NotImplementedError(
            "Legendre functions with diff_n=2 have no rule: SciPy has no third derivative"
        )


def by_argument(f, orders, z, options, diff_n):
    """Return the value and the pullback by the last argument, from one derivative more."""
    refuse_third(diff_n)

    def pullback(dy):
        slope = f(*orders, z, **options, diff_n=diff_n + 1)[1:]
        return project(dy * np.conj(slope), z)

    return f(*orders, z, **options, diff_n=diff_n), (*(None for _ in orders), pullback)


def declare_of_degree(f):
    """Declare a function of a degree and an argument."""

    @rule(f, refuses={"n": INTEGER})
    def _(n: object, z: Numeric, *, diff_n=0):
        return by_argument(f, (n,), z, {}, diff_n)


def declare_associated(f):
    """Declare a function of degree, order and argument, with a choice of branch and norm."""

    @rule(f, refuses={"n": INTEGER, "m": INTEGER})
    def _(n: object, m: object, z: Numeric, *, branch_cut=2, norm=False, diff_n=0):
        options = {"branch_cut": branch_cut, "norm": norm}
        return by_argument(f, (n, m), z, options, diff_n)


def declare_spherical(f):
    """Declare a function of degree, order and polar angle."""

    @rule(f, refuses={"n": INTEGER, "m": INTEGER})
    def _(n: object, m: object, theta: Numeric, *, diff_n=0):
        return by_argument(f, (n, m), theta, {}, diff_n)


def declare_harmonics(f):
    """Declare a function of degree, order and two angles."""

    @rule(f, refuses={"n": INTEGER, "m": INTEGER})
    def _(n: object, m: object, theta: Numeric, phi: Numeric, *, diff_n=0):
        refuse_third(diff_n)

        def slopes(dy):
            _, *more = f(n, m, theta, phi, diff_n=diff_n + 1)
            given = dy if diff_n else (dy,)
            found = [None, None]
            for j in range(2):
                for i, (d, slope) in enumerate(zip(given, more, strict=True)):
                    if d is not None:
                        product = d * np.conj(slope[..., j])
                        total = np.sum(product, axis=-1) if i else product
                        found[j] = total if found[j] is None else found[j] + total
            return found

        def by_theta(found):
            return None if found[0] is None else project(found[0], theta)

        def by_phi(found):
            return None if found[1] is None else project(found[1], phi)

        return f(n, m, theta, phi, diff_n=diff_n), (slopes, (None, None, by_theta, by_phi))


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
