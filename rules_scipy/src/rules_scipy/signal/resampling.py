"""Resampling by a filter between two changes of the rate."""

import math

import numpy as np
from scipy import signal as ss

from rules_scipy.shared.signals.borders import bordered, folded
from rulescore import Numeric, RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.signal.resampling")
ArrayLike = Numeric | list | tuple
NAMED = (
    "give the numbers of the filter, which have one: `window=scipy.signal.firwin(20 * n + 1, "
    "1 / n, window=window)`, where `n` is the larger one of `up` and `down` without their "
    "common divisor"
)
BORDERS = ("constant", "wrap", "edge", "symmetric", "reflect")


class Polyphase:
    """Pull cotangents back through `scipy.signal.upfirdn`: `y[n] = sum_k h[n down - k up] x[k]`.

    Arguments:
        h: the filter, a vector.
        n: the length of the signal.
        up, down, mode, cval: as for `scipy.signal.upfirdn`.
        f: the function that is called, for messages.
    """

    def __init__(self, h, n, up, down, mode="constant", cval=0, f=ss.upfirdn):
        if mode not in BORDERS:
            raise NotImplementedError(
                f"scipy.signal.{f.__name__} has no rule for {mode!r}: use one of "
                f"{', '.join(BORDERS)}"
            )
        self.h, self.n, self.up, self.down = np.asarray(h), n, int(up), int(down)
        self.mode, self.cval = mode, cval
        self.border = -(-(len(h) - 1) // self.up)  # entries that the filter reads on either side

    def of_signal(self, dy):
        """Return the cotangent of the signal; time is the last axis."""
        p, n, h = self.border, self.n, np.conj(np.flip(self.h))
        h = np.concatenate([np.zeros(p * self.up - len(h) + 1, h.dtype), h])
        found = ss.upfirdn(h, dy, self.down, self.up)[..., : n + 2 * p]
        missing = n + 2 * p - found.shape[-1]
        if missing > 0:
            found = np.concatenate([found, np.zeros((*found.shape[:-1], missing))], -1)
        return folded(found, [0] * (found.ndim - 1) + [p], self.mode)

    def of_filter(self, dy, x):
        """Return the cotangent of the filter, for a signal; time is the last axis."""
        p = 0 if self.mode == "constant" and not self.cval else self.border
        x = bordered(x, [0] * (x.ndim - 1) + [p], self.mode, self.cval) if p else x
        size = (x.shape[-1] - 1) * self.up + 1
        spread = ss.upfirdn(np.ones(1), dy, self.down)
        behind = max(0, len(self.h) - 1 + size - p * self.up - spread.shape[-1])
        spread = np.pad(spread, [(0, 0)] * (spread.ndim - 1) + [(p * self.up, behind)])
        return np.stack(
            [np.sum(spread[..., i : i + size : self.up] * np.conj(x)) for i in range(len(self.h))]
        )


def last(x, axis):
    """Return an array with an axis as its last one."""
    return np.moveaxis(np.asarray(x), axis, -1)


@rule(ss.upfirdn)
def _(h: ArrayLike, x: ArrayLike, up=1, down=1, axis=-1, mode="constant", cval=0):
    y = ss.upfirdn(h, x, up, down, axis, mode, cval)
    back = Polyphase(h, np.shape(x)[axis], up, down, mode, cval)

    def by_filter(dy):
        return project(back.of_filter(last(dy, axis), last(x, axis)), h)

    def by_signal(dy):
        return project(np.moveaxis(back.of_signal(last(dy, axis)), -1, axis), x)

    return y, (by_filter, by_signal)


@rule(ss.resample_poly)
def _(
    x: ArrayLike, up: int, down: int, axis=0, window=("kaiser", 5.0), padtype="constant", cval=None
):
    y = ss.resample_poly(x, up, down, axis, window, padtype, cval)
    back = Resampling(np.asarray(x), up, down, axis, window, padtype, cval)

    def by_signal(dy):
        return project(back.of_signal(dy), x)

    return y, (by_signal, None, None)


@rule(ss.resample_poly)
def _(
    x: ArrayLike,
    up: int,
    down: int,
    axis: int,
    window: np.ndarray | list,
    padtype="constant",
    cval=None,
):
    y = ss.resample_poly(x, up, down, axis, window, padtype, cval)
    back = Resampling(np.asarray(x), up, down, axis, window, padtype, cval)

    def by_signal(dy):
        return project(back.of_signal(dy), x)

    def by_window(dy):
        return project(back.of_window(dy), window)

    return y, (by_signal, None, None, None, by_window)


@rule(ss.resample_poly, refuses={"window": NAMED})
def _(x: ArrayLike, up: int, down: int, axis: int, window: tuple, padtype="constant", cval=None):
    y = ss.resample_poly(x, up, down, axis, window, padtype, cval)
    back = Resampling(np.asarray(x), up, down, axis, window, padtype, cval)

    def by_signal(dy):
        return project(back.of_signal(dy), x)

    return y, (by_signal, None, None, None, None)


class Resampling:
    """Pull cotangents back through `scipy.signal.resample_poly`, whose arguments it takes."""

    def __init__(self, x, up, down, axis, window, padtype, cval):
        shared = math.gcd(int(up), int(down))
        self.up, self.down = int(up) // shared, int(down) // shared
        self.x, self.axis, self.window, self.padtype = last(x, axis), axis, window, padtype
        if self.up == self.down:
            return
        h, half = filter_of(x, max(self.up, self.down), window)
        before = self.down - half % self.down
        self.size, self.before, self.skipped = len(h), before, (half + before) // self.down
        h = np.concatenate([np.zeros(before, h.dtype), h * self.up])
        mode = "constant" if padtype in LEVELS else padtype
        n = self.x.shape[-1]
        self.back = Polyphase(h, n, self.up, self.down, mode, cval or 0, ss.resample_poly)

    def in_all(self, dy):
        """Return the cotangent of all that the filter gives, with time as the last axis."""
        dy = last(dy, self.axis)
        return np.pad(dy, [(0, 0)] * (dy.ndim - 1) + [(self.skipped, 0)])

    def of_signal(self, dy):
        """Return the cotangent of the signal."""
        if self.up == self.down:
            return dy
        dx = self.back.of_signal(self.in_all(dy))
        if self.padtype in LEVELS:
            dlevel = np.sum(last(dy, self.axis), -1, keepdims=True) - np.sum(dx, -1, keepdims=True)
            dx = dx + dlevel * LEVELS[self.padtype](self.x)
        return np.moveaxis(dx, -1, self.axis)

    def of_window(self, dy):
        """Return the cotangent of the window, if it is an array."""
        if self.up == self.down:
            return np.zeros(np.shape(self.window))
        x = self.x
        if self.padtype in LEVELS:
            x = x - np.sum(LEVELS[self.padtype](x) * x, -1, keepdims=True)
        found = self.back.of_filter(self.in_all(dy), x)
        return self.up * found[self.before : self.before + self.size]


def filter_of(x, rate, window):
    """Return the filter that `scipy.signal.resample_poly` takes or makes, and half its length."""
    if isinstance(window, np.ndarray | list):
        return np.asarray(window), (len(window) - 1) // 2
    h = ss.firwin(20 * rate + 1, 1.0 / rate, window=window)
    return h.astype(x.dtype) if x.dtype.kind == "f" else h, 10 * rate


def of_mean(x):
    """Return weights with which the entries of the last axis have their mean as their sum."""
    return np.full(x.shape, 1.0 / x.shape[-1])


def of_entries(choose):
    """Return a function for the weights with which entries have a chosen one as their sum."""

    def weights(x):
        hits = x == choose(x, axis=-1, keepdims=True)
        return hits / np.sum(hits, -1, keepdims=True)

    return weights


def of_median(x):
    """Return weights with which the entries of the last axis have their median as their sum."""
    n, ordered = x.shape[-1], np.sort(x, -1)
    lower, upper = x == ordered[..., [(n - 1) // 2]], x == ordered[..., [n // 2]]
    return 0.5 * (
        lower / np.sum(lower, -1, keepdims=True) + upper / np.sum(upper, -1, keepdims=True)
    )


LEVELS = {
    "mean": of_mean,
    "median": of_median,
    "maximum": of_entries(np.max),
    "minimum": of_entries(np.min),
}
