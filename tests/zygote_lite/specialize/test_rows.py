"""Rows of data that are given or read from outside: lists and tuples of many items, all alike."""

import copy
import math
from collections import defaultdict
from typing import NamedTuple

import numpy as np
import pytest

from zygote_lite import testing, value_and_grad

COUNT = 100  # fewer than 65 are written one by one


class Point(NamedTuple):
    x: float
    y: float


PAIRS = [(0.1 * i, math.sin(0.1 * i)) for i in range(COUNT)]
RECORDS = [{"x": x, "y": y, "group": "ab"[i % 2]} for i, (x, y) in enumerate(PAIRS)]


def fit(a, data):
    total = 0.0
    for x, y in data:
        total += (y - a * x) ** 2
    return total


def of_fields(a, data):
    return sum((p.y - a * p.x) ** 2 for p in data)


def of_groups(a, data):
    groups = defaultdict(list)
    for r in data:
        groups[r["group"]].append(r["y"] - a * r["x"])
    return sum(sum(e * e for e in es) / len(es) for es in groups.values())


def of_steps(a, data):
    total = 0.0
    for (x, y), (u, v) in zip(data, data[1:], strict=False):  # noqa: RUF007 - of a list
        total += (v - y - a * (u - x)) ** 2
    return total * data[2][0] + len(data) * a * data[-1][1]


def of_arrays(a, data):
    return sum((y - a * (x @ x)) ** 2 for i, (x, y) in enumerate(data) if i % 3)


def of_nested(a, data):
    total = 0.0
    for name, (x, (y, z)), _ in data:
        if name != "b":
            total += (y - a * x) ** 2 * z
    return total


def of_lists(a, data):
    residuals = [y - a * x for x, y, *_ in data]
    return np.dot(residuals, residuals)


def of_numbers(a, data):
    return math.fsum((a - x) ** 2 for x in data) if data is not None else a


def from_around(a):
    return of_groups(a, RECORDS) + fit(a, PAIRS)


ARRAYS = [(np.array([x, 1.0]), y) for x, y in PAIRS]
NESTED = [("ab"[i % 2], (x, (y, i)), None) for i, (x, y) in enumerate(PAIRS)]
TRANSFORMED = {
    "pairs": (fit, PAIRS),
    "a tuple": (fit, tuple(PAIRS)),
    "integers": (fit, [(i, -i) for i in range(COUNT)]),
    "named": (of_fields, [Point(*p) for p in PAIRS]),
    "dicts": (of_groups, RECORDS),
    "neighbours": (of_steps, PAIRS),
    "arrays": (of_arrays, ARRAYS),
    "nested": (of_nested, NESTED),
    "lists": (of_lists, [[x, y, "text"] for x, y in PAIRS]),
    "numbers": (of_numbers, tuple(x for x, _ in PAIRS)),
    "from around": (lambda a, _: from_around(a), None),
}


def compare(differentiated, f, a, data, tier=None):
    """Compare an answer with differences and the tape, and what is left in the arguments."""
    given, plain = copy.deepcopy(data), copy.deepcopy(data)
    with testing.observed() as answers:
        value, d = differentiated(a, given)
    want = f(a, plain)
    assert repr(given) == repr(plain)
    h = 1e-5
    numeric = (f(a + h, copy.deepcopy(data)) - f(a - h, copy.deepcopy(data))) / (2 * h)
    np.testing.assert_allclose((value, d), (want, numeric), rtol=1e-6)
    assert tier is None or answers[-1].tier == tier
    with testing.recorded_only():
        np.testing.assert_allclose(differentiated(a, copy.deepcopy(data))[1], d, rtol=1e-12)


@pytest.mark.parametrize("name", TRANSFORMED)
def test_rows(name):
    f, data = TRANSFORMED[name]
    differentiated = value_and_grad(f)
    for _ in range(2):
        differentiated(0.7, data)
    compare(differentiated, f, 0.7, data, "transformed")
    if data is not None:  # other rows, and another number of them
        compare(differentiated, f, -0.3, data[5:-3], "transformed")
        compare(differentiated, f, -0.3, data[:3])


@pytest.mark.parametrize(("f", "data"), [(fit, PAIRS), (of_groups, RECORDS), (of_arrays, ARRAYS)])
def test_rows_of_another_kind_are_noticed(f, data):
    differentiated = value_and_grad(f)
    for _ in range(3):
        differentiated(0.7, data)

    def changed(row):
        if isinstance(row, dict):
            return {**row, "x": 2}, dict(reversed(row.items())), {**row, "more": 1.0}
        if f is of_arrays:
            return (row[0].astype(np.float32), row[1]), (np.ones(3), row[1])
        return (2, row[1]), [*row], (np.float64(row[0]), True)

    for other in changed(data[7]):
        for _ in range(3):
            compare(differentiated, f, 0.7, [*data[:7], other, *data[8:]])
            compare(differentiated, f, 0.7, data, "transformed")
    assert differentiated(0.7, [])[0] == 0


def appending(a, data):
    data.append((a, 2.0))
    return fit(a, data)


def writing_rows(a, data):
    total = 0.0
    for row in data:
        row[0] = row[0] * a
        total += row[0] * row[1]
    return total


def writing_an_alias(a, data, first):
    first[0] = 5.0 * a
    return sum(a * x * y for x, y in data)


def writing_an_array(a, data, x):
    x[0] = 7.0
    return sum(a * (v @ v) for v, _ in data)


def asking(a, data, other):
    return a * (2.0 if data is other else 3.0) + fit(a, data)


LISTS = [[*p] for p in PAIRS]
VECTORS = [(np.array([x, y]), y) for x, y in PAIRS]


@pytest.mark.parametrize(
    ("f", "more"),
    [
        (appending, (PAIRS,)),
        (writing_rows, (LISTS,)),
        (writing_rows, ([[x, y, "text"] for x, y in PAIRS],)),
        (writing_an_alias, (LISTS, LISTS[3])),
        (writing_an_array, (VECTORS, VECTORS[4][0])),
        (asking, (PAIRS, PAIRS)),
        (asking, (PAIRS, [*PAIRS])),
    ],
)
def test_rows_that_are_changed(f, more):
    """Who writes to rows, or asks which object they are, gets what the tape gives."""
    differentiated = value_and_grad(f)
    for _ in range(3):
        given, plain = copy.deepcopy(more), copy.deepcopy(more)
        with testing.recorded_only():
            want = value_and_grad(f)(0.7, *copy.deepcopy(more))
        found = differentiated(0.7, *given)
        f(0.7, *plain)
        assert repr(given) == repr(plain)
        np.testing.assert_allclose(found, want, rtol=1e-12)


def test_differentiated_rows():
    """Rows that a gradient passes to are no data."""
    differentiated = value_and_grad(lambda data: fit(0.7, data))
    for _ in range(3):
        _, found = differentiated(LISTS)
    want = [[-2 * 0.7 * (y - 0.7 * x), 2 * (y - 0.7 * x)] for x, y in LISTS]
    np.testing.assert_allclose(found, want, rtol=1e-12)
    outer = value_and_grad(lambda b: fit(b, [(b * x, y) for x, y in PAIRS]))
    for _ in range(3):
        _, d = outer(0.7)
    np.testing.assert_allclose(d, sum(-4 * 0.7 * x * (y - 0.49 * x) for x, y in PAIRS), rtol=1e-12)


class Joint:
    def __init__(self, length, kind):
        self.length, self.kind = length, kind

    def reach(self, q):
        return self.length * np.cos(q) if self.kind == "revolute" else self.length + q


JOINTS = [Joint(1.0, "revolute"), Joint(0.5, "prismatic"), Joint(0.8, "revolute")]


def joints(q):
    total = 0.0
    for i, (joint, angle) in enumerate(zip(JOINTS, q, strict=True)):
        total = total * 0.5 + joint.reach(angle) * (i + 1)
    return total


def of_growing_tuple(q):
    x, found = q * 1.0, ()
    for v in x:
        found = (*found, v)
        x[2] = v
    return sum(found)


def of_objects_and_parts(q):
    x, total = q * 1.0, 0.0
    for joint, angle in zip(JOINTS, x, strict=True):
        total += joint.reach(angle)
        x[2] = total
    return total


def of_an_argument(q):
    total = 0.0
    for joint, angle in zip(JOINTS, q, strict=True):
        total += joint.reach(angle)
        q[2] = total
    return total


@pytest.mark.parametrize("f", [of_growing_tuple, of_objects_and_parts, of_an_argument])
def test_an_array_that_is_written_while_a_loop_walks_over_it(f):
    """The entries are read one after another, not before the first iteration."""
    q = np.array([0.3, 0.4, 0.5])
    with testing.recorded_only():
        value, d = value_and_grad(f)(q.copy())
    differentiated = value_and_grad(f)
    for _ in range(3):
        found = differentiated(q.copy())
    assert found[0] == value == f(q.copy())
    np.testing.assert_allclose(found[1], d, rtol=1e-12)


def test_objects_beside_an_array():
    """The array is taken apart into as many numbers as there are objects."""
    differentiated = value_and_grad(joints)
    q = np.array([0.3, 0.2, -0.5])
    for _ in range(2):
        differentiated(q)
    with testing.observed() as answers:
        value, d = differentiated(q)
    assert answers[-1].tier == "transformed"
    assert value == joints(q)
    want = [-0.25 * np.sin(0.3), 2 * 0.5, 3 * 0.8 * np.sin(0.5)]
    np.testing.assert_allclose(d, want, rtol=1e-12)
    with pytest.raises(ValueError, match="zip"):
        differentiated(np.ones(4))


def test_texts_that_become_numbers_are_noticed():
    def f(x, rows):
        total = 0.0
        for a, name, b in rows:
            total = total + (x * a if name == "n" else x * b)
        return total

    rows = [(1.0, "n", 2.0), (2.0, "m", 5.0)] * 20
    others = [(1.0, "n", 2.0), (2.0, 7.0, 5.0)] * 20
    for given in (rows, rows, rows, others, others, others, rows):
        assert value_and_grad(f)(2.0, given) == (240.0, 120.0)
