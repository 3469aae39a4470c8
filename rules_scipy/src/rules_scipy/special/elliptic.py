"""Elliptic integrals and functions (DLMF 19 and 22), by Carlson's symmetric integrals."""

import numpy as np
from scipy import special as sp

from rules_scipy.shared.outputs import several_outputs
from rulescore import RuleSet

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.special.elliptic")

# Legendre's: 19.25.1 and 19.25.5 with 19.18.1
rule.scalar(sp.ellipk)(lambda m: sp.elliprd(0, 1, 1 - m) / 6)
rule.scalar(sp.ellipkm1)(lambda p: -sp.elliprd(0, 1, p) / 6)
rule.scalar(sp.ellipe)(lambda m: -sp.elliprd(0, 1 - m, 1) / 6)
rule.scalar(sp.ellipkinc)(
    lambda phi, m: 1 / np.sqrt(1 - m * np.sin(phi) ** 2),
    lambda phi, m: ellipkinc_by_parameter(phi, m),
)
rule.scalar(sp.ellipeinc)(
    lambda phi, m: np.sqrt(1 - m * np.sin(phi) ** 2),
    lambda phi, m: ellipeinc_by_parameter(phi, m),
)

# Jacobi's: 22.13(i), and by the parameter from the amplitude (22.16.1)
several_outputs(rule, sp.ellipj)(
    lambda u, m, y: (y[1] * y[2], -y[0] * y[2], -m * y[0] * y[1], y[2]),
    lambda u, m, y: jacobi_by_parameter(m, *y),
)

# Carlson's: 19.18.1, 19.18.4, and partial fractions of 19.16.1 to 19.16.5
rule.scalar(sp.elliprc)(lambda x, y, out: elliprc_slopes(x, y, out))
rule.scalar(sp.elliprf)(
    lambda x, y, z: -sp.elliprd(y, z, x) / 6,
    lambda x, y, z: -sp.elliprd(x, z, y) / 6,
    lambda x, y, z: -sp.elliprd(x, y, z) / 6,
)
rule.scalar(sp.elliprg)(
    lambda x, y, z: elliprg_slope(x, y, z),
    lambda x, y, z: elliprg_slope(y, x, z),
    lambda x, y, z: elliprg_slope(z, x, y),
)
rule.scalar(sp.elliprd)(
    lambda x, y, z: -0.75 * integral(x, y, z, (x, z)),
    lambda x, y, z: -0.75 * integral(x, y, z, (y, z)),
    lambda x, y, z: -2.25 * integral(x, y, z, (z, z)),
)
rule.scalar(sp.elliprj)(
    lambda x, y, z, p, out: elliprj_slope(x, y, z, p, out),
    lambda x, y, z, p, out: elliprj_slope(y, x, z, p, out),
    lambda x, y, z, p, out: elliprj_slope(z, x, y, p, out),
    lambda x, y, z, p, out: elliprj_by_pole(x, y, z, p, out),
)


def period(phi):
    """Return the nearest multiple of pi, as its factor, and the sine and the cosine of `phi`."""
    return np.round(phi / np.pi), np.sin(phi), np.cos(phi)


def ellipkinc_by_parameter(phi, m):
    """Return the derivative of `F(phi, m)` by `m`, beyond a quarter period too (19.2.10)."""
    k, sine, cosine = period(phi)
    sine = np.where(k % 2 == 0, sine, -sine)
    within = sine**3 / 6 * sp.elliprd(cosine**2, 1, 1 - m * sine**2)
    return within + np.where(k == 0, 0.0, k * sp.elliprd(0, 1, 1 - np.where(k == 0, 0.0, m)) / 3)


def ellipeinc_by_parameter(phi, m):
    """Return the derivative of `E(phi, m)` by `m`, beyond a quarter period too (19.2.10)."""
    k, sine, cosine = period(phi)
    sine = np.where(k % 2 == 0, sine, -sine)
    return (
        -(sine**3) / 6 * sp.elliprd(cosine**2, 1 - m * sine**2, 1) - k * sp.elliprd(0, 1 - m, 1) / 3
    )


def jacobi_by_parameter(m, sn, cn, dn, ph):
    """Return the derivatives of `sn`, `cn`, `dn` and the amplitude, on which all depend, by `m`."""
    dph = -dn * ellipkinc_by_parameter(ph, m)
    return cn * dph, -sn * dph, -(sn * sn / 2 + m * sn * cn * dph) / dn, dph


def elliprc_slopes(x, y, out):
    """Return both derivatives of `R_C`; for the principal value, `y < 0`, from its closed form."""
    principal = (np.real(y) < 0) & (np.imag(y) == 0)
    safe = np.where(principal, x + 1.0, y)
    by_x = np.where(
        principal,
        (out - 1 / np.sqrt(x)) / (2 * np.where(principal, y - x, 1.0)),
        -sp.elliprd(safe, safe, x) / 6,
    )
    by_y = np.where(principal, -(out / 2 + x * by_x) / y, -sp.elliprd(x, safe, safe) / 3)
    return by_x, by_y


def elliprg_slope(x, y, z):
    """Return the derivative of `R_G` by `x`, where `x` may be zero."""
    return (sp.elliprf(x, y, z) - np.where(x == 0, 0.0, x / 3 * sp.elliprd(y, z, x))) / 4


_STEPS = np.linspace(0.0, 1.0, 401)


def integral(x, y, z, divisors):
    """Return the integral of `1 / (s(t) (t + a) (t + b))`, `s` the root of `(t+x) (t+y) (t+z)`.

    `a` and `b` are the divisors. The trapezoidal rule on a logarithmic scale.
    """
    every = np.broadcast_arrays(x, y, z, *divisors)
    sizes = np.stack([abs(v) for v in every])
    largest = np.max(sizes, axis=0)
    smallest = np.min(np.where(sizes == 0, np.inf, sizes), axis=0)
    low, high = np.log(smallest) - 75, np.log(largest) + 20
    width = np.expand_dims(high - low, -1)
    t = np.exp(np.expand_dims(low, -1) + width * _STEPS)
    x, y, z, a, b = (np.expand_dims(v, -1) for v in every)
    values = t / (np.sqrt(t + x) * np.sqrt(t + y) * np.sqrt(t + z) * (t + a) * (t + b))
    return (high - low) / 400 * np.sum(values, axis=-1)


def elliprj_slope(x, y, z, p, out):
    """Return the derivative of `R_J` by `x`; of the principal value by partial fractions."""
    principal = np.real(p) < 0
    safe = np.where(principal, 1.0, p)
    fractions = (sp.elliprd(y, z, x) - out) / (2 * (x - np.where(principal, p, x + 1)))
    return np.where(principal, fractions, -0.75 * integral(x, y, z, (x, safe)))


def elliprj_by_pole(x, y, z, p, out):
    """Return the derivative of `R_J` by `p`, for the principal value by its homogeneity."""
    principal = np.real(p) < 0
    each = ((x, y, z), (y, x, z), (z, x, y))
    moved = sum(a * elliprj_slope(a, b, c, p, out) for a, b, c in each)
    safe = np.where(principal, 1.0, p)
    direct = -1.5 * integral(x, y, z, (safe, safe))
    return np.where(principal, -(1.5 * out + moved) / p, direct)
