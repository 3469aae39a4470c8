"""Several arrays in one: stacks and blocks."""

import numpy as np
from scipy import sparse as sp

from rules_scipy.sparse.construction import of_dense
from rules_scipy.sparse.rearranging import numbered, ordered
from rules_scipy.sparse.values import (
    Sparse,
    coordinates,
    count,
    filled,
    is_wide,
    located,
    marked,
    places,
    spread,
    stored,
    summed,
    taken,
    unshared,
    widened,
)
from rulescore import RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.sparse.stacks")


def joined(f, xs):
    """Return the value and the pullback of a function that puts several arrays together.

    Arguments:
        f: the function, of a list of sparse arrays.
        xs: sparse arrays and dense ones. The pullback returns their cotangents in a list.
    """
    given = [as_sparse(x) for x in xs]
    once = [summed(a) for a, _ in given]
    firsts = np.cumsum([0, *[count(a) for a in once]])
    order = f([numbered(a, first + 1) for a, first in zip(once, firsts, strict=False)])
    index = ordered(order)
    y = filled(order, taken(np.concatenate([stored(a) for a in once]), index))
    for a in once:
        y = marked(y, a)

    def pullback(dy):
        whole = spread(stored(dy), index, firsts[-1])
        found = []
        for (a, back), b, first in zip(given, once, firsts, strict=False):
            d = project(filled(b, whole[first : first + count(b)]), a)
            found.append(d if back is None else back(d)[0])
        return found

    return y, pullback


def as_sparse(x):
    """Return a sparse array, and what pulls its cotangent back to `x` if that is dense."""
    return (x, None) if sp.issparse(x) else of_dense(sp.coo_matrix, x)


for stack in (sp.hstack, sp.vstack):

    @rule(stack)
    def _(blocks: list | tuple, format=None, dtype=None, *, _stack=stack):
        y, pullback = joined(lambda xs: _stack(xs, format, dtype), blocks)
        return y, lambda dy: (type(blocks)(pullback(dy)),)


for make in (sp.bmat, sp.block_array):

    @rule(make)
    def _(blocks: list | tuple, *, format=None, dtype=None, _make=make):
        places = [(i, j) for i, row in enumerate(blocks) for j, a in enumerate(row)
                  if a is not None]  # fmt: skip

        def nested(entries):
            rows = [[None] * len(row) for row in blocks]
            for (i, j), entry in zip(places, entries, strict=True):
                rows[i][j] = entry
            return rows

        make_of = lambda xs: _make(nested(xs), format=format, dtype=dtype)
        y, pullback = joined(make_of, [blocks[i][j] for i, j in places])

        def back(dy):
            rows = nested(pullback(dy))
            return (type(blocks)([type(a)(row) for a, row in zip(blocks, rows, strict=True)]),)

        return y, back


@rule(sp.block_diag)
def _(mats: list | tuple, format=None, dtype=None):
    y, pullback = joined(lambda xs: sp.block_diag(xs, format, dtype), mats)
    return y, lambda dy: (type(mats)(pullback(dy)),)


@rule(sp.kron)
def _(A: Sparse | np.ndarray, B: Sparse | np.ndarray, format=None):
    given = [as_sparse(x) for x in (A, B)]
    a, b = [summed(x) for x, _ in given]
    of_scipy = sp.kron(unshared(A), unshared(B), format)
    order = sp.kron(*[filled(x, np.ones(count(x))) for x in (a, b)], of_scipy.format)
    index = located(places_of_product(a, b, order.shape), places(order))
    va, vb = stored(a), stored(b)
    y = filled(order, spread(np.ravel(va[:, None] * vb), index, count(order)))
    y = widened(y, is_wide(a) or is_wide(b) or count(order) != count(of_scipy))

    def pulled(d, x, back):
        d = project(filled(x, d), x)
        return d if back is None else back(d)[0]

    def pullback(dy):
        products = np.reshape(taken(stored(dy), index), (len(va), len(vb)))
        found = (products @ np.conj(vb), a, given[0]), (np.conj(va) @ products, b, given[1])
        return tuple([project(pulled(d, x, back), whole)
                      for (d, x, (_, back)), whole in zip(found, (A, B), strict=True)])  # fmt: skip

    return y, pullback


def places_of_product(a, b, shape):
    """Return the place of each product of two stored numbers; -1 for padding."""
    (rows, columns), (inner, across) = coordinates(a), coordinates(b)
    place = (rows[:, None] * b.shape[0] + inner) * shape[1] + columns[:, None] * b.shape[1] + across
    return np.ravel(np.where((rows[:, None] < 0) | (inner < 0), -1, place))


rule.constant(places_of_product)
