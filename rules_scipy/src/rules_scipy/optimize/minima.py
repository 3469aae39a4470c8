"""Minima of functions, with bounds or without."""

import inspect

import numpy as np
from scipy import optimize as so

from rules_scipy.shared.minimum import Minimum
from rules_scipy.shared.solvers import (
    POSITIONAL,
    entries_of,
    name_of,
    parts_of,
    refuse_unless_tuple,
    solver,
)
from rulescore import RuleSet

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.optimize.minima")

# on these the minimum does not depend, nor on derivatives that are given: those of `fun` are
BEGINNINGS = ("x0", "bracket", "brack", "fprime", "fhess_p", "fhess", "jac", "hess", "hessp")


def described(f, by="fun", **how):
    """Declare the rule of a function that returns a description of the minimum.

    Arguments:
        f: SciPy's function.
        by: the name of its parameter for the function that is minimized.
        how: what `Problem` takes.
    """
    problem = Problem(**how)

    @solver(
        rule, f, by=[name for name in (by, "args") if has_position(f, name)],
        without=BEGINNINGS, apart=True
    )  # fmt: skip
    def _(ad, y, given, options):
        found = problem.minimum(ad, f, given[by], given, options, y.x, y.success)

        def pullback(dy):
            df, dargs = found.pulled(*parts_of(dy, f, ("x", "fun")))
            return {by: df, "args": dargs}

        return pullback


def bare(f, by="func", at=(0, 1), is_tuple=lambda given: False, done=lambda y: True, **how):
    """Declare the rule of a function that returns the place of the minimum, or a tuple with it.

    Arguments:
        f, by, how: as for `described`.
        at: where in the tuple the place and the value are; the value may be missing.
        is_tuple: whether it returns a tuple, by SciPy's arguments, if it does so unasked.
        done: whether the minimum was found, by the tuple.
    """
    problem = Problem(**how)

    @solver(rule, f, by=(by, "args"), without=BEGINNINGS, apart=True)
    def _(ad, y, given, options):
        whole = bool(given.get("full_output") or given.get("retall")) or is_tuple(given)
        places = at if given.get("full_output", True) else at[:1]
        x, is_done = (y[0], done(y)) if whole else (y, True)
        found = problem.minimum(ad, f, given[by], given, options, x, is_done)

        def pullback(dy):
            dx, *dvalue = entries_of(dy, f, whole, places)
            df, dargs = found.pulled(dx, dvalue[0] if dvalue else None)
            return {by: df, "args": dargs}

        return pullback


class Problem:
    """Read from SciPy's arguments what is minimized.

    Arguments:
        bounds: the bounds, or `None`.
        several: whether the function returns its gradient, too.
        options: the dict in which the `args` stand, if it is not that of all arguments.
        constraints: the parameters with constraints, which are refused.
        spread: whether `args` have to be a tuple, as SciPy passes their entries on.
    """

    def __init__(
        self,
        bounds=lambda given: given.get("bounds"),
        several=lambda given: given.get("jac") is True,
        options=lambda given: given,
        constraints=(),
        spread=False,
    ):
        self.bounds, self.several, self.options = bounds, several, options
        self.constraints, self.spread = constraints, spread

    def minimum(self, ad, solve, f, given, options, x, done):
        """Return the minimum that was found at `x`."""
        for name in self.constraints:
            if not is_empty(given[name]):
                raise NotImplementedError(
                    f"scipy.optimize.{solve.__name__} has no rule for {name}: put them into the "
                    "function, by a substitution, or give `bounds`"
                )
        if not is_empty((given.get("minimizer_kwargs") or {}).get("constraints")):
            raise NotImplementedError(
                f"{name_of(solve)} has no rule for constraints: use `bounds`, or "
                "variables that fulfil them"
            )
        if self.spread:
            refuse_unless_tuple(solve, given["args"])
        given = self.options(given)
        bounds = limits(self.bounds(self.options(options)), np.size(x))
        args, several = given.get("args", ()), self.several(given)
        return Minimum(ad, solve, f, args, x, bounds, several, done=done)


def is_empty(x):
    """Return whether nothing is given."""
    return x is None or (isinstance(x, list | tuple | dict) and not x)


def has_position(f, name):
    """Return whether a function has a parameter that may be given by its position."""
    found = inspect.signature(f).parameters.get(name)
    return found is not None and found.kind is POSITIONAL


def limits(bounds, size):
    """Return the lower and upper bounds that SciPy reads of its argument, or `None`."""
    if is_empty(bounds):
        return None
    pair = (bounds.lb, bounds.ub) if isinstance(bounds, so.Bounds) else zip(*bounds, strict=True)
    pair = [np.ravel(np.asarray(each, object)) for each in pair]
    pair = [np.array([fill if b is None else b for b in each], float)
            for each, fill in zip(pair, (-np.inf, np.inf), strict=True)]  # fmt: skip
    return [np.broadcast_to(each, size) for each in pair]


def one_interval(first, second):
    """Return what reads the bounds of a number from two parameters."""
    return lambda given: [(given[first], given[second])]


def own_gradient(given):
    """Return whether a function has to return its gradient, as no other is given."""
    return given["fprime"] is None and not given["approx_grad"]


described(so.minimize, constraints=("constraints",))
described(
    so.minimize_scalar, bounds=lambda given: None if given["bounds"] is None else [given["bounds"]]
)
described(so.basinhopping, "func", options=lambda given: given["minimizer_kwargs"] or {})
described(so.differential_evolution, "func", constraints=("constraints",), spread=True)
described(so.direct, "func")
described(so.dual_annealing, "func", spread=True)
described(so.shgo, "func", constraints=("constraints",), spread=True)
bare(so.brent)
bare(so.golden)
bare(so.fminbound, bounds=one_interval("x1", "x2"), done=lambda y: y[2] == 0)
bare(so.brute)
bare(so.fmin, done=lambda y: len(y) < 5 or y[4] == 0)
bare(so.fmin_powell, done=lambda y: len(y) < 6 or y[5] == 0)
bare(so.fmin_bfgs, "f", done=lambda y: len(y) < 7 or y[6] == 0)
bare(so.fmin_cg, "f", done=lambda y: len(y) < 5 or y[4] == 0)
bare(so.fmin_ncg, "f", done=lambda y: len(y) < 6 or y[5] == 0)
bare(so.fmin_cobyla, constraints=("cons",))
bare(so.fmin_slsqp, done=lambda y: y[3] == 0, constraints=(
    "eqcons", "f_eqcons", "ieqcons", "f_ieqcons"))  # fmt: skip
bare(so.fmin_l_bfgs_b, is_tuple=lambda given: True, done=lambda y: y[2]["warnflag"] == 0,
     several=own_gradient)  # fmt: skip
bare(so.fmin_tnc, is_tuple=lambda given: True, done=lambda y: y[2] in (0, 1, 2), at=(0,),
     several=own_gradient)  # fmt: skip
