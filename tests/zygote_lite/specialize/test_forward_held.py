"""Forward mode of functions that change lists, dicts, objects and arguments: transformed code.

Each is compared with central differences and with the tape, at the first call and at the third.
"""

import copy
import heapq
import math
from collections import OrderedDict, defaultdict, deque

import numpy as np
import pytest

from zygote_lite import code_jvp, jvp, linearize, testing

V = np.array([0.3, 1.2, -0.7])
PROGRAMS = []


def case(*xs):
    def add(f):
        PROGRAMS.append(pytest.param(f, xs, id=f"{f.__name__} {len(PROGRAMS)}"))
        return f

    return add


def direction(x, generator):
    if isinstance(x, float):
        return float(generator.normal())
    if isinstance(x, np.ndarray):
        return generator.normal(size=x.shape)
    if isinstance(x, list | tuple):
        return type(x)(direction(part, generator) for part in x)
    if isinstance(x, dict):
        return {key: direction(part, generator) for key, part in x.items()}
    return None


def moved(x, d, step):
    if d is None:
        return copy.deepcopy(x)
    if isinstance(x, list | tuple):
        return type(x)(moved(part, v, step) for part, v in zip(x, d, strict=True))
    if isinstance(x, dict):
        return {key: moved(part, d[key], step) for key, part in x.items()}
    return x + step * d


@case(1.3, 5)
def shared_list(x, n):
    a = [x]
    b = [a, a]
    for i in range(n):
        b[i % 2].append(x * i)
        a[0] = a[0] * x
    return sum(b[0]) + b[1][0]


@case(1.3, 4)
def rebound(x, n):
    xs = [x]
    for i in range(n):
        m = [v * x for v in xs]
        m.append(x + i)
        xs, k = m, xs
        k[0] = x**3
    return sum(xs) * xs[0]


@case(1.3, True)
@case(1.3, False)
def in_branch(x, flag):
    if flag:
        xs = [x, x * x]
    else:
        xs = [2.0, x]
    xs.append(xs[0] * 3)
    m = xs if flag else [1.0]
    m.append(x)
    return sum(xs) + sum(m) * x


@case(V, 4)
def arrays(v, n):
    xs = []
    for i in range(n):
        xs.append(v * i)
    xs[1] = np.zeros(3)
    xs.insert(-1, v * v)
    s = sum(xs)
    t = np.array(xs)
    return (s * t[0]).sum() + t.sum() + xs.pop(0).sum() + (xs[-1] * xs[1]).sum()


@case(1.7, 6)
def dd(x, n):
    d = defaultdict(float)
    c = defaultdict(int)
    for i in range(n):
        d[i % 3] += x**i
        c[i % 2] += x * i
    return d[0] * d[1] + c[0] * c[1] + d[77]


@case(1.7, 9)
def deq(x, n):
    q = deque([1.0, 2.0], maxlen=4)
    for i in range(n):
        q.append(x * i)
        if i % 3 == 0:
            q.appendleft(x)
        q.rotate(1)
    q[0] = x * x
    r = q.copy()
    r.extend([x, 2 * x, 3.0])
    q.reverse()
    q.popleft()
    q.insert(1, x**3)
    return sum(q) * r[0] + r[-1]


@case(1.7, 3)
def empty(x, n):
    xs = []
    for i in range(n):
        xs.append(x * i)
    return sum(xs) + x


@case(1.7, 5)
def slices(x, n):
    xs = [x * i for i in range(n)]
    xs[1:3] = [x, x * x, 3.0]
    xs[::2] = xs[::2][::-1]
    del xs[1:2]
    m = xs[1:] + [1.0] * 2 + xs[:1]
    m *= 2
    m += [x]
    m[-1] = 4.0
    m.clear()
    m.extend(xs)
    m.extend(v * x for v in xs)
    return sum(m) * m[2]


@case(0.7, 5)
def sorts(x, n):
    xs = [math.sin(x * i * 3) for i in range(n)]
    xs.sort()
    a = xs[0] * xs[1]
    xs.sort(reverse=True)
    m = sorted(xs, key=lambda v: v * v)
    p = [(v, i) for i, v in enumerate(xs)]
    return a + xs[0] * m[1] + max(xs) * min(m) + max(p, key=lambda t: t[1])[0]


@case([1.0, 2.0, 3.0], 2.0)
def given_changed(xs, x):
    xs.append(x)
    xs[0] = xs[1] * x
    return sum(xs) * xs.pop()


@case({"a": 1.0, "b": V.copy()}, 2.0)
def given_dict(d, x):
    d["c"] = x * d["a"]
    d["b"] = d["b"] * x
    return d["b"].sum() * d["c"]


@case(V.copy(), 2.0)
def given_array(v, x):
    v[0] = x * v[1]
    v *= x
    v[1:] += v[0]
    return v.sum() * v[2]


@case([V.copy(), V.copy() * 2], 2.0)
def given_arrays(xs, x):
    xs[0] = xs[1] * x
    xs.append(xs[0] * xs[1])
    return sum(xs).sum()


@case([[1.0, 2.0], [3.0, 4.0]], 2.0)
def given_rows(xs, x):
    xs[0][1] = x
    xs[1].append(x * x)
    xs.append(xs[0])
    xs[2][0] = x**3
    return xs[0][0] * xs[1][2] + sum(xs[2])


@case([1.0, 2.0, 3.0], 2.0)
def given_kept(xs, x):
    m = [xs, [x]]
    m[1].append(xs[0])
    k = xs[:]
    k[0] = x
    return sum(m[0]) * sum(m[1]) * k[0] * k[1]


class P:
    def __init__(self, a, b):
        self.a = a
        self.b = b
        self.n = 0

    def step(self, x):
        self.a = self.a * x
        self.n += 1
        self.b = self.b + [self.a] if isinstance(self.b, list) else self.b + self.a


@case(1.4, 4)
def records(x, n):
    ps = []
    for i in range(n):
        ps.append(P(x * i, x))
    for p in ps:
        p.step(x)
    ps[0].a = ps[1].b * x
    q = ps[1]
    q.a = 1.0
    return sum([p.a * p.b for p in ps]) + q.n


@case(1.4, 4)
def nodes(x, n):
    nodes = {}
    for i in range(n):
        nodes[i] = {"value": x * i, "next": []}
        if i:
            nodes[i - 1]["next"].append(nodes[i])
    nodes[1]["value"] = x**3
    t = 0.0
    for i in range(n):
        for m in nodes[i]["next"]:
            t += m["value"] * nodes[i]["value"]
    return t


@case(1.4, 6)
def tuples(x, n):
    xs = [(0, x)]
    for i in range(n):
        k, v = xs[-1]
        xs.append((k + 1, v * x + i))
    return xs[-1][1] * xs[2][1] + xs[3][0]


@case(1.4, 6)
def swaps(x, n):
    xs = [x**i for i in range(n)]
    for i in range(n - 1):
        xs[i], xs[i + 1] = xs[i + 1], xs[i] * x
    xs[0], xs[-1] = xs[-1], xs[0]
    return sum(v * i for i, v in enumerate(xs))


@case(1.4, 6)
def whiles(x, n):
    st = [x]
    t = 0.0
    while st:
        v = st.pop()
        t += v * v
        if len(st) < 3 and v < 8:
            st.extend([v + 1.0, v * 2])
    return t


@case([1.0, 2.0, 1.0], 2.0)
def maxties(xs, x):
    xs = list(xs)
    xs.append(2.0 * x / 2)
    return max(xs) * min(xs) * x


@case(1.4, 6)
def closure(x, n):
    acc = []

    def add(v):
        acc.append(v * x)
        return len(acc)

    for i in range(n):
        add(i * x)
    return sum(acc)


@case(V, 3)
def arr_in_dict(v, n):
    s = {"v": v, "t": 0.0, "m": np.zeros(3)}
    for i in range(n):
        s["m"] = 0.9 * s["m"] + s["v"]
        s["v"] = s["v"] - 0.1 * s["m"]
        s["t"] += s["v"].sum()
    return s["t"] * s["v"][0]


@case(V, 3)
def arr_write(v, n):
    xs = []
    for i in range(n):
        a = np.zeros(3)
        a[i] = v[i] * v[0]
        xs.append(a.copy())
        a[0] = 5.0
    return sum(xs).sum() * xs[0][0]


@case(2.0, 3)
def od(x, n):
    d = OrderedDict(a=x)
    for i in range(n):
        d[i] = x * i
    d.move_to_end("a")
    _k, v = d.popitem(last=False)
    return v * x + sum(d.values()) + d.popitem()[1]


@case(0.7, 6)
def memo1(x, n):
    memo = {0: 1.0, 1: x}

    def f(n):
        if n not in memo:
            memo[n] = f(n - 1) * x + f(n - 2)
        return memo[n]

    return f(n)


@case(0.7, 5)
def fills(x, n):
    out = []

    def f(k):
        if k > 0:
            out.append(x * k)
            f(k - 1)

    f(n)
    return sum(out) * out[1]


@case(0.7, 5)
def qsort(x, n):
    xs = [np.sin(x * i * 7) for i in range(n)]

    def sort(a, lo, hi):
        if lo >= hi:
            return 0
        p = a[hi]
        i = lo
        for j in range(lo, hi):
            if a[j] < p:
                a[i], a[j] = a[j], a[i]
                i += 1
        a[i], a[hi] = a[hi], a[i]
        sort(a, lo, i - 1)
        sort(a, i + 1, hi)
        return 0

    sort(xs, 0, n - 1)
    return sum(v * i for i, v in enumerate(xs))


@case(0.7, None)
@case(0.7, 3.0)
def noneor(x, y):
    a = x or y
    b = x and y
    xs = [a]
    z = None
    for i in range(3):
        if i == 1:
            z = x * i
        xs.append(x)
    return a * (b or 1.0) + (z if z is not None else 0.0) * sum(xs)


@case(0.7, 9)
def heap1(x, n):
    h = []
    for i in range(n):
        heapq.heappush(h, ((i * 7) % n, x * i, i))
    t = 0.0
    while len(h) > 3:
        k, v, i = heapq.heappop(h)
        t = t * x + v * k
    k, v, i = heapq.heapreplace(h, (100, x * x, 0))
    t += v
    k, v, i = heapq.heappushpop(h, (-1, x**3, 0))
    t += v * 2
    heapq.heapify(h)
    return t + h[0][1] * h[1][1]


@case(0.7, 9)
def heap2(x, n):
    h = [x * ((i * 7) % n) for i in range(n)]
    heapq.heapify(h)
    t = 0.0
    for i in range(n - 1):
        t = t * x + heapq.heappop(h)
    heapq.heappush(h, x * x)
    return t + h[0]


@case(0.7, 9)
def heap3(x, n):
    h = []
    nodes = [[x * i] for i in range(n)]
    for i in range(n):
        heapq.heappush(h, (-i, nodes[i]))
    t = 0.0
    while h:
        k, xs = heapq.heappop(h)
        xs.append(x)
        t += xs[0] * xs[1] * k
    return t + nodes[1][1] * nodes[2][0]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("f", "xs"), PROGRAMS)
def test_programs(f, xs):
    generator = np.random.default_rng(0)
    dxs = tuple(direction(x, generator) for x in xs)
    ends = [f(*(moved(x, d, step) for x, d in zip(xs, dxs, strict=True))) for step in (1e-6, -1e-6)]
    after = copy.deepcopy(xs)
    value = f(*after)
    with testing.strict(), testing.transformed_only():
        for compared in (False, True, False):
            given, tangents = copy.deepcopy(xs), copy.deepcopy(dxs)
            if compared:
                with testing.compared(1e-9):
                    y, dy = jvp(f, given, tangents)
            else:
                y, dy = jvp(f, given, tangents)
            np.testing.assert_allclose(y, value)
            np.testing.assert_allclose(dy, (ends[0] - ends[1]) / 2e-6, rtol=1e-5)
            assert repr(given) == repr(after)
            assert repr(tangents) == repr(dxs)


def test_text():
    def f(x, n):
        powers = [x]
        for i in range(n):
            powers.append(powers[i] * x)
        powers[0] = 1.0
        return sum(powers)

    text = code_jvp(f, 1.5, 3)
    for line in ("dpowers = [dx]", "dpowers.append(", "dpowers[0] = 0.0", "sum(dpowers, 0.0)"):
        assert line in text


def doubled(x, other):
    x[0] = x[0] * 2.0
    other.append(x[0] * other[0])
    return x[0] * other[-1]


@pytest.mark.parametrize("recorded", [False, True])
def test_a_tangent_that_is_the_argument(recorded):
    """The function changes the argument; the tangent is what that held before."""
    for _ in range(3):
        x = [1.5, 2.0]
        with testing.recorded_only() if recorded else testing.strict():
            assert jvp(doubled, (x, [3.0]), (x, [1.0])) == (27.0, 63.0)
        assert x == [3.0, 2.0]


def test_rows_that_are_one():
    def f(rows):
        rows[0][0] = rows[1][0] * 2.0
        return rows[1][0] * rows[0][1]

    for _ in range(3):
        tangent = [1.0, 2.0]
        y = jvp(f, ([[1.5, 2.0], [3.0, 4.0]],), ([tangent, tangent],))
        assert y == (6.0, 8.0)
        assert tangent == [1.0, 2.0]


def test_parts_that_do_not_move():
    def f(x, y):
        x.append(y * x[0])
        x[1] = x[2] * y
        return sum(x)

    given = [(([None, 1.0], 1.0), 7.0), ((None, 1.0), 7.0), (([0.5, 1.0], None), 6.5)]
    for dxs, expected in given * 2:
        assert jvp(f, ([1.0, 2.0], 3.0), dxs) == (13.0, expected)


def test_effects_happen_once(capsys):
    def f(x, y, n):
        x.append(y)
        print("in", len(x))
        for _ in range(n):
            x[0] = x[0] * y
            if x[0] > 100.0:
                raise ValueError("large")
        return math.log(x[0])

    for n in (3, 3, 10, 2):
        x = [2.0]
        if n == 10:
            with pytest.raises(ValueError, match="large"):
                jvp(f, (x, 2.0, n), ([1.0], 1.0, None))
            assert x == [128.0, 2.0]
        else:
            _, dy = jvp(f, (x, 2.0, n), ([1.0], 1.0, None))
            assert dy == pytest.approx(0.5 + n / 2.0)
        assert capsys.readouterr().out == "in 2\n"


def test_value_shares_nothing():
    def f(v):
        kept = [v * 2.0]
        kept.append(kept[0])
        return kept[0], kept[1]

    for _ in range(3):
        _, (a, b) = jvp(f, (V,), (V,))
        assert not np.shares_memory(a, b)
    with testing.transformed_only():
        _, push = linearize(lambda v: np.array(f(v)).sum(), V)
    assert push(V) == pytest.approx(4.0 * V.sum())
