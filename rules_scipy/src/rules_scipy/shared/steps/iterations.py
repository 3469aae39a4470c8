"""The reverse of implicit steps for many equations, by iteration: no derivative is written out.

The cotangents of the stages of a step solve a linear system, of which the pullbacks give products.
It is solved by generalized conjugate residuals; for stiff equations after a solution of the system
with one derivative in the place of those at all stages, by the eigenvalues of the method's matrix.
(Saad, Iterative Methods for Sparse Linear Systems, 6.9; Hairer and Wanner, IV.8.)
"""

import math

import numpy as np
from scipy import linalg as sl

from rules_scipy.shared.steps.sums import Sum

MANY = 8  # iterations after which the derivative is computed anew
MOST = 30
ALIKE = 1.5  # two sizes of steps whose ratio is less
SMALL = 30  # equations, whose factors take less time than an iteration more


class Iterated:
    """Solve the systems of the steps of a solution, the last first.

    Arguments:
        along: what is known along the solution.
        stages: what pulls back through the right-hand side at the stages of a step.
    """

    def __init__(self, along, stages):
        self.along, self.stages = along, stages
        self.is_stiff, self.slope, self.near = False, None, None

    def pulled(self, dwithin, dK):
        """Complete the cotangents of the stages; return those of all else.

        These are those of the later values, of the first value, of the times of the stages, and of
        all others.

        Arguments:
            dwithin, dK: what the cotangents of values within the steps add to those of the first
                values of all steps, and of their stages.
        """
        dlater, dy = np.empty_like(dwithin), np.zeros_like(dwithin[0])
        last = self.along.scheme.A[-1]
        count = len(last)
        dt, others = np.zeros((len(dK), count)), Sum()
        for i in reversed(range(len(dlater))):
            dlater[i] = dy
            side = dK[i] + self.along.h[i] * np.multiply.outer(last, dy)
            dK[i] = self.solved(i, side)
            dt[i], dvalues, of_others = self.stages.step(i, dK[i])
            others.add(of_others)
            dy = dy + dwithin[i] + np.sum(dvalues, axis=0)
        return dlater, dy, np.ravel(dt), others.total()

    def solved(self, i, side):
        """Return the cotangents of the stages of a step."""
        A, h, count = self.along.scheme.A, self.along.h[i], len(side)

        def applied(d):
            return d - h * np.dot(A.T, self.stages.values_of(i, d))

        if not self.is_stiff:
            found, _ = residuals(applied, side, lambda d: d, self.along.exact, self.stages.plain)
            if found is not None:
                return found
            self.is_stiff = True
        if self.slope is None:
            self.slope, self.near = self.stages.slope(i * count + count // 2), None
        near = self.with_one_slope(h)
        found, iterations = residuals(applied, side, near, self.along.exact, MOST)
        if found is None or iterations > MANY:
            self.slope = None
        if found is None:
            slopes = np.stack([self.stages.slope(i * count + s) for s in range(count)])
            moved = np.einsum("jk,jab->kajb", A, slopes).reshape(side.size, -1)
            system = np.eye(side.size) - h * moved
            found = np.linalg.solve(system, np.ravel(side)).reshape(side.shape)
        return found

    def with_one_slope(self, h):
        """Return what solves the system with one derivative for all stages.

        That for a step of nearly the same size is taken where there is one, of many equations.
        """
        if (
            self.near is not None
            and len(self.slope) > SMALL
            and 1 / ALIKE < h / self.near[0] < ALIKE
        ):
            return self.near[1]
        unit, (roots, V, inverse) = np.eye(len(self.slope)), self.along.scheme.diagonal
        solves = [solver_with(unit - h * root * self.slope) for root in roots]

        def near(d):
            rows = zip(solves, np.dot(inverse, d), strict=True)
            return np.dot(V, [solve(row) for solve, row in rows]).real

        self.near = h, near
        return near


def solver_with(matrix):
    """Return what solves a system of few equations by LAPACK: SciPy's checks take as long.

    With a singular matrix the solution is not finite, which `residuals` notices.
    """
    if np.iscomplexobj(matrix):
        lu, pivots, _ = sl.lapack.zgetrf(matrix)
        return lambda side: sl.lapack.zgetrs(lu, pivots, side)[0]
    lu, pivots, _ = sl.lapack.dgetrf(matrix)
    return lambda side: sl.lapack.dgetrs(lu, pivots, side.real)[0]


def residuals(applied, side, near, exact, most):
    """Solve a linear system by generalized conjugate residuals.

    Arguments:
        applied: the product with the matrix.
        side: the right-hand side.
        near: the solution of a system that is nearly the same.
        exact: how small the residual has to be, by that of zero.
        most: how many iterations there may be.

    Returns:
        found, count: the solution, `None` if it is not exact enough; and how many iterations.
    """
    found, left = np.zeros(side.size), np.ravel(side).copy()
    steps, products = np.empty((2, most, side.size))
    enough = exact * length_of(left)
    for count in range(most):
        if length_of(left) <= enough:
            return found.reshape(side.shape), count
        step = near(left.reshape(side.shape))
        product = np.ravel(applied(step))
        step = np.ravel(step)
        for _ in range(min(2 * count, 2)):  # twice is enough: parts are then left out to rounding
            parts = products[:count] @ product
            step, product = step - parts @ steps[:count], product - parts @ products[:count]
        length = length_of(product)
        if not 0 < length < np.inf:
            return None, count
        steps[count], products[count] = step / length, product / length
        part = products[count] @ left
        found, left = found + part * steps[count], left - part * products[count]
    return (found.reshape(side.shape) if length_of(left) <= enough else None), most


def length_of(x):
    """Return the Euclidean length of a vector."""
    return math.sqrt(x @ x)
