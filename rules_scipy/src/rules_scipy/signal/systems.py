"""Linear systems: conversions to matrices, and simulations.

A simulation is a recurrence, of which SciPy leaves parts out where they are zero. The rules keep
them: an input of zeros has a gradient, and so has a leading coefficient that is zero.
"""

import numpy as np
from scipy import linalg as sl
from scipy import signal as ss

from rules_scipy.shared.solvers import solver
from rulescore import Numeric, RuleSet, accumulate, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.signal.systems")
ArrayLike = Numeric | list | tuple


def refuse_zeros(f):
    """Raise `NotImplementedError` for coefficients that are cut off where they are zero."""
    raise NotImplementedError(
        f"scipy.signal.{f.__name__} has no rule for coefficients that begin with zeros, which it "
        "cuts off: leave them out"
    )


@rule(ss.normalize)
def _(b: ArrayLike, a: ArrayLike):
    y = ss.normalize(b, a)

    def by_numerator(dy):
        if np.shape(y[0])[-1] != np.shape(np.atleast_1d(b))[-1]:
            refuse_zeros(ss.normalize)
        first = np.conj(np.atleast_1d(a)[np.size(a) - np.size(y[1])])
        return None if dy[0] is None else project(np.reshape(dy[0] / first, np.shape(b)), b)

    def by_denominator(dy):
        if np.size(y[1]) != np.size(a):
            refuse_zeros(ss.normalize)
        first, total = np.conj(np.atleast_1d(a)[0]), 0.0
        for d, value in zip(dy, y, strict=True):
            total = total if d is None else total + np.sum(d * np.conj(value))
        da = np.zeros(np.shape(y[1]), np.result_type(*y)) if dy[1] is None else dy[1]
        da = np.concatenate([np.reshape(da[0] - total, 1), da[1:]]) / first
        return project(np.reshape(da, np.shape(a)), a)

    return y, (by_numerator, by_denominator)


@rule(ss.tf2ss)
def _(num: ArrayLike, den: ArrayLike):
    y = ss.tf2ss(num, den)

    def pullback(dy):
        coefficients = np.atleast_1d(np.asarray(den))
        unit = np.trim_zeros(coefficients, "f")
        given = np.atleast_2d(np.asarray(num))
        missing = len(unit) - given.shape[1]
        if len(unit) < len(coefficients) or missing < 0:
            refuse_zeros(ss.tf2ss)
        first, unit = np.conj(unit[0]), unit / unit[0]
        rows = np.concatenate([np.zeros((len(given), missing)), given / np.conj(first)], 1)
        drows = np.zeros(rows.shape, np.result_type(rows, *y))
        dunit = np.zeros(len(unit), drows.dtype)
        da, _, dc, dd = dy
        if da is not None and len(unit) > 1:
            dunit[1:] -= da[0]
        if dc is not None and len(unit) > 1:
            drows[:, 1:] += dc
            drows[:, 0] -= np.sum(dc * np.conj(unit[1:]), 1)
            dunit[1:] -= np.sum(dc * np.conj(rows[:, :1]), 0)
        if dd is not None:
            drows[:, 0] += np.reshape(dd, -1)
        dunit[0] = -np.sum(drows * np.conj(rows)) - np.sum(dunit[1:] * np.conj(unit[1:]))
        dnum = np.reshape(drows[:, missing:] / first, np.shape(num))
        return project(dnum, num), project(np.reshape(dunit / first, np.shape(den)), den)

    return y, pullback


def matrices_of(system):
    """Return the matrices of a system that is an object or a tuple."""
    if isinstance(system, ss.lti):
        found = system.to_ss()
        return found.A, found.B, found.C, found.D
    if len(system) == 2:
        return ss.tf2ss(system[0], system[1])
    if len(system) == 3:
        return ss.zpk2ss(system[0], system[1], system[2])
    return [np.atleast_2d(m) for m in system]


def recurrence(first, step, inputs):
    """Return the states `x[i + 1] = x[i] @ step + inputs[i]` from the first one, in rows."""
    states = np.empty((len(inputs) + 1, len(first)), np.result_type(first, step, inputs))
    states[0] = first
    for i in range(len(inputs)):
        states[i + 1] = states[i] @ step + inputs[i]
    return states


@rule(recurrence)
def _(first: np.ndarray, step: np.ndarray, inputs: np.ndarray):
    states = recurrence(first, step, inputs)

    def pullback(dy):
        back = np.conj(np.transpose(step))
        d = np.flip(recurrence(dy[-1], back, np.flip(dy[:-1], 0)), 0)
        dstep = np.conj(np.transpose(states[:-1])) @ d[1:]
        return project(d[0], first), project(dstep, step), project(d[1:], inputs)

    return states, pullback


def simulated(system, inputs, times, first, interp):
    """Return the outputs and states of a system, as `scipy.signal.lsim` does."""
    a, b, c, d = matrices_of(system)
    n, m = np.shape(b)
    first = np.zeros(n) if first is None else np.asarray(first)
    times = np.atleast_1d(times)
    if times[0] != 0:
        first = first @ sl.expm(np.transpose(a) * times[0])
    dt = times[1] - times[0]
    inputs = np.reshape(inputs, (len(times), m))
    zeros = np.zeros((m, n))
    if interp:
        rows = [[a * dt, b * dt, np.zeros((n, m))], [zeros, np.zeros((m, m)), np.eye(m)],
                [zeros, np.zeros((m, 2 * m))]]  # fmt: skip
    else:
        rows = [[a * dt, b * dt], [zeros, np.zeros((m, m))]]
    moved = sl.expm(np.transpose(np.concatenate([np.concatenate(row, 1) for row in rows], 0)))
    step, held = moved[:n, :n], moved[n : n + m, :n]
    if interp:
        rise = moved[n + m :, :n]
        given = inputs[:-1] @ (held - rise) + inputs[1:] @ rise
    else:
        given = inputs[:-1] @ held
    states = recurrence(first, step, given)
    return states @ np.transpose(c) + inputs @ np.transpose(d), states


@solver(rule, ss.lsim, by=("system", "U", "T", "X0"))
def _(ad, found, given):
    inputs, times = given["U"], given["T"]
    if np.size(times) < 2:
        raise NotImplementedError(
            "scipy.signal.lsim has a rule for two times or more: give the first one, too"
        )
    a_number = inputs is None or np.ndim(inputs) == 0
    if a_number:
        width = np.shape(matrices_of(given["system"])[1])[1]
        inputs = np.zeros((len(times), width))
    (y, x), back = ad(simulated, given["system"], inputs, times, given["X0"], given["interp"])

    def pullback(dout):
        dt, dy, dx = dout
        dy = None if dy is None else np.reshape(dy, np.shape(y))
        dx = None if dx is None else np.reshape(dx, np.shape(x))
        _, dsystem, dinputs, dtimes, dfirst, _ = back((dy, dx))
        dt = None if dt is None else project(dt, times)
        pulled = {"system": dsystem, "T": accumulate(dtimes, dt), "X0": dfirst}
        return pulled if a_number else {**pulled, "U": dinputs}

    return pullback


def times_of(a, count):
    """Return the times at which SciPy computes a response, by the slowest decay of a system."""
    rate = np.min(np.abs(np.real(sl.eigvals(a))))
    return np.linspace(0.0, 7 / (rate if rate else 1.0), 100 if count is None else count)


def response(system, first, times, count, is_impulse):
    """Return times and outputs of a system for an impulse or a step, as SciPy does."""
    matrices = matrices_of(system)
    a, b = matrices[0], np.asarray(matrices[1])
    times = times_of(a, count) if times is None else np.asarray(times)
    if is_impulse:
        first = np.reshape(b if first is None else b + first, -1)  # SciPy needs a column
    inputs = np.zeros(len(times)) if is_impulse else np.ones(len(times))
    return times, simulated(tuple(matrices), inputs, times, first, False)[0]


def declare_response(f, is_impulse):
    """Declare the rule of `scipy.signal.step` or `impulse`."""

    @solver(rule, f, by=("system", "X0", "T"))
    def _(ad, found, given):
        times = given["T"]
        (_, y), back = ad(response, given["system"], given["X0"], times, given["N"], is_impulse)

        def pullback(dout):
            dt, dy = dout
            dy = None if dy is None else np.reshape(dy, np.shape(y))
            _, dsystem, dfirst, dtimes, _, _ = back((dt, dy))
            return {"system": dsystem, "X0": dfirst, "T": dtimes}

        return pullback


declare_response(ss.step, False)
declare_response(ss.impulse, True)
