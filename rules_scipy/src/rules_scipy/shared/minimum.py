"""Minima: at one the gradient is zero, which is the equation that it moves with.

An entry that its bound holds stays there. The gradient itself comes from the AD, which
differentiates it once more; or from the function, where it returns it beside its value.
"""

import functools

import numpy as np

from rules_scipy.shared.implicit import adjoint_of, solved
from rules_scipy.shared.solvers import as_arguments, like_arguments, name_of, refuse_unsolved
from rulescore import accumulate

FAR = 1e-2  # of the size of the place, or of 1: a Newton step that leads away from a minimum


class Minimum:
    """Pull cotangents of a minimum back to the function and its arguments.

    The function is differentiated at once: what it captured may be another thing later.

    Arguments:
        ad: the AD.
        solve: SciPy's function.
        f, args: the function that is minimal, and its further arguments.
        x: where it is, a number or a vector.
        bounds: the lower and the upper bounds of `x`, or `None`.
        several: whether `f` returns its value in a tuple with its gradient.
        value: what is minimized, from `f`, `x` and `args`, if it is not the value of `f`.
        done: whether it is a minimum.
    """

    def __init__(self, ad, solve, f, args, x, bounds=None, several=False, value=None, done=True):
        self.solve, self.args, self.x, self.bounds, self.done = solve, args, x, bounds, done
        value = value or (first_of if several else value_of)
        if done:
            operands = f, x, *as_arguments(args)
            _, self.value_back = ad(value, *operands)
            self.slope, self.back = ad(second_of if several else gradient_of(ad, value), *operands)
        self.about = f"the minimum that {name_of(solve)} has found"

    def pulled(self, dx, dvalue):
        """Return the cotangents of the function and of `args`, from those of place and value."""
        if dx is None and dvalue is None:
            return None, None
        refuse_unsolved(self.solve, self.done)
        df, dargs = self.by_place(dx)
        df_too, dargs_too = self.by_value(dvalue)
        return accumulate(df, df_too), accumulate(dargs, dargs_too)

    def by_value(self, dvalue):
        """Pull back the cotangent of the minimal value: there it depends on `x` no more."""
        if dvalue is None:
            return None, None
        _, df, _, *dargs = self.value_back(dvalue)
        return df, like_arguments(dargs, self.args)

    def by_place(self, dx):
        """Pull back the cotangent of the place of the minimum."""
        if dx is None:
            return None, None
        g = self.slope
        if g is None:
            raise np.linalg.LinAlgError(f"{self.about} does not depend on its arguments")
        hessian = adjoint_of(self.back, g, self.x)
        free = ~self.held(np.ravel(g), hessian)
        inside = hessian[np.ix_(free, free)]
        self.refuse_beside(solved(inside, np.ravel(g)[free], self.about))
        w = np.zeros(np.size(self.x))
        w[free] = solved(inside, np.ravel(dx)[free], self.about)
        _, df, _, *dargs = self.back(-w.reshape(np.shape(g))[()])
        return df, like_arguments(dargs, self.args)

    def refuse_beside(self, step):
        """Raise `LinAlgError` where the gradient is not zero, by the Newton step that is left.

        So it is at a kink, at a constraint, and at the points of a coarse grid.
        """
        if np.any(np.abs(step) > FAR * (1 + np.max(np.abs(self.x)))):
            raise np.linalg.LinAlgError(
                f"{self.about} has a gradient that is not zero, as at a kink, or where it has not "
                f"converged: a Newton step leads by {np.max(np.abs(step)):.2g} away from it"
            )

    def held(self, g, hessian):
        """Return which entries a bound holds: a Newton step along one leads out of its bounds.

        Methods that stay inside of the bounds end beside them.
        """
        x = np.ravel(self.x)
        if self.bounds is None:
            return np.zeros(x.shape, bool)
        lower, upper = self.bounds
        slopes = np.diagonal(hessian)
        with np.errstate(all="ignore"):
            reached = x - np.where(slopes > 0, g / slopes, np.inf * np.sign(g))
        low = (reached < lower) & (g > 0) & near(x, lower)
        return low | ((reached > upper) & (g < 0) & near(x, upper)) | (lower == upper)


def near(x, bound):
    """Return which entries are at their bound, as nearly as a method may end beside it."""
    return np.abs(x - bound) <= 1e-4 * (1 + np.abs(bound))


@functools.lru_cache(maxsize=16)
def gradient_of(ad, value):
    """Return the gradient of a value by the place, as a function of what the value is one of.

    It is one function for each value, for which an AD may keep what it has found out.
    """

    def gradient(f, x, *args):
        _, back = ad(lambda x: value(f, x, *args), x)
        return back(1.0)[1]

    return gradient


def value_of(f, x, *args):
    """Return the value of a function: a number, whatever array it is in."""
    return np.sum(f(x, *args))


def first_of(f, x, *args):
    """Return the value of a function that also returns its gradient."""
    return np.sum(f(x, *args)[0])


def second_of(f, x, *args):
    """Return the gradient that a function returns beside its value."""
    return np.asarray(f(x, *args)[1])
