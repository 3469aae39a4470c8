"""Containers that change in any block, under any name: stacks, queues, heaps, tables, dicts."""

import copy
import heapq
import math
from collections import defaultdict, deque

import numpy as np
import pytest

from tests.zygote_lite.checks import programs
from tests.zygote_lite.checks.finite_differences import assert_slopes
from tests.zygote_lite.checks.oracles import assert_agreement
from zygote_lite import gradient, testing, value_and_grad

PROGRAMS = []
tried = programs.declaring(PROGRAMS)  # transformed


@tried(([1.0, 4.0, 2.0, 6.0, 3.0],))
def dijkstra(w):
    graph = {0: [(1, w[0]), (2, w[1])], 1: [(2, w[2]), (3, w[3])], 2: [(3, w[4])], 3: []}
    dist = {0: 0.0}
    heap = [(0.0, 0)]
    done = set()
    while heap:
        d, u = heapq.heappop(heap)
        if u in done:
            continue
        done.add(u)
        for v, c in graph[u]:
            nd = d + c
            if v not in dist or nd < dist[v]:
                dist[v] = nd
                heapq.heappush(heap, (nd, v))
    return dist[3]


@tried((0.5,))
def stack_machine(x):
    stack = []
    for tok in ["x", "x", "*", "2", "+", "x", "*"]:
        if tok == "x":
            stack.append(x)
        elif tok == "2":
            stack.append(2.0)
        else:
            b = stack.pop()
            a = stack.pop()
            stack.append(a * b if tok == "*" else a + b)
    return stack.pop()


@tried(([0.5, 1.5, 2.5, 1.0, 0.2],))
def moving_average(xs):
    window = deque(maxlen=3)
    out = []
    for v in xs:
        window.append(v)
        out.append(sum(window) / len(window))
    return sum(o * o for o in out)


@tried(([0.5, 1.5, 2.5, 1.0, 0.2],))
def delay_line(xs):
    line = [0.0] * 3
    y = 0.0
    for v in xs:
        line.append(v)
        old = line.pop(0)
        y += old * v + 0.3 * y
    return y


@tried((0.5,))
def pop_loop(x):
    todo = [x, 2 * x, 3 * x]
    total = 0.0
    while todo:
        v = todo.pop()
        total += v * v
        if v > 1.2:
            todo.append(v / 2)
    return total


@tried(([0.5, 1.5, 2.5, 1.0, 0.2],))
def grouped(xs):
    groups = {}
    for i, v in enumerate(xs):
        groups.setdefault(i % 2, []).append(v)
    return sum(math.prod(g) for g in groups.values())


@tried(([0.5, 1.5, 2.5, 1.0, 0.2],))
def grouped_default(xs):
    groups = defaultdict(list)
    for i, v in enumerate(xs):
        groups["even" if i % 2 == 0 else "odd"].append(v)
    return sum(groups["even"]) * sum(groups["odd"])


@tried(([0.5, 1.5, 2.5, 1.0, 0.2],))
def grouped_default_walked(xs):
    groups = defaultdict(list)
    for i, v in enumerate(xs):
        groups[i % 2].append(v)
    products = sum(k * sum(g) for k, g in enumerate(groups.values()))
    return products + sum((k + 1) * sum(v * v for v in g) / len(g) for k, g in groups.items())


@tried(([0.5, 1.5, 2.5, 1.0, 0.2],))
def counted_default(xs):
    tot = defaultdict(float)
    for i, v in enumerate(xs):
        tot[i % 3] += v * v
    return tot[0] * tot[1] + tot[2]


@tried(([0.5, 1.5, 2.5, 1.0, 0.2],))
def median(xs):
    ys = sorted(xs)
    n = len(ys)
    return ys[n // 2] if n % 2 else 0.5 * (ys[n // 2 - 1] + ys[n // 2])


@tried(([0.5, 1.5, 2.5, 1.0, 0.2],))
def sort_inplace(xs):
    ys = list(xs)
    ys.sort(reverse=True)
    return ys[0] * ys[1] - ys[-1]


@tried(
    (
        [1.0, -2.0, 0.5, 1.5],
        0.7,
    )
)
def poly_mul(c, x):
    p = [1.0]
    for a in c:
        q = [0.0] * (len(p) + 1)
        for i, v in enumerate(p):
            q[i] += -a * v
            q[i + 1] += v
        p = q
    return sum(v * x**i for i, v in enumerate(p))


@tried(([1.0, 3.0, 2.0],))
def heap_merge(xs):
    h = list(xs)
    heapq.heapify(h)
    tot = 0.0
    while len(h) > 1:
        a = heapq.heappop(h)
        b = heapq.heappop(h)
        tot += (a + b) ** 2
        heapq.heappush(h, a + b)
    return tot


@tried(([3.0, 1.0, 2.0],))
def sort_pairs(xs):
    pairs = [(x * x, i) for i, x in enumerate(xs)]
    pairs.sort()
    return sum(v * (k + 1) for k, (v, i) in enumerate(pairs))


@tried(([3.0, 1.0, 2.0],))
def sorted_key(xs):
    order = sorted(range(len(xs)), key=lambda i: xs[i])
    return sum((k + 1) * xs[i] for k, i in enumerate(order))


@tried((0.9,))
def rk4_list(k):
    def f(y, t):
        return [y[1], -k * y[0]]

    y = [1.0, 0.0]
    t, h = 0.0, 0.1
    ys = [y]
    for _ in range(20):
        k1 = f(y, t)
        k2 = f([a + h / 2 * b for a, b in zip(y, k1)], t + h / 2)
        k3 = f([a + h / 2 * b for a, b in zip(y, k2)], t + h / 2)
        k4 = f([a + h * b for a, b in zip(y, k3)], t + h)
        y = [a + h / 6 * (b + 2 * c + 2 * d + e) for a, b, c, d, e in zip(y, k1, k2, k3, k4)]
        t += h
        ys.append(y)
    return sum(y[0] ** 2 for y in ys)


@tried(
    (
        [0.1, 0.9],
        3,
    )
)
def markov_chain(p, n):
    T = [[0.9, 0.1], [0.5, 0.5]]
    hist = [p]
    for _ in range(n):
        p = [sum(p[i] * T[i][j] for i in range(2)) for j in range(2)]
        hist.append(p)
    return sum(h[0] for h in hist)


@tried(([(0.0, 1.0), (1.0, 2.0), (2.0, 0.5)],))
def de_casteljau2(pts):
    t = 0.3
    pts = list(pts)
    while len(pts) > 1:
        pts = [
            ((1 - t) * a[0] + t * b[0], (1 - t) * a[1] + t * b[1])
            for a, b in [(pts[i], pts[i + 1]) for i in range(len(pts) - 1)]
        ]
    return pts[0][0] * pts[0][1]


@tried((1.2,))
def extend_list(x):
    out = []
    for i in range(5):
        out.extend([x * i, math.sin(x + i)])
    return sum(out) * out[3]


@tried((1.2,))
def plus_assign(x):
    out = []
    for i in range(5):
        out += [x * i, math.sin(x + i)]
    return sum(out) * out[3]


@tried((1.2,))
def insert_front(x):
    out = []
    for i in range(5):
        out.insert(0, x**i)
    return sum(c / (i + 1) for i, c in enumerate(out))


@tried(([1.0, 4.0, 2.0, 6.0, 3.0],))
def floyd(w):
    n = 4
    inf = 1e9
    d = [[inf] * n for _ in range(n)]
    for i in range(n):
        d[i][i] = 0.0
    for (u, v), c in zip([(0, 1), (0, 2), (1, 2), (1, 3), (2, 3)], w):
        d[u][v] = c
    for k in range(n):
        for i in range(n):
            for j in range(n):
                if d[i][k] + d[k][j] < d[i][j]:
                    d[i][j] = d[i][k] + d[k][j]
    return d[0][3]


@tried((0.8,))
def bfs_queue(x):
    q = deque([(0, x)])
    tot = 0.0
    while q:
        d, v = q.popleft()
        tot += v
        if d < 3:
            q.append((d + 1, v * 0.5))
            q.append((d + 1, math.sin(v)))
    return tot


@tried(
    (
        [0.3, 0.7],
        [[0.6, 0.4], [0.2, 0.8]],
        [[0.5, 0.5], [0.1, 0.9]],
    )
)
def viterbi(pi, trans, emit):
    obs = [0, 1, 1, 0]
    states = range(len(pi))
    V = [{}]
    for s in states:
        V[0][s] = math.log(pi[s]) + math.log(emit[s][obs[0]])
    for t in range(1, len(obs)):
        V.append({})
        for s in states:
            V[t][s] = max(V[t - 1][r] + math.log(trans[r][s]) for r in states) + math.log(
                emit[s][obs[t]]
            )
    return max(V[-1].values())


@tried(
    (
        [1.0, 2.0, 0.5],
        [[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 5.0]],
    )
)
def gauss_pivot(b, a):
    n = len(b)
    a = [row[:] for row in a]
    b = b[:]
    for i in range(n):
        p = max(range(i, n), key=lambda r: abs(a[r][i]))
        a[i], a[p] = a[p], a[i]
        b[i], b[p] = b[p], b[i]
        for k in range(i + 1, n):
            f = a[k][i] / a[i][i]
            for j in range(i, n):
                a[k][j] -= f * a[i][j]
            b[k] -= f * b[i]
    x = [0.0] * n
    for i in reversed(range(n)):
        s = b[i]
        for j in range(i + 1, n):
            s -= a[i][j] * x[j]
        x[i] = s / a[i][i]
    return x[0] * x[1] + x[2]


@tried(([0.2, 0.4, 0.9],))
def names_index(x):
    names = ["a", "b", "c"]
    tot = 0.0
    for n in ["c", "a"]:
        tot += x[names.index(n)] ** 2
    return tot


@tried(([0.5, 1.5, 2.5, 1.0, 0.2],))
def argmax_index(xs):
    i = xs.index(max(xs))
    return xs[i] ** 2 + xs[i - 1]


@tried(([1.0, 2.0, 3.0],))
def copy_state(state):
    best = copy.copy(state)
    for k in range(5):
        new = list(state)
        new[k % 3] = new[k % 3] * 0.9
        if sum(new) < sum(best):
            best = new[:]
        state = new
    return sum(v**2 for v in best)


@tried(([0.2, 0.4, 0.9],))
def set_of_indices(x):
    active = {0, 2}
    tot = 0.0
    for i in range(3):
        if i in active:
            tot += x[i] ** 2
    return tot


@tried((1.5,))
def inventory(price):
    stock = {"apples": 3, "pears": 5}
    prices = {"apples": price, "pears": price * 0.7}
    total = 0.0
    for name, n in stock.items():
        total += n * prices[name]
    stock.update(kiwis=2)
    prices.update({"kiwis": 0.2 * price})
    return total + stock["kiwis"] * prices["kiwis"]


@tried(
    (
        2.0,
        30,
    )
)
def traj_dicts_n(v, n):
    hist = []
    s = {"x": 1.0, "v": v}
    for i in range(n):
        s = {"x": s["x"] + 0.1 * s["v"], "v": s["v"] - 0.1 * s["x"]}
        hist.append(s)
    return sum(h["x"] ** 2 for h in hist)


@tried((0.5,))
def newton_with_history(x):
    history = []
    while True:
        fx = x**3 - 2.0
        history.append((x, fx))
        if abs(fx) < 1e-10 or len(history) > 50:
            break
        x = x - fx / (3 * x**2 + 0.1)
    return x + sum(f for _, f in history)


@tried(([3.0, 1.0, 2.0, 0.5],))
def quicksort_iter(xs):
    a = list(xs)
    stack = [(0, len(a) - 1)]
    while stack:
        lo, hi = stack.pop()
        if lo >= hi:
            continue
        p = a[hi]
        i = lo
        for j in range(lo, hi):
            if a[j] < p:
                a[i], a[j] = a[j], a[i]
                i += 1
        a[i], a[hi] = a[hi], a[i]
        stack.append((lo, i - 1))
        stack.append((i + 1, hi))
    return sum((k + 1) * v for k, v in enumerate(a))


@tried(([3.0, 1.0, 2.0, 0.5],))
def merge_sort_iter(xs):
    runs = [[x] for x in xs]
    while len(runs) > 1:
        a, b = runs.pop(0), runs.pop(0)
        out = []
        i = j = 0
        while i < len(a) and j < len(b):
            if a[i] <= b[j]:
                out.append(a[i])
                i += 1
            else:
                out.append(b[j])
                j += 1
        out += a[i:]
        out += b[j:]
        runs.append(out)
    return sum((k + 1) * v for k, v in enumerate(runs[0]))


@tried(([1.0, 2.0, 3.0, 4.0],), ([0.5, 0.25],), ([1.0, 2.0, 3.0, 4.0, 5.0],))
def group_means(xs):
    keys = ["a", "b", "a", "c", "b"]
    groups = {}
    for k, x in zip(keys, xs):
        if k not in groups:
            groups[k] = []
        groups[k].append(x)
    means = {k: sum(v) / len(v) for k, v in groups.items()}
    return sum(m * m for m in means.values())


@tried(
    (
        [1.0, 2.0, 3.0],
        [0.5, 0.6, 0.7],
    )
)
def sparse(a, b):
    m = {}
    for i, x in enumerate(a):
        m[(i, i)] = x
        if i > 0:
            m[(i, i - 1)] = x * 0.5
    y = [0.0] * len(a)
    for (i, j), v in m.items():
        y[i] += v * b[j]
    return sum(v * v for v in y)


@tried(([1.0, 2.0, 3.0, 4.0, 5.0],))
def ema_window(xs):
    buf = deque([0.0] * 3, maxlen=3)
    out = []
    for x in xs:
        buf.append(x)
        out.append(0.5 * buf[0] + 0.3 * buf[1] + 0.2 * buf[-1])
    return sum(out)


@tried(
    (
        np.array([1.0, 2.0, 3.0]),
        5,
    )
)
def array_history(x, n):
    hist = [x]
    for k in range(n):
        x = np.tanh(hist[-1]) * 0.5 + hist[max(0, k - 1)]
        hist.append(x)
    return np.stack(hist).mean()


@tried(
    (
        np.array([1.0, 2.0, 3.0]),
        5,
    )
)
def tape_stack(x, n):
    stack = []
    for k in range(n):
        x = np.sin(x)
        stack.append((k, x))
    tot = 0.0
    while stack:
        k, a = stack.pop()
        tot = tot + k * a.sum()
    return tot


@tried(
    (
        1.5,
        8,
    )
)
def pascal(x, n):
    row = [x]
    for i in range(n):
        row = [1.0] + [row[j] + row[j + 1] for j in range(len(row) - 1)] + [x]
    return sum(v * i for i, v in enumerate(row))


@tried(
    (
        [1.0, -2.0, 0.5],
        [0.3, 1.0],
        0.7,
    )
)
def poly_ops(a, b, x):
    def mul(p, q):
        r = [0.0] * (len(p) + len(q) - 1)
        for i, c in enumerate(p):
            for j, d in enumerate(q):
                r[i + j] += c * d
        return r

    def add(p, q):
        n = max(len(p), len(q))
        return [(p[i] if i < len(p) else 0.0) + (q[i] if i < len(q) else 0.0) for i in range(n)]

    def val(p, x):
        s = 0.0
        for c in reversed(p):
            s = s * x + c
        return s

    r = add(mul(a, b), a)
    for _ in range(3):
        r = mul(r, b)
    return val(r, x)


@tried(
    (
        [1.0, 2.0, 3.0, 4.0],
        [0.1, 0.2, 0.3, 0.4],
    )
)
def knn_key(xs, ys):
    q = 2.2
    d = [((x - q) ** 2, y) for x, y in zip(xs, ys)]
    d.sort(key=lambda p: p[0])
    return sum(p[1] / (0.1 + p[0]) for p in d[:2])


@tried(
    (
        0.4,
        5,
    )
)
def lsystem(x, n):
    s = ["A"]
    for _ in range(n):
        out = []
        for c in s:
            if c == "A":
                out.extend(["A", "B"])
            else:
                out.append("A")
        s = out
    return x * s.count("A") + x**2 * s.count("B")


@tried(
    (
        [0.4, 0.6],
        5,
    )
)
def mdp_values(r, n):
    V = {"s0": 0.0, "s1": 0.0}
    nxt = {"s0": [("s0", 0.3), ("s1", 0.7)], "s1": [("s0", 1.0)]}
    rew = {"s0": r[0], "s1": r[1]}
    for _ in range(n):
        new = {}
        for s in V:
            new[s] = rew[s] + 0.9 * sum(p * V[t] for t, p in nxt[s])
        V = new
    return V["s0"] + V["s1"]


@tried(([1.0, 2.0, 3.0],))
def remove_insert(xs):
    a = list(xs)
    a.insert(1, a[0] * a[2])
    a.remove(a[0])
    a.reverse()
    del a[0]
    b = a.copy()
    b.extend(xs)
    a.clear()
    a.append(5.0)
    return sum(b) * a[0] + b[0]


@tried(
    (
        [0.5, 1.5, 2.5, 1.0, 0.2],
        3,
    )
)
def prices_heap(xs, k):
    heap = []
    for i, x in enumerate(xs):
        heapq.heappush(heap, (x * x, i))
        if len(heap) > k:
            heapq.heappop(heap)
    return sum(v for v, i in heap)


@tried((0.3, 0), (0.3, 1), (0.3, -1))
def place_that_is_computed(x, i):
    a = [x, x * x]
    a[i] = 3.0 * x
    return a[0] * a[1]


@tried(([0.3, 0.5], 2), ([0.3, 0.5], 0))
def list_times_one(x, n):
    held = [x[0]]
    for _ in range(n):
        held.append(x[1])
    again = held * 1
    again.append(x[0])
    return sum(held) * x[0]


@tried((2.0, 5), (2.0, 0))
def list_with_a_second_name_is_appended_to(x, n):
    a = [x, 1.0]
    b = a
    for _ in range(n):
        b = [b[1], b[0] * 0.5]
    a.append(x)
    return sum(b) * x + len(b)


@tried((2.0, 1.0), (0.5, 1.0))
def list_of_a_branch_is_appended_to(x, y):
    a, b = [x, y], [y, y]
    c = a if x > 1.0 else b
    a.append(x * y)
    return sum(c) * x


@tried((2.0, 1.0), (0.5, 1.0))
def dict_inside_a_pair_of_a_branch_is_written(x, y):
    d = {"a": x}
    t = (d, y) if x > 1.0 else ({"a": y}, y)
    d["a"] = x * 3
    return t[0]["a"] * x


@tried((2.0, 1.0), (0.5, 1.0))
def keys_of_a_branch(x, y):
    d = {"a": x, "b": y} if x > 1.0 else {"b": x, "a": y}
    return sum(v * i for i, v in enumerate(d.values())) * x


@tried(([1.0, 2.0], 0.5), ([3.0, 2.0], 0.5))
def compares_pairs_with_what_changes(xs, p):
    a, b = [p], [p]
    s = 0.0
    for x in xs:
        s += x if (a, 1) == (b, 1) else 2.0 * x
        a.append(x)
        s += x if (a, 1) == (b, 1) else 2.0 * x
    return s * a[0]


@tried(([1.0, 2.0],), ([3.0, 2.0, 1.0],), ([],), ([0.5] * 7,))
def grows_what_it_walks_over_to_a_length(xs):
    a = [x * x for x in xs]
    b, s = a, 0.0
    for x in a:
        s += x
        if len(b) < 6:
            b.append(x * 0.5)
    return s


@tried((0.3, 0.4, 2), (0.3, 0.4, 1), (0.3, 0.4, 0), (-0.3, 0.4, 3))
def list_of_an_iteration_before_a_loop_that_is_left(y, w, n):
    """What an iteration has made is not made again, where a later loop is left."""
    also = [y]
    b = also
    if y > 0.0:
        b.append(w)
    k = [y, 2.0]
    for _ in range(n):
        k = [0.7 * w, math.tanh(k[0])]
        k = [0.5 * v * k[0] for v in k]
    s = y
    for _ in range(9):
        s = s * w
        if s < 0.05:
            break
    return s + k[0] + 3 * k[1] + sum(also)


@tried(([1.0, 2.0], 0.5, 3), ([1.0, 2.0], 0.5, 1))
def becomes_an_argument(xs, p, n):
    a = [p, 1.0]
    for _ in range(n):
        a[0] = a[1] * p
        a = xs
    return a[0] * xs[1]


GIVEN = [1.0, 2.0, 3.0]


@tried((0.7,), (1.7,))
def holds_what_it_is_given_in_a_loop_that_is_written_again(x):
    kept, n = GIVEN, 1 if x < 1 else 2
    table = {n: [x]}
    s, t, i = 0.0, None, 0
    while i < n + 2:
        table[n + i] = kept
        t = x if t is None else t * x  # so the loop is written after its first iteration
        s = s + table[n + i][0] * t
        i += 1
    return s + x * kept[n]


@tried(([1.3, 0.7], 10), ([1.1, 0.8], 3), ([0.5, 2.0], 1))
def trajectory(x, n):
    t, y, history = 0.0, np.array([x[0], x[1]]), []
    while len(history) < n:
        history.append((t, y.copy()))
        y[0] = y[0] * 0.9 * x[1]
        t += 0.1
    times, places = np.array([t for t, _ in history]), np.array([y for _, y in history])
    return np.sum(places * (times[:, None] + x[0]))


@tried((np.array([0.5, 0.7, 1.2]), 5), (np.array([0.5, 0.7, 1.2]), 1), (np.array([0.2, 0.3]), 4))
def limited_memory_bfgs(x, n):
    steps, changes = deque(maxlen=3), deque(maxlen=3)
    g = np.exp(x) + x - 2.0
    for _ in range(n):
        d, factors = g.copy(), []
        for s, y in zip(reversed(steps), reversed(changes), strict=True):
            factors.append(s @ d / (y @ s))
            d = d - factors[-1] * y
        if steps:
            d = d * (steps[-1] @ changes[-1] / (changes[-1] @ changes[-1]))
        for (s, y), factor in zip(zip(steps, changes, strict=True), reversed(factors)):
            d = d + s * (factor - y @ d / (y @ s))
        after = np.exp(x - d * 0.5) + x - d * 0.5 - 2.0
        steps.append(-0.5 * d)
        changes.append(after - g)
        x, g = x - 0.5 * d, after
    return np.sum(x * g) + x[0]


@tried(([1.0, 2.0], 3), ([1.0, 2.0, 0.5], 2))
def new_iterators_beside_what_has_any_length(xs, n):
    few, many, s = [xs[0], 2.0], [xs[1]], 0.0
    for _ in range(n):
        for (u, v), w in zip(zip(reversed(few), [0.5, xs[1]]), reversed(many)):
            s = s + u * v * w
        many.append(s * 0.1)
    return s


@pytest.mark.sampled(2)
@programs.for_each(PROGRAMS)
def test_is_transformed_and_right(f, choices):
    numbers = programs.not_counts(choices[0])
    with testing.transformed_only():
        _, found = value_and_grad(f, numbers)(*copy.deepcopy(choices[0]))
    given, counts = choices[0][: len(numbers)], choices[0][len(numbers) :]
    assert_slopes(found, lambda *xs: f(*xs, *counts), given, 1e-5)
    assert assert_agreement(f, *choices, argnums=numbers)


def values_of_a_dict_beside_an_array(v, n):
    many, s = [v[0]], v[1]
    for _ in range(n):
        for a, b in zip({"a": s, "b": v[0]}.values(), v):
            s = s + a * b * many[0]
        many.append(s)
    return s


def test_a_view_of_a_dict_beside_an_array_is_recorded():
    choices = (np.array([0.5, 0.7]), 3), (np.array([0.5, 0.7]), 1)
    assert assert_agreement(values_of_a_dict_beside_an_array, *choices, argnums=(0,)) is False
    given = (choices[0][0],)
    found = value_and_grad(values_of_a_dict_beside_an_array, (0,))(*given, 3)[1]
    assert_slopes(found, lambda v: values_of_a_dict_beside_an_array(v, 3), given, 1e-5)


BY_PATH = []
by_path = programs.declaring(BY_PATH)  # transformed, each path by itself


@by_path(([1.0, 2.0],), ([3.0, 0.1, 1.0],), ([0.2],))
def grows_what_it_walks_over(xs):
    a = [x * x for x in xs]
    b, s = a, 0.0
    for x in a:
        s += x
        if x > 0.3 and len(b) < 6:
            b.append(x * 0.5)
    return s


@by_path((2.0,), (0.5,))
def copies_a_dict_that_has_grown(x):
    d = {}
    for i in range(3):
        d[i] = x * i
    e = copy.copy(d)
    e[7] = x * x
    d[1] = 0.0
    return sum(e.values()) + d[1] + len(d)


@programs.for_each(BY_PATH)
def test_a_path_is_transformed_by_itself(f, choices):
    assert assert_agreement(f, *choices, argnums=programs.not_counts(choices[0]))


def kept_and_written(x):
    y, kept = np.array([x, 2 * x]), []
    while len(kept) < x:
        kept.append((len(kept), y))
        y[0] = y[0] * 0.5 + x
    return sum(i * b[0] * b[1] for i, b in kept)


def written_where_it_is_kept(x):
    y, kept = np.array([x, 2 * x]), []
    while len(kept) < x:
        kept.append((len(kept), y.copy()))
        y = y * x
    kept[0][1][0] = 7.0
    for _, b in kept:
        b *= x
    return sum(b[0] * b[1] for _, b in kept)


def a_view_is_kept(x):
    y, kept = np.array([x, 2 * x, 3 * x]), []
    while len(kept) < x:
        kept.append({"i": len(kept), "y": y[:2]})
        y[1] = y[1] * x
    return sum(k["y"][0] * k["y"][1] * k["i"] for k in kept)


@pytest.mark.parametrize("f", [kept_and_written, written_where_it_is_kept, a_view_is_kept])
def test_arrays_in_containers_that_are_written_to(f):
    assert_slopes((value_and_grad(f)(2.5)[1],), f, (2.5,), 1e-5)
    assert_agreement(f, (2.5,), (1.5,), (3.5,))


def test_a_key_of_another_kind_is_added_after_a_walk_over_the_keys():
    def f(x, n):
        d = {}
        for j in range(n):
            d[j] = x
        s = x * x
        for _ in range(n):
            for k in d:
                s = s + (x if isinstance(k, int) else 3 * x)
            d["a"] = x
        return s

    for _ in range(4):
        assert value_and_grad(f, (0, 1))(2.0, 3) == (34.0, (19.0, 0.0))


def another_dict_on_a_path(xs):
    d = {"a": 1.0}
    u, total = 1.0, 0.0
    for x in xs:
        total = total + d["a"] * x  # reads what an earlier iteration has written
        if x > 1.0:
            e = {"a": u}
        else:
            e = d
        e["a"] = u
        u = x * x
    return total


def another_list_on_a_path(xs):
    d = [1]
    u, total = 1, 0.0
    for x in xs:
        total = total + d[0] * x
        if x > 1.0:
            e = [u]
        else:
            e = d
        e[0] = u
        u = x * x
    return total


@pytest.mark.parametrize("f", [another_dict_on_a_path, another_list_on_a_path])
def test_what_a_path_says_of_a_container_holds_for_reads_before_it(f):
    xs = np.array([0.5, 0.7, 1.5, 0.3])
    assert_slopes(gradient(f, xs), f, (xs,), 1e-6)
    assert assert_agreement(f, (xs,), (xs[::-1] + 0.4,))


def sum_from_a_start(x):
    stack = [x, 2.0 * x]
    while len(stack) < 4:
        stack.append(stack[-1] * x)
    stack.pop(0)
    return sum(stack, start=x**3)


def product_from_a_start(x):
    stack = [x, 2.0 * x]
    while len(stack) < 4:
        stack.append(stack[-1] * x)
    stack.pop(0)
    return math.prod(stack, start=1.0 + x)


@pytest.mark.parametrize("f", [sum_from_a_start, product_from_a_start])
def test_folds_of_a_list_that_changes_begin_at_a_start_that_is_named(f):
    assert_slopes((value_and_grad(f)(1.5)[1],), f, (1.5,), 1e-6)
    assert_agreement(f, (1.5,), (0.5,), (2.5,))
    for _ in range(3):
        assert value_and_grad(f)(1.5)[0] == f(1.5)
