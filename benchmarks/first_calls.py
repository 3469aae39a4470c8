"""What the first gradient of a fresh process costs, and where the time goes.

    python -m benchmarks.first_calls [rounds]

Each round is a process of its own. The table has the shortest time of each step as a multiple of
that of `import numpy`: the import of the package, the plugins with their rules (which are loaded at
the first look-up), and for a function of one line and one of 20 the first gradient (recorded), the
second and the third (by then transformed code is made), and the one after these.
"""

import json
import os
import subprocess
import sys
import tempfile
import time

STEPS = ("import numpy", "import zygote_lite", "plugins and rules")
CALLS = ("first gradient", "second gradient", "third gradient", "fourth gradient")


def one_line(x):
    """Compute in one line."""
    import math

    return x * math.sin(x)


def twenty_lines(x):
    """Compute in 20 lines: with a loop, branches, a list and a function inside."""
    import math

    total, kept = 0.0, []

    def damped(y, rate=0.5):
        return y * math.exp(-rate * y)

    for i in range(5):
        y = x * i + 1.0
        if y > 2.0:
            y = damped(y)
        elif y < 0.0:
            y = -y
        else:
            y = math.sqrt(y)
        kept.append(y)
        total = total + y
    for y in kept:
        total += y * y
    a, b = kept[0], kept[-1]
    return total + a * b


def measure():
    """Print how long each step takes in this process, in seconds."""
    times = []

    def step(do):
        start = time.process_time()
        done = do()
        times.append(time.process_time() - start)
        return done

    step(lambda: __import__("numpy"))
    package = step(lambda: __import__("zygote_lite"))
    rules = __import__("rulescore")
    step(lambda: rules.find_rule(max, 1.0, 2.0))
    for f in (one_line, twenty_lines):
        for _ in CALLS:
            step(lambda f=f: package.gradient(f, 0.7))
    print(json.dumps(times))


def main(rounds):
    """Print the table."""
    names = [*STEPS, *[f"{f.__name__}: {call}" for f in (one_line, twenty_lines) for call in CALLS]]
    command = [sys.executable, "-m", "benchmarks.first_calls", "--measure"]
    with tempfile.TemporaryDirectory() as kept:  # compiled once, as an installed package is
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": kept, "PYTHONDONTWRITEBYTECODE": ""}
        found = []
        for _ in range(rounds + 1):
            done = subprocess.run(command, env=environment, capture_output=True, check=True)
            found.append(json.loads(done.stdout))
    best = [min(column) for column in zip(*found[1:], strict=True)]
    for name, seconds in zip(names, best, strict=True):
        print(f"{name:32}{seconds * 1e3:9.1f} ms{seconds / best[0]:8.2f}")


if __name__ == "__main__":
    if sys.argv[1:] == ["--measure"]:
        measure()
    else:
        main(int(sys.argv[1]) if sys.argv[1:] else 5)
