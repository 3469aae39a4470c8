"""The reverse of implicit steps for many equations, by iteration: no derivative is written out.

The cotangents of the stages of a step solve a linear system, of which the pullbacks give products.
It is solved by generalized conjugate residuals; for stiff equations after a solution of the system
with one derivative in the place of those at all stages, by the eigenvalues of the method's matrix.
(Saad, Iterative Methods for Sparse Linear Systems, 6.9; Hairer and Wanner, IV.8.)
"""

import numpy as np
from scipy import linalg as sl

from rules_scipy.shared.steps.sums import Sum

PLAIN = 6  # iterations after which an equation is taken for stiff
MANY = 8  # iterations after which the derivative is computed anew
MOST = 30


class Iterated:
    """Solve the systems of the steps of a solution, the last first.

    Arguments:
        along: what is known along the solution.
        backs: the pullbacks of the right-hand side, at the stages of all steps.
    """

    def __init__(self, along, backs):
        self.along, self.backs = along, backs
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
        dt, others = np.zeros(len(self.backs)), Sum()
        for i in reversed(range(len(dlater))):
            dlater[i] = dy
            stages = slice(i * count, (i + 1) * count)
            backs, h = self.backs[stages], self.along.h[i]
            dK[i] = self.solved(backs, h, dK[i] + h * np.multiply.outer(last, dy))
            dvalues = np.zeros_like(dK[i])
            for s, back in enumerate(backs):
                df, of_time, of_value, *dargs = back(dK[i, s])
                dt[i * count + s] = 0.0 if of_time is None else of_time
                dvalues[s] = 0.0 if of_value is None else of_value
                others.add((df, *dargs))
            dy = dy + dwithin[i] + np.sum(dvalues, axis=0)
        return dlater, dy, dt, others.total()

    def solved(self, backs, h, side):
        """Return the cotangents of the stages of a step."""
        A = self.along.scheme.A

        def applied(d):
            return d - h * np.dot(A.T, across(backs, d))

        if not self.is_stiff:
            found, _ = residuals(applied, side, lambda d: d, self.along.exact, PLAIN)
            if found is not None:
                return found
            self.is_stiff = True
        if self.slope is None:
            self.slope = written(backs[len(backs) // 2], side[0])
        near = self.with_one_slope(h)
        found, count = residuals(applied, side, near, self.along.exact, MOST)
        if found is None or count > MANY:
            self.slope = None
        if found is None:
            slopes = np.stack([written(back, side[0]) for back in backs])
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


def across(backs, d):
    """Return the cotangents of the values at the stages, by those of the right-hand sides."""
    found = np.zeros_like(d)
    for s, back in enumerate(backs):
        of_value = back(d[s])[2]
        if of_value is not None:
            found[s] = of_value
    return found


def written(back, like):
    """Return the matrix of a pullback by the value."""
    units = np.eye(len(like), dtype=like.dtype)
    found = [back(unit)[2] for unit in units]
    return np.stack([np.zeros_like(like) if d is None else d for d in found], axis=1)


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
    found, left = np.zeros_like(side), side.copy()
    size, known = np.linalg.norm(side), []
    for count in range(most):
        if np.linalg.norm(left) <= exact * size:
            return found, count
        step = near(left)
        product = applied(step)
        for earlier, of_earlier in known:
            part = np.vdot(of_earlier, product)
            step, product = step - part * earlier, product - part * of_earlier
        length = np.linalg.norm(product)
        if not 0 < length < np.inf:
            return None, count
        step, product = step / length, product / length
        known.append((step, product))
        part = np.vdot(product, left)
        found, left = found + part * step, left - part * product
    return (found if np.linalg.norm(left) <= exact * size else None), most
