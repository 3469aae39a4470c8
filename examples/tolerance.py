"""How exact the gradient of a solution is, by the tolerance that the solver is given.

A root, a minimum and a system of which formulas tell the derivative. The error of the gradient is
about that of the solution: it is the derivative of the equation where the solver has stopped.

    python examples/tolerance.py tolerance.png
"""

import sys

import numpy as np
from matplotlib.figure import Figure
from scipy import optimize

from zygote_lite import value_and_grad

TOLERANCES = 10.0 ** -np.arange(3, 12)
C = 2.0


def root(c, tol):
    """Return the cube root of `c`."""
    return optimize.bisect(lambda x: x**3 - c, 0.0, 3.0, xtol=tol)


def minimum(c, tol):
    """Return the logarithm of `c`, where the function is minimal."""

    def f(x):
        return np.exp(x[0]) - c * x[0] + (x[1] - x[0]) ** 2

    return optimize.minimize(f, np.ones(2), method="Nelder-Mead", tol=tol).x[0]


def solution(c, tol):
    """Return the square root of `c`, from two equations."""
    return optimize.root(lambda x: [x[0] * x[1] - c, x[0] - x[1]], [1.0, 3.0], tol=tol).x[0]


CASES = {
    "root by bisect": (root, C ** (1 / 3), C ** (-2 / 3) / 3),
    "minimum by Nelder-Mead": (minimum, np.log(C), 1 / C),
    "system by root": (solution, C**0.5, 0.5 / C**0.5),
}


def errors(name):
    """Return the errors of the solution and of its gradient, for each tolerance."""
    f, value, slope = CASES[name]
    found = np.array([value_and_grad(f)(C, tol) for tol in TOLERANCES])
    return np.abs(found - (value, slope)).T


def main(path="tolerance.png"):
    figure = Figure(figsize=(6, 2.5), dpi=120, layout="constrained")
    for axes, name in zip(figure.subplots(1, 3, sharey=True), CASES, strict=True):
        of_value, of_gradient = errors(name) + 1e-17
        print(f"{name}: {of_gradient[-1]:.0e} at a tolerance of {TOLERANCES[-1]:.0e}")
        axes.loglog(TOLERANCES, of_value, "o-", label="solution")
        axes.loglog(TOLERANCES, of_gradient, "s--", label="gradient")
        axes.loglog(TOLERANCES, TOLERANCES, "k:", lw=1, label="tolerance")
        axes.set_title(name, fontsize=9)
        axes.set_xlabel("tolerance")
    axes.legend()
    figure.savefig(path, format="png")


if __name__ == "__main__":
    main(*sys.argv[1:])
