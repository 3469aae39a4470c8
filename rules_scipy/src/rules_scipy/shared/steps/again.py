"""A solution that is solved once more, more exactly, so that it can be differentiated along.

Behind a fast transition a derivative is that of the solution only where the transition is known to
a part of its width: an adjoint equation along a solution with a loose tolerance may have the wrong
sign. So the solution is computed with ever smaller tolerances, until one tells the same as the one
before, transitions included.
"""

import warnings

import numpy as np
from scipy import integrate as si

from rules_scipy.shared.steps.choosing import SURE, long_steps
from rules_scipy.shared.steps.stages import FEW, is_same

FINER = 0.1  # a tolerance, by the one before
CLOSE = 0.1  # how exact steps are, by the tolerance
LOST = 0.03  # of a rate of change: derivatives that lose more of it are not sure
FAR = 1e-2  # by the largest value: two solutions that differ by more are not the same
LOOSE = 20.0  # tolerances by which two solutions may differ
LEAST = 1e-12  # the smallest tolerance
STEPS = 10_000  # the most between two times
MANY = 100  # equations, whose derivatives `odeint` would write out
NO_STEPS = np.zeros(0), np.zeros(0)
NOTHING_DONE = "Nothing was done; the integration time was 0."


class FarError(Exception):
    """Tell that a solution is not as exact as it has to be."""


def along_again(rate, solve, noted, first, rtol, atol, asked=None, columns=None):
    """Return what pulls back along a solution, which is solved once more, more exactly.

    Arguments:
        rate: the right-hand side with its pullback, as `rates_of` gives it.
        solve: what solves again, of the class `Solving`.
        noted: the steps of the solution: times and values.
        first: the first value.
        rtol, atol: the tolerances of the solution.
        asked: times at which it is asked for, if they are known.
        columns: the right-hand side at many times, of values in columns; `None` if it takes none.
    """
    sign, ends, kind = solve.sign, solve.ends, first.dtype
    if np.iscomplexobj(first):
        rate = in_parts(rate[0], kind), None, None
        rtol, atol = (np.repeat(x, 2) if np.ndim(x) else x for x in (rtol, atol))
    first = first.view(float)
    is_loose, (times, values) = False, noted
    while True:
        inside = (sign * times > sign * ends[0]) & (sign * times <= sign * ends[1])
        times, values = times[inside], values[inside]
        knots = np.unique(sign * np.concatenate([ends, times])) * sign
        rtol, atol = np.minimum(rtol, SURE / FINER), np.asarray(atol)
        may_be_off = np.maximum(FAR, LOOSE * rtol)
        finer = rtol * FINER, atol * FINER
        if np.min(finer[0]) < LEAST:
            raise unknown(solve.name)

        def at(asked_for):
            found = solve(asked_for, *finer)
            known = found[np.searchsorted(sign * asked_for, sign * times)]
            if np.any(far(known, values, may_be_off, atol)):
                raise FarError
            return found

        try:
            along = long_steps(solve.f, rate, knots, first, at, CLOSE * rtol, CLOSE * atol, asked,
                               columns)  # fmt: skip
        except FarError:
            is_loose = True
        else:
            along.kind = kind
            if not is_loose and first.size > FEW:
                return along
            if carries_its_rate(along, solve.f, first, *finer):
                return along
        times, values = solve.steps(*finer)
        rtol, atol = finer


def in_parts(rate, kind):
    """Return a complex right-hand side and its pullback, of real and imaginary parts."""

    def of_parts(t, x):
        value, back = rate(t, x.view(kind))

        def in_parts(dk):
            df, dt, dx, *dargs = back(np.ascontiguousarray(dk).view(kind))
            return df, dt, None if dx is None else dx.astype(kind).view(float), *dargs

        return value.view(float), in_parts

    return of_parts


def carries_its_rate(along, f, first, rtol, atol):
    """Return whether derivatives along a solution carry its rate of change to its end.

    They carry differences of solutions, as between it and itself a moment later. What they lose
    within a transition, a gradient loses too. Noise of the solution may change the rate by as much
    as it does through the derivatives; so may a right-hand side that jumps at a time.
    """
    moved, added = along.transitions()
    x, t = along.passed, along.knots
    v = np.vstack([f(t[0], first), along.K[:, -1]])
    size = np.maximum(np.abs(along.K).max(axis=1), np.abs(v[:-1]))
    noise = np.einsum("mba,mb->ma", np.abs(along.slopes[:, -1]), rtol * np.abs(x[1:]) + atol)
    lost = np.einsum("mab,mb->ma", moved, v[:-1]) + added - v[1:]
    allowed = LOST * size
    ahead = allowed[1:] + np.einsum("mab,mb->ma", np.abs(moved[1:]), noise[:-1])
    is_lost = np.abs(lost) > allowed + noise
    any_lost, sum_lost, sums = np.any(is_lost, axis=1).tolist(), np.zeros(v.shape[1]), []
    for i, (matrix, row) in enumerate(zip(moved, lost, strict=True)):
        carried = matrix @ sum_lost
        sums.append(carried)
        sum_lost = carried + row
        if any_lost[i] and jumps(f, t[i : i + 2], x[i], along.by_time[i], row, is_lost[i]):
            sum_lost = np.zeros_like(sum_lost)
    is_more = np.any(np.abs(sums[1:]) > ahead) if len(sums) > 1 else False
    return not (is_more or np.any(np.abs(sum_lost) > allowed[-1] + noise[-1]))


def jumps(f, times, x, by_time, lost, is_lost):
    """Return whether a right-hand side jumps between two times, by as much as is lost."""
    jump = f(times[1], x).copy() - f(times[0], x) - (times[1] - times[0]) * by_time.mean(axis=0)
    return np.all(np.abs(jump)[is_lost] > 0.3 * np.abs(lost)[is_lost])


def unknown(name):
    """Return the error for a solution that is not known well enough."""
    return np.linalg.LinAlgError(
        f"the solution of {name} is not known well enough for a derivative: with smaller "
        "tolerances it is another, or derivatives along it do not carry its rate of change on. "
        "Give a smaller rtol. The right-hand side may jump at a value, or be chaotic"
    )


def far(found, values, may_be_off, atol):
    """Return which numbers of two solutions, in rows, differ by more than they may."""
    largest = np.max(np.abs(found), axis=0, initial=0.0)
    return np.abs(found - values) > may_be_off * largest + 10 * atol


class Solving:
    """Solve an equation once more: by `odeint`, or where it cannot, by a method of `solve_ivp`.

    Arguments:
        name: of SciPy's function, for errors.
        f: the right-hand side, of the time and a vector, whose parts are real.
        first, ends: the first value, and the ends of the interval.
        given: what `odeint` is given (the same right-hand side, and options), or `None` for what is
            left to the method.
        by_steps: what solves by the method, and returns the solution and its steps.
    """

    def __init__(self, name, f, first, ends, given, by_steps):
        self.name, self.f, self.first, self.ends = name, f, first, ends
        self.given, self.by_steps = given, by_steps
        self.sign = -1.0 if ends[1] < ends[0] else 1.0

    def __call__(self, times, rtol, atol):
        """Return the solution at times in order, in rows."""
        if self.ends[0] == self.ends[1] or not self.first.size:
            return np.tile(self.first, (len(times), 1))
        found = None
        if self.given is not None:
            found = self.compiled(times, rtol, atol, self.given)
        return self.by_steps(times, rtol, atol)[0] if found is None else found

    def steps(self, rtol, atol):
        """Return the steps of the solution: times and values."""
        end = np.array(self.ends[1:])
        if self.given is not None:
            noting, noted = noting_calls(self.given["func"], 0 if self.given["tfirst"] else 1)
            found = self.compiled(end, rtol, atol, {**self.given, "func": noting})
            if found is not None:
                return steps_of(noted, self.first, self.sign)[:2]
        return self.by_steps(end, rtol, atol)[1]

    def compiled(self, times, rtol, atol, given):
        """Return what `odeint` finds, or `None` if it does not reach the end."""
        times = np.append(self.ends[0], times)
        with warnings.catch_warnings(action="ignore", category=si.ODEintWarning):
            values, info = si.odeint(y0=self.first, t=times, rtol=rtol, atol=atol, mxstep=STEPS,
                                     full_output=True, **given)  # fmt: skip
        if info["message"].startswith("Excess work"):
            raise unknown(self.name)
        return values[1:] if is_whole(info) else None


def noting_calls(f, begin):
    """Return a right-hand side that notes its calls: times, values and what it returns.

    Arguments:
        f: the right-hand side.
        begin: the position of the time among its arguments.
    """
    noted = []
    note = noted.extend  # one list: of many tuples Python would look for cycles

    def time_first(t, x, *args):
        value = f(t, x, *args)
        note((t, x.tobytes(), value))  # the array is used again
        return value

    def value_first(x, t, *args):
        value = f(x, t, *args)
        note((t, x.tobytes(), value))
        return value

    return value_first if begin else time_first, noted


def steps_of(noted, first, sign):
    """Return the steps of a solution, from the calls of the right-hand side.

    These are times, values in rows, and a list of what the calls returned. Those of steps that were
    tried again, shorter, are left out.
    """
    times, found = np.array(noted[::3]), noted[2::3]
    later = np.minimum.accumulate(np.append(np.inf, sign * times[::-1]))[-2::-1]
    (kept,) = np.nonzero(sign * times < later)
    values = np.frombuffer(b"".join(noted[1::3])).reshape(len(times), first.size)
    return times[kept], values[kept], [found[i] for i in kept.tolist()]


def are_columns(plain, times, values, found):
    """Return whether a right-hand side gives for values in columns what it gives for each alone.

    Arguments:
        plain: the right-hand side at many times, of values in columns.
        times, values, found: times, values in rows, and what it has returned for each of these.
    """
    if not (found and 0 < values.shape[1] <= FEW):
        return False
    try:
        together = plain(times, np.ascontiguousarray(values.T))
        alone = np.stack(found) if isinstance(found[0], np.ndarray) else np.array(found, float)
    except Exception:  # whatever a right-hand side raises that takes no columns
        return False
    return together.dtype == alone.dtype and is_same(together.T, alone)


def is_whole(info):
    """Return whether `odeint` has reached the last time."""
    return info["message"] in ("Integration successful.", NOTHING_DONE)


def interpolated(pieces, times):
    """Return a solution at times in order, in rows, from its interpolants."""
    ends = np.array([piece.t for piece in pieces[:-1]])
    sign = -1.0 if pieces[-1].t < pieces[0].t_old else 1.0
    starts = np.searchsorted(sign * times, sign * ends, side="right")
    parts = [piece(part).T for piece, part in zip(pieces, np.split(times, starts), strict=True)
             if len(part)]  # fmt: skip
    return np.concatenate(parts)
