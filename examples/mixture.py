"""Fit a mixture of two distributions by the log-densities of `scipy.stats`.

Waiting times at a counter: most customers are served at once, in a time with a gamma distribution;
the others come with a problem, which takes a time with a normal distribution. The parameters of
both, and the share of the others, are found at the largest likelihood, by its gradient.

    python examples/mixture.py --out mixture.png
"""

import argparse

import numpy as np
from matplotlib.figure import Figure
from polynomial_data import picture_path
from rich.console import Console
from rich.table import Table
from scipy import optimize, special, stats

from zygote_lite import value_and_grad

NAMES = ("share", "shape", "scale", "mean", "deviation")
TRUE = {"share": 0.3, "shape": 2.0, "scale": 1.5, "mean": 9.0, "deviation": 1.2}
START = np.array([0.0, 0.0, 0.5, 2.0, 0.5])


def times(n=400, seed=0):
    """Return waiting times: `n` draws from the mixture."""
    rng = np.random.default_rng(seed)
    quick = stats.gamma.rvs(TRUE["shape"], scale=TRUE["scale"], size=n, random_state=rng)
    slow = stats.norm.rvs(TRUE["mean"], TRUE["deviation"], size=n, random_state=rng)
    return np.where(rng.random(n) < TRUE["share"], slow, quick)


def named(free):
    """Return the parameters by name, from an array of unconstrained numbers."""
    share = special.expit(free[0])
    shape, scale, mean, deviation = np.exp(free[1:])
    return dict(zip(NAMES, (share, shape, scale, mean, deviation), strict=True))


def log_density(p, x):
    """Return the logarithm of the density of the mixture at each of `x`."""
    quick = np.log1p(-p["share"]) + stats.gamma.logpdf(x, p["shape"], scale=p["scale"])
    slow = np.log(p["share"]) + stats.norm.logpdf(x, p["mean"], p["deviation"])
    return special.logsumexp(np.stack([quick, slow]), axis=0)


def loss(free, x):
    """Return the mean of minus the log-likelihood."""
    return -np.mean(log_density(named(free), x))


def fit(x, max_iters=100):
    """Return the parameters of largest likelihood, and the losses on the way to them."""
    losses = []

    def objective(free):
        value, slope = value_and_grad(loss)(free, x)
        losses.append(value)
        return value, slope

    found = optimize.minimize(objective, START, jac=True, options={"maxiter": max_iters})
    return named(found.x), losses


def draw(x, p, losses, path):
    """Write a picture to `path`: the data with the mixture and its parts, and the losses."""
    figure = Figure(figsize=(10, 4.2), dpi=90, layout="constrained")
    left, right = figure.subplots(1, 2)
    left.hist(x, 40, density=True, color="lightgray", label="data")
    t = np.linspace(0.01, x.max() + 1, 400)
    left.plot(t, np.exp(log_density(p, t)), "C0", label="mixture")
    quick = (1 - p["share"]) * stats.gamma.pdf(t, p["shape"], scale=p["scale"])
    left.plot(t, quick, "C1--", label="quick")
    left.plot(t, p["share"] * stats.norm.pdf(t, p["mean"], p["deviation"]), "C2--", label="slow")
    left.set(title="waiting times", xlabel="minutes", ylabel="density")
    left.legend()
    right.plot(losses)
    right.set(title="fit", xlabel="evaluation", ylabel="minus log-likelihood, mean")
    right.xaxis.get_major_locator().set_params(integer=True)
    right.grid(alpha=0.3)
    figure.savefig(path, format="png")


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default=".", help="the picture, or a directory for it")
    parser.add_argument("--iterations", type=int, default=100)
    given = parser.parse_args(arguments)

    x = times()
    p, losses = fit(x, given.iterations)
    table = Table("parameter", "true", "fitted")
    for name in NAMES:
        table.add_row(name, f"{TRUE[name]:.2f}", f"{p[name]:.2f}")
    Console().print(table)
    path = picture_path(given.out, "mixture.png")
    draw(x, p, losses, path)
    print(f"picture: {path}")


if __name__ == "__main__":
    main()
