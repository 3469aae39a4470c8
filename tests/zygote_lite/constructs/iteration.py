"""Iteration: built-in iterators, comprehensions, generators, user iterators, arrays."""

import collections
import functools
import itertools
import math
import operator

import numpy as np

from tests.zygote_lite.constructs.declare import declaring

CASES = []
works, refused = declaring(CASES)
XS = [0.5, 0.6, 0.7]


@works("`range`", (0.7,))
def ranges(x):
    y = x
    for i in range(5, -3, -2):
        y = y * 0.9 + x * i
    return y


@works("`enumerate`", (XS,))
def enumerates(xs):
    return sum(i * x * x for i, x in enumerate(xs, start=2))


@works("`zip`, of unequal lengths too", (XS, [0.8, 0.9]))
def zips(xs, ys):
    total = 0.0
    for x, y, i in zip(xs, ys, itertools.count()):
        total += x * y * (i + 1)
    return total


@works("`zip(*rows)`", ([[0.5, 0.6], [0.7, 0.8]],))
def transposes(rows):
    columns = list(zip(*rows))
    return columns[0][1] * columns[1][0] + columns[1][1]


@works("`reversed`", (XS,))
def reverses(xs):
    y = 1.0
    for x in reversed(xs):
        y = y * x + x
    return y


@works("`map`, `filter`", ([0.5, -0.6, 0.7],))
def maps(xs):
    return sum(map(lambda a, b: a * b, filter(lambda v: v > 0, xs), xs)) + sum(map(math.sin, xs))


@works("`sorted(key=)`", ([0.5, -0.6, 0.7],))
def sorts(xs):
    a = sorted(xs, key=lambda v: -v * v)
    b = sorted(xs, reverse=True)
    return a[0] * 2.0 + a[1] * a[2] + b[0] ** 2


@works("`sum`, `min`, `max`, `any`, `all`", (XS,))
def reductions(xs):
    y = sum(xs, xs[0]) * min(xs) * max(xs, key=lambda v: -v) + min(xs[0], xs[1])
    return y if any(v > 0.65 for v in xs) and all(xs) else y * y


@works("`max` and `min` with `default`", (0.5,))
def extremes_default(x):
    return max([], default=x) * min((v for v in [x, 3.0]), default=2.0)


@works("`functools.reduce`", (XS,))
def reduces(xs):
    return functools.reduce(lambda a, b: a * b + a, xs, 2.0)


@works("`itertools.accumulate`", (XS,))
def accumulates(xs):
    return sum(itertools.accumulate(xs, operator.mul)) + list(itertools.accumulate(xs))[-1] ** 2


@works("`itertools.product`, `combinations`, `permutations`", (XS,))
def combines(xs):
    y = sum(a * b * b for a, b in itertools.product(xs, xs))
    y += sum(a * b for a, b in itertools.combinations(xs, 2))
    return y + sum(a * c for a, _, c in itertools.permutations(xs))


@works("`itertools.chain`, `islice`, `repeat`, `cycle`", (XS, 0.8))
def chains(xs, y):
    z = 1.0
    for v in itertools.islice(itertools.chain(xs, itertools.repeat(y)), 1, 5, 2):
        z = z * v
    return z + sum(itertools.islice(itertools.cycle(xs), 5))


@works("`itertools.pairwise`, `takewhile`, `dropwhile`, `starmap`, `zip_longest`", (XS,))
def more_itertools(xs):
    y = sum(a * b for a, b in itertools.pairwise(xs))
    y += sum(itertools.takewhile(lambda v: v < 0.65, xs)) * 2.0
    y += sum(itertools.dropwhile(lambda v: v < 0.55, xs)) ** 2
    y += sum(itertools.starmap(operator.mul, zip(xs, xs[1:])))
    return y + sum(a * b for a, b in itertools.zip_longest(xs, xs[:1], fillvalue=0.3))


@works("`itertools.tee`", (0.5,))
def tees(x):
    a, b = itertools.tee(v * x for v in (1.0, 2.0, x))
    next(b)
    return sum(p * q for p, q in zip(a, b)) * len(itertools.tee(range(3), 3))


@works("`itertools.groupby`", (XS,))
def groups(xs):
    y = 0.0
    for big, members in itertools.groupby(xs, key=lambda v: v > 0.55):
        y += sum(members) ** 2 * (2.0 if big else 1.0)
    return y


@works("list comprehensions", (XS, 0.8))
def list_comprehension(xs, k):
    squares = [v * v * k for v in xs if v > 0.55]
    grid = [[a * b for b in xs] for a in xs]
    pairs = [a * b for a in xs for b in xs if a != b]
    return sum(squares) * grid[0][1] + sum(pairs)


@works("dict and set comprehensions", (XS,))
def dict_comprehension(xs):
    table = {i: v * v for i, v in enumerate(xs)}
    again = {k + 1: v * table[0] for k, v in table.items()}
    return again[1] * again[2] + sum({v * 2.0 for v in xs})


@works("generator expressions", (XS,))
def generator_expression(xs):
    squares = (v * v for v in xs)
    first = next(squares)
    return first * sum(squares)


@works("generator functions", (0.5,))
def generator_function(x):
    def powers(v, n):
        y = v
        for _ in range(n):
            yield y
            y = y * v

    return sum(a * b for a, b in zip(powers(x, 4), powers(2.0 * x, 3)))


@works("infinite generators with `islice`", (0.5,))
def infinite_generator(x):
    def naturals():
        n = x
        while True:
            yield n
            n = n * 1.5 + x

    return sum(itertools.islice(naturals(), 2, 6))


@works("`yield from`", (0.5,))
def yield_from(x):
    def inner():
        yield x
        yield x * x
        return x**3

    def outer():
        y = yield from inner()
        yield y

    return sum(outer()) * x


@works("`send`, `throw` and `close` through `yield from`", (0.5,))
def delegated_send(x):
    log = []

    def sums():
        total = 0.0
        while True:
            try:
                v = yield total
            except ValueError as e:
                v = e.args[0]
            finally:
                log.append(x * 2.0)
            if v is None:
                return total
            total = total + v * x

    def outer():
        result = yield from sums()
        yield result * 10.0
        yield from [x * 7.0]

    g = outer()
    next(g)
    g.send(x)
    y = g.send(2.0) + g.throw(ValueError(x * 3.0))
    y = y + next(g) + next(g)
    closed = outer()
    next(closed)
    closed.close()
    return y * sum(log)


@works("`send` into a generator", (0.5,))
def generator_send(x):
    def averager():
        total = 0.0
        while True:
            total = total * 0.5 + (yield total)

    g = averager()
    next(g)
    g.send(x)
    return g.send(x * x) * g.send(1.0)


@works("`try` / `finally` in a generator, closed early", (0.5,))
def generator_finally(x):
    seen = []

    def numbers():
        try:
            yield x
            yield x * x
        finally:
            seen.append(x * 3.0)

    g = numbers()
    a = next(g)
    g.close()
    return a * seen[0]


@works("user iterators", (0.5,))
def user_iterator(x):
    class Countdown:
        def __init__(self, n):
            self.n = n
            self.y = x

        def __iter__(self):
            return self

        def __next__(self):
            if self.n == 0:
                raise StopIteration
            self.n -= 1
            self.y = self.y * x + 1.0
            return self.y

    total = 0.0
    for v in Countdown(4):
        total += v * v
    return total


@works("user sequences by `__getitem__`", (0.5,))
def user_sequence(x):
    class Powers:
        def __getitem__(self, i):
            if i > 3:
                raise IndexError
            return x**i

    return sum(Powers())


@works("iterating over arrays", (np.array([0.5, 0.6, 0.7]),))
def array_iteration(x):
    total = 0.0
    for i, v in enumerate(x):
        total = total * v + v * i
    return total


@works("iterating over arrays", (np.arange(6.0).reshape(3, 2) + 0.5,))
def array_rows(x):
    total = 1.0
    for row in x:
        a, b = row
        total = total * a + b * np.sum(row * row)
    return total


@works("iterating over dicts", ({"a": 0.5, "b": 0.6},))
def dict_iteration(d):
    y = 0.0
    for key in d:
        y += d[key] ** 2 * ord(key)
    for key, value in d.items():
        y *= value
    for value in d.values():
        y += value
    return y


@works("iterating while the list grows", (0.5,))
def growing_list(x):
    todo, total = [x], 0.0
    for v in todo:
        total += v * v
        if len(todo) < 4:
            todo.append(v * x)
    return total


@works("`iter` and `next` by hand, with sentinels", (XS,))
def iter_by_hand(xs):
    it = iter(xs)
    y = next(it) * next(it)
    pops = xs[:]
    y += sum(iter(lambda: pops.pop(0) * 1.0 if pops else None, None))
    return y * next(it) * next(it, 3.0)


@works("unpacking an iterator", (XS,))
def unpack_iterator(xs):
    a, *b = (v * v for v in xs)
    return a * b[0] + max(*map(lambda v: v * 2.0, xs))


@works("`while` with an iterator and `StopIteration`", (XS,))
def stop_iteration(xs):
    it, y = iter(xs), 1.0
    while True:
        try:
            y = y * next(it) + 1.0
        except StopIteration:
            return y


@works("nested comprehension over an array", (np.array([[0.5, 0.6], [0.7, 0.8]]),))
def comprehension_of_array(x):
    return sum([v * w for row in x for v in row for w in row if v > w])


@works("`np.nditer`-free loops by index: `x[i, j]`", (np.array([[0.5, 0.6], [0.7, 0.8]]),))
def loop_by_index(x):
    y = 0.0
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            y = y * 0.5 + x[i, j] * x[j, i]
    return y


# -- what becomes active while it is walked, or after its iterator was made ----------------------


@works("`enumerate` of what becomes active in the loop", (0.7,))
def enumerate_written(x):
    out, a, total = [1.0, 2.0, 3.0], np.arange(6.0).reshape(3, 2), 0.0
    for i, v in enumerate(out):
        out[(i + 1) % 3] = v * x
        total = total + v * out[2]
    for i, row in enumerate(a, 1):
        total = total + row[0] * i
        a[2] = row * x + i
        row[1] = x
    return total + np.sum(a)


@works("`zip` of what becomes active in the loop", (0.7,))
def zip_written(x):
    a, b, total = [1.0, 2.0, 3.0], np.arange(3.0), 0.0
    for i, (u, v, k) in enumerate(zip(a, b, range(5))):
        total = total + u * v + k * u
        a[(i + 1) % 3] = u * x
        b[2] = v + x
    it = iter([1.0, 2.0, a[0], 4.0])
    for u, v in zip(it, it, strict=True):
        total = total + u * v
    return total


@works("`zip` of one iterator with itself, of what becomes active in the loop", (0.7,))
def zip_pairs_written(x):
    a, total = [1.0, 2.0, 3.0, 4.0], 0.0
    it = iter(a)
    for u, v in zip(it, it):
        total = total + u * v
        a[3] = u * x
    return total


@works("dicts and their views, of what becomes active in the loop", (0.7,))
def views_written(x):
    d, total = {"a": 1.0, "b": 2.0, "c": 3.0}, 0.0
    for k, v in d.items():
        total = total + v
        d["c"] = d["c"] * x + d[k]
    e = {"a": 1.0, "b": 2.0, "c": 3.0}
    for i, v in enumerate(e.values()):
        total = total + v * i
        e["c"] = v * x
    e = {"a": 1.0, "b": 2.0, "c": 3.0}
    for k in reversed(e):
        total = total + e[k]
        e["a"] = e[k] * x
    e = {"a": 1.0, "b": 2.0, "c": 3.0}
    for k, v in reversed(e.items()):
        total = total + v
        e["a" if k == "b" else "b"] = v * x
    return total


@works("dicts and their views, of what becomes active in the loop", (0.7,))
def ordered_views_written(x):
    d, total = collections.OrderedDict(a=1.0, b=2.0, c=3.0), 0.0
    for k, v in d.items():
        total = total + v * d[k]
        d["c"] = v * x
    e = collections.OrderedDict(a=1.0, b=2.0, c=3.0)
    for v in e.values():
        total = total + v
        e["b"] = e["c"] = v * x
    return total


@works("nested loops over what becomes active in them", (0.7,))
def nested_written(x):
    rows, total = [[1.0, 2.0], [3.0, 4.0]], 0.0
    for row in rows:
        for j, v in enumerate(row):
            row[j] = v * x
            rows[1][1] = rows[1][1] * x
            total = total + v
    d = {"p": {"u": 1.0, "v": 2.0}, "q": {"u": 3.0}}
    for _, inner in d.items():
        for k, v in inner.items():
            inner[k] = v * x
            d["q"]["u"] = d["q"]["u"] * x
            total = total + v
    return total + rows[1][1] + d["q"]["u"]


@works("iterators kept in variables, of what becomes active later", (0.7,))
def kept_iterators(x):
    a = [1.0, 2.0, 3.0, 4.0, 5.0]
    it, back, numbered = iter(a), reversed(a), enumerate(a)
    total = next(it) + next(back) + next(numbered)[1]
    a[1] = x
    a[3] = x * x
    total = total + next(it) * 3.0 + next(back) * 2.0 + sum(i * v for i, v in numbered)
    u, *rest = it
    return total + u + rest[0] * rest[1] + sum(back) + next(it, x)


@works("`map` and `filter`, of what becomes active later", (0.7,))
def lazy_map(x):
    c, a, total = [2.0], [1.0, -2.0, 3.0], 0.0
    for v in map(lambda v: v * c[0], a):
        total = total + v
        c[0] = c[0] * x
    for v in map(operator.mul, a, itertools.count(2)):
        total = total + v
        a[1] = x * v
    for v in filter(lambda v: v > -1.0, a):
        total = total + v
        a[2] = x * v
    m = map(lambda v: v * a[0], (1.0, 2.0))
    a[0] = x
    return total + sum(m)


@works("`itertools`, of what becomes active later", (0.7,))
def lazy_itertools(x):
    a, b, total = [1.0, 2.0, 3.0, 4.0], [3.0, 4.0], 0.0
    for v in itertools.chain(a, b):
        total = total + v
        a[3] = b[1] = v * x
    for v in itertools.islice(a, 1, None, 2):
        total = total + v
        a[3] = v * x + 1.0
    for v in itertools.filterfalse(lambda v: v < 1.0, b):
        total = total + v
        b[1] = v * x
    rows = [[1.0, 2.0], [3.0, 4.0]]
    for v in itertools.starmap(operator.mul, rows):
        total = total + v
        rows[1][0] = v * x
    box = [3.0]
    for u, v in itertools.product((1.0, 2.0), [box, box]):
        total = total + u * v[0]
        box[0] = v[0] * x
    return total


@works("deques, sets of objects, flat iterators, of what becomes active in the loop", (0.7,))
def others_written(x):
    class Box:
        w = 2.0

    queue, total = collections.deque([1.0, 2.0, 3.0]), 0.0
    for v in queue:
        total = total + v
        queue[2] = v * x
    queue = collections.deque([1.0, 2.0, 3.0])
    for v in reversed(queue):
        total = total + v
        queue[0] = v * x
    for box in {Box(), Box()}:
        box.w = box.w * x
        total = total + box.w
    a = np.arange(4.0).reshape(2, 2)
    for v in a.T.flat:
        total = total + v
        a[1, 1] = v * x + 1.0
    for index, v in np.ndenumerate(a):
        total = total + v * index[0]
        a[1, 1] = v * x + 1.0
    return total


@works("user iterables, of what becomes active in the loop", (0.7,))
def user_iterables_written(x):
    class Scaled:
        def __init__(self):
            self.values, self.k = [1.0, 2.0, 3.0], 1.0

        def __iter__(self):
            for v in self.values:
                yield v * self.k

    class Sequence:
        def __init__(self):
            self.values = [1.0, 2.0, 3.0]

        def __getitem__(self, i):
            return self.values[i]

    scaled, total = Scaled(), 0.0
    for v in scaled:
        total = total + v
        scaled.k = scaled.k * x
    it = iter(scaled)
    total = total + next(it)
    scaled.k = x
    total = total + next(it)
    sequence = Sequence()
    for v in sequence:
        total = total + v
        sequence.values[2] = v * x
    sequence = Sequence()
    it = iter(sequence)
    total = total + next(it)
    sequence.values[1] = x
    return total + sum(it)


@works("`dict.update`, `dict` of iterators kept in variables", (0.7,))
def dict_of_iterator(x):
    pairs, values = [("a", 1.0), ("b", 2.0)], [3.0, 4.0]
    it, rows = iter(pairs), zip("cd", values)
    step = iter(values).__next__
    pairs[1], values[0] = ("b", x), x * x
    d = dict(rows)
    d.update(it)
    return d["a"] + d["b"] * d["c"] + d["d"] * step()


@works("`iter(f, sentinel)`, of what becomes active in the loop", (0.7,))
def calls_written(x):
    a, total = [1.0], 0.0
    for v in iter(lambda: a[0], 9.0):
        total = total + v
        a[0] = a[0] * x
        if total > 2.0:
            break
    return total


@works("`iter(f, sentinel)`, of what becomes active: it calls nothing after its end", (0.7,))
def calls_at_an_end(x):
    values = [1.0, 2.0, None, 9.0, None]
    it = iter(lambda: values.pop(0), None)
    first = next(it)
    values[0] = x
    return first + next(it) + sum(it, 0.0) + sum(it, 0.0) + len(values) * x


@works("a generator that a loop leaves: its `finally` runs then", (0.7,))
def left_generator(x):
    log = [1.0]

    def steps():
        try:
            yield log[0]
            yield x
        finally:
            log[0] = log[0] * x

    def first(values):
        for v in values():
            return v

    class Steps:
        def __iter__(self):
            yield from steps()

    for v in steps():
        break
    total = v + log[0] + first(steps) * log[0]
    kept = steps()
    for v in kept:
        break
    total = total + v * log[0] + next(kept) * log[0]
    kept.close()
    for v in Steps():
        break
    return total + v * log[0]


@refused("a generator with a `finally` that nothing ends", "is left before its end", (0.7,))
def dropped_generator(x):
    log = [1.0]

    def steps():
        try:
            yield log[0]
        finally:
            log[0] = log[0] * x

    return next(steps()) + log[0]


STEPS = []


@refused("a generator with a `finally` that nothing ends", "is left before its end", (0.7,))
def kept_generator(x):
    def steps(log, x):
        try:
            yield log[0]
        finally:
            log[0] = x

    STEPS[:] = [steps([1.0], x)]
    return x * next(STEPS[0])


@refused("a generator with a `finally` that nothing ends", "is left before its end", (0.7,))
def kept_generator_over_what_becomes_active(x):
    def steps(log):
        try:
            yield log[0]
        finally:
            log[0] = 3.0

    log = [1.0]
    STEPS[:] = [steps(log)]
    log.append(x * next(STEPS[0]))
    return log[1]


@works("`pairwise`, `accumulate`, `takewhile` of what becomes active in the loop", (0.7,))
def pairwise_written(x):
    a, total = [1.0, 2.0, 3.0, 4.0], 0.0
    for u, v in itertools.pairwise(a):
        total = total + u * v
        a[1], a[2] = x, x * x
    return total


@works("`pairwise`, `accumulate`, `takewhile` of what becomes active in the loop", (0.7,))
def accumulate_written(x):
    a, b, c, total = [1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [1.0, 2.0, 3.0], 0.0
    for v in itertools.accumulate(a):
        total = total + v * v
        a[1] = x
    for v in itertools.accumulate(b, operator.mul):
        total = total + v
        b[1] = x
    for v in itertools.accumulate(c, max):
        total = total + v * x
        c[2] = x * 9.0
    return total


@works("`pairwise`, `accumulate`, `takewhile` of what becomes active in the loop", (0.7,))
def enumerate_map_written(x):
    a, total = [1.0, 2.0, 3.0], 0.0
    for i, v in enumerate(map(abs, a)):
        total = total + i * v * v
        a[1] = x
    for v in itertools.takewhile(lambda v: v < 5.0, a):
        total = total + v * v
        a[2:] = [x * 3.0, x * 10.0]
    for v in itertools.compress(a, [1, 0, 1]):
        total = total + v * v
        a[2] = x * x
    return total


@refused("other iterators in C over what becomes active in the loop", "islice", (0.7,))
def cycle_written(x):
    STEPS[:] = [x]  # transformed code follows what the tape refuses: this is recorded
    a, total = [1.0, 2.0, 3.0], 0.0
    for v in itertools.islice(itertools.cycle(a), 5):
        total = total + v
        a[1] = x
    return total


@refused("other iterators in C over what becomes active in the loop", "zip_longest", (0.7,))
def zip_longest_written(x):
    STEPS[:] = [x]
    a, total = [1.0, 2.0, 3.0], 0.0
    for u, v in itertools.zip_longest(a, [1.0], fillvalue=2.0):
        total = total + u * v
        a[1] = x
    return total


@works("`zip` of a text and of what is active", (0.5, 0.6))
def zip_of_text(x, y):
    table = dict(zip("ab", [x, y]))
    total = table["a"] * table["b"]
    for letter, code, value in zip("pq", b"rs", [x, y]):
        total = total + ord(letter) * code * value
    return total


@works("`itertools.zip_longest` takes elements one by one", (0.7,))
def zip_longest_is_lazy(x):
    def grow():
        while True:
            yield state[0]

    state, total = [x], 0.0
    for a, b in itertools.islice(itertools.zip_longest(grow(), [x, 2.0], fillvalue=x * x), 4):
        state[0] = state[0] * x + 1.0
        total += a * b
    return total


@works("`itertools.groupby` takes elements one by one", (0.7,))
def groupby_is_lazy(x):
    def numbers():
        for i in range(6):
            yield state[0] * (i // 2)

    state, total = [x], 0.0
    for high, group in itertools.groupby(numbers(), lambda v: v > 1.0):
        for v in group:
            total += v * (2.0 if high else 3.0)
            state[0] += 0.25 * x
    kept = [(k, g) for k, g in itertools.groupby([x, 2.0 * x, 3.0], lambda v: v > 1.0)]
    firsts = sum(next(g) for _, g in itertools.groupby([x, 2.0]))
    return total + len(list(kept[0][1])) + firsts


@works("`itertools.chain.from_iterable`, `dict.fromkeys`, `frozenset`", (0.7,))
def class_methods_in_c(x):
    d = dict.fromkeys(["a", "b"], x)
    d["a"] *= x
    chained = itertools.chain.from_iterable([[x, x * x], (v * x for v in (1.0, 2.0)), d.values()])
    return sum(v * (i + 1.0) for i, v in enumerate(chained)) * sum(frozenset([x, x * x, x]))


@works("`list.extend` and `+=` of views, iterators, arrays", (0.7,))
def extended_by_anything(x):
    a = [1.0]
    a += {"k": x}.values()
    a += map(lambda v: v * x, a[:])
    a.extend({"k": x * x}.values())
    a.extend(np.array([x, 2.0]))
    try:
        a.extend(v * x if v < 2.0 else 1 / 0 for v in (1.0, 3.0))
    except ZeroDivisionError:
        a.append(x**3)
    return sum(v * (i + 1.0) for i, v in enumerate(a))


@works("a container that changes its size while it is iterated", (0.7,))
def changed_while_iterated(x):
    total = 0.0
    for d in ({0: x}, {0: x, 1: x}):
        try:
            for key in d:
                d[key + 5] = x
                total += d[key]
        except RuntimeError:
            total *= 1.0 + x
    a = [x, x * x, 2.0 * x]
    for v in reversed(a):
        total += v
        del a[1:]
    return total


@works("`StopIteration` in what `map` calls", (0.7,))
def stop_inside_map(x):
    rows = [iter([x, x * x]), iter([2.0])]
    return sum(map(next, rows)) * sum(map(next, rows))


@works("`sort` with a key that raises", ([0.5, 0.25],))
def sort_raises(p):
    x = np.array(p)
    x[0] *= 2.0
    a = [x[0], x[1]]
    try:
        a.sort(reverse=True, key=lambda v: 1 / 0 if v > 0.9 else v)
    except ZeroDivisionError:
        a.sort(reverse=True, key=lambda v: -v)
    return a[0] * 3.0 + a[1] * x[0]


@refused("`map` and its kin, asked for more after an error in them", "after an error", (0.7,))
def map_after_an_error(x):
    results = map(lambda v: x / v, [1.0, 0.0, 2.0])
    total = next(results)
    try:
        total += next(results)
    except ZeroDivisionError:
        total *= 2.0
    return total + next(results)


@works("`in`, `any`, `all` walk over generators", (0.7,))
def generator_queries(x):
    def steps():
        for i in range(4):
            log.append(i * x)
            yield i * x

    log = []
    found = (any(steps()), all(v < 1.0 for v in steps()), 2.0 * x in steps(), all(steps()))
    return sum(v * (i + 1.0) for i, v in enumerate(log)) * (1.0 + sum(found))


@works("bound methods of lists, dicts, deques that take from a generator that raises", (0.7,))
def bound_methods_take_generators(x):
    def steps(n):
        for i in range(n):
            if i == 2:
                raise KeyError(i)
            yield x * i

    a, d, q = [x], {}, collections.deque()
    for take in (a.extend, a.__iadd__, q.extend, lambda g: d.update(enumerate(g))):
        try:
            take(steps(4))
        except KeyError:
            a.append(x * x)
    extend = a.extend
    extend(steps(2))
    return sum(v * (i + 1.0) for i, v in enumerate(a)) + sum(d.values()) * sum(q)


@works("`str.join` and `str.format` of what is active", (0.5, 0.6))
def texts_of_iterators(x, y):
    a = [x, y]

    def shown():
        for v in a:
            a[0] = a[0] * y
            yield f"{v:.3f}"

    text = ", ".join(shown()) + "".join(map(str, a))[:3] + "/".join(v for v in ("p", "q"))
    form = "{:.3f} {a[0]:.2f} {b.shape}"
    text += form.format(x, a=a, b=np.array(a))
    return a[0] * x * len(text)
