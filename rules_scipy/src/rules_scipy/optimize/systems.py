"""Roots of systems of equations, and fixed points."""

import numpy as np
from scipy import optimize as so

from rules_scipy.shared.implicit import of_root, residuals
from rules_scipy.shared.solvers import entries_of, parts_of, refuse_unsolved, solver
from rulescore import RuleSet

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.optimize.systems")
ITERATED = (so.anderson, so.broyden1, so.broyden2, so.diagbroyden, so.excitingmixing,
            so.linearmixing, so.newton_krylov)  # fmt: skip


def about(solve):
    """Return what the system is called in an error."""
    return f"the system that scipy.optimize.{solve.__name__} has solved"


@solver(rule, so.fsolve, by=("func", "args"), without=("x0",))
def _(ad, y, given):
    full = given["full_output"]
    x = y[0] if full else y

    def pullback(dy):
        (dx,) = entries_of(dy, so.fsolve, full, (0,))
        refuse_unsolved(so.fsolve, not full or y[2] == 1)
        df, dargs = of_root(ad, given["func"], x, given["args"], dx, about(so.fsolve))
        return {"func": df, "args": dargs}

    return pullback


@solver(rule, so.root, by=("fun", "args"), without=("x0",))
def _(ad, y, given):
    read = residuals_of_first if given["jac"] is True else residuals

    def pullback(dy):
        refuse_unsolved(so.root, y.success)
        (dx,) = parts_of(dy, so.root, ("x",))
        df, dargs = of_root(ad, given["fun"], y.x, given["args"], dx, about(so.root), read)
        return {"fun": df, "args": dargs}

    return pullback


@solver(rule, so.fixed_point, by=("func", "args"), without=("x0",))
def _(ad, y, given):
    x, f = np.asarray(y), given["func"]

    def pullback(dy):
        df, dargs = of_root(ad, f, x, given["args"], dy, about(so.fixed_point), moves)
        return {"func": df, "args": dargs}

    return pullback


def iterated(f):
    """Declare the rule of a method that approximates the Jacobian as it goes."""

    @solver(rule, f, by=("F",), without=("xin",))
    def _(ad, y, given):
        return lambda dy: {"F": of_root(ad, given["F"], y, (), dy, about(f))[0]}


for method in ITERATED:
    iterated(method)


def residuals_of_first(f, x, *args):
    """Return the residuals of a function that also returns their Jacobian."""
    return np.ravel(np.asarray(f(x, *args)[0]))


def moves(f, x, *args):
    """Return how far a function moves each entry of `x`: nowhere at a fixed point."""
    return np.ravel(np.asarray(f(x, *args)) - x)
