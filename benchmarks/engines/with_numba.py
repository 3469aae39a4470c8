"""Gradients by hand, in loops that Numba compiles: what compiled scalar code can reach.

Numba has no gradients: these are written as one writes them for it, with arrays in place of lists.
"""

import math
import sys

import numpy as np
from numba import njit

from benchmarks.engines import Engine, as_is, function_of
from benchmarks.workloads import scalars

scalar_expression = njit(scalars.expression_by_hand)
lotka_volterra = njit(scalars.lotka_volterra_by_hand)


@njit
def scalar_loop(x, a, b, steps):
    tape = np.empty(steps)
    for i in range(steps):
        tape[i] = x
        x = a * math.sin(x) + b
    dx, da, db = 1.0, 0.0, 0.0
    for i in range(steps - 1, -1, -1):
        da += dx * math.sin(tape[i])
        db += dx
        dx *= a * math.cos(tape[i])
    return x, (dx, da, db)


@njit
def chain_1e3(x):
    value, dx = 0.0, np.empty_like(x)
    for i in range(len(x)):
        t = x[i]
        tanh, exp = math.tanh(t), math.exp(-t * t)
        value += tanh * exp + math.sin(t)
        dx[i] = exp * (1.0 - tanh * (tanh + 2.0 * t)) + math.cos(t)
    return value, (dx,)


chain_1e6 = chain_1e3


@njit
def layer(w, b, x):
    y = np.empty(len(b))
    for i in range(len(b)):
        total = b[i]
        for j in range(len(x)):
            total += w[i, j] * x[j]
        y[i] = math.tanh(total)
    return y


@njit
def layer_reverse(w, x, y, dy):
    dw, db, dx = np.empty_like(w), np.empty_like(y), np.zeros_like(x)
    for i in range(len(y)):
        db[i] = dy[i] * (1.0 - y[i] * y[i])
        for j in range(len(x)):
            dw[i, j] = db[i] * x[j]
            dx[j] += w[i, j] * db[i]
    return dw, db, dx


@njit
def scalar_mlp(w1, b1, w2, b2, w3, b3, x, target):
    h1 = layer(w1, b1, x)
    h2 = layer(w2, b2, h1)
    y = layer(w3, b3, h2)
    error = y[0] - target
    dw3, db3, dh2 = layer_reverse(w3, h2, y, np.array([2.0 * error]))
    dw2, db2, dh1 = layer_reverse(w2, h1, h2, dh2)
    dw1, db1, _ = layer_reverse(w1, x, h1, dh1)
    return error * error, (dw1, db1, dw2, db2, dw3, db3)


@njit
def heat(u, k, steps):
    n, m = u.shape
    u = u.copy()
    tape = np.empty((steps, n - 2, m - 2))
    for s in range(steps):
        laplacian = tape[s]
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                around = u[i + 1, j] + u[i - 1, j] + u[i, j + 1] + u[i, j - 1]
                laplacian[i - 1, j - 1] = around - 4 * u[i, j]
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                u[i, j] += k * laplacian[i - 1, j - 1]
    value, dk, du = 0.0, 0.0, 2 * u
    for i in range(n):
        for j in range(m):
            value += u[i, j] * u[i, j]
    d = np.empty((n - 2, m - 2))
    for s in range(steps - 1, -1, -1):
        laplacian = tape[s]
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                dk += du[i, j] * laplacian[i - 1, j - 1]
                d[i - 1, j - 1] = k * du[i, j]
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                t = d[i - 1, j - 1]
                du[i + 1, j] += t
                du[i - 1, j] += t
                du[i, j + 1] += t
                du[i, j - 1] += t
                du[i, j] -= 4 * t
    return value, (du, dk)


@njit
def matmul_loops(a, b):
    rows, inner, columns = a.shape[0], b.shape[0], b.shape[1]
    total, da, db = 0.0, np.zeros_like(a), np.zeros_like(b)
    for i in range(rows):
        for j in range(columns):
            c = 0.0
            for k in range(inner):
                c += a[i, k] * b[k, j]
            total += c * c
            for k in range(inner):
                da[i, k] += 2 * c * b[k, j]
                db[k, j] += 2 * c * a[i, k]
    return total, (da, db)


@njit
def indexing_loop(x, n):
    s, stop, tape = 1.0, n, np.empty(n)
    for i in range(n):
        if x[i] < 0:
            stop = i
            break
        tape[i] = s
        s += x[i] * s
    dx, ds = np.zeros_like(x), 1.0
    for i in range(stop - 1, -1, -1):
        dx[i] = ds * tape[i]
        ds += ds * x[i]
    return s, (dx,)


def start():
    njit(lambda x: (x * x, 2.0 * x))(3.0)


def prepare(workload, arguments):
    dispatcher = function_of(sys.modules[__name__], workload)
    fresh = njit(dispatcher.py_func)
    return fresh, [np.array(x) if isinstance(x, list) else x for x in arguments]


ENGINE = Engine("numba", prepare, as_is)
