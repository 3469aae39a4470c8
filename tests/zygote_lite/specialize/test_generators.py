"""Generators and iterators: written into the loops over them, or taken from one by one."""

import contextlib
import functools
import itertools
import math
import operator

import numpy as np
import pytest

from tests.zygote_lite.checks import programs
from tests.zygote_lite.checks.finite_differences import assert_slopes
from tests.zygote_lite.checks.oracles import assert_agreement
from zygote_lite import gradient, testing, value_and_grad

A = np.array
V = A([0.3, -0.5, 0.8])
PROGRAMS = []
tried = programs.declaring(PROGRAMS)  # transformed


def powers(x, n):
    y = x
    for _ in range(n):
        yield y
        y = y * x


def decaying(x, rate=0.5):
    while True:
        yield x
        x = x * rate


def nested(x, n):
    yield x
    count = yield from powers(x, n)
    yield x if count is None else x * count
    yield from (v * 2.0 for v in (x, x * x))


@tried((0.7, 5), (0.7, 0), (1.2, 70))
def loop_of_any_length(x, n):
    total = 0.0
    for i, v in enumerate(powers(x, n), 1):
        if v > 50.0:
            break
        if i % 2:
            continue
        total += v * i
    else:
        total *= 2.0
    return total


@tried((0.7, 5), (1.5, 3), (0.2, 1))
def folds(x, n):
    a = sum(powers(x, n)) + max(powers(x, n), default=0.5) + math.prod(powers(x, n))
    b = functools.reduce(lambda s, t: s * 0.5 + t, powers(x, n), 1.0)
    return a * b + min(powers(x, n), key=lambda v: (v - 0.3) ** 2) + len(list(powers(x, n)))


@tried((0.7, 3), (1.5, 0))
def delegated(x, n):
    return sum(v * i for i, v in enumerate(nested(x, n)))


@tried((0.7,), (1.5,))
def without_an_end(x):
    first, second = itertools.islice(decaying(x), 2)
    total = 0.0
    for v in decaying(x, 0.8):
        if v < 0.2:
            break
        total += v * v
    return total + first * second


@tried((0.7, 0.3), (1.5, 0.3))
def asked_one_by_one(x, y):
    steps, others = decaying(x), decaying(y, x)
    total = next(steps) + next(steps) * next(others)
    for a, b in zip(steps, (v for v in (x, y, 2.0))):
        total += a * b
    return total + next(others) * next(steps)


@tried((0.7,), (-0.4,))
def sent_to(x):
    def averages():
        total, count = x, 1
        while True:
            v = yield total / count
            total = total * 0.9 + v
            count += 1

    g = averages()
    y = g.send(None)
    for v in (x * x, 2.0, x):
        y = y * 0.5 + g.send(v)
    g.close()
    return y


@tried((0.7,), (0.3,))
def sent_too_early(x):
    def doubled():
        v = yield x
        yield x * 2.0 if v is None else x * v

    g = doubled()
    try:
        return x * g.send(2.0)
    except TypeError:
        return x * x * next(g) + next(g)


@tried((0.7, 0.3), (0.1, 0.3))
def effects_in_turn(x, y):
    seen, state = [], [x]

    def steps():
        for k in range(3):
            seen.append(state[0] * k)
            yield state[0]

    for v in steps():
        state[0] = state[0] * y + v
    return sum(s * (i + 1.0) for i, s in enumerate(seen)) + state[0]


@tried((0.7, 0.3), (0.1, 0.3))
def what_changes_meanwhile(x, y):
    a, d = [x, y], {"p": x, "q": y}
    values, total = d.values(), 0.0
    for v in a:
        total += v
        if len(a) < 4:
            a.append(v * y)
    for key, v in d.items():
        total += v
        d["q"] = total * d[key]
    return total + sum(values) * a[-1]


@tried((V,), (A([0.1]),), (A([1.0, 2.0, 3.0, 4.0]),))
def over_arrays(v):
    squares = (a * a for a in v)
    total = sum(squares) + sum(squares)  # the second walk finds nothing
    total += sum(a * b for a, b in itertools.pairwise(v))
    total += sum(itertools.takewhile(lambda a: a < 0.5, v), 1.0)
    it = iter(v)
    first = next(it)
    for a in it:
        first = first * a + a
    return total + first + float(any(a > 0.7 for a in v)) * first


@tried((0.3, -0.5, 0.8), (0.8, 0.3, -0.5), (0.4, 0.5, 0.6))
def sorted_by_values(x, y, z):
    xs = [x, y, z]
    a = sorted(xs, key=lambda v: v * v, reverse=True)
    b = sorted(v * 2.0 for v in xs)
    return a[0] * 3.0 + a[-1] + sum(i * v for i, v in enumerate(b)) + max(xs, key=abs)


@tried((V,), (-V,))
def sorted_of_an_array(v):
    a = sorted(v)
    return a[0] * a[1] + a[-1] ** 2


@tried((0.7, 0.3), (0.3, 0.7))
def combined(x, y):
    total = 0.0
    for a, b in itertools.combinations((x, y, x * y), 2):
        total += a * b * b
    for a, b, c in itertools.zip_longest((x, y), (y,), range(3), fillvalue=x):
        total += a * b * c
    table = dict(zip("pq", map(operator.mul, (x, y), itertools.count(2))))
    left, right = itertools.tee(v * x for v in (1.0, y))
    return total + table["p"] * table["q"] + next(left) * sum(right) + sum(left)


@tried((0.7, 2.0), (2.0, 0.7))
def end_of_an_iterator(x, y):
    it, total = iter((x, y)), 1.0
    while True:
        try:
            total = total * next(it) + 1.0
        except StopIteration:
            return total + next(it, x)


@tried((0.7,), (2.0,))
def longer_after_its_iterator_was_made(x):
    a = [x, x * x]
    back = reversed(a)
    b = zip(a, back, strict=True)
    a.append(1.0)
    return sum(s * t for s, t in itertools.islice(b, 2))


def functions_of_a_comprehension(x):
    shared = [lambda v: v * k for k in (1.0, x, 2.0)]  # one `k` for all
    kept = [lambda v, k=k: v * k for k in (1.0, x, 2.0)]
    return sum(f(x) for f in shared) + kept[0](x) * kept[1](x)


tried((0.7,), (1.3,))(functions_of_a_comprehension)


@programs.for_each(PROGRAMS)
def test_is_transformed_and_right(f, choices):
    numbers = tuple(range(len(programs.not_counts(choices[0]))))
    programs.assert_transformed(f, choices, numbers)


def raises_at_its_end(x):
    it = powers(x, 2)
    return next(it) + next(it) * next(it)


def raises_in_a_generator(x):
    return sum(math.log(v) for v in (x, x - 1.0))


def asks_itself(x):
    def steps():
        yield x
        yield next(g)

    g = steps()
    return sum(g)


def test_errors_are_those_of_python():
    for f in (raises_at_its_end, asks_itself):
        assert not assert_agreement(f, (0.7,), (0.4,))
    assert assert_agreement(raises_in_a_generator, (2.0,), (0.5,), (3.0,))


RECORDED = []
left = programs.declaring(RECORDED)
BY_PATH = []
by_path = programs.declaring(BY_PATH)  # transformed, each path by itself


@by_path((0.7,), (2.0,))
def taken_from_on_one_path(x):
    g = decaying(x)
    a = next(g)
    if x > 1.0:
        a += next(g)
    return a * next(g)


@left((0.7,), (2.0,))
def kept_after_a_loop_that_was_left(x):
    g = powers(x, 6)
    for v in g:
        if v > 1.5 or v < 0.4:
            break
    return v + next(g)


@left((0.7,), (2.0,))
def left_in_a_try(x):
    seen = [x]

    def steps():
        try:
            yield x
            yield x * x
        finally:
            seen.append(x)

    for v in steps():
        if v > 1.0:
            break
    return sum(seen) * v


@left((0.7,), (0.2,))
def raises_at_once(x):
    def steps():
        yield math.sqrt(-1.0)

    try:
        return next(steps())
    except ValueError:
        return x * x


@by_path((0.3, -0.5, 2.0), (2.0, 3.0, -0.5), (0.1, 0.2, 0.3), (-3.0, 2.0, -1.5))
def sorted_by_keys_of_unknown_number(x, y, z):
    total = x * y
    if x < y:
        kept = filter(lambda u: abs(u) > 1.0, [x, y, z])
        it = iter(
            (s * t for s, t in zip(sorted(kept, key=lambda u: -u), (y, z, 2.0), strict=False))
        )
        total += next(it, z)
    return total


@programs.for_each(RECORDED)
def test_is_recorded_and_right(f, choices):
    assert not assert_agreement(f, *choices, argnums=(0,))


@programs.for_each(BY_PATH)
def test_a_path_is_transformed_by_itself(f, choices):
    assert assert_agreement(f, *choices, argnums=(0,))


def growing(x, n):
    y = x
    for _ in range(n):
        y = y * 1.1
        yield y
        y = y + 0.01
    yield y * 3.0


def left_early(x, limit):
    s = 0.0
    for y in growing(x, 6):
        if y > limit:
            s = s + 2.0 * y
            break
        s = s + y * y
    return s


def left_deep_inside(x, limit):
    s = 0.0
    for y in growing(x, 6):
        if y > limit:
            if y > 2.0 * limit:
                break
            s = s + y * y
        else:
            s = s + math.sin(y)
    return s


@pytest.mark.parametrize("limit", [0.4, 0.9, 5.0])
@pytest.mark.parametrize("f", [left_early, left_deep_inside])
def test_a_loop_over_a_generator_is_left(f, limit):
    differentiated, h = value_and_grad(f), 1e-6
    for _ in range(3):
        found = differentiated(0.6, limit)[1]
        numeric = (f(0.6 + h, limit) - f(0.6 - h, limit)) / (2 * h)
        np.testing.assert_allclose(found, numeric, rtol=1e-6)
    assert testing.programs(f)


def multiples(x, n):
    for i in range(n):
        yield x * i


def in_a_second_loop(x, n):
    rest, s = multiples(x, n), 0.0
    for v in rest:
        if v > 3.0:
            break
        s += v
    for v in rest:
        s += 10.0 * v
    return s


def by_one_and_by_sums(x, n):
    rest, s = multiples(x, n), 0.0
    for v in rest:
        if v > 3.0:
            break
        s += v
    return s + 7.0 * next(rest, 50.0 * x) + 100.0 * sum(rest)


@pytest.mark.parametrize(("f", "slopes"), [(in_a_second_loop, (116.0, 6.0)),
                                           (by_one_and_by_sums, (641.0, 356.0))])  # fmt: skip
def test_what_is_left_of_a_generator_when_a_loop_ends_early(f, slopes):
    for _ in range(4):
        assert gradient(f, 0.9, 7)[0] == pytest.approx(slopes[0])
        assert gradient(f, 0.1, 4)[0] == pytest.approx(slopes[1])


def nothing(x):
    return
    yield x


def test_a_generator_that_yields_nothing_is_over_after_a_loop_that_may_break():
    def f(x):
        g, total = nothing(x), x
        for y in g:
            if y > 3.0:
                break
            total = total + y
        for y in g:
            total = total + y * 100.0
        return total

    assert assert_agreement(f, (1.5,))


def views_beside_what_has_any_length(xs, n):
    stack, s = [xs[0]], 0.0
    for _ in range(n):
        s = s + (stack.pop() if stack else 0.0)
        stack.append(s * 0.3)
        for p, q in zip({"k": xs[1], "l": s}.values(), stack, strict=False):
            s = s + p * q * 0.5
    return s


def test_views_of_dicts_beside_what_has_any_length():
    with testing.strict():
        assert_agreement(views_beside_what_has_any_length, (A([0.3, 0.4]), 3))


class Level:
    def __init__(self):
        self.depth = 0.0


@contextlib.contextmanager
def deeper(level, k):
    level.depth += k
    try:
        yield level.depth * k
    finally:
        level.depth -= k * 0.5


def managers_with_finally(v):
    level, s = Level(), 0.0
    for k in v:
        with deeper(level, k) as depth:
            s = s + depth * v[0]
            with deeper(level, v[1]):
                s = s + level.depth**2
    return s + level.depth


def counting(v, total):
    try:
        for x in v:
            yield x * x
    finally:
        total[0] = total[0] + v[0]


def used_up(v):
    total = [0.0]
    s = sum(counting(v, total)) + total[0]
    for x in counting(v, total):
        s = s + x * total[0]
    return s * total[0]


@pytest.mark.parametrize("f", [managers_with_finally, used_up])
def test_yield_in_a_try_with_finally(f):
    assert testing.why_recorded(f, V) is None
    assert assert_agreement(f, (V,), (V[:2],))


def given_up(v):
    total = [0.0]
    for x in counting(v, total):
        if x > 0.1:
            break
    return x + total[0]


def left_waiting(v):
    total = [0.0]
    rest = counting(v, total)
    return next(rest) + total[0]


def closed(v):
    total = [0.0]
    rest = counting(v, total)
    s = next(rest)
    rest.close()
    return s + total[0]


@pytest.mark.parametrize("f", [given_up, left_waiting, closed])
def test_what_is_given_up_inside_a_try_is_recorded(f):
    assert testing.why_recorded(f, V) is not None
    if f is not left_waiting:  # the tape refuses it
        assert_slopes(gradient(f, V), f, (V,), 1e-7)
