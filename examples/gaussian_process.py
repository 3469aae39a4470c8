"""Fit the hyperparameters of a Gaussian process by the gradient of its evidence.

The evidence is written with `scipy.linalg.cho_factor`; its gradient is found by `zygote_lite`.

    python examples/gaussian_process.py gaussian_process.png
"""

import sys

import numpy as np
from matplotlib.figure import Figure
from scipy import linalg, optimize

from zygote_lite import value_and_grad

X = np.linspace(0.0, 10.0, 30) + 0.2 * np.sin(7 * np.arange(30.0))
Y = np.sin(X) + 0.4 * np.cos(2.3 * X) + 0.15 * np.cos(5.7 * np.arange(30.0) ** 2)


def kernel(x, z, length, height):
    """Return the covariances between the values at `x` and at `z`."""
    return height**2 * np.exp(-0.5 * ((x[:, None] - z) / length) ** 2)


def loss(logs):
    """Return the negative logarithm of the evidence, for logarithms of length, height and noise."""
    length, height, noise = np.exp(logs)
    covariance = kernel(X, X, length, height) + noise**2 * np.eye(len(X))
    factor = linalg.cho_factor(covariance, lower=True)
    quadratic = Y @ linalg.cho_solve(factor, Y)
    determinant = 2 * np.sum(np.log(np.diagonal(factor[0])))
    return 0.5 * (quadratic + determinant + len(X) * np.log(2 * np.pi))


def fit(start=(1.0, 0.0, 0.0)):
    """Return the logarithms of the hyperparameters, and the loss after each step."""
    slope, losses = value_and_grad(loss), []
    found = optimize.minimize(slope, np.array(start), jac=True, method="BFGS",
                              callback=lambda logs: losses.append(loss(logs)))  # fmt: skip
    return found.x, [loss(np.array(start)), *losses]


def predict(logs, x):
    """Return the mean and the standard deviation of the function at `x`."""
    length, height, noise = np.exp(logs)
    factor = linalg.cho_factor(kernel(X, X, length, height) + noise**2 * np.eye(len(X)), lower=True)
    across = kernel(X, x, length, height)
    spread = height**2 - np.sum(across * linalg.cho_solve(factor, across), axis=0)
    return across.T @ linalg.cho_solve(factor, Y), np.sqrt(spread)


def draw(path):
    """Draw the process before and after the fit, and the loss."""
    start = np.array([1.0, 0.0, 0.0])
    logs, losses = fit()
    x = np.linspace(-0.5, 10.5, 300)
    figure = Figure(figsize=(6, 2.9), dpi=120, layout="constrained")
    axes = figure.subplots(1, 3)
    for axis, title, at in zip(axes, ("before", "after"), (start, logs), strict=False):
        mean, spread = predict(at, x)
        axis.fill_between(x, mean - 2 * spread, mean + 2 * spread, alpha=0.25, lw=0)
        axis.plot(x, mean)
        axis.plot(X, Y, "k.", ms=4)
        length, height, noise = np.exp(at)
        told = f"length {length:.2f}\nheight {height:.2f}\nnoise {noise:.2f}"
        axis.set(title=title, xlabel=told, ylim=(-2.6, 2.6))
    axes[2].plot(losses, ".-")
    axes[2].set(title="loss", xlabel="step")
    figure.savefig(path, format="png")


if __name__ == "__main__":
    draw(sys.argv[1] if len(sys.argv) > 1 else "gaussian_process.png")
