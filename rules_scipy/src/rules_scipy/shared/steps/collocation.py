"""Stiff methods, backwards: the reverse of Radau's methods along the solution that was found.

The continuous adjoint is a linear equation with the derivatives of the right-hand side along the
solution. It is solved by the adjoint of a method of Radau IIA, which is stable for stiff equations.
With three stages, on the accepted steps of SciPy's `Radau`, this is the exact reverse. For solvers
of another order `long_steps` chooses steps. (Hairer and Wanner, Solving Ordinary Differential
Equations II, IV.5.)
"""

import numpy as np
from numpy.polynomial import legendre

from rules_scipy.shared.steps.iterations import Iterated
from rules_scipy.shared.steps.runge_kutta import inner
from rules_scipy.shared.steps.sums import Sum, size_of, weighted

FEW = 6  # equations whose derivatives are written out as matrices
BLOCK = 2**20  # numbers of the systems that are solved together


class Scheme:
    """The coefficients of a method of Radau IIA.

    Attributes:
        C: the stages, as parts of a step.
        A: the coefficients, a row for each stage.
        P: those of the interpolation, a row for each stage and a column for each power.
    """

    def __init__(self, count):
        ends = np.real(legendre.legroots([*np.zeros(count - 1), -1.0, 1.0]))
        self.C = np.append(np.sort(ends)[:-1] / 2 + 0.5, 1.0)
        self.powers = np.arange(1, count + 1)
        # the integral of the polynomial that is one at a stage, and zero at the others, by powers
        self.P = np.linalg.inv(np.vander(self.C, increasing=True)).T / self.powers
        self.A = self.weights(self.C).T

    def weights(self, x):
        """Return the weights of the stages in values at some parts of a step, in columns."""
        return self.P @ np.asarray(x) ** self.powers[:, None]

    def slopes(self, x):
        """Return the derivatives of the weights."""
        return self.P @ (self.powers[:, None] * x ** (self.powers[:, None] - 1))

    def stages(self, knots):
        """Return the times of the stages of all steps."""
        return np.ravel(knots[:-1, None] + self.C * np.diff(knots)[:, None])


RADAU, LONG = Scheme(3), Scheme(5)


class Along:
    """Pull cotangents of a solution back, with the derivatives of the right-hand side along it.

    Each value is linear in the later one. The derivatives of a few equations are written out, and
    the systems of all steps are solved together: what is left to do one after the other is a
    product with a small matrix. Of many equations they are solved step by step, by iteration.

    Arguments:
        scheme: the method.
        knots: the ends of the steps.
        found: the right-hand side and its pullback, at the stages of all steps.
        exact: how exactly the systems of many equations are solved.
    """

    def __init__(self, scheme, knots, found, exact=1e-12):
        self.scheme, self.knots, self.h, self.exact = scheme, knots, np.diff(knots), exact
        rows, self.backs = zip(*found, strict=True)
        self.K = np.stack(rows).reshape(len(self.h), len(scheme.C), -1)

    def pulled(self, times, dvalues):
        """Return the cotangents of the ends, of the first value, of `times` and of all others.

        Arguments:
            times, dvalues: times, and the cotangents of the solution there, in columns.
        """
        A, C, K = self.scheme.A, self.scheme.C, self.K
        dwithin, dK, dtimes, dend = self.within(np.asarray(times, float), dvalues)
        if K.shape[2] > FEW:
            dlater, dy, dt, others = Iterated(self).pulled(dwithin, dK)
        else:
            dlater, dy, dt, others = self.written_out(dwithin, dK)
        dstages = [by_value(back, d) for back, d in zip(self.backs[-len(C) :], dK[-1], strict=True)]
        dend = dend + inner(dlater[-1], A[-1] @ K[-1]) + inner(np.array(dstages), A @ K[-1])
        dend = dend + np.sum(C * dt[-len(C) :])
        return (np.sum(dt) - np.sum(dtimes) - dend, dend), dy, dtimes, others

    def written_out(self, dwithin, dK):
        """Complete the cotangents of the stages; return those of all else.

        These are those of the later values, of the first value, of the times of the stages, and of
        all others. The derivatives of the right-hand side are written out.
        """
        units, count = np.eye(self.K.shape[2], dtype=self.K.dtype), len(self.scheme.C)
        found = [back(unit) for back in self.backs for unit in units]
        slopes = np.array([np.zeros_like(units[0]) if d[2] is None else d[2] for d in found])
        slopes = slopes.reshape(*self.K.shape, len(units)).swapaxes(-1, -2)
        dy, dlater = np.zeros_like(self.K[0, 0]), np.empty_like(dwithin)
        size = max(1, BLOCK // slopes[0].size // count)
        for stop in range(len(self.h), 0, -size):
            part = slice(max(0, stop - size), stop)
            ahead, given = self.solved(part, slopes[part], dK[part])
            # the value at the begin of a step, by that at its end
            across = np.einsum("msab,msbc->mac", slopes[part], ahead)
            beside = dwithin[part] + np.einsum("msab,msb->ma", slopes[part], given)
            for i in reversed(range(len(across))):
                dlater[part.start + i] = dy
                dy = dy + across[i] @ dy + beside[i]
            dK[part] = np.einsum("msab,mb->msa", ahead, dlater[part]) + given
        return dlater, dy, *self.gathered(found, dK)

    def gathered(self, found, dK):
        """Return the cotangents of the times of the stages, and the sum of those of all others.

        Arguments:
            found: what the pullbacks give for unit vectors.
            dK: the cotangents of the stages.
        """
        rows = dK.reshape(len(self.backs), -1)
        others = [(df, *dargs) for df, _, _, *dargs in found]
        if dK.dtype == float and len(others) * size_of(others[0] if others else None) < BLOCK:
            of_time = np.array([0.0 if d[1] is None else d[1] for d in found]).reshape(rows.shape)
            try:
                return np.sum(rows * of_time, axis=1), weighted(others, np.ravel(rows))
            except TypeError:
                pass
        dt, others = np.zeros(len(rows)), Sum()
        for i, (back, row) in enumerate(zip(self.backs, rows, strict=True)):
            df, of_time, _, *dargs = back(row)
            dt[i] = 0.0 if of_time is None else of_time
            others.add((df, *dargs))
        return dt, others.total()

    def solved(self, part, slopes, dK):
        """Return the cotangents of the stages: by that of the later value, and what is added."""
        A, (count, stages, size) = self.scheme.A, dK.shape
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
        weights, slopes = self.scheme.weights(x), self.scheme.slopes(x)
        rows = np.transpose(dvalues)
        dK, dy = np.zeros_like(self.K), np.zeros_like(self.K[:, 0])
        np.add.at(dK, at, h[:, None, None] * weights.T[:, :, None] * rows[:, None])
        np.add.at(dy, at, rows)
        dtimes = np.einsum("qa,sq,qsa->q", np.conj(rows), slopes, self.K[at]).real
        moved = np.einsum("qa,sq,qsa->q", np.conj(rows), weights, self.K[at]).real
        return dy, dK, dtimes, np.sum((moved - x * dtimes)[at == len(self.h) - 1])


def by_value(back, d):
    """Return the cotangent of the value alone."""
    found = back(d)[2]
    return np.zeros_like(d) if found is None else found


def along_pieces(rate, pieces, span, y):
    """Return what pulls back along a solution by SciPy's `Radau`, from its interpolants."""
    knots, values = [float(span[0])], []
    for piece in pieces:
        knots.append(piece.t)
        values.append(piece(RADAU.stages(np.array([piece.t_old, piece.t]))).T)
    if not values:  # of an interval of length 0
        knots, values = [*knots, float(span[1])], [np.tile(y, (len(RADAU.C), 1))]
    knots, values = np.array(knots), np.concatenate(values)
    stages = zip(RADAU.stages(knots), values, strict=True)
    return Along(RADAU, knots, [rate(t, np.array(x)) for t, x in stages])


def interpolated(pieces, times):
    """Return a solution at times in order, in rows, from its interpolants."""
    ends = np.array([piece.t for piece in pieces[:-1]])
    sign = -1.0 if pieces[-1].t < pieces[0].t_old else 1.0
    starts = np.searchsorted(sign * times, sign * ends, side="right")
    parts = [piece(part).T for piece, part in zip(pieces, np.split(times, starts), strict=True)
             if len(part)]  # fmt: skip
    return np.concatenate(parts)
