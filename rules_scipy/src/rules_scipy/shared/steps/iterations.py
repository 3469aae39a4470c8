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


class Iterated:
    """Solve the systems of the steps of a solution, the last first.

    Arguments:
        along: what is known along the solution.
        stages: what pulls back through the right-hand side at the stages of a step.
    """

    def __init__(self, along, stages):
        self.along, self.stages = along, stages
        self.is_stiff, self.slope = False, None
        self.roots, self.V = np.linalg.eig(along.scheme.A.T)
        self.inverse = np.linalg.inv(self.V)

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
            self.slope = self.stages.slope(i * count + count // 2)
        near = self.with_one_slope(h)
        found, count = residuals(applied, side, near, self.along.exact, MOST)
        if found is None or count > MANY:
            self.slope = None
        if found is None:
            slopes = np.stack([self.stages.slope(i * count + s) for s in range(count)])
            system = np.eye(side.size) - h * np.einsum("jk,jab->kajb", A, slopes).reshape(
                side.size, -1
            )
            found = np.linalg.solve(system, np.ravel(side)).reshape(side.shape)
        return found

    def with_one_slope(self, h):
        """Return what solves the system with one derivative for all stages."""
        roots, V, inverse = self.roots, self.V, self.inverse
        kept = roots.imag >= 0  # of two conjugate parts one tells both
        roots, inverse = roots[kept], inverse[kept]
        V = V[:, kept] * np.where(roots.imag > 0, 2.0, 1.0)
        unit = np.eye(len(self.slope))
        factors = [sl.lu_factor(unit - h * root * self.slope, check_finite=False) for root in roots]

        def near(d):
            parts = [sl.lu_solve(factor, row, check_finite=False)
                     for factor, row in zip(factors, np.dot(inverse, d), strict=True)]  # fmt: skip
            return np.dot(V, parts).real

        return near


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
        for _ in range(2):  # twice is enough: the parts are then left out to rounding
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
