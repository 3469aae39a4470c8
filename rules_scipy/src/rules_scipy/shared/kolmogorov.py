"""Derivatives of the densities of Kolmogorov's and Smirnov's distributions."""

import numpy as np
from scipy import special as sp


def kolmogorov_density(x):
    """Return Kolmogorov's density by the same series: SciPy's own has seven digits around 0.85."""
    k = np.arange(1, 7)
    x = np.expand_dims(x, -1)
    near, far = np.clip(x, 0.03, 0.8), np.clip(x, 0.8, 40.0)
    right = np.where(k % 2, 8.0, -8.0) * k**2 * far * np.exp(-2 * (k * far) ** 2)
    g = (np.pi * (2 * k - 1)) ** 2 / 8 / near**2
    left = np.sqrt(2 * np.pi) * np.exp(-g) * (2 * g - 1) / near**2
    return np.where(x[..., 0] < 0.8, np.sum(left, -1), np.sum(right, -1))


def kolmogorov_density_slope(x):
    """Return the derivative of Kolmogorov's density, by one of its two series (Feller 1948)."""
    k = np.arange(1, 30)
    x = np.expand_dims(x, -1)
    near, far = np.clip(x, 0.03, 0.8), np.clip(x, 0.8, 40.0)  # beyond it is 0 in double precision
    signs = np.where(k % 2, 8.0, -8.0)
    right = signs * k**2 * (1 - (2 * k * far) ** 2) * np.exp(-2 * (k * far) ** 2)
    g = (np.pi * (2 * k - 1)) ** 2 / 8
    inner = 4 * g**2 / near**7 - 10 * g / near**5 + 2 / near**3
    left = np.sqrt(2 * np.pi) * np.exp(-g / near**2) * inner
    return np.where(x[..., 0] < 0.8, np.sum(left, -1), np.sum(right, -1))


@np.vectorize(otypes="d")
def smirnov_density_slope(x, n):
    """Return the derivative of Smirnov's density, from the sum of Birnbaum and Tingey (1951)."""
    n = int(n)
    if not 0 <= x < 1:
        return 0.0 * x  # not a number where `x` is none
    j = np.arange(1, int(n * (1 - x)) + 1)
    j = j[j < n * (1 - x)]
    u, v = x + j / n, 1 - x - j / n
    log = sp.gammaln(n + 1) - sp.gammaln(j + 1) - sp.gammaln(n - j + 1)
    terms = np.exp(log + sp.xlogy(j - 1, u) + sp.xlogy(n - j, v))
    first = (j - 1) / u - (n - j) / v
    second = first**2 - (j - 1) / u**2 - (n - j) / v**2
    begin = n * (n - 1) * (1 - x) ** (n - 2) if n > 1 else 0.0  # of (1 - x)**n, for j = 0
    return -begin - np.sum(terms * (2 * first + x * second))
