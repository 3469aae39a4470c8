"""Programs of two numbers that are differentiated twice and three times: loops, writes, ...

Each takes an array of two numbers and returns a number.
"""

import functools
import math

import numpy as np

PROGRAMS = {}


def program(f):
    PROGRAMS[f.__name__.rstrip("_")] = f
    return f


@program
def write(x):
    y = np.zeros(3)
    y[0] = x[0] * x[1]
    y[1] = y[0] * x[0]
    y[2] = x[1] ** 3
    return np.sum(y * y)


@program
def inplace_ops(x):
    y = x * 1.0
    y *= x
    y += x[0]
    y[0] -= 2 * y[1] * x[0]
    return np.sum(y**2)


@program
def write_view(x):
    y = np.zeros((2, 2))
    r = y[0]
    r[:] = x * x
    y[1] = r * x[0]
    y[:, 0] = y[:, 1] * y[:, 0]
    return np.sum(y**2)


@program
def overwrite(x):
    y = x * x
    z = y * x
    y[0] = x[1] ** 2
    return np.sum(z * y) + y[0] ** 3


@program
def arg_write(x):
    y = x + 0.0

    def g(a):
        a[0] = a[1] * a[0]

    g(y)
    g(y)
    return np.sum(y**2 * x)


@program
def addat(x):
    y = np.zeros(3)
    np.add.at(y, [0, 0, 1], np.array([x[0], x[1], x[0] * x[1]]))
    return np.sum(y**3)


@program
def loopwrite(x):
    y = np.zeros(4)
    y[0] = x[0]
    for i in range(1, 4):
        y[i] = y[i - 1] * x[1] + x[0] ** i
    return y[3] ** 2


@program
def fancywrite(x):
    y = np.ones(4)
    y[[0, 2]] = x * x
    y[y > 1.2] = x[1]
    return np.prod(y)


@program
def outk(x):
    y = np.empty(2)
    np.multiply(x, x, out=y)
    np.sin(y, out=y)
    return np.sum(y * x)


@program
def listofarr(x):
    y = x * 1.0
    held = [y]
    y[0] = x[1] * y[0]
    z = np.concatenate([held[0], x])
    held[0][1] = x[0] ** 2
    return np.sum(z**2) * np.sum(held[0] ** 3)


@program
def swapped(x):
    a = x * x
    b = a.copy()
    a[0], a[1] = a[1], a[0]
    return np.sum(a * b * x)


@program
def constwrite(x):
    c = np.ones(2)
    y = x * c
    c[0] = 9.0
    return np.sum(y * y * c)


@program
def sortinplace(x):
    y = x * x
    y.sort()
    return y[0] * y[1] ** 2


@program
def loops(x):
    s = x[0]
    for i in range(4):
        if s > 1:
            s = s * x[1]
        else:
            s = s + x[0] ** 2
    return s


@program
def lists(x):
    items = [x[0]]
    items.append(items[0] * x[1])
    items[0] = items[1] ** 2
    items.insert(0, x[1])
    return items[0] * items[1] * items.pop()


@program
def dicts(x):
    d = {"a": x[0]}
    d["b"] = d["a"] * x[1]
    d["a"] *= d["b"]
    return sum(d.values()) * d["a"]


class M:
    def __init__(s, w):
        s.w = w
        s.n = 0

    def step(s, x):
        s.w = s.w * x
        s.n += 1
        return s.w

    @property
    def sq(s):
        return s.w**2


@program
def classes(x):
    m = M(x[0])
    m.step(x[1])
    m.step(x[0])
    return m.sq * x[1]


@program
def matmul(x):
    A = np.outer(x, x) + np.eye(2)
    return np.sum((A @ A @ x) ** 2)


@program
def fancy(x):
    return np.sum(x[[0, 1, 1]] ** 3) * x[np.array([True, False])][0]


@program
def where(x):
    return np.sum(np.where(x > 1, x**3, np.sin(x)) * x)


@program
def maxi(x):
    return np.max(x * x) * np.sum(x) + max(x[0], x[1]) ** 2


@program
def cumsum(x):
    return np.sum(np.cumsum(x * x) ** 2)


@program
def solve(x):
    A = np.outer(x, x) + 2 * np.eye(2)
    return np.sum(np.linalg.solve(A, x) ** 2)


@program
def inv(x):
    A = np.outer(x, x) + 2 * np.eye(2)
    return np.sum(np.linalg.inv(A) ** 2)


@program
def det(x):
    return np.linalg.det(np.outer(x, x * x) + np.eye(2)) ** 2


@program
def einsum(x):
    return np.einsum("i,ij,j->", x, np.outer(x, x) + 1.0, x)


@program
def sort(x):
    return np.sum(np.sort(x * x) * np.array([1.0, 3.0]))


@program
def cplx(x):
    z = x[0] + 1j * x[1]
    w = np.exp(z) * z
    return (w * np.conj(w)).real


@program
def cplxarr(x):
    z = x * np.exp(1j * x)
    return np.sum(np.abs(z * z + 1) ** 2)


@program
def mean_tuple(x):
    return np.mean((x[0] * x[1], x[1])) ** 2


@program
def mean_tuple_axis(x):
    return np.sum(np.mean((x * x, x), axis=0) ** 2)


@program
def genclosure(x):
    def g():
        t = x[0]
        for i in range(3):
            t = t * x[1]
            yield t

    return sum(v * v for v in g())


@program
def nonlocal_(x):
    s = 0.0

    def add(v):
        nonlocal s
        s = s + v * v

    for v in x:
        add(v)
    return s * s


@program
def reduce_(x):
    return functools.reduce(lambda a, b: a * b + a, [x[0], x[1], x[0] * x[1]])


@program
def maplam(x):
    return sum(map(lambda a, b: a * b * b, x, x * x))


@program
def sortedkey(x):
    return sorted([x[0] ** 2, x[1], x[0] * x[1]], key=lambda v: -v)[1] ** 2


@program
def tryexc(x):
    try:
        y = x[0] ** 2
        raise ValueError
    except ValueError:
        y = y * x[1]
    return y**2


@program
def logsumexp(x):
    m = np.max(x)
    return np.log(np.sum(np.exp(x - m))) + m


@program
def norm(x):
    return np.linalg.norm(x * x) ** 3


@program
def stackmean(x):
    return np.mean(np.stack([x, x * x], axis=1), axis=0).sum() ** 2


@program
def pad(x):
    return np.sum(np.pad(x * x, 1) ** 2 * np.arange(4.0))


@program
def kwargs_(x):
    def g(a, *, b=2.0, **k):
        return a * b**2 * k["c"]

    return g(x[0], b=x[1], c=x[0])


@program
def vectorize(x):
    return np.sum(np.vectorize(lambda v: v * v * v)(x))


@program
def interp(x):
    return np.sum(np.clip(x, 0.9, 3) ** 3) + np.dot(x, x) ** 2


@program
def star(x):
    a, *b = x * x
    return a * sum(b) * math.sin(a)


@program
def var(x):
    return np.var(x * x) + np.std(x)


@program
def prod(x):
    return np.prod(x * x) + np.cumprod(x)[1] ** 2


@program
def cholesky(x):
    A = np.outer(x, x) + 2 * np.eye(2)
    return np.sum(np.linalg.cholesky(A) ** 3)


@program
def eigh(x):
    A = np.outer(x, x) + np.diag([1.0, 2.0])
    w, _ = np.linalg.eigh(A)
    return np.sum(w**2 * np.array([1.0, 2]))


@program
def minarg(x):
    return x[np.argmin(x)] ** 3 + np.min(x**2)


@program
def whilel(x):
    y = x[0]
    while y < 10:
        y = y * (1 + x[1])
    return y**2


@program
def reshape(x):
    return np.sum((x.reshape(2, 1) * x.reshape(1, 2)).T.ravel()[1:] ** 2)


@program
def ufunc_methods_of_lists(x):
    y = np.maximum.outer(x, x * x[::-1])
    return np.sum(np.maximum.reduce([y[0], y[1] * 1.5, (0.1, x[1] ** 3)])) ** 2


@program
def flat_entries(x):
    y = np.outer(x, x)
    y.flat[::3] += x
    return y.flat[1] ** 3 + np.sum(y.flat[[0, 3, 3]]) * np.array(y.flat)[2]


@program
def flat(x):
    s = 0.0
    for v in (x * x).flat:
        s = s + v * x[0]
    return s**2
