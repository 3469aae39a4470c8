"""NumPy's statistics: variances, weighted means, covariances, counts, and what passes over nan."""

from types import NoneType

import numpy as np

from rules_base._axes import count, restored, spread
from rules_base._nesting import ArrayLike, as_array, unstacked
from rules_base._reductions import products_of_others, shared_by_hits
from rulescore import Array, Numeric, RuleSet, accumulate, project

rule = RuleSet("rules_base")


@rule(np.var, np.ndarray.var, np.generic.var)
def _(x: Numeric, axis=None, dtype=None, *, ddof=0, keepdims=False, correction=0, where=None):
    only = {} if where is None else {"where": where}

    def pullback(dy):
        if where is not None:
            dx = part_variance_back(
                restored(dy, x, axis, keepdims), x, axis, ddof or correction, where
            )
            return (project(dx, x),)
        n = count(x, axis) - (ddof or correction)
        scale = restored(dy * (2 / n if n else np.nan), x, axis, keepdims)
        return (project(scale * centered(x, axis), x),)

    return np.var(x, axis, dtype, ddof=ddof or correction, keepdims=keepdims, **only), pullback


@rule(np.std, np.ndarray.std, np.generic.std)
def _(x: Numeric, axis=None, dtype=None, *, ddof=0, keepdims=False, correction=0, where=None):
    only = {} if where is None else {"where": where}
    y = np.std(x, axis, dtype, ddof=ddof or correction, keepdims=keepdims, **only)

    def pullback(dy):
        if where is not None:
            dvar = restored(dy / (2 * y + (y == 0)), x, axis, keepdims)
            return (project(part_variance_back(dvar, x, axis, ddof or correction, where), x),)
        n = count(x, axis) - (ddof or correction)
        scale = restored(dy / (n * y + (y == 0)), x, axis, keepdims)
        return (project(scale * centered(x, axis), x),)

    return y, pullback


def centered(x, axis):
    """Return `x` less its mean along `axis`, without a word about empty arrays."""
    return x - np.sum(x, axis=axis, keepdims=axis is not None) / max(count(x, axis), 1)


def part_variance_back(dy, x, axis, ddof, where):
    """Return the cotangent of `x` in the variance along `axis` of its entries at `where`."""
    there = np.broadcast_to(where, np.shape(x))
    n = np.sum(there, axis=axis, keepdims=True)
    inside = np.where(there, x, 0.0)
    deviation = inside - np.sum(inside, axis=axis, keepdims=True) / np.maximum(n, 1)
    return np.where(there, dy * 2 * deviation / np.maximum(n - ddof, 1), 0.0)


@rule(np.nansum)
def _(x: Array, axis=None, dtype=None, *, keepdims=False):
    def pullback(dy):
        return (project(np.where(np.isnan(x), 0.0, spread(dy, x, axis, keepdims)), x),)

    return np.nansum(x, axis, dtype, keepdims=keepdims), pullback


@rule(np.nanmean)
def _(x: Array, axis=None, dtype=None, *, keepdims=False):
    def pullback(dy):
        there = ~np.isnan(x)
        n = np.sum(there, axis=axis, keepdims=True)
        share = restored(dy, x, axis, keepdims) / np.maximum(n, 1)
        return (project(np.where(there, share, 0.0), x),)

    return np.nanmean(x, axis, dtype, keepdims=keepdims), pullback


@rule(np.nanprod)
def _(x: Array, axis=None, dtype=None, *, keepdims=False):
    def pullback(dy):
        others = products_of_others(np.where(np.isnan(x), 1.0, x), axis)
        dx = restored(dy, x, axis, keepdims) * np.conjugate(others)
        return (project(np.where(np.isnan(x), 0.0, dx), x),)

    return np.nanprod(x, axis, dtype, keepdims=keepdims), pullback


@rule(np.nanmax)
def _(x: Array, axis=None, *, keepdims=False):
    y = np.nanmax(x, axis, keepdims=keepdims)

    def pullback(dy):
        return (shared_by_hits(dy, y, x, axis, keepdims),)

    return y, pullback


@rule(np.nanmin)
def _(x: Array, axis=None, *, keepdims=False):
    y = np.nanmin(x, axis, keepdims=keepdims)

    def pullback(dy):
        return (shared_by_hits(dy, y, x, axis, keepdims),)

    return y, pullback


@rule(np.nanvar)
def _(x: Array, axis=None, dtype=None, *, ddof=0, keepdims=False):
    def pullback(dy):
        return (nan_variance_back(restored(dy, x, axis, keepdims), x, axis, ddof),)

    return np.nanvar(x, axis, dtype, ddof=ddof, keepdims=keepdims), pullback


@rule(np.nanstd)
def _(x: Array, axis=None, dtype=None, *, ddof=0, keepdims=False):
    y = np.nanstd(x, axis, dtype, ddof=ddof, keepdims=keepdims)

    def pullback(dy):
        dvar = dy / np.where(y == 0, 1.0, 2 * y)
        return (nan_variance_back(restored(dvar, x, axis, keepdims), x, axis, ddof),)

    return y, pullback


def nan_variance_back(dy, x, axis, ddof):
    """Return the cotangent of `x` in its variance along `axis`, missing values passed over."""
    return project(part_variance_back(dy, x, axis, ddof, ~np.isnan(x)), x)


@rule(np.average)
def _(x: ArrayLike, axis=None, *, keepdims=False):
    values = as_array(x)

    def pullback(dy):
        share = dy / max(count(values, axis), 1)
        return (unstacked(project(spread(share, values, axis, keepdims), values), x),)

    return np.average(values, axis, keepdims=keepdims), pullback


@rule(np.average)
def _(x: ArrayLike, axis: object, weights: ArrayLike, *, keepdims=False):
    values, w = as_array(x), as_array(weights)
    y = np.average(values, axis, w, keepdims=keepdims)

    def pullback(dy):
        dvalues, dw = average_back(dy, y, values, axis, w, keepdims)
        return unstacked(dvalues, x), None, unstacked(dw, weights)

    return y, pullback


def average_back(dy, y, x, axis, weights, keepdims):
    """Return the cotangents of `x` and of the `weights` in their average `y`."""
    if weights.shape == x.shape:
        axes, ordered, wide = (), weights, weights
    else:
        axes = [a % x.ndim for a in (axis if isinstance(axis, tuple) else (axis,))]
        ordered = np.transpose(weights, np.argsort(np.argsort(axes)).tolist())
        wide = np.reshape(ordered, [x.shape[a] if a in axes else 1 for a in range(x.ndim)])
    total = np.sum(np.broadcast_to(wide, x.shape), axis=axis, keepdims=True)
    dy = restored(dy, x, axis, keepdims) / np.conjugate(total)
    dwide = project(dy * np.conjugate(x - restored(y, x, axis, keepdims)), wide)
    dweights = np.reshape(dwide, ordered.shape)
    if axes:
        dweights = np.transpose(dweights, np.argsort(axes).tolist())
    return project(dy * np.conjugate(wide), x), project(dweights, weights)


@rule(np.cov)
def _(x: Array, *, rowvar=True, bias=False, ddof=None):
    rows = covariance_rows(x, rowvar)

    def pullback(dy):
        drows = covariance_back(dy, rows, bias, ddof)
        return (project(unrowed(drows, x, rowvar), x),)

    return np.cov(x, None, rowvar, bias, ddof), pullback


@rule(np.cov)
def _(x: Array, y: Array, *, rowvar=True, bias=False, ddof=None):
    above, below = covariance_rows(x, rowvar), covariance_rows(y, rowvar)
    n = above.shape[0]

    def pullback(dy):
        drows = covariance_back(dy, np.concatenate([above, below]), bias, ddof)
        dx, dz = unrowed(drows[:n], x, rowvar), unrowed(drows[n:], y, rowvar)
        return project(dx, x), project(dz, y)

    return np.cov(x, y, rowvar, bias, ddof), pullback


@rule(np.cov)
def _(x: Array, y: NoneType, rowvar=True, bias=False, ddof=None):
    rows = covariance_rows(x, rowvar)

    def pullback(dy):
        drows = covariance_back(dy, rows, bias, ddof)
        return project(unrowed(drows, x, rowvar), x), None

    return np.cov(x, None, rowvar, bias, ddof), pullback


def covariance_rows(x, rowvar):
    """Return the variables as rows of a matrix."""
    rows = np.reshape(x, (1, -1)) if x.ndim < 2 else x
    return rows if rowvar or x.ndim < 2 else rows.T


def unrowed(drows, x, rowvar):
    """Return the cotangent of `x` from that of its variables as rows."""
    return np.reshape(drows if rowvar or x.ndim < 2 else drows.T, x.shape)


def covariance_back(dy, rows, bias, ddof):
    """Return the cotangent of `rows`, whose covariance has the cotangent `dy`."""
    n = rows.shape[1] - ((0 if bias else 1) if ddof is None else ddof)
    dy = np.reshape(dy, (rows.shape[0],) * 2)
    centered = rows - np.mean(rows, axis=1, keepdims=True)
    return (dy + np.conjugate(dy.T)) @ centered / n


@rule(np.corrcoef)
def _(x: Array, *, rowvar=True):
    rows = covariance_rows(x, rowvar)

    def pullback(dy):
        return (project(unrowed(correlation_back(dy, rows), x, rowvar), x),)

    return np.corrcoef(x, None, rowvar), pullback


@rule(np.corrcoef)
def _(x: Array, y: Array, *, rowvar=True):
    above, below = covariance_rows(x, rowvar), covariance_rows(y, rowvar)
    n = above.shape[0]

    def pullback(dy):
        drows = correlation_back(dy, np.concatenate([above, below]))
        dx, dz = unrowed(drows[:n], x, rowvar), unrowed(drows[n:], y, rowvar)
        return project(dx, x), project(dz, y)

    return np.corrcoef(x, y, rowvar), pullback


@rule(np.corrcoef)
def _(x: Array, y: NoneType, rowvar=True):
    rows = covariance_rows(x, rowvar)

    def pullback(dy):
        return project(unrowed(correlation_back(dy, rows), x, rowvar), x), None

    return np.corrcoef(x, None, rowvar), pullback


def correlation_back(dy, rows):
    """Return the cotangent of `rows`, whose correlations have the cotangent `dy`."""
    dy = np.reshape(dy, (rows.shape[0],) * 2)
    centered = rows - np.mean(rows, axis=1, keepdims=True)
    norm = np.sqrt(np.sum(np.abs(centered) ** 2, axis=1, keepdims=True))
    unit = centered / norm
    dunit = (dy + np.conjugate(dy.T)) @ unit
    along = np.sum(np.real(np.conjugate(unit) * dunit), axis=1, keepdims=True)
    return (dunit - unit * along) / norm


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


# The counts of a histogram are constant in the samples. Its edges are not, where they are taken
# from the least and the greatest sample; with weights it has no rule.


def edges_back(dedges, x, bins, range):
    """Return the cotangent of the samples from that of the edges of their histogram."""
    if dedges is None or range is not None or np.ndim(bins) > 0 or np.size(x) == 0:
        return None
    t = np.linspace(0.0, 1.0, np.size(dedges))
    dlow, dhigh = dedges @ (1 - t), dedges @ t
    low, high = np.min(x), np.max(x)
    return accumulate(
        shared_by_hits(dlow, low, x, None, False), shared_by_hits(dhigh, high, x, None, False)
    )


@rule(np.histogram_bin_edges)
def _(x: Array, bins=10, range=None):
    def pullback(dy):
        return (edges_back(dy, x, bins, range),)

    return np.histogram_bin_edges(x, bins, range), pullback


@rule(np.histogram)
def _(x: Array, bins=10, range=None, density=None):
    values, edges = np.histogram(x, bins, range=range, density=density)

    def pullback(dy):
        dvalues, dedges = dy
        if density and dvalues is not None:
            dwidths = -dvalues * values / np.diff(edges)
            dwidths = np.concatenate([[0.0], dwidths, [0.0]])
            dedges = accumulate(dedges, -np.diff(dwidths))
        return (edges_back(dedges, x, bins, range),)

    return (values, edges), pullback


@rule(np.histogram2d)
def _(x: Array, y: Array, bins=10, range=None):
    both = [bins, bins] if np.ndim(bins) == 0 else bins
    ranges = [None, None] if range is None else range

    def pullback(dout):
        _, dx_edges, dy_edges = dout
        dx = edges_back(dx_edges, x, both[0], ranges[0])
        return dx, edges_back(dy_edges, y, both[1], ranges[1])

    return np.histogram2d(x, y, bins, range), pullback


MATRIX = np.array([[0.5, -1.5, 2.0], [1.25, 0.75, -0.25]])
GAPS = np.array([[0.5, np.nan, 2.0], [1.25, 0.75, -0.25]])
for f in (np.var, np.std):
    rule.example(f, MATRIX)
    rule.example(f, MATRIX, axis=1, ddof=1, keepdims=True)
    rule.example(f, MATRIX + 1j * MATRIX[::-1], axis=0)
    rule.example(f, MATRIX[None], axis=(0, 2))
rule.example(np.ndarray.var, MATRIX, axis=1)
rule.example(np.ndarray.std, MATRIX, axis=1)
for f in (np.nansum, np.nanmean, np.nanprod, np.nanmax, np.nanmin, np.nanvar, np.nanstd):
    rule.example(f, GAPS)
    rule.example(f, GAPS, axis=1)
    rule.example(f, GAPS, axis=1, keepdims=True)
rule.example(np.nanvar, GAPS, ddof=1)
rule.example(np.average, MATRIX, axis=0)
rule.example(np.average, [0.5, 1.5])
rule.example(np.average, MATRIX, 1, np.array([0.5, 0.2, 1.0]))
rule.example(np.average, MATRIX, None, abs(MATRIX))
rule.example(np.average, MATRIX, 0, [0.5, 0.2])
rule.example(np.average, [0.5, 1.5], None, (0.5, 0.2))
rule.example(np.average, np.stack([MATRIX, MATRIX**2]), (2, 0), abs(MATRIX.T[:, :2]))
rule.example(np.average, MATRIX[None], (2, 1), abs(MATRIX.T))
for f in (np.cov, np.corrcoef):
    rule.example(f, MATRIX + 0.3 * MATRIX[::-1, ::-1] ** 2)
    rule.example(f, MATRIX.T + 0.3 * MATRIX.T[::-1] ** 2, rowvar=False)
    rule.example(f, MATRIX + 0.3 * MATRIX[::-1, ::-1] ** 2, None)
    rule.example(f, MATRIX[0], MATRIX[1] ** 2)
    rule.example(f, MATRIX.T + 0.3 * MATRIX.T[::-1] ** 2, MATRIX.T**3, rowvar=False)
rule.example(np.cov, MATRIX[0])
rule.example(np.cov, MATRIX, abs(MATRIX[0]), bias=True)
rule.example(np.cov, MATRIX * 1j + MATRIX[::-1], ddof=0)
rule.example(np.bincount, np.array([0, 2, 2]))
rule.example(np.bincount, np.array([0, 2, 2]), MATRIX[0], minlength=5)
rule.example(np.histogram, MATRIX)
rule.example(np.histogram, MATRIX, 3, density=True)
rule.example(np.histogram, MATRIX, bins=[0.0, 0.6, 2.0])
rule.example(np.histogram2d, MATRIX[0], MATRIX[1], 4)
rule.example(np.histogram_bin_edges, MATRIX, 3)
rule.example(np.histogram_bin_edges, MATRIX, range=(0.0, 2.0))
for f in (np.var, np.std):
    rule.example(f, MATRIX, axis=1, where=np.array([True, False, True]))
    rule.example(f, MATRIX, ddof=1, where=MATRIX > -1.0)
    rule.example(f, MATRIX, axis=0, keepdims=True, where=np.array([[True], [True]]))
for f in (np.generic.var, np.generic.std):
    rule.example(f, np.float64(0.5))
