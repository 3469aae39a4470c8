"""The pullback of a right-hand side at many stages: at all of them at once, or one by one.

Many right-hand sides take columns, too, as those of a few numbers and of a product with a matrix
do: they are called once with the values of all stages. Whether each column has its own derivative
is checked: two halves have to have the derivatives of the whole, at all stages, and one stage those
that it has alone.
"""

import functools

import numpy as np

from rules_scipy.shared.flat import leaves
from rules_scipy.shared.steps.sums import Sum, size_of, together, weighted

FEW = 6  # equations whose derivatives are written out as matrices
BLOCK = 2**20  # numbers that are kept
WIDE = 2**12  # numbers that a right-hand side is given at once
SAME = 1e-9  # by the largest: by how much two values of one number differ
DIRECTIONS = np.random.default_rng(0).uniform(0.5, 1.5, WIDE)


def pulled_at(one, many, plain, times, values, slopes):
    """Return what pulls back through a right-hand side at some stages.

    Arguments:
        one: the right-hand side and its pullback, at a time and a value.
        many: those at some times, of values in columns; `None` if it takes none.
        plain: the right-hand side alone, at some times.
        times, values, slopes: the stages, in rows, and the right-hand side there.
    """
    if many is not None and len(values) and 0 < values.shape[1] <= FEW:
        found = at_once(one, many, plain, times, values, slopes)
        if found is not None:
            return found
    backs = [one(t, np.array(x))[1] for t, x in zip(times, values, strict=True)]
    return OneByOne(backs, slopes.shape[1])


class OneByOne:
    """Pull back through a right-hand side at each stage alone.

    Arguments:
        backs: the pullbacks, some of them at several stages; `None` where nothing depends on one.
        size: how many equations there are.
    """

    def __init__(self, backs, size):
        self.backs, self.size = backs, size

    @functools.cached_property
    def found(self):
        """What the pullbacks give for unit vectors, those of each stage together.

        These are cotangents of the time, of the value, and of all others, unless these are many.
        """
        units, found, keeps = np.eye(self.size), [], None
        known = {id(None): [(None, None, None)] * self.size}
        for back in self.backs:
            if id(back) not in known:
                known[id(back)] = of_units = []
                for unit in units:
                    df, dt, dx, *dargs = back(unit)
                    if keeps is None:
                        count = len(self.backs) * self.size
                        keeps = count * size_of((df, *dargs)) < BLOCK
                    of_units.append((dt, dx, (df, *dargs) if keeps else None))
            found += known[id(back)]
        return found

    @functools.cached_property
    def by_value(self):
        """The derivatives by the value, transposed."""
        rows = [np.zeros(self.size) if dx is None else dx for _, dx, _ in self.found]
        return np.array(rows).reshape(len(self.backs), self.size, self.size).swapaxes(-1, -2)

    @functools.cached_property
    def by_time(self):
        """The derivatives by the time, in rows."""
        return np.array([0.0 if d[0] is None else d[0] for d in self.found]).reshape(
            len(self.backs), -1
        )

    def others(self, d):
        """Return the sum of the cotangents of all others, for those of the stages, in rows."""
        others = [d[2] for d in self.found]
        if any(other is not None for other in others):
            try:
                return weighted(others, np.ravel(d))
            except TypeError:
                pass
        total = Sum()
        for back, row in zip(self.backs, d, strict=True):
            if back is not None:
                df, _, _, *dargs = back(row)
                total.add((df, *dargs))
        return total.total()


class AtOnce:
    """Pull back through a right-hand side at all stages at once.

    Arguments:
        pulls: what pulls back at some stages each, as `columns` returns it.
        parts: which stages these are.
        size: how many equations there are.
    """

    def __init__(self, pulls, parts, size):
        self.pulls, self.parts, self.size = pulls, parts, size

    def pulled(self, d):
        """Return the cotangents of times, values and all others, for those of the stages."""
        found = [pull(d[part]) for pull, part in zip(self.pulls, self.parts, strict=True)]
        return joined(found)

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


class NoColumnsError(Exception):
    """Tell that a right-hand side does not take columns, each for itself."""


def at_once(one, many, plain, times, values, slopes):
    """Return what pulls back at all stages at once, or `None` where that is not right."""
    count, size = values.shape
    most = max(3, WIDE // size)
    parts = [slice(i, min(i + most, count)) for i in range(0, count, most)]
    try:
        for part in parts:  # without a pullback, which takes long to find that it has none
            value = plain(times[part], np.ascontiguousarray(values[part].T))
            if not (value.dtype == slopes.dtype and is_same(value.T, slopes[part])):
                return None
        pulls = [checked(one, many, times[part], values[part]) for part in parts]
    except Exception:  # whatever a right-hand side raises that takes no columns
        return None
    return AtOnce(pulls, parts, size)


def checked(one, many, times, values):
    """Return what pulls back at some stages; raise `NoColumnsError` where it is not right.

    Two halves of the stages have to have the derivatives of the whole: then no column has any by
    another. One stage has to have those that it has alone.
    """
    pull = columns(many, times, values)
    d = np.resize(DIRECTIONS, values.shape)
    half, at = len(values) // 2, len(values) // 3
    halves = [columns(many, times[part], values[part])(d[part])
              for part in (slice(half), slice(half, None)) if len(d[part])]  # fmt: skip
    only = np.zeros_like(d)
    only[at] = d[at]
    dt, dx, others = pull(only)
    df, dt_alone, dx_alone, *dargs = one(times[at], np.array(values[at]))[1](d[at])
    alone = 0.0 if dt_alone is None else dt_alone, dx_alone, (df, *dargs)
    if dx_alone is None or not (are_same(pull(d), joined(halves)) and
                                are_same((dt[at], dx[at], others), alone)):  # fmt: skip
        raise NoColumnsError
    return pull


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
