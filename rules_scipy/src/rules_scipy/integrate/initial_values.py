"""Initial value problems.

What an explicit Runge-Kutta method has computed is differentiated by the reverse of its steps, and
what others have computed, by the adjoint equation along the solution.
"""

import numpy as np
from numpy.polynomial import chebyshev
from scipy import integrate as si

from rules_scipy.shared.solvers import (
    entries_of,
    name_of,
    parts_of,
    refuse_unless_tuple,
    solver,
)
from rules_scipy.shared.steps.collocation import Along
from rules_scipy.shared.steps.runge_kutta import Steps, Tableau
from rulescore import RuleSet, accumulate, project

rule = RuleSet(
    "rules_scipy", examples="rules_scipy.examples.integrate.initial_values", may_raise=True
)
EXPLICIT = {"RK23": si.RK23, "RK45": si.RK45, "DOP853": si.DOP853}
IMPLICIT = {"Radau": si.Radau, "BDF": si.BDF, "LSODA": si.LSODA}
MULTISTEP = (si.BDF, si.LSODA)
DEGREE = 12  # of no interpolant it is higher
WATCHED = 16  # values of a right-hand side, of which it is seen whether they are overwritten
NODES = np.cos(np.pi * (np.arange(DEGREE + 1) + 0.5) / (DEGREE + 1))


@solver(rule, si.solve_ivp, by=("fun", "t_span", "y0", "t_eval", "args"), whole=True)
def _(ad, given):
    if given["events"] is not None:
        raise NotImplementedError("scipy.integrate.solve_ivp has no rule for events")
    method, is_explicit = method_of(given["method"])
    noting, times, pieces = noting_steps(method, not is_explicit)
    t_eval, dense, vectorized = given["t_eval"], given["dense_output"], given["vectorized"]
    y = si.solve_ivp(given["fun"], given["t_span"], given["y0"], noting, t_eval, dense, None,
                     vectorized, given["args"], **options_of(given))  # fmt: skip
    if y.sol is not None and method in MULTISTEP:
        y.sol = si.OdeSolution(y.sol.ts, y.sol.interpolants, alt_segment=True)
    span, first, args = given["t_span"], vector(given["y0"]), as_entries(given["args"])
    rate = rate_of(ad, given["fun"], args, by_columns if vectorized else as_vector)
    if y.success and is_explicit:
        asked = None if dense else () if t_eval is None else t_eval
        steps = Steps(rate, span, first, times, Tableau(method), asked)
    elif y.success:
        pieces = without_second(pieces, given["fun"], span, first, args)
        steps = Along(rate, span, first, pieces)

    def pullback(dy):
        dvalues, dtimes, dsol = parts_of(dy, si.solve_ivp, ("y", "t", "sol"))
        if dvalues is None and dtimes is None and dsol is None:
            return {}
        refuse_ended(si.solve_ivp, y.success)
        between = is_explicit and t_eval is None
        at, dwithin = ((), None) if between else (y.t, dvalues)
        if dwithin is None:
            dwithin = np.zeros((len(first), len(at)))
        if dsol is not None:
            at, dwithin = np.append(at, dsol.times), np.hstack([dwithin, dsol.values])
        dspan, dy0, dat, (df, *dargs) = steps.pulled(dvalues if between else None, at, dwithin)
        dt = np.zeros(len(y.t)) if between else dat[: len(y.t)]
        dt = dt if dtimes is None else dt + dtimes
        if t_eval is None:
            dspan = dspan[0] + np.sum(dt[:-1]), dspan[1] + dt[-1]
        found = {"fun": df, "t_span": dspan, "y0": dy0, "args": dargs}
        found = {name: like(d, given[name]) for name, d in found.items() if name != "fun"}
        return {**found, "fun": df, "t_eval": like(dt, t_eval)}

    return y, pullback


def as_entries(args):
    """Return what SciPy passes on for `args`, of which it takes the entries."""
    return () if args is None else tuple(args)


def options_of(given):
    """Return the options of a method, on which no gradient depends."""
    return given.get("options", {})


rule.constant(options_of)


@solver(rule, si.odeint, by=("func", "y0", "t", "args"), without=("Dfun",))
def _(ad, y, given):
    refuse_unless_tuple(si.odeint, given["args"])
    t, args, first = given["t"], given["args"], np.ravel(vector(given["y0"]))
    read = as_vector if given["tfirst"] else value_first
    bounds = {name: given[name] for name in ("rtol", "atol", "hmax")}
    pieces = solved_again(given["func"], read, first, t, args, bounds)
    rate = rate_of(ad, given["func"], args, read)
    steps = None if pieces is None else Along(rate, (t[0], t[-1]), first, pieces)

    def pullback(dy):
        (dvalues,) = entries_of(dy, si.odeint, bool(given["full_output"]), (0,))
        if dvalues is None:
            return {}
        refuse_ended(si.odeint, steps is not None)
        (dbegin, dend), dy0, dt, (df, *dargs) = steps.pulled(None, t, np.transpose(dvalues))
        dt[0], dt[-1] = dt[0] + dbegin, dt[-1] + dend
        found = {"y0": dy0, "t": dt, "args": dargs}
        return {"func": df, **{name: like(d, given[name]) for name, d in found.items()}}

    return pullback


def solved_again(f, read, first, t, args, bounds):
    """Return the interpolants of a solution by LSODA, or `None` where it does not reach the end."""
    noting, _, pieces = noting_steps(si.LSODA, True)
    rtol, atol = (1.49012e-8 if bounds[name] is None else bounds[name] for name in ("rtol", "atol"))
    found = noting(lambda s, x: read(f, s, x, *args), float(t[0]), first, float(t[-1]),
                   rtol=rtol, atol=atol, max_step=bounds["hmax"] or np.inf)  # fmt: skip
    while found.status == "running":
        found.step()
    return pieces if found.status == "finished" else None


def refuse_ended(f, is_whole):
    """Raise `LinAlgError` for a solution that does not reach the end of its interval."""
    if not is_whole:
        raise np.linalg.LinAlgError(
            f"{name_of(f)} has not reached the end of the interval: there the solution has no "
            "derivative"
        )


def method_of(method):
    """Return the class of a method, and whether it is an explicit Runge-Kutta method."""
    known = {**EXPLICIT, **IMPLICIT}
    found = known.get(method, method) if isinstance(method, str) else method
    for kinds in (EXPLICIT, IMPLICIT):
        if isinstance(found, type) and issubclass(found, tuple(kinds.values())):
            return found, kinds is EXPLICIT
    raise NotImplementedError(f"scipy.integrate.solve_ivp has no rule for method={method!r}")


def noting_steps(method, with_pieces=False):
    """Return a method that notes when its steps end, and its interpolants; and lists of these.

    Its steps raise `NotImplementedError` where the right-hand side writes into an array that it has
    returned before: SciPy keeps these, all methods but LSODA, and then computes with other numbers.
    """
    times, pieces, returned = [], [], []

    class Noting(method):
        def __init__(self, fun, *given, **options):
            def watched(t, y):
                value = fun(t, y)
                is_new = isinstance(value, np.ndarray) and not np.may_share_memory(value, y)
                if is_new and len(returned) < WATCHED:
                    returned.append((value, value.tobytes()))
                return value

            keeps = not issubclass(method, si.LSODA)
            super().__init__(watched if keeps else fun, *given, **options)

        def step(self):
            message = super().step()
            if self.status != "failed" and self.t != self.t_old:
                times.append(float(self.t))
                if with_pieces:
                    pieces.append(self.dense_output())
            if any(value.tobytes() != kept for value, kept in returned):
                raise NotImplementedError(
                    "scipy.integrate.solve_ivp has no rule for a right-hand side that writes into "
                    "an array which it has returned before: SciPy keeps it, and its values are "
                    "wrong; return a new array"
                )
            if self.status != "running":
                returned.clear()
            return message

    return Noting, times, pieces


def vector(y):
    """Return the first value in the type that SciPy makes of it."""
    return np.array(y, complex if np.iscomplexobj(y) else float)


def rate_of(ad, f, args, read):
    """Return what gives the right-hand side and its pullback, at a time and a value.

    The pullback returns the cotangents of the time, of the value, and of all others. `read` makes
    a vector of what the function gives.
    """

    def rate(t, x):
        if read is as_vector:
            value, back = ad(f, t, x, *args)
            if is_vector(value, x):
                return value, lambda dk: without_time(*back(dk))
        value, whole = ad(read, f, t, x, *args)
        if np.iscomplexobj(value) and not np.iscomplexobj(x):
            raise NotImplementedError(
                "scipy.integrate has no rule for a complex right-hand side of real values"
            )
        return value, lambda dk: without_time(*whole(dk)[1:])

    return rate


def without_second(pieces, *given):
    """Return what a solution is interpolated by: it is computed, and has no derivative."""
    return pieces


@rule(without_second, solved_again)
def _(*given):
    raise NotImplementedError(
        "scipy.integrate has second derivatives of solutions by RK23, RK45 and DOP853 only"
    )


def without_time(df, dt, dy, *dargs):
    """Return the cotangents of a right-hand side, those of the time and the value first."""
    return dt, dy, df, *dargs


def is_vector(value, x):
    """Return whether a right-hand side is an array of the type and shape that SciPy makes of it."""
    return type(value) is np.ndarray and value.dtype == x.dtype and value.shape == x.shape


def as_vector(f, t, x, *args):
    """Return a right-hand side as an array: it may give a list, or a number for all entries."""
    return np.asarray(f(t, x, *args)) + np.zeros_like(x)


def value_first(f, t, x, *args):
    """Return a right-hand side that takes the value before the time."""
    return np.asarray(f(x, t, *args)) + np.zeros_like(x)


def by_columns(f, t, x, *args):
    """Return a right-hand side that takes several values in columns."""
    return np.ravel(np.asarray(f(t, x[:, None], *args))) + np.zeros_like(x)


def like(d, x):
    """Return a cotangent in the form of its primal: a list, a tuple, an array or `None`."""
    if isinstance(x, list | tuple):
        return type(x)(d)
    if isinstance(d, list) and x is not None:  # of an array whose entries are arguments
        d = [np.zeros_like(a) if b is None else b for a, b in zip(x, d, strict=True)]
    return None if x is None else np.reshape(d, np.shape(x))


class Impulses:
    """The cotangent of a continuous solution: those of its values at some times.

    Attributes:
        times: a vector.
        values: the cotangents, in columns.
    """

    def __init__(self, times, values):
        self.times, self.values = times, values


@rule.method(project)
def _(dx: Impulses, x: si.OdeSolution):
    return dx


@rule.method(accumulate)
def _(a: Impulses, b: Impulses):
    return Impulses(np.concatenate([a.times, b.times]), np.hstack([a.values, b.values]))


@rule.of_instances
def _(sol: si.OdeSolution, t: object):
    y = sol(t)

    def pullback(dy):
        columns = dy[:, None] if np.ndim(t) == 0 else dy
        times = np.atleast_1d(np.asarray(t, float))
        dt = np.sum(np.real(np.conj(columns) * slopes(sol, times)), axis=0)
        return Impulses(times, columns), like(dt, t)

    return y, pullback


def slopes(sol, times):
    """Return the derivative of a continuous solution by the time, in columns."""
    sign = 1.0 if sol.ascending else -1.0
    places = np.searchsorted(sign * np.asarray(sol.ts)[1:-1], sign * times)
    found = [slope(sol.interpolants[i], t) for i, t in zip(places, times, strict=True)]
    return np.stack(found, axis=1) if found else np.zeros((0, 0))


def slope(piece, t):
    """Return the derivative of the solution within a step, where it is a polynomial.

    Beyond the ends it is fitted as far as `t`: there a fit to the step would blow up rounding.
    """
    half, middle = (piece.t - piece.t_old) / 2, (piece.t + piece.t_old) / 2
    if not half:
        return np.zeros_like(piece(t))
    half = max(abs(half), abs(t - middle))
    fitted = chebyshev.chebfit(NODES, piece(middle + half * NODES).T, DEGREE)
    return chebyshev.chebval((t - middle) / half, chebyshev.chebder(fitted)) / half
