"""Waves whose frequency moves from one to another, which may be equal."""

import numpy as np
from scipy import signal as ss

from rules_scipy.shared.solvers import solver
from rulescore import RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.signal.chirps")
NAMES = ("t", "f0", "t1", "f1")


@solver(rule, ss.chirp, by=(*NAMES, "phi"), without=("method",))  # which is text
def _(ad, y, given):
    t, f0, t1, f1 = [np.asarray(given[name], float) for name in NAMES]
    turns = turns_of(given["method"], given["vertex_zero"], t, f0, t1, f1)

    def pullback(dy):
        wave = ss.chirp(**{**given, "complex": True})
        dphase = np.real(np.conj(dy) * (1j * wave)) if given["complex"] else -dy * np.imag(wave)
        found = {name: project(2 * np.pi * dphase * slope, given[name])
                 for name, slope in zip(NAMES, turns, strict=True)}  # fmt: skip
        return {**found, "phi": project(dphase * (np.pi / 180), given["phi"])}

    return pullback


def turns_of(method, vertex_zero, t, f0, t1, f1):
    """Return the derivatives of the number of turns by time, both frequencies, and `t1`."""
    if method in ("linear", "lin", "li"):
        half = t * t / (2 * t1)
        return f0 + (f1 - f0) / t1 * t, t - half, -(f1 - f0) * half / t1, half
    if method in ("quadratic", "quad", "q"):
        beta = (f1 - f0) / t1**2
        if vertex_zero:
            third = t**3 / (3 * t1**2)
            return f0 + beta * t * t, t - third, -2 * (f1 - f0) * third / t1, third
        part = ((t1 - t) ** 3 - t1**3) / 3
        by_t1 = beta * ((t1 - t) ** 2 - t1**2 - 2 * part / t1)
        return f1 - beta * (t1 - t) ** 2, -part / t1**2, by_t1, t + part / t1**2
    if method in ("logarithmic", "log", "lo"):
        u = np.log(f1 / f0) * t / t1
        mean, slope = mean_exponential(u)
        by_rate = slope * t * t / t1
        return f0 * np.exp(u), t * mean - by_rate, -f0 * t * slope * u / t1, f0 / f1 * by_rate
    r = (f0 - f1) * t / (f1 * t1)
    mean, slope = mean_logarithm(r)
    by_r = f0 * t * slope
    by_f0 = t * mean + by_r * t / (f1 * t1)
    return f0 / (1 + r), by_f0, -by_r * r / t1, -by_r * f0 * t / (f1**2 * t1)


def mean_exponential(u):
    """Return `(exp(u) - 1) / u` and its derivative, by a series near zero."""
    near = np.abs(u) < 1e-3
    v = np.where(near, 1.0, u)
    mean = np.where(near, 1 + u / 2 + u**2 / 6 + u**3 / 24, np.expm1(v) / v)
    slope = (np.exp(v) - np.expm1(v) / v) / v
    return mean, np.where(near, 0.5 + u / 3 + u**2 / 8 + u**3 / 30 + u**4 / 144, slope)


def mean_logarithm(r):
    """Return `log(abs(1 + r)) / r` and its derivative, by a series near zero."""
    near = np.abs(r) < 1e-3
    v = np.where(near, 1.0, r)
    with np.errstate(all="ignore"):
        value = np.where(v > -1, np.log1p(v), np.log(np.abs(1 + v))) / v
        slope = (1 / (1 + v) - value) / v
    series = -0.5 + 2 * r / 3 - 3 * r**2 / 4 + 4 * r**3 / 5 - 5 * r**4 / 6
    mean = np.where(near, 1 - r / 2 + r**2 / 3 - r**3 / 4 + r**4 / 5, value)
    return mean, np.where(near, series, slope)
