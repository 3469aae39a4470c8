"""Stiff methods, backwards: the reverse of Radau's method along the solution that was found.

The continuous adjoint is a linear equation with the derivatives of the right-hand side along the
solution. It is solved by the adjoint of the method of Radau IIA of order 5, which is stable for
stiff equations. On the accepted steps of SciPy's `Radau` this is the exact reverse. `long_steps`
chooses steps for solvers of another order. (Hairer and Wanner, Solving Ordinary Differential
Equations II, IV.5.)
"""

import itertools

import numpy as np

from rules_scipy.shared.steps.runge_kutta import inner
from rulescore import accumulate

SURE = 1e-4  # a step is as exact where a solution is asked for with less
BLOCK = 2**20  # numbers of the systems that are solved together
ROOT = np.sqrt(6.0)
C = np.array([(4 - ROOT) / 10, (4 + ROOT) / 10, 1.0])
POWERS = np.arange(1, 4)
# the integral of the polynomial that is one at a stage, and zero at the others, by powers
P = np.linalg.inv(np.vander(C, increasing=True)).T / POWERS
A = (P @ C ** POWERS[:, None]).T


class Along:
    """Differentiate the right-hand side along a solution, to pull its cotangents back.

    Each value is linear in the later one: with the derivatives of the right-hand side at all
    stages, the systems of all steps are solved together, and what is left to do one after the
    other is a product with a small matrix.

    Arguments:
        rate: the right-hand side and its pullback, at a time and a value.
        knots: the ends of the steps.
        values: the solution at the stages of all steps (`stages_of`), in rows.
    """

    def __init__(self, rate, knots, values):
        self.knots, self.h = knots, np.diff(knots)
        found = [rate(t, np.array(x)) for t, x in zip(stages_of(knots), values, strict=True)]
        rows, self.backs = zip(*found, strict=True)
        self.K = np.stack(rows).reshape(len(self.h), len(C), -1)

    def pulled(self, times, dvalues):
        """Return the cotangents of the ends, of the first value, of `times` and of all others.

        Arguments:
            times, dvalues: times, and the cotangents of the solution there, in columns.
        """
        h, K = self.h, self.K
        dwithin, dK, dtimes, dend = self.within(np.asarray(times, float), dvalues)
        slopes = self.slopes()
        dy, dlater = np.zeros_like(K[0, 0]), np.empty_like(dwithin)
        size = max(1, BLOCK // slopes[0].size // len(C))
        for stop in range(len(h), 0, -size):
            part = slice(max(0, stop - size), stop)
            ahead, given = self.solved(part, slopes[part], dK[part])
            # the value at the begin of a step, by that at its end
            across = np.einsum("msab,msbc->mac", slopes[part], ahead)
            beside = dwithin[part] + np.einsum("msab,msb->ma", slopes[part], given)
            for i in reversed(range(len(across))):
                dlater[part.start + i] = dy
                dy = dy + across[i] @ dy + beside[i]
            dK[part] = np.einsum("msab,mb->msa", ahead, dlater[part]) + given
        dt, others = self.gathered(dK.reshape(len(self.backs), -1))
        dstages = np.einsum("sab,sb->sa", slopes[-1], dK[-1])
        dend = dend + inner(dlater[-1], A[-1] @ K[-1]) + inner(dstages, A @ K[-1])
        dend = dend + np.sum(C * dt[-len(C) :])
        return (np.sum(dt) - np.sum(dtimes) - dend, dend), dy, dtimes, others

    def gathered(self, rows):
        """Return the cotangents of the times of the stages, and the sums of those of all others."""
        dt, others = np.zeros(len(rows)), None
        for i, (back, row) in enumerate(zip(self.backs, rows, strict=True)):
            of_time, _, *found = back(row)
            dt[i] = 0.0 if of_time is None else of_time
            others = found if others is None else [
                accumulate(a, b) for a, b in zip(others, found, strict=True)]  # fmt: skip
        return dt, others

    def slopes(self):
        """Return the adjoints of the derivatives of the right-hand side by the value."""
        size = self.K.shape[2]
        units = np.eye(size, dtype=self.K.dtype)
        found = [[by_value(back, unit) for unit in units] for back in self.backs]
        return np.reshape(found, (*self.K.shape, size)).swapaxes(-1, -2)

    def solved(self, part, slopes, dK):
        """Return the cotangents of the stages: by that of the later value, and what is added."""
        count, stages, size = dK.shape
        h = self.h[part, None, None, None, None]
        system = -h * np.einsum("jk,mjab->mkajb", A, slopes)
        system = system.reshape(count, stages * size, -1) + np.eye(stages * size)
        last = np.kron(A[-1][:, None], np.eye(size)) * self.h[part, None, None]
        sides = np.concatenate([last, dK.reshape(count, -1, 1)], axis=2)
        found = np.linalg.solve(system, sides).reshape(count, stages, size, size + 1)
        return found[..., :-1], found[..., -1]

    def within(self, times, dvalues):
        """Pull values within the steps back.

        Return the cotangents of the first values of the steps, of their stages, of the times, and
        of the size of the last step.
        """
        sign = -1.0 if self.knots[-1] < self.knots[0] else 1.0
        at = np.searchsorted(sign * self.knots[1:-1], sign * times)
        h = self.h[at]
        x = np.where(h == 0, 1.0, (times - self.knots[at]) / np.where(h == 0, 1.0, h))
        weights = P @ x ** POWERS[:, None]
        slopes = P @ (POWERS[:, None] * x ** (POWERS[:, None] - 1))
        rows = np.transpose(dvalues)
        dK, dy = np.zeros_like(self.K), np.zeros_like(self.K[:, 0])
        np.add.at(dK, at, h[:, None, None] * weights.T[:, :, None] * rows[:, None])
        np.add.at(dy, at, rows)
        dtimes = np.einsum("qa,sq,qsa->q", np.conj(rows), slopes, self.K[at]).real
        moved = np.einsum("qa,sq,qsa->q", np.conj(rows), weights, self.K[at]).real
        return dy, dK, dtimes, np.sum((moved - x * dtimes)[at == len(self.h) - 1])


def by_value(back, unit):
    """Return the cotangent of the value alone."""
    _, dy, *_ = back(unit)
    return np.zeros_like(unit) if dy is None else dy


def stages_of(knots):
    """Return the times of the stages of all steps."""
    return np.ravel(knots[:-1, None] + C * np.diff(knots)[:, None])


def along_pieces(pieces, span, y):
    """Return the ends of steps, and a solution at their stages, from its interpolants."""
    knots, values = [float(span[0])], []
    for piece in pieces:
        ends = np.array([piece.t_old, piece.t])
        knots.append(piece.t)
        values.append(piece(stages_of(ends)).T)
    if not values:  # of an interval of length 0
        knots, values = [*knots, float(span[1])], [np.tile(y, (len(C), 1))]
    return np.array(knots), np.concatenate(values)


def interpolated(pieces, times):
    """Return a solution at times in order, in rows, from its interpolants."""
    ends = np.array([piece.t for piece in pieces[:-1]])
    sign = -1.0 if pieces[-1].t < pieces[0].t_old else 1.0
    starts = np.searchsorted(sign * times, sign * ends, side="right")
    parts = [piece(part).T for piece, part in zip(pieces, np.split(times, starts), strict=True)
             if len(part)]  # fmt: skip
    return np.concatenate(parts)


def knots_of(times, begin, end):
    """Return the ends of the steps of a solver, from the times at which it has asked for rates.

    A time that is not beyond the one before is of a step that is done anew.
    """
    sign, knots = -1.0 if end < begin else 1.0, []
    for t in times:
        while knots and sign * (knots[-1] - t) >= 0:
            knots.pop()
        knots.append(t)
    inside = [t for t in knots if sign * (t - begin) > 0 and sign * (end - t) > 0]
    return np.array([begin, *inside, end], float)


def divided(knots, count):
    """Return the ends of steps that are divided into a number of parts each."""
    parts = [np.linspace(a, b, count + 1)[1:] for a, b in itertools.pairwise(knots)]
    return np.concatenate([knots[:1], *parts])


def with_times(ends, times):
    """Return ends of steps with further times between them, in order."""
    sign = -1.0 if ends[-1] < ends[0] else 1.0
    inside = times[(sign * times > sign * ends[0]) & (sign * times < sign * ends[-1])]
    return sign * np.unique(np.concatenate([sign * ends, sign * inside])) if inside.size else ends


def long_steps(knots, f, first, at, rtol, atol, asked=()):
    """Return the ends of as long steps as the method of order 5 can do, and the values at stages.

    Steps of a solver of another order are joined, or divided, so that a step that begins with the
    solution ends with it, as exactly as it is known.

    Arguments:
        knots: the ends of the steps of the solver.
        f: the right-hand side, of a time and a value.
        first: the first value.
        at: what gives the solution at times, in rows.
        rtol, atol: the tolerances of the solution.
        asked: times at which the solution is asked for: steps end there, where they are few, as
            between the ends of steps it is known less exactly.
    """
    found, before = None, np.inf
    is_long = len(asked) <= len(knots)
    for joined, parts in (*(((8, 1), (4, 1), (2, 1)) if is_long else ()), (1, 1), (1, 2), (1, 4)):
        ends = divided(np.append(knots[:-1:joined], knots[-1]), parts)
        ends = with_times(ends, np.asarray(asked, float)) if is_long else ends
        times, h = stages_of(ends), np.diff(ends)[:, None]
        values = at(times)
        rates = np.stack([f(t, np.array(x)) for t, x in zip(times, values, strict=True)])
        rates = rates.reshape(len(h), len(C), -1)
        later = values[len(C) - 1 :: len(C)]
        missed = np.abs(np.concatenate([first[None], later[:-1]]) + h * (A[-1] @ rates) - later)
        allowed = joined * (np.minimum(rtol, SURE) * np.abs(values).max(axis=0) + atol)
        size = np.max(missed / allowed, initial=0.0)
        if parts > 1 and size > before / 4:
            break  # it is the error of the solution, which shorter steps do not change
        found, before = (ends, values), size
        if size <= 1:
            break
    return found
