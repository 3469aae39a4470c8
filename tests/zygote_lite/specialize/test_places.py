"""Loops over the places and pairs of arrays: `np.ndindex`, `np.ndenumerate`, `product` and others.

Also products and reversed walks of arrays. They are transformed, and agree with differences and
with the tape, also for other shapes, without entries, and where the loop writes what it walks over.
"""

import itertools
import math

import numpy as np
import pytest

from tests.zygote_lite.checks import programs
from zygote_lite import grad, testing

A, B = np.arange(1.0, 7.0).reshape(2, 3) / 4, np.arange(4.0, 0.0, -1.0).reshape(4, 1) / 3
EMPTY, V = np.ones((0, 3)), np.array([0.5, -1.5, 2.0, 0.25])
PROGRAMS = []
tried = programs.declaring(PROGRAMS)


@tried((A,), (B,), (EMPTY,), (A.T,))
def loops_over_places(x):
    y = np.empty_like(x)
    for place in np.ndindex(x.shape):
        y[place] = math.sin(x[place]) * (1 + place[0])
    for i, j in np.ndindex(*x.shape):
        y[i, j] = y[i, j] * x[i, 0] + j
    return np.sum(y * y)


@tried((A, 2), (B, 1), (A, 0))
def loops_over_places_of_numbers(x, n):
    s = 0.0
    for i, j, k in np.ndindex(len(x), 1, n):
        s += x[i, j] ** 2 * (k + 1)
        if s > 40.0:
            break
    else:
        s = s * x[0, 0]
    return s + sum([x[i] @ x[i] for (i,) in np.ndindex(len(x))])


@tried((A,), (B,), (EMPTY,), (np.array(0.7),))
def enumerates(x):
    s = 0.0 * np.sum(x)
    for place, v in np.ndenumerate(x):
        if v < 0.3:
            continue
        s = s + v * v * (1 + sum(place))
    return s


@tried((A,), (B,), (EMPTY,))
def writes_what_it_enumerates(x):
    x = x.copy()
    for (i, j), v in np.ndenumerate(x):
        if j + 1 < x.shape[1]:
            x[i, j + 1] += v * v
    return np.sum(x)


@tried((A,), (B,), (EMPTY,))
def walks_over_its_lengths(x):
    n = 1
    for length in x.shape:
        n = n * length
    shape = (*x.shape, 2)
    return np.sum(np.ones(shape)[..., 0] * x) * n + [*x.shape][1] * np.sum(x)


@tried((V, 3), (V, 1), (V, 0), (V[:2], 2))
def of_two_ranges(x, n):
    s = 0.0
    for i, j in itertools.product(range(n), range(len(x))):
        if j == 1:
            continue
        s += x[j] ** (i + 1)
        if s > 30.0:
            break
    else:
        s += x[0]
    return s


@tried((V,), (V[:1],), (V[:0],))
def of_arrays(x):
    s = 0.0
    for a, b in itertools.product(x, x[::-1]):
        s += a * b * b
    for a, b, c in itertools.product(x, (1.0, 2.0), range(2)):
        s += a**2 * b * c
    for a, b in itertools.product(x, repeat=2):
        s += math.sin(a) * b
    for row in itertools.product((0, 1), repeat=4):
        s += sum(row) * (s + 1.0) * 0.01
    for (a,) in itertools.product(x):
        s += a
    return s


@tried((V,), (V[:2],))
def has_copied_what_it_is_given(x):
    values, seen = [v * v for v in x], 0.0
    for a, b in itertools.product(values, values):
        values.append(a)
        seen += a * b
    return seen + values[-1] * len(values)


@tried((V,), (V[:2],))
def has_taken_all_when_it_is_made(x):
    values, y = [v * v for v in x], x * 1.0
    rows = itertools.product(values, y), itertools.combinations(values, 2)
    more = itertools.permutations(values, 2), itertools.combinations_with_replacement(y, 2)
    values[0] = values[1] * 5.0
    values.append(x[0])
    y[0] = 7.0
    return sum([a * b * b * (k + 1) for k, some in enumerate((*rows, *more)) for a, b in some])


@tried((V,), (V[:2],), (V[:1],), (V[:0],))
def of_pairs(x):
    s = 0.0 * np.sum(x)
    for a, b in itertools.combinations(x, 2):
        s = s + (a - b) ** 4
    for i, j in itertools.combinations(range(len(x)), 2):
        if j - i > 1:
            break
        s = s + x[i] * x[j] * j
    values = [v * v for v in x]
    return s + sum([a * b for a, b in itertools.combinations(values, 2)])


@tried((V,), (V[:1],), (V[:0],))
def multiplies(x):
    return math.prod(x) * 2.0 + math.prod(x * x, start=3.0)


@tried((A,), (B,))
def multiplies_rows(x):
    return np.sum(math.prod(x))


@tried((A,), (B,), (EMPTY,))
def walks_backwards(x):
    s = 0.0 * np.sum(x)
    for i, row in enumerate(reversed(x)):
        for v in reversed(row):
            s = s * 0.9 + v * v * i
    values = [v * v for v in x[:, 0]]
    return s + sum([a * b for a, b in zip(reversed(values), x[:, 0])])


@tried((V,), (V[:2],))
def writes_what_it_walks_over_backwards(x):
    x = x.copy()
    for i, v in enumerate(reversed(x)):
        if i + 1 < len(x):
            x[len(x) - 2 - i] += v * v
    return np.sum(x)


@pytest.mark.sampled(2)
@programs.for_each(PROGRAMS)
def test_it_is_as_on_the_tape_and_as_differences(f, choices):
    programs.assert_transformed(f, choices, (0,))


def test_errors_of_numpy_and_python_come_through():
    def negative(x, n):
        return x * len([*np.ndindex(2, n)])

    def uneven(x, r):
        return sum([a * b for a, b in itertools.combinations(x, r)])

    for _ in range(4):
        with pytest.raises(ValueError, match="negative dimensions"):
            grad(negative)(2.0, -1)
        with pytest.raises(TypeError, match="integer"):
            grad(uneven)(V, 2.0)


def test_what_is_taken_of_places_is_gone():
    def f(x):
        places, entries = np.ndindex(x.shape), np.ndenumerate(x)
        first, _ = next(places), next(entries)
        s = x[first] ** 3
        for place in places:
            s = s + x[place]
        return s + sum([v * v for _, v in entries]) + sum([v for _, v in entries])

    want = np.where([[True, False, False], [False] * 3], 3 * A**2, 1 + 2 * A)
    for _ in range(4):
        np.testing.assert_allclose(grad(f)(A), want)


def test_a_walk_backwards_ends_once():
    def twice(x):
        walk = reversed(x)
        return sum([v * v for v in walk]) + sum([v for v in walk])

    with testing.compared():
        for _ in range(3):
            np.testing.assert_allclose(grad(twice)(V), 2 * V)
