"""What `rrule` costs beyond the function itself: the first call, a cached call, a miss, a pullback.

Run it as a script; it prints nanoseconds, and ratios to the same thing written by hand. Rule
plugins are switched off, so that what is measured is the dispatch.
"""

import os
import statistics
import subprocess
import sys
import timeit

os.environ["RULESCORE_DISABLE"] = "*"

import numpy as np

from rulescore import RuleSet, rrule

RULES = 1000
FIRST_CALL = f"""
import time
from rulescore import RuleSet, rrule
import numpy as np
def make(i):
    def f(x, y):
        return x
    return f
functions = [make(i) for i in range({RULES})]
rule = RuleSet("many")
for i, f in enumerate(functions):
    if i % 2:
        rule.scalar(f)(lambda x, y: (y, x))
    else:
        @rule(f)
        def _(x: np.ndarray, y: float):
            return x, lambda dy: (dy, None)
start = time.perf_counter()
rule.register()
registered = time.perf_counter()
assert rrule(functions[7], 1.0, 2.0) is not None
end = time.perf_counter()
assert rrule(functions[9], 1.0, 2.0) is not None
print(registered - start, end - registered, time.perf_counter() - end)
"""


def nanoseconds(call):
    """Return the time of one call, the best of several runs."""
    number = max(100, int(0.05 / timeit.timeit(call, number=100) * 100))
    return min(timeit.repeat(call, number=number, repeat=7)) / number * 1e9


def by_hand(x):
    """Return the sine and its pullback, as an expert writes them."""
    y = np.sin(x)

    def pullback(dy):
        return None, np.cos(x) * dy

    return y, pullback


def first_calls():
    """Return the medians, in milliseconds, of registering, the first call and the second one."""
    runs = [
        [
            float(t) * 1e3
            for t in subprocess.check_output([sys.executable, "-c", FIRST_CALL]).split()
        ]
        for _ in range(5)
    ]
    return [statistics.median(times) for times in zip(*runs, strict=True)]


def main():
    """Print the table."""
    rule = RuleSet("benchmark")
    rule.scalar(np.sin, poles=False)(lambda x: np.cos(x))
    rule.register()
    register, first, second = first_calls()
    print(
        f"{RULES} rules: registered in {register:.1f} ms, first call {first:.2f} ms, first call of"
    )
    print(f"another function {second:.2f} ms; together {register + first:.1f} ms (limit 60)\n")
    print(f"{'ns':<34}{'by hand':>9}{'rulescore':>11}{'beyond':>9}{'ratio':>7}")
    for name, x in (("float", 0.5), ("array of 3", np.ones(3)), ("array of 1e4", np.ones(10_000))):
        _, back_by_hand = by_hand(x)
        _, back = rrule(np.sin, x)
        dy = x * 0 + 1
        for what, hand, ours in (
            ("rrule(np.sin, x)", lambda x=x: by_hand(x), lambda x=x: rrule(np.sin, x)),
            ("back(dy)", lambda b=back_by_hand, dy=dy: b(dy), lambda b=back, dy=dy: b(dy)),
        ):
            a, b = nanoseconds(hand), nanoseconds(ours)
            print(f"{what + ', ' + name:<34}{a:>9.0f}{b:>11.0f}{b - a:>9.0f}{b / a:>7.2f}")
    print()
    for name, call in (
        ("a function without a rule", lambda: rrule(by_hand, 0.5)),
        ("a builtin without a rule", lambda: rrule(print, 0.5)),
        ("a method without a rule", lambda: rrule("".join, [])),
        ("types without a rule", lambda: rrule(np.sin, "x")),
    ):
        print(f"miss: {name:<28}{nanoseconds(call):>9.0f} (limit 1000)")


if __name__ == "__main__":
    main()
