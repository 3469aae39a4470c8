"""Models that are fitted to data: an unpacked state and its trajectory, parameters by a star."""

import math

import numpy as np

from benchmarks.workload import Workload


def rates(y, stiffness, damping):
    angle, speed = y
    return np.array([speed, -stiffness * math.sin(angle) - damping * speed])


def trajectory(y, stiffness, damping, observed, dt):
    steps = [y]
    for _ in range(len(observed) - 1):
        k1 = rates(y, stiffness, damping)
        k2 = rates(y + dt * k1, stiffness, damping)
        y = y + dt / 2 * (k1 + k2)
        steps.append(y)
    error = np.array(steps)[:, 0] - observed
    return np.sum(error * error)


def trajectory_by_hand(y, stiffness, damping, observed, dt):
    half = dt / 2
    steps, tape = [y], []
    for _ in range(len(observed) - 1):
        angle, speed = y
        k1 = np.array([speed, -stiffness * math.sin(angle) - damping * speed])
        angle2, speed2 = y + dt * k1
        k2 = np.array([speed2, -stiffness * math.sin(angle2) - damping * speed2])
        tape.append((angle, speed, angle2, speed2))
        y = y + half * (k1 + k2)
        steps.append(y)
    error = np.array(steps)[:, 0] - observed
    d = error + error
    dy, dstiffness, ddamping = np.zeros(2), 0.0, 0.0
    for i in range(len(tape), 0, -1):
        angle, speed, angle2, speed2 = tape[i - 1]
        dy[0] += d[i]
        dk = half * dy
        p, q = dk
        dstiffness -= q * math.sin(angle2)
        ddamping -= q * speed2
        dy2 = np.array([-stiffness * math.cos(angle2) * q, p - damping * q])
        p, q = dk + dt * dy2
        dstiffness -= q * math.sin(angle)
        ddamping -= q * speed
        dy = dy + dy2 + np.array([-stiffness * math.cos(angle) * q, p - damping * q])
    dy[0] += d[0]
    return np.vdot(error, error), (dy, float(dstiffness), float(ddamping))


def trajectory_of_floats(y, stiffness, damping, observed, dt):
    """Take the state as two numbers."""
    half, given = dt / 2, observed.tolist()
    angle, speed = y.tolist()
    tape, value = [], 0.0
    for want in given[1:]:
        rate = -stiffness * math.sin(angle) - damping * speed
        angle2, speed2 = angle + dt * speed, speed + dt * rate
        rate2 = -stiffness * math.sin(angle2) - damping * speed2
        state = angle, speed, angle2, speed2
        angle, speed = angle + half * (speed + speed2), speed + half * (rate + rate2)
        error = angle - want
        value += error * error
        tape.append((*state, error + error))
    dangle = dspeed = dstiffness = ddamping = 0.0
    for angle, speed, angle2, speed2, d in tape[::-1]:
        dangle += d
        p, q = half * dangle, half * dspeed
        dstiffness -= q * math.sin(angle2)
        ddamping -= q * speed2
        dangle2, dspeed2 = -stiffness * math.cos(angle2) * q, p - damping * q
        p, q = p + dt * dangle2, q + dt * dspeed2
        dstiffness -= q * math.sin(angle)
        ddamping -= q * speed
        dangle += dangle2 - stiffness * math.cos(angle) * q
        dspeed += dspeed2 + p - damping * q
    error = float(y[0]) - given[0]
    dy = np.array([dangle + error + error, dspeed])
    return np.float64(value + error * error), (dy, dstiffness, ddamping)


def make_trajectory(rng, steps):
    y = np.array([1.0, 0.1])
    return y, 2.0, 0.1, np.cos(np.linspace(0.0, 3.0, steps)) + rng.normal(size=steps) * 0.01, 0.02


TRAJECTORY = Workload(
    name="trajectory",
    title="pendulum, unpacked state, trajectory of 200",
    f=trajectory,
    by_hand=trajectory_by_hand,
    rewritten=trajectory_of_floats,
    arguments=make_trajectory,
    argnums=(0, 1, 2),
    sizes={"steps": 200},
    small={"steps": 8},
    goal=2.0,
)


def peak(x, height, center, width, slope, level):
    return height * np.exp(-(((x - center) / width) ** 2)) + slope * x + level


def curve_fit(p, x, y):
    error = peak(x, *p) - y
    return np.sum(error * error)


def curve_fit_by_hand(p, x, y):
    height, center, width, slope, level = p
    u = (x - center) / width
    e = np.exp(-u * u)
    error = height * e + slope * x + level - y
    d = error + error
    de = d * e
    du = u * de
    du *= 2.0 * height / width
    dp = np.array([np.sum(de), np.sum(du), np.vdot(du, u), np.vdot(d, x), np.sum(d)])
    return np.vdot(error, error), (dp,)


def make_curve_fit(rng, n):
    x = np.linspace(-2.0, 2.0, n)
    p = np.array([1.0, 0.2, 0.7, 0.1, -0.3])
    return p, x, peak(x, 1.2, 0.0, 0.6, 0.0, -0.2) + rng.normal(size=n) * 0.05


CURVE_FIT = Workload(
    name="curve_fit",
    title="curve_fit's model(x, *p), 200 points",
    f=curve_fit,
    by_hand=curve_fit_by_hand,
    arguments=make_curve_fit,
    argnums=(0,),
    sizes={"n": 200},
    small={"n": 12},
    goal=2.0,
)
