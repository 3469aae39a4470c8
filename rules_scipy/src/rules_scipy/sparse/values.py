"""Sparse arrays as values: their numbers, their pattern, and their cotangents.

`stored` gives the numbers, `filled` other numbers in the same pattern, and `taken` and `spread`
carry numbers from one pattern to another. Rules are made of these, which have rules of their own.
"""

import numpy as np
from scipy import sparse as sp

from rulescore import RuleSet, accumulate, flatten, project, zero
from rulescore.faults import an

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.sparse.values")
Sparse = sp.sparray | sp.spmatrix
FORMATS = ("bsr", "coo", "csc", "csr", "dia")
KINDS = tuple(getattr(sp, f"{name}_{kind}") for name in FORMATS for kind in ("array", "matrix"))
WIDE = "_stores_more_zeros"  # the mark of arrays that store zeros which SciPy leaves out
PARTS = {
    "bsr": ("indices", "indptr"),
    "csc": ("indices", "indptr"),
    "csr": ("indices", "indptr"),
    "coo": ("coords",),
    "dia": ("offsets",),
}


def refuse_matrix(y):
    """Raise `NotImplementedError` for a `np.matrix`, which methods of `spmatrix` return."""
    if isinstance(y, np.matrix):
        raise NotImplementedError(
            "a gradient passes through a numpy.matrix, which carries none: use the sparse arrays, "
            "such as csr_array, in the place of csr_matrix"
        )
    return y


def refuse_format(a):
    """Raise `NotImplementedError` for the formats that are made for writing."""
    if a.format not in PARTS:
        raise NotImplementedError(
            f"{an(type(a).__name__)} carries no gradient, as it is made for writing: convert it by "
            "`tocsr()` before, or make an array of data and indices"
        )
    return a


def stored(a):
    """Return the numbers that a sparse array stores, as a vector."""
    return np.ravel(refuse_format(a).data)


def filled(a, values):
    """Return a sparse array of the class and pattern of `a` that stores other numbers.

    It has index arrays of its own: SciPy's methods in place would change those of `a`.
    """
    data = np.reshape(values, np.shape(refuse_format(a).data))
    if a.format == "coo":
        made = type(a)((data, tuple(map(np.copy, a.coords))), shape=a.shape)
        made.has_canonical_format = a.has_canonical_format
    else:
        parts = [np.copy(getattr(a, name)) for name in PARTS[a.format]]
        made = type(a)((data, *parts), shape=a.shape)
    return marked(made, a)


def marked(made, a):
    """Note of an array that it stores zeros which SciPy leaves out, if `a`, its origin, does."""
    if is_wide(a):
        setattr(made, WIDE, True)
    return made


def widened(made, more=True):
    """Note of an array that SciPy's own stores other numbers, if there are `more` here."""
    if more:
        setattr(made, WIDE, True)
    return made


def is_wide(a):
    """Return whether a sparse array stores zeros that SciPy leaves out."""
    return WIDE in getattr(a, "__dict__", ())


def is_summed(a):
    """Return whether a sparse array stores no place twice, in SciPy's order."""
    return a.format in ("dia", "lil", "dok") or bool(a.has_canonical_format)


def summed(a):
    """Return an array that stores no place twice, as SciPy's `sum_duplicates` leaves it."""
    if is_summed(a):
        return a
    other = summed_pattern(a)
    return filled(other, spread(stored(a), located(places(a), places(other)), count(other)))


def summed_pattern(a):
    """Return the pattern of `a`, each place once."""
    other = filled(a, np.ones(count(a)))
    other.sum_duplicates()
    return other


def count(a):
    """Return how many numbers a sparse array stores."""
    return int(np.size(refuse_format(a).data))


def unshared(a):
    """Return an array, or a copy if SciPy might sum it up in place."""
    return a if not sp.issparse(a) or is_summed(a) else a.copy()


def whole(f, *xs, ones=None):
    """Return `f(*xs)` with all places that may get a number, if these are zero here.

    SciPy leaves out zeros of sums and products, and the gradient by such an entry with them. Of
    ones, `ones` gives what is nowhere zero; without it `f`.
    """
    y = f(*map(unshared, xs))
    full = pattern_of(f, ones or f, *xs)
    if count(full) == count(y):
        return marked(y, full)
    return marked(filled(full, taken(stored(y), located(places(full), places(y)))), full)


def pattern_of(f, on_ones, *xs):
    """Return the pattern of the places of `f(*xs)` that may get a number: that of ones in `xs`."""
    ones = [filled(x, np.ones(count(x))) if sp.issparse(x) else np.ones(np.shape(x)) for x in xs]
    full = on_ones(*ones)
    return widened(full, any(map(is_wide, xs)) or count(full) != count(f(*map(unshared, xs))))


def moved(m, a):
    """Return an array of the pattern of `a` with the numbers that `m` has there."""
    return filled(a, taken(stored(m), located(places(a), places(m))))


def taken(values, index):
    """Return the numbers at an index, and 0 where it is -1."""
    if not np.size(values):
        return np.zeros(np.shape(index), values.dtype)
    found = values[index]
    return np.where(index < 0, np.zeros_like(found), found)


def spread(values, index, size):
    """Return a vector of a length: the sums of the numbers that an index sends to each place."""
    kept = index >= 0
    whole = np.zeros(size, values.dtype)
    np.add.at(whole, index[kept], values[kept])
    return whole


@rule.linear(stored)
def _(dy, a: Sparse):
    return filled(a, dy)


@rule.linear(filled, argnums=1)
def _(dy, a: Sparse, values: np.ndarray):
    return stored(project(dy, a))


@rule.linear(taken, argnums=0)
def _(dy, values: np.ndarray, index: np.ndarray):
    return spread(dy, index, np.size(values))


@rule.linear(spread, argnums=0)
def _(dy, values: np.ndarray, index: np.ndarray, size=None):
    return taken(dy, index)


def coordinates(a):
    """Return the indices of all stored numbers along each axis; -1 for what is padding."""
    if refuse_format(a).format == "coo":
        return tuple([np.asarray(c, np.int64) for c in a.coords])
    if a.format in ("csr", "csc"):
        inner = np.asarray(a.indices, np.int64)
        if a.ndim == 1:
            return (inner,)
        outer = np.repeat(np.arange(len(a.indptr) - 1), np.diff(a.indptr))
        return (outer, inner) if a.format == "csr" else (inner, outer)
    if a.format == "bsr":
        height, width = a.blocksize
        outer = np.repeat(np.arange(len(a.indptr) - 1), np.diff(a.indptr))
        shape = a.data.shape
        rows = outer[:, None, None] * height + np.arange(height)[:, None]
        columns = np.asarray(a.indices, np.int64)[:, None, None] * width + np.arange(width)
        return tuple([np.ravel(np.broadcast_to(c, shape)) for c in (rows, columns)])
    columns = np.broadcast_to(np.arange(a.data.shape[1]), a.data.shape)
    rows = columns - np.asarray(a.offsets, np.int64)[:, None]
    inside = (rows >= 0) & (rows < a.shape[0]) & (columns < a.shape[1])
    return np.where(inside, rows, -1).ravel(), np.where(inside, columns, -1).ravel()


def places(a):
    """Return the place of each stored number in the dense array, in C order; -1 for padding."""
    coords = coordinates(a)
    flat = np.zeros(np.shape(coords[0]), np.int64)
    for coordinate, length in zip(coords, a.shape, strict=True):
        flat = flat * length + coordinate
    return np.where(coords[0] < 0, -1, flat)


def located(wanted, given):
    """Return where in `given` each of the places `wanted` is first, or -1 where it is not."""
    if not np.size(given):
        return np.full(np.shape(wanted), -1)
    order = np.argsort(given, kind="stable")
    at = np.minimum(np.searchsorted(given, wanted, sorter=order), len(order) - 1)
    found = order[at]
    return np.where((given[found] == wanted) & (wanted >= 0), found, -1)


def same_pattern(a, b):
    """Return whether two sparse arrays store numbers at the same places in the same order."""
    if a.format != b.format or a.shape != b.shape or np.shape(a.data) != np.shape(b.data):
        return False
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in PARTS[a.format])


def sampled(dense, a):
    """Return the numbers of a dense array at the places of `a`."""
    return taken(np.ravel(dense), places(a))


rule.constant(coordinates, places, located, same_pattern, is_summed, summed_pattern, count,
              is_wide, pattern_of)  # fmt: skip


@rule.linear(widened, argnums=0)
def _(dy, made: Sparse, more=True):
    return dy


@rule.linear(marked, argnums=0)
def _(dy, made: Sparse, a: Sparse):
    return dy


@rule.method(project)
def _(dx: object, x: Sparse):
    if x.dtype.kind not in "iufc":
        return None
    refuse_format(x)
    if not sp.issparse(dx):
        dense = np.broadcast_to(dx, x.shape) if np.ndim(dx) == 0 else np.asarray(dx)
        if dense.shape != x.shape:
            raise ValueError(f"a cotangent of shape {dense.shape} does not fit {x.shape}")
        return filled(x, project(sampled(dense, x), stored(x)))
    if dx.shape != x.shape:
        raise ValueError(f"a cotangent of shape {dx.shape} does not fit one of shape {x.shape}")
    if not same_pattern(dx, x):
        dx = summed(dx.tocoo())
        return filled(x, project(taken(dx.data, located(places(x), places(dx))), stored(x)))
    values = project(stored(dx), stored(x))
    return dx if type(dx) is type(x) and values.dtype == dx.dtype else filled(x, values)


@rule.method(accumulate)
def _(a: Sparse, b: Sparse):
    if same_pattern(a, b):
        return filled(a, stored(a) + stored(b))
    return a + b


@rule.method(zero)
def _(x: Sparse):
    return project(0.0, x)


@rule.method(flatten)
def _(x: Sparse):
    return [stored(x)], lambda arrays: filled(x, arrays[0])
