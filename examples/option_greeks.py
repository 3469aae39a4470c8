"""The greeks of an option, by gradients of its price.

The price of a European call by Black and Scholes has derivatives that traders name by Greek
letters, and textbooks give by formulas. Here they come from the price alone, the second derivative
too, and are compared with the formulas.

    python examples/option_greeks.py option_greeks.png
"""

import sys

import numpy as np
from matplotlib.figure import Figure
from scipy.special import ndtr
from scipy.stats import norm

from zygote_lite import grad

STRIKE, RATE, SPREAD, TIME = 100.0, 0.03, 0.25, 0.5


def price(spot, rate, spread, time):
    """Return the price of a call with the strike `STRIKE`."""
    width = spread * np.sqrt(time)
    d = (np.log(spot / STRIKE) + (rate + spread**2 / 2) * time) / width
    return spot * ndtr(d) - STRIKE * np.exp(-rate * time) * ndtr(d - width)


def by_gradients(spot):
    """Return the greeks for an array of spot prices, by name."""

    def total(spot, rate, spread, time):  # each price depends on its own spot alone
        return np.sum(price(spot, rate, spread, time))

    n = np.ones_like(spot)
    at = spot, RATE * n, SPREAD * n, TIME * n
    delta, rho, vega, theta = grad(total, argnums=(0, 1, 2, 3))(*at)
    gamma = grad(lambda s: np.sum(grad(total)(s, *at[1:])))(spot)
    return {"delta": delta, "gamma": gamma, "vega": vega, "theta": -theta, "rho": rho}


def by_formulas(spot):
    """Return the same by the formulas of textbooks."""
    width = SPREAD * np.sqrt(TIME)
    d = (np.log(spot / STRIKE) + (RATE + SPREAD**2 / 2) * TIME) / width
    discounted = STRIKE * np.exp(-RATE * TIME)
    return {
        "delta": norm.cdf(d),
        "gamma": norm.pdf(d) / (spot * width),
        "vega": spot * norm.pdf(d) * np.sqrt(TIME),
        "theta": -spot * norm.pdf(d) * SPREAD / (2 * np.sqrt(TIME))
        - RATE * discounted * norm.cdf(d - width),
        "rho": TIME * discounted * norm.cdf(d - width),
    }


def main(path="option_greeks.png"):
    spot = np.linspace(60.0, 140.0, 81)
    found, known = by_gradients(spot), by_formulas(spot)
    figure = Figure(figsize=(6, 3.4), dpi=120, layout="constrained")
    *greeks, last = figure.subplots(2, 3).flat
    for axes, name in zip(greeks, found, strict=True):
        axes.plot(spot, found[name], lw=3, label="gradient")
        axes.plot(spot, known[name], "k--", lw=1, label="formula")
        axes.set(title=name, xlabel="spot")
        print(f"{name}: largest difference {np.max(np.abs(found[name] - known[name])):.0e}")
    last.axis("off")
    last.legend(*axes.get_legend_handles_labels(), loc="center")
    figure.savefig(path, format="png")


if __name__ == "__main__":
    main(*sys.argv[1:])
