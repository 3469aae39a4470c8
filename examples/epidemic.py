"""The parameters of an epidemic, with their uncertainty: an ODE, its likelihood, and the Hessian.

Each day some meet, and some of these fall ill (rate `a`); the ill recover (rate `b`). Both rates,
and how many were ill at first, are found from daily counts; the Hessian at the maximum of the
likelihood gives their covariance, and the band around the curve.

    python examples/epidemic.py epidemic.png
"""

import sys

import numpy as np
from matplotlib.figure import Figure
from scipy.optimize import minimize

from zygote_lite import hessian, jacobian, value_and_grad

TRUE = np.log([0.45, 0.15, 3.0])
PEOPLE, DAYS = 1000.0, 60
NAMES = ("a", "b", "ill at first")


def ill(logs):
    """Return how many are ill on each day."""
    a, b, first = np.exp(logs)
    days = np.zeros(DAYS)
    s, i = PEOPLE - first, first
    for day in range(DAYS):
        for _ in range(4):  # steps of a quarter of a day
            fall, recover = a * s * i / PEOPLE / 4, b * i / 4
            s, i = s - fall, i + fall - recover
        days[day] = i
    return days


def counts(seed=0):
    return np.random.default_rng(seed).poisson(ill(TRUE)).astype(float)


def loss(logs, seen):
    """Return minus the log-likelihood of counts with Poisson's distribution, but for a constant."""
    mean = ill(logs)
    return np.sum(mean - seen * np.log(mean))


def fit(seen):
    """Return the logarithms of the parameters, and their covariance."""
    start = np.log([0.3, 0.2, 5.0])
    found = minimize(value_and_grad(loss), start, seen, jac=True).x
    return found, np.linalg.inv(hessian(loss)(found, seen))


def main(path="epidemic.png"):
    seen = counts()
    found, covariance = fit(seen)
    errors = np.sqrt(np.diag(covariance))
    for name, true, log, error in zip(NAMES, TRUE, found, errors, strict=True):
        value = np.exp(log)
        print(f"{name}: {value:.3f} ± {value * error:.3f} ({np.exp(true):.3g} is true)")
    slopes = jacobian(ill)(found)
    band = 2 * np.sqrt(np.sum(slopes @ covariance * slopes, axis=1))
    figure = Figure(figsize=(6, 2.7), dpi=120, layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(2, 1))
    left.plot(seen, "k.", label="counted")
    left.plot(ill(found), label="fit")
    left.fill_between(range(DAYS), ill(found) - band, ill(found) + band, alpha=0.3, lw=0)
    left.set(title="how many are ill", xlabel="day")
    left.legend()
    drawn = np.exp(np.random.default_rng(1).multivariate_normal(found, covariance, 500))
    right.plot(drawn[:, 0], drawn[:, 1], ".", ms=3, alpha=0.5)
    right.plot(*np.exp(TRUE[:2]), "k+", ms=12)
    right.set(title="likely rates", xlabel="a", ylabel="b")
    figure.savefig(path, format="png")


if __name__ == "__main__":
    main(*sys.argv[1:])
