"""Elliptic integrals and functions (DLMF 19 and 22), by Carlson's symmetric integrals."""

import numpy as np
from scipy import special as sp

from rules_scipy.shared.expansions import piecewise
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
    lambda x, y, z, out: carlson_slope(x, y, z, z, out),
    lambda x, y, z, out: carlson_slope(y, x, z, z, out),
    lambda x, y, z, out: elliprd_by_double(x, y, z, out),
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
    of_quarters = np.where(k == 0, 0.0, sp.elliprd(0, np.where(k == 0, 1.0, 1 - m), 1))
    return -(sine**3) / 6 * sp.elliprd(cosine**2, 1 - m * sine**2, 1) - k * of_quarters / 3


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
    moved = np.where(x == 0, 0.0, x * by_x)
    by_y = np.where(principal, -(out / 2 + moved) / y, -sp.elliprd(x, safe, safe) / 3)
    return by_x, by_y


def elliprg_slope(x, y, z):
    """Return the derivative of `R_G` by `x`, where `x` may be zero."""
    at_end = (x == 0) | (x == np.inf)
    slope = (sp.elliprf(x, y, z) - np.where(at_end, 0.0, x / 3 * sp.elliprd(y, z, x))) / 4
    alone = (y == 0) & (z == 0) & (x != 0)  # the root of x over 2 (19.20.4)
    return piecewise(alone, (x, slope), lambda x, _: 0.25 / np.sqrt(x), (1.0, 0.0),
                     lambda _, slope: slope, (1.0, 0.0))  # fmt: skip


_STEPS, _FINE_STEPS = np.linspace(0.0, 1.0, 401), np.linspace(0.0, 1.0, 3201)


def integral(x, y, z, divisors):
    """Return the integral of `1 / (s(t) (t + a) (t + b))`, `s` the root of `(t+x) (t+y) (t+z)`.

    `a` and `b` are the divisors. The trapezoidal rule on a logarithmic scale, of complex numbers
    along the ray that is farthest from the branch points: the integral is homogeneous. It is zero
    where an argument is infinite, and infinite where a divisor is zero.
    """
    every = np.broadcast_arrays(x, y, z, *divisors)
    infinite, divided = np.any(np.isinf(every), axis=0), np.equal(every[3:], 0).any(axis=0)
    if infinite.any():
        every = [np.where(infinite, 1.0, v) for v in every]
    turn, steps = 0.0, _STEPS
    if np.iscomplexobj(every):
        angles = np.angle(np.stack(every))
        low, high = np.min(angles, axis=0), np.max(angles, axis=0)
        turn, steps = (low + high) / 2, _FINE_STEPS
        every = [v * np.exp(-1j * turn) for v in every]
        if np.any(high - low > 2 * np.pi - 0.6):
            raise NotImplementedError(
                "the derivative of `elliprd` and `elliprj` is not known for arguments that are "
                "nearly equal where another is on the other side of the branch cut: move the "
                "argument off the cut"
            )
    sizes = np.stack([abs(v) for v in every])
    largest = np.max(sizes, axis=0)
    smallest = np.min(np.where(sizes == 0, np.inf, sizes), axis=0)
    low, high = np.log(smallest) - 75, np.minimum(np.log(largest) + 20, 709.0)
    if steps is not _FINE_STEPS and np.any(high - low > 300):
        steps = _FINE_STEPS
    width = np.expand_dims(high - low, -1)
    t = np.exp(np.expand_dims(low, -1) + width * steps)
    x, y, z, a, b = (np.expand_dims(v, -1) for v in every)
    values = t / (t + a) / np.sqrt(t + x) / np.sqrt(t + y) / np.sqrt(t + z) / (t + b)
    total = (high - low) / (len(steps) - 1) * np.sum(values, axis=-1)
    total = np.where(infinite, 0.0, np.where(divided, np.inf, total))
    return total if type(turn) is float else total * np.exp(-2.5j * turn)


def carlson_slope(x, y, z, p, out):
    """Return the derivative of `R_J(x, y, z, p)` by `x`, not of a principal value.

    Of complex numbers by partial fractions, unless `x` and `p` are nearly equal.
    """
    if not np.iscomplexobj(out):
        return -0.75 * integral(x, y, z, (x, p))

    def near(x, y, z, p, out):
        return -0.75 * integral(x, y, z, (x, p))

    def apart(x, y, z, p, out):
        return (sp.elliprd(y, z, x) - out) / (2 * (x - p))

    close = abs(x - p) < 0.01 * abs(p)
    return piecewise(close, (x, y, z, p, out), near, (1.0,) * 5, apart, (1.0, 1.0, 1.0, 2.0, 1.0))


def elliprd_by_double(x, y, z, out):
    """Return the derivative of `R_D(x, y, z)` by `z`, of complex numbers by its homogeneity."""
    if not np.iscomplexobj(out):
        return -2.25 * integral(x, y, z, (z, z))
    each = (np.where(a == 0, 0.0, a * carlson_slope(a, b, z, z, out)) for a, b in ((x, y), (y, x)))
    return -(1.5 * out + sum(each)) / z


def elliprj_slope(x, y, z, p, out):
    """Return the derivative of `R_J` by `x`; of the principal value by partial fractions."""
    if np.iscomplexobj(out):
        return carlson_slope(x, y, z, p, out)
    principal = p < 0
    safe = np.where(principal, 1.0, p)
    fractions = (sp.elliprd(y, z, x) - out) / (2 * (x - np.where(principal, p, x + 1)))
    return np.where(principal, fractions, -0.75 * integral(x, y, z, (x, safe)))


def elliprj_by_pole(x, y, z, p, out):
    """Return the derivative of `R_J` by `p`, for the principal value by its homogeneity."""
    each = ((x, y, z), (y, x, z), (z, x, y))
    moved = sum(np.where(a == 0, 0.0, a * elliprj_slope(a, b, c, p, out)) for a, b, c in each)
    if np.iscomplexobj(out):
        return -(1.5 * out + moved) / p
    principal = p < 0
    safe = np.where(principal, 1.0, p)
    direct = -1.5 * integral(x, y, z, (safe, safe))
    return np.where(principal, -(1.5 * out + moved) / p, direct)
