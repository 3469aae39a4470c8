"""Fit a mixture of two distributions by the log-densities of `scipy.stats`.

Waiting times at a counter: most customers are served at once, in a time with a gamma distribution;
the others come with a problem, which takes a time with a normal distribution. The parameters of
both, and the share of the others, are found at the largest likelihood, by its gradient.

    python examples/mixture.py mixture.png
"""

import sys

import numpy as np
from matplotlib.figure import Figure
from scipy import optimize, special, stats

from zygote_lite import value_and_grad

TRUE = {"share": 0.3, "shape": 2.0, "scale": 1.5, "mean": 9.0, "deviation": 1.2}
START = np.array([0.0, 0.0, 0.5, 2.0, 0.5])


def times(n=400, seed=0):
    """Return waiting times: `n` draws from the mixture."""
    rng = np.random.default_rng(seed)
    quick = rng.gamma(TRUE["shape"], TRUE["scale"], n)
    slow = rng.normal(TRUE["mean"], TRUE["deviation"], n)
    return np.where(rng.random(n) < TRUE["share"], slow, quick)


def named(free):
    """Return the parameters by name, from unconstrained numbers."""
    return dict(zip(TRUE, (special.expit(free[0]), *np.exp(free[1:])), strict=True))


def log_density(p, x):
    quick = np.log1p(-p["share"]) + stats.gamma.logpdf(x, p["shape"], scale=p["scale"])
    slow = np.log(p["share"]) + stats.norm.logpdf(x, p["mean"], p["deviation"])
    return special.logsumexp(np.stack([quick, slow]), axis=0)


def loss(free, x):
    return -np.mean(log_density(named(free), x))


def fit(x, iterations=100):
    """Return the parameters of largest likelihood, and the losses on the way to them."""
    losses = []

    def objective(free):
        value, slope = value_and_grad(loss)(free, x)
        losses.append(value)
        return value, slope

    found = optimize.minimize(objective, START, jac=True, options={"maxiter": iterations})
    return named(found.x), losses


def main(path="mixture.png", iterations=100):
    x = times()
    p, losses = fit(x, int(iterations))
    for name, true in TRUE.items():
        print(f"{name:10} {true:6.2f}, fitted {p[name]:.2f}")
    figure = Figure(figsize=(6, 2.7), dpi=120, layout="constrained")
    left, right = figure.subplots(1, 2)
    left.hist(x, 40, density=True, color="lightgray", label="data")
    t, share = np.linspace(0.01, x.max() + 1, 400), p["share"]
    left.plot(t, np.exp(log_density(p, t)), "C0", label="mixture")
    quick = (1 - share) * stats.gamma.pdf(t, p["shape"], scale=p["scale"])
    left.plot(t, quick, "C1--", label="quick")
    left.plot(t, share * stats.norm.pdf(t, p["mean"], p["deviation"]), "C2--", label="slow")
    left.set(title="waiting times", xlabel="minutes")
    left.legend(fontsize=8)
    right.plot(losses)
    right.set(title="minus log-likelihood", xlabel="evaluation")
    figure.savefig(path, format="png")


if __name__ == "__main__":
    main(*sys.argv[1:])
