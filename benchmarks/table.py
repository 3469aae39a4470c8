"""The figures as text."""

from statistics import median

from benchmarks.engines.plain import BY_HAND, PRIMAL

PLAIN = (PRIMAL.name, "rewritten")


def figure(x):
    """Return a ratio with as many digits as it deserves."""
    if x is None:
        return "-"
    return f"{x:.0f}" if x >= 99.5 else f"{x:.1f}" if x >= 9.95 else f"{x:.2f}"


def duration(seconds):
    """Return a time with its unit."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def columns_of(results, names):
    """Return those of the names that have been timed at all, in their order."""
    return [name for name in names if any(name in timings.rounds for timings in results)]


def goals_of(timings):
    """Return what zygote_lite should reach, and whether it does."""
    told = []
    for name, goal in (
        ("zygote_lite", timings.workload.goal),
        ("compiled", timings.workload.compiled_goal),
    ):
        ratio = timings.ratio(name)
        if goal is not None and ratio is not None:
            told.append(f"{name} {goal:g} {'met' if ratio <= goal else 'missed'}")
    return ", ".join(told)


def ratios_to_hand(results, names):
    """Return the header and the rows: time by hand, and the multiples of it."""
    names = columns_of(results, [*PLAIN, *names])
    rows = [
        [
            timings.workload.title,
            duration(timings.seconds(BY_HAND.name)),
            *(figure(timings.ratio(name)) for name in names),
        ]
        for timings in results
    ]
    return ["workload", "by hand", *names], rows


def ratios_to_primal(results, names):
    """Return the header and the rows: time of the function, and the multiples of it."""
    names = columns_of(results, [BY_HAND.name, *names])
    rows = [
        [
            timings.workload.title,
            duration(timings.seconds(PRIMAL.name)),
            *(figure(timings.ratio(name, PRIMAL.name)) for name in names),
        ]
        for timings in results
    ]
    return ["workload", "function", *names], rows


def first_calls(results, names):
    """Return the header and the rows: the times of first calls."""
    names = columns_of(results, names)
    rows = [
        [
            timings.workload.title,
            *(duration(timings.first[n]) if n in timings.rounds else "-" for n in names),
        ]
        for timings in results
    ]
    return ["workload", *names], rows


def text(header, rows):
    """Return an aligned table."""
    lines = [header, *rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(header))]
    return "\n".join(
        "  ".join([line[0].ljust(widths[0]), *(e.rjust(w) for e, w in zip(line[1:], widths[1:]))])
        for line in lines
    )


def markdown(header, rows):
    """Return a table in Markdown."""
    rule = ["---", *("---:" for _ in header[1:])]
    return "\n".join("| " + " | ".join(line) + " |" for line in (header, rule, *rows))


def report(results, names, starts):
    """Return all that is known, in plain text."""
    rounds = len(results[0].rounds[BY_HAND.name])
    parts = [f"value and gradient, multiples of the gradient by hand (medians of {rounds} rounds)"]
    header, rows = ratios_to_hand(results, names)
    goals = [goals_of(timings) for timings in results]
    if any(goals):
        header, rows = [*header, "goal"], [[*row, goal] for row, goal in zip(rows, goals)]
    parts.append(text(header, rows))
    parts.append("\nvalue and gradient, multiples of the function alone")
    parts.append(text(*ratios_to_primal(results, names)))
    parts.append("\nfirst call, all included")
    parts.append(text(*first_calls(results, names)))
    parts.append("\nbefore: " + ", ".join(f"{n} {duration(s)}" for n, s in starts.items()))
    parts.append("(import and a first gradient, of x * x)")
    if rounds > 1:
        parts.append(noise(results))
    return "\n".join(parts)


def noise(results):
    """Return how far apart the quartiles of the ratios are."""
    spreads = [
        (timings.spread(name), f"{name}, {timings.workload.name}")
        for timings in results
        for name in timings.rounds
        if name != BY_HAND.name
    ]
    middle, (widest, where) = median(spread for spread, _ in spreads), max(spreads)
    return (
        f"quartiles of a ratio are {middle:.1%} of it apart in the middle, "
        f"{widest:.0%} at most ({where})"
    )
