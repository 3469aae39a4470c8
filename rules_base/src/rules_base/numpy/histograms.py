"""Counts and weights of samples in bins, and the edges of the bins.

The counts are constant in the samples. The edges are not, where they are taken from the least and
the greatest sample; nor are weights, each of which is added to the bin of its sample.
"""

from types import NoneType

import numpy as np

from rules_base.numpy.reductions import shared_by_hits
from rules_base.shared.nesting import ArrayLike, as_array, unstacked
from rulescore import Array, RuleSet, accumulate, project

rule = RuleSet("rules_base", examples="rules_base.examples.numpy.histograms", may_raise=False)


@rule(np.bincount)
def _(x: object, *, minlength=0):
    def pullback(dy):
        return (None,)

    return np.bincount(x, minlength=minlength), pullback


@rule(np.bincount)
def _(x: object, weights: Array, minlength=0):
    def pullback(dy):
        return None, project(dy[np.asarray(x)], weights)

    return np.bincount(x, weights, minlength), pullback


def edges_back(dedges, x, bins, range):
    """Return the cotangents of the samples, `bins` and `range` from that of the edges of bins."""
    if dedges is None:
        return None, None, None
    if np.ndim(bins) > 0:
        return None, unstacked(project(dedges, as_array(bins)), bins), None
    t = np.linspace(0.0, 1.0, np.size(dedges))
    dlow, dhigh = dedges @ (1 - t), dedges @ t
    if range is not None:
        return None, None, unstacked(np.stack([dlow, dhigh]), range)
    if np.size(x) == 0:
        return None, None, None
    low, high = np.min(x), np.max(x)
    least = shared_by_hits(dlow, low, x, None, False)
    return accumulate(least, shared_by_hits(dhigh, high, x, None, False)), None, None


@rule(np.histogram_bin_edges)
def _(x: Array, bins=10):
    def pullback(dy):
        return (edges_back(dy, x, bins, None)[0],)

    return np.histogram_bin_edges(x, bins), pullback


@rule(np.histogram_bin_edges)
def _(x: Array, bins: object, range: ArrayLike | NoneType):
    def pullback(dy):
        return edges_back(dy, x, bins, range)

    return np.histogram_bin_edges(x, bins, range), pullback


@rule(np.histogram)
def _(x: ArrayLike, *, bins=10, range=None, density=None, weights=None):
    y, back = histogram(x, bins, range, density, weights)

    def pullback(dy):
        return (back(dy)[0],)

    return y, pullback


@rule(np.histogram)
def _(x: ArrayLike, bins: object, *, range=None, density=None, weights=None):
    y, back = histogram(x, bins, range, density, weights)

    def pullback(dy):
        return back(dy)[:2]

    return y, pullback


@rule(np.histogram)
def _(x: ArrayLike, bins: object, range: object, density=None, *, weights=None):
    y, back = histogram(x, bins, range, density, weights)

    def pullback(dy):
        return back(dy)[:3]

    return y, pullback


@rule(np.histogram)
def _(x: ArrayLike, bins: object, range: object, density: object, weights: ArrayLike):
    y, back = histogram(x, bins, range, density, weights)

    def pullback(dy):
        dx, dbins, drange, dweights = back(dy)
        return dx, dbins, drange, None, dweights

    return y, pullback


def histogram(x, bins, range, density, weights):
    """Return the histogram, and what gives the cotangents of `x`, `bins`, `range`, `weights`."""
    samples, given = as_array(x), as_array(weights)
    values, edges = np.histogram(samples, bins, range=range, density=density, weights=given)

    def back(dy):
        dvalues, dedges = dy
        dcounts = dvalues
        if density and dvalues is not None:
            dcounts, dwidths = density_back(dvalues, values, edges, samples, given)
            dedges = accumulate(dedges, -np.diff(dwidths, prepend=0.0, append=0.0))
        dsamples, dbins, drange = edges_back(dedges, samples, bins, range)
        dweights = None
        if weights is not None and dcounts is not None:
            dweights = unstacked(project(in_bins(dcounts, samples, edges), given), weights)
        return unstacked(dsamples, x), dbins, drange, dweights

    return (values, edges), back


def in_bins(dcounts, x, edges):
    """Return for each sample the cotangent of the count of its bin, zero where it is in none."""
    bins = np.searchsorted(edges, x, side="right") - 1
    bins = np.clip(bins, 0, np.size(dcounts) - 1)  # the last edge is in the last bin
    return np.where((x >= edges[0]) & (x <= edges[-1]), dcounts[bins], 0.0)


def density_back(dvalues, values, edges, x, weights):
    """Return the cotangents of the counts and of the widths of bins from that of densities."""
    total = np.sum(np.histogram(x, edges, weights=weights)[0])
    widths = np.diff(edges)
    dcounts = (dvalues / widths - np.vdot(values, dvalues)) / np.conjugate(total)
    return dcounts, -np.real(np.conjugate(values) * dvalues) / widths


@rule(np.histogram2d)
def _(x: Array, y: Array, *, bins=10, range=None):
    return histogram2d(x, y, bins, range)


@rule(np.histogram2d)
def _(x: Array, y: Array, bins: int, *, range=None):
    out, back = histogram2d(x, y, bins, range)

    def pullback(dout):
        return *back(dout), None

    return out, pullback


def histogram2d(x, y, bins, range):
    """Return the histogram in two dimensions, and its pullback to `x` and `y`."""
    both = [bins, bins] if np.ndim(bins) == 0 else bins
    ranges = [None, None] if range is None else range

    def back(dout):
        _, dx_edges, dy_edges = dout
        dx, _, _ = edges_back(dx_edges, x, both[0], ranges[0])
        dy, _, _ = edges_back(dy_edges, y, both[1], ranges[1])
        return dx, dy

    return np.histogram2d(x, y, bins, range), back
