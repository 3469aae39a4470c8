"""Change one thing at a time in the engine and see whether a test fails: `nox -s mutants`.

    python -m tests.mutants 100 7                              a sample of 100, by the seed 7
    python -m tests.mutants 50 7 zygote_lite/_cotangents       of the modules below this path
    python -m tests.mutants 50 7 _tape/ --only "take: kind"    of these, those whose name has this
    python -m tests.mutants --names FILE                       those that a file names, a line each
    python -m tests.mutants 100 7 --record [arguments]         note which tests reach what

With `--record` (arguments of pytest may follow) the tests run once, and are traced: what is noted
is which functions of the engine they call, and which lines of the sample they reach.

Each mutation is one change of one operator, comparison, condition or constant, in a copy of the
sources. The tests that reach the changed line run, or else those that reach its function, as many
as fit into a time: the fastest first, then some of each file. With `--all` they are followed by all
tests. A mutation that no test fails has survived: it needs a test, or a line in `equivalent.txt`
which says why no test can tell.
"""

import argparse
import contextlib
import random
import sys
import time
from pathlib import Path

from tests.mutants.mutations import mutations_of
from tests.mutants.reach import record, tests_by_function
from tests.mutants.trial import ROOT, Copy, preload, run_tests

HERE = Path(__file__).parent
MUTATED = {"zygote_lite": "zygote_lite", "rulescore": "rulescore"}
LEFT_OUT = ("demo/", "/value.py", "/testing.py", "/testing/", "__main__.py")
PASSED = ("passed", "no test")
SECONDS = 300  # after which a mutation counts as killed: it loops


def main():
    """Read the command line, and return how many mutations have survived."""
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("python -m tests.mutants", None, __doc__, formatter_class=form)
    parser.add_argument("count", type=int, nargs="?", default=100)
    parser.add_argument("seed", type=int, nargs="?", default=0)
    parser.add_argument("modules", nargs="*", help="parts of the paths of modules")
    parser.add_argument("--only", default="", help="a part of the names of mutations")
    parser.add_argument("--names", type=Path, help="a file with the names of mutations to try")
    parser.add_argument("--seconds", type=float, default=20.0, help="of tests near, for each")
    parser.add_argument("--all", action="store_true", help="then run all tests")
    parser.add_argument("--rulescore", action="store_true", help="mutate rulescore, not the engine")
    parser.add_argument("--list", action="store_true", help="print the sample, and run nothing")
    parser.add_argument("--record", nargs=argparse.REMAINDER, help="note which tests reach what")
    parser.add_argument("--reach", type=Path, default=ROOT / ".mutants" / "reach.json")
    given = parser.parse_args()
    distribution = "rulescore" if given.rulescore else "zygote_lite"
    if given.record is not None:
        given.reach.parent.mkdir(exist_ok=True)
        sources = [ROOT / name / "src" for name in MUTATED]
        marked = lines_of(distribution, sampled(distribution, given))
        record(given.reach, sources, marked, given.record or ["tests"])
        return 0
    sample = sampled(distribution, given)
    if given.list:
        print(*(mutation.key for mutation in sample), sep="\n")
        return 0
    if not given.reach.exists():
        parser.error("record first which tests reach what: python -m tests.mutants --record")
    return tried(distribution, sample, given)


def sampled(distribution, given):
    """Return a random sample of the mutations, the same for the same sources and seed."""
    source = ROOT / distribution / "src"
    found = []
    for path in sorted(source.rglob("*.py")):
        module = path.relative_to(source).as_posix()
        if not any(part in module for part in LEFT_OUT):
            found += mutations_of(module, path.read_text())
    if given.modules:
        found = [m for m in found if any(part in m.module for part in given.modules)]
    found = [m for m in found if given.only in m.key]
    if given.names:
        return named(found, names_in(given.names))
    return random.Random(given.seed).sample(found, min(given.count, len(found)))


def named(found, names):
    """Return the mutations that have these names, and print the names that none has any more."""
    by_name = {mutation.key: mutation for mutation in found}
    for name in names:
        if name not in by_name:
            print(f"gone: {name}")
    return [by_name[name] for name in names if name in by_name]


def lines_of(distribution, sample):
    """Return the lines of mutations: {path: {line: their keys}}."""
    found = {}
    for mutation in sample:
        lines = found.setdefault(str(ROOT / distribution / "src" / mutation.module), {})
        lines.setdefault(mutation.line, []).append(mutation.key)
    return found


def tried(distribution, sample, given):
    """Try each mutation and print what came of it; return the number of survivors."""
    preload(distribution)
    reach, known, copy = tests_by_function(given.reach), equivalent(), Copy()
    counts = dict.fromkeys(("killed", "equivalent", "survived"), 0)
    try:
        said, log = run_tests(copy, near(sample[0], reach, given.seconds)[0], SECONDS)
        if said not in PASSED:
            sys.exit(f"the tests fail without a change:\n{log}")
        for k, mutation in enumerate(sample):
            began = time.monotonic()
            said = "equivalent"
            if mutation.key not in known:
                tests = near(mutation, reach, given.seconds)
                said = trial(distribution, mutation, copy, tests, given.all)
            counts["killed" if said not in counts else said] += 1
            took = time.monotonic() - began
            print(f"{k + 1:4} {said:10} {took:5.1f} s  {mutation.key}", flush=True)
            if said == "survived":
                show(distribution, mutation)
    finally:
        copy.remove()
    print(", ".join(f"{count} {name}" for name, count in counts.items()), f"of {len(sample)}")
    return counts["survived"]


def trial(distribution, mutation, copy, near_tests, all_tests):
    """Return "survived", or how the mutation was caught."""
    original = (ROOT / distribution / "src" / mutation.module).read_text()
    copy.write(distribution, mutation.module, mutation.source)
    try:
        for tests in (*near_tests, None) if all_tests else near_tests:
            said, _ = run_tests(copy, tests, SECONDS if tests is not None else 10 * SECONDS)
            if said not in PASSED:
                return said
    finally:
        copy.write(distribution, mutation.module, original)
    return "survived"


def near(mutation, reach, seconds):
    """Return the names of tests in two groups: the fastest, and some of each file.

    They are those that reach the line, or else the function, or else the module, and those of the
    file that is named as the module.
    """
    tests = reach.get(mutation.key) or reach.get(f"{mutation.module} {mutation.function}", [])
    if not tests:
        inside = [reach[name] for name in reach if name.startswith(f"{mutation.module} ")]
        tests = {test for each in inside for test in each}
    stem = mutation.module.rpartition("/")[2].removesuffix(".py").strip("_")
    named = [reach[name] for name in reach if name.endswith(f"/test_{stem}.py")]
    tests = sorted({*tests, *(test for each in named for test in each)})
    by_file = {}
    for took, test in tests:
        by_file.setdefault(test.partition("::")[0], []).append((took, test))
    in_turn = sorted((i, *test) for each in by_file.values() for i, test in enumerate(each))
    fastest = within(tests, seconds / 4)
    others = within([test for _, *test in in_turn], seconds)
    return fastest, [test for test in others if test not in fastest]


def within(tests, seconds):
    """Return the names of the first of some tests, as many as fit into a time."""
    chosen = []
    for took, test in tests:
        if took <= seconds:
            seconds -= took
            chosen.append(test)
    return chosen


def equivalent():
    """Return the mutations that are listed as equivalent."""
    return set(names_in(HERE / "equivalent.txt"))


def names_in(path):
    """Return the names of mutations in a file; comments, and reasons (indented), are left out."""
    lines = path.read_text().splitlines()
    return [line for line in lines if line and not line.startswith(("#", " "))]


def show(distribution, mutation):
    """Print where a survivor is, and its line before and after."""
    path = f"{distribution}/src/{mutation.module}"
    print(f"     {path}:{mutation.line}")
    texts = ((ROOT / path).read_text(), mutation.source)
    for sign, text in zip("-+", texts, strict=True):
        print(f"     {sign} {text.splitlines()[mutation.line - 1].strip()}")


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        sys.exit(min(main(), 1))
