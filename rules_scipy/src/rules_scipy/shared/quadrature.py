"""Integrals over a half-line, for parameters whose derivatives have no closed form."""

import numpy as np

STEP = 0.0625
_POINTS = np.arange(-4.5, 6.5, STEP)
NODES = np.exp(_POINTS - np.exp(-_POINTS))
WEIGHTS = STEP * NODES * (1 + np.exp(-_POINTS))


def half_line(integrand, scale, *parameters):
    """Return the integral over `u` from 0 to infinity, for each entry of the parameters.

    Arguments:
        integrand: a function of `u` and the parameters, analytic, that falls exponentially.
        scale: the distance on which it falls.
        parameters: arrays that broadcast with `scale`.

    The trapezoidal rule after Takahasi and Mori (1974): `u = scale * exp(s - exp(-s))`.
    """
    u = np.expand_dims(scale, -1) * NODES
    return scale * (integrand(u, *[np.expand_dims(p, -1) for p in parameters]) @ WEIGHTS)
