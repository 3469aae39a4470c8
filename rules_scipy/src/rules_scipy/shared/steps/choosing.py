"""Steps that are as long as a method can do them, along a solution that is known."""

import itertools

import numpy as np

from rules_scipy.shared.steps.collocation import LONG, Along
from rules_scipy.shared.steps.stages import pulled_at

SURE = 1e-4  # a step is as exact where a solution is asked for with less
BEGIN = 16  # steps of the solver that are joined to one at first
SHORT = 4  # steps of the solver: fewer are joined only where more cannot be
LARGE = 2**22  # numbers of which no more than two steps are joined
GROWTH = 0.7  # of errors: those of that many steps are so much larger, as a power
NOISE = 10.0  # tolerances: the most that the solution itself may be off in a step
AMPLE = 1e-3  # of the error that is allowed, where the next step may be twice as long
BETWEEN = (LONG.c[1:] + LONG.c[:-1]) / 2


def long_steps(f, rate, knots, first, at, rtol, atol, asked=None):
    """Return what pulls back along a solution, on steps as long as the method can do them.

    Steps of the solver are joined, so that a step that begins with the solution ends with it, as
    exactly as it is known.

    Arguments:
        f: the right-hand side, at a time and a value.
        rate: the right-hand side with its pullback: `pulled_at` takes it.
        knots: the ends of the steps of the solver, in order.
        first: the first value.
        at: what gives the solution at times in order, in rows; it is asked once.
        rtol, atol: the tolerances of the solution.
        asked: times at which the solution is asked for. Where they are few, steps end there; else,
            and where they are not known, the solution has to be as exact within the steps.
    """
    few = asked is not None and 4 * len(asked) <= len(knots)
    parts, cuts = np.concatenate([[0.0], LONG.c, () if few else BETWEEN]), np.zeros(0)
    sign = -1.0 if knots[-1] < knots[0] else 1.0
    if few:
        inside = sign * np.asarray(asked, float)
        cuts = inside[(inside > sign * knots[0]) & (inside < sign * knots[-1])]
    knots = sign * np.unique(np.concatenate([sign * knots, cuts]))
    if len(knots) == 1:  # of an interval of length 0
        knots = np.repeat(knots, 2)
    cuts = [0, *np.searchsorted(sign * knots, np.unique(cuts)).tolist(), len(knots) - 1]
    most = 2 if len(knots) * len(parts) * first.size > LARGE else len(knots)
    sections = [*itertools.pairwise(cuts)]
    known = {}

    def known_at(step):
        if step not in known:  # short ones are seldom asked for
            is_short = step[1] - step[0] < SHORT
            few = [x for x in halves(sections)
                   if (x[1] - x[0] < SHORT) == is_short and x[1] - x[0] <= most]  # fmt: skip
            ends = knots[np.array(few)]
            times = ends[:, :1] + parts * (ends[:, 1:] - ends[:, :1])
            order = np.argsort(sign * times, axis=None)
            values = np.empty((times.size, first.size), first.dtype)
            values[order] = at(times.ravel()[order])
            known.update(zip(few, zip(times, values.reshape(*times.shape, first.size), strict=True),
                             strict=True))  # fmt: skip
        return known[step]

    weights = LONG.weights(np.concatenate([[1.0], parts[len(LONG.c) + 1 :]])).T
    rtol, atol = np.minimum(rtol, SURE), atol + np.finfo(float).tiny
    chosen, passed, found = [knots[0]], [first], []
    joined, floor = min(BEGIN, most), 1.0
    waiting = [(*section, np.inf) for section in sections[::-1]]
    last = len(LONG.c)  # the place of the end of a step among its parts
    inside = slice(1, last + 1)
    while waiting:
        begin, end, before = waiting.pop()
        count = end - begin
        if count > max(1, 1.5 * joined) or count > most:
            waiting += [(*half, np.inf) for half in halved(begin, end)[::-1]]
            continue
        times, of_step = known_at((begin, end))
        stages = zip(times[inside], of_step[inside], strict=True)
        slopes = np.empty((last, first.size))
        for i, (t, x) in enumerate(stages):
            slopes[i] = f(t, np.array(x))
        h = times[last] - times[0]
        missed = np.abs(of_step[0] + h * np.dot(weights, slopes) - of_step[last:])
        allowed = rtol * np.abs(of_step).max(axis=0) + atol
        missed = (missed / allowed).max(initial=0.0) / count**GROWTH
        if missed > before / 4 and missed <= NOISE:
            floor = max(floor, 1.5 * missed)  # it is the error of the solution
        elif missed > floor and count > 1:
            joined = count // 2
            waiting += [(*half, missed) for half in halved(begin, end)[::-1]]
            continue
        joined = max(joined, count) * (2 if missed < AMPLE * floor else 1)
        chosen.append(times[last])
        passed.append(of_step[last])
        found.append((times[inside], of_step[inside], slopes))
    times, values, slopes = (np.concatenate(rows) for rows in zip(*found, strict=True))
    stages = pulled_at(*rate, times, values, slopes)
    exact = max(1e-2 * float(np.min(rtol)), 1e-12)
    return Along(LONG, np.array(chosen), np.array(passed), slopes, stages, exact)


def halved(begin, end):
    """Return the two halves of a range."""
    middle = (begin + end) // 2
    return [(begin, middle), (middle, end)]


def halves(ranges):
    """Return ranges, their halves, the halves of these, and so on."""
    found = [*ranges]
    for begin, end in found:
        if end - begin > 1:
            found += halved(begin, end)
    return found
