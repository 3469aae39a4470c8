"""What the first gradient of a fresh process costs, and where the time goes.

    python -m benchmarks.first_calls [rounds]

Each round has a process of its own for each of three: a function of one line, one of 20, and a
look-up of a rule. All are measured twice: with all plugins that are installed, and with
`rules_base` alone. The tables have medians of the rounds for each step, in milliseconds and as a
multiple of what `import numpy` takes in the same process: the import of the package, the first
look-up, which loads the plugins and the rules for one function, and for each function the first
gradient (which loads those that it needs, and is recorded), the second and the third (by then
transformed code is made), and the one after these. Where a first gradient is over its limit, the
program ends with status 1.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from importlib import metadata

from benchmarks.limits import Limits

CALLS = ("first gradient", "second gradient", "third gradient", "fourth gradient")
STEPS = {
    "rules": ["plugins, and a rule"],
    "one_line": [f"one line: {call}" for call in CALLS],
    "twenty_lines": [f"20 lines: {call}" for call in CALLS],
}
MOST = {"one line: first gradient": 1.0, "20 lines: first gradient": 1.3}  # imports of numpy


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


def measure(name):
    """Print how long each step takes in this process, in seconds."""
    times = []

    def step(do):
        start = time.process_time()
        done = do()
        times.append(time.process_time() - start)
        return done

    step(lambda: __import__("numpy"))
    package = step(lambda: __import__("zygote_lite"))
    if name == "rules":
        find = __import__("rulescore").find_rule
        step(lambda: find(max, 1.0, 2.0))
    else:
        f = globals()[name]
        for _ in CALLS:
            step(lambda: package.gradient(f, 0.7))
    print(json.dumps(times))


def measured(name, rounds, environment):
    """Return the seconds of each step, for each of the processes."""
    command = [sys.executable, "-m", "benchmarks.first_calls", "--measure", name]
    rows = []
    for _ in range(rounds + 1):
        done = subprocess.run(command, env=environment, capture_output=True, check=True)
        rows.append(json.loads(done.stdout))
    return rows[1:]  # the first one writes the bytecode


def show(way, rounds, environment, limits):
    """Print the table of one choice of plugins."""
    print(f"{way:32}{'ms':>9}{'imports of numpy':>20}")
    for name, own in STEPS.items():
        rows = measured(name, rounds, environment)
        for i, step in enumerate(["import numpy", "import zygote_lite", *own]):
            if i > 1 or name == "rules":
                multiple = statistics.median(row[i] / row[0] for row in rows)
                milliseconds = statistics.median(row[i] for row in rows) * 1e3
                print(f"{step:32}{milliseconds:9.1f}{multiple:20.2f}", flush=True)
                if step in MOST:
                    limits.hold(f"{way}: {step}, imports of numpy", multiple, MOST[step])


def main(rounds):
    """Print the tables."""
    plugins = {found.name for found in metadata.entry_points(group="rulescore")}
    limits = Limits()
    with tempfile.TemporaryDirectory() as kept:  # compiled once, as an installed package is
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": kept, "PYTHONDONTWRITEBYTECODE": ""}
        for way, disabled in (
            ("all plugins", set()),
            ("rules_base alone", plugins - {"rules_base"}),
        ):
            environment["RULESCORE_DISABLE"] = ",".join(sorted(disabled))
            show(way, rounds, environment, limits)
    limits.end()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        measure(sys.argv[2])
    else:
        main(int(sys.argv[1]) if sys.argv[1:] else 5)
