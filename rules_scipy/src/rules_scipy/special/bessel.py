"""Bessel and Kelvin functions (DLMF 10), by their argument; `kv` by its order too."""

import numpy as np
from scipy import special as sp

from rules_scipy.shared.expansions import is_far, piecewise, scaled_bessel_slope, truncated
from rules_scipy.shared.outputs import several_outputs
from rules_scipy.shared.refusals import INTEGER, ORDER, PARAMETER, refuse_complex
from rulescore import Numeric, RuleSet, project

TINY = 1e-300

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.special.bessel")

# first and second kind, and Hankel functions: 10.6.1
by_argument = {"refuses": {"v": ORDER}}
rule.scalar(sp.jv, **by_argument)(lambda v, z: (None, (sp.jv(v - 1, z) - sp.jv(v + 1, z)) / 2))
rule.scalar(sp.yv, **by_argument)(lambda v, z: (None, (sp.yv(v - 1, z) - sp.yv(v + 1, z)) / 2))
rule.scalar(sp.yn, refuses={"n": INTEGER})(
    lambda n, x: (None, (sp.yv(truncated(n) - 1.0, x) - sp.yv(truncated(n) + 1.0, x)) / 2)
)
rule.scalar(sp.hankel1, **by_argument)(
    lambda v, z: (None, (sp.hankel1(v - 1, z) - sp.hankel1(v + 1, z)) / 2)
)
rule.scalar(sp.hankel2, **by_argument)(
    lambda v, z: (None, (sp.hankel2(v - 1, z) - sp.hankel2(v + 1, z)) / 2)
)
rule.scalar(sp.j0)(lambda x: -sp.j1(x))
rule.scalar(sp.j1)(lambda x: (sp.j0(x) - sp.jv(2, x)) / 2)
rule.scalar(sp.y0)(lambda x: -sp.y1(x))
rule.scalar(sp.y1)(lambda x: (sp.y0(x) - sp.yv(2, x)) / 2)

# modified: 10.29.2
rule.scalar(sp.iv, **by_argument)(lambda v, z: (None, (sp.iv(v - 1, z) + sp.iv(v + 1, z)) / 2))
rule.scalar(sp.kv)(
    lambda v, z: kv_by_order(sp.kv, v, z, 0.0),
    lambda v, z: -(sp.kv(v - 1, z) + sp.kv(v + 1, z)) / 2,
)
rule.scalar(sp.kn, refuses={"n": INTEGER})(
    lambda n, x: (None, -(sp.kv(truncated(n) - 1.0, x) + sp.kv(truncated(n) + 1.0, x)) / 2)
)
rule.scalar(sp.i0)(lambda x: sp.i1(x))
rule.scalar(sp.i1)(lambda x: (sp.i0(x) + sp.iv(2, normal(x))) / 2)
rule.scalar(sp.k0)(lambda x: -sp.k1(x))
rule.scalar(sp.k1)(lambda x: -(sp.k0(x) + sp.kv(2, x)) / 2)

# scaled
rule.scalar(sp.jve, **by_argument)(
    lambda v, z: (None, (jve(v - 1, z) - jve(v + 1, z)) / 2),
)
rule.scalar(sp.yve, **by_argument)(
    lambda v, z: (None, (yve(v - 1, z) - yve(v + 1, z)) / 2),
)
rule.scalar(sp.ive, **by_argument)(
    lambda v, z, out: (None, ive_slope(v, refuse_complex(sp.ive, z), out))
)
rule.scalar(sp.kve)(
    lambda v, z, out: kv_by_order(sp.kve, v, z, 1.0),
    lambda v, z, out: kve_slope(v, z, out),
)
rule.scalar(sp.hankel1e, **by_argument)(lambda v, z: (None, hankel1e_slope(v, z)))
rule.scalar(sp.hankel2e, **by_argument)(lambda v, z: (None, hankel2e_slope(v, z)))
rule.scalar(sp.i0e)(lambda x, out: ive_slope(0, x, out))
rule.scalar(sp.i1e)(lambda x, out: ive_slope(1, x, out))
rule.scalar(sp.k0e)(lambda x, out: kve_slope(0, x, out))
rule.scalar(sp.k1e)(lambda x, out: kve_slope(1, x, out))

# Wright's: by its series, term by term
wright = {"refuses": {"a": PARAMETER, "b": PARAMETER}}
rule.scalar(sp.wright_bessel, **wright)(lambda a, b, x: (None, None, sp.wright_bessel(a, a + b, x)))
rule.scalar(sp.log_wright_bessel, **wright)(
    lambda a, b, x, out: (None, None, np.exp(sp.log_wright_bessel(a, a + b, x) - out))
)

# integrals: 10.22(i) and 10.43(i)
several_outputs(rule, sp.itj0y0)(lambda x, y: (sp.j0(x), sp.y0(x)))
several_outputs(rule, sp.iti0k0)(lambda x, y: (sp.i0(x), sp.k0(x)))
several_outputs(rule, sp.it2j0y0)(lambda x, y: (-less_one(sp.j0, x, -1.0), -sp.y0(x) / x))
several_outputs(rule, sp.it2i0k0)(lambda x, y: (less_one(sp.i0, x, 1.0), -sp.k0(x) / x))
rule.scalar(sp.besselpoly, refuses={"lmb": PARAMETER, "nu": ORDER})(
    lambda a, lmb, nu, out: (besselpoly_slope(a, lmb, nu, out), None, None)
)

# Kelvin functions, by the differential equation: 10.61.3
rule.scalar(sp.ber)(lambda x: sp.berp(x))
rule.scalar(sp.bei)(lambda x: sp.beip(x))
rule.scalar(sp.ker)(lambda x: sp.kerp(x))
rule.scalar(sp.kei)(lambda x: sp.keip(x))
rule.scalar(sp.berp)(lambda x, out: -sp.bei(x) - np.where(x == 0, 0.0, out / x))
rule.scalar(sp.beip)(lambda x, out: sp.ber(x) - np.where(x == 0, 0.5, out / x))
rule.scalar(sp.kerp)(lambda x, out: -sp.kei(x) - out / x)
rule.scalar(sp.keip)(lambda x, out: sp.ker(x) - out / x)
several_outputs(rule, sp.kelvin)(lambda x, y: kelvin_slopes(x, *y))
rule.constant(sp.ber_zeros, sp.bei_zeros, sp.berp_zeros, sp.beip_zeros, sp.kelvin_zeros)
rule.constant(sp.ker_zeros, sp.kei_zeros, sp.kerp_zeros, sp.keip_zeros)

rule.constant(sp.jn_zeros, sp.jnp_zeros, sp.yn_zeros, sp.ynp_zeros, sp.jnyn_zeros, sp.jnjnp_zeros)
rule.constant(sp.y0_zeros, sp.y1_zeros, sp.y1p_zeros)


def normal(x):
    """Return a number, or zero for one so small that SciPy's `iv` has no value there."""
    return np.where(abs(x) < TINY, 0.0, x)


def kelvin_slopes(x, be, ke, bep, kep):
    """Return the derivatives of `ber + i bei`, `ker + i kei` and their derivatives."""
    ratio = np.where(x == 0, 0.5j, bep / np.where(x == 0, 1.0, x))
    return bep, kep, 1j * be - ratio, 1j * ke - kep / x


def jve(v, z):
    """Return `jve` of what is not complex."""
    return sp.jve(v, refuse_complex(sp.jve, z))


def yve(v, z):
    """Return `yve` of what is not complex."""
    return sp.yve(v, refuse_complex(sp.yve, z))


def ive_slope(v, x, out):
    """Return the derivative of `ive`, by its expansion for large arguments."""

    def far(x):
        return out * scaled_bessel_slope(v, abs(x), -1) * np.sign(x)

    def near(x):
        return (sp.ive(v - 1.0, x) + sp.ive(v + 1.0, x)) / 2 - np.sign(x) * out

    return piecewise(is_far(v, x), (x,), far, (1e3 + v * v,), near, (1.0,))


def kve_slope(v, z, out):
    """Return the derivative of `kve`, by its expansion for large arguments."""

    def far(z):
        return out * scaled_bessel_slope(v, z, 1)

    def near(z):
        return out - (sp.kve(v - 1.0, z) + sp.kve(v + 1.0, z)) / 2

    return piecewise(is_far(v, z) & (np.real(z) >= 0), (z,), far, (1e3 + v * v,), near, (1.0,))


def hankel1e_slope(v, z):
    """Return the derivative of `hankel1e`, in the third quadrant by continuation (10.11.5)."""
    return hankel_slope(v, z, 1j, (np.real(z) < 0) & (np.imag(z) < 0))


def hankel2e_slope(v, z):
    """Return the derivative of `hankel2e`, in the second quadrant by continuation (10.11.5)."""
    return hankel_slope(v, z, -1j, (np.real(z) < 0) & (np.imag(z) >= 0))


def hankel_slope(v, z, turn, beyond):
    """Return the derivative of a scaled Hankel function: `turn` is `1j` for the first kind.

    Arguments:
        beyond: where the function at `z` is continued from that at `-z`, across the cut of `kve`.
    """

    def near(z):
        return rotated(v, z, turn)[1]

    def far(z):
        value, slope = rotated(v, -z, turn)
        other = rotated(v, -z, -turn)[1] * np.exp(-turn * np.pi * v)
        return -(2 * np.cos(np.pi * v) * np.exp(-2 * turn * z) * (2 * turn * value + slope) + other)

    return piecewise(beyond, (z,), far, (-1.0 - turn,), near, (1.0 + turn,))


def rotated(v, z, turn):
    """Return a scaled Hankel function and its derivative, by `kve` (10.27.8)."""
    factor = 2 / (np.pi * turn) * np.exp(-turn * np.pi / 2 * v)
    y = sp.kve(v, -turn * z)
    return factor * y, -turn * factor * kve_slope(v, -turn * z, y)


_STEPS = np.linspace(0.0, 1.0, 201)


def kv_by_order(f, v, z, scaled):
    """Return the derivative of `kv` or `kve` by the order, from the integral 10.32.9.

    The trapezoidal rule around the largest value of the integrand, which falls faster than any
    exponential on both sides.
    """
    if np.iscomplexobj(z):
        raise NotImplementedError(
            f"scipy.special.{f.__name__} has no derivative by the order for complex arguments, "
            "whose integral oscillates: let the order be constant (`stop_gradient`)"
        )
    x = z
    side = np.where(v < 0, -1.0, 1.0)  # not the sign, whose 0 has no slope
    order = side * v
    size = np.hypot(order, x)
    peak, drop = np.arcsinh(order / x), 45 / size
    start = np.maximum(peak - drop - np.sqrt(2 * drop), 0.0)
    width = peak + np.arccosh(1 + drop) - start
    x, order = np.expand_dims(x, -1), np.expand_dims(order, -1)
    t = np.expand_dims(start, -1) + np.expand_dims(width, -1) * _STEPS
    growth = order * t - x * (np.cosh(t) - scaled)
    values = t * np.exp(growth) * -np.expm1(-2 * order * t) / 2
    return side * width / 200 * np.sum(values, axis=-1)


def less_one(f, x, sign):
    """Return `(f(x) - 1) / x` for `j0` and `i0`, by their series for small arguments (10.8.3)."""
    small = abs(x) < 1
    near, far = np.where(small, x, 0.0), np.where(small, 1.0, x)
    square, term, total = near * near / 4 * sign, 1.0, 0.0
    for k in range(1, 10):
        term = term / (k * k)
        total = total + term * square ** (k - 1)
    return np.where(small, sign * near / 4 * total, (f(far) - 1) / far)


def besselpoly_slope(a, lmb, nu, out):
    """Return the derivative of the integral of `x**lmb * jv(nu, 2 * a * x)` by `a` (10.6.2)."""
    first = np.where(nu == 0, 0.0, nu * out / np.where(nu == 0, 1.0, a))
    return first - 2 * sp.besselpoly(a, lmb + 1, nu + 1)


# spherical: 10.51.1 and 10.51.4, twice where the derivative is differentiated
def lower(f, n, z, derivative):
    """Return the spherical function of order `n - 1`, or anything where `n` is zero."""
    return f(np.maximum(np.asarray(n) - 1, 0), z, derivative)


def declare_spherical(f, low, high):
    """Declare a spherical function with `(2n + 1) f_n' = low n f_(n-1) + high (n + 1) f_(n+1)`."""

    @rule(f, refuses={"n": INTEGER})
    def _(n: object, z: Numeric, derivative=False):
        def pullback(dy):
            order = np.asarray(n)
            below, above = lower(f, n, z, derivative), f(order + 1, z, derivative)
            below = np.where(order == 0, 0.0, below)
            slope = (low * order * below + high * (order + 1) * above) / (2 * order + 1)
            return project(dy * np.conj(slope), z)

        return f(n, z, derivative), (None, pullback)


declare_spherical(sp.spherical_jn, 1, -1)
declare_spherical(sp.spherical_yn, 1, -1)
declare_spherical(sp.spherical_in, 1, 1)
declare_spherical(sp.spherical_kn, -1, -1)


@rule(sp.riccati_jn, refuses={"n": INTEGER})
def _(n: object, x: float):
    y = sp.riccati_jn(n, x)
    return y, (None, riccati_pullback(y, x))


@rule(sp.riccati_yn, refuses={"n": INTEGER})
def _(n: object, x: float):
    y = sp.riccati_yn(n, x)
    return y, (None, riccati_pullback(y, x))


@rule(sp.lmbda, refuses={"v": ORDER})
def _(v: object, x: float):
    y = sp.lmbda(v, x)

    def by_x(dy):
        orders = v - np.trunc(v) + np.arange(len(y[0]))
        # 10.2.1, where the order is divided out
        curvature = -1 / (2 * orders + 2) if x == 0 else -(2 * orders + 1) / x * y[1] - y[0]
        slopes = y[1], curvature
        parts = [np.sum(d * slope) for d, slope in zip(dy, slopes, strict=True) if d is not None]
        return project(sum(parts), x) if parts else None

    return y, (None, by_x)


def riccati_pullback(y, x):
    """Return the pullback of Riccati-Bessel functions and their derivatives (10.51.6)."""

    def pullback(dy):
        orders = np.arange(len(y[0]))
        slopes = (y[1], (orders * (orders + 1) / x**2 - 1) * y[0])
        parts = [np.sum(d * slope) for d, slope in zip(dy, slopes, strict=True) if d is not None]
        return project(sum(parts), x) if parts else None

    return pullback
