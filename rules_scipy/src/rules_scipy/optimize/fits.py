"""Nonlinear least squares: half the sum of squared residuals is minimal."""

import numpy as np
from scipy import linalg as sl
from scipy import optimize as so

from rules_scipy.shared.implicit import residuals
from rules_scipy.shared.minimum import Minimum
from rules_scipy.shared.solvers import (
    as_arguments,
    entries_of,
    like_arguments,
    parts_of,
    refuse_unless_tuple,
    solver,
)
from rulescore import RuleSet, accumulate

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.optimize.fits")


def half_square(f, x, *args):
    """Return half the sum of squared residuals."""
    found = residuals(f, x, *args)
    return 0.5 * np.sum(found * found)


def residuals_by_name(f, x, named, *args):
    """Return the residuals of a function that takes further arguments by name."""
    return np.ravel(np.asarray(f(x, *args, **named)))


def half_square_by_name(f, x, named, *args):
    """Return half the sum of squared residuals of such a function."""
    found = residuals_by_name(f, x, named, *args)
    return 0.5 * np.sum(found * found)


@solver(rule, so.least_squares, by=("fun", "args", "kwargs"), without=("x0", "jac"))
def _(ad, y, given):
    f, args, named = given["fun"], given["args"], given["kwargs"]
    if given["loss"] != "linear":
        raise NotImplementedError(
            "scipy.optimize.least_squares has a rule for loss='linear': minimize the sum of "
            "another loss by `scipy.optimize.minimize`, which has one"
        )
    refuse_unless_tuple(so.least_squares, args)
    bounds = pair_of(given["bounds"], y.x.size)
    read, value, every = residuals, half_square, args
    if named:
        read, value, every = residuals_by_name, half_square_by_name, (named, *args)
    found = Minimum(ad, so.least_squares, f, every, y.x, bounds, value=value, done=y.success)
    _, back = ad(read, f, y.x, *as_arguments(every))

    def pullback(dy):
        dx, dcost, dresiduals = parts_of(dy, so.least_squares, ("x", "cost", "fun"))
        df = dargs = None
        if dresiduals is not None:
            _, df, dx_too, *dargs = back(dresiduals)
            dx, dargs = accumulate(dx, dx_too), like_arguments(dargs, every)
        df_too, dargs_too = found.pulled(dx, dcost)
        df, dargs = accumulate(df, df_too), accumulate(dargs, dargs_too)
        if not named or dargs is None:
            return {"fun": df, "args": dargs}
        return {"fun": df, "kwargs": dargs[0], "args": dargs[1:]}

    return pullback


@solver(rule, so.leastsq, by=("func", "args"), without=("x0", "Dfun"))
def _(ad, y, given):
    f, args, done = given["func"], given["args"], y[-1] in (1, 2, 3, 4)
    found = Minimum(ad, so.leastsq, f, args, y[0], value=half_square, done=done)

    def pullback(dy):
        df, dargs = found.pulled(*entries_of(dy, so.leastsq, True, (0,)), None)
        return {"func": df, "args": dargs}

    return pullback


@solver(rule, so.curve_fit, by=("f", "xdata", "ydata", "sigma"), without=("p0", "jac"))
def _(ad, y, given):
    if given["nan_policy"] == "omit":
        raise NotImplementedError(
            "scipy.optimize.curve_fit has no rule for nan_policy='omit': leave out the points that "
            "are nan before"
        )
    if given["kwargs"].get("loss", "linear") != "linear":
        raise NotImplementedError(
            "scipy.optimize.curve_fit has a rule for loss='linear': minimize the sum of another "
            "loss by `scipy.optimize.minimize`, which has one"
        )
    data = given["xdata"], given["ydata"], given["sigma"]
    bounds = pair_of(given["bounds"], y[0].size)
    found = Minimum(ad, so.curve_fit, given["f"], data, y[0], bounds, value=misfit)

    def pullback(dy):
        df, ddata = found.pulled(*entries_of(dy, so.curve_fit, True, (0,)), None)
        return {"f": df} | dict(zip(("xdata", "ydata", "sigma"), ddata or (None,) * 3, strict=True))

    return pullback


def misfit(f, p, xdata, ydata, sigma):
    """Return half the sum of squares of what a model with the parameters `p` leaves of the data.

    The model is given numbers of double precision, as SciPy does.
    """
    if isinstance(xdata, list | tuple | np.ndarray):
        xdata = np.asarray(xdata, float)
    left = f(xdata, *p) - np.asarray(ydata)
    if sigma is not None:
        sigma = np.asarray(sigma)
        if np.ndim(sigma) == 2:
            left = sl.solve_triangular(sl.cholesky(sigma, lower=True), left, lower=True)
        else:
            left = left / sigma
    return 0.5 * np.sum(left * left)


def pair_of(bounds, size):
    """Return lower and upper bounds, each for all entries."""
    pair = (bounds.lb, bounds.ub) if isinstance(bounds, so.Bounds) else bounds
    return [np.broadcast_to(np.asarray(each, float), size) for each in pair]
