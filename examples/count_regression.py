"""Regression of counts: Poisson's and the negative binomial one, by log-likelihoods with `gammaln`.

Counts vary more than Poisson's distribution lets them. The negative binomial one has a parameter
for that: the variance is `mean + alpha * mean**2`. Both are fitted by the gradients of their
log-likelihoods, and the standard errors come from the second derivatives.

    python examples/count_regression.py count_regression.png
"""

import sys

import numpy as np
from matplotlib.figure import Figure
from scipy import optimize, stats
from scipy.special import gammaln

from zygote_lite import hessian, value_and_grad

TRUE = np.array([0.8, 0.6, 0.5])  # intercept, slope, and alpha


def counts(n=300, seed=0):
    """Return a matrix with a constant and a variable, and counts that depend on the variable."""
    rng = np.random.default_rng(seed)
    X = np.stack([np.ones(n), rng.uniform(-2, 3, n)], axis=1)
    mean = np.exp(X @ TRUE[:2])
    return X, rng.poisson(mean * rng.gamma(1 / TRUE[2], TRUE[2], n)).astype(float)


def poisson(params, X, y):
    """Return the log-likelihood of a Poisson regression."""
    eta = X @ params
    return np.sum(y * eta - np.exp(eta) - gammaln(y + 1))


def negative_binomial(params, X, y):
    """Return the log-likelihood of a negative binomial regression; `alpha` comes last."""
    mean, size = np.exp(X @ params[:-1]), 1 / params[-1]
    of_count = gammaln(y + size) - gammaln(size) - gammaln(y + 1)
    return np.sum(of_count - size * np.log1p(mean / size) + y * np.log(mean / (mean + size)))


def fit(loglike, start, X, y):
    """Return the parameters of largest likelihood, with their standard errors."""
    objective = value_and_grad(lambda params: -loglike(params, X, y))
    bounds = [(None, None), (None, None), (1e-6, None)][: len(start)]
    found = optimize.minimize(objective, start, jac=True, bounds=bounds, tol=1e-12).x
    information = -hessian(loglike)(found, X, y)
    return found, np.sqrt(np.diag(np.linalg.inv(information)))


def main(path="count_regression.png"):
    X, y = counts()
    rate, rate_errors = fit(poisson, np.zeros(2), X, y)
    params, errors = fit(negative_binomial, np.array([0.0, 0.0, 1.0]), X, y)
    for fitted in (zip(rate, rate_errors, strict=True), zip(params, errors, strict=True)):
        print(*(f"{value:.2f} ± {error:.2f}" for value, error in fitted))
    figure = Figure(figsize=(6, 2.7), dpi=120, layout="constrained")
    left, right = figure.subplots(1, 2)
    left.scatter(X[:, 1], y, s=8, color="gray")
    right.bar(range(16), [np.sum(y == i) for i in range(16)], color="lightgray")
    x, size = np.linspace(-2, 3, 200), 1 / params[-1]
    fits = (
        (stats.poisson, rate, "C1", "Poisson"),
        (lambda mean: stats.nbinom(size, size / (size + mean)), params, "C0", "negative binomial"),
    )
    for of_mean, found, color, label in fits:
        mean = np.exp(found[0] + found[1] * x)
        left.plot(x, mean, color, label=label)
        left.fill_between(x, *of_mean(mean).interval(0.9), color=color, alpha=0.2, linewidth=0)
        odds = of_mean(np.exp(X @ found[:2])[:, None]).pmf(np.arange(16)).sum(axis=0)
        right.plot(odds, color, marker="o")
    left.set(title="mean, and 90 % of the counts", xlabel="$x$")
    left.legend()
    right.set(title="how often each count comes", xlabel="count")
    figure.savefig(path, format="png")


if __name__ == "__main__":
    main(*sys.argv[1:])
