"""Explicit steps of a few equations, backwards: the derivatives at all stages at once.

The stages are those that SciPy has computed; only those that its interpolation adds are done again.
"""

import numpy as np

from rules_scipy.shared.steps.collocation import Along
from rules_scipy.shared.steps.stages import FEW, at_once


def steps_at_once(f, rates, begin, first, noted, tableau, within):
    """Return what pulls back through the accepted steps, or `None` where that is not right.

    Arguments:
        f: the right-hand side, at a time and a value.
        rates: the same with its pullback, as `rates_of` gives it.
        begin, first: the time and the value where the first step begins.
        noted: the ends of the steps, the values there, and the stages of each.
        tableau: the coefficients.
        within: the times within steps at which the value is asked for; `None` for all.
    """
    times, passed, stages = noted
    if not (0 < first.size <= FEW and times and first.dtype == float):
        return None
    knots, x = np.array([float(begin), *times]), np.array([first, *passed])
    if within is None:
        asked = range(len(times))
    else:
        sign = -1.0 if knots[-1] < knots[0] else 1.0
        asked = {*np.searchsorted(sign * knots[1:-1], sign * np.asarray(within, float)).tolist()}
    if not asked:
        tableau = tableau.without_interpolation()
    A, c, h = tableau.A, tableau.c, np.diff(knots)
    K = np.zeros((len(h), len(c), first.size))
    known = min(len(c), tableau.stages + 1)
    K[:, :known] = np.array(stages)[:, :known]
    at = knots[:-1, None] + c * h[:, None]
    for i in asked:
        for s in range(known, len(c)):
            K[i, s] = f(at[i, s], x[i] + h[i] * np.dot(A[s, :s], K[i, :s]))
    values = x[:-1, None] + h[:, None, None] * np.matmul(A, K)
    for s in range(known, len(c)):  # of the other steps any will do: nothing depends on them
        others = [i for i in range(len(h)) if i not in asked]
        at[others, s], values[others, s], K[others, s] = knots[others], x[others], K[others, 0]
    at, values, slopes = at.ravel(), values.reshape(-1, first.size), K.reshape(-1, first.size)
    found = at_once(*rates, at, values, slopes)
    return None if found is None else Along(tableau, knots, x, slopes, found)
