"""Adaptive quadrature of several integrands at once, over finite and infinite intervals.

The variable is that of the double-exponential formulas (Takahasi and Mori, 1974), which takes
singular ends of an interval to infinity. On panels of it the rule of Gauss and Kronrod is applied,
and panels are halved until all integrals have converged.
"""

import math

import numpy as np

# the positive nodes of the rule with 15 points, its weights, and those of the rule with 7
_NODES = [
    0.9914553711208126, 0.9491079123427585, 0.8648644233597691, 0.7415311855993945,
    0.5860872354676911, 0.4058451513773972, 0.2077849550078985,
]  # fmt: skip
_KRONROD = [
    0.0229353220105292, 0.0630920926299786, 0.1047900103222502, 0.1406532597159259,
    0.1690047266392679, 0.1903505780647854, 0.2044329400752989,
]  # fmt: skip
_GAUSS = [0.0, 0.1294849661688697, 0.0, 0.2797053914892767, 0.0, 0.3818300505051189, 0.0]
NODES = np.array([-x for x in _NODES] + [0.0] + _NODES[::-1])
KRONROD = np.array([*_KRONROD, 0.2094821410847278, *_KRONROD[::-1]])
GAUSS = np.array([*_GAUSS, 0.4179591836734694, *_GAUSS[::-1]])
REACH = 6.0
LEVELS = 24
PANELS = 2000


class IntegralError(NotImplementedError):
    """Tell that an integral did not converge."""


def quadrature(integrands, lower, upper, tolerance=1e-10):
    """Return nodes and weights with which the integrals from `lower` to `upper` have converged.

    Arguments:
        integrands: a function of an array of nodes, which returns the values of each integrand
            there, in rows.
        lower, upper: the limits, which may be infinite.
        tolerance: the error of an integral relative to that of its absolute value.

    Raises `IntegralError` where an integral does not converge.
    """
    left = np.arange(-REACH, REACH)
    width = np.ones(len(left))
    nodes, weights, total = [], [], None
    for _ in range(LEVELS):
        s = left[:, None] + width[:, None] * (1 + NODES) / 2
        x, slope = _mapped(s, lower, upper)
        values = slope * _finite(integrands(x.ravel())).reshape(-1, *x.shape)
        scaled = width[:, None] / 2 * values
        size = np.abs(scaled) @ KRONROD
        off = np.abs(scaled @ (KRONROD - GAUSS))
        total = size.sum(1) if total is None else np.maximum(total, size.sum(1))
        done = np.all(off <= tolerance * total[:, None], axis=0)
        nodes.append(x[done])
        weights.append((width[:, None] / 2 * slope * KRONROD)[done])
        left, width = left[~done], width[~done] / 2
        if not len(left):
            break
        if len(left) > PANELS:
            raise IntegralError(
                "an integral over the density does not converge: let the parameters be constant "
                "(`stop_gradient`)"
            )
        left, width = np.concatenate([left, left + width]), np.concatenate([width, width])
    else:
        if np.any(off[:, ~done].sum(1) > 1e-6 * total):
            raise IntegralError(
                "an integral over the density does not converge: let the parameters be constant "
                "(`stop_gradient`)"
            )
    return np.concatenate([x.ravel() for x in nodes]), np.concatenate([w.ravel() for w in weights])


def _finite(values):
    """Return values with zeros where rounding has left no number: at the ends of the interval."""
    return np.where(np.isfinite(values), values, 0.0)


def _mapped(s, lower, upper):
    """Return where `s` lies between `lower` and `upper`, and the derivative of that."""
    turned, slope = math.pi / 2 * np.sinh(s), math.pi / 2 * np.cosh(s)
    if math.isinf(lower) and math.isinf(upper):
        turned, slope = turned / 2, slope / 2
        return np.sinh(turned), slope * np.cosh(turned)
    if math.isinf(upper):
        return lower + np.exp(turned), slope * np.exp(turned)
    if math.isinf(lower):
        return upper - np.exp(-turned), slope * np.exp(-turned)
    near = 1 / (1 + np.exp(2 * np.abs(turned)))  # the distance from the nearer end
    length = upper - lower
    x = np.where(s < 0, lower + length * near, upper - length * near)
    return x, 2 * slope * length * near * (1 - near)
