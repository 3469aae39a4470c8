"""Roots of systems of equations, and fixed points."""

import warnings

import numpy as np
from scipy import optimize as so

from rules_scipy.shared.implicit import Solution, residuals
from rules_scipy.shared.solvers import entries_of, name_of, parts_of, refuse_unless_tuple, solver
from rulescore import RuleSet

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.optimize.systems")
ITERATED = (so.anderson, so.broyden1, so.broyden2, so.diagbroyden, so.excitingmixing,
            so.linearmixing, so.newton_krylov)  # fmt: skip


@solver(rule, so.fsolve, by=("func", "args"), without=("x0", "fprime"), whole=True, apart=True)
def _(ad, given, options):
    full = options["full_output"]
    own = given["func"], given["x0"], given["args"], given["fprime"]
    names = ("col_deriv", "xtol", "maxfev", "band", "epsfcn", "factor", "diag")
    y = so.fsolve(*own, True, **{name: options[name] for name in names})
    x, _, status, message = y
    if status not in (1, 2, 3, 4, 5) and not full:
        raise TypeError(message)
    if status != 1 and not full:
        warnings.warn(message, RuntimeWarning, stacklevel=2)
    found = Solution(ad, so.fsolve, given["func"], x, given["args"], status == 1)

    def pullback(dy):
        df, dargs = found.pulled(*entries_of(dy, so.fsolve, full, (0,)))
        return {"func": df, "args": dargs}

    return y if full else x, pullback


@solver(rule, so.root, by=("fun", "args"), without=("x0", "jac"))
def _(ad, y, given):
    read = residuals_of_first if given["jac"] and not callable(given["jac"]) else residuals
    found = Solution(ad, so.root, given["fun"], y.x, given["args"], y.success, read)

    def pullback(dy):
        df, dargs = found.pulled(*parts_of(dy, so.root, ("x",)))
        return {"fun": df, "args": dargs}

    return pullback


@solver(rule, so.fixed_point, by=("func", "args"), without=("x0",))
def _(ad, y, given):
    refuse_unless_tuple(so.fixed_point, given["args"])
    found = Solution(ad, so.fixed_point, given["func"], np.asarray(y), given["args"], read=moves)

    def pullback(dy):
        df, dargs = found.pulled(dy)
        return {"func": df, "args": dargs}

    return pullback


def iterated(f):
    """Declare the rule of a method that approximates the Jacobian as it goes."""

    @solver(rule, f, by=("F",), without=("xin",))
    def _(ad, y, given):
        if given["iter"] is not None:
            raise NotImplementedError(f"{name_of(f)} has no rule for iter: give f_tol or x_tol")
        found = Solution(ad, f, given["F"], y)
        return lambda dy: {"F": found.pulled(dy)[0]}


for method in ITERATED:
    iterated(method)


def residuals_of_first(f, x, *args):
    """Return the residuals of a function that also returns their Jacobian."""
    return np.ravel(np.asarray(f(x, *args)[0]))


def moves(f, x, *args):
    """Return how far a function moves each entry of `x`: nowhere at a fixed point."""
    return np.ravel(np.asarray(f(x, *args)) - x)
