"""The law of a spring, from how it swings: its parameters are found through `solve_ivp`.

A weight hangs on a spring that is harder the more it is stretched (`k` and `q`), in air that slows
it down (`c`). Its position was measured at some times. The gradient of the misfit is the exact
reverse of the steps of SciPy's method.

    python examples/spring.py spring.png
"""

import sys

import numpy as np
from matplotlib.figure import Figure
from scipy.integrate import solve_ivp
from scipy.optimize import minimize

from zygote_lite import jacobian, value_and_grad

TRUE, START = np.array([1.5, 0.8, 0.15]), np.array([2.2, 0.3, 0.4])
NAMES = ("k", "q", "c")
TIMES = np.linspace(0.2, 9.0, 23)
NOISE = 0.05


def force(p, y):
    """Return the force of the spring that is stretched by `y`."""
    return -p[0] * y - p[1] * y**3


def path(p, times):
    """Return where the weight is at some times: it is let go at 1.5."""

    def rate(t, y):
        return np.array([y[1], force(p, y[0]) - p[2] * y[1]])

    return solve_ivp(rate, (0.0, 9.0), [1.5, 0.0], t_eval=times, rtol=1e-5, atol=1e-7).y[0]


def measurements(seed=1):
    return path(TRUE, TIMES) + NOISE * np.random.default_rng(seed).normal(size=len(TIMES))


def loss(p, seen):
    """Return minus the log-likelihood of measurements, but for a constant."""
    return 0.5 * np.sum((path(p, TIMES) - seen) ** 2) / NOISE**2


def fit(seen):
    """Return the parameters, and how often the gradient was computed."""
    found = minimize(value_and_grad(loss), START, seen, jac=True, bounds=[(0.0, 3.0)] * 3)
    return found.x, found.njev


def main(path_of_picture="spring.png"):
    seen = measurements()
    found, count = fit(seen)
    slopes = jacobian(path)(found, TIMES)
    errors = NOISE * np.sqrt(np.diag(np.linalg.inv(slopes.T @ slopes)))
    for name, true, value, error in zip(NAMES, TRUE, found, errors, strict=True):
        print(f"{name}: {value:.2f} ± {error:.2f} ({true} is true)")
    print(f"{count} gradients")
    figure = Figure(figsize=(6, 3), dpi=120, layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(2, 1))
    times, stretched = np.linspace(0.0, 9.0, 200), np.linspace(-1.6, 1.6, 50)
    for p, style, label in ((START, "C1:", "at first"), (found, "C0", "found")):
        left.plot(times, path(p, times), style, label=label)
        right.plot(stretched, force(p, stretched), style)
    left.plot(TIMES, seen, "k.", label="measured")
    right.plot(stretched, force(TRUE, stretched), "k--", lw=1, label="true")
    left.set(title="where the weight is", xlabel="time")
    right.set(title="the force", xlabel="stretched by")
    figure.legend(loc="outside lower center", ncols=4, frameon=False)
    figure.savefig(path_of_picture, format="png")


if __name__ == "__main__":
    main(*sys.argv[1:])
