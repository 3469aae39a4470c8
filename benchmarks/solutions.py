"""What the gradient of the solution of a differential equation costs, in solutions.

Run it as a script. For each problem, by each method of `solve_ivp` and by `odeint`, it prints the
milliseconds of a solution, and how many solutions its value and gradient cost. The limit is
`LIMIT` solutions and the milliseconds of the problem, `BEYOND` for most. What costs more is listed
at the end, and the exit status is 1. Times are of this process, the best of rounds in turns.

    python -m benchmarks.solutions [problem ...] [--methods odeint,RK45]
"""

import argparse
import math
import sys
from collections.abc import Callable
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from scipy import integrate as si

from zygote_lite import value_and_grad

METHODS = ("RK23", "RK45", "DOP853", "Radau", "BDF", "LSODA", "odeint")
LIMIT = 6.0  # solutions
BEYOND = 4.0  # milliseconds
ROUNDS = 15
COUPLED = np.random.default_rng(0).normal(size=(20, 20)) / 20**0.5 - 1.5 * np.eye(20)
NEXT = np.eye(100, k=1) + np.eye(100, k=-1) - 2.0 * np.eye(100)
ROUGH = np.random.default_rng(0).normal(size=50)


def hunted(t, y, p):
    """Return the growth of prey and of those that hunt them (Lotka and Volterra)."""
    both = y[0] * y[1]
    return np.array([p[0] * y[0] - p[1] * both, p[2] * both - p[3] * y[1]])


def relaxing(t, y, p):
    """Return the movement of a relaxation oscillator (van der Pol)."""
    return np.array([y[1], p[0] * ((1 - y[0] ** 2) * y[1] - y[0])])


def reacting(t, y, p):
    """Return the rates of three reactions of very different speeds (Robertson)."""
    slow, back, fast = p[0] * y[0], p[1] * y[1] * y[2], p[2] * y[1] ** 2
    return np.array([back - slow, slow - back - fast, fast])


def swinging(t, y, p):
    """Return the movement of a pendulum in air."""
    return [y[1], -p[0] * np.sin(y[0]) - p[1] * y[1]]


def swinging_alone(t, y, p):
    """Return the same by a function of numbers: it takes no columns."""
    return [y[1], -p[0] * math.sin(y[0]) - p[1] * y[1]]


def driven(t, y, p):
    """Return the movement of a weight on a spring that is pushed."""
    return np.array([y[1], -p[0] * y[0] - p[1] * y[1] + p[2] * np.cos(2 * t)])


def coupled(t, y, p):
    """Return the rates of twenty linear equations."""
    return 0.1 * p + COUPLED @ y


def diffusing(t, y, p):
    """Return the rates of a hundred concentrations on a line, which decay."""
    return p[0] * (NEXT @ y) - 0.1 * y**3


def heated(t, y, p):
    """Return the rates of fifty temperatures on a line."""
    return p[0] * (NEXT[:50, :50] @ y)


class Problem(NamedTuple):
    """A right-hand side, its first value, end and parameters, and how it is solved."""

    f: Callable[..., Any]
    first: list[float]
    end: float
    parameters: list[float]
    count: int  # of the times at which the solution is asked for
    captures: bool = False  # the parameters, which otherwise are `args`
    is_stiff: bool = False  # too much so for explicit methods
    beyond: float = BEYOND

    def total(self, method):
        """Return a function of the parameters: a sum of squares of the solution."""
        f, times = self.f, np.linspace(0.0, self.end, self.count)

        def total(p):
            rate, args = (lambda t, y: f(t, y, p), ()) if self.captures else (f, (p,))
            if method == "odeint":
                found = si.odeint(rate, self.first, times, args, tfirst=True)
            else:
                span = 0.0, self.end
                found = si.solve_ivp(rate, span, self.first, method, times, args=args,
                                     rtol=1e-6, atol=1e-8).y  # fmt: skip
            return np.sum(found**2)

        return total


HUNTED = hunted, [1.0, 1.0], 10.0, [1.5, 1.0, 1.0, 3.0]
PROBLEMS = {
    "prey": Problem(*HUNTED, 10),
    "prey_at_100_times": Problem(*HUNTED, 100),
    "prey_at_1000_times": Problem(*HUNTED, 1000),
    "prey_captured": Problem(*HUNTED, 10, captures=True),
    "van_der_pol": Problem(relaxing, [2.0, 0.0], 2.0, [30.0], 10),
    "robertson": Problem(reacting, [1.0, 0.0, 0.0], 40.0, [0.04, 1e4, 3e7], 10, is_stiff=True),
    "pendulum": Problem(swinging, [1.0, 0.0], 10.0, [2.0, 0.1], 100),
    "pendulum_of_numbers": Problem(swinging_alone, [1.0, 0.0], 10.0, [2.0, 0.1], 100, beyond=12.0),
    "driven_spring": Problem(driven, [1.0, 0.0], 10.0, [2.0, 0.3, 0.5], 100),
    "linear_20": Problem(coupled, [1.0] * 20, 5.0, [1.0] * 20, 10),
    "pendulum_for_a_moment": Problem(swinging, [1.0, 0.0], 1.0, [2.0, 0.1], 2),
    "heat_50": Problem(heated, [*ROUGH], 10.0, [50.0], 50, is_stiff=True, beyond=30.0),
    "robertson_to_1e4": Problem(
        reacting, [1.0, 0.0, 0.0], 1e4, [0.04, 1e4, 3e7], 10, is_stiff=True
    ),
    "diffusion_100": Problem(diffusing, [*np.sin(np.linspace(0, 3, 100))], 1.0, [5.0], 2),
}


def cost(problem, method, rounds=ROUNDS):
    """Return the milliseconds of a solution, and of its value and gradient."""
    total, p = problem.total(method), np.array(problem.parameters)
    both = total, value_and_grad(total)
    for f in both:
        for _ in range(7):  # until it is transformed
            f(p)
    return 1e3 * np.min([[seconds(f, p) for f in both] for _ in range(rounds)], axis=0)


def seconds(f, p):
    """Return the time of a call."""
    start = process_time()
    f(p)
    return process_time() - start


def main():
    """Print the table; return 1 if something costs more than it may."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("problems", nargs="*", metavar="problem", help=", ".join(PROBLEMS))
    parser.add_argument("--methods", default=",".join(METHODS))
    given, missed = parser.parse_args(), []
    methods = given.methods.split(",")
    print(f"{'':<22}{''.join(f'{method:>15}' for method in methods)}")
    for name in given.problems or PROBLEMS:
        problem, row = PROBLEMS[name], f"{name:<22}"
        for method in methods:
            if problem.is_stiff and method in METHODS[:3]:
                row += f"{'-':>15}"
                continue
            bare, whole = cost(problem, method)
            row += f"{bare:>9.2f}{whole / bare:>6.1f}"
            if whole > LIMIT * bare + problem.beyond:
                missed.append(f"{name} by {method}: {whole:.1f} ms, for {bare:.2f} ms")
        print(row, flush=True)
    print("\n".join(missed))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
