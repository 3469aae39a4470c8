"""Time the engines in turns, so that what disturbs the machine disturbs them all.

The clock is the CPU time of the process with all its threads: on one core that is what passes
while nothing else runs, and what others take from the core is not counted.

The garbage collector runs as users have it, but for two things, for no engine to pay for another:
it does not search what the libraries hold since they were imported (a user has one of them, not
all), and before each batch it clears what the others have left.
"""

import gc
import statistics
import time
import warnings
from dataclasses import dataclass, field
from typing import Any

from benchmarks.agreement import DisagreementError, check
from benchmarks.engines import NotAvailableError
from benchmarks.engines.plain import BY_HAND, PRIMAL, REWRITTEN

BATCH = 0.005  # seconds, or one call
WARM = 3  # calls after the first, before the clock: some engines make code at the second


@dataclass
class Timings:
    """What was measured for one workload."""

    workload: Any
    rounds: dict[str, list[float]] = field(default_factory=dict)  # seconds for one call
    first: dict[str, float] = field(default_factory=dict)  # seconds for the first call
    failures: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def seconds(self, engine):
        """Return the median time of one call."""
        return statistics.median(self.rounds[engine])

    def ratios(self, engine, base):
        """Return the time as a multiple of that of `base`, in each round."""
        return [a / b for a, b in zip(self.rounds[engine], self.rounds[base], strict=True)]

    def ratio(self, engine, base=BY_HAND.name):
        """Return the median of the ratios, or `None` where the engine was not timed."""
        return statistics.median(self.ratios(engine, base)) if engine in self.rounds else None

    def spread(self, engine, base=BY_HAND.name):
        """Return the distance of the quartiles of the ratios, as a part of the median."""
        low, middle, high = statistics.quantiles(self.ratios(engine, base), n=4)
        return (high - low) / middle


def measure(workload, engines, rounds, small=False):
    """Check that the engines agree on a workload, and time them.

    What an engine cannot express is left out; an engine that fails or gives something else is
    left out and told in `failures`. What it warns of in its first call is told in `warnings`.
    """
    timings, calls = Timings(workload), {}
    expected = BY_HAND.unpack(workload.by_hand(*workload.make_arguments(small)))
    for engine in (BY_HAND, PRIMAL, REWRITTEN, *engines):
        try:
            call, arguments = engine.prepare(workload, workload.make_arguments(small))
        except NotAvailableError:
            continue
        try:
            result, timings.first[engine.name], warned = first_call(call, arguments)
            timings.warnings += [f"{engine.name}, {workload.name}: {told}" for told in warned]
            value, gradients = engine.unpack(result)
            if engine is not PRIMAL:
                check(workload, engine.name, (value, gradients), expected)
        except DisagreementError as error:
            timings.failures.append(str(error))
        except Exception as error:
            timings.failures.append(
                f"{engine.name}, {workload.name}: {type(error).__name__}: {error}"
            )
        else:
            for _ in range(WARM):
                call(*arguments)
            calls[engine.name] = call, arguments, batch_size(call, arguments)
    timings.rounds = in_turns(calls, rounds)
    return timings


def in_turns(calls, rounds):
    """Return the seconds for one call of each engine, in each round."""
    found = {name: [] for name in calls}
    gc.collect()
    gc.freeze()
    for turn in range(rounds):
        for name in list(calls)[:: 1 if turn % 2 else -1]:
            call, arguments, number = calls[name]
            gc.collect()
            call(*arguments)  # the caches are those of a loop that calls nothing else
            found[name].append(batch(call, arguments, number) / number)
    gc.unfreeze()
    return found


def first_call(call, arguments):
    """Return the result of a call, its seconds, and what was warned of."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        start = time.perf_counter()
        result = call(*arguments)
        seconds = time.perf_counter() - start
    return result, seconds, [str(warning.message) for warning in warned]


def batch(call, arguments, number):
    """Return the CPU time of a number of calls."""
    turns = range(number)
    start = time.process_time()
    for _ in turns:
        call(*arguments)
    return time.process_time() - start


def batch_size(call, arguments):
    """Return how many calls take as long as a batch should."""
    number = 1
    while (seconds := batch(call, arguments, number)) < BATCH:
        number = max(2 * number, int(1.2 * number * BATCH / max(seconds, 1e-9)))
        number = min(number, 1_000_000)
    return number
