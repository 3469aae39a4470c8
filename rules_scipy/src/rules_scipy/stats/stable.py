"""Stable distributions, by integrals over their characteristic function (Nolan 2020, chapter 1)."""

import numpy as np
from scipy import stats

from rules_scipy.shared.methods import of_methods
from rules_scipy.shared.panels import IntegralError, quadrature
from rulescore import RuleSet

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.stats.stable")
stable = stats.levy_stable

of_methods(rule, stable, "_pdf")(
    lambda d, x, alpha, beta, y: density_slopes(d, x, alpha, beta, y)[0],
    lambda d, x, alpha, beta, y: density_slopes(d, x, alpha, beta, y)[1],
    lambda d, x, alpha, beta, y: density_slopes(d, x, alpha, beta, y)[2],
)
of_methods(rule, stable, "_cdf")(
    lambda d, x, alpha, beta, y: d._pdf(x, alpha, beta),
    lambda d, x, alpha, beta, y: slopes(d, x, alpha, beta, y)[0],
    lambda d, x, alpha, beta, y: slopes(d, x, alpha, beta, y)[1],
)


def density_slopes(d, x, alpha, beta, y):
    """Return the derivatives of the density, of which the values are `y`."""

    def rows(t, x, alpha, beta):
        size, phase, by_alpha, by_beta, decay = _phase(d, t, x, alpha, beta)
        sine, cosine = np.sin(phase), np.cos(phase)
        return size * [
            cosine, -t * sine, -decay * cosine - by_alpha * sine, -by_beta * sine
        ] / np.pi  # fmt: skip

    return _integrals(rows, x, alpha, beta, y, 0.0)


def slopes(d, x, alpha, beta, y):
    """Return the derivatives of the distribution function, of which the values are `y`."""

    def rows(t, x, alpha, beta):
        size, phase, by_alpha, by_beta, decay = _phase(d, t, x, alpha, beta)
        sine, cosine = np.sin(phase), np.cos(phase)
        return size * [sine, by_alpha * cosine - decay * sine, by_beta * cosine] / (np.pi * t)

    return _integrals(rows, x, alpha, beta, y, 0.5)


def _phase(d, t, x, alpha, beta):
    """Return the modulus of the characteristic function times `exp(-i t x)`, and its phase.

    With the derivatives of the phase by `alpha` and `beta`, and of minus the logarithm of the
    modulus by `alpha`. The phase is counted backwards.
    """
    power, turn = t**alpha, np.tan(np.pi * alpha / 2)
    decay = power * np.log(t)
    by_beta = -power * turn
    by_alpha = beta * (-decay * turn - power * np.pi / 2 * (1 + turn**2))
    if d.parameterization == "S0":  # the phase of `S0` is continuous where `alpha` is 1
        by_beta = by_beta + t * turn
        by_alpha = by_alpha + beta * t * np.pi / 2 * (1 + turn**2)
    return np.exp(-power), x * t + beta * by_beta, by_alpha, by_beta, decay


def _integrals(rows, x, alpha, beta, y, offset):
    def at(x, alpha, beta, y):
        if alpha == 1:
            raise IntegralError(
                "the derivatives by `alpha` and `beta` jump where `alpha` is 1: let them be "
                "constant (`stop_gradient`), or move `alpha` off 1"
            )
        nodes, weights = quadrature(lambda t: rows(t, x, alpha, beta), 0.0, np.inf)
        value, *found = np.nan_to_num(rows(nodes, x, alpha, beta)) @ weights
        if not abs(value + offset - y) <= 1e-6 * abs(y):
            raise IntegralError(
                f"the characteristic function gives {value + offset}, where SciPy has {y}: let "
                "`alpha` and `beta` be constant (`stop_gradient`)"
            )
        return tuple(found)

    count = 2 if offset else 3
    with np.errstate(all="ignore"):
        return np.vectorize(at, otypes="d" * count)(x, alpha, beta, y)
