"""The pullback of a right-hand side at many stages: at all of them at once, or one by one.

Many right-hand sides take columns, too, as those of a few numbers and of a product with a matrix
do: they are called once with the values of all stages. Whether each column has its own derivative
is checked: two halves have to have the derivatives of the whole, at all stages, and one stage those
that it has alone.
"""

import functools

import numpy as np

from rules_scipy.shared.flat import leaves
from rules_scipy.shared.steps.rates import NoColumnsError
from rules_scipy.shared.steps.sums import Sum, form_of, size_of, together, weighted

FEW = 6  # equations whose derivatives are written out as matrices
MEDIUM = 100  # the most equations of which a derivative is prepared that may not be asked for
BLOCK = 2**20  # numbers that are kept
PLAIN = 6  # iterations over a step, after which an equation is taken for stiff
WIDE = 2**12  # numbers that a right-hand side is given at once
WIDEST = 2**16  # the most, where a derivative is written out
SAME = 1e-9  # by the largest: by how much two values of one number differ
DIRECTIONS = np.random.default_rng(0).uniform(0.5, 1.5, WIDE)


def pulled_at(one, many, plain, times, values, slopes, count):
    """Return what pulls back through a right-hand side at some stages.

    Arguments:
        one: the right-hand side and its pullback, at a time and a value.
        many: those at some times, of values in columns; `None` if it takes none.
        plain: the right-hand side alone, at some times.
        times, values, slopes: the stages, in rows, and the right-hand side there.
        count: how many stages a step has: those of many equations are pulled back step by step.
    """
    if many is not None and len(values) and values.shape[1]:
        found = at_once(one, many, plain, times, values, slopes, count)
        if found is not None:
            return found
    keep = kept_of(len(values), slopes.shape[1])
    found = [keep(one(t, np.array(x))[1]) for t, x in zip(times, values, strict=True)]
    return gathered(found, slopes.shape[1])


def kept_of(count, size):
    """Return what makes of a pullback what is kept of it, for so many stages and equations.

    Pullbacks hold many objects, which Python's collector of cycles visits again and again. Of a few
    equations only numbers are kept.
    """
    return Written(count, size) if size <= FEW else lambda back: back


def gathered(found, size):
    """Return what pulls back at stages, from what is kept of each: `None` where nothing is."""
    return WrittenOut(found, size) if size <= FEW else OneByOne(found, size)


class Written:
    """What writes out the derivatives at the stages of a few equations.

    Arguments:
        count, size: how many stages and equations there are.
    """

    def __init__(self, count, size):
        self.units, self.most, self.form = np.eye(size), BLOCK / max(count * size, 1), None

    def __call__(self, back):
        """Return cotangents of the time, of the value and of all others, for all unit vectors.

        Where those of all others are many, or of another form than at the first stage, the pullback
        is returned for these.
        """
        times, values, others = [], [], []
        for unit in self.units:
            df, dt, dx, *dargs = back(unit)
            times.append(0.0 if dt is None else dt)
            values.append(np.zeros_like(unit) if dx is None else dx)
            others.append((df, *dargs))
        forms = {form_of(d) for d in others}
        if self.form is None and others and size_of(others[0]) < self.most:
            self.form = forms
        is_kept = forms == self.form and len(forms) == 1 and None not in forms
        return times, values, *((others, None) if is_kept else (None, back))


class WrittenOut:
    """Pull back through a few equations at each stage alone, by derivatives that are written out.

    Arguments:
        found: what `Written` has returned for each stage; `None` where nothing depends on one.
        size: how many equations there are.
    """

    def __init__(self, found, size):
        nothing = [0.0] * size, [np.zeros(size)] * size, None, None
        self.found, self.size = [nothing if part is None else part for part in found], size

    @functools.cached_property
    def by_value(self):
        """The derivatives by the value, transposed."""
        rows = np.array([values for _, values, _, _ in self.found])
        return rows.reshape(len(self.found), self.size, self.size).swapaxes(-1, -2)

    @functools.cached_property
    def by_time(self):
        """The derivatives by the time, in rows."""
        return np.array([times for times, _, _, _ in self.found]).reshape(len(self.found), -1)

    def others(self, d):
        """Return the sum of the cotangents of all others, for those of the stages, in rows."""
        total, kept, weights = Sum(), [], []
        for (_, _, others, back), row in zip(self.found, d, strict=True):
            if others is not None:
                kept += others
                weights.append(row)
            elif back is not None:
                df, _, _, *dargs = back(row)
                total.add((df, *dargs))
        if kept:
            total.add(weighted(kept, np.ravel(weights)))
        return total.total()


class OneByOne:
    """Pull back through many equations at each stage alone.

    Arguments:
        backs: the pullbacks.
        size: how many equations there are.
    """

    plain = PLAIN

    def __init__(self, backs, size):
        self.backs, self.size = backs, size

    def step(self, i, d):
        """Return the cotangents of times, values and all others, for those of a step's stages."""
        times, values, others = np.zeros(len(d)), np.zeros_like(d), Sum()
        for s, back in enumerate(self.backs[i * len(d) : (i + 1) * len(d)]):
            df, dt, dx, *dargs = back(d[s])
            times[s] = 0.0 if dt is None else dt
            values[s] = 0.0 if dx is None else dx
            others.add((df, *dargs))
        return times, values, others.total()

    def values_of(self, i, d):
        """Return the cotangents of values alone, for those of a step's stages."""
        found = np.zeros_like(d)
        for s, back in enumerate(self.backs[i * len(d) : (i + 1) * len(d)]):
            dx = back(d[s])[2]
            if dx is not None:
                found[s] = dx
        return found

    def slope(self, place):
        """Return the derivative by the value at one stage, transposed."""
        found = [self.backs[place](unit)[2] for unit in np.eye(self.size)]
        return np.stack([np.zeros(self.size) if d is None else d for d in found], axis=1)


class AtOnce:
    """Pull back through a right-hand side at all stages at once.

    Arguments:
        many: the right-hand side and its pullback at some times, of values in columns.
        times, values: the stages, in rows.
        pulls: what pulls back at some stages each, as `columns` returns it.
        parts: which stages these are; of many equations, those of a step.
    """

    def __init__(self, many, times, values, pulls, parts):
        self.many, self.times, self.values = many, times, values
        self.pulls, self.parts, self.size = pulls, parts, values.shape[1]
        # an iteration calls one pullback: factors of many equations take as long as several
        self.plain = min(max(PLAIN, self.size // 6), 30)
        # in the middle of the last step, where a stiff equation has its derivative written out
        # first: here transformed code does it, and in the reverse pass the tape would
        self.begin = self.at_begin = None
        if FEW < self.size <= MEDIUM:
            self.begin = (parts[-1].start + parts[-1].stop) // 2
            self.at_begin = self.copied(self.begin, self.size)

    def pulled(self, d):
        """Return the cotangents of times, values and all others, for those of the stages."""
        found = [pull(d[part]) for pull, part in zip(self.pulls, self.parts, strict=True)]
        return joined(found)

    def step(self, i, d):
        """Return the same for the stages of a step alone, of many equations."""
        return self.pulls[i](d)

    def values_of(self, i, d):
        """Return the cotangents of values alone."""
        return self.pulls[i](d)[1]

    def slope(self, place):
        """Return the derivative by the value at one stage, transposed."""
        units, count = np.eye(self.size), max(1, WIDEST // self.size)
        if place == self.begin:
            return self.at_begin(units)[1].T
        found = []
        for begin in range(0, self.size, count):
            some = units[begin : begin + count]
            found.append(self.copied(place, len(some))(some)[1])
        return np.concatenate(found).T

    def copied(self, place, count):
        """Return what pulls back at so many copies of one stage."""
        times, values = np.full(count, self.times[place]), np.tile(self.values[place], (count, 1))
        return columns(self.many, times, values)

    @functools.cached_property
    def units(self):
        """What is found for unit vectors: cotangents of times, and of values."""
        count = self.parts[-1].stop
        return [self.pulled(np.tile(unit, (count, 1)))[:2] for unit in np.eye(self.size)]

    @functools.cached_property
    def by_value(self):
        """The derivatives by the value, transposed."""
        return np.stack([dx for _, dx in self.units], axis=2)

    @functools.cached_property
    def by_time(self):
        """The derivatives by the time, in rows."""
        return np.stack([dt for dt, _ in self.units], axis=1)

    def others(self, d):
        """Return the sum of the cotangents of all others, for those of the stages, in rows."""
        return self.pulled(d)[2]


def at_once(one, many, plain, times, values, slopes, step=None):
    """Return what pulls back at all stages at once, or `None` where that is not right.

    `step` is how many stages a step has: those of many equations are pulled back step by step.
    Vectors among the arguments may have to be columns, too.
    """
    upright = [functools.partial(x, upright=True) for x in (many, plain)]
    for forms in ((many, plain), upright):
        found = in_columns(one, *forms, times, values, slopes, step)
        if found is not None:
            return found
    return None


def in_columns(one, many, plain, times, values, slopes, step):
    """Return the same with the arguments in one form."""
    size = values.shape[1]
    most = max(3, WIDE // size)
    if size > FEW:
        most = max(most - most % step, step)
    blocks = ranges(0, len(values), most)
    pulls, parts = [], []
    try:
        for block in blocks:  # without a pullback, which takes long to find that it has none
            value = plain(times[block], np.ascontiguousarray(values[block].T))
            if not (value.dtype == slopes.dtype and is_same(value.T, slopes[block])):
                return None
        for block in blocks:
            pull = columns(many, times[block], values[block])
            steps = ranges(block.start, block.stop, most if size <= FEW else step)
            found = [pull]
            if len(steps) > 1:
                found = [columns(many, times[part], values[part]) for part in steps]
            check(one, many, times[block], values[block], pull, found)
            pulls += found
            parts += steps
        return AtOnce(many, times, values, pulls, parts)
    except Exception:  # whatever a right-hand side raises that takes no columns
        return None


def ranges(begin, end, most):
    """Return a range in parts that are not longer than `most`."""
    return [slice(i, min(i + most, end)) for i in range(begin, end, most)]


def check(one, many, times, values, pull, pulls):
    """Raise `NoColumnsError` where `pull`, which pulls back at some stages at once, is not right.

    Parts of the stages have to have the derivatives of the whole: then no column has any by
    another. One stage has to have those that it has alone. `pulls` pull back at parts of the same
    length; if there is but one, two halves are taken.
    """
    d = np.resize(DIRECTIONS, values.shape)
    half, at = len(values) // 2, len(values) // 3
    if len(pulls) > 1:
        parts = ranges(0, len(values), -(-len(values) // len(pulls)))
    else:
        parts = [part for part in (slice(half), slice(half, None)) if len(d[part])]
        pulls = [columns(many, times[part], values[part]) for part in parts]
    found = joined([pull(d[part]) for pull, part in zip(pulls, parts, strict=True)])
    only = np.zeros_like(d)
    only[at] = d[at]
    dt, dx, others = pull(only)
    df, dt_alone, dx_alone, *dargs = one(times[at], np.array(values[at]))[1](d[at])
    alone = 0.0 if dt_alone is None else dt_alone, dx_alone, (df, *dargs)
    if dx_alone is None or not (are_same(pull(d), found) and
                                are_same((dt[at], dx[at], others), alone)):  # fmt: skip
        raise NoColumnsError


def columns(many, times, values):
    """Return what pulls back at some stages at once.

    It gives cotangents of times and values, in rows, and of all others.
    """
    _, back = many(times, np.ascontiguousarray(values.T))

    def pull(d):
        df, dt, dx, *dargs = back(np.ascontiguousarray(d.T))
        dt = np.zeros(len(values)) if dt is None else dt
        return dt, np.zeros_like(values) if dx is None else dx.T, (df, *dargs)

    return pull


def joined(found):
    """Return what was found for some stages each, together."""
    if len(found) == 1:
        return found[0]
    times, values, others = zip(*found, strict=True)
    return np.concatenate(times), np.concatenate(values), together(others)


def are_same(found, other):
    """Return whether cotangents of times, values and all others are the same, but for rounding."""
    first, second = dict(leaves(found[2], ())), dict(leaves(other[2], ()))
    return (
        is_same(found[0], other[0])
        and is_same(found[1], other[1])
        and first.keys() == second.keys()
        and all(is_same(x, second[way]) for way, x in first.items())
    )


def is_same(x, y):
    """Return whether two arrays are the same, but for rounding."""
    if np.shape(x) != np.shape(y):
        return False
    return np.abs(x - y).max(initial=0.0) <= SAME * np.abs(x).max(initial=0.0)
