"""What a call of an elementwise rule of `scipy.special` costs beyond SciPy's own calls.

Run it as a script, with names of functions if not all. For each function, with numbers and with
arrays of three entries, it prints microseconds: SciPy's call of the function, what
`rrule(f, *xs)` takes beyond it, SciPy's calls that the pullback makes, and what `back(dy)` takes
beyond these: medians of rounds in turns. What is over the limit is marked.
"""

import contextlib
import importlib
import sys
import timeit
from statistics import median

import numpy as np
from scipy import special

from rules_scipy import SECTIONS
from rulescore import rrule

LIMIT = 2.0  # microseconds, forward and back alike
ROUNDS = 31
SHARED = ("expansions", "incomplete", "noncentral", "scaled_chi", "panels", "quadrature")
MODULES = [
    *(importlib.import_module(f"rules_scipy.special.{name}") for name in SECTIONS["scipy.special"]),
    *(importlib.import_module(f"rules_scipy.shared.{name}") for name in SHARED),
]


class Noting:
    """Stand for `scipy.special` in rules, and note what is called."""

    def __init__(self):
        self.calls = []

    def __getattr__(self, name):
        f = getattr(special, name)
        if not callable(f):
            return f

        def call(*xs, **options):
            self.calls.append((f, xs, options))
            return f(*xs, **options)

        return call


@contextlib.contextmanager
def noted():
    """Give the calls of SciPy's functions that rules make."""
    noting = Noting()
    replaced = [module for module in MODULES if getattr(module, "sp", None) is special]
    for module in replaced:
        module.sp = noting
    try:
        yield noting.calls
    finally:
        for module in replaced:
            module.sp = special


def cases():
    """Give each elementwise function with arguments, of which one may be an array."""
    seen = set()
    for name in SECTIONS["scipy.special"]:
        rule = importlib.import_module(f"rules_scipy.special.{name}").rule
        for f, xs, _ in rule.examples:
            if isinstance(f, np.ufunc) and f not in seen and not any(map(np.iscomplexobj, xs)):
                seen.add(f)
                yield f, xs


def number(x):
    """Return an argument as one number."""
    return x if isinstance(x, int | float) else np.ravel(x)[0].item()


def of_three(x):
    """Return an argument as an array of three numbers, unless it is an integer."""
    return x if isinstance(x, int) else np.resize(np.asarray(x, float), 3)


def microseconds(*calls):
    """Return the time of each call, the median of many short runs in turns."""
    number = [max(3, int(0.0005 / timeit.timeit(call, number=3) * 3)) for call in calls]
    times = [
        [timeit.timeit(call, number=n) / n * 1e6 for call, n in zip(calls, number, strict=True)]
        for _ in range(ROUNDS)
    ]
    return [median(column) for column in zip(*times, strict=True)]


def measured(f, xs):
    """Return the times of SciPy's calls, forward and back, each with what the rule adds."""
    y, back = rrule(f, *xs)
    dy = tuple([v * 0 + 1.5 for v in y]) if isinstance(y, tuple) else y * 0 + 1.5
    refused = back.rule.refuses
    needed = [False, *(i not in refused for i in range(len(xs)))]
    back = back.only(needed) if refused else back
    with noted() as calls:
        back(dy)

    def own_calls():
        for g, given, options in calls:
            g(*given, **options)

    plain, forward, own, backward = microseconds(
        lambda: f(*xs), lambda: rrule(f, *xs), own_calls, lambda: back(dy)
    )
    return plain, forward - plain, own, backward - own


def main(wanted):
    """Print the table."""
    np.seterr(all="ignore")
    over = 0
    heads = ("call", "rule", "own calls", "back")
    for told, change in (("number", number), ("array of 3", of_three)):
        print(f"\n{told:<24}" + "".join(f"{head:>10}" for head in heads))
        for f, xs in cases():
            if wanted and f.__name__ not in wanted:
                continue
            times = measured(f, [change(x) for x in xs])
            mark = max(times[1], times[3]) > LIMIT
            over += mark
            print(f"{f.__name__:<24}" + "".join(f"{t:>10.2f}" for t in times) + "  over" * mark)
    print(f"\n{over} over the limit of {LIMIT} us")


if __name__ == "__main__":
    main(sys.argv[1:])
