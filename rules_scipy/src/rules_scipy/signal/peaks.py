"""Peaks of a signal: which they are is a choice, and their heights, prominences and widths move."""

import numpy as np
from scipy import signal as ss

from rulescore import Numeric, RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.signal.peaks")
ArrayLike = Numeric | list | tuple


@rule(ss.find_peaks)
def _(x: ArrayLike, height=None, threshold=None, distance=None, prominence=None, width=None,
      wlen=None, rel_height=0.5, plateau_size=None):  # fmt: skip
    found = ss.find_peaks(x, height, threshold, distance, prominence, width, wlen, rel_height,
                          plateau_size)  # fmt: skip

    def pullback(dy):
        properties = {} if dy is None or dy[1] is None else dict(dy[1])
        heights = properties.pop("peak_heights", None)
        other = [name for name, d in properties.items() if d is not None]
        if other:
            raise NotImplementedError(
                f"scipy.signal.find_peaks has no rule for {other[0]}: call peak_prominences or "
                "peak_widths"
            )
        return (None if heights is None else scattered(x, [(found[0], heights)]),)

    return found, pullback


def scattered(x, pairs):
    """Return the cotangent of a signal from those of its entries, as pairs of places and these."""
    dx = np.zeros(np.shape(x))
    for places, d in pairs:
        np.add.at(dx, places, d)
    return project(dx, x)


def of_bases(x, left, right, d):
    """Return pairs for the higher one of two bases; equal ones share it."""
    values = np.asarray(x, float)
    share = np.where(values[left] == values[right], 0.5, values[left] > values[right])
    return [(left, d * share), (right, d * (1 - share))]


@rule(ss.peak_prominences)
def _(x: ArrayLike, peaks: object, wlen=None):
    found = ss.peak_prominences(x, peaks, wlen)

    def pullback(dy):
        d = dy[0]
        if d is None:
            return None, None
        return scattered(x, [(np.asarray(peaks), d), *of_bases(x, *found[1:], -d)]), None

    return found, pullback


@rule(ss.peak_widths)
def _(x: ArrayLike, peaks: object, rel_height=0.5, prominence_data=None, wlen=None):
    if prominence_data is not None:
        raise NotImplementedError(
            "scipy.signal.peak_widths has no rule for prominence_data: leave it out"
        )
    found = ss.peak_widths(x, peaks, rel_height, wlen=wlen)

    def pullback(dy):
        dwidths, dheights, dleft, dright = [0.0 if d is None else d for d in dy]
        values, at = np.asarray(x, float), np.asarray(peaks)
        height, pairs, total = found[1], [], dheights
        for place, d, side in ((found[2], dleft - dwidths, 1), (found[3], dright + dwidths, -1)):
            outer = (np.floor(place) if side > 0 else np.ceil(place)).astype(int)
            inner = np.clip(outer + side, 0, len(values) - 1)
            rise = np.where(place == outer, np.inf, values[inner] - values[outer])
            by_height, part = side * d / rise, (height - values[outer]) / rise
            total = total + by_height
            pairs += [(outer, -by_height * (1 - part)), (inner, -by_height * part)]
        _, left, right = ss.peak_prominences(x, peaks, wlen)
        pairs += [(at, (1 - rel_height) * total), *of_bases(x, left, right, rel_height * total)]
        return scattered(x, pairs), None

    return found, pullback
