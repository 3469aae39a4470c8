"""Roots of a function of a number, and of one that acts on each entry of an array."""

import numpy as np
from scipy import optimize as so

from rules_scipy.shared.solvers import (
    as_arguments,
    entries_of,
    like_arguments,
    name_of,
    parts_of,
    refuse_unless_tuple,
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
        done = has_found(f, given) if found is None else found.converged
        root = Root(ad, f, given["f"], x, given["args"], done)

        def pullback(dy):
            dx, dfound = entries_of(dy, f, full, (0, 1))
            df, dargs = root.pulled(accumulate(dx, parts_of(dfound, f, ("root",))[0]))
            return {"f": df, "args": dargs}

        return pullback


for method in BRACKETED:
    bracketed(method)


@solver(rule, so.newton, by=("func", "args"), without=("x0", "x1", "fprime", "fprime2"))
def _(ad, y, given):
    full = given["full_output"]
    x, found = y[:2] if full else (y, None)
    described = isinstance(found, so.RootResults)  # of several roots, which have converged
    refuse_unless_tuple(so.newton, given["args"])
    if found is None:
        done = has_found(so.newton, given)
    else:
        done = found.converged if described else np.all(found)
    root = Root(ad, so.newton, given["func"], x, given["args"], done)

    def pullback(dy):
        dx, dfound = entries_of(dy, so.newton, full, (0, 1))
        if described:
            dx = accumulate(dx, parts_of(dfound, so.newton, ("root",))[0])
        df, dargs = root.pulled(dx)
        return {"func": df, "args": dargs}

    return pullback


@solver(
    rule, so.root_scalar, by=("f", "args"), without=("bracket", "x0", "x1", "fprime", "fprime2")
)
def _(ad, y, given):
    f, x = given["f"], y.root
    several = any(given[by] and not callable(given[by]) for by in ("fprime", "fprime2"))
    read = first_of if several else value_of
    root = Root(ad, so.root_scalar, f, x, given["args"], y.converged, read)

    def pullback(dy):
        df, dargs = root.pulled(*parts_of(dy, so.root_scalar, ("root",)))
        return {"f": df, "args": dargs}

    return pullback


def has_found(f, given):
    """Return whether a method has found its root, which it does not tell where `disp` is false.

    It is asked by one more search.
    """
    if given["disp"]:
        return True  # else there was an error
    found = f(*{**given, "full_output": True}.values())[1]
    return found.converged if isinstance(found, so.RootResults) else np.all(found)


def value_of(f, x, *args):
    """Return the value of a function."""
    return f(x, *args)


def first_of(f, x, *args):
    """Return the value of a function that also returns derivatives."""
    return f(x, *args)[0]


class Root:
    """Pull the cotangent of a root back to the function and its arguments.

    The function is differentiated at once: what it captured may be another thing later.

    Arguments:
        ad: the AD.
        solve: SciPy's function, for errors.
        f, args: the function, and its further arguments.
        x: the root.
        done: whether it is one.
        read: what is 0, from `f`, `x` and `args`.
    """

    def __init__(self, ad, solve, f, x, args, done, read=value_of):
        self.solve, self.x, self.args, self.done = solve, x, args, done
        self.about = f"the equation that {name_of(solve)} has solved"
        if done:
            self.y, self.back = ad(read, f, x, *as_arguments(args))

    def pulled(self, dx):
        """Return the cotangents of the function and of `args`."""
        if dx is None:
            return None, None
        refuse_unsolved(self.solve, self.done)
        _, df, _, *dargs = self.back(-dx / self.slope())
        return df, like_arguments(dargs, self.args)

    def slope(self):
        """Return the derivative of the function, conjugated where it is complex."""
        slope = self.back(np.ones_like(self.y)[()])[2]
        if slope is None or not np.all(np.isfinite(slope)) or np.any(slope == 0):
            raise np.linalg.LinAlgError(f"{self.about} has a derivative that is 0, or not finite")
        if np.ndim(self.x):
            uneven = np.cos(1.0 + np.arange(np.size(self.x))).reshape(np.shape(self.x))
            if not np.allclose(self.back(uneven * np.ones_like(self.y))[2], uneven * slope):
                raise NotImplementedError(
                    f"{self.about} is not one for each entry: use scipy.optimize.root for systems"
                )
        return slope
