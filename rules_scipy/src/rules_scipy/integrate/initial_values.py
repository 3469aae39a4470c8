"""Initial value problems.

What an explicit Runge-Kutta method has computed is differentiated by the reverse of its steps.
"""

import numpy as np
from scipy import integrate as si

from rules_scipy.shared.runge_kutta import Steps, Tableau
from rules_scipy.shared.solvers import parts_of, refuse_unsolved, solver
from rulescore import RuleSet, accumulate, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.integrate.initial_values")
EXPLICIT = {"RK23": si.RK23, "RK45": si.RK45, "DOP853": si.DOP853}


@solver(rule, si.solve_ivp, by=("fun", "t_span", "y0", "t_eval", "args"), whole=True)
def _(ad, given):
    if given["events"] is not None:
        raise NotImplementedError("scipy.integrate.solve_ivp has no rule for events")
    method = explicit(given["method"])
    noting, times = noting_steps(method)
    options = given.get("options", {})
    named = {name: given[name] for name in ("t_eval", "dense_output", "vectorized", "args")}
    y = si.solve_ivp(given["fun"], given["t_span"], given["y0"], noting, **named, **options)
    steps = steps_again(ad, y, given, method, times) if y.success else None

    def pullback(dy):
        dvalues, dtimes, dsol = parts_of(dy, si.solve_ivp, ("y", "t", "sol"))
        if dvalues is None and dtimes is None and dsol is None:
            return {}
        refuse_unsolved(si.solve_ivp, y.success)
        at, dwithin = asked(given["t_eval"], dvalues, dsol)
        dknots = dvalues if given["t_eval"] is None else None
        dspan, dy0, dat, (df, *dargs) = steps.pulled(dknots, at, dwithin)
        found = {"fun": df, "y0": like(dy0, given["y0"]), "args": like(dargs, given["args"])}
        if given["t_eval"] is not None:
            dat = dat[: np.size(given["t_eval"])]
            found["t_eval"] = like(dat if dtimes is None else dat + dtimes, given["t_eval"])
        elif dtimes is not None:
            dspan = dspan[0] + np.sum(dtimes[:-1]), dspan[1] + dtimes[-1]
        return {**found, "t_span": like(dspan, given["t_span"])}

    return y, pullback


def explicit(method):
    """Return the class of an explicit Runge-Kutta method."""
    found = EXPLICIT.get(method, method) if isinstance(method, str) else method
    if isinstance(found, type) and issubclass(found, tuple(EXPLICIT.values())):
        return found
    raise NotImplementedError(f"scipy.integrate.solve_ivp has no rule for method={method!r}")


def noting_steps(method):
    """Return a method that notes when its steps end, and the list in which it does."""
    times = []

    class Noting(method):
        def _step_impl(self):
            done, message = super()._step_impl()
            if done:
                times.append(float(self.t))
            return done, message

    return Noting, times


def steps_again(ad, y, given, method, times):
    """Return the steps of SciPy's solution, done again with the AD."""
    f, args = given["fun"], given["args"] or ()
    begin, end = given["t_span"]
    kind = complex if np.iscomplexobj(given["y0"]) else float
    first = np.array(given["y0"], kind)
    read = by_columns if given["vectorized"] else as_vector

    def rate(t, x):
        value, back = ad(f, t, x, *args)
        if not given["vectorized"] and is_vector(value, x):
            return value, lambda dk: without_time(*back(dk))
        value, whole = ad(read, f, t, x, *args)
        if np.iscomplexobj(value) and not np.iscomplexobj(x):
            raise NotImplementedError(
                "scipy.integrate.solve_ivp has no rule for a complex right-hand side of real values"
            )
        return value, lambda dk: without_time(*whole(dk)[1:])

    within = given["t_eval"] if not given["dense_output"] else None
    if within is None and not given["dense_output"]:
        within = ()
    return Steps(rate, (begin, end), first, times, Tableau(method), within)


def without_time(df, dt, dy, *dargs):
    """Return the cotangents of a right-hand side, those of the time and the value first."""
    return dt, dy, df, *dargs


def is_vector(value, x):
    """Return whether a right-hand side is an array of the type and shape that SciPy makes of it."""
    return type(value) is np.ndarray and value.dtype == x.dtype and value.shape == x.shape


def as_vector(f, t, x, *args):
    """Return a right-hand side as an array: it may give a list, or a number for all entries."""
    return np.asarray(f(t, x, *args)) + np.zeros_like(x)


def by_columns(f, t, x, *args):
    """Return a right-hand side that takes several values in columns."""
    return np.ravel(np.asarray(f(t, x[:, None], *args))) + np.zeros_like(x)


def asked(t_eval, dvalues, dsol):
    """Return times within steps, and in columns the cotangents of the values there."""
    at, dwithin = [], []
    if t_eval is not None and len(t_eval):
        at.append(np.asarray(t_eval, float))
        dwithin.append(dvalues)
    if dsol is not None:
        at.append(dsol.times)
        dwithin.append(dsol.values)
    return (np.concatenate(at), np.hstack(dwithin)) if at else (np.zeros(0), None)


def like(d, x):
    """Return a cotangent in the form of its primal: an array, a list, a tuple or `None`."""
    if isinstance(x, list | tuple):
        return type(x)(d)
    return None if x is None else np.asarray(d)


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
        return Impulses(times, columns), like(dt, t) if np.ndim(t) else dt[0]

    return y, pullback


def slopes(sol, times):
    """Return the derivative of a continuous solution by the time, in columns."""
    sign = 1.0 if sol.ascending else -1.0
    places = np.searchsorted(sign * np.asarray(sol.ts)[1:-1], sign * times)
    found = [slope(sol.interpolants[i], t) for i, t in zip(places, times, strict=True)]
    return np.stack(found, axis=1) if found else np.zeros((0, 0))


def slope(piece, t):
    """Return the derivative of the solution within a step."""
    x = (t - piece.t_old) / piece.h
    if hasattr(piece, "Q"):
        powers = np.arange(1, piece.Q.shape[1] + 1)
        return np.dot(piece.Q, powers * x ** (powers - 1))
    value, found = np.zeros_like(piece.y_old), np.zeros_like(piece.y_old)
    for i, f in enumerate(reversed(piece.F)):
        factor, turn = (x, 1.0) if i % 2 == 0 else (1 - x, -1.0)
        value, found = (value + f) * factor, found * factor + (value + f) * turn
    return found / piece.h
