"""Adjoints of recursive filters along the last axis.

A filter `b`, `a` with `a[0] == 1` that begins in the state `zi` gives `y`, and ends in the state
`zf`. With all of them as sequences, `zi` at the beginning and `zf` behind the end, these hold:

    convolve(a, y) = convolve(b, x) + zi - zf

The multipliers of these equations are the cotangent of `y`, filtered backwards by `conj(a)`; the
cotangent of `zf` stands behind them.
"""

import numpy as np
from scipy import signal as ss

from rulescore import project


def coefficients(b, a):
    """Return coefficients of a filter as vectors of inexact numbers."""
    b, a = np.asarray(b), np.asarray(a)
    dtype = np.result_type(b, a, np.float64 if b.dtype.kind in "iu" else b.dtype)
    dtype = dtype if dtype.kind in "fc" else np.float64
    return np.atleast_1d(b.astype(dtype)), np.atleast_1d(a.astype(dtype))


def last(x, axis):
    """Return an array with an axis as its last one."""
    return np.moveaxis(np.asarray(x), axis, -1)


def like(dx, x):
    """Return a cotangent in the shape of an argument, which may be a number for a vector."""
    return project(np.reshape(dx, np.shape(x)), x)


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
    if a[0] == 0:
        raise np.linalg.LinAlgError(
            "the steady state of a filter has no derivative where its denominator begins with a "
            "zero, which is cut off"
        )
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


def of_sections(sections, x, zi, dy, dzf):
    """Return the cotangents of second-order sections, their input, and their first states.

    The first coefficient of each denominator, which has to be one, has the cotangent zero.

    Arguments:
        sections: one in each row.
        x: the input, with time along the last axis.
        zi: the first states, of which each is a last axis, one section after the other along the
            first axis; `None` for zeros.
        dy: the cotangent of the output.
        dzf: that of the last states; `None` for zeros.
    """
    zi = np.zeros((len(sections), *x.shape[:-1], 2)) if zi is None else zi
    runs = []
    for section, begin in zip(sections, zi, strict=True):
        y, end = ss.lfilter(section[:3], section[3:], x, zi=begin)
        runs.append((x, begin, y, end))
        x = y
    rows, states = [], []
    for i in range(len(sections) - 1, -1, -1):
        given, begin, y, end = runs[i]
        b, a = coefficients(sections[i, :3], sections[i, 3:])
        back = Recursion(b, a, dy, None if dzf is None else dzf[i])
        da = back.of_denominator(y, begin, end)
        rows.append(np.concatenate([back.of_numerator(given), np.zeros_like(da[:1]), da[1:]]))
        states.append(back.of_state())
        dy = back.of_input()
    return np.stack(rows[::-1]), dy, np.stack(states[::-1])


def of_steady_sections(sections, dzi):
    """Return the cotangent of second-order sections from that of their steady states."""
    scales = [1.0]
    for section in sections:
        scales.append(scales[-1] * (np.sum(section[:3]) / np.sum(section[3:])))
    rows, dscale = [], 0.0
    for i in range(len(sections) - 1, -1, -1):
        b, a = coefficients(sections[i, :3], sections[i, 3:])
        own, scale = ss.lfilter_zi(b, a), np.conj(scales[i])
        rows.append(np.concatenate(steady_back(b, a, own, scale * dscale, scale * dzi[i])))
        dscale = np.conj(np.sum(b) / np.sum(a)) * dscale + np.sum(np.conj(own) * dzi[i])
    return np.stack(rows[::-1])
