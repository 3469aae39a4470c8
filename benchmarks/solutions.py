"""What the gradient of the solution of a differential equation costs, in solutions.

Run it as a script. For each method of `solve_ivp`, and for `odeint`, it prints the milliseconds of
a solution, how many of these its value and gradient by three parameters cost, where they are
captured and where they are `args`, and the most memory that the gradient holds beyond that of the
solution, in KiB. Times are of this process, the best of rounds in turns.
"""

import tracemalloc
from time import process_time

import numpy as np
from scipy import integrate as si

from zygote_lite import value_and_grad

PARAMETERS = np.array([1.5, 0.8, 0.15])
METHODS = ("RK23", "RK45", "DOP853", "Radau", "BDF", "LSODA", "odeint")
ROUNDS = 15
TIMES = np.linspace(0.0, 9.0, 10)


def swing(t, y, p):
    """Return the movement of a weight on a spring that is not linear, in air."""
    return np.array([y[1], -p[0] * y[0] - p[1] * y[0] ** 3 - p[2] * y[1]])


def solved(f, method, args):
    """Return where the weight is at the end."""
    if method == "odeint":
        return si.odeint(f, [1.5, 0.0], TIMES, args, tfirst=True, rtol=1e-5, atol=1e-7)[-1, 0]
    found = si.solve_ivp(f, (0.0, 9.0), [1.5, 0.0], method, args=args, rtol=1e-5, atol=1e-7)
    return found.y[0, -1]


def captured(p, method):
    """Return a solution by parameters that the right-hand side captures."""
    return solved(lambda t, y: swing(t, y, p), method, ())


def handed_on(p, method):
    """Return a solution by parameters in `args`."""
    return solved(swing, method, (p,))


def seconds(f, method):
    """Return the time of a call."""
    start = process_time()
    f(PARAMETERS, method)
    return process_time() - start


def memory(f, method):
    """Return the most memory that a call holds."""
    tracemalloc.start()
    f(PARAMETERS, method)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most


def main():
    """Print the table."""
    print(f"{'method':<10}{'solution':>10}{'captured':>10}{'args':>10}{'KiB':>10}")
    for method in METHODS:
        ways = captured, value_and_grad(captured), handed_on, value_and_grad(handed_on)
        for f in ways:
            for _ in range(6):  # until it is transformed
                f(PARAMETERS, method)
        rounds = np.array([[seconds(f, method) for f in ways] for _ in range(ROUNDS)])
        bare, of_captured, other, of_args = np.min(rounds, axis=0)
        held = memory(ways[1], method) - memory(captured, method)
        print(f"{method:<10}{bare * 1e3:>10.2f}{of_captured / bare:>10.1f}"
              f"{of_args / other:>10.1f}{held / 1024:>10.0f}", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
