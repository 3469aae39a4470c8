"""Explicit steps, backwards: the derivatives at the stages that SciPy has computed.

Only stages that its interpolation adds are done again. Those of a few equations are differentiated
at once where the right-hand side takes columns, and otherwise one by one.
"""

import numpy as np

from rules_scipy.shared.steps.collocation import Along
from rules_scipy.shared.steps.runge_kutta import Done
from rules_scipy.shared.steps.stages import FEW, at_once, gathered, is_same, kept_of


def steps_of_stages(f, rates, begin, first, noted, tableau, within):
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
    if not (first.size and times):
        return None
    knots, x = np.array([float(begin), *times]), np.array([first, *passed])
    is_few = first.size <= FEW and first.dtype == float
    if within is None:
        asked = range(len(times))
    else:
        sign = -1.0 if knots[-1] < knots[0] else 1.0
        asked = {*np.searchsorted(sign * knots[1:-1], sign * np.asarray(within, float)).tolist()}
    if not asked and is_few:
        tableau = tableau.without_interpolation
    A, c, h = tableau.A, tableau.c, np.diff(knots)
    K = np.zeros((len(h), len(c), first.size), first.dtype)
    known = min(len(c), tableau.stages + 1)
    K[:, :known] = np.array(stages)[:, :known]
    at = knots[:-1, None] + c * h[:, None]
    for i in asked:
        for s in range(known, len(c)):
            K[i, s] = f(at[i, s], x[i] + h[i] * np.dot(A[s, :s], K[i, :s]))
    values = x[:-1, None] + h[:, None, None] * np.matmul(A, K)
    if is_few:
        together, wanted, slopes = at.copy(), values.copy(), K.copy()
        for s in range(known, len(c)):  # of the other steps any will do: nothing depends on them
            others = [i for i in range(len(h)) if i not in asked]
            together[others, s], wanted[others, s] = knots[others], x[others]
            slopes[others, s] = K[others, 0]
        slopes = slopes.reshape(-1, first.size)
        found = at_once(*rates, together.ravel(), wanted.reshape(-1, first.size), slopes)
        if found is not None:
            return Along(tableau, knots, x, slopes, found)
    keep = kept_of(K[:, :, 0].size, first.size) if is_few else lambda back: back
    backs = one_by_one(rates[0], keep, at, values, K, tableau.stages, asked)
    if backs is None:
        return None
    if not is_few:
        return Done(knots, tableau, K, backs)
    backs = [back for row in backs for back in [*row, *[None] * (len(c) - len(row))]]
    return Along(tableau, knots, x, K.reshape(-1, first.size), gathered(backs, first.size))


def one_by_one(rate, keep, at, values, K, end, asked):
    """Return what is kept of the pullbacks at the stages of each step.

    It is `None` where values are not the same. The last stage of a step is the first one of the
    next. Stages on which nothing depends are left out.

    Arguments:
        rate: the right-hand side and its pullback, at a time and a value.
        keep: what returns what is kept of a pullback.
        at, values, K: the times of the stages, the values there, and the right-hand side.
        end: how many stages a step has before its end.
        asked: the steps within which the value is asked for.
    """
    backs, (count, most) = [], at.shape
    slopes, last = np.empty_like(K[0]), None
    for i in range(count):
        goes_on = i in asked or i < count - 1
        row = range(most if i in asked else min(end + goes_on, most))
        found = []
        for s in row:
            if s == 0 and last is not None:
                slopes[0], back = last
            else:
                slopes[s], back = rate(at[i, s], values[i, s].copy())
                back = keep(back)
            found.append(back)
        last = (slopes[end].copy(), found[end]) if len(found) > end else None
        if not is_same(slopes[: len(found)], K[i, : len(found)]):
            return None
        backs.append(found)
    return backs
