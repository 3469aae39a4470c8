"""Changes of lists: entries come, go and move, and their cotangents with them."""

import collections
import itertools
import operator
import random
import tracemalloc

import numpy as np
import pytest

from tests.zygote_lite.checks.comparing import assert_same
from tests.zygote_lite.checks.finite_differences import assert_slopes
from tests.zygote_lite.checks.oracles import assert_agreement
from zygote_lite import DifferentiationError, grad, gradient, jvp, pullback, value_and_grad
from zygote_lite.testing import recorded_only


def change(a, b, x, steps):
    """Change two lists by chosen steps; return a number that depends on each entry."""
    total = 0.0
    for step, i, j in steps:
        n = len(a)
        at = i % n if n else 0
        if step == "insert":
            a.insert(i - 4, x * j)
        elif step == "append":
            a.append(x + j)
        elif step == "set" and n:
            a[at] = a[at] * 0.5 + a[-1] * j
        elif step == "pop" and n:
            total = total * 0.9 + a.pop(at - n) * i
        elif step == "delete" and n:
            del a[at]
        elif step == "remove" and n:
            a.remove(a[at])
        elif step == "slice":
            a[at : at + j] = b[: i % 3]
        elif step == "cut":
            del a[at : at + j]
        elif step == "steps":
            a[::2] = [v * x for v in a[::2]]
        elif step == "thin":
            del a[at % 2 :: 3]
        elif step == "sort":
            a.sort(key=lambda v: -v, reverse=j % 2)
        elif step == "reverse":
            a.reverse()
        elif step == "extend":
            a += b[:2]
        elif step == "clear" and i == 0:
            b.extend(a[:2])
            a.clear()
        a, b = (b, a) if i == j else (a, b)
    return total + sum([(i + 1) * v for i, v in enumerate(a)]) * 0.1 + sum(b)


STEPS = ("insert", "append", "set", "pop", "delete", "remove", "slice", "cut", "steps", "thin",
         "sort", "reverse", "extend", "clear", "insert", "append", "pop", "slice")  # fmt: skip


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(60))
def test_steps_chosen_by_chance(seed):
    chance = random.Random(seed)
    steps = [(chance.choice(STEPS), chance.randrange(9), chance.randrange(4)) for _ in range(25)]
    entries = [chance.uniform(-1, 1) for _ in range(6)]

    def f(entries, x):
        return change(entries, [x, entries[0] * x], x, steps)

    def at(k, h):
        given = [*entries, 0.7]
        given[k] += h
        return f(given[:-1], given[-1])

    given = list(entries)
    y, back = pullback(f, given, 0.7)
    after = list(given)
    _, d_entries, dx = back(1.0)
    plain = list(entries)
    assert y == f(plain, 0.7)
    assert_same(given, after)
    assert_same(after, plain)
    found = [d or 0.0 for d in [*(d_entries or [None] * 6), dx]]
    h = 1e-6
    expected = [(at(k, h) - at(k, -h)) / (2 * h) for k in range(7)]
    assert found == pytest.approx(expected, rel=1e-5, abs=1e-6)
    assert back(1.0)[1:] == (d_entries, dx)
    assert_same(given, after)


def by_pop(x, n):
    a, total = [x * i for i in range(n)], 0.0
    while a:
        total = total * 0.5 + a.pop(0)
    return total


def by_insert(x, n):
    a = []
    for i in range(n):
        a.insert(0, x * i)
    return sum(a)


def by_delete(x, n):
    a, total = [x * i for i in range(n)], 0.0
    while len(a) > 2:
        total = total + a[0]
        del a[0]
        a[0:1] = []
    return total


def by_remove(x, n):
    a, total = [x * i for i in range(n)], 0.0
    while a:
        total = total + a[0]
        a.remove(a[0])
    return total


@pytest.mark.parametrize("f", [by_pop, by_insert, by_delete, by_remove])
def test_a_change_of_a_list_keeps_no_copy_of_it(f):
    gradient(f, 0.5, 3)
    peaks = []
    for n in (50, 400):
        tracemalloc.start()
        try:
            assert gradient(f, 0.5, n)[0] == pytest.approx(f(1.0, n))
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    assert peaks[1] < 14 * peaks[0], peaks


def takes_the_first(a):
    return a.pop(0) * 2.0 + a[0]


def test_a_list_that_got_entries_since():
    a = [1.0, 2.0, 3.0]
    _, back = pullback(takes_the_first, a)
    a.append(9.0)
    assert back(1.0)[1][:2] == [2.0, 1.0]
    assert a == [2.0, 3.0, 9.0]


def test_a_list_that_lost_entries_since_is_refused():
    a = [1.0, 2.0, 3.0]
    _, back = pullback(takes_the_first, a)
    takes_the_first(a)
    with pytest.raises(DifferentiationError, match="lost or got entries"):
        back(1.0)
    assert a == [3.0]


def test_the_key_of_a_sort_is_computed_once_for_each_entry():
    calls = []

    def key(v):
        calls.append(0)
        return -v

    def f(a):
        b = [2.0 * v for v in a]
        b.sort(key=key)
        return b[0] + 3.0 * b[1]

    assert gradient(f, [1.0, 5.0, 2.0]) == ([None, 2.0, 6.0],)
    assert len(calls) == 3


def test_what_is_not_in_a_list_is_the_error_of_python():
    def f(x):
        a = [x]
        a.remove(x + 1.0)

    with pytest.raises(ValueError, match=r"list\.remove") as plain:
        f(1.0)
    with pytest.raises(ValueError, match=r"list\.remove") as found:
        gradient(f, 1.0)
    assert str(found.value) == str(plain.value)


@pytest.mark.parametrize("place", [3, -4, -5])
def test_writing_outside_of_a_list_is_the_error_of_python(place):
    """-4 and -5 were taken for places counted from the end, twice."""

    def f(x):
        a = [1.0, 2.0, 3.0]
        a[place] = x
        return a[-1]

    for call in (f, lambda x: gradient(f, x)):
        with pytest.raises(IndexError, match="list assignment index out of range"):
            call(1.0)


def test_tuples_that_are_repeated():
    def f(x):
        t, u = (x, x * x) * 3, 2 * (x * 5.0, x)
        return t[0] + t[2] * 10.0 + t[5] * 100.0 + u[0] + u[3]

    with recorded_only():
        assert gradient(f, 3.0) == (1.0 + 10.0 + 600.0 + 5.0 + 1.0,)


@pytest.mark.parametrize("operator", ["+=", "*="])
@pytest.mark.parametrize("start", ["[x[0], x[1]]", "[1.0, 2.0]", "deque([x[1], 3.0])"])
def test_an_array_makes_an_array_of_a_list_in_place(start, operator):
    names = {"np": np, "deque": collections.deque}
    exec(  # the operators are many
        f"def f(x):\n    y = {start}\n    z = y\n    y {operator} x\n"
        "    return np.sum(np.sin(y)) + len(z) * z[0]",
        names,
    )
    f, x = names["f"], np.array([0.3, 0.5])
    expected = [(f(x + d) - f(x - d)) / 2e-6 for d in np.eye(2) * 1e-6]
    for _ in range(3):
        np.testing.assert_allclose(grad(f)(x), expected, rtol=1e-6)
    np.testing.assert_allclose(jvp(f, (x,), (x,))[1], expected @ x, rtol=1e-6)


def test_a_list_that_is_made_anew_is_emptied_first():
    def f(x):
        y = [x, 2.0 * x]
        y.__init__([x * x])
        list.__init__(y, [*y, 3.0 * x])
        return sum(y)

    for _ in range(3):
        assert grad(f)(2.0) == 7.0


# -- what is put in, and what sorts, may look at the list ------------------------------------------


class Growing(list):
    def __init__(self, xs):
        super().__init__(v * (1 + len(self)) for v in xs)


class GrowingDict(dict):
    def __init__(self, pairs):
        super().__init__((key, v * (1 + len(self))) for key, v in pairs)


def extended_by_itself(x):
    y = [x, x * x]
    y.extend(v * 2.0 for v in y if len(y) < 6)
    return sum(y)


def extended_by_its_length(x):
    y = [x, x * x]
    y.extend(map(lambda v: v * len(y), [x, x * x, x]))
    return sum(y)


def extended_by_its_first(x):
    y = [x, x * x]
    y.extend(itertools.islice(y, 5))
    return sum(y)


def extended_by_operator(x):
    y = [x, x * x]
    y += (v * len(y) for v in [x, x * x, x])
    return sum(y)


def extended_in_a_loop(x):
    y = [x]
    for _ in range(3):
        y.extend(v * len(y) for v in (x, y[-1]))
    return sum(y)


def extended_deque(x):
    y = collections.deque([x, x * x])
    y.extend(v * len(y) for v in [x, x * x, x])
    return sum(y)


def begun_again_by_itself(x):
    y = [x, x * x]
    y.__init__(v * 2.0 for v in y)
    return sum(y) + len(y) * x + x


def begun_again_by_an_iterator(x):
    y = [x, x * x]
    y.__init__(iter(y))
    return sum(y) + len(y) * x + x


def begun_again_by_its_length(x):
    y = [x, x * x]
    list.__init__(y, (v * (1 + len(y)) for v in [x, x * x, x]))
    return sum(y)


def begun_again_by_a_list(x):
    y = [x, x * x]
    y.__init__(y[1:] + y[:1] + [x])
    return y[0] * y[1] + y[2]


def filled_again(x):
    y = {1: x}
    y.__init__(((key, v * len(y)) for key, v in [(2, x), (3, x * x)]), a=x)
    return sum(y.values())


def of_a_class(x):
    y = Growing(v for v in [x, x * x])
    y.extend(v * len(y) for v in y if len(y) < 5)
    return sum(y)


def of_a_class_of_dicts(x):
    return sum(GrowingDict([(2, x), (3, x * x), (4, x)]).values())


def sorted_by_its_length(x):
    y = [x * 2.0, x * x * 1.1, x * 3.0]
    y.sort(key=lambda v: v * (len(y) - 1))
    return y[0] * y[1]


def sorted_by_a_function_that_looks(x):
    y = [x * 2.0, x * x * 1.1, x * 3.0]

    def rest(v):
        return sum(y) - v if y else v

    y.sort(key=lambda v: rest(v), reverse=True)
    return y[0] * y[1]


class Ranked:
    def __init__(self, values):
        self.values = values

    def rank(self, v):
        return v * (len(self.values) - 1)

    def best(self):
        self.values.sort(key=self.rank)
        return self.values[0] * self.values[1]


def sorted_by_a_method(x):
    return Ranked([x * 2.0, x * x * 1.1, x * 3.0]).best()


def changed_while_it_is_sorted(x):
    y = [x * 2.0, x * x * 1.1, x * 3.0]
    try:
        y.sort(key=lambda v: y.append(x) or v)
    except ValueError:
        return sum(y) * len(y)
    return x


def sorted_in_vain(x):
    y = [x * 2.0, x * x * 1.1, x * 3.0]
    try:
        y.sort(key=lambda v: -v if v < 5.0 else 1 / 0)
    except ZeroDivisionError:
        return y[0] + 2.0 * y[1] + 3.0 * y[2] * len(y)
    return x


def set_begun_again(x):
    y = {1}
    y.__init__(key + len(y) for key in [5, 5, 5])
    return (len(y) + max(y)) * x


class GrowingSet(set):
    def __init__(self, keys):
        super().__init__(key + len(self) for key in keys)


def of_a_class_of_sets(x):
    y = GrowingSet(key for key in [5, 5, 5])
    return (len(y) + max(y)) * x


def counted_as_they_are_taken(x):
    y = collections.Counter([1])
    y.update(key + len(y) for key in [1, 1, 1])
    return (len(y) + max(y)) * x


LOOKING = [
    extended_by_itself, extended_by_its_length, extended_by_its_first, extended_by_operator,
    extended_in_a_loop, extended_deque, begun_again_by_itself, begun_again_by_an_iterator,
    begun_again_by_its_length, begun_again_by_a_list, filled_again, of_a_class,
    of_a_class_of_dicts, sorted_by_its_length, sorted_by_a_function_that_looks, sorted_by_a_method,
    changed_while_it_is_sorted, sorted_in_vain, set_begun_again, of_a_class_of_sets,
    counted_as_they_are_taken,
]  # fmt: skip


@pytest.mark.parametrize("f", LOOKING)
def test_each_value_is_put_in_as_it_is_taken(f):
    with recorded_only():
        assert_slopes(gradient(f, 2.0), f, (2.0,), 1e-6)
    for _ in range(4):
        assert value_and_grad(f)(2.0)[0] == f(2.0)
        assert_slopes(gradient(f, 2.0), f, (2.0,), 1e-6)


def repeated_in_place(x):
    a = [x, x * x]
    b = a
    a *= np.int64(2)
    return sum(b) * len(b)


REPEATED = {
    "in place": repeated_in_place,
    "from the left": lambda x: sum(np.int64(3) * [x, x * x]) * x,
    "a tuple": lambda x: sum((x, x * x) * np.int32(2)) * x,
    "a tuple in place": lambda x: sum(operator.imul((x,), np.uint8(3))) * x,
    "as often as an index says": lambda x: sum([x] * np.argmax(np.array([1.0, 2.0]))) * x,
    "less than once": lambda x: sum([x, x] * np.int64(-1)) + x,
}


@pytest.mark.parametrize("name", REPEATED)
def test_integers_of_numpy_repeat_lists(name):
    assert_agreement(REPEATED[name], (1.3,), (0.7,))
    assert_slopes(gradient(REPEATED[name], 1.3), REPEATED[name], (1.3,), 1e-6)
