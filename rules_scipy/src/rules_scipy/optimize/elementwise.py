"""Roots and minima of functions that act on each entry: `scipy.optimize.elementwise`.

The functions there, and the distributions of `scipy.stats` that have no formula for a quantile,
call the two that have the rules. Both keep the solution in a bracket.
"""

import numpy as np
from scipy.optimize import _chandrupatla as sc
from scipy.optimize import elementwise as se

from rules_scipy.optimize.roots import Root
from rules_scipy.shared.minimum import gradient_of, value_of
from rules_scipy.shared.solvers import (
    as_arguments,
    like_arguments,
    name_of,
    parts_of,
    refuse_unless_tuple,
    refuse_unsolved,
    solver,
)
from rulescore import RuleSet, accumulate

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.optimize.elementwise")
BRACKET = ("a", "b", "x1", "x2", "x3")


def root_of(func, a, b, xatol=None, xrtol=None, fatol=None, frtol=0, maxiter=None, callback=None,
            args=(), kwargs=None):  # fmt: skip
    """Return what SciPy's search for roots does, whose `args` have a name and no position."""
    return sc._chandrupatla(func, a, b, args=args, xatol=xatol, xrtol=xrtol, fatol=fatol,
                            frtol=frtol, maxiter=maxiter, callback=callback,
                            **as_option(kwargs))  # fmt: skip


def minimum_of(func, x1, x2, x3, xatol=None, xrtol=None, fatol=None, frtol=None, maxiter=100,
               callback=None, args=(), kwargs=None):  # fmt: skip
    """Return what SciPy's search for minima does, whose `args` have a name and no position."""
    return sc._chandrupatla_minimize(func, x1, x2, x3, args=args, xatol=xatol, xrtol=xrtol,
                                     fatol=fatol, frtol=frtol, maxiter=maxiter,
                                     callback=callback, **as_option(kwargs))  # fmt: skip


def as_option(kwargs):
    """Return the option by which SciPy takes keywords for the function, from 1.18 on."""
    return {} if kwargs is None else {"kwargs": kwargs}


@solver(rule, root_of, by=("func", "args"), without=BRACKET)
@solver(rule, sc._chandrupatla, by=("func",), without=BRACKET, by_position=root_of)
def _(ad, y, given):
    args = arguments(se.find_root, given)
    root = Root(ad, se.find_root, given["func"], y.x, args, np.all(y.success))

    def pullback(dy):
        df, dargs = root.pulled(*parts_of(dy, se.find_root, ("x",)))
        return {"func": df, "args": like(dargs, given["args"])}

    return pullback


@solver(rule, minimum_of, by=("func", "args"), without=BRACKET)
@solver(rule, sc._chandrupatla_minimize, by=("func",), without=BRACKET, by_position=minimum_of)
def _(ad, y, given):
    f, args, done = given["func"], arguments(se.find_minimum, given), np.all(y.success)
    root = Root(ad, se.find_minimum, f, y.x, args, done, read=gradient_of(ad, value_of))
    _, back = ad(entries, f, y.x, *args) if done else (None, None)

    def pullback(dy):
        dx, dvalue = parts_of(dy, se.find_minimum, ("x", "fun"))
        df, dargs = root.pulled(dx)
        if dvalue is not None:
            refuse_unsolved(se.find_minimum, done)
            _, df_too, _, *dargs_too = back(dvalue)
            df, dargs = accumulate(df, df_too), accumulate(dargs, tuple(dargs_too))
        return {"func": df, "args": like(dargs, given["args"])}

    return pullback


def arguments(solve, given):
    """Return the tuple of what SciPy passes on for `args`: a number stands for itself.

    Raises `NotImplementedError` where the function is given keywords, too.
    """
    args = given["args"]
    if given.get("kwargs") is not None:
        raise NotImplementedError(
            f"{name_of(solve)} has a rule for args, and not for kwargs: let the function capture "
            "what it takes, as in `lambda x: f(x, a)`"
        )
    if np.iterable(args):
        refuse_unless_tuple(solve, args)
    return as_arguments(args)


def like(dargs, args):
    """Return the cotangent of `args` from those of the entries of the tuple."""
    return None if dargs is None else like_arguments(dargs, args)


def entries(f, x, *args):
    """Return the value of a function for each entry."""
    return f(x, *args)
