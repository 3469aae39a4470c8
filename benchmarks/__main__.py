"""Run the benchmarks: `python -m benchmarks --help`."""

import argparse
import importlib.util
import sys

from benchmarks import process

PACKAGES = ("numpy", "zygote_lite", "autograd", "mygrad", "torch", "jax", "numba")


def main():
    """Measure what was asked for and print it; return 1 where an engine failed or disagrees."""
    process.use_one_core()
    # only now: these import NumPy
    from benchmarks import engines, runner, table
    from benchmarks.workloads import WORKLOADS

    workloads = {workload.name: workload for workload in WORKLOADS}
    options = parse(list(workloads), list(engines.MODULES))
    loaded, starts, notes = engines.load(options.engines)
    names = [engine.name for engine in loaded]
    if options.plot and importlib.util.find_spec("matplotlib") is None:  # before, not after
        sys.exit("the plot needs matplotlib: pip install -r requirements-bench.txt")
    for note in notes:
        print(note, file=sys.stderr)
    results = []
    for name in options.only:
        print(f"{name} ...", file=sys.stderr, flush=True)
        results.append(runner.measure(workloads[name], loaded, 3 if options.quick else 15))
        for warning in results[-1].warnings:
            print(f"warning: {warning}", file=sys.stderr, flush=True)
        for failure in results[-1].failures:
            print(f"FAILED: {failure}", file=sys.stderr, flush=True)
    circumstances = process.circumstances(PACKAGES)
    if options.markdown:
        print(table.markdown(*table.ratios_to_hand(results, names)))
    else:
        print(table.report(results, names, starts))
    print(f"\n{circumstances}")
    if options.plot:
        from benchmarks.plot import draw

        draw(results, names, options.plot, circumstances)
    failures = [failure for timings in results for failure in timings.failures]
    for failure in failures:
        print(f"FAILED: {failure}", file=sys.stderr)
    return 1 if failures else 0


def parse(workloads, engines):
    """Return the options, with all workloads and engines where none are named."""

    def some_of(known):
        def names(given):
            found = given.split(",")
            for name in found:
                if name not in known:
                    raise argparse.ArgumentTypeError(f"{name}: choose from {', '.join(known)}")
            return found

        return names

    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Time value and gradient by zygote_lite, by hand and by other engines.",
        epilog=f"Workloads: {', '.join(workloads)}. Engines: {', '.join(engines)}.",
    )
    parser.add_argument("--only", type=some_of(workloads), default=workloads, metavar="NAME,NAME")
    parser.add_argument("--engines", type=some_of(engines), default=engines, metavar="NAME,NAME")
    parser.add_argument("--quick", action="store_true", help="few rounds")
    parser.add_argument("--markdown", action="store_true", help="the table of docs/benchmarks.md")
    parser.add_argument("--plot", metavar="PATH", help="write a picture, too")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
