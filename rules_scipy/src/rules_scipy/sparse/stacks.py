"""Several arrays in one: stacks and blocks."""

import numpy as np
from scipy import sparse as sp

from rules_scipy.sparse.construction import of_dense
from rules_scipy.sparse.rearranging import numbered, ordered
from rules_scipy.sparse.values import count, filled, marked, spread, stored, summed, taken
from rulescore import RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.sparse.stacks", may_raise=True)


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
