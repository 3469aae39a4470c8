"""Adjoints of recursive filters along the last axis.

A filter `b`, `a` with `a[0] == 1` that begins in the state `zi` gives `y`, and ends in the state
`zf`. With all of them as sequences, `zi` at the beginning and `zf` behind the end, these hold:

    convolve(a, y) = convolve(b, x) + zi - zf

The multipliers of these equations are the cotangent of `y`, filtered backwards by `conj(a)`; the
cotangent of `zf` stands behind them.
"""

import numpy as np
from scipy import signal as ss


class Recursion:
    """Pull cotangents back through a filter.

    Arguments:
        b, a: the coefficients, vectors whose `a[0]` is not zero.
        dy: the cotangent of the output.
        dzf: that of the last state; `None` for none.
    """

    def __init__(self, b, a, dy, dzf=None):
        self.first, self.b, self.a = a[0], b / a[0], a / a[0]
        self.length = dy.shape[-1]
        self.order = max(len(a), len(b)) - 1
        if dzf is None:
            dzf = np.zeros((*dy.shape[:-1], self.order), dy.dtype)
        self.multipliers = np.concatenate([self._backwards(dy, dzf), dzf], -1)

    def _backwards(self, dy, dzf):
        """Return the multipliers of the output's length."""
        order = len(self.a) - 1
        if not order:
            return dy
        a = np.conj(self.a)
        state = [-np.sum(a[m + 1 :] * dzf[..., : order - m], -1) for m in range(order)]
        one = np.ones(1, a.real.dtype)
        found, _ = ss.lfilter(one, a, np.flip(dy, -1), zi=np.stack(state, -1))
        return np.flip(found, -1)

    def of_state(self):
        """Return the cotangent of the first state."""
        return self.multipliers[..., : self.order]

    def of_input(self):
        """Return the cotangent of the input."""
        b, n = np.conj(self.b), self.length
        dx = b[0] * self.multipliers[..., :n]
        for k in range(1, len(b)):
            dx = dx + b[k] * self.multipliers[..., k : k + n]
        return dx

    def of_numerator(self, x):
        """Return the cotangent of `b`, for the input."""
        return self._lagged(x, len(self.b)) / np.conj(self.first)

    def of_denominator(self, y, zi=None, zf=None):
        """Return the cotangent of `a`, for the output and both states, if it has any."""
        found = self._lagged(y, len(self.a))
        if zi is not None:
            last = np.sum(self.multipliers[..., self.length :] * np.conj(zf))
            of_states = last - np.sum(self.of_state() * np.conj(zi))
            found = np.concatenate([found[:1] + of_states, found[1:]])
        return -found / np.conj(self.first)

    def _lagged(self, x, count):
        """Return the sums of multipliers times the conjugate of what is 0, 1, ... steps before."""
        x, n = np.conj(x), self.length
        return np.stack([np.sum(self.multipliers[..., k : k + n] * x) for k in range(count)])


def steady_back(b, a, zi, dgain, dzi):
    """Return the cotangents of `b` and `a` from those of their gain and steady state.

    Arguments:
        b, a: the coefficients, vectors whose `a[0]` is not zero.
        zi: the steady state.
        dgain, dzi: the cotangents of both.
    """
    first, total = np.conj(a[0]), np.conj(np.sum(a))
    gain = np.conj(np.sum(b)) / total
    sums = np.concatenate([np.zeros(1, dzi.dtype), np.cumsum(dzi)]) / first
    dgain = (dgain - np.sum(sums * np.conj(extended(a, b)))) / total
    of_first = np.sum(dzi * np.conj(zi)) / first
    db = sums[: len(b)] + dgain
    da = -gain * (sums[: len(a)] + dgain)
    return db, np.concatenate([da[:1] - of_first, da[1:]])


def extended(b, a):
    """Return `b` with zeros behind it, if `a` is longer."""
    return np.concatenate([b, np.zeros(max(0, len(a) - len(b)), b.dtype)])
