"""Smoothing filters: polynomials that are fitted to windows, and medians of them."""

import numpy as np
from scipy import signal as ss

from rules_scipy.shared.signals.borders import bordered, folded
from rulescore import Numeric, RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.signal.smoothing")
ArrayLike = Numeric | list | tuple
BORDERS = {"mirror": "reflect", "nearest": "edge", "wrap": "wrap", "constant": "constant"}


@rule(ss.savgol_filter)
def _(x: ArrayLike, window_length: int, polyorder: int, deriv=0, delta=1.0, axis=-1,
      mode="interp", cval=0.0):  # fmt: skip
    y = ss.savgol_filter(x, window_length, polyorder, deriv, delta, axis, mode, cval)

    def by_signal(dy):
        dx = of_polynomials(dy, axis, window_length, polyorder, deriv, delta, mode)
        return project(dx, x)

    return y, (by_signal, None, None)


@rule(ss.savgol_filter)
def _(x: ArrayLike, window_length: int, polyorder: int, deriv: int, delta: float, axis=-1,
      mode="interp", cval=0.0):  # fmt: skip
    y = ss.savgol_filter(x, window_length, polyorder, deriv, delta, axis, mode, cval)

    def by_signal(dy):
        dx = of_polynomials(dy, axis, window_length, polyorder, deriv, delta, mode)
        return project(dx, x)

    def by_delta(dy):
        return project(np.sum(dy * y) * -deriv / delta, delta)

    return y, (by_signal, None, None, None, by_delta)


def of_polynomials(dy, axis, width, order, deriv, delta, mode):
    """Return the cotangent of a signal that polynomials are fitted to along an axis."""
    d = np.moveaxis(np.asarray(dy), axis, -1)
    return np.moveaxis(of_fits(d, width, order, deriv, delta, mode), -1, axis)


def of_fits(dy, width, order, deriv, delta, mode):
    """Return the cotangent of a signal that polynomials are fitted to; time is the last axis.

    The weights are what SciPy's function makes of unit vectors.
    """
    n, half = dy.shape[-1], width // 2
    weights = ss.savgol_filter(np.eye(width + 1), width, order, deriv, delta, 0)[half]
    weights = weights[: 2 * half + 1]
    if mode != "interp":
        return folded(spread(dy, weights), [0] * (dy.ndim - 1) + [half], BORDERS[mode])
    ends = ss.savgol_filter(np.eye(width), width, order, deriv, delta, 0)
    none = [(0, 0)] * (dy.ndim - 1)
    first = np.pad(dy[..., :half] @ ends[:half], [*none, (0, n - width)])
    last = np.pad(dy[..., n - half :] @ ends[width - half :], [*none, (n - width, 0)])
    inner = dy[..., half : n - half]
    return first + last + spread(inner, weights) if inner.shape[-1] else first + last


def spread(dy, weights):
    """Return the full convolution with a vector along the last axis."""
    return ss.convolve(dy, np.reshape(weights, (1,) * (dy.ndim - 1) + (-1,)))


@rule(ss.medfilt)
def _(volume: ArrayLike, kernel_size=None):
    y = ss.medfilt(volume, kernel_size)

    def pullback(dy):
        ndim = np.ndim(y)
        size = np.ones(ndim, int) * (3 if kernel_size is None else np.asarray(kernel_size))
        return (of_choice(volume, y, dy, np.ones(size, bool)),)

    return y, pullback


@rule(ss.medfilt2d)
def _(input: ArrayLike, kernel_size=3):
    y = ss.medfilt2d(input, kernel_size)

    def pullback(dy):
        size = np.ones(2, int) * (3 if kernel_size is None else np.asarray(kernel_size))
        return (of_choice(input, y, dy, np.ones(size, bool)),)

    return y, pullback


@rule(ss.order_filter)
def _(a: ArrayLike, domain: object, rank: int):
    y = ss.order_filter(a, domain, rank)

    def pullback(dy):
        return of_choice(a, y, dy, np.asarray(domain) != 0), None, None

    return y, pullback


def of_choice(x, y, dy, domain):
    """Return the cotangent of an array of whose windows one entry each was chosen.

    Equal entries share it; so do the zeros behind the border.

    Arguments:
        x: the array.
        y, dy: what was chosen, and its cotangent.
        domain: where the entries of a window are.
    """
    given = np.asarray(x).reshape(np.shape(y))
    ext = bordered(given, [n // 2 for n in domain.shape], "constant")
    places = [tuple(slice(i, i + n) for i, n in zip(at, given.shape, strict=True))
              for at in np.argwhere(domain)]  # fmt: skip
    hits = sum([(ext[place] == y).astype(float) for place in places])
    share = dy / np.maximum(hits, 1)
    found = np.zeros(ext.shape)
    for place in places:
        found[place] += np.where(ext[place] == y, share, 0.0)
    inner = tuple(slice(n // 2, n // 2 + m) for n, m in zip(domain.shape, given.shape, strict=True))
    return project(np.reshape(found[inner], np.shape(x)), x)
