"""Minima: at one the gradient is zero, which is the equation that it moves with.

An entry that its bound holds stays there. The gradient itself comes from the AD, which
differentiates it once more; or from the function, where it returns it beside its value.
"""

import numpy as np

from rules_scipy.shared.implicit import adjoint_of, solved
from rules_scipy.shared.solvers import as_arguments, like_arguments
from rulescore import accumulate


class Minimum:
    """Pull cotangents of a minimum back to the function and its arguments.

    Arguments:
        ad: the AD.
        solve: SciPy's function.
        f, args: the function that is minimal, and its further arguments.
        x: where it is, a number or a vector.
        bounds: the lower and the upper bounds of `x`, or `None`.
        several: whether `f` returns its value in a tuple with its gradient.
        value: what is minimized, from `f`, `x` and `args`, if it is not the value of `f`.
    """

    def __init__(self, ad, solve, f, args, x, bounds=None, several=False, value=None):
        self.ad, self.f, self.args, self.x = ad, f, args, x
        self.bounds, self.several = bounds, several
        self.value = value or (first_of if several else value_of)
        self.about = f"the minimum that scipy.optimize.{solve.__name__} has found"

    def pulled(self, dx, dvalue):
        """Return the cotangents of the function and of `args`."""
        df, dargs = self.by_place(dx)
        df_too, dargs_too = self.by_value(dvalue)
        return accumulate(df, df_too), accumulate(dargs, dargs_too)

    def by_value(self, dvalue):
        """Pull back the cotangent of the minimal value: there it depends on `x` no more."""
        if dvalue is None:
            return None, None
        _, back = self.ad(self.value, self.f, self.x, *as_arguments(self.args))
        _, df, _, *dargs = back(dvalue)
        return df, like_arguments(dargs, self.args)

    def by_place(self, dx):
        """Pull back the cotangent of the place of the minimum."""
        if dx is None:
            return None, None
        g, back = self.ad(self.gradient(), self.f, self.x, *as_arguments(self.args))
        if g is None:
            raise np.linalg.LinAlgError(f"{self.about} does not depend on its arguments")
        hessian = adjoint_of(back, g, self.x)
        free = ~self.held(np.ravel(g), hessian)
        w = np.zeros(np.size(self.x))
        w[free] = solved(hessian[np.ix_(free, free)], np.ravel(dx)[free], self.about)
        _, df, _, *dargs = back(-w.reshape(np.shape(g))[()])
        return df, like_arguments(dargs, self.args)

    def gradient(self):
        """Return the gradient by the place, as a function of `f`, the place and the arguments."""
        if self.several:
            return second_of
        ad, value = self.ad, self.value

        def gradient(f, x, *args):
            _, back = ad(value, f, x, *args)
            return back(1.0)[2]

        return gradient

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


def value_of(f, x, *args):
    """Return the value of a function: a number, whatever array it is in."""
    return np.sum(f(x, *args))


def first_of(f, x, *args):
    """Return the value of a function that also returns its gradient."""
    return np.sum(f(x, *args)[0])


def second_of(f, x, *args):
    """Return the gradient that a function returns beside its value."""
    return np.asarray(f(x, *args)[1])
