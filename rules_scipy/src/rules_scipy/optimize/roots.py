"""Roots of a function of a number, and of one that acts on each entry of an array."""

import numpy as np
from scipy import optimize as so

from rules_scipy.shared.solvers import (
    as_arguments,
    entries_of,
    like_arguments,
    parts_of,
    refuse_unsolved,
    solver,
)
from rulescore import RuleSet, accumulate

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.optimize.roots")
BRACKETED = (so.bisect, so.brenth, so.brentq, so.ridder, so.toms748)


def bracketed(f):
    """Declare the rule of a method that keeps a root between two numbers."""

    @solver(rule, f, by=("f", "args"), without=("a", "b"))
    def _(ad, y, given):
        full = given["full_output"]
        x, found = y if full else (y, None)

        def pullback(dy):
            dx, dfound = entries_of(dy, f, full, (0, 1))
            refuse_unsolved(f, found is None or found.converged)
            dx = accumulate(dx, parts_of(dfound, f, ("root",))[0])
            df, dargs = of_number(ad, f, given["f"], x, given["args"], dx)
            return {"f": df, "args": dargs}

        return pullback


for method in BRACKETED:
    bracketed(method)


@solver(rule, so.newton, by=("func", "args"), without=("x0", "x1"))
def _(ad, y, given):
    full = given["full_output"]
    x, found = y[:2] if full else (y, None)

    def pullback(dy):
        dx, dfound = entries_of(dy, so.newton, full, (0, 1))
        if np.ndim(x):  # which entries have converged: no number
            done, dfound = found is None or np.all(found), None
        else:
            done = found is None or found.converged
        refuse_unsolved(so.newton, done)
        dx = accumulate(dx, parts_of(dfound, so.newton, ("root",))[0])
        df, dargs = of_number(ad, so.newton, given["func"], x, given["args"], dx)
        return {"func": df, "args": dargs}

    return pullback


@solver(rule, so.root_scalar, by=("f", "args"), without=("bracket", "x0", "x1"))
def _(ad, y, given):
    f, x = given["f"], y.root
    several = given["fprime"] is True or given["fprime2"] is True

    def pullback(dy):
        refuse_unsolved(so.root_scalar, y.converged)
        (dx,) = parts_of(dy, so.root_scalar, ("root",))
        df, dargs = of_number(ad, so.root_scalar, f, x, given["args"], dx, several)
        return {"f": df, "args": dargs}

    return pullback


def value_of(f, x, *args):
    """Return the value of a function."""
    return f(x, *args)


def first_of(f, x, *args):
    """Return the value of a function that also returns derivatives."""
    return f(x, *args)[0]


def of_number(ad, solve, f, x, args, dx, several=False):
    """Return the cotangents of `f` and `args`, where `x` solves `f(x, *args) == 0`, each entry.

    Arguments:
        ad: the AD.
        solve: SciPy's function, for errors.
        f, args: the function.
        x, dx: the solution and its cotangent.
        several: whether `f` returns its value in a tuple with derivatives.
    """
    if dx is None:
        return None, None
    about = f"the equation that scipy.optimize.{solve.__name__} has solved"
    y, back = ad(first_of if several else value_of, f, x, *as_arguments(args))
    slope = back(np.ones_like(y)[()])[2]
    if slope is None or not np.all(np.isfinite(slope)) or np.any(slope == 0):
        raise np.linalg.LinAlgError(f"{about} has a derivative that is 0, or not finite")
    if np.ndim(x):
        uneven = np.cos(1.0 + np.arange(np.size(x))).reshape(np.shape(x))
        if not np.allclose(back(uneven * np.ones_like(y))[2], uneven * slope):
            raise NotImplementedError(
                f"{about} is not one for each entry: use scipy.optimize.root for systems"
            )
    _, df, _, *dargs = back(-dx / slope)
    return df, like_arguments(dargs, args)
