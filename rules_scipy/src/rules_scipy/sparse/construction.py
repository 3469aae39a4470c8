"""Sparse arrays that are made: of data and indices, of dense arrays, of other sparse arrays."""

import inspect

import numpy as np
from scipy import sparse as sp

from rules_scipy.sparse.rearranging import ordered, rearranged
from rules_scipy.sparse.values import (
    KINDS,
    Sparse,
    count,
    filled,
    is_summed,
    located,
    moved,
    places,
    same_pattern,
    stored,
    taken,
    widened,
)
from rulescore import RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.sparse.construction")


def of_parts(kind, parts, **options):
    """Return an array that is made of data and where they are, and its pullback."""
    if all(isinstance(n, int | np.integer) for n in parts):  # a shape
        return kind(parts, **options), lambda dy: (None,)
    data, *where = parts
    y = made_of(kind, parts, **options)
    index, made = sources(data, where, y), as_made(y)
    nothing = tuple([nothing_for(x) for x in where])

    def pullback(dy):
        kept = dy if same_pattern(dy, made) else moved(dy, made)
        found = taken(stored(kept), index)
        return ((project(np.reshape(found, np.shape(data)), data), *nothing),)

    return y, pullback


def made_of(kind, parts, **options):
    """Return the array that a class makes of data and where they are.

    SciPy sums repeated places in the memory of the data, where these are of one axis.
    """
    data, *where = parts
    if len(where) == 1 and isinstance(where[0], tuple) and len(where[0]) == 1:
        return kind((np.array(data), where[0]), **options)
    return kind(parts, **options)


def as_made(y):
    """Return an array of the pattern of `y`, which SciPy may yet sum up in place."""
    return y if is_summed(y) else filled(y, np.zeros(count(y)))


rule.constant(as_made)


def nothing_for(x):
    """Return the cotangent of index arrays."""
    return type(x)([None] * len(x)) if isinstance(x, tuple | list) else None


def sources(data, where, y):
    """Return where among what is stored each number of the data went, and -1 for nowhere."""
    size, kept = np.size(data), count(y)
    if len(where) == 1 and y.format not in ("coo", "dia"):  # of coordinates, which are summed
        given = sp.coo_array((np.ones(size), where[0]), shape=y.shape)
        return located(places(given), places(y))
    return np.where(np.arange(size) < kept, np.arange(size), -1)


def of_dense(kind, given, dtype=None, **options):
    """Return an array that stores all entries of a dense one, and its pullback.

    SciPy leaves out the zeros. Here they are stored, as a gradient passes through them.
    """
    x = np.asarray(given)
    order = kind(np.reshape(np.arange(1, x.size + 1), x.shape), **options)
    index = ordered(order)
    values = taken(np.ravel(x), index)
    y = filled(order, values if dtype is None else values.astype(dtype))
    y = widened(y, bool(np.any(stored(y) == 0)))

    def pullback(dy):
        at = located(np.arange(x.size), index)
        return (project(np.reshape(taken(stored(dy), at), x.shape), given),)

    return y, pullback


def of_sparse(kind, a, dtype=None, **options):
    """Return an array that is made of another sparse one, and its pullback."""
    y, pullback = rearranged(lambda b: kind(b, **options), a)
    return (y if dtype is None else y.astype(dtype)), pullback


def of_kind(kind):
    """Declare the rules of a class."""
    later = [p.replace(annotation=inspect.Parameter.empty)
             for p in [*inspect.signature(kind).parameters.values()][1:]]  # fmt: skip
    first = inspect.Parameter("arg1", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    names = [p.name for p in later if p.kind is p.POSITIONAL_OR_KEYWORD]
    for of, types in ((of_parts, tuple), (of_dense, np.ndarray | list), (of_sparse, Sparse)):

        def _(arg1, *xs, _of=of, **options):
            return _of(kind, arg1, **dict(zip(names, xs, strict=False)), **options)

        _.__signature__ = inspect.Signature([first.replace(annotation=types), *later])
        rule(kind)(_)


for kind in KINDS:
    of_kind(kind)
