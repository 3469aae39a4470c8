"""Objects that are iterated over by methods of their own: `__iter__`, `__next__`, `__getitem__`."""

import pytest

from tests.zygote_lite.checks import programs
from tests.zygote_lite.checks.oracles import assert_agreement
from zygote_lite import gradient

PROGRAMS = []
tried = programs.declaring(PROGRAMS)


class Countdown:
    def __init__(self, n, x):
        self.n, self.x, self.y = n, x, x

    def __iter__(self):
        return self

    def __next__(self):
        if self.n == 0:
            raise StopIteration
        self.n -= 1
        self.y = self.y * self.x + 1.0
        return self.y


class Powers:
    def __init__(self, x, most=3):
        self.x, self.most = x, most

    def __getitem__(self, i):
        if i > self.most:
            raise IndexError
        return self.x**i


class Polynomial:
    def __init__(self, *c):
        self.c = [*c]

    def __iter__(self):
        return iter(self.c)

    def __len__(self):
        return len(self.c)


class Doubling:
    def __init__(self, values):
        self.it = iter(values)

    def __iter__(self):
        return self

    def __next__(self):
        return next(self.it) * 2.0


class Newton:
    def __init__(self, x, tolerance):
        self.x, self.tolerance, self.square = x, tolerance, x * x

    def __iter__(self):
        return self

    def __next__(self):
        new = 0.5 * (self.x + self.square / self.x)
        if abs(new - self.x) < self.tolerance:
            raise StopIteration("it has converged")
        self.x = new
        return new


@tried((0.5,), (1.2,))
def counts(x):
    total = 0.0
    for v in Countdown(4, x):
        total += v * v
    return total


@tried((0.5, 4), (0.7, 3), (0.6, 0), (1.5, 6))
def goes_on_where_it_was_left(x, n):
    total, down = 0.0, Countdown(n, x)
    for v in down:
        total += v * v
        if total > 5:
            break
    for v in down:
        total += v
    return total + down.y + down.n


@tried((0.5,), (1.2,))
def sums_a_sequence(x):
    return sum(Powers(x)) + max(Powers(x, 2)) * sum([v * i for i, v in enumerate(Powers(x))])


@tried((0.5,), (1.2,))
def unpacks(x):
    p = Polynomial(x, x * x, 2.0)
    a, b, c = p
    u = [*p, x]
    return a * sum(p) + b * c * len(p) + max(p) + sum(list(p)) + sum(tuple(p)) * u[1]


@tried((0.5,), (1.2,))
def counts_what_was_listed(x):
    r = list(Doubling([x, x * x, 3.0]))
    return r[1] * len(r)


@tried((0.5,), (1.2,))
def changes_containers_in_turn(x):
    d, s, out = {}, set(), [x]
    for i, v in enumerate(Doubling([x, x * x, 3.0])):
        d[i] = v
        s.add(i)
        out.append(v)
        out[0] = v
    return sum(out) * len(out) * len(d) * len(s) + d[1] + out[0]


@tried((0.5,), (1.2,))
def wraps_iterators(x):
    pairs = zip(Doubling([x, 2.0]), Polynomial(x, x * x, x))
    return sum(Doubling([x, x * x, 3.0])) + sum([a * b for a, b in pairs])


@tried((0.5,), (1.2,))
def takes_by_hand(x):
    w = Doubling([x, x * x, x**3, x**4])
    s = next(w)
    for v in w:
        s = s * v
        break
    return s + sum(w) * 2


@tried((0.5,), (1.2,))
def ends_as_numbers_tell(x):
    total = 0.0
    for v in Newton(x + 2, 1e-3):
        total += v
    return total * x


@tried((0.5,), (1.2,))
def nested_sequences(x):
    s = 0.0
    for i, v in enumerate(Powers(x, 5)):
        for w in Powers(v, i):
            s += v * w
        if s > 100:
            break
    return s


@tried((0.5,), (1.2,))
def appended_to_as_it_is_walked_over(x):
    p, s = Polynomial(x, 2.0, 3.0), x
    for v in p:
        s += v
        if len(p) < 5:
            p.c.append(v * x)
    return s + len(p)


@tried((0.5,), (1.2,))
def length_is_asked_for_with_its_effects(x):
    log = [1.0]

    class Sized:
        def __iter__(self):
            return iter([x, 2.0])

        def __len__(self):
            log[0] = log[0] * x
            return 2

    a = [*Sized(), 3.0]
    b = list(Sized())
    return log[0] * sum(a) + b[0]


OUTSIDE = Powers(2.0, 4)


@tried((0.5,), (1.2,))
def object_from_outside(x):
    s = x
    for v in OUTSIDE:
        s += v * x
    return s


@programs.for_each(PROGRAMS)
def test_is_transformed_and_right(f, choices):
    programs.assert_transformed(f, choices, (0,), by_differences=1e-5)


def test_an_object_from_outside_may_change(monkeypatch):
    assert gradient(object_from_outside, 0.5)[0] == 32.0
    assert gradient(object_from_outside, 0.5)[0] == 32.0
    monkeypatch.setattr(OUTSIDE, "most", 2)
    assert gradient(object_from_outside, 0.5)[0] == 8.0
    monkeypatch.setattr(Powers, "__getitem__", lambda self, i: [1.0][i])
    assert gradient(object_from_outside, 0.5)[0] == 2.0


def test_what_a_call_leaves_in_a_variable_is_not_there_in_the_next():
    class Once:
        def __init__(self, x):
            self.k, self.x = 0, x

        def __iter__(self):
            return self

        def __next__(self):
            self.k += 1
            if self.k < 3:
                y = self.x * self.k
            return y

    def total(x):
        s = 0.0
        for v in Once(x):
            s += v
        return s

    for _ in range(3):
        with pytest.raises(UnboundLocalError):
            gradient(total, 0.5)


def test_what_is_no_iterator_raises():
    class Bad:
        def __iter__(self):
            return 3

    def total(x):
        s = x
        for v in Bad():
            s += v
        return s

    for _ in range(3):
        with pytest.raises(TypeError, match="iterator"):
            gradient(total, 0.5)


def test_an_array_that_ends_by_its_error_agrees():
    class Rows:
        def __init__(self, xs):
            self.xs = xs

        def __getitem__(self, i):
            return self.xs[i]

    def squares(xs):
        s = 0.0
        for r in Rows(xs):
            s += r * r
        return s

    assert_agreement(squares, ([1.0, 2.0],), ([1.0, 3.0],), ([1.0],), ([],), argnums=(0,))


def test_what_is_left_of_an_iterator_after_a_loop_that_may_end_early():
    def f(xs, least):
        it = iter(xs)
        for x in it:
            if x > least:
                break
        return next(it) * x

    for least in (2.0, 1.0, 2.0):
        assert_agreement(f, ([1.0, 2.0, 3.0, 4.0], least), argnums=(0,))


def test_an_iterator_that_a_loop_has_left_or_ended():
    def left(xs, least):
        it = iter(xs)
        first = next(it)
        for x in it:
            if x > least:
                break
        return next(it, 10.0) * first

    def in_two_loops(xs, least):
        it = iter(xs)
        a = next(it)
        for x in it:
            if x > least:
                break
            a = a * x
        else:
            a = a * 7.0
        for y in it:
            a = a + y * y
        return a

    xs = [1.0, 2.0, 3.0, 4.0]
    for f, least, slope in (
        (left, 2.5, [4.0, 0.0, 0.0, 1.0]), (left, 9.0, [10.0, 0.0, 0.0, 0.0]),
        (in_two_loops, 2.5, [2.0, 1.0, 0.0, 8.0]), (in_two_loops, 9.0, [168.0, 84.0, 56.0, 42.0]),
    ):  # fmt: skip
        for _ in range(4):
            assert [d or 0.0 for d in gradient(f, xs, least)[0]] == slope
