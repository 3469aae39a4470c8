"""Stiff methods, backwards: the reverse of Radau's method along the solution that was found.

The continuous adjoint is a linear equation with the derivatives of the right-hand side along the
solution. It is solved by the adjoint of the method of Radau IIA of order 5, on the steps that were
accepted, so that it is as stable as the equation is stiff. Of SciPy's `Radau` this is the exact
reverse. (Hairer and Wanner, Solving Ordinary Differential Equations II, IV.5.)
"""

import itertools

import numpy as np

from rules_scipy.shared.steps.runge_kutta import Reverse, Steps, inner


class Collocation:
    """The coefficients of Radau IIA of order 5, by the names that `Steps` knows.

    Attributes:
        stages: the number of the last stage, which is at the end of a step.
        A, c: the coefficients, a row for each stage.
        P: those of the interpolation, a row for each stage and a column for each power.
    """

    root = np.sqrt(6.0)
    stages = 2
    c = np.array([(4 - root) / 10, (4 + root) / 10, 1.0])
    # the integral of the polynomial that is one at a stage, and zero at the others
    P = np.linalg.inv(np.vander(c, increasing=True)).T / np.arange(1, 4)
    A = (P @ c ** np.arange(1, 4)[:, None]).T


class Along(Steps):
    """Differentiate the right-hand side along a solution, to pull its cotangents back.

    Arguments:
        rate: the right-hand side and its pullback, at a time and a value.
        span: the ends of the interval.
        y: the value at its beginning, a vector.
        pieces: SciPy's interpolants, one for each step.
    """

    def __init__(self, rate, span, y, pieces):
        self.tableau = Collocation
        begin, end = map(float, span)
        parts = [part for piece in pieces for part in parts_of(piece)]
        parts = parts or [(begin, end, lambda t: y)]  # of a step of length 0
        self.knots = np.array([begin, *[later for _, later, _ in parts]])
        self.steps = []
        for earlier, later, piece in parts:
            h = later - earlier
            found = [rate(earlier + c * h, np.array(piece(earlier + c * h))) for c in Collocation.c]
            K, backs = zip(*found, strict=True)
            self.steps.append((earlier, h, np.stack(K), backs))

    def pulled(self, dknots, times, dvalues):
        """Return the cotangents as `Steps` does, where no values between steps have any."""
        reverse = Backwards(self, np.asarray(times, float), dvalues)
        dy = np.zeros_like(self.steps[0][2][0])
        for i in reversed(range(len(self.steps))):
            dy, dh = reverse.step(i, dy)
            if i == len(self.steps) - 1:
                dend = dh
        return (reverse.dtime - dend, dend), dy, reverse.dtimes, reverse.others


class Backwards(Reverse):
    """Pull cotangents back through steps of collocation, all stages of one at once."""

    def step(self, i, dlater):
        """Return the cotangents of the value at the begin of a step, and of its size."""
        A, c = self.tableau.A, self.tableau.c
        _, h, K, backs = self.steps[i]
        dy, dK, dh = self.within(i)
        dK += np.multiply.outer(h * A[-1], dlater)
        size = K.shape[1]
        units = np.eye(size, dtype=K.dtype)
        slopes = [[by_value(back, e) for e in units] for back in backs]
        slopes = np.reshape(slopes, (len(c), size, size)).transpose(0, 2, 1)
        system = np.einsum("jk,jab->kajb", -h * A, slopes).reshape(dK.size, dK.size)
        dK = np.linalg.solve(system + np.eye(dK.size), dK.ravel()).reshape(dK.shape)
        dy = dy + dlater
        dh = dh + inner(dlater, A[-1] @ K)
        for s, back in enumerate(backs):
            d, dt = self.pull(back, dK[s])
            dy = dy + d
            dh = dh + inner(d, A[s] @ K) + c[s] * dt
            self.dtime = self.dtime + dt
        return dy, dh


def by_value(back, unit):
    """Return the cotangent of the value alone."""
    _, dy, *_ = back(unit)
    return np.zeros_like(unit) if dy is None else dy


def parts_of(piece):
    """Return the parts of a step of a high order, on which the method of order 5 is as exact."""
    order = len(piece.p) - 1 if hasattr(piece, "p") else 0
    ends = np.linspace(piece.t_old, piece.t, 2 + (order > 5) + (order > 8))
    return [(a, b, piece) for a, b in itertools.pairwise(ends)]
