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
from rules_scipy.shared.steps.again import (
    MANY,
    Solving,
    along_again,
    are_columns,
    interpolated,
    is_whole,
    noting_calls,
    steps_of,
)
from rules_scipy.shared.steps.explicit import steps_of_stages
from rules_scipy.shared.steps.rates import as_vector, by_columns, rates_of, value_first
from rules_scipy.shared.steps.runge_kutta import Steps, tableau_of
from rulescore import RuleSet, accumulate, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.integrate.initial_values")
EXPLICIT = {"RK23": si.RK23, "RK45": si.RK45, "DOP853": si.DOP853}
IMPLICIT = {"Radau": si.Radau, "BDF": si.BDF, "LSODA": si.LSODA}
MULTISTEP = (si.BDF, si.LSODA)
DEGREE = 12  # of no interpolant it is higher
WATCHED = 16  # values of a right-hand side, of which it is seen whether they are overwritten
OF_JACOBIANS = {"jac", "jac_sparsity", "lband", "uband"}
OPTIONS = ("tfirst", "tcrit", "h0", "hmax", "hmin", "mxordn", "mxords")
TOLERANCE = 1.49012e-8  # that of `odeint`
SECOND = (
    "scipy.integrate has second derivatives and tangents of solutions by RK23, RK45 and DOP853 "
    "only: give one of these as `method` of solve_ivp"
)
SECOND_OF_SOL = (
    "scipy.integrate has no second derivatives and tangents of `sol(t)`: give the times as "
    "`t_eval` of solve_ivp, and take its `.y`"
)
NODES = np.cos(np.pi * (np.arange(DEGREE + 1) + 0.5) / (DEGREE + 1))


@solver(rule, si.solve_ivp, by=("fun", "t_span", "y0", "t_eval", "args"), whole=True)
def _(ad, given):
    """Differentiate a solution.

    By RK23, RK45 and DOP853: the reverse of the steps that were accepted. By Radau, BDF and LSODA:
    the adjoint equation along the solution, which is computed once more with smaller tolerances.
    """
    if given["events"] is not None:
        raise NotImplementedError(
            "scipy.integrate.solve_ivp has no rule for events: find the time of one by `brentq` on "
            "`.sol(t)`, with `dense_output=True`"
        )
    method, is_explicit = method_of(given["method"])
    noting, *noted = noting_steps(method, stages_of if is_explicit else None)
    t_eval, dense, vectorized = given["t_eval"], given["dense_output"], given["vectorized"]
    y = si.solve_ivp(given["fun"], given["t_span"], given["y0"], noting, t_eval, dense, None,
                     vectorized, given["args"], **options_of(given))  # fmt: skip
    if y.sol is not None and method in MULTISTEP:
        y.sol = si.OdeSolution(y.sol.ts, y.sol.interpolants, alt_segment=True)
    span, first, args = given["t_span"], vector(given["y0"]), as_entries(given["args"])
    read = by_columns if vectorized else as_vector
    may_be_array = vectorized or isinstance(given["fun"](span[0], first.copy(), *args), np.ndarray)
    rates = rates_of(ad, given["fun"], args, read, may_be_array)
    if y.success and is_explicit:
        asked = None if dense else () if t_eval is None else t_eval
        steps, tableau = None, tableau_of(method)
        if is_first_derivative(given["fun"], span, first, args, t_eval):
            f = lambda t, x: read(given["fun"], t, x, *args)
            steps = steps_of_stages(f, rates, span[0], first, noted, tableau, asked)
        if steps is None:
            steps = Steps(rates[0], span, first, noted[0], tableau, asked)
    elif y.success:
        refuse_unless_first(SECOND, given["fun"], span, first, args)
        times, passed, _ = noted
        options = options_of(given)
        tolerances = [options.get(*x) for x in (("rtol", 1e-3), ("atol", 1e-6))]
        solving = solving_again(method, given["fun"], read, args, first, span, options)
        noted = (
            np.array(times),
            np.array(passed, first.dtype).reshape(len(times), first.size).view(float),
        )
        steps = along_again(rates, solving, noted, first, *tolerances,
                            None if dense else t_eval)  # fmt: skip

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
        if not is_explicit:
            known = y.y if dsol is None else np.hstack([y.y, y.sol(dsol.times)])
            refuse_far(si.solve_ivp, steps, at, known, dwithin, tolerances[1])
        dknots = dvalues if between else None
        dspan, dy0, dat, (df, *dargs) = steps.pulled(at, dwithin, dknots)
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


@solver(rule, si.odeint, by=("func", "y0", "t", "args"), without=("Dfun",), whole=True)
def _(ad, given):
    """Solve the adjoint equation along the solution.

    It is computed once more with smaller tolerances.
    """
    refuse_unless_tuple(si.odeint, given["args"])
    f, t, args, first = given["func"], given["t"], given["args"], np.ravel(vector(given["y0"]))
    refuse_unless_first(SECOND, f, t, first, args)
    noting, noted = noting_calls(f, 0 if given["tfirst"] else 1)
    y, info = si.odeint(**{**given, "func": noting, "full_output": True})
    done = is_whole(info)
    if done:
        read = as_vector if given["tfirst"] else value_first
        rtol, atol = (
            TOLERANCE if given[name] is None else given[name] for name in ("rtol", "atol")
        )
        same = {name: given[name] for name in OPTIONS if given[name] is not None}
        solving = solving_again(si.LSODA, f, read, args, first, (t[0], t[-1]), {}, same)
        times, values, found = steps_of(noted, first, solving.sign)
        rates = rates_of(ad, f, args, read, not found or isinstance(found[0], np.ndarray))
        columns = rates[2] if are_columns(rates[2], times, values, found) else None
        steps = along_again(rates, solving, (times, values), first, rtol, atol, t, columns)

    def pullback(dy):
        (dvalues,) = entries_of(dy, si.odeint, bool(given["full_output"]), (0,))
        if dvalues is None:
            return {}
        refuse_ended(si.odeint, done)
        dvalues = np.transpose(dvalues)
        refuse_far(si.odeint, steps, t, np.transpose(y), dvalues, atol)
        (dbegin, dend), dy0, dt, (df, *dargs) = steps.pulled(t, dvalues)
        dt[0], dt[-1] = dt[0] + dbegin, dt[-1] + dend
        found = {"y0": dy0, "t": dt, "args": dargs}
        return {"func": df, **{name: like(d, given[name]) for name, d in found.items()}}

    return (y, info) if given["full_output"] else y, pullback


def solving_again(method, f, read, args, first, span, options, of_odeint=None):
    """Return what solves an equation again, by `odeint` or by a method of `solve_ivp`.

    Arguments:
        method: the method.
        f, read, args: the right-hand side, what makes a vector of what it gives, and what it takes
            behind the value.
        first, span: the first value, and the ends of the interval.
        options: those of the method.
        of_odeint: those of `odeint`, if it was called.
    """
    kind, real = first.dtype, first.view(float) if np.iscomplexobj(first) else first
    ends = float(span[0]), float(span[-1])

    is_plain = first is real and read is not by_columns

    def whole(t, x):
        if is_plain:
            value = f(x, t, *args) if read is value_first else f(t, x, *args)
            if type(value) is np.ndarray and value.dtype == x.dtype and value.shape == x.shape:
                return value  # what SciPy makes of it
            return np.asarray(value, float) + np.zeros_like(x)
        return np.asarray(read(f, t, x.view(kind), *args), kind).view(float)

    jac = options.get("jac")
    if callable(jac) and args:
        options = {**options, "jac": lambda t, x: jac(t, x, *args)}

    def by_steps(times, rtol, atol):
        noting, knots, passed, pieces = noting_steps(method, method.dense_output)
        solver = noting(whole, ends[0], real, ends[1], **{**options, "rtol": rtol, "atol": atol})
        while solver.status == "running":
            solver.step()
        refuse_ended(si.solve_ivp, solver.status == "finished")
        return interpolated(pieces, times), (np.array(knots), np.array(passed))

    given = None
    if of_odeint is not None:
        given = {"func": f, "args": args, **of_odeint}
    elif real.size <= MANY and not {*options} & OF_JACOBIANS:
        is_whole = is_plain and np.shape(f(ends[0], first.copy(), *args)) == first.shape
        given = {"func": f, "args": args} if is_whole else {"func": whole}
        longest = min(options.get("max_step", np.inf), abs(ends[1] - ends[0]))
        given |= {"tfirst": True, "hmax": longest}
    name = name_of(si.solve_ivp if of_odeint is None else si.odeint)
    return Solving(name, whole, real, ends, given, by_steps)


def refuse_far(f, steps, times, values, dvalues, atol):
    """Raise `LinAlgError` where a gradient passes through values that the solver has not found."""
    if steps.are_far(times, values, dvalues, atol):
        raise np.linalg.LinAlgError(
            f"a gradient passes through values of {name_of(f)} that a solution with smaller "
            "tolerances does not have: give a smaller rtol"
        )


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
    raise NotImplementedError(
        f"scipy.integrate.solve_ivp has no rule for method={method!r}: use one of "
        f"{', '.join(known)}, or take the steps in a loop of Python, which is differentiated"
    )


def stages_of(solver):
    """Return the stages of the last step of a Runge-Kutta method."""
    return solver.K.copy()


def noting_steps(method, kept=None):
    """Return a method that notes its steps; and lists of their ends, values, and what is kept.

    `kept` returns what is kept of a solver. Steps raise `NotImplementedError` where the right-hand
    side writes into an array that it has returned before: SciPy keeps these, all methods but LSODA,
    and then computes with other numbers.
    """
    times, passed, found, returned = [], [], [], []

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
                passed.append(self.y.copy())
                if kept is not None:
                    found.append(kept(self))
            if any(value.tobytes() != kept for value, kept in returned):
                raise NotImplementedError(
                    "scipy.integrate.solve_ivp has no rule for a right-hand side that writes into "
                    "an array which it has returned before: SciPy keeps it, and its values are "
                    "wrong; return a new array"
                )
            if self.status != "running":
                returned.clear()
            return message

    return Noting, times, passed, found


def vector(y):
    """Return the first value in the type that SciPy makes of it."""
    return np.array(y, complex if np.iscomplexobj(y) else float)


def refuse_unless_first(refusal, *given):
    """Raise `NotImplementedError` where a derivative of a derivative is asked for."""
    if not is_first_derivative(*given):
        raise NotImplementedError(refusal)


def is_first_derivative(*given):
    """Return whether no derivative of a derivative is asked for."""
    return True


@rule(is_first_derivative)
def _(*given):
    return False, lambda dy: (None,) * len(given)


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
    refuse_unless_first(SECOND_OF_SOL, sol, t)
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
