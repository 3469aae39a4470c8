"""Explicit Runge-Kutta methods, backwards: the exact reverse of the steps that SciPy accepted.

The sizes of the steps are held fixed, but for the last one, which ends where the interval does. A
stage is `K[s] = f(t + c[s] h, y + h A[s] K)`; the last is at the end of the step, and the first of
the next one. Within a step the value is `y + h (P p(x)) K`, where `p` are the powers of
`x = (t - t0) / h`. (Hairer, Norsett and Wanner, Solving Ordinary Differential Equations I, II.1-6.)
"""

import copy
import functools

import numpy as np

from rules_scipy.shared.steps.sums import Sum
from rulescore import stop_gradient


class Scheme:
    """The coefficients of a method, a row for each stage.

    Attributes:
        A, c: the coefficients of the stages, and their times as parts of a step.
        P: those of the interpolation, a row for each stage and a column for each power.
        last: those of the value at the end of the step.
    """

    def weights(self, x):
        """Return the weights of the stages in values at some parts of a step, in columns."""
        return np.dot(self.P, np.asarray(x) ** self.powers[:, None])

    def slopes(self, x):
        """Return the derivatives of the weights."""
        return np.dot(self.P, self.powers[:, None] * x ** (self.powers[:, None] - 1))

    @functools.cached_property
    def powers(self):
        """The powers of the interpolation."""
        return np.arange(1, self.P.shape[1] + 1)

    @functools.cached_property
    def is_explicit(self):
        """Whether no stage depends on itself or a later one."""
        return not np.any(np.triu(self.A))


class Tableau(Scheme):
    """The coefficients of an explicit method, with stages that only its interpolation has.

    Attributes:
        stages: how many stages a step has before its end.
    """

    def __init__(self, method):
        stages = method.n_stages
        extra = getattr(method, "A_EXTRA", np.zeros((0, stages)))
        count = stages + 1 + len(extra)
        self.stages, self.A, self.c = stages, np.zeros((count, count)), np.ones(count)
        self.A[:stages, : method.A.shape[1]] = method.A
        self.A[stages, :stages] = method.B
        self.A[stages + 1 :, : extra.shape[1]] = extra
        self.c[:stages] = method.C
        self.c[stages + 1 :] = getattr(method, "C_EXTRA", ())
        self.P = interpolation(method, self.A[stages]) if len(extra) else method.P
        self.last = self.A[stages]

    @functools.cached_property
    def without_interpolation(self):
        """The coefficients of the stages before the end of a step."""
        short, kept = copy.copy(self), slice(self.stages)
        short.A, short.c, short.P = self.A[kept, kept], self.c[kept], self.P[kept]
        short.last = self.last[kept]
        return short


tableau_of = functools.lru_cache(maxsize=32)(Tableau)


def interpolation(method, last):
    """Return the coefficients of the interpolation of DOP853, by powers of `x`.

    It adds up what SciPy calls `F`, each times a product of `x` and `1 - x` in turns.
    """
    begin, end = np.eye(len(last))[[0, method.n_stages]]
    F = np.stack([last, begin - last, 2 * last - begin - end, *method.D])
    product, powers = np.polynomial.Polynomial([1.0]), np.zeros((len(F), len(F)))
    for j in range(len(F)):
        product *= np.polynomial.Polynomial([0.0, 1.0] if j % 2 == 0 else [1.0, -1.0])
        powers[j, : j + 1] = product.coef[1:]
    return F.T @ powers


class Steps:
    """Do the steps of a method again, to pull cotangents of the solution back through them.

    The right-hand side is differentiated at once: what it captured may be another thing later.

    Arguments:
        rate: the right-hand side and its pullback, at a time and a value.
        span: the ends of the interval.
        y: the value at its beginning, a vector.
        times: the ends of the steps.
        tableau: the coefficients.
        within: the times within steps at which the value is asked for; `None` for all.
    """

    def __init__(self, rate, span, y, times, tableau, within):
        self.rate, self.tableau = rate, tableau
        begin, end = span
        times = times or [float(end)]  # of a step of length 0
        self.knots = stop_gradient(np.array([float(begin), *times]))
        asked = None if within is None else {*self.places(within).tolist()}
        self.steps = []
        t = begin + np.float64(0.0)  # of the type of the times that follow
        k, back = rate(t, y)
        for i, (earlier, later) in enumerate(zip(self.knots[:-1], self.knots[1:], strict=True)):
            is_last, is_asked = i == len(times) - 1, asked is None or i in asked
            h = end - t if is_last else later - earlier
            y, k, back = self.step(t, h, y, k, back, is_asked, is_asked or not is_last)
            t = t + h

    def step(self, t, h, y, k, back, is_asked, goes_on):
        """Do a step again; return the value at its end, and the right-hand side and its pullback.

        `is_asked` tells whether stages of the interpolation are needed, and `goes_on` whether the
        right-hand side at the end is.
        """
        A, c, end = self.tableau.A, self.tableau.c, self.tableau.stages
        K, hA = np.zeros((len(c), len(y)), y.dtype), h * A
        K[0], backs = k, [back]
        for s in range(1, len(c) if is_asked else end + goes_on):
            there = y + np.dot(hA[s, :s], K[:s])
            k, back = self.rate(t + c[s] * h, there)
            K[s] = k
            backs.append(back)
            if s == end:
                later = there, k, back
        if not goes_on:
            later = y + np.dot(hA[end, :end], K[:end]), None, None
        self.steps.append((t, h, K, backs))
        return later

    def places(self, times):
        """Return in which step times lie; one between two steps, in the earlier."""
        sign = -1.0 if self.knots[-1] < self.knots[0] else 1.0
        return np.searchsorted(sign * self.knots[1:-1], sign * np.asarray(times, float))

    def pulled(self, times, dvalues, dknots=None):
        """Return the cotangents of the ends, of the first value, of `times` and of all others.

        Arguments:
            times, dvalues: times within, and the cotangents of the values there, in columns.
            dknots: the cotangents of the values between the steps, in columns, or `None`.
        """
        reverse = Reverse(self, np.asarray(times, float), dvalues)
        dy, dk = (np.zeros_like(self.steps[0][2][0]) for _ in range(2))
        for i in reversed(range(len(self.steps))):
            dy = dy if dknots is None else dy + dknots[:, i + 1]
            dy, dk, dh = reverse.step(i, dy, dk)
            if i == len(self.steps) - 1:
                dend = dh
        d, dt = reverse.pull(self.steps[0][3][0], dk)
        dy = dy + d if dknots is None else dy + d + dknots[:, 0]
        return (reverse.dtime + dt - dend, dend), dy, reverse.dtimes, reverse.others.total()


class Done(Steps):
    """Steps that need not be done again: what their stages are is known.

    Arguments:
        knots: the ends of the steps.
        tableau: the coefficients.
        K: the right-hand side at the stages of all steps.
        backs: the pullbacks at the stages of each step, as far as they are needed.
    """

    def __init__(self, knots, tableau, K, backs):
        self.knots, self.tableau = knots, tableau
        self.steps = [*zip(knots[:-1], np.diff(knots), K, backs, strict=True)]


class Reverse:
    """Pull cotangents back step by step, and gather those of all others.

    Attributes:
        dtime: the cotangent of a common shift of all steps.
        dtimes: those of the times at which the value is asked for.
        others: those of the right-hand side and what it takes behind the value.
    """

    def __init__(self, steps, times, dvalues):
        self.steps, self.tableau = steps.steps, steps.tableau
        self.times, self.dvalues, self.places = times, dvalues, steps.places(times)
        self.dtime, self.dtimes, self.others = 0.0, np.zeros(len(times)), Sum()

    def step(self, i, dlater, dk):
        """Return the cotangents of the value, of the right-hand side, and of the size of a step.

        Arguments:
            i: the number of the step.
            dlater, dk: the cotangents of the value at its end, and of the right-hand side there.
        """
        A, c, end = self.tableau.A, self.tableau.c, self.tableau.stages
        _, h, K, backs = self.steps[i]
        dy, dK, dh = self.within(i)
        dK[end] += dk
        there, dt = np.zeros_like(K), np.zeros(len(c))  # of the value at each stage, and the time
        hA = h * A.T
        there[end] = dlater
        for s in range(max(len(backs) - 1, end), 0, -1):
            if s < len(backs):
                d, dt[s] = self.pull(backs[s], dK[s] + np.dot(hA[s, s + 1 :], there[s + 1 :]))
                there[s] += d
        self.dtime = self.dtime + np.sum(dt)
        dh = dh + inner(there, np.dot(A, K)) + np.dot(c, dt)
        return dy + np.sum(there, axis=0), dK[0] + np.dot(hA[0], there), dh

    def within(self, i):
        """Pull the values within a step back: to its first value, its stages and its size."""
        t, h, K, _ = self.steps[i]
        dK = np.zeros_like(K)
        (asked,) = np.nonzero(self.places == i)
        if not len(asked):
            return np.zeros_like(K[0]), dK, 0.0
        dvalues = self.dvalues[:, asked]
        x = (self.times[asked] - t) / h if h else np.ones(len(asked))
        weights, slopes = self.tableau.weights(x), np.dot(K.T, self.tableau.slopes(x))
        dK += h * np.dot(weights, dvalues.T)
        dtimes = np.sum(np.real(np.conj(dvalues) * slopes), axis=0)
        self.dtimes[asked] = dtimes
        self.dtime = self.dtime - np.sum(dtimes)
        dh = inner(dvalues, np.dot(K.T, weights)) - np.sum(x * dtimes)
        return np.sum(dvalues, axis=1), dK, dh

    def pull(self, back, dk):
        """Return the cotangents of the value and of the time, for that of the right-hand side."""
        df, dt, dy, *dargs = back(dk)
        self.others.add((df, *dargs))
        return np.zeros_like(dk) if dy is None else dy, 0.0 if dt is None else dt


def inner(d, x):
    """Return the derivative in the direction `x`, by the cotangent `d`."""
    return np.sum(np.real(np.conj(d) * x))
