"""What moves stored numbers: transposes, slices, conversions, stacks and blocks, diagonals.

SciPy's own function runs on numbers that count the stored ones: it tells where each of them goes.
"""

import inspect
import operator

import numpy as np
from scipy import sparse as sp

from rules_scipy.sparse.values import (
    KINDS,
    Sparse,
    count,
    filled,
    is_summed,
    marked,
    refuse_matrix,
    same_pattern,
    sampled,
    spread,
    stored,
    summed,
    taken,
    widened,
)
from rulescore import RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.sparse.rearranging")
WITHOUT_SUMS = ("copy", "transpose", "getH", "T")
CONVERSIONS = ("asformat", "copy", "tobsr", "tocoo", "tocsc", "tocsr", "todia", "transpose",
               "getH", "getcol", "getrow", "reshape", "sorted_indices", "diagonal")  # fmt: skip


def methods(name):
    """Return the methods of a name of all classes, each once."""
    return {getattr(kind, name) for kind in KINDS if hasattr(kind, name)}


def numbered(a, first=1):
    """Return an array of the pattern of `a` that stores 1, 2, 3, ..."""
    return filled(a, np.arange(first, first + count(a)))


rule.constant(numbered)


def ordered(order):
    """Return which of the numbers, from 0 on, each place of a value gets, and -1 for none."""
    if sp.issparse(order):
        return stored(order).astype(np.int64) - 1
    return np.asarray(refuse_matrix(order)).astype(np.int64) - 1


def rearranged(f, a, sums=True):
    """Return the value and the pullback of a function that moves the stored numbers of `a`.

    Arguments:
        f: the function.
        a: a sparse array.
        sums: whether the function may add up numbers that are stored at one place.
    """
    once = summed(a) if sums else a
    order = f(numbered(once))
    index = ordered(order)
    if not sp.issparse(order):
        y = taken(stored(once), index)
        return y[()] if np.ndim(y) == 0 else y, lambda dy: (back_to(a, once, dy, index),)
    y = f(once)  # it may be `a` itself, or share its memory
    if count(y) != count(order):
        y = widened(filled(order, taken(stored(once), index)))
    elif sums and not is_summed(a):
        y = widened(y, not same_pattern(f(a.copy()), y))
    return marked(y, a), lambda dy: (back_to(a, once, stored(dy), index),)


def back_to(a, once, values, index):
    """Return the cotangent of an array whose numbers, each place once, went to an index."""
    found = filled(once, spread(np.ravel(values), np.ravel(index), count(once)))
    return project(found, a)


def of_method(method, sums):
    """Declare the rule of a method that moves the stored numbers, with its own parameters."""
    parameters = [*inspect.signature(method).parameters.values()]
    due = sum(p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters) - 1
    spread_out = any(p.kind is p.VAR_POSITIONAL for p in parameters)

    def _(a, *xs, **options):
        y, pullback = rearranged(lambda b: method(b, *xs, **options), a, sums)
        nothing = (None,) * (len(xs) if spread_out else due)
        return y, lambda dy: (*pullback(dy), *nothing)

    first = parameters[0].replace(annotation=Sparse)
    others = [p.replace(annotation=object if p.default is p.empty else p.empty)
              for p in parameters[1:]]  # fmt: skip
    _.__signature__ = inspect.Signature([first, *others])
    rule(method)(_)


for name in CONVERSIONS:
    for method in methods(name):
        of_method(method, name not in WITHOUT_SUMS)


@rule(sp.csr_array.T)
def _(a: Sparse):
    return rearranged(operator.attrgetter("T"), a, sums=False)


@rule(operator.getitem)
def _(a: Sparse, index: object):
    y, pullback = rearranged(lambda b: b[index], a)
    return y, lambda dy: (*pullback(dy), None)


if hasattr(sp, "permute_dims"):  # since SciPy 1.15

    @rule(sp.permute_dims)
    def _(A: Sparse, axes=None, copy=False):
        if A.format == "coo" and not copy:
            raise NotImplementedError(
                "permute_dims changes an array of the format COO in place: give `copy=True`"
            )
        return rearranged(lambda b: sp.permute_dims(b, axes, copy), A, sums=False)


for triangle in (sp.tril, sp.triu):

    @rule(triangle)
    def _(A: Sparse, k=0, format=None, *, _f=triangle):
        return rearranged(lambda b: _f(b, k, format), A)


for method in methods("toarray") | methods("todense"):

    @rule(method)
    def _(a: Sparse, order=None, out=None, *, _method=method):
        if out is not None:
            raise NotImplementedError("toarray has no rule for out: leave it out")
        y = refuse_matrix(_method(a, order))
        return y, lambda dy: (project(filled(a, sampled(dy, a)), a),)
