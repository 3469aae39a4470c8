"""The exponential of a matrix, and that times vectors: `expm` and `expm_multiply`.

Of the latter the cotangent of the matrix is that of a Taylor polynomial in steps, term by term. It
is computed at the places of the matrix alone.
"""

import math

import numpy as np
from scipy import linalg as sl
from scipy import sparse as sp
from scipy.sparse import linalg as spl

from rules_scipy.sparse.linalg.iterative import adjoint_of, by_matrix
from rules_scipy.sparse.products import as_columns
from rules_scipy.sparse.values import Sparse
from rulescore import RuleSet, accumulate, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.sparse.linalg.exponentials")
Matrix = Sparse | np.ndarray
LONGEST = 4.0  # the norm of a step: larger ones lose digits


@rule(spl.expm)
def _(A: Matrix):
    y = spl.expm(A)

    def pullback(dy):
        moved = sl.expm_frechet(dense(adjoint_of(A)), dense(dy), compute_expm=False)
        return (by_matrix(A, moved, np.eye(len(moved))),)

    return y, pullback


def dense(x):
    """Return a matrix as a dense array."""
    return x.toarray() if sp.issparse(x) else x


@rule(spl.expm_multiply)
def _(A: Matrix, B: np.ndarray, start=None, stop=None, num=None, endpoint=None, traceA=None):
    y = spl.expm_multiply(A, B, start, stop, num, endpoint, traceA)
    is_one = all(x is None for x in (start, stop, num, endpoint))
    if is_one:
        times, values = np.ones(1), [y]
    else:
        options = {"num": num, "endpoint": endpoint}
        given = {name: x for name, x in options.items() if x is not None}
        times, values = np.linspace(start, stop, **given), y
    steps = np.diff(times, prepend=0.0)

    def by_a(dy):
        dvalues = [dy] if is_one else dy
        da, d = None, 0.0
        for i in reversed(range(len(steps))):
            before = B if i == 0 else values[i - 1]
            step, d = pulled(A, as_columns(before), as_columns(d + dvalues[i]), steps[i])
            da, d = accumulate(da, step), np.reshape(d, np.shape(B))
        return da

    def by_b(dy):
        dvalues = [dy] if is_one else dy
        adjoint, d = adjoint_of(A), 0.0
        for i in reversed(range(len(steps))):
            d = spl.expm_multiply(adjoint * steps[i], d + dvalues[i])
        return project(d, B)

    return y, (by_a, by_b)


def pulled(a, x, dy, t):
    """Return the cotangents of `a` and `x` from that of `expm(t * a) @ x`, all of columns."""
    norm = np.max(np.sum(np.abs(a), axis=0), initial=0.0)
    count = max(1, math.ceil(abs(t) * norm / LONGEST))
    h, adjoint, states, da = t / count, adjoint_of(a), [x], None
    last = last_of(abs(h) * norm)
    for _ in range(count - 1):
        states.append(sum(terms_of(a, states[-1], h, last)))
    for state in reversed(states):
        terms = terms_of(a, state, h, last)
        d, left = dy, []
        for j in range(last, 0, -1):
            left.append(d * (h / j))
            d = dy + adjoint @ left[-1]
        dy = d
        da = accumulate(da, by_matrix(a, np.hstack(left), np.hstack(terms[-2::-1])))
    return da, dy


def terms_of(a, x, h, last):
    """Return the terms of the Taylor series of `expm(h * a) @ x`, up to the one numbered `last`."""
    terms = [x]
    for j in range(1, last + 1):
        terms.append(a @ terms[-1] * (h / j))
    return terms


def last_of(size):
    """Return how many terms count for a matrix of a norm, whatever it is applied to.

    Those that only derivatives up to the third have are among them, as at a matrix of zeros.
    """
    count, term = 1, size
    while term > 1e-18:
        count += 1
        term *= size / count
    return count + 3
