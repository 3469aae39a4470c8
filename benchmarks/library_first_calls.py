"""What the first gradients of other people's functions cost, each in a process of its own.

    nox -s library_first_calls
    nox -s library_first_calls -- --only statsmodels

Each function of `formulas` and `likelihoods` is called in a process in which its library and the
engine have been imported, and nothing has been differentiated. The table has the time of the
function, those of the first four gradients (recorded; as a rule, code is made for the second), and
the shortest of four more, the slowest first gradients first. Times are of the processor. Where a
first gradient takes more than a second, the program ends with status 1.
"""

import argparse
import importlib
import json
import os
import time
import warnings

from benchmarks import process
from benchmarks.limits import Limits

GRADIENTS, FIRST = 8, 4
MOST_SECONDS = 1.0  # of a first gradient


def programs():
    """Yield names, and what makes a function, its arguments, and the numbers of some of them."""
    from benchmarks import likelihoods
    from benchmarks.formulas import ALL

    for path in ALL:
        yield path, lambda path=path: formula(path)
    for name, make in {**likelihoods.SM, **likelihoods.SM_SPECIAL}.items():
        yield f"statsmodels, {name}", lambda make=make: likelihood(make)
    for name in likelihoods.KERNELS:
        yield f"scikit-learn, {name}", lambda name=name: marginal(name)
    yield "lmfit, a model with parameters", fitted


def formula(path):
    from benchmarks.formulas import arguments_of, function_of
    from benchmarks.libraries import weighed

    f, (xs, numbers) = function_of(path), arguments_of(path)
    return weighed(f, f(*xs)), xs, numbers


def likelihood(make):
    from benchmarks.likelihoods import module

    value, x, _ = make(module("api"))
    return value, (x,), (0,)


def marginal(name):
    from benchmarks.likelihoods import process_of

    process = process_of(name)
    return process.log_marginal_likelihood, (process.kernel_.theta,), (0,)


def fitted():
    import lmfit
    import numpy as np

    model = lmfit.models.GaussianModel()
    given = model.make_params(amplitude=1.0, center=0.2, sigma=0.7)
    x = np.linspace(-2, 2, 30)

    def value(amplitude, center, sigma):
        y = model.eval(given, x=x, amplitude=amplitude, center=center, sigma=sigma)
        return np.sum(y**2)

    return value, (1.0, 0.2, 0.7), (0, 1, 2)


def measure(make):
    """Return the seconds of the function, and of its gradients one after another."""
    from zygote_lite import value_and_grad

    value, xs, numbers = make()
    differentiated = value_and_grad(value, numbers)
    times = []
    for call in (value, value, *[differentiated] * GRADIENTS):
        start = time.process_time()
        call(*xs)
        times.append(time.process_time() - start)
    return times[1:]


def in_a_process_of_its_own(make):
    """Return what a fork of this process measures, or its error."""
    reading, writing = os.pipe()
    if not os.fork():
        try:
            found = measure(make)
        except Exception as error:
            found = f"{type(error).__name__}: {str(error)[:150]}"
        os.write(writing, json.dumps(found).encode())
        os._exit(0)
    os.close(writing)
    with open(reading) as answer:
        found = json.loads(answer.read())
    os.wait()
    return found


def import_all(chosen):
    """Import what the functions need, so that the forks have it."""
    import rulescore
    from benchmarks import likelihoods

    importlib.import_module("zygote_lite")
    rulescore.find_rule(max, 1.0, 2.0)  # loads the plugins
    if any(name.startswith("scikit-learn") for name, _ in chosen):
        likelihoods.rules_for_distances().register()
    missing = []
    for name, make in chosen:
        try:
            make()
        except ModuleNotFoundError as error:
            missing.append(f"{name}: not installed: {error}")
    return missing


def main():
    """Print the table."""
    process.use_one_core()
    # only now: these import NumPy
    import numpy as np

    from benchmarks import table

    parser = argparse.ArgumentParser(prog="python -m benchmarks.library_first_calls")
    parser.add_argument(
        "--only", default="", metavar="TEXT", help="functions with this in the name"
    )
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    chosen = [(name, make) for name, make in programs() if options.only in name]
    notes = import_all(chosen)
    results = []
    for name, make in chosen:
        found = in_a_process_of_its_own(make)
        if isinstance(found, str):
            notes.append(f"{name}: {found}")
        else:
            results.append((name, found))
    results.sort(key=lambda result: -result[1][1])
    rows = [
        [name, *map(table.duration, (*times[: FIRST + 1], min(times[FIRST + 1 :])))]
        for name, times in results
    ]
    header = ["function", "function", "first", "second", "third", "fourth", "later"]
    print(table.text(header, rows))
    print("\n".join(notes))
    limits = Limits()
    for name, times in results:
        limits.hold(f"{name}, seconds of the first gradient", times[1], MOST_SECONDS)
    limits.end()


if __name__ == "__main__":
    main()
