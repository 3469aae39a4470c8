"""Stiff methods, backwards: the reverse of Radau's methods along a solution.

The continuous adjoint is a linear equation with the derivatives of the right-hand side along the
solution. It is solved by the adjoint of a method of Radau IIA, which is stable for stiff equations,
on steps that `long_steps` chooses. (Hairer and Wanner, Solving Ordinary Differential Equations II,
IV.5.)
"""

import functools

import numpy as np
from numpy.polynomial import legendre

from rules_scipy.shared.steps.iterations import Iterated
from rules_scipy.shared.steps.runge_kutta import Scheme, inner
from rules_scipy.shared.steps.stages import FEW

FAR = 0.1  # by the largest value: what is further off is not of the solution
BLOCK = 2**20  # numbers of the systems that are solved together


class Radau(Scheme):
    """The coefficients of a method of Radau IIA, whose last stage is the end of the step."""

    def __init__(self, count):
        ends = np.real(legendre.legroots([*np.zeros(count - 1), -1.0, 1.0]))
        self.c = np.append(np.sort(ends)[:-1] / 2 + 0.5, 1.0)
        # the integral of the polynomial that is one at a stage, and zero at the others, by powers
        self.P = np.linalg.inv(np.vander(self.c, increasing=True)).T / np.arange(1, count + 1)
        self.A = self.weights(self.c).T
        self.last = self.A[-1]

    @functools.cached_property
    def diagonal(self):
        """The eigenvalues of `A.T`, the vectors and their inverse: of two conjugate ones, one.

        The vectors of these are twice as long, so that real parts add up to the whole.
        """
        roots, vectors = np.linalg.eig(self.A.T)
        inverse, kept = np.linalg.inv(vectors), roots.imag >= 0
        doubled = vectors[:, kept] * np.where(roots.imag[kept] > 0, 2.0, 1.0)
        return [root if root.imag else root.real for root in roots[kept]], doubled, inverse[kept]

    def weights(self, x):
        """Return the weights of the stages in values at some parts of a step, in columns."""
        return np.dot(self.P, powers(x, len(self.c))[1:])

    def slopes(self, x):
        """Return the derivatives of the weights."""
        return np.dot(self.P * self.powers, powers(x, len(self.c))[:-1])

    @functools.cached_property
    def through(self):
        """The coefficients of the polynomials that are one at a stage, or at the beginning."""
        return np.linalg.inv(np.vander([0.0, *self.c], increasing=True)).T

    def between(self, x):
        """Return the weights of the beginning and of the stages, by their values, in columns."""
        return np.dot(self.through, powers(x, len(self.c)))

    def stages(self, knots):
        """Return the times of the stages of all steps."""
        return np.ravel(knots[:-1, None] + self.c * np.diff(knots)[:, None])


def powers(x, most):
    """Return the powers of numbers, in rows: by products, which take less time than powers do."""
    found = np.ones((most + 1, len(x)))
    for power in range(most):
        np.multiply(found[power], x, out=found[power + 1])
    return found


LONG = Radau(5)


class Along:
    """Pull cotangents of a solution back, with the derivatives of the right-hand side along it.

    Each value is linear in the later one. The derivatives of a few equations are written out, and
    the systems of all steps are solved together: what is left to do one after the other is a
    product with a small matrix. Of many equations they are solved step by step, by iteration.

    Arguments:
        scheme: the method.
        knots: the ends of the steps.
        passed: the solution there, in rows.
        slopes: the right-hand side at the stages of all steps, in rows.
        stages: what pulls back through the right-hand side there.
        exact: how exactly the systems of many equations are solved.
        inside: the solution at the stages of all steps, for `are_far`.

    Attributes:
        kind: the type of the values; complex ones are held as two real ones each.
    """

    def __init__(self, scheme, knots, passed, slopes, stages, exact=1e-12, inside=None):
        self.inside = inside
        self.scheme, self.knots, self.passed, self.exact = scheme, knots, passed, exact
        self.h, self.kind, self.stages = knots[1:] - knots[:-1], float, stages
        self.K = slopes.reshape(len(self.h), len(scheme.c), passed.shape[1])

    def pulled(self, times, dvalues, dknots=None):
        """Return the cotangents of the ends, of the first value, of `times` and of all others.

        Arguments:
            times, dvalues: times, and the cotangents of the solution there, in columns.
            dknots: the cotangents of the values between the steps, in columns, or `None`.
        """
        A, c, last, K = self.scheme.A, self.scheme.c, self.scheme.last, self.K
        rows = np.ascontiguousarray(np.transpose(dvalues)).view(float)
        dwithin, dK, dtimes, dend = self.within(np.asarray(times, float), rows)
        if K.shape[2] > FEW:
            dlater, dy, dt, others = Iterated(self, self.stages).pulled(dwithin, dK)
            dstages = self.stages.values_of(len(K) - 1, dK[-1])
        else:
            after = np.zeros_like(dwithin[0])
            if dknots is not None:
                dwithin += dknots.T[:-1]
                after = after + dknots[:, -1]
            dlater, dy, dt, others = self.written_out(dwithin, dK, after)
            dstages = np.einsum("sab,sb->sa", self.slopes[-1], dK[-1])
        dend = dend + inner(dlater[-1], last @ K[-1]) + inner(dstages, A @ K[-1])
        dend = dend + np.sum(c * dt[-len(c) :])
        return (np.sum(dt) - np.sum(dtimes) - dend, dend), dy.view(self.kind), dtimes, others

    def written_out(self, dwithin, dK, dy):
        """Complete the cotangents of the stages; return those of all else.

        These are those of the later values, of the first value, of the times of the stages, and of
        all others. The derivatives of the right-hand side are written out.

        Arguments:
            dwithin, dK: what values within the steps add to the cotangents of the first values of
                all steps, and of their stages.
            dy: the cotangent of the value at the end.
        """
        dlater = np.empty_like(dwithin)
        (asked,) = np.nonzero(np.any(dK, axis=(1, 2)))
        if len(asked):
            dK[asked] = given = self.solved(asked, dK[asked, ..., None])[..., 0]
            dwithin[asked] += np.einsum("msab,msb->ma", self.slopes[asked], given)
        whole = self.across + np.eye(len(dy))
        for i in reversed(range(len(dK))):
            dlater[i] = dy
            dy = whole[i] @ dy + dwithin[i]
        dK += np.einsum("msab,mb->msa", self.ahead, dlater)
        dt = np.sum(dK * self.by_time, axis=2).ravel()
        return dlater, dy, dt, self.stages.others(dK.reshape(dt.size, -1) if dt.size else dK[0])

    @functools.cached_property
    def slopes(self):
        """The derivatives by the value at all stages, transposed."""
        return self.stages.by_value.reshape(*self.K.shape, self.K.shape[2])

    @functools.cached_property
    def by_time(self):
        """The derivatives by the time at all stages."""
        return self.stages.by_time.reshape(self.K.shape)

    @functools.cached_property
    def ahead(self):
        """The cotangents of the stages of all steps, by that of the later value."""
        last = np.multiply.outer(self.scheme.last, np.eye(self.K.shape[2]))
        return self.solved(np.arange(len(self.h)), self.h[:, None, None, None] * last)

    @functools.cached_property
    def across(self):
        """What the steps add to the cotangent of the value at their begin, by that at their end."""
        return np.matmul(self.slopes, self.ahead).sum(axis=1)

    def transitions(self):
        """Return how each value moves the next: the derivatives, and what the time adds."""
        moved = self.across.swapaxes(-1, -2) + np.eye(self.K.shape[2])
        return moved, np.einsum("msab,msa->mb", self.ahead, self.by_time)

    def solved(self, steps, sides):
        """Return the cotangents of the stages of some steps, for several right-hand sides."""
        A, (count, stages, size, _) = self.scheme.A, sides.shape
        if self.scheme.is_explicit:
            return self.one_after_another(steps, sides)
        found, most = np.empty_like(sides), BLOCK // (stages * size + 1) ** 2 + 1
        for begin in range(0, count, most):
            part = slice(begin, begin + most)
            some = steps[part]
            system = np.einsum("jk,mjab->mkajb", A, self.slopes[some])
            system *= -self.h[some, None, None, None, None]
            system = system.reshape(len(some), stages * size, stages * size) + np.eye(stages * size)
            flat = sides[part].reshape(len(some), stages * size, sides.shape[-1])
            found[part] = np.linalg.solve(system, flat).reshape(sides[part].shape)
        return found

    def one_after_another(self, steps, sides):
        """Return the same for an explicit method: no stage depends on a later one."""
        A = self.scheme.A
        slopes = (self.h[steps, None, None, None] * self.slopes[steps]).swapaxes(0, 1)
        found = np.array(sides.swapaxes(0, 1), order="C")
        moved = np.empty_like(found)
        rows = moved.reshape(len(A), -1)
        for k in reversed(range(len(A))):
            found[k] += np.dot(A[k + 1 :, k], rows[k + 1 :]).reshape(found[k].shape)
            np.matmul(slopes[k], found[k], out=moved[k])
        return found.swapaxes(0, 1)

    def within(self, times, rows):
        """Pull values within the steps back.

        Return the cotangents of the first values of the steps, of their stages, of the times, and
        of the size of the last step.
        """
        dK, dy = np.zeros_like(self.K), np.zeros_like(self.K[:, 0])
        if not len(times):
            return dy, dK, np.zeros(0), 0.0
        at, x = self.places(times)
        h, weights, slopes = self.h[at], self.scheme.weights(x), self.scheme.slopes(x)
        order = np.argsort(at, kind="stable")
        begins = np.flatnonzero(np.diff(at[order], prepend=-1))  # of the times in each step
        of_stages = (h[:, None] * weights.T)[:, :, None] * rows[:, None]
        dK[at[order][begins]] = np.add.reduceat(of_stages[order], begins)
        dy[at[order][begins]] = np.add.reduceat(rows[order], begins)
        stages = np.matmul(self.K[at], rows[:, :, None])[:, :, 0].T
        dtimes = np.sum(slopes * stages, axis=0)
        moved = np.sum(weights * stages, axis=0)
        return dy, dK, dtimes, np.sum((moved - x * dtimes)[at == len(self.h) - 1])

    def places(self, times):
        """Return in which step times lie, and as which part of it."""
        sign = -1.0 if self.knots[-1] < self.knots[0] else 1.0
        at = np.searchsorted(sign * self.knots[1:-1], sign * times)
        h = self.h[at]
        return at, np.where(h == 0, 1.0, (times - self.knots[at]) / np.where(h == 0, 1.0, h))

    def values(self, times):
        """Return the solution at some times, in columns.

        It is that between values: of stiff equations slopes are much less exact.
        """
        at, x = self.places(np.asarray(times, float))
        known = np.concatenate([self.passed[:-1, None], self.inside], axis=1)
        found = np.einsum("sq,qsa->qa", self.scheme.between(x), known[at])
        return np.ascontiguousarray(found).view(self.kind).T

    def are_far(self, times, values, dvalues, atol):
        """Return whether values are not those of the solution, not even about.

        They are in columns, as their cotangents are: those without one may be any. One that is held
        at zero beside larger ones has noise, which may be as large as `atol`. One that is zero
        throughout, and whose rate is not, was stepped over.
        """
        largest = np.max(np.abs(self.passed.view(self.kind)), axis=0)[:, None]
        rates = np.max(np.abs(self.K.view(self.kind)), axis=(0, 1))[:, None]
        noise = np.minimum(np.reshape(atol, (-1, 1)), FAR * np.max(largest, initial=0.0))
        are_far = np.abs(self.values(times) - values) > FAR * largest + noise
        return np.any((are_far | ((largest == 0) & (rates > 0))) & (dvalues != 0))
