"""All methods of all distributions of `scipy.stats`, against differences of several steps.

    python -m tests.rules_scipy.sweep [part of a name ...]

It prints what is not right, and how many derivatives are: by each argument of each method, with the
parameters with which SciPy tests its distributions. What may be refused is in `REFUSED`. A
distribution that takes longer than `SECONDS` of the processor is left there.
"""

import signal
import sys
import time
import warnings
from collections import Counter
from contextlib import contextmanager
from itertools import groupby

import numpy as np
from scipy import stats
from scipy.stats import _distr_params

from zygote_lite import gradient
from zygote_lite.errors import DifferentiationError

SECONDS = 300.0
SLOW = 0.05  # seconds of a call from which on fewer differences are taken
AT_X = ("cdf", "logcdf", "sf", "logsf")
AT_Q = ("ppf", "isf")
MOMENTS = ("mean", "var", "std", "entropy", "median")
COUNT = "the parameter is a count, and no derivative by it exists"
ALGORITHMS = "SciPy computes the density by several algorithms, of which no derivative is known"
REFUSED = {
    **{name: {"": COUNT} for name in ("hypergeom", "irwinhall", "ksone")},
    **{f"nchypergeom_{name}": {"": COUNT} for name in ("fisher", "wallenius")},
    "kstwo": {"": COUNT, "pdf": ALGORITHMS, "logpdf": ALGORITHMS},
}
MISSED = "SciPy's integral misses a density whose support is long"
ROUNDED = "SciPy's integral has eight digits, and so have its differences"
INACCURATE = {"kappa4": {"entropy": MISSED}, "johnsonsb": {"var": ROUNDED}}


def cases(part=""):
    """Yield a distribution, the name of a method, and its arguments."""
    shaped = [*_distr_params.distcont, *_distr_params.distdiscrete]
    for name, shapes in shaped:
        distribution = getattr(stats, name)
        if part not in name:
            continue
        continuous = isinstance(distribution, stats.rv_continuous)
        density = ("pdf", "logpdf") if continuous else ("pmf", "logpmf")
        counted = not continuous or name in ("ksone", "kstwo")
        xs = [*(shapes if counted else map(float, shapes)), *((0.2, 1.3) if continuous else ())]
        for method in (*density, *AT_X, *AT_Q, *MOMENTS):
            first = [0.37] if method in AT_Q else []
            if method not in AT_Q + MOMENTS:
                first = [float(distribution.ppf(0.3, *xs))]
            yield name, method, [*first, *xs]


def differences(f, xs, i):
    """Return the derivative by an argument by extrapolated differences, and its uncertainty.

    The argument may be a list of numbers: then that along the first of them.
    """

    def moved(h):
        x = [xs[i][0] + h, *xs[i][1:]] if isinstance(xs[i], list) else xs[i] + h
        try:
            return f(*xs[:i], x, *xs[i + 1 :])
        except Exception:
            return np.nan  # SciPy's own error

    size = xs[i][0] if isinstance(xs[i], list) else xs[i]
    h, rows, best, error = 0.05 * max(abs(size), 0.1), [[]], np.nan, np.inf
    start = time.process_time()
    moved(0.0)
    for _ in range(9 if time.process_time() - start < SLOW else 4):
        row = [(moved(h) - moved(-h)) / (2 * h)]
        for j, before in enumerate(rows[-1]):
            row.append(row[-1] + (row[-1] - before) / (4 ** (j + 1) - 1))
            off = max(abs(row[-1] - row[-2]), abs(row[-1] - before))
            if off < error:
                best, error = row[-1], off
        rows.append(row)
        h /= 2
    return best, error


def judge(name, method, xs):
    """Yield for each argument of a call what its derivative is: right, or what is wrong with it."""
    f = getattr(getattr(stats, name), method)
    discrete = isinstance(getattr(stats, name), stats.rv_discrete)
    try:
        if not np.all(np.isfinite(f(*xs))):
            return
    except Exception:
        return  # SciPy's own error
    try:
        whole = gradient(lambda *xs: f(*xs), *xs)
    except (DifferentiationError, NotImplementedError):
        whole = None  # by some arguments: each is asked for alone
    except Exception as error:
        yield -1, "ERROR", repr(error)
        return
    for i, x in enumerate(xs):
        if discrete and i == 0 and method not in MOMENTS:
            continue  # it jumps
        if isinstance(x, int):
            yield i, "a count", ""
            continue
        alone = lambda x, i=i: f(*xs[:i], x, *xs[i + 1 :])
        try:
            found = gradient(alone, x)[0] if whole is None else whole[i]
        except (DifferentiationError, NotImplementedError) as error:
            known = REFUSED.get(name, {})
            yield i, "refused" if method in known or "" in known else "REFUSED", str(error)
            continue
        except Exception as error:
            yield i, "ERROR", repr(error)
            continue
        expected, error = differences(f, xs, i)
        found = found[0] if isinstance(found, list) else found
        found = 0.0 if found is None else float(found)
        if not np.isfinite(expected):
            yield i, "not finite", f"{found}"
        elif abs(found - expected) <= 1e-6 * max(abs(expected), 1e-3) + 10 * error:
            certain = error <= 1e-3 * max(abs(expected), 1e-2)
            yield i, "right" if certain else "uncertain", f"{found}, where {expected} +- {error}"
        elif method in INACCURATE.get(name, {}):
            yield i, "SciPy's value is not accurate", f"{found}, where {expected} +- {error}"
        else:
            yield i, "WRONG", f"{found}, where differences say {expected} +- {error}"


class OutOfTime(BaseException):
    """A distribution takes longer than it may: no `except` of SciPy's catches this."""


@contextmanager
def within(seconds):
    """Raise `OutOfTime` in what takes longer, as soon as Python code runs there."""

    def stop(*_):
        raise OutOfTime

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def tell(cases, seconds, quiet=("right",)):
    """Judge each case within some seconds, print what is not quiet; return whether any is wrong.

    A case is a text, what returns a verdict and what there is to say, and its arguments.
    """
    counts = Counter()
    for name, judge, *xs in cases:
        try:
            with within(seconds):
                verdict, about = judge(*xs)
        except OutOfTime:
            verdict, about = "out of time", ""
        counts[verdict] += 1
        if verdict not in quiet:
            print(f"{name}: {verdict}: {about}", flush=True)
    print(dict(counts))
    return counts["WRONG"] > 0


def judged(calls, counts):
    """Judge the calls of one distribution, within its time, and print what is not right."""
    left = [method for _, method, _ in calls]
    try:
        with within(SECONDS):
            for name, method, xs in calls:
                for i, verdict, about in judge(name, method, xs):
                    counts[verdict] += 1
                    if verdict not in ("right", "a count", "refused"):
                        print(f"{name}.{method} by argument {i}: {verdict}: {about}", flush=True)
                del left[0]
    except OutOfTime:
        counts["out of time"] += len(left)
        print(f"{calls[0][0]}: out of time: {', '.join(left)}", flush=True)


def main(parts):
    counts = Counter()
    for part in parts or [""]:
        for name, calls in groupby(cases(part), key=lambda call: call[0]):
            start = time.process_time()
            judged(list(calls), counts)
            print(f"{name}: {time.process_time() - start:.1f} s", flush=True)
    print(dict(counts))
    return any(counts[bad] for bad in ("WRONG", "REFUSED", "ERROR"))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.exit(main(sys.argv[1:]))
