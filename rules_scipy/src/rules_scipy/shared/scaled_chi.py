"""Integrals over the scale `s` of Student's t: `s * s * df` has a chi-square distribution."""

import numpy as np
from scipy import special as sp


def scaled_chi(df, sharpness=1.0, reach=0.0):
    """Return nodes and weights of integrals over the density of `s`, along a new axis.

    Arguments:
        df: an array of the degrees of freedom.
        sharpness: how fast the integrand changes with the logarithm of `s`.
        reach: how far below 1 the integrand may be large: at `1 / reach`.

    The trapezoidal rule for the logarithm of `s`.
    """
    df = np.asarray(df, float)
    right = 9 / np.sqrt(df)
    left = np.maximum(40 / df, right) + np.log1p(reach)
    step = 0.25 / np.maximum(np.sqrt(2 * df), sharpness)
    count = int(np.max((left + right) / step, initial=1.0)) + 2
    width = (left + right)[..., None]
    u = width * np.linspace(0, 1, count) - left[..., None]
    v = df[..., None]
    log = np.log(2) + sp.xlogy(v / 2, v / 2) - sp.gammaln(v / 2) + v * (u - np.exp(2 * u) / 2)
    return np.exp(u), np.exp(log) * width / (count - 1)


def by_freedom(s, df):
    """Return the derivative of the logarithm of the density of `s` by `df`."""
    return (np.log(df / 2) + 1 - sp.psi(df / 2)) / 2 + np.log(s) - s * s / 2
