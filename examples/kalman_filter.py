"""A Kalman filter whose noises are found by its likelihood.

An object moves with a velocity that changes at random, and its position is measured with an error.
The filter estimates the position, if it knows how large both are. Here it finds them: the
likelihood of the measurements is computed step by step, and maximized by its gradient.

    python examples/kalman_filter.py kalman_filter.png
"""

import sys

import numpy as np
from matplotlib.figure import Figure
from scipy.optimize import minimize

from zygote_lite import hessian, value_and_grad

F = np.array([[1.0, 1.0], [0.0, 1.0]])  # place and speed, one step later
PUSH, ERROR = 0.2, 1.0  # deviations of what changes the speed, and of the measurement


def measurements(n=120, seed=0):
    """Return the true places and their measurements."""
    rng = np.random.default_rng(seed)
    speed = np.cumsum(PUSH * rng.normal(size=n))
    places = np.cumsum(speed)
    return places, places + ERROR * rng.normal(size=n)


def run(logs, zs):
    """Return minus the log-likelihood, and the estimates of the place with their deviations."""
    push, error = np.exp(2 * logs[0]), np.exp(2 * logs[1])
    Q = push * np.ones((2, 2))  # a push changes the speed, and the place with it
    m, P = np.zeros(2), np.eye(2)
    total, estimates = 0.0, np.zeros((len(zs), 2))
    for i in range(len(zs)):
        m, P = F @ m, F @ P @ F.T + Q
        s, r = P[0, 0] + error, zs[i] - m[0]
        total = total + 0.5 * (np.log(2 * np.pi * s) + r * r / s)
        K = P[:, 0] / s
        m, P = m + K * r, P - np.outer(K, P[0])
        estimates[i, 0], estimates[i, 1] = m[0], np.sqrt(P[0, 0])
    return total, estimates


def loss(logs, zs):
    return run(logs, zs)[0]


def fit(zs):
    """Return the logarithms of both deviations, and their standard errors."""
    found = minimize(value_and_grad(loss), np.array([-1.0, -1.0]), zs, jac=True).x
    return found, np.sqrt(np.diag(np.linalg.inv(hessian(loss)(found, zs))))


def main(path="kalman_filter.png", n=120):
    places, zs = measurements(int(n))
    logs, errors = fit(zs)
    for name, true, log, error in zip(("push", "error"), (PUSH, ERROR), logs, errors, strict=True):
        print(f"{name}: {np.exp(log):.3f} ({true} is true), within a factor of {np.exp(error):.2f}")
    figure = Figure(figsize=(6, 2.7), dpi=120, layout="constrained")
    axes = figure.subplots()
    mean, deviation = run(logs, zs)[1].T
    t = np.arange(len(zs))
    axes.plot(t, zs - places, ".", color="gray", label="measured")
    axes.plot(t, mean - places, label="filter")
    axes.fill_between(t, -2 * deviation, 2 * deviation, alpha=0.25, lw=0)
    axes.set(title="differences from the true place", xlabel="time")
    axes.legend()
    figure.savefig(path, format="png")


if __name__ == "__main__":
    main(*sys.argv[1:])
