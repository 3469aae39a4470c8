"""What recorded code cost before a change, and costs now: both in one run, in turns.

    python -m benchmarks.before_and_after main~50
    python -m benchmarks.before_and_after v0.1.0 --rounds 5

The commit is checked out into a folder of its own. In each round each figure is measured in a
process with the packages of that commit, and in one with those of the working tree. The workloads
are those of the working tree (`tape_cost`, `walk_steps`, `first_calls`). The table has the lowest
of all rounds; `-` is a figure that one of the two fails to give, or that takes more than `LONGEST`
seconds.
"""

import argparse
import importlib
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
LONGEST = 300  # seconds for one figure
OBJECTS = 100_000  # of the model that `walk_steps` captures


def _of_loop(name):
    """Return the microseconds of an operation, and the bytes that the tape holds for it."""
    from benchmarks import tape_cost
    from zygote_lite import testing, value_and_grad

    f, count = getattr(tape_cost, name), tape_cost.COUNT
    with testing.recorded_only():
        run = value_and_grad(f)
        run(0.5, 10)
        taken = tape_cost.seconds(run, 0.5, count, rounds=1) / count * 1e6
        return [taken, tape_cost.held(run, 0.5, count // 10) / count * 10]


def _of_call(f, *xs):
    """Return the seconds of a call that is recorded."""
    from benchmarks import tape_cost
    from zygote_lite import testing, value_and_grad

    with testing.recorded_only():
        run = value_and_grad(f)
        run(*xs)
        return [tape_cost.seconds(run, *xs, rounds=1)]


def _micrograd():
    import random

    from benchmarks import tape_cost

    source = random.Random(1)
    points = [([source.uniform(-1, 1) for _ in range(2)], 1.0) for _ in range(100)]
    return _of_call(tape_cost.network_loss, tape_cost.Network([2, 16, 16, 1]), points)


def _library(name):
    from benchmarks import tape_cost

    if importlib.util.find_spec(name) is None:
        return None
    f, x = {"statsmodels": tape_cost.likelihood, "lmfit": tape_cost.line_shape}[name]()
    return _of_call(f, x)


def _question(name):
    """Return the seconds of 30 questions beside a large model, with something written outside."""
    from benchmarks import walk_steps

    _, closure, given = next(w for w in walk_steps.ways(OBJECTS) if w[0] == "closure")
    return _of_call(closure, 2.0, walk_steps.QUESTIONS[name], 30, *given)


def _first(name):
    """Return the first gradient in this process, as a multiple of `import numpy`."""
    start = time.process_time()
    importlib.import_module("numpy")
    numpy_took = time.process_time() - start
    import zygote_lite
    from benchmarks import first_calls

    f = getattr(first_calls, name)
    start = time.process_time()
    zygote_lite.gradient(f, 0.7)
    return [(time.process_time() - start) / numpy_took]


def _left():
    from benchmarks import tape_cost
    from zygote_lite import testing

    with testing.recorded_only():
        return [tape_cost.left(tape_cost.of_objects, 0.5)]


FIGURES = {
    "scalar operations": (_of_loop, "scalars", ["us an operation", "bytes an operation"]),
    "functions of numbers": (_of_loop, "functions", ["us an operation", "bytes an operation"]),
    "a loop with try": (_of_loop, "tried", ["us an operation", "bytes an operation"]),
    "micrograd 2-16-16-1": (_micrograd, None, ["s a step"]),
    "statsmodels, GLM": (_library, "statsmodels", ["s a call"]),
    "lmfit, a model": (_library, "lmfit", ["s a call"]),
    "asked: a method": (_question, "a method", ["s a call"]),
    "asked: a cache": (_question, "a cache", ["s a call"]),
    "asked: an array": (_question, "an array", ["s a call"]),
    "asked: locals": (_question, "locals", ["s a call"]),
    "first gradient, 1 line": (_first, "one_line", ["imports of numpy"]),
    "first gradient, 20 lines": (_first, "twenty_lines", ["imports of numpy"]),
    "left by 10,000 gradients": (_left, None, ["bytes"]),
}
"""By name: what measures, what it is given, and what the numbers are."""


def measured(name, tree, caches):
    """Return the numbers of a figure with the packages of a tree; `None` where it fails."""
    paths = [str(folder) for folder in sorted(tree.glob("*/src"))]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*paths, str(ROOT)])}
    environment |= {"PYTHONPYCACHEPREFIX": str(caches), "PYTHONDONTWRITEBYTECODE": ""}
    command = [sys.executable, "-m", "benchmarks.before_and_after", "--figure", name]
    try:
        done = subprocess.run(
            command, env=environment, cwd=caches, capture_output=True, check=True, timeout=LONGEST
        )
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        return None
    return json.loads(done.stdout.splitlines()[-1])


def lowest(rounds):
    """Return the lowest of each number over rounds; `None` where a round has none."""
    return None if None in rounds else [min(column) for column in zip(*rounds, strict=True)]


def main(revision, rounds, names):
    """Print the table."""
    git = ["git", "-C", str(ROOT)]
    with tempfile.TemporaryDirectory() as kept:
        tree = Path(kept, "tree")
        subprocess.run([*git, "worktree", "add", "-q", "--detach", str(tree), revision], check=True)
        try:
            trees = {"before": tree, "now": ROOT}
            caches = {key: Path(kept, key) for key in trees}
            for folder in caches.values():
                folder.mkdir()
            print(f"{'':26}{'':20}{'before':>12}{'now':>12}{'times':>8}")
            for name in names:
                found = {key: [] for key in trees}
                for _ in range(rounds):
                    for key, where in trees.items():
                        found[key].append(measured(name, where, caches[key]))
                print_rows(name, lowest(found["before"]), lowest(found["now"]))
        finally:
            subprocess.run([*git, "worktree", "remove", "--force", str(tree)], check=True)


def print_rows(name, before, now):
    """Print the numbers of one figure."""
    for i, unit in enumerate(FIGURES[name][2]):
        shown = ["-" if x is None else f"{x[i]:.4g}" for x in (before, now)]
        is_known = before is not None and now is not None and now[i] > 0
        times = f"{before[i] / now[i]:.1f}" if is_known else "-"
        print(f"{name:26}{unit:20}{shown[0]:>12}{shown[1]:>12}{times:>8}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--figure"]:
        run, given, _ = FIGURES[sys.argv[2]]
        print(json.dumps(run() if given is None else run(given)))
    else:
        parser = argparse.ArgumentParser(
            prog="python -m benchmarks.before_and_after",
            description="Measure what recorded code cost at a commit, and costs now, in turns.",
            epilog=f"Figures: {', '.join(FIGURES)}.",
        )
        parser.add_argument("revision", help="a commit")
        parser.add_argument("--rounds", type=int, default=3)
        parser.add_argument("--only", metavar="NAME", action="append", choices=[*FIGURES])
        options = parser.parse_args()
        main(options.revision, options.rounds, options.only or [*FIGURES])
