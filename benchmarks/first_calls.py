"""What the first gradient of a fresh process costs, and where the time goes.

    python -m benchmarks.first_calls [rounds]

Each round has a process of its own for each of three: a function of one line, one of 20, and a
look-up of a rule. The table has the shortest time of each step as a multiple of that of `import
numpy`: the import of the package, the first look-up, which loads the plugins and the rules for one
function, and for each function the first gradient (which loads those that it needs, and is
recorded), the second and the third (by then transformed code is made), and the one after these.
"""

import json
import os
import subprocess
import sys
import tempfile
import time

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


def main(rounds):
    """Print the table."""
    steps = {
        "rules": ["plugins, and a rule"],
        "one_line": [f"one line: {call}" for call in CALLS],
        "twenty_lines": [f"20 lines: {call}" for call in CALLS],
    }
    found = {name: [] for name in steps}
    with tempfile.TemporaryDirectory() as kept:  # compiled once, as an installed package is
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": kept, "PYTHONDONTWRITEBYTECODE": ""}
        for _ in range(rounds + 1):
            for name, rows in found.items():
                command = [sys.executable, "-m", "benchmarks.first_calls", "--measure", name]
                done = subprocess.run(command, env=environment, capture_output=True, check=True)
                rows.append(json.loads(done.stdout))
    table = {}
    for name, rows in found.items():
        names = ["import numpy", "import zygote_lite", *steps[name]]
        for step, column in zip(names, zip(*rows[1:], strict=True), strict=True):
            table[step] = min(*column, table.get(step, column[0]))
    for step, seconds in table.items():
        print(f"{step:32}{seconds * 1e3:9.1f} ms{seconds / table['import numpy']:8.2f}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        measure(sys.argv[2])
    else:
        main(int(sys.argv[1]) if sys.argv[1:] else 5)
