"""Error functions, Fresnel integrals and the normal distribution (DLMF 7)."""

import math
import operator

import numpy as np
from scipy import special as sp

from rules_scipy.shared.expansions import (
    TWO_BY_ROOT_PI,
    erfcx_curvature,
    erfcx_slope,
    piecewise,
)
from rules_scipy.shared.outputs import several_outputs
from rulescore import RuleSet

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.special.error")

ROOT_2, ROOT_2PI = math.sqrt(2), math.sqrt(2 * math.pi)
ROOT_I = complex(math.sqrt(0.5), math.sqrt(0.5))

rule.scalar(sp.erf)(lambda z: TWO_BY_ROOT_PI * np.exp(-z * z))  # 7.2.1
rule.scalar(sp.erfc)(lambda z: -TWO_BY_ROOT_PI * np.exp(-z * z))
rule.scalar(sp.erfi)(lambda z: TWO_BY_ROOT_PI * np.exp(z * z))
rule.scalar(sp.erfcx)(lambda z, out: erfcx_slope(z, out))
rule.scalar(sp.wofz)(lambda z, out: -1j * erfcx_slope(-1j * z, out))  # 7.2.3
rule.scalar(sp.dawsn)(lambda z, out: dawsn_slope(z, out))
rule.scalar(sp.erfinv)(lambda y, out: np.exp(out * out) / TWO_BY_ROOT_PI)
rule.scalar(sp.erfcinv)(lambda y, out: -np.exp(out * out) / TWO_BY_ROOT_PI)
rule.scalar(sp.voigt_profile)(
    lambda x, sigma, gamma: voigt_by_position(x, sigma, gamma),
    lambda x, sigma, gamma: voigt_by_sigma(x, sigma, gamma),
    lambda x, sigma, gamma: voigt_by_gamma(x, sigma, gamma),
)

# Fresnel integrals: 7.2.7 and 7.2.8, and their complements 7.2.6 in the notation of 7.7
several_outputs(rule, sp.fresnel)(
    lambda z, y: (np.sin(np.pi / 2 * z * z), np.cos(np.pi / 2 * z * z))
)
several_outputs(rule, sp.modfresnelp)(lambda x, y: modfresnel_slopes(x, y[1], 1j))
several_outputs(rule, sp.modfresnelm)(lambda x, y: modfresnel_slopes(x, y[1], -1j))
rule.constant(sp.erf_zeros, sp.fresnel_zeros, sp.fresnelc_zeros, sp.fresnels_zeros)

# the normal distribution
rule.scalar(sp.ndtr)(lambda x: np.exp(-x * x / 2) / ROOT_2PI)
rule.scalar(sp.log_ndtr)(lambda x: 2 / ROOT_2PI / sp.erfcx(-x / ROOT_2))
rule.scalar(sp.ndtri)(lambda p, out: ROOT_2PI * np.exp(out * out / 2))
rule.scalar(sp.ndtri_exp)(lambda y, out: ROOT_2PI / 2 * sp.erfcx(-out / ROOT_2))
rule.scalar(sp.owens_t)(
    lambda h, a: -np.exp(-h * h / 2) / ROOT_2PI * sp.erf(times(a, h) / ROOT_2) / 2,
    lambda h, a: np.exp(-(h * h + times(a, h) ** 2) / 2) / (2 * np.pi * (1 + a * a)),
)


def times(a, h):
    """Return `a * h`, and 0 where `h` is 0 though `a` may be infinite."""
    at_once = (h == 0) & np.isinf(a)
    return piecewise(at_once, (a, h), lambda a, h: 0.0, (0.0, 0.0), operator.mul, (1.0, 1.0))


def dawsn_slope(z, out):
    """Return `1 - 2 z F(z)`, far from zero by `F = i sqrt(pi)/2 (exp(-z**2) - w(z))` (7.5.1)."""

    def far(x, out):
        if not np.iscomplexobj(x):
            x = np.clip(x, -1e200, 1e200)  # farther out it is 0
        w = erfcx_slope(-1j * x, 0.0)  # far out, which does not read the value
        series = -2 * x * np.exp(-x * x) * 1j / TWO_BY_ROOT_PI - w / TWO_BY_ROOT_PI
        return series if np.iscomplexobj(x) else np.real(series)

    def near(z, out):
        return 1 - 2 * z * out

    return piecewise(abs(z) > 12, (z, out), far, (12.0, 0.0), near, (0.0, 0.0))


def modfresnel_slopes(x, k, sign):
    """Return the derivatives of `F` and `K = erfcx(x / sqrt(i)) / 2`, or of their conjugates."""
    if np.any(np.less(x, 0)):
        raise NotImplementedError(
            "modified Fresnel integrals of negative numbers have no rule, because SciPy's "
            "values are wrong: give positive ones"
        )
    turn = np.conj(ROOT_I) if sign == 1j else ROOT_I
    return -np.exp(sign * x * x), turn / 2 * erfcx_slope(turn * x, 2 * k)


def faddeeva(x, sigma, gamma):
    """Return the width, and two derivatives of `erfcx(u)`, the Voigt profile in standard form."""
    width = np.where(sigma == 0, 1.0, sigma) * ROOT_2
    x, gamma = np.clip(x, -1e200, 1e200), np.clip(gamma, -1e200, 1e200)  # farther out all are 0
    u = (gamma - 1j * x) / width
    y = sp.erfcx(u)
    slope = erfcx_slope(u, y)
    return width, slope, erfcx_curvature(u, y, slope)


def voigt_by_position(x, sigma, gamma):
    """Return the derivative of the Voigt profile by `x`; of the Cauchy density for no `sigma`."""
    width, slope, _ = faddeeva(x, sigma, gamma)
    x, gamma = np.clip(x, -1e100, 1e100), np.clip(gamma, -1e100, 1e100)
    cauchy = -2 * x * gamma / np.pi / (x * x + gamma * gamma) ** 2
    return np.where(sigma == 0, cauchy, np.imag(slope) / (width * width * ROOT_2PI / ROOT_2))


def voigt_by_sigma(x, sigma, gamma):
    """Return the derivative by `sigma`: `sigma` times that by `x`, twice (the heat equation)."""
    width, _, curvature = faddeeva(x, sigma, gamma)
    slope = -np.real(curvature) / (width * width * ROOT_2PI)
    x, gamma = np.clip(x, -1e50, 1e50), np.clip(gamma, -1e50, 1e50)
    cauchy = 2 * gamma * (3 * x * x - gamma * gamma) / np.pi / (x * x + gamma * gamma) ** 3
    return np.where(sigma == 0, sigma * cauchy, slope)


def voigt_by_gamma(x, sigma, gamma):
    """Return the derivative by `gamma`."""
    width, slope, _ = faddeeva(x, sigma, gamma)
    x, gamma = np.clip(x, -1e100, 1e100), np.clip(gamma, -1e100, 1e100)
    square = x * x + gamma * gamma
    cauchy = (x * x - gamma * gamma) / np.pi / square**2
    return np.where(sigma == 0, cauchy, np.real(slope) / (width * width * ROOT_2PI / ROOT_2))
