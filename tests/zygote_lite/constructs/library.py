"""Library code as it stands: NumPy's own Python functions, SciPy's, the standard library's."""

import bisect
import cmath
import collections
import concurrent.futures
import contextlib
import contextvars
import copy
import dataclasses
import fractions
import functools
import heapq
import math
import statistics
import threading
import types

import numpy as np
import scipy.integrate
import scipy.integrate._ivp.rk
import scipy.interpolate
import scipy.optimize
import scipy.spatial
import scipy.stats

from tests.zygote_lite.constructs.declare import declaring
from zygote_lite import gradient

CASES = []
works, refused = declaring(CASES)
V = np.array([0.5, 0.6, 0.8, 0.7])


@works("`scipy.optimize.rosen`", (V,), expected=lambda x: (scipy.optimize.rosen_der(x),))
def rosen(x):
    return scipy.optimize.rosen(x)


CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])


@works("objects of compiled classes that a plugin has rules for", (CORNERS[:, 0],))
def interpolator(d):
    return float(scipy.interpolate.LinearNDInterpolator(CORNERS, d)(np.array([[0.2, 0.3]]))[0])


@works("objects of compiled classes that a plugin has rules for", (CORNERS,))
def hull(x):
    return scipy.spatial.ConvexHull(x).volume


@works("objects of compiled classes that a plugin has rules for", (CORNERS,))
def triangulation(x):
    return np.sum(scipy.spatial.Delaunay(x).points)


@works("objects of compiled classes that a plugin has rules for", (CORNERS,))
def tree(x):
    return scipy.spatial.cKDTree(x).query([0.2, 0.3])[0]


RK45 = scipy.integrate.RK45


@works("an explicit Runge-Kutta step of SciPy (`rk_step`)", (V[:2], 0.3))
def runge_kutta_step(y, k):
    def fun(t, y):
        return np.array([y[1], -k * np.sin(y[0]) + t])

    stages = np.empty((RK45.n_stages + 1, 2))
    f = fun(0.0, y)
    new, _ = scipy.integrate._ivp.rk.rk_step(fun, 0.0, y, f, 0.1, RK45.A, RK45.B, RK45.C, stages)
    return np.sum(new * new)


@works("NumPy functions in Python without a rule: `np.vander`", (V[:3],))
def vander(x):
    return np.sum(np.vander(x, 3) @ np.array([0.3, 0.5, 0.7]))


@works("NumPy functions in Python without a rule: `np.cov`, `np.corrcoef`", (V, V[::-1] * V))
def correlation(x, y):
    return np.corrcoef(x, y)[0, 1] + np.cov(x, y)[0, 0]


@works("NumPy functions in Python without a rule: `np.polyval`, `np.polyder`", (V, 0.3))
def polynomial(p, x):
    return np.polyval(np.polyder(p), x) * np.polyval(p, x)


@works("NumPy functions in Python without a rule: `np.apply_along_axis`", (V.reshape(2, 2),))
def along_axis(m):
    y = np.sum(np.apply_along_axis(lambda r: r * r[0], 1, m) * m)
    axis, first = 0, m[0]
    for axis, first in [(axis, first)]:  # an axis that is held beside what is differentiated
        y = y + np.sum(np.apply_along_axis(np.sum, axis, m) * first)
    outer = np.apply_along_axis(lambda r, k, p=1.0: np.outer(r, r) * k * p, 0, m, 2.0, p=m[0, 1])
    y = y + np.sum(outer * np.arange(8.0).reshape(2, 2, 2))
    return y + np.sum(np.apply_along_axis(np.diag, -1, m) * m)


@works("`np.broadcast`: its shape, and iteration over it", (V,))
def broadcast_object(x):
    both = np.broadcast(x[:, None], x * x)
    y = np.empty(both.shape)
    y.flat = [u * v for u, v in both]
    return np.sum(y * np.arange(1.0, 1.0 + both.size).reshape(both.shape))


@works("NumPy functions that call: `np.vectorize`, `np.fromiter`, `np.ndenumerate`", (V,))
def calling_functions(x):
    f = np.vectorize(lambda v, k: v * k if v > 0.55 else v)
    parts = np.vectorize(lambda v: (v * v, v * x[0]))(x.reshape(2, 2))
    y = np.sum(f(x, [[3.0], [2.0]]) * x) + np.sum(parts[0] * parts[1])
    y = y + np.sum(np.fromiter((v * v for v in x), float) * x)
    for (i, j), v in np.ndenumerate(np.outer(x, x)):
        y = y + v * i * x[j]
    return y


@works("NumPy functions in Python without a rule: `np.kron`, `np.block`, `np.rot90`", (V[:2],))
def arrangements(x):
    m = np.block([[np.outer(x, x), np.eye(2)], [np.eye(2), np.rot90(np.outer(x, x * x))]])
    return np.sum(m @ m) + np.sum(np.kron(x, x) * V)


@works("NumPy functions in Python without a rule: `np.piecewise`, `np.select`", (V,))
def piecewise(x):
    y = np.select([x > 0.65, x > 0.55], [x * x, np.sin(x)], 0.1)
    z = np.piecewise(x, [x > 0.65, x < 0.55], [np.cos, lambda t: 2.0 * t * t, 0.3])
    return np.sum(y * x) + np.sum(z * x)


@works("`scipy.stats` log-likelihood in Python", (V, 0.2))
def log_likelihood(x, mean):
    z = (x - mean) / 0.7
    return np.sum(-0.5 * z * z) + scipy.optimize.rosen(x)


@works("`statistics.mean` and other pure Python of the standard library", (0.5, 0.6))
def standard_library(x, y):
    return statistics.fmean([x, y, x]) * x


@works("`heapq`, `bisect`", (0.5, 0.6))
def heaps(x, y):
    heap = []
    for v in (y, x, x * y):
        heapq.heappush(heap, v)
    a = heapq.heappop(heap)
    return a * heapq.heappop(heap) + [x, y][bisect.bisect([0.1, 0.2], x) - 1]


@works("`heapq`, `bisect`", (0.7,))
def heap_functions(x):
    heap = [5.0, x, 3.0 * x, 2.0, x * x, 7.0 * x, 0.1]
    heapq.heapify(heap)
    y = heapq.heapreplace(heap, x * 0.1) * 2.0 + heapq.heappushpop(heap, x * 9.0) * 3.0
    y = y * x + sum(v * (i + 1) for i, v in enumerate(heap))
    y = y + sum(heapq.nsmallest(3, heap)) * heapq.nlargest(2, heap, key=lambda v: -v)[1]
    y = y + list(heapq.merge([x, 3.0], [0.2 * x, 5.0 * x]))[1] * x
    ordered = [0.1, 0.3, x * 2.0]
    bisect.insort(ordered, x)
    bisect.insort_left(ordered, 0.2 * x)
    return y + ordered[bisect.bisect(ordered, 0.5)] * ordered[1] * x


@works("a heap of tuples: shortest paths", (0.7,))
def shortest_path(x):
    edges = {0: {1: x, 2: 4.0 * x}, 1: {2: 2.0, 3: 5.0}, 2: {3: x * x}, 3: {}}
    far, heap, done = {0: 0.0}, [(0.0, 0)], set()
    while heap:
        d, node = heapq.heappop(heap)
        if node in done:
            continue
        done.add(node)
        for other, w in edges[node].items():
            if other not in far or d + w < far[other]:
                far[other] = d + w
                heapq.heappush(heap, (d + w, other))
    return far[3] * x


@works("`copy.copy`, `copy.deepcopy`", (0.5, 0.6))
def copies(x, y):
    a = {"p": [x, y]}
    b = copy.deepcopy(a)
    c = copy.copy(a)
    a["p"][0] = 3.0
    return b["p"][0] * c["p"][1] + c["p"][0]


@works("`copy.copy`, `copy.deepcopy`", (0.5, 0.6))
def copied_defaultdict(x, y):
    d = collections.defaultdict(lambda: x * 2)
    total = d["a"]
    d["b"] = y
    e, f = copy.copy(d), d.copy()
    d["a"] = 1.0
    e["b"] = e["b"] * f["a"]
    return total * e["a"] * e["b"] * f["b"] * f["new"] * d["a"] + len(e) * x


@works("`copy.copy`, `copy.deepcopy`", (V,))
def copies_of_arrays(a):
    b, c = copy.copy(a), copy.deepcopy(a)
    written = a * 1.0
    d, (e, f) = copy.copy(written), copy.deepcopy([written, written])
    written[0] = 5.0
    e[1] = a[0]
    return np.sum(b * c * d) + copy.copy(a[1]) * copy.deepcopy(a[0]) + np.sum(f * a)


@works("`copy.copy`, `copy.deepcopy`", (0.5, 0.6))
def copies_of_containers(x, y):
    q = collections.deque([x, [y]], maxlen=3)
    d = collections.defaultdict(list, a=[x])
    o = collections.OrderedDict(a=[x], b=y)
    c = collections.Counter(a=x, b=y)
    s = types.SimpleNamespace(a=x, b=[y])
    all_of_them = [q, d, o, c, s, q]
    p, e, r, k, t, p2 = copy.deepcopy(all_of_them)
    p2[1].append(x * y)
    e["b"].append(y * 3.0)
    r["a"][0] *= y
    k["a"] += x
    t.b[0] = t.a * 2.0
    q[1][0] = d["a"][0] = 5.0
    total = sum(p[1]) * p[0] + e["a"][0] * e["b"][0] + r["a"][0] * r["b"] + k["a"] * c["a"]
    return total + t.b[0] * s.b[0] + copy.copy(s).a + len(q[1]) * x


class Saving:
    """An object with a state of its own."""

    def __init__(self, v):
        self.v, self.cache = v, {"v": v}

    def __getstate__(self):
        return {"v": self.v}

    def __setstate__(self, state):
        self.v, self.cache = state["v"] * 2.0, {}


class Reducing(Saving):
    """An object that says what it is made of."""

    def __reduce__(self):
        return Reducing, (self.v * 3.0,)


class Items(list):
    """A list of the user's."""


@works("`copy.copy`, `copy.deepcopy`", (0.5,))
def copies_by_state(x):
    a, b, c = copy.deepcopy([Saving(x), Reducing(x), Items([x, [x]])])
    c[1][0] = a.v * x
    return a.v * b.v + sum(c[1]) * c[0] + copy.copy(a).v * len(a.cache) + b.cache["v"]


@works("`copy.copy`, `copy.deepcopy`", (0.5,))
def reduced_by_hand(x):
    state = Held(x * x).__reduce_ex__(2)[2]
    return state["v"] * x


class Held:
    """An object to be copied."""

    def __init__(self, v):
        self.v = v
        self.items = [v, self]


@works("`copy.copy`, `copy.deepcopy`", (0.5,))
def copies_of_objects(x):
    a = Held(x)
    b, c = copy.copy(a), copy.deepcopy(a)
    a.v = 3.0
    a.items[0] = x * 5.0
    assert c.items[1] is c
    return b.v * c.v + b.items[0] * c.items[0] + a.v * x


class Slotted:
    """An object whose attributes have slots."""

    __slots__ = ("_items", "v")

    def __init__(self, v):
        self.v = v
        self._items = [v, self]


class Beside(Slotted):
    """An object of which some attributes have slots."""

    def __init__(self, v):
        super().__init__(v)
        self.more = 2.0 * v


@dataclasses.dataclass(frozen=True, slots=True)
class Frozen:
    """An object with a state of its own."""

    v: float
    items: list


@works("`copy.copy`, `copy.deepcopy`", (0.5,))
def copies_of_objects_with_slots(x):
    total = 0.0
    for kind in (Slotted, Beside):
        a = kind(x)
        b, c = copy.copy(a), copy.deepcopy(a)
        a._items[0] = x * 5.0
        assert c._items[1] is c
        total = total + b.v * b._items[0] + c._items[0] ** 3 + getattr(c, "more", x) * x
    d, e = Frozen(x, [x]), copy.deepcopy(Frozen(x, [3.0 * x]))
    return total + copy.copy(d).items[0] * e.v * e.items[0]


@works("`functools.cmp_to_key`", (0.7, 0.3))
def sorted_by_comparing(x, y):
    values = [3.0, x, y, x * y]
    values.sort(key=functools.cmp_to_key(lambda a, b: -1 if a * x < b * x else 1))
    largest = max([x, 2.0 * y, 0.1], key=functools.cmp_to_key(lambda a, b: a - b))
    return values[0] * values[2] + largest * x


@works("`math.fsum` of any iterable", (V,))
def exact_sums(x):
    y = math.fsum(v * v for v in x) + math.fsum({1: x[0], 2: x[1] ** 3}.values())
    return y * math.fsum(map(math.sin, x)) + math.fsum(x) + math.fsum((x[0], 2))


class Pair:
    """An object that NumPy takes for an array."""

    def __init__(self, v):
        self.own, self.count = np.array([v, v * v]), 0

    def __array__(self, dtype=None, copy=None):
        self.count += 1
        return self.own  # which NumPy takes for the copy that `np.array` asks for


@works("`np.asarray` of an object with `__array__`", (0.7,))
def asked_for_an_array(x):
    pair = Pair(x)
    a, b = np.array(pair), np.asarray(pair, dtype=float)
    a[0] = 2.0 * b[1]
    return np.sum(a * b) * pair.count


class Amount:
    """A number that Python and NumPy ask for."""

    def __init__(self, v, log):
        self.v, self.log = v, log

    def __float__(self):
        self.log.append(self.v)
        return self.v * 2.0


@works("lists of objects with `__array__`, `__float__`, in `np.array`, `np.asarray`", (0.7,))
def asked_in_lists(x):
    pair, log = Pair(x), []
    whole = np.array([pair, [x, 1.0], np.array([2.0, x]), (x, pair.own[1])])
    deep = np.asarray([[pair], [Pair(x * x)]], dtype=complex)
    numbers = np.array([[Amount(x, log)], (Amount(x * x, log),)], dtype=float)
    return np.sum(whole**2) * np.sum(deep.real) * np.sum(numbers) * pair.count * log[0] * log[1]


@works("`math` and `cmath` of objects with `__float__`", (0.7,))
def asked_for_a_number(x):
    log = []
    y = (
        math.sin(Amount(x, log)) * math.atan2(Amount(x * x, log), x)
        + cmath.exp(Amount(x, log)).real
    )
    y = (
        y
        + math.fsum([Amount(x, log), x])
        + math.hypot(3.0, Amount(x, log)) * math.isnan(Amount(x, log))
    )
    return y * sum(log)


@works("`as_strided`, `sliding_window_view`", (V,))
def windows(x):
    slices = np.lib.stride_tricks.as_strided(x, (3, 2), (8, 8))
    x = x * 1.0
    views = np.lib.stride_tricks.as_strided(x, (2, 2), (8, 16))
    x[0] = x[1] * x[2]
    views[1, 1] = x[0] * x[3]
    weights = np.arange(6.0).reshape(3, 2)
    return np.sum(slices * slices * weights) + np.sum(views**3) + np.sum(x)


@works("`np.vectorize` with a signature", (V,))
def vectorized_by_signature(x):
    f = np.vectorize(lambda a, b: a * np.sum(b), signature="(),(n)->()")
    return np.sum(f(x, np.outer(x, x)) * x)


@works("`abs`, `-` and `+` as methods: `x.__abs__()`", (V,))
def signs_as_methods(x):
    return np.sum(x.__abs__() * x.__neg__()) * float.__abs__(-float(x[0])) + x.__pos__()[1]


@works("`statistics.NormalDist`: `inv_cdf`", (0.3, 2.0))
def quantile(p, sigma):
    return statistics.NormalDist(p, sigma).inv_cdf(p) * p


@works("threads and pools that are given nothing active", (0.7,))
def computed_in_threads(x):
    found = []
    thread = threading.Thread(target=lambda: found.append(3.0))
    thread.start()
    thread.join()
    found.append(x)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return sum(pool.map(math.sqrt, [1.0, 4.0])) * x + found[0] * found[1]


SCALE = contextvars.ContextVar("SCALE", default=2.0)
NOT_SET = contextvars.ContextVar("NOT_SET")


@contextlib.contextmanager
def scale_of(value):
    token = SCALE.set(value)
    try:
        yield
    finally:
        SCALE.reset(token)


def scaled(x):
    return x * SCALE.get()


@works("copies of a context: items, `get`, `in`", (0.5, 1.5))
def read_from_copies_of_contexts(x, w):
    with scale_of(x * w):
        first = contextvars.copy_context()
        with scale_of(w * w):
            second = contextvars.copy_context()
            y = first[SCALE] * second[SCALE] + second.get(SCALE) * (SCALE in second)
    return y * first.get(NOT_SET, w)


@works("context variables: `set`, `get`, `reset`", (0.5, 1.5))
def in_contexts(x, w):
    y, kept = scaled(x), [x * w]
    with scale_of(w * w):
        y += scaled(x) ** 2
        with scale_of(3.0), scale_of(scaled(w)):
            y += scaled(x)
        with scale_of(kept):
            kept.append(w)
            y += SCALE.get()[0] * SCALE.get()[1]
        y += scaled(x)
    return y * scaled(w)


@works("context variables read in a gradient inside", (0.5, 1.5))
def in_contexts_of_gradients(x, w):
    with scale_of(x * w):
        slope = gradient(lambda v: scaled(v) * v, w)[0]
    return slope * x


@works("functions that run in a copy of the context", (0.5, 1.5))
def in_copies_of_contexts(x, w):
    def product(a, by=1.0):
        SCALE.set(3.0)
        return scaled(a) * by * w

    copied = contextvars.copy_context()
    y = copied.run(product, x, by=x)
    return y + scaled(w) * copied.run(SCALE.get)


@works("what gradients do not need is simply run", (0.5,))
def inactive_library(x):
    n = fractions.Fraction(1, 3) + 2
    return x * float(n) * len(str(n))


@works("`scipy.stats`: the distribution of a number", (0.5,), (-1.5,))
def log_density_of_a_number(x):
    return scipy.stats.norm.logpdf(x) * x


@works("texts of numbers that stay texts: labels, keys, printing", (V,))
def labels(x):
    texts = [f"{v:.2f}" for v in x]
    wide = np.char.upper(np.array(texts))
    several = np.unique(wide)
    order = np.argsort(np.array(texts))
    values = {f"{v:.3f}": v * v for v in x}
    line = ", ".join(wide.tolist()) + str(wide == wide[0])
    kinds = {"name": texts[0], "kind": "double"}
    scale = {"double": 2.0}[kinds["kind"]]
    return scale * sum(values.values()) * len(several) + x[order][0] * len(line)
