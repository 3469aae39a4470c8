"""Steps that are as long as a method can do them, along a solution that is known."""

import functools

import numpy as np

from rules_scipy.shared.steps.collocation import LONG, Along
from rules_scipy.shared.steps.stages import pulled_at

SURE = 1e-4  # a step is as exact where a solution is asked for with less
BEGIN = 16  # steps of the solver that are joined to one at first
LARGE = 2**22  # numbers of which no more than two steps are joined
GROWTH = 0.7  # of errors: those of that many steps are so much larger, as a power
NOISE = 10.0  # tolerances: the most that the solution itself may be off in a step
AMPLE = 1e-3  # of the error that is allowed, where a step may be twice as long
BETWEEN = (LONG.c[1:] + LONG.c[:-1]) / 2
LAST = len(LONG.c)  # the place of the end of a step among its parts


def long_steps(f, rate, knots, first, at, rtol, atol, asked=None, columns=None):
    """Return what pulls back along a solution, on steps as long as the method can do them.

    Steps of the solver are joined, so that a step that begins with the solution ends with it, as
    exactly as it is known.

    Arguments:
        f: the right-hand side, at a time and a value.
        rate: the right-hand side with its pullback: `pulled_at` takes it.
        knots: the ends of the steps of the solver, in order.
        first: the first value.
        at: what gives the solution at times in order, all knots among them, in rows.
        rtol, atol: the tolerances of the solution.
        asked: times at which the solution is asked for. Where they are few, steps end there; else,
            and where they are not known, the solution has to be as exact within the steps.
        columns: the right-hand side at many times, of values in columns; `None` if it takes none.
    """
    few = asked is not None and 4 * len(asked) <= len(knots)
    sign, cuts = -1.0 if knots[-1] < knots[0] else 1.0, np.zeros(0)
    if few:
        inside = sign * np.asarray(asked, float)
        cuts = inside[(inside > sign * knots[0]) & (inside < sign * knots[-1])]
    knots = sign * np.unique(np.concatenate([sign * knots, cuts]))
    if len(knots) == 1:  # of an interval of length 0
        knots = np.repeat(knots, 2)
    cuts = np.unique([0, *np.searchsorted(sign * knots, cuts), len(knots) - 1])
    parts = np.concatenate([[0.0], LONG.c, () if few else BETWEEN])
    tree = tree_of(tuple(cuts.tolist()))
    most = 2 if len(knots) * len(parts) * first.size > LARGE else len(knots)
    steps = Candidates(tree, most, knots, first, at, parts, (rtol, atol), rate_at(f, columns))
    chosen = longest(tree, most, steps.missed)
    times, values = steps.times[chosen], steps.values[chosen]
    slopes = steps.slopes[chosen].reshape(LAST * len(chosen), first.size)
    inside = slice(1, LAST + 1)
    rows = values[:, inside].reshape(slopes.shape)
    stages = pulled_at(*rate, times[:, inside].ravel(), rows, slopes, LAST)
    exact = max(1e-2 * float(np.min(np.minimum(rtol, SURE))), 1e-12)
    chosen, passed = np.append(knots[0], times[:, LAST]), np.vstack([first, values[:, LAST]])
    return Along(LONG, chosen, passed, slopes, stages, exact, values[:, inside])


@functools.lru_cache(256)  # solutions by parameters that are nearly the same have as many steps
def tree_of(cuts):
    """Return the ranges between some cuts, with their halves."""
    return Tree(np.array(cuts))


class Tree:
    """Ranges, their halves, the halves of these, and so on, by number.

    Attributes:
        begins, ends: the ranges.
        parents, halves: the range that each is a half of, and the first of its own halves, of
            which the second is the next one; -1 where there is none.
    """

    def __init__(self, cuts):
        begins, ends = [cuts[:-1]], [cuts[1:]]
        parents, halves, count = [np.full(len(cuts) - 1, -1)], [], 0
        while len(begins[-1]):
            begin, end = begins[-1], ends[-1]
            (halved,) = np.nonzero(end - begin > 1)
            first = np.full(len(begin), -1)
            first[halved] = count + len(begin) + 2 * np.arange(len(halved))
            begin, end = begin[halved], end[halved]
            middle = (begin + end) // 2
            halves.append(first)
            parents.append(np.repeat(count + halved, 2))
            begins.append(np.stack([begin, middle], axis=1).ravel())
            ends.append(np.stack([middle, end], axis=1).ravel())
            count += len(first)
        self.begins, self.ends = np.concatenate(begins), np.concatenate(ends)
        self.parents, self.halves = np.concatenate(parents), np.concatenate(halves)
        self.counts = self.ends - self.begins


def longest(tree, most, missed):
    """Return the longest ranges that are exact, in order: they cover everything.

    Arguments:
        tree: the ranges, each a number of steps of the solver.
        most: how many steps are joined at most.
        missed: what gives the errors of some ranges, as parts of what is allowed.
    """
    errors, floor = np.full(len(tree.counts), np.inf), 1.0
    is_exact = np.zeros(len(tree.counts), bool)
    begin = min(BEGIN, most)
    is_root = tree.parents < 0
    (asked,) = np.nonzero((tree.counts <= begin) & (is_root | (tree.counts[tree.parents] > begin)))
    while len(asked):
        errors[asked] = found = missed(asked)
        before = np.where(is_root[asked], np.inf, errors[tree.parents[asked]])
        of_solution = found[(found > before / 4) & (found <= NOISE)]  # no error of the method
        floor = max(floor, 1.5 * of_solution.max(initial=0.0))
        are_exact = (found <= floor) | (tree.counts[asked] == 1)
        is_exact[asked[are_exact]] = True
        halves = tree.halves[asked[~are_exact]]
        asked = np.concatenate([halves, halves + 1])
    while True:
        ample = is_exact & ~is_root & (errors < AMPLE * floor)
        both = tree.halves[np.unique(tree.parents[ample])]
        both = both[ample[both] & ample[both + 1]]
        asked = tree.parents[both]
        asked = asked[np.isinf(errors[asked]) & (tree.counts[asked] <= most)]
        if not len(asked):
            break
        errors[asked] = found = missed(asked)
        joined = asked[found <= floor]
        is_exact[joined] = True
        is_exact[tree.halves[joined]] = is_exact[tree.halves[joined] + 1] = False
    (chosen,) = np.nonzero(is_exact)
    return chosen[np.argsort(tree.begins[chosen])]


class Candidates:
    """The steps that a solution may be done with, one for each range of steps of the solver.

    Arguments:
        tree, most: the ranges, and how many steps of the solver are joined at most.
        knots, first, at, parts: the ends of the steps of the solver, the first value, what gives
            the solution, and at which parts of a step.
        tolerances: what is allowed, by the largest value and beside it.
        rates: what gives the right-hand side at times and values, in rows.

    Attributes:
        times, values: of each step at its parts; of those with more than `most` any values.
        slopes: those of steps that were tried.
    """

    def __init__(self, tree, most, knots, first, at, parts, tolerances, rates):
        self.counts, self.rates = tree.counts, rates
        self.weights = LONG.weights(np.concatenate([[1.0], parts[LAST + 1 :]])).T
        rtol, atol = tolerances
        self.rtol, self.atol = np.minimum(rtol, SURE), atol + np.finfo(float).tiny
        begins, ends = knots[tree.begins, None], knots[tree.ends, None]
        self.times = begins + parts * (ends - begins)
        self.times[:, LAST] = ends[:, 0]
        known = np.flatnonzero(tree.counts <= most)
        within = np.append(np.arange(1, LAST), np.arange(LAST + 1, len(parts)))
        every = np.concatenate([knots, self.times[np.ix_(known, within)].ravel()])
        order = np.argsort(every if knots[-1] >= knots[0] else -every)
        values = np.empty((every.size, first.size))
        values[order] = at(every[order])
        self.values = np.empty((*self.times.shape, first.size))
        self.values[known, 0] = values[tree.begins[known]]
        self.values[known, LAST] = values[tree.ends[known]]
        inside = values[len(knots) :].reshape(len(known), len(within), first.size)
        self.values[np.ix_(known, within)] = inside
        self.slopes = np.empty((len(self.times), LAST, first.size))

    def missed(self, steps):
        """Return by how much the method misses the ends of some steps, by what is allowed."""
        inside = slice(1, LAST + 1)
        times, values = self.times[steps], self.values[steps]
        rows = values[:, inside].reshape(LAST * len(steps), values.shape[2])
        slopes = self.rates(times[:, inside].ravel(), rows).reshape(values[:, inside].shape)
        self.slopes[steps] = slopes
        h = (times[:, LAST] - times[:, 0])[:, None, None]
        missed = np.abs(values[:, :1] + h * np.matmul(self.weights, slopes) - values[:, LAST:])
        allowed = self.rtol * np.abs(values).max(axis=1) + self.atol
        missed = (missed / allowed[:, None]).max(axis=(1, 2), initial=0.0)
        return missed / self.counts[steps] ** GROWTH


def rate_at(f, columns):
    """Return what gives a right-hand side at times and values, in rows."""

    def one_by_one(times, values):
        found = np.empty_like(values)
        for i, (t, x) in enumerate(zip(times, values, strict=True)):
            found[i] = f(t, np.array(x))
        return found

    def together(times, values):
        return columns(times, np.ascontiguousarray(values.T)).T

    return one_by_one if columns is None else together
