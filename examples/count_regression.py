"""Regression of counts: Poisson's and the negative binomial one, by log-likelihoods with `gammaln`.

Counts vary more than Poisson's distribution lets them. The negative binomial one has a parameter
for that: the variance is `mean + alpha * mean**2`. Both are fitted by the gradients of their
log-likelihoods, and the standard errors come from the second derivatives.

    python examples/count_regression.py --out count_regression.png
"""

import argparse

import numpy as np
from matplotlib.figure import Figure
from polynomial_data import picture_path
from rich.console import Console
from rich.table import Table
from scipy import optimize, stats
from scipy.special import gammaln

from zygote_lite import hessian, value_and_grad

TRUE = np.array([0.8, 0.6, 0.5])  # intercept, slope, and alpha
NAMES = ("intercept", "slope", "alpha")


def counts(n=300, seed=0):
    """Return a matrix with a constant and a variable, and counts that depend on the variable."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-2, 3, n)
    X = np.stack([np.ones(n), x], axis=1)
    mean = np.exp(X @ TRUE[:2])
    return X, rng.poisson(mean * rng.gamma(1 / TRUE[2], TRUE[2], n)).astype(float)


def poisson(params, X, y):
    """Return the log-likelihood of a Poisson regression; its logarithm of the mean is linear."""
    eta = X @ params
    return np.sum(y * eta - np.exp(eta) - gammaln(y + 1))


def negative_binomial(params, X, y):
    """Return the log-likelihood of a negative binomial regression; `alpha` comes last."""
    mean, size = np.exp(X @ params[:-1]), 1 / params[-1]
    of_count = gammaln(y + size) - gammaln(size) - gammaln(y + 1)
    return np.sum(of_count - size * np.log1p(mean / size) + y * np.log(mean / (mean + size)))


def fit(loglike, start, X, y):
    """Return the parameters of largest likelihood, with their standard errors."""

    def objective(params):
        value, slope = value_and_grad(loglike)(params, X, y)
        return -value, -slope

    bounds = [(None, None), (None, None), (1e-6, None)][: len(start)]
    found = optimize.minimize(objective, start, jac=True, bounds=bounds, tol=1e-12).x
    information = -hessian(loglike)(found, X, y)
    return found, np.sqrt(np.diag(np.linalg.inv(information)))


def draw(X, y, rate, params, path):
    """Write a picture to `path`: the counts with both fits, and how often each count comes."""
    figure = Figure(figsize=(10, 4.2), dpi=90, layout="constrained")
    left, right = figure.subplots(1, 2)
    left.scatter(X[:, 1], y, s=8, color="gray", label="data")
    x = np.linspace(-2, 3, 200)
    plane = np.stack([np.ones(200), x], axis=1)
    size = 1 / params[-1]
    means = np.exp(plane @ rate), np.exp(plane @ params[:-1])
    spreads = stats.poisson(means[0]), stats.nbinom(size, size / (size + means[1]))
    labels = "Poisson", "negative binomial"
    for mean, spread, label, color in zip(means, spreads, labels, ("C1", "C0"), strict=True):
        left.plot(x, mean, color, label=label)
        left.fill_between(x, *spread.interval(0.9), color=color, alpha=0.2, linewidth=0)
    left.set(title="mean, and where 90 % of the counts are", xlabel="$x$", ylabel="count")
    left.legend()

    k = np.arange(16)
    right.bar(k, [np.sum(y == i) for i in k], color="lightgray", label="data")
    mean = np.exp(X @ rate)[:, None]
    right.plot(k, stats.poisson.pmf(k, mean).sum(0), "C1o-", label=labels[0])
    mean = np.exp(X @ params[:-1])[:, None]
    right.plot(k, stats.nbinom.pmf(k, size, size / (size + mean)).sum(0), "C0o-", label=labels[1])
    right.set(title="how often each count comes", xlabel="count", ylabel="of 300")
    right.legend()
    figure.savefig(path, format="png")


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default=".", help="the picture, or a directory for it")
    given = parser.parse_args(arguments)

    X, y = counts()
    rate, rate_errors = fit(poisson, np.zeros(2), X, y)
    params, errors = fit(negative_binomial, np.array([0.0, 0.0, 1.0]), X, y)
    table = Table("parameter", "true", "Poisson", "negative binomial")
    for i, name in enumerate(NAMES):
        first = f"{rate[i]:.2f} ± {rate_errors[i]:.2f}" if i < 2 else ""
        table.add_row(name, f"{TRUE[i]:.2f}", first, f"{params[i]:.2f} ± {errors[i]:.2f}")
    Console().print(table)
    path = picture_path(given.out, "count_regression.png")
    draw(X, y, rate, params, path)
    print(f"picture: {path}")


if __name__ == "__main__":
    main()
