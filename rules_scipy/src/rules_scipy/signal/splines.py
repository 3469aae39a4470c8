"""Filters of splines: where recursive ones begin at a mirror, and separable ones of images.

`symiirorder1`, `symiirorder2`, `cspline2d`, `spline_filter` and others are Python over these.
"""

import numpy as np
from scipy import signal as ss
from scipy.signal import _spline

from rules_scipy.ndimage.convolutions import by_line, by_weights
from rulescore import Numeric, RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.signal.splines")
STEP = 1e-30  # into the complex plane, where the weights are analytic: no digit is lost


# -- the first states of recursive filters


def least(x, precision):
    """Return the weight behind which SciPy adds no others."""
    if precision > 0:
        return precision
    return 1e-6 if x.dtype.char in "fF" else 1e-11


def kept(weights, limit):
    """Return for each weight whether SciPy adds it: the first small one is the last."""
    small = np.abs(weights) <= limit
    return np.cumsum(small) - small == 0


rule.constant(least, kept)


@rule(_spline.symiirorder1_ic)
def _(x: np.ndarray, z1: object, precision: object):
    y = _spline.symiirorder1_ic(x, z1, precision)
    k = np.arange(1, x.shape[-1] + 1)
    used = kept(z1**k, least(x, precision))

    def dx(dy):
        weights = np.where(used, z1**k, 0.0) + (k == 1)
        return project(dy * np.conj(weights), x)

    def dz(dy):
        slopes = np.where(used, k * z1 ** (k - 1), 0.0)
        return project(np.sum(dy * np.conj(x @ slopes[:, None])), z1)

    return y, (dx, dz, None)


def recursion(first, second, r, omega, n):
    """Return `n` numbers, of which two are given, of the recursion of a filter of second order."""
    a = np.array([1.0, -2 * r * np.cos(omega), r * r])
    start = np.array([first, second + a[1] * first])
    return ss.lfilter(start, a, (np.arange(n) == 0).astype(start.dtype))


def response(r, omega, n):
    """Return the response of a filter to an impulse."""
    middle = 2 * r * np.cos(omega)
    first = 1 - middle + r * r
    return recursion(first, middle * first, r, omega, n)


def twice_filtered(r, omega, n):
    """Return the response to an impulse that is filtered forward and backward, from it on."""
    middle, square = 2 * r * np.cos(omega), r * r
    gain = 1 - middle + square
    first = gain * (1 + square) / ((1 - square) * (1 + square + middle))
    return recursion(first, middle * first / (1 + square), r, omega, n)


def at_the_beginning(r, omega, n, limit):
    """Return the weights of `n` entries in the two first states."""
    h = response(r, omega, n + 2)
    first, second = (np.where(kept(part, limit), part, 0.0) for part in (h[1:-1], h[2:]))
    now = (np.arange(n) == 0) * h[0], (np.arange(n) == 0) * h[1] + (np.arange(n) == 1) * h[0]
    return np.stack([now[0] + first, now[1] + second], axis=1)


def at_the_end(r, omega, n, limit):
    """Return the weights of `n` entries in the two last states; SciPy looks at their squares."""
    h = twice_filtered(r, omega, n + 2)
    last = h[:-2] + h[1:-1]
    before = np.concatenate([h[1:2], h[:-3]]) + h[2:]
    parts = [np.where(kept(part, limit**0.5), part, 0.0) for part in (last, before)]
    return np.stack(parts, axis=1)[::-1]


def begins(f, weights):
    """Declare the rule of a function that sums up weighted entries."""

    @rule(f)
    def _(x: np.ndarray, r: object, omega: object, precision: object):
        n, limit = x.shape[-1], least(x, precision)

        def dx(dy):
            return project(dy @ weights(r, omega, n, limit).T, x)

        def along(dy, by_r, by_omega, like):
            moved = weights(r + by_r * STEP, omega + by_omega * STEP, n, limit)
            return project(np.sum(dy * (x @ (np.imag(moved) / STEP))), like)

        def dr(dy):
            return along(dy, 1j, 0, r)

        def domega(dy):
            return along(dy, 0, 1j, omega)

        return f(x, r, omega, precision), (dx, dr, domega, None)


begins(_spline.symiirorder2_ic_fwd, at_the_beginning)
begins(_spline.symiirorder2_ic_bwd, at_the_end)


# -- separable filters


@rule(ss.sepfir2d)
def _(input: Numeric, hrow: Numeric, hcol: Numeric):
    shape, sizes = np.shape(input), (np.size(hcol), np.size(hrow))
    if any(n < size for n, size in zip(shape, sizes, strict=True)):
        raise NotImplementedError(
            "scipy.signal.sepfir2d reads beyond an image that is shorter than a filter, and "
            "what it "
            "returns then has no derivative: pad the image"
        )
    y = ss.sepfir2d(input, hrow, hcol)
    one, modes = np.ones(1, np.asarray(hrow).dtype), ["reflect"] * 2

    def by_line_of(dy, h, axis):
        return by_line(dy, np.conj(np.asarray(h))[::-1], axis, "reflect", 0)

    def by_filter(dy, x, h, axis):
        ones = [1, 1]
        ones[axis] = np.size(h)
        found = by_weights(dy, x, tuple(ones), modes, [0, 0], 0.0)
        return project(np.ravel(found)[::-1].reshape(np.shape(h)), h)

    def dinput(dy):
        return project(by_line_of(by_line_of(dy, hrow, 1), hcol, 0), input)

    def dhrow(dy):
        return by_filter(dy, ss.sepfir2d(input, one, hcol), hrow, 1)

    def dhcol(dy):
        return by_filter(dy, ss.sepfir2d(input, hrow, one), hcol, 0)

    return y, (dinput, dhrow, dhcol)
