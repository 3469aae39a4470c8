"""What value and gradient of other people's formulas cost, each as it is published.

    nox -s library_benchmark
    nox -s library_benchmark -- --only colour --rounds 5

runs it with the versions of `requirements-libraries.txt`. For each formula of `formulas` it prints
how long a call of the function takes, value and gradient as a multiple of that (medians of rounds
in turns, in one process on one core), the first gradient, and which way answers: transformed code,
with islands or without, or the tape, and why. Below are the quartiles and nine tenths: of the
multiples of all functions, of those that take at least 20 microseconds, and, of the shorter ones,
the microseconds of a call.

The number that is differentiated is the value of the function, or, of arrays, tuples and dicts,
their weighted sum. A formula that fails is listed with its error. `docs/libraries.md` has figures.
"""

import argparse
import math
import statistics
import sys
import warnings
from dataclasses import dataclass

from benchmarks import process

SHORT = 20e-6  # seconds
LIMIT = 1.5  # seconds for the rounds of one formula
TIERS = ("transformed", "with an island", "recorded", "failed")


@dataclass
class Found:
    """What was measured of one formula."""

    path: str
    tier: str
    reason: str = ""
    function: float = math.nan  # seconds
    gradient: float = math.nan
    first: float = math.nan

    @property
    def multiple(self):
        """The time of the gradient, as a multiple of that of the function."""
        return self.gradient / self.function


def measure(path, rounds):
    """Return what one formula costs."""
    from benchmarks import runner
    from benchmarks.formulas import arguments_of, function_of
    from zygote_lite import testing, value_and_grad

    function, (xs, numbers) = function_of(path), arguments_of(path)
    value = weighed(function, function(*xs))
    testing.forget(value)  # what was made of another formula's sum
    differentiated = value_and_grad(value, numbers)
    with testing.observed() as answers:
        try:
            _, first, _ = runner.first_call(differentiated, xs)
            for _ in range(runner.WARM):
                differentiated(*xs)
        except Exception as error:
            return Found(path, "failed", f"{type(error).__name__}: {str(error)[:100]}")
    answer = answers[-1]
    calls = {
        name: (call, xs, runner.batch_size(call, xs))
        for name, call in (("function", value), ("gradient", differentiated))
    }
    once = sum(runner.batch(*call) * (1 + 1 / call[2]) for call in calls.values())
    timed = runner.in_turns(calls, max(3, min(rounds, int(LIMIT / once))))
    seconds = {name: statistics.median(found) for name, found in timed.items()}
    return Found(path, *told(answer, value), **seconds, first=first)


def told(answer, value):
    """Return which way answered, and why it was not transformed code alone."""
    from zygote_lite import testing

    if not answer.is_transformed:
        return "recorded", answer.reason
    notes = [
        line.strip("# ")
        for text in testing.programs(value)
        for line in text.splitlines()
        if "is recorded" in line
    ]
    return ("with an island", notes[0]) if notes else ("transformed", "")


def weighed(f, y):
    """Return a function whose value is one number, of one whose value may be `y`."""
    import numpy as np

    if isinstance(y, float):
        return f
    if hasattr(y, "shape"):
        weights = weights_of(y)
        return lambda *xs: np.sum(f(*xs) * weights)
    names = [*y] if isinstance(y, dict) else [*range(len(y))]
    numbers = [name for name in names if not np.ndim(y[name])]
    arrays = [(name, weights_of(y[name])) for name in names if np.ndim(y[name])]

    def sum_of_parts(*xs):
        y = f(*xs)
        total = 0.0
        for name in numbers:
            total = total + y[name]
        for name, weights in arrays:
            total = total + np.sum(y[name] * weights)
        return total

    return sum_of_parts


def weights_of(y):
    """Return a weight for each entry of an array."""
    import numpy as np

    return np.cos(np.arange(np.size(y))).reshape(np.shape(y))


def quartiles(figures):
    """Return the quartiles of figures and their nine tenths, as text."""
    if len(figures) < 2:
        return f"of {len(figures)}"
    low, middle, high = statistics.quantiles(figures, n=4, method="inclusive")
    most = statistics.quantiles(figures, n=10, method="inclusive")[-1]
    return (
        f"of {len(figures)}: quarter {low:.1f}, median {middle:.1f}, three quarters {high:.1f}, "
        f"nine tenths {most:.1f}"
    )


def summary(results):
    """Return the quartiles, and how many formulas each way answers."""
    timed = [found for found in results if found.tier != "failed"]
    long = [found for found in timed if found.function >= SHORT]
    short = [found for found in timed if found.function < SHORT]
    counts = [sum(found.tier == tier for found in results) for tier in TIERS]
    return "\n".join(
        (
            ", ".join(f"{tier} {count}" for tier, count in zip(TIERS, counts)),
            f"multiples of the function, {quartiles([found.multiple for found in timed])}",
            f"from 20 us on, {quartiles([found.multiple for found in long])}",
            f"below 20 us, us a call, {quartiles([found.gradient * 1e6 for found in short])}",
        )
    )


def rows_of(results):
    """Return the header and the rows of the table."""
    from benchmarks.table import duration, figure

    header = ["formula", "function", "gradient", "first call", "by", "because"]
    rows = [
        [
            found.path,
            *(["-"] * 3 if found.tier == "failed" else costs(found, duration, figure)),
            found.tier,
            found.reason,
        ]
        for found in results
    ]
    return header, rows


def costs(found, duration, figure):
    """Return the figures of one formula as text."""
    return [duration(found.function), figure(found.multiple), duration(found.first)]


def main():
    """Measure the formulas that were asked for, and print them."""
    process.use_one_core()
    # only now: these import NumPy
    import numpy as np

    from benchmarks import table
    from benchmarks.formulas import ALL
    from zygote_lite import value_and_grad

    options = parse()
    value_and_grad(lambda x: x * x)(1.0)  # loads the rules
    warnings.simplefilter("ignore")
    results = []
    with np.errstate(all="ignore"):
        for path in ALL:
            if options.only in path:
                print(f"{path} ...", file=sys.stderr, flush=True)
                results.append(measure(path, options.rounds))
    header, rows = rows_of(results)
    print(table.markdown(header, rows) if options.markdown else table.text(header, rows))
    print(f"\n{summary(results)}")
    libraries = dict.fromkeys(found.path.partition(".")[0] for found in results)
    print(f"\n{process.circumstances(('numpy', 'zygote_lite', *libraries))}")


def parse():
    """Return the options."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.libraries")
    parser.add_argument("--only", default="", metavar="TEXT", help="formulas with this in the path")
    parser.add_argument("--rounds", type=int, default=9, help="at most so many (9)")
    parser.add_argument("--markdown", action="store_true", help="the table of docs/libraries.md")
    return parser.parse_args()


if __name__ == "__main__":
    main()
